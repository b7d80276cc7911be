"""The drives of a survey by model, for its page and the terminal."""

import polars as pl

from ssdlab.presentation.report import wording

URGENT = ("failing", "attention")
"""The states that need a person, the most urgent first."""
HEADS = ("model", "drives", *URGENT, "used, median", "WAF, median")
EXPLAINED = "Medians are of the drives that report the figure."
_MODELS_MIN = 2


def by_model(drives: pl.LazyFrame, at_most: int) -> list[list[str]]:
    """A row of cells below `HEADS` for each model, those with the most urgent drives first; empty for one model."""
    bad = [pl.col("level").eq(level).sum().alias(level) for level in URGENT]
    middles = [pl.col(name).median() for name in ("used_percent", "waf")]
    known = drives.group_by(pl.col("model").replace("", None).fill_null("not reported")).agg(
        pl.len().alias("drives"), *bad, *middles
    )
    rows = known.sort([*URGENT, "drives", "model"], descending=[*[True] * len(URGENT), True, False]).collect()
    if rows.height < _MODELS_MIN:
        return []
    return [
        [
            str(row["model"]),
            f"{row['drives']:,}",
            *(f"{row[level]:,}" for level in URGENT),
            "-" if row["used_percent"] is None else f"{wording.rounded(row['used_percent'])} %",
            "-" if row["waf"] is None else wording.waf(row["waf"]),
        ]
        for row in rows.head(at_most).iter_rows(named=True)
    ]
