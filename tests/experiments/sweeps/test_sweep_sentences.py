"""Do a sweep's title and captions say no more than the intervals of its rows?"""

import polars as pl

from ssdlab.experiments.sweeps import pictures

AXES = ("op",)


def rows(*wafs: tuple[float, float, float | None]) -> pl.DataFrame:
    """Rows of (spare area, WAF, half the width of its interval as a share)."""
    schema = {"op": pl.Float64, "waf": pl.Float64, "waf_within": pl.Float64}
    found = pl.DataFrame(wafs, schema=schema, orient="row")
    return found.with_columns(failure=pl.lit(None, pl.String), **{name: pl.lit(None, pl.Float64) for name in OTHERS})


OTHERS = ("write_iops", "read_iops", "write_latency_us_p999")


def test_a_difference_is_said_only_if_the_intervals_are_apart() -> None:
    apart, unclear = rows((0.07, 5.0, 0.002), (0.28, 4.9, 0.002)), rows((0.07, 5.0, 0.03), (0.28, 4.9, 0.03))
    assert "falls by a factor of 1" in pictures.figures(apart, AXES)[0].title
    assert (
        pictures.figures(unclear, AXES)[0].title
        == "From 7\u00a0% to 28\u00a0% over-provisioning, write amplification shows no change"
    )
    assert "WAF 5.00 with" in pictures.headline(apart, AXES)
    assert pictures.headline(unclear, AXES).startswith("WAF is 4.95 in all runs")


def test_several_seeds_are_known_better_than_one() -> None:
    one = rows((0.07, 5.0, 0.015), (0.28, 4.9, 0.015))
    assert "shows no change" in pictures.figures(one, AXES)[0].title
    assert "falls" in pictures.figures(pl.concat([one] * 9), AXES)[0].title


def test_rows_without_an_interval_differ_as_seeds_do() -> None:
    """Rows that an earlier version stored have no such column."""
    old = rows((0.07, 5.0, None), (0.28, 4.95, None)).drop("waf_within")
    assert "shows no change" in pictures.figures(old, AXES)[0].title
    assert "falls" in pictures.figures(rows((0.07, 5.0, None), (0.28, 4.0, None)), AXES)[0].title
