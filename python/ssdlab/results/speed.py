"""The speed of a variant in the part of the run that is compared: the steady-state rounds, or the last stage.

Rates, means and percentiles of the steady state are those of its rounds together, as counted by the engine; those of a
last stage are computed from the series over time and the bins of its jobs.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.results.fio_schema import Direction
from ssdlab.results.latency import Latency, merged
from ssdlab.results.result import Result
from ssdlab.results.steady_state import SteadyTiming

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class DirectionSpeed:
    """The requests of one direction in the window; the latencies are None if there were none."""

    iops: float
    mb_s: float
    latency_ns_mean: float | None
    latency_ns_p999: float | None


@dataclass(frozen=True)
class Speed:
    """The speed of a variant in the table, the report and `result.json`."""

    window: str
    """`steady state`, or `last stage` if the run did not search for it."""
    seconds: float
    """Simulated seconds in the window."""
    read: DirectionSpeed
    write: DirectionSpeed

    @property
    def iops(self) -> float:
        """Requests per second, reads and writes together."""
        return self.read.iops + self.write.iops

    @property
    def mb_s(self) -> float:
        """10^6 bytes per second, reads and writes together."""
        return self.read.mb_s + self.write.mb_s


def speed(result: Result) -> Speed | None:
    """The speed of a result; None without a clock, or if no interval of the series is in the window."""
    series = result.timing_series
    if series is None:
        return None
    if result.steady_state:
        timing = result.steady_state.timing
        if timing is None or timing.window_seconds <= 0:
            return None
        return Speed("steady state", timing.window_seconds, _settled(timing, "read"), _settled(timing, "write"))
    import polars as pl

    rows = series.filter(pl.col("stage") == result.specification.jobs[-1]["stage"])
    seconds = float(rows["interval_seconds"].sum())
    if seconds <= 0:
        return None
    return Speed("last stage", seconds, *(_direction(result, rows, name, seconds) for name in ("read", "write")))


def _settled(timing: SteadyTiming, name: Direction) -> DirectionSpeed:
    latency = timing.latency[name]
    if not timing.ios[name]:
        return DirectionSpeed(0.0, 0.0, None, None)
    return DirectionSpeed(
        timing.ios[name] / timing.window_seconds,
        timing.moved_bytes[name] / timing.window_seconds / 1e6,
        latency.mean_ns,
        latency.percentile_ns(99.9),
    )


def _direction(result: Result, rows: "polars.DataFrame", name: str, seconds: float) -> DirectionSpeed:
    ios = rows[f"{name}_ios"]
    total = int(ios.sum())
    moved_mb = float((rows[f"{name}_mb_s"] * rows["interval_seconds"]).sum())
    if not total:
        return DirectionSpeed(0.0, 0.0, None, None)
    percentile_ns = _whole_stage(result, name).percentile_ns(99.9)
    mean_ns = float((rows[f"{name}_latency_ns_mean"] * ios).sum()) / total
    return DirectionSpeed(total / seconds, moved_mb / seconds, mean_ns, percentile_ns)


def _whole_stage(result: Result, name: str) -> Latency:
    last = result.specification.jobs[-1]["stage"]
    latencies = [getattr(job, name).latency for job in result.jobs if job.stage == last]
    return merged([latency for latency in latencies if latency is not None])
