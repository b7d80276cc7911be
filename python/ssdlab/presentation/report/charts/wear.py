"""The distribution of erase counts: the number of blocks by erase count, one row for each variant on a common axis."""

import json
from collections.abc import Sequence

from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.charts.encodings import HIDDEN_VARIANTS, Row, chart, switchable, variant_colour
from ssdlab.presentation.report.variant import ComparedVariant

_ROW_PX = 64
_BARS_WITH_GAPS_MAX = 80


def wear_histogram(variants: Sequence[ComparedVariant]) -> vl.Picture | None:
    """The share of blocks over the erase count; None if no block was erased."""
    drawn = [variant for variant in variants if any(blocks for _, _, blocks in variant.wear_histogram)]
    if not any(high for variant in drawn for _, high, blocks in variant.wear_histogram if blocks):
        return None
    high_max = max(high for variant in drawn for _, high, blocks in variant.wear_histogram if blocks) + 0.5
    low_min = min(low for variant in drawn for low, _, blocks in variant.wear_histogram if blocks) - 0.5
    # The axis begins at zero, unless the counts are so close that they would be one thin bar at the right edge.
    left = -0.5 if low_min < 0.8 * high_max else low_min
    gap = 0.04 if high_max - left < _BARS_WITH_GAPS_MAX else 0.0
    rows = [row for variant in drawn for row in _rows(variant, gap)]
    bars = (
        chart(rows)
        .mark("bar")
        .encode(
            vl.X(
                "low:Q",
                title="erases of a block",
                scale=vl.Scale(domain=[left, high_max], nice=False),
                axis=vl.Axis(tickMinStep=1, format=",d"),
            ),
            vl.X2("high"),
            vl.Y(
                "share:Q",
                title=None,
                axis=vl.Axis(tickCount=2, grid=True, labelExpr="datum.label + ' %'"),
                scale=vl.Scale(zero=True),
            ),
            vl.Datum("y2", 0),
            variant_colour(variants, legend=False),
            tooltip=[
                vl.Tooltip("variant:N"),
                vl.Tooltip("count:N", title="times erased"),
                vl.Tooltip("blocks:Q", format=","),
                vl.Tooltip("share:Q", title="% of blocks", format=".2f"),
            ],
        )
        .properties(height=_ROW_PX)
    )
    names = json.dumps({variant.label: _row_name(variant, first=variant is drawn[0]) for variant in drawn})
    header = {"labelOrient": "top", "labelExpr": f"({names})[datum.value]", "title": None}
    row = vl.Row("variant:N", sort=[variant.label for variant in drawn], header=header)
    return switchable(bars.facet(row, spacing=8, independent="y"), HIDDEN_VARIANTS)


def _rows(variant: ComparedVariant, gap: float) -> list[Row]:
    blocks_total = sum(blocks for _, _, blocks in variant.wear_histogram)
    return [
        {
            "variant": variant.label,
            "low": low - 0.5 + gap,
            "high": high + 0.5 - gap,
            "count": str(low) if low == high else f"{low:,} to {high:,}",
            "blocks": blocks,
            "share": round(blocks / blocks_total * 100, 4),
        }
        for low, high, blocks in variant.wear_histogram
        if blocks
    ]


def _row_name(variant: ComparedVariant, *, first: bool) -> str:
    """The heading of a row; the first one also names the vertical axis."""
    unit = "; share of blocks" if first else ""
    if variant.wear is None:
        return f"{variant.label}{unit}"
    wear = variant.wear
    mean = wording.significant(wear.erase_count_mean)
    slc = variant.slc_mode_wear
    apart = f", not counted up to {slc.erase_count_max:,} in SLC mode" if slc else ""
    return f"{variant.label}: {wear.erase_count_min:,} to {wear.erase_count_max:,}, mean {mean}{apart}{unit}"
