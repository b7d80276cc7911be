"""How fast a variant was where variants are compared: in the rounds of the steady state, or in the last stage.

The series over time gives rates and means exactly for any window. Its percentiles are those of single intervals, which
cannot be added up: for the steady state, in which intervals are alike, the median of theirs is taken. For a whole stage
the percentiles come from the bins of its jobs.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.results import Latency, Result
from ssdlab.results.latency import merged
from ssdlab.results.steady_state import ROUNDS

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class DirectionSpeed:
    """Requests of one direction in the window; None where there were none."""

    iops: float
    mb_s: float
    latency_ns_mean: float | None
    latency_ns_p999: float | None


@dataclass(frozen=True)
class Speed:
    """What the table, the report and `result.json` say of a variant's speed."""

    window: str
    """`steady state`, or `last stage` when none was looked for."""
    seconds: float
    """Simulated, in the window."""
    read: DirectionSpeed
    write: DirectionSpeed

    @property
    def iops(self) -> float:
        """Reads and writes together."""
        return self.read.iops + self.write.iops

    @property
    def mb_s(self) -> float:
        """10^6 bytes a second, read and written together."""
        return self.read.mb_s + self.write.mb_s


def speed(result: Result) -> Speed | None:
    """None without a clock, or when not one interval of the series lies in the window."""
    series = result.timing_series
    if series is None:
        return None
    import polars as pl

    rows = series.filter(pl.col("stage") == result.specification.jobs[-1]["stage"])
    if result.steady_state:
        end = result.steady_state.at_host_bytes or result.ledger.host_written_bytes
        rounds = min(ROUNDS, len(result.steady_state.round_waf))
        start = end - rounds * result.steady_state.round_bytes
        begun = (
            series["host_written_bytes"]
            .shift(1, fill_value=0)
            .filter(series["stage"] == result.specification.jobs[-1]["stage"])
        )
        rows = rows.filter((begun >= start) & (rows["host_written_bytes"] <= end))
    seconds = float(rows["interval_seconds"].sum())
    if seconds <= 0:
        return None
    window = "steady state" if result.steady_state else "last stage"
    return Speed(window, seconds, *(_direction(result, rows, name, seconds) for name in ("read", "write")))


def _direction(result: Result, rows: "polars.DataFrame", name: str, seconds: float) -> DirectionSpeed:
    ios = rows[f"{name}_ios"]
    total = int(ios.sum())
    moved_mb = float((rows[f"{name}_mb_s"] * rows["interval_seconds"]).sum())
    if not total:
        return DirectionSpeed(0.0, 0.0, None, None)
    if result.steady_state:
        percentile_ns: Any = rows[f"{name}_latency_ns_p999"].median()
    else:
        percentile_ns = _whole_stage(result, name).percentile_ns(99.9)
    mean_ns = float((rows[f"{name}_latency_ns_mean"] * ios).sum()) / total
    return DirectionSpeed(total / seconds, moved_mb / seconds, mean_ns, percentile_ns)


def _whole_stage(result: Result, name: str) -> Latency:
    last = result.specification.jobs[-1]["stage"]
    latencies = [getattr(job, name).latency for job in result.jobs if job.stage == last]
    return merged([latency for latency in latencies if latency is not None])
