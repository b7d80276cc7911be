"""Pictures for a paper: PDF and SVG as wide as a column, without titles, that can be told apart in grey, and a caption.

Not for pages, whose pictures have colours, titles and keys of their own.
"""

import copy
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ssdlab.presentation.report import drawing
from ssdlab.presentation.report.theme import LIGHT, VegaLite, vega_config

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure

WIDTH_INCHES = 3.3
"""A column of IEEE's and ACM's two-column formats, which are 3.5 and 3.33 inches wide."""
# The unit of PDF, of which the library writes as many as pixels.
_PER_INCH = 72
_TEXT_PX = 8.5
_AXIS_PX = 38
_HEIGHT_MAX_PX = 170
# Neighbours are far apart in lightness; dashes tell lines apart where two greys are near.
_VARIANTS = ["#000000", "#8a8a8a", "#4d4d4d", "#b0b0b0", "#2b2b2b", "#9c9c9c", "#6a6a6a", "#c4c4c4"]
_PARTS = ["#d9d9d9", "#333333", "#a6a6a6", "#6e6e6e", "#f2f2f2", "#000000", "#8c8c8c", "#bfbfbf"]
_DASHES = [[1, 0], [5, 2], [1.5, 1.5], [6, 2, 1.5, 2], [3, 3], [8, 2], [2, 1, 2, 3], [8, 2, 2, 2, 2, 2]]


def files(figure: "Figure", command: str) -> Iterator[tuple[str, str | bytes]]:
    """(file name, content): PDF, SVG, and the caption, with the command that repeats the picture unless it is empty."""
    import vl_convert

    drawing.check()
    width_px = WIDTH_INCHES * _PER_INCH
    drawn = _drawn(figure, width_px)
    svg = vl_convert.vegalite_to_svg(drawn)
    # Only drawing tells how far labels reach beyond the plot.
    if (beyond_px := _width_px(svg) - width_px) > 0:
        drawn = _drawn(figure, width_px - beyond_px)
        svg = vl_convert.vegalite_to_svg(drawn)
    yield f"{figure.name}-paper.pdf", vl_convert.vegalite_to_pdf(drawn)
    yield f"{figure.name}-paper.svg", _in_inches(svg)
    repeat = f" Repeated by: {command}" if command else ""
    yield f"{figure.name}-paper.txt", f"{figure.title}. {_caption(figure.caption)}{repeat}\n"


def _caption(text: str) -> str:
    # Lines of variants are dashed too here.
    return text.replace("Dashed: theory", "Thin: theory")


def _in_inches(svg: str) -> str:
    """The SVG with its size in inches, of as many units as the PDF."""
    return re.sub(
        r'(width|height)="([0-9.]+)"', lambda found: f'{found[1]}="{float(found[2]) / _PER_INCH:.4g}in"', svg, count=2
    )


def _width_px(svg: str) -> float:
    found = re.search(r'width="([0-9.]+)"', svg)
    assert found is not None, "an SVG has a width"
    return float(found[1])


def _drawn(figure: "Figure", width_px: float) -> VegaLite:
    specification = copy.deepcopy(figure.still())
    specification["config"] = _config(max((len(each.value) for key in figure.keys for each in key.entries), default=1))
    specification["background"] = "#ffffff"
    labels = [entry.value for key in figure.keys for entry in key.entries]
    _in_grey(specification, labels)
    whole = specification.get("usermeta", {}).get("verticalAxis") is False
    for part in specification.get("vconcat") or (
        [specification["spec"]] if "spec" in specification else [specification]
    ):
        # The rest is the axis and the space around the picture.
        part["width"] = width_px - (42 if whole else _AXIS_PX + 34)
        if not whole and isinstance(part.get("height"), int | float):
            _lower(part, min(part["height"], _HEIGHT_MAX_PX) / part["height"])
    # "fit" shrinks the plot by what labels and legend add to the width.
    if not {"vconcat", "spec"} & specification.keys():
        specification["width"] = math.floor(width_px)
        specification["autosize"] = {"type": "fit-x", "contains": "padding"}
    return specification


def _lower(part: VegaLite, factor: float) -> None:
    """Makes a part lower, with what stands at a fixed height of it, such as the names of stages."""
    part["height"] *= factor
    for layer in part.get("layer", []):
        for channel in ("y", "y2"):
            if isinstance(at := layer.get("encoding", {}).get(channel, {}).get("value"), int | float):
                layer["encoding"][channel]["value"] = at * factor


def _config(longest: int) -> VegaLite:
    config = vega_config(LIGHT)
    # Figures at the ends of lines stand to the right of the plot.
    config["padding"] = {"left": 2, "right": 24, "top": 3, "bottom": 2}
    config["range"] = {"category": _VARIANTS, "ordinal": _PARTS}
    config["line"]["strokeWidth"] = 1.2
    config["mark"] = {**config["mark"], "color": "#000000"}
    config["axis"] |= {"labelFontSize": _TEXT_PX, "titleFontSize": _TEXT_PX, "labelColor": "#000", "titleColor": "#000"}
    config["axisY"] |= {"minExtent": _AXIS_PX, "maxExtent": _AXIS_PX, "titleX": -_AXIS_PX, "titleY": -8}
    columns = max(1, math.floor(210 / (4.6 * longest + 26)))
    config["legend"] |= {
        "labelFontSize": _TEXT_PX,
        "symbolSize": 60,
        "columnPadding": 8,
        "offset": 24,
        "columns": columns,
    }
    config["header"] |= {"labelFontSize": _TEXT_PX}
    for name in ("label", "number", "note"):
        config["style"][name] = {**config["style"][name], "fontSize": _TEXT_PX - 1, "color": "#000"}
    config["style"]["theory"] = config["style"]["theory-curve"] = {"strokeDash": [2, 2], "strokeWidth": 0.6}
    config["style"]["segment"] = {"stroke": "#000000", "strokeWidth": 0.4}
    return config


def _in_grey(node: Any, labels: list[str]) -> None:
    """Gives each line of a variant a dash of its own, below a layer or a part too."""
    if isinstance(node, list):
        for item in node:
            _in_grey(item, labels)
        return
    if not isinstance(node, dict):
        return
    encoding, mark = node.get("encoding", {}), node.get("mark")
    kind = mark.get("type") if isinstance(mark, dict) else mark
    colour = encoding.get("color")
    if kind == "line" and isinstance(colour, dict) and colour.get("field") == "variant" and len(labels) > 1:
        dashes = [_DASHES[index % len(_DASHES)] for index in range(len(labels))]
        encoding["strokeDash"] = {
            "field": "variant",
            "type": "nominal",
            "scale": {"domain": labels, "range": dashes},
            "legend": {"values": labels} if colour.get("legend") else None,
        }
        if colour.get("legend"):
            colour["legend"].pop("symbolDash", None)
    for item in node.values():
        _in_grey(item, labels)
