"""What a log of rates says: for each device, the requests and bytes of each interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ssdlab.errors import InputError, near
from ssdlab.foundation.quantities import format_bytes


@dataclass(frozen=True)
class Flow:
    """Requests of one kind in an interval."""

    requests_per_s: float = 0.0
    bytes_per_s: float = 0.0


@dataclass(frozen=True)
class Interval:
    """The load of a device between two readings."""

    seconds: float
    reads: Flow = Flow()
    writes: Flow = Flow()
    discards: Flow = Flow()
    flushes_per_s: float = 0.0

    @property
    def is_idle(self) -> bool:
        return not any(flow.requests_per_s for flow in (self.reads, self.writes, self.discards))


@dataclass(frozen=True)
class Log:
    """The intervals of each device, in order of time."""

    program: str
    """What wrote it, such as `iostat`."""
    devices: Mapping[str, Sequence[Interval]]
    notes: Sequence[str] = ()
    """How the log is read, one sentence each."""

    def device(self, name: str | None, file: str) -> str:
        """The device of this name, or the only one with requests besides its partitions.

        Raises InputError if there is none, or several.
        """
        busy = [each for each, intervals in self.devices.items() if not all(one.is_idle for one in intervals)]
        whole = [each for each in busy if not any(_is_partition(each, other) for other in busy)]
        if name is not None:
            if name not in self.devices:
                raise InputError(
                    f"--device {name}: {file} has no such device{near(name, self.devices)}; {self._listed(busy)}"
                )
            if name not in busy:
                raise InputError(f"--device {name}: {file} has no request to it; {self._listed(busy)}")
            return name
        if not busy:
            raise InputError(f"{file}: a log of {self.program} without a single request")
        if len(whole) > 1:
            raise InputError(
                f"{file}: a log of {self.program} of {len(whole)} devices; choose one with --device NAME; "
                f"{self._listed(whole)}"
            )
        return whole[0]

    def _listed(self, busy: Sequence[str]) -> str:
        def written(name: str) -> float:
            return mean(self.devices[name]).writes.bytes_per_s

        known = sorted(busy, key=lambda name: -written(name))
        return "its devices: " + ", ".join(f"{name} ({format_bytes(round(written(name)))}/s written)" for name in known)


def _is_partition(name: str, disk: str) -> bool:
    """Whether the name is that of a partition of the disk: sda1 of sda, nvme0n1p2 of nvme0n1."""
    rest = name.removeprefix(disk)
    return (
        rest != name
        and (rest.removeprefix("p") if disk[-1:].isdigit() else rest).isdigit()
        and (rest.startswith("p") or not disk[-1:].isdigit())
    )


def mean(intervals: Sequence[Interval]) -> Interval:
    """The mean load over all intervals, as one interval of their length."""
    seconds = sum(each.seconds for each in intervals)

    def over(flows: Sequence[Flow]) -> Flow:
        weighted = list(zip(intervals, flows, strict=True))
        return Flow(
            sum(each.seconds * flow.requests_per_s for each, flow in weighted) / seconds,
            sum(each.seconds * flow.bytes_per_s for each, flow in weighted) / seconds,
        )

    return Interval(
        seconds,
        over([each.reads for each in intervals]),
        over([each.writes for each in intervals]),
        over([each.discards for each in intervals]),
        sum(each.seconds * each.flushes_per_s for each in intervals) / seconds,
    )
