"""The key figures of a survey, and the most important drives."""

from dataclasses import dataclass
from typing import TypedDict

import polars as pl

from ssdlab.field.health.concerns import LEVELS, Level
from ssdlab.field.health.drive import Row

_BEYOND_MIN = 10
"""A percentile with fewer drives above or below it is not given."""
_PERCENTS = (10, 50, 90)
_REPORTED = {Level.FAILING: "failing", Level.ATTENTION: "in need of attention", Level.UNKNOWN: "of unknown health"}
"""The levels that the finding counts, in words."""


class SummaryJson(TypedDict):
    """`result.json` of a survey."""

    drives: int
    hard_disks: int
    by_level: dict[str, int]
    with_both_counters: int
    implausible: int
    waf_percentiles: dict[str, float]
    unread: int
    unnamed: int


@dataclass(frozen=True)
class Summary:
    """Counts of drives, and the spread of write amplification if it is known."""

    drives: int
    disks: int
    by_level: dict[str, int]
    with_counters: int
    """Drives that count both host and NAND writes."""
    implausible: int
    waf_percentiles: dict[int, float]
    """Percentiles 10, 50 and 90 of drives with at least one full drive write, where enough drives are beyond them."""
    settled: int
    """The number of these drives."""
    unread: int
    unnamed: int = 0
    """The number of reports without a serial number of which another such report has the same model: each counts as a
    drive, though they may be of one."""

    def finding(self) -> str:
        """The number of drives in each urgent state, for example "12 drives: 1 failing, 2 in need of attention"."""
        counts = {words: self.by_level.get(level.name.lower(), 0) for level, words in _REPORTED.items()}
        bad = [f"{count:,} {words}" for words, count in counts.items() if count]
        return f"{_count(self.drives, 'drive')}: {', '.join(bad) or 'no drive needs attention'}"

    def sentence(self) -> str:
        """The finding, the spread of write amplification, and the number of unread files."""
        said = self.finding()
        if 50 in self.waf_percentiles:
            said += f"; write amplification {self.waf_percentiles[50]:.2f} in the median of {self.settled:,}"
        if 10 in self.waf_percentiles:
            said += f", {self.waf_percentiles[10]:.2f} to {self.waf_percentiles[90]:.2f} from 10 to 90 %"
        if self.implausible:
            said += f"; implausible on {_count(self.implausible, 'drive')}"
        if self.unread:
            said += f"; {_count(self.unread, 'file')} could not be read"
        return f"{said}. {of_unnamed(self.unnamed)}." if self.unnamed else f"{said}."

    def to_dict(self) -> SummaryJson:
        """The summary as in `result.json`."""
        return {
            "drives": self.drives,
            "hard_disks": self.disks,
            "by_level": self.by_level,
            "with_both_counters": self.with_counters,
            "implausible": self.implausible,
            "waf_percentiles": {str(percent): value for percent, value in self.waf_percentiles.items()},
            "unread": self.unread,
            "unnamed": self.unnamed,
        }


def of_unnamed(reports: int) -> str:
    """The remark on so many reports without a serial number, of models with two or more of them."""
    return (
        f"{reports:,} reports without a serial number count as a drive each, though those of the same model may be of"
        " one drive; ssdlab lifetime --before REPORT --after REPORT compares two of one drive"
    )


def summed_up(drives: pl.LazyFrame, unread: int, unnamed: int = 0) -> Summary:
    """Computes the figures of a survey; the last two are those of `Summary`."""
    waf, settled = pl.col("waf"), ~pl.col("waf_is_early")
    figures = drives.select(
        pl.len().alias("drives"),
        pl.col("is_disk").sum().alias("disks"),
        *((pl.col("level") == level).sum().alias(level) for level in LEVELS),
        (waf.is_not_null() | pl.col("waf_is_implausible")).sum().alias("with_counters"),
        pl.col("waf_is_implausible").sum().alias("implausible"),
        waf.filter(settled).count().alias("settled"),
        *(waf.filter(settled).quantile(percent / 100, "linear").alias(f"p{percent}") for percent in _PERCENTS),
    )
    row = figures.collect().row(0, named=True)
    return Summary(
        drives=row["drives"],
        disks=row["disks"],
        by_level={level: row[level] for level in LEVELS},
        with_counters=row["with_counters"],
        implausible=row["implausible"],
        waf_percentiles={
            percent: row[f"p{percent}"]
            for percent in _PERCENTS
            if row["settled"] * min(percent, 100 - percent) / 100 >= _BEYOND_MIN
        },
        settled=row["settled"],
        unread=unread,
        unnamed=unnamed,
    )


def gravest(drives: pl.LazyFrame, most: int) -> list[Row]:
    """The most important drives: by state, failing first, then by wear."""
    rank = pl.col("level").replace_strict({level: -place for place, level in enumerate(LEVELS)}, return_dtype=pl.Int64)
    numbered = drives.with_row_index("row")
    order = numbered.select("row", rank.alias("rank"), "used_percent", "waf").sort(
        ["rank", "used_percent", "waf"], descending=[False, True, True], nulls_last=True, maintain_order=True
    )
    chosen = order.select("row").head(most).collect(engine="streaming")
    # Fetched separately: sorting a million complete rows takes most of a gigabyte.
    rows = numbered.filter(pl.col("row").is_in(chosen["row"].implode())).collect(engine="streaming")
    return chosen.join(rows, on="row", how="left", maintain_order="left").drop("row").to_dicts()


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"
