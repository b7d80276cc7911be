"""Does the last line of a survey say only what its number of drives carries?"""

import polars as pl
import pytest

from ssdlab.field.health.summary import summed_up


@pytest.mark.parametrize(
    ("settled", "said"),
    [
        (19, "no drive needs attention."),
        (20, "no drive needs attention; write amplification 2.00 in the median of 20."),
        (99, "no drive needs attention; write amplification 2.00 in the median of 99."),
        (100, "no drive needs attention; write amplification 2.00 in the median of 100, 2.00 to 2.00 from 10 to 90 %."),
    ],
)
def test_a_percentile_needs_ten_drives_beyond_it(settled: int, said: str) -> None:
    """A regression: of 11 drives, one of which had 72.7, "1.46 to 14.49 from 10 to 90 %"; and drives that hardly wrote,
    which are in no percentile, counted for the ten that it needed."""
    waf = [2.0] * settled + [9.0] * 50
    drives = pl.LazyFrame({"waf": waf, "waf_is_early": [False] * settled + [True] * 50}).with_columns(
        pl.lit("fine").alias("level"),
        pl.lit(value=False).alias("is_disk"),
        pl.lit(value=False).alias("waf_is_implausible"),
    )
    assert summed_up(drives, 0).sentence() == f"{settled + 50} drives: {said}"
