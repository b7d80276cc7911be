"""A run's speed over time, converted to the full drive, for the pictures of several studies."""

from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.simulator.results import Result

if TYPE_CHECKING:
    import polars


def last_stage(result: Result) -> "polars.DataFrame":
    """The series of the run's last stage, with `seconds`, full-drive time from its start to the end of each interval.

    Times of a scaled drive are divided by the scale; rates are those of the full drive already. Raises ValueError for a
    run without a clock.
    """
    import polars as pl

    frame = result.timing_series
    if frame is None:
        raise ValueError("a run without a clock has no series over time")
    stage = frame["stage"][-1]
    rows = frame.filter(pl.col("stage") == stage)
    start = rows["simulated_seconds"][0] - rows["interval_seconds"][0]
    # The first interval after a change of stage has requests of both stages, and the last one can be short.
    rows = rows.slice(1 if stage > 0 else 0)
    rows = rows.filter(pl.col("interval_seconds") > 0.5 * pl.col("interval_seconds").max())
    scale = float(Fraction(result.specification.scale))
    return rows.with_columns(
        seconds=(pl.col("simulated_seconds") - start) / scale, interval_seconds=pl.col("interval_seconds") / scale
    )


def rate(rows: "polars.DataFrame", direction: str, start_seconds: float, end_seconds: float) -> float:
    """Requests per second over the intervals between two times."""
    import polars as pl

    inside = rows.filter(
        (pl.col("seconds") - pl.col("interval_seconds") >= start_seconds - 1e-9)
        & (pl.col("seconds") <= end_seconds + 1e-9)
    )
    seconds = float(inside["interval_seconds"].sum())
    return float((inside[f"{direction}_iops"] * inside["interval_seconds"]).sum()) / seconds


def settled_after(rows: "polars.DataFrame", direction: str, settled_iops: float, tolerance: float) -> float:
    """The time in seconds after which the rate of every interval is within `tolerance` (a share) of `settled_iops`."""
    import polars as pl

    apart = rows.filter((pl.col(f"{direction}_iops") / settled_iops - 1).abs() > tolerance)
    return float(apart["seconds"][-1]) if apart.height else 0.0
