"""The requests to each namespace of a drive, the flash's work for it, and the latency of its requests.

The engine counts a program for the namespace of the unit's address, regardless of whose write caused it. Parity and
padding have no address: write amplification includes them in proportion to the data programmed for each namespace. If
every namespace is written to, the mean of their write amplifications, weighted by host writes, is therefore that of the
drive; a namespace that is not written to has none, although its data can be moved. Erases are shared; a namespace's
part of the wear is its part of the programs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict, get_args

from ssdlab.simulator.drives.namespaces import Namespace, namespaces_of
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.fio_schema import Direction
from ssdlab.simulator.results.latency import Latency, merged
from ssdlab.simulator.results.ledger import Ledger, Part

Cause = Literal["host", "gc", "wear_leveling", "slc_fold"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
"""The causes of programs of a namespace's units."""

_RANKS = (50, 99, 99.9)
_BELONG_TO_NONE: tuple[Part, ...] = ("parity", "padding", "metadata", "journal")


class HostJson(TypedDict):
    """The requests of the host to a namespace."""

    written_bytes: int
    read_bytes: int
    trimmed_bytes: NotRequired[int]


class NandJson(TypedDict):
    """The programmed bytes of the namespace's own data, by cause and in total."""

    programmed_bytes: dict[Cause | Literal["total"], int]


class LatencyJson(TypedDict):
    """Latencies in nanoseconds; percentiles by rank in percent with six decimals."""

    mean: float | None
    N: int
    percentile: dict[str, int | None]


class CountedJson(TypedDict):
    """The counters of a namespace over some period."""

    host: HostJson
    nand: NandJson
    waf: float | None


class LastStageJson(CountedJson):
    """The counters of the last stage, with latencies, which are null without a clock."""

    read_ns: LatencyJson | None
    write_ns: LatencyJson | None


class AloneJson(TypedDict):
    """The namespace's jobs on a separate drive of its share."""

    share: float
    host: HostJson
    nand: NandJson
    waf: float | None
    read_ns: LatencyJson | None
    write_ns: LatencyJson | None


class _AlonePart(TypedDict, total=False):
    alone: AloneJson


class NamespaceJson(TypedDict):
    """An entry of `ssdlab.namespaces` of a result."""

    namespace: int
    name: str
    size_bytes: int
    live_bytes: int
    host: HostJson
    nand: NandJson
    waf: float | None
    wear_share: float | None
    last_stage: LastStageJson
    alone: NotRequired[AloneJson]


@dataclass(frozen=True)
class Counted:
    """The counters of a namespace over some period, in bytes."""

    host_written_bytes: int
    host_read_bytes: int
    host_trimmed_bytes: int
    programmed_bytes: Mapping[Cause, int]
    """Programmed bytes by cause: host, gc, wear_leveling, slc_fold."""
    overhead: float
    """All bytes that the drive programmed in the period, divided by those that were data of a namespace."""

    @property
    def programmed_bytes_total(self) -> int:
        """The programmed bytes of the namespace's own data."""
        return sum(self.programmed_bytes.values())

    @property
    def waf(self) -> float | None:
        """Write amplification, with its part of parity and padding; None if its host wrote nothing."""
        if not self.host_written_bytes:
            return None
        return self.programmed_bytes_total * self.overhead / self.host_written_bytes

    def to_dict(self) -> CountedJson:
        """The counters in the format of `ssdlab.namespaces` of a result."""
        return {
            "host": {
                "written_bytes": self.host_written_bytes,
                "read_bytes": self.host_read_bytes,
                "trimmed_bytes": self.host_trimmed_bytes,
            },
            "nand": _nand(self.programmed_bytes),
            "waf": self.waf,
        }


@dataclass(frozen=True)
class Alone:
    """The last stage of a namespace's jobs on a separate drive of its share."""

    share: float
    """The share, 0 to 1, of the blocks of the whole drive."""
    host_written_bytes: int
    host_read_bytes: int
    programmed_bytes: Mapping[Cause, int]
    """Programmed bytes by cause: host, gc, wear_leveling, slc_fold."""
    waf: float | None
    """Write amplification, with parity and padding."""
    read: Latency | None
    """None without a clock."""
    write: Latency | None

    @property
    def programmed_bytes_total(self) -> int:
        """The programmed bytes of the namespace's own data."""
        return sum(self.programmed_bytes.values())

    def to_dict(self) -> AloneJson:
        """The object in the format of `ssdlab.namespaces` of a result."""
        return {
            "share": self.share,
            "host": {"written_bytes": self.host_written_bytes, "read_bytes": self.host_read_bytes},
            "nand": _nand(self.programmed_bytes),
            "waf": self.waf,
            "read_ns": _latency(self.read),
            "write_ns": _latency(self.write),
        }


@dataclass(frozen=True)
class NamespaceResult:
    """One namespace in a run."""

    namespace: Namespace
    live_bytes: int
    """Bytes that the host has written to it and not trimmed, at the end of the run."""
    whole: Counted
    """The counters of the whole run, including preconditioning."""
    last_stage: Counted
    wear_share: float | None
    """Its part, 0 to 1, of all data programmed in the run; None if nothing was programmed."""
    read: Latency | None
    """Read latencies of the last stage; None without a clock."""
    write: Latency | None
    alone: Alone | None = None
    """None unless requested."""

    def to_dict(self) -> NamespaceJson:
        """The entry in the format of `ssdlab.namespaces` of a result."""
        alone: _AlonePart = {"alone": self.alone.to_dict()} if self.alone else {}
        return {
            "namespace": self.namespace.number,
            "name": self.namespace.name,
            "size_bytes": self.namespace.size_bytes,
            "live_bytes": self.live_bytes,
            **self.whole.to_dict(),
            "wear_share": self.wear_share,
            "last_stage": {
                **self.last_stage.to_dict(),
                "read_ns": _latency(self.read),
                "write_ns": _latency(self.write),
            },
            **alone,
        }


def namespace_results(
    engine: plain.Specification, outcome: plain.Outcome, whole: Ledger, last_stage: Ledger
) -> list[NamespaceResult]:
    """Reads `namespaces` of the engine's outcome, which must exist.

    `engine` is the engine's specification; `whole` and `last_stage` are the drive's counters.
    """
    namespaces = namespaces_of(engine["drive"])
    capacity = outcome["capacity"]
    raw = outcome.get("namespaces") or []
    found = [
        (_counted(entry["ledger"], capacity, whole), _counted(entry["last_stage"], capacity, last_stage))
        for entry in raw
    ]
    data_bytes = sum(counted.programmed_bytes_total for counted, _ in found)
    return [
        NamespaceResult(
            namespace,
            entry["live_units"] * capacity["mapping_unit_bytes"],
            counted,
            in_last,
            counted.programmed_bytes_total / data_bytes if data_bytes else None,
            _latency_of("read", namespace, engine, outcome),
            _latency_of("write", namespace, engine, outcome),
        )
        for namespace, entry, (counted, in_last) in zip(namespaces, raw, found, strict=True)
    ]


def _counted(raw: plain.NamespaceLedger, capacity: plain.Capacity, drive: Ledger) -> Counted:
    unit_bytes = capacity["counted_unit_bytes"]
    total = sum(drive.programmed_units.values())
    data = total - sum(drive.programmed_units[part] for part in _BELONG_TO_NONE)
    return Counted(
        raw["host_written_bytes"],
        raw["host_read_bytes"],
        raw["host_trimmed_bytes"],
        {cause: raw["programmed_units"][cause] * unit_bytes for cause in CAUSES},
        total / data if data else 1.0,
    )


def _latency_of(
    direction: Direction, namespace: Namespace, engine: plain.Specification, outcome: plain.Outcome
) -> Latency | None:
    """The latency of the last stage's jobs on the namespace; None without a clock, and on a drive that is served: its
    phases are of all namespaces."""
    timings = [job["timing"] for job in outcome["jobs"]]
    if outcome["timing"] is None or "offset_bytes" not in engine["jobs"][-1]:
        return None
    last = engine["jobs"][-1]["stage"]
    return merged(
        [
            Latency.from_outcome(timing[direction])
            for specified, timing in zip(engine["jobs"], timings, strict=True)
            if timing and specified["stage"] == last and namespace.holds(specified["offset_bytes"])
        ]
    )


def _nand(programmed_bytes: Mapping[Cause, int]) -> NandJson:
    found: dict[Cause | Literal["total"], int] = {}
    for cause, count in programmed_bytes.items():
        found[cause] = count
    found["total"] = sum(programmed_bytes.values())
    return {"programmed_bytes": found}


def _latency(latency: Latency | None) -> LatencyJson | None:
    if latency is None:
        return None
    percentile = {f"{rank:.6f}": latency.percentile_ns(rank) for rank in _RANKS}
    return {"mean": latency.mean_ns, "N": latency.count, "percentile": percentile}
