"""The series of a run over host bytes as a polars frame, as stored in `timeseries.parquet`.

Values that need a clock are in the series over simulated time, `time_series.py`; `host_written_bytes` is in both.

polars is loaded only when a frame is made: worker processes and `ssdlab --help` do not need it.
"""

from typing import TYPE_CHECKING

from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.ledger import PARTS, Part

if TYPE_CHECKING:
    import polars


def units_by_part(series: plain.Columns) -> dict[Part, list[int]]:
    """The cumulative programs at the end of each step, by part, in units of the ledger."""
    return {
        "host": series["programmed_units_host"],
        "gc": series["programmed_units_gc"],
        "wear_leveling": series["programmed_units_wear_leveling"],
        "metadata": series["programmed_units_metadata"],
        "parity": series["programmed_units_parity"],
        "padding": series["programmed_units_padding"],
        "slc_fold": series["programmed_units_slc_fold"],
        "journal": series.get("programmed_units_journal", [0] * len(series["stage"])),
    }


def frame(series: plain.Columns, counted_unit_bytes: int) -> "polars.DataFrame":
    """A frame with one row for each window of host writes, in order; all windows have equal size.

    Columns: `host_written_bytes` (from the start of the run to the end of the window), `stage`; `waf` and `waf_<part>`
    (in the window; null if the host wrote nothing); `programmed_bytes_<part>` (cumulative); `free_erase_units`,
    `effective_over_provisioning` (at the end of the window).
    """
    import polars as pl

    units = units_by_part(series)
    programmed = [f"programmed_bytes_{part}" for part in PARTS]
    base = pl.DataFrame(
        {
            "host_written_bytes": pl.Series(series["host_written_bytes"], dtype=pl.UInt64),
            "stage": pl.Series(series["stage"], dtype=pl.UInt32),
            **{
                f"programmed_bytes_{part}": pl.Series(units[part], dtype=pl.UInt64) * counted_unit_bytes
                for part in PARTS
            },
            "free_erase_units": pl.Series(series["free_erase_units"], dtype=pl.UInt32),
            "effective_over_provisioning": pl.Series(series["effective_over_provisioning"], dtype=pl.Float64),
        }
    )
    host_grown = _growth("host_written_bytes")
    ratio = {f"waf_{part}": _growth(f"programmed_bytes_{part}") / host_grown for part in PARTS}
    return base.select(
        "host_written_bytes",
        "stage",
        pl.when(host_grown > 0).then(pl.sum_horizontal(_growth(name) for name in programmed) / host_grown).alias("waf"),
        *(pl.when(host_grown > 0).then(value).alias(name) for name, value in ratio.items()),
        *programmed,
        "free_erase_units",
        "effective_over_provisioning",
    )


def _growth(column: str) -> "polars.Expr":
    """The growth of a cumulative column in each window; the first window begins at 0."""
    import polars as pl

    values = pl.col(column).cast(pl.Int64)
    return values - values.shift(1, fill_value=0)
