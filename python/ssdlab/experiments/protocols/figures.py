"""The figures of a step, in the same form for simulated and real drives; None if a target does not report one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from ssdlab.simulator.results.job_result import DirectionResult, FlushResult
from ssdlab.simulator.results.latency import NONE, Latency, merged

SAMPLES_MAX = 240
"""Points of a line over time: about one for three pixels of the picture."""

_DIRECTIONS = ("read", "write", "flush", "trim")


class RatesJson(TypedDict):
    ios: int
    moved_bytes: int
    iops: float | None
    mb_s: float | None
    mean_us: float | None
    p99_us: float | None
    p999_us: float | None
    p9999_us: float | None
    p999999_us: float | None
    max_us: float | None


@dataclass(frozen=True)
class Rates:
    """Rates and latencies of one direction."""

    ios: int
    moved_bytes: int
    iops: float | None
    mb_s: float | None
    mean_us: float | None
    p99_us: float | None
    p999_us: float | None
    p9999_us: float | None = None
    p999999_us: float | None = None
    max_us: float | None = None

    def to_dict(self) -> RatesJson:
        """The rates for `result.json`."""
        return {
            "ios": self.ios,
            "moved_bytes": self.moved_bytes,
            "iops": self.iops,
            "mb_s": self.mb_s,
            "mean_us": self.mean_us,
            "p99_us": self.p99_us,
            "p999_us": self.p999_us,
            "p9999_us": self.p9999_us,
            "p999999_us": self.p999999_us,
            "max_us": self.max_us,
        }


@dataclass(frozen=True)
class Round:
    """One round of a step that ran until steady."""

    waf: float | None
    iops: float | None
    """Of reads and writes together."""


@dataclass(frozen=True)
class Sample:
    """A part of the time of a step."""

    seconds: float
    """From the start of the step to the end of the part, without the time between calls of fio."""
    read_mb_s: float
    write_mb_s: float


class RoundJson(TypedDict):
    waf: float | None
    iops: float | None


class SampleJson(TypedDict):
    seconds: float
    read_mb_s: float
    write_mb_s: float


class FiguresJson(TypedDict):
    """A step of a protocol in `result.json`."""

    point: str
    step: str
    shown: bool
    waf: float | None
    waf_reason: str | None
    written_bytes: int
    read_bytes: int
    seconds: float | None
    read: RatesJson | None
    write: RatesJson | None
    flush: RatesJson | None
    trim: RatesJson | None
    rounds: int | None
    steady: bool | None
    commands: list[str]
    job_texts: list[str]
    by_round: list[RoundJson]
    over_time: list[SampleJson]


@dataclass(frozen=True)
class Figures:
    """The figures of one step of a point; if it ran until steady, those of the rounds that are reported, but for the
    bytes."""

    point: str
    step: str
    shown: bool
    waf: float | None
    waf_reason: str | None
    written_bytes: int
    """Of the whole step, as `read_bytes`."""
    read_bytes: int
    seconds: float | None
    """Simulated time on a simulated drive, wall-clock time on a real one. The rates are over it."""
    read: Rates | None
    write: Rates | None
    rounds: int | None = None
    """The number of rounds; None if the step did not run until steady."""
    steady: bool | None = None
    commands: Sequence[str] = ()
    job_texts: Sequence[str] = ()
    flush: Rates | None = None
    """Flushes; None if the step has none."""
    trim: Rates | None = None
    by_round: Sequence[Round] = ()
    """Every round, in order; empty if the step did not run until steady."""
    over_time: Sequence[Sample] = ()
    """The step over time, if it asks for it; at most `SAMPLES_MAX` parts."""

    def to_dict(self) -> FiguresJson:
        """The step for `result.json`."""
        return {
            "point": self.point,
            "step": self.step,
            "shown": self.shown,
            "waf": self.waf,
            "waf_reason": self.waf_reason,
            "written_bytes": self.written_bytes,
            "read_bytes": self.read_bytes,
            "seconds": self.seconds,
            "read": self.read.to_dict() if self.read else None,
            "write": self.write.to_dict() if self.write else None,
            "flush": self.flush.to_dict() if self.flush else None,
            "trim": self.trim.to_dict() if self.trim else None,
            "rounds": self.rounds,
            "steady": self.steady,
            "commands": list(self.commands),
            "job_texts": list(self.job_texts),
            "by_round": [{"waf": each.waf, "iops": each.iops} for each in self.by_round],
            "over_time": [
                {"seconds": each.seconds, "read_mb_s": each.read_mb_s, "write_mb_s": each.write_mb_s}
                for each in self.over_time
            ],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Figures":
        rates = {name: Rates(**plain[name]) if plain.get(name) else None for name in _DIRECTIONS}
        # Absent in files of versions that did not keep them.
        series = {
            "by_round": [Round(**each) for each in plain.get("by_round", ())],
            "over_time": [Sample(**each) for each in plain.get("over_time", ())],
        }
        return cls(**{**plain, **rates, **series})


def thinned(samples: Sequence[Sample]) -> list[Sample]:
    """At most `SAMPLES_MAX` samples: neighbours are averaged over their time."""
    size = -(-len(samples) // SAMPLES_MAX)
    found: list[Sample] = []
    before = 0.0
    for start in range(0, len(samples), size or 1):
        rates = [0.0, 0.0]
        begin = before
        for each in samples[start : start + size]:
            rates[0] += each.read_mb_s * (each.seconds - before)
            rates[1] += each.write_mb_s * (each.seconds - before)
            before = each.seconds
        if before > begin:
            read, write = (rate / (before - begin) for rate in rates)
            found.append(Sample(before, read, write))
    return found


def rates_of(directions: Sequence[DirectionResult], seconds: float | None) -> Rates | None:
    """The rates of the requests of several jobs over `seconds`; None without requests."""
    ios = sum(direction.total_ios for direction in directions)
    moved = sum(direction.io_bytes for direction in directions)
    known = [direction.latency for direction in directions]
    return rates(ios, moved, seconds, merged([each or NONE for each in known]) if None not in known else None)


def flushes_of(flushes: Sequence[FlushResult], seconds: float | None) -> Rates | None:
    """The same of the flushes of several jobs, which move no data."""
    latency = merged([each.latency or NONE for each in flushes]) if all(each.latency for each in flushes) else None
    return rates(sum(each.total_ios for each in flushes), 0, seconds, latency)


def rates(ios: int, moved_bytes: int, seconds: float | None, latency: Latency | None) -> Rates | None:
    """The rates of a number of requests over `seconds`; None without requests."""
    if not ios:
        return None
    timed = seconds is not None and seconds > 0
    assert seconds is not None or not timed

    def us(nanoseconds: float | None) -> float | None:
        return None if nanoseconds is None else nanoseconds / 1000

    return Rates(
        ios,
        moved_bytes,
        ios / seconds if timed and seconds else None,
        moved_bytes / seconds / 1e6 if timed and seconds else None,
        us(latency.mean_ns) if latency else None,
        us(latency.percentile_ns(99)) if latency else None,
        us(latency.percentile_ns(99.9)) if latency else None,
        us(latency.percentile_ns(99.99)) if latency else None,
        us(latency.percentile_ns(99.9999)) if latency else None,
        us(latency.max_ns) if latency else None,
    )


def _of(direction: str, key: str) -> Callable[[Figures], float | None]:
    def value(figures: Figures) -> float | None:
        found = getattr(figures, direction)
        return None if found is None else getattr(found, key)

    return value


COLUMNS: Mapping[str, tuple[str, Callable[[Figures], float | None]]] = {
    "waf": ("WAF", lambda figures: figures.waf),
    **{
        f"{direction}_{key}": (f"{direction} {heading}", _of(direction, key))
        for direction in _DIRECTIONS
        for key, heading in (
            ("iops", "IOPS"),
            ("mb_s", "MB/s"),
            ("mean_us", "mean us"),
            ("p99_us", "99 % us"),
            ("p999_us", "99.9 % us"),
            ("p9999_us", "99.99 % us"),
            ("p999999_us", "99.9999 % us"),
            ("max_us", "max us"),
        )
    },
}
"""The heading and a function that takes the value from figures, by name."""
