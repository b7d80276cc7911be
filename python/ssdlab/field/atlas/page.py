"""The atlas as a page: the distribution of write amplification, use and wear over drives in the field."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup

from ssdlab.field.atlas import comparisons, distributions
from ssdlab.field.atlas.comparisons import Pair, Rated
from ssdlab.field.atlas.distributions import Atlas, Distribution
from ssdlab.presentation.report import page, parts, wording
from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report.charts.encodings import HIDDEN_VARIANTS, Row, at_y, chart, switchable, variant_fill
from ssdlab.presentation.report.charts.published import Bar, Line, published_bars, published_lines
from ssdlab.presentation.report.figure import Figure
from ssdlab.simulator.results import page_folder

_MAKERS_SHOWN = 6
_MODELS_SHOWN = 40
_DRIVES_MIN = 10
_DRIVES_FOR_TENTH = 100
"""A tenth of fewer drives is less than ten of them, and is not named."""
_SHARES = np.linspace(0.01, 0.99, 99)
_BINS = np.geomspace(0.5, 16, 61)
_HEIGHT_PX = 300
_LABEL_PX = 16
_HEADROOM = 1.25
_ALL = "all drives"
_CREDIT = (
    f"Computed by ssdlab from two thirds of the SSD and NVMe reports of the EnterpriseDrive collection of linuxhw "
    f"({distributions.SOURCE}), {distributions.LICENSE}."
)


def write(atlas: Atlas, directory: Path, *, is_shipped: bool, command_line: str = "") -> list[str]:
    """Writes `report.html`, its charts and `result.json`, all or none. Returns their names."""
    figures = [figure for figure in _figures(atlas) if figure is not None]
    whole = page.Page(
        title=_finding(atlas),
        subtitle="Drives in the field: write amplification, use and wear, from SMART reports"
        + " of servers" * is_shipped,
        summary=summary(atlas),
        notices=[_CREDIT] if is_shipped else [],
        figures=figures,
        after=[
            page.Section("Makers", _makers_table(atlas)),
            page.Section("Models with the most reports", _models_table(atlas)),
            page.Section("How to read this", _reading()),
            *page.reproduced(command_line),
        ],
    )
    return page_folder.write(directory, whole, {"result.json": json.dumps(atlas.frame.to_dicts()) + "\n"})


def _finding(atlas: Atlas) -> str:
    waf = atlas.of_all("waf")
    return f"Half of {waf.n:,} drives write each byte {waf.at(0.5):.2f} times or more" if waf else "Drives in the field"


def summary(atlas: Atlas) -> str:
    """What the atlas says of all drives, in two sentences."""
    waf, daily = atlas.of_all("waf"), atlas.of_all("drive_writes_per_day")
    said = []
    if waf:
        tenth = f", one in ten {wording.waf(waf.at(0.9))} or more" if waf.n >= _DRIVES_FOR_TENTH else ""
        said.append(
            f"Of {waf.n:,} drives that count what the host and what the flash takes, half program at least "
            f"{wording.waf(waf.at(0.5))} bytes per host byte{tenth}."
        )
    if daily:
        most = wording.significant(daily.at(0.9), 2)
        tenth = f", nine of ten fewer than {most}" if daily.n >= _DRIVES_FOR_TENTH else ""
        half = wording.significant(daily.at(0.5), 2)
        said.append(f"Half of {daily.n:,} have fewer than {half} drive writes per day{tenth}.")
    return " ".join(said) or "This atlas is empty."


def _figures(atlas: Atlas) -> list[Figure | None]:
    return [_all_drives(atlas), _makers(atlas), _pairs(atlas), _reduction(atlas), _rated(atlas)]


def _all_drives(atlas: Atlas) -> Figure | None:
    """The distribution over logarithmically spaced bins."""
    waf = atlas.of_all("waf")
    if waf is None:
        return None
    below = [waf.share_below(float(edge)) for edge in _BINS]
    rows: list[Row] = [
        {"variant": _ALL, "low": float(low), "high": float(high), "share": after - before}
        for low, high, before, after in zip(_BINS, _BINS[1:], below, below[1:], strict=False)
    ]
    scale = vl.Scale(type="log", domain=[float(_BINS[0]), float(_BINS[-1])], nice=False)
    axis = vl.Axis(values=[0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 12], format="~r")
    x_title = "write amplification (flash bytes / host bytes)"
    bars = (
        chart(rows)
        .mark("rect", style="segment")
        .encode(
            vl.X("low:Q", scale=scale, axis=axis, title=x_title),
            vl.X2("high"),
            vl.Y(
                "share:Q",
                title="share of drives",
                axis=vl.Axis(tickCount=5, grid=True, format=".0%"),
                # Room for the labels of the marks above the bars.
                scale=vl.Scale(domain=[0, max(row["share"] for row in rows) * _HEADROOM], nice=False),
            ),
            vl.Datum("y2", 0),
            variant_fill([Line(_ALL, [])], legend=False),
            tooltip=[
                vl.Tooltip("low:Q", format=".3~r", title="from"),
                vl.Tooltip("high:Q", format=".3~r", title="to"),
                vl.Tooltip("share:Q", format=".2%"),
            ],
        )
    )
    marks = [{"waf": waf.at(share), "name": name} for share, name in ((0.1, "10 %"), (0.5, "median"), (0.9, "90 %"))]
    # Each starts below the labels of those before it, which may reach past it on a phone.
    rules = [
        chart([{"waf": row["waf"]}])
        .mark("rule", style="theory-tick")
        .encode(vl.X("waf:Q", scale=scale), at_y(_LABEL_PX * index), vl.Value("y2", _HEIGHT_PX))
        for index, row in enumerate(marks)
    ]
    texts = [
        chart([{"waf": row["waf"], "text": f"{row['name']}: {row['waf']:.2f}"}])
        .mark("text", style="number", align="left", baseline="top", dx=4)
        # One below the other, because side by side they would overlap on a phone.
        .encode(vl.X("waf:Q", scale=scale), at_y(_LABEL_PX * index), vl.Text("text:N"))
        for index, row in enumerate(marks)
    ]
    return Figure(
        "waf",
        f"Half of {waf.n:,} drives write each byte {wording.waf(waf.at(0.5))} times or more",
        "Write amplification since the drive was new, for drives that count host and NAND writes and have at least "
        "five drive writes. The horizontal axis is logarithmic.",
        switchable(vl.layer(bars, *rules, *texts).properties(height=_HEIGHT_PX), HIDDEN_VARIANTS),
    )


def _makers(atlas: Atlas) -> Figure | None:
    found = [(maker, atlas.of_maker("waf", maker)) for maker in atlas.makers("waf")[:_MAKERS_SHOWN]]
    known = [(maker, each) for maker, each in found if each and each.n >= _DRIVES_MIN]
    if not known:
        return None
    ranked = sorted(known, key=lambda one: one[1].at(0.5))
    (least, low), (most, high) = ranked[0], ranked[-1]
    title = f"Medians of manufacturers: {wording.waf(low.at(0.5))} ({least}) to {wording.waf(high.at(0.5))} ({most})"
    return _curves("makers", title, [Line(f"{maker} ({each.n:,})", _curve(each)) for maker, each in known])


def _reduction(atlas: Atlas) -> Figure | None:
    below = [
        (found.at(0.5), model, found)
        for model, _, found in atlas.models("waf")
        if found.n >= _DRIVES_MIN and found.at(0.5) < 1
    ]
    lines = [Line(f"{model} ({found.n})", _curve(found)) for _, model, found in sorted(below)[:_MAKERS_SHOWN]]
    if not lines:
        return None
    least = min(sorted(below), key=lambda each: each[0])
    return _curves(
        "reduction",
        f"With data reduction the flash receives less than the host writes: {wording.waf(least[0])} in the median",
        lines,
    )


def _curves(name: str, title: str, lines: Sequence[Line]) -> Figure:
    return published_lines(
        name=name,
        title=title,
        caption="Write amplification of the drives in ascending order; number of drives in brackets. The median is at "
        "50 %. The vertical axis is logarithmic.",
        lines=lines,
        x_title="drives in ascending order, %",
        y_title="write amplification",
        scale="log",
    )


def _pairs(atlas: Atlas) -> Figure | None:
    found = list(comparisons.pairs(atlas))
    if not found:
        return None
    wins = sum(pair.more.at(0.5) < pair.less.at(0.5) for pair in found)
    return published_bars(
        name="spare-area",
        title=f"More spare area, less amplification: in {wins} of {len(found)} pairs of otherwise similar drives",
        caption="Medians in the field. The marks on the lower bar show the simulated range for the second drive if it "
        f"has {wording.share(comparisons.SPARE_OF_MORE)} of spare area and the first has flash of the next power of "
        "two GiB, because manufacturers do not publish the spare area; the range covers several models that explain "
        "the first drive's figure. The workloads of the drives differ too, so only the order is meaningful.",
        bars=[bar for pair in found for bar in _bars(pair)],
        x_title="write amplification",
        said="median in the field",
    )


def _bars(pair: Pair) -> tuple[Bar, Bar]:
    return (
        Bar(pair.name, "less spare area", pair.less.at(0.5)),
        Bar(pair.name, "more spare area", pair.more.at(0.5), pair.simulated),
    )


def _rated(atlas: Atlas) -> Figure | None:
    found = list(comparisons.rated(atlas))
    if not found:
        return None
    most = max(found, key=lambda each: each.consumed_tb / each.rated_tb)
    return published_bars(
        name="rated-life",
        title=f"Drives last longer than rated: {most.name} {most.consumed_tb / most.rated_tb:.1f} times as long",
        caption="Host writes until the rated life is used, extrapolated from the reported percentage: the bar is the "
        "median, the line spans 10 to 90 % of the drives. The vertical mark is the manufacturer's rating.",
        bars=[_life_bar(each) for each in found],
        x_title="PB written by the host",
        said="by reported wear",
    )


def _life_bar(each: Rated) -> Bar:
    spread = (each.consumed_tb_low / 1000, each.consumed_tb_high / 1000)
    return Bar(f"{each.name} ({each.n} drives)", "in the field", each.consumed_tb / 1000, each.rated_tb / 1000, spread)


def _makers_table(atlas: Atlas) -> Markup:
    rows = [_spread(maker, atlas.of_maker("waf", maker)) for maker in atlas.makers("waf")]
    rows.append(_spread("all", atlas.of_all("waf")))
    return _table("Write amplification by manufacturer", "maker", [row for row in rows if row])


def _models_table(atlas: Atlas) -> Markup:
    known = sorted(atlas.models("waf"), key=lambda each: -each[2].n)[:_MODELS_SHOWN]
    rows = [_spread(model, found) for model, _, found in known]
    return _table("Write amplification by model", "model", [row for row in rows if row])


def _spread(name: str, found: Distribution | None) -> list[str] | None:
    if found is None or found.n < _DRIVES_MIN:
        return None
    return [name, f"{found.n:,}", *(wording.waf(found.at(share)) for share in (0.1, 0.25, 0.5, 0.75, 0.9))]


def _table(label: str, first: str, rows: list[list[str]]) -> Markup:
    heads = [first, "drives", "10 %", "25 %", "median", "75 %", "90 %"]
    return parts.table(label, heads, rows)


def _reading() -> Markup:
    entries = [(name.replace("_", " "), f"{meaning}.") for name, meaning in distributions.QUANTITIES.items()]
    entries.append(
        ("since new", "Counters start when a drive is new: current use may differ from the mean over its life.")
    )
    return parts.definitions(entries)


def _curve(found: Distribution) -> list[tuple[float, float]]:
    return [(float(share * 100), found.at(float(share))) for share in _SHARES]
