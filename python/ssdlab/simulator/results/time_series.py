"""The series of a timed run over simulated time, as stored in `timeseries-time.parquet`.

The series over host bytes, whose windows are comparable between runs, is in `series.py`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssdlab.simulator.engine import plain

if TYPE_CHECKING:
    import polars

DIRECTIONS = ("read", "write")
RANKS = ("mean", "p50", "p99", "p999")


def frame(series: plain.TimeColumns, counted_unit_bytes: int) -> "polars.DataFrame":
    """A frame with one row for each interval of simulated time, in order.

    All intervals have equal length, except for the last of a stage. Columns: `simulated_seconds` (from the start of the
    run to the end of the interval), `interval_seconds`, `stage`, `host_written_bytes` and `programmed_bytes`
    (cumulative, as of the last look at the drive, which is some hundred requests ago on a slow one); for the interval
    `waf` (null if they did not grow), `<direction>_ios`, `<direction>_iops`, `read_mb_s` and `write_mb_s` (10^6 bytes
    per second), `<direction>_latency_ns_<rank>` for mean, p50, p99 and p999 (null if there was no request of this
    direction, and else of however few `<direction>_ios` says); and `free_erase_units` at its end.
    """
    import polars as pl

    time_ns = pl.Series(series["time_ns"], dtype=pl.UInt64).cast(pl.Int64)
    interval_seconds = time_ns.diff().fill_null(time_ns.head(1)) / 1e9
    host = pl.Series(series["host_written_bytes"], dtype=pl.UInt64).cast(pl.Int64)
    programmed = pl.Series(series["programmed_units_total"], dtype=pl.UInt64).cast(pl.Int64) * counted_unit_bytes
    moved = {"read": series["read_bytes"], "write": series["written_bytes"]}
    ios = {"read": series["read_ios"], "write": series["write_ios"], "trim": series["trim_ios"]}
    latencies: dict[str, Sequence[float | None]] = {
        "read_mean": series["read_mean_ns"],
        "read_p50": series["read_p50_ns"],
        "read_p99": series["read_p99_ns"],
        "read_p999": series["read_p999_ns"],
        "write_mean": series["write_mean_ns"],
        "write_p50": series["write_p50_ns"],
        "write_p99": series["write_p99_ns"],
        "write_p999": series["write_p999_ns"],
    }
    counts = {name: pl.Series(values, dtype=pl.UInt64) for name, values in ios.items()}
    host_grown = host.diff().fill_null(host.head(1))
    base = pl.DataFrame(
        {
            "simulated_seconds": time_ns / 1e9,
            "interval_seconds": interval_seconds,
            "stage": pl.Series(series["stage"], dtype=pl.UInt32),
            "host_written_bytes": host,
            "programmed_bytes": programmed,
            "waf": programmed.diff().fill_null(programmed.head(1)) / host_grown,
            **{f"{name}_ios": values for name, values in counts.items()},
            **{f"{name}_iops": values / interval_seconds for name, values in counts.items()},
            **{f"{name}_mb_s": pl.Series(moved[name], dtype=pl.Float64) / 1e6 / interval_seconds for name in moved},
            **{
                f"{name}_latency_ns_{rank}": pl.Series(latencies[f"{name}_{rank}"], dtype=pl.Float64)
                for name in DIRECTIONS
                for rank in RANKS
            },
            "free_erase_units": pl.Series(series["free_erase_units"], dtype=pl.UInt32),
        }
    )
    return base.with_columns(waf=pl.when(host_grown > 0).then("waf"))
