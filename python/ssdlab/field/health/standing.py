"""Compares a drive's write amplification with drives of its model, or else of its maker, from the atlas."""

from collections.abc import Mapping
from typing import Any, TypedDict

import polars as pl

from ssdlab.field.atlas import distributions
from ssdlab.field.atlas.distributions import Atlas, Distribution
from ssdlab.field.atlas.makers import maker_of

_DRIVES_MIN = 10
"""The least number of drives for a comparison."""
COLUMNS: dict[str, pl.DataType] = {
    "waf_share_below": pl.Float64(),
    "waf_compared_with": pl.Int64(),
    "waf_compared_what": pl.String(),
}


class _Standing(TypedDict):
    waf_share_below: float | None
    waf_compared_with: int | None
    waf_compared_what: str | None


def with_standing(drives: pl.LazyFrame, atlas: Atlas | None = None) -> pl.LazyFrame:
    """Adds the share of comparable drives in the atlas that have a lower WAF, their number, and a description of them;
    null without comparable drives."""
    known = atlas or distributions.shipped()

    def standing(frame: pl.DataFrame) -> pl.DataFrame:
        rows = frame.select("model", "capacity_bytes", "waf").iter_rows(named=True)
        added = [_standing(row, known) for row in rows]
        standings = pl.DataFrame(added, schema=COLUMNS)
        return frame.hstack(standings)

    schema = {**drives.collect_schema(), **COLUMNS}
    return drives.map_batches(standing, schema=schema, streamable=True)


def _standing(row: Mapping[str, Any], atlas: Atlas) -> _Standing:
    waf: float | None = row["waf"]
    found = _others(row, atlas) if waf is not None else None
    if waf is None or found is None:
        return {"waf_share_below": None, "waf_compared_with": None, "waf_compared_what": None}
    others, what = found
    return {
        "waf_share_below": others.share_below(waf),
        "waf_compared_with": others.n,
        "waf_compared_what": what,
    }


def _others(row: Mapping[str, Any], atlas: Atlas) -> tuple[Distribution, str] | None:
    of_model = atlas.of_model("waf", row["model"], row["capacity_bytes"])
    if of_model and of_model.n >= _DRIVES_MIN:
        return of_model, "drives of this model"
    maker = maker_of(row["model"])
    of_maker = atlas.of_maker("waf", maker)
    return (of_maker, f"drives of {maker}") if of_maker and of_maker.n >= _DRIVES_MIN else None
