"""One picture: a chart with its finding, and its conversion to SVG and PNG files in both themes."""

import copy
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ssdlab.presentation.report import drawing
from ssdlab.presentation.report import vegalite as vl
from ssdlab.presentation.report.theme import AXIS_EXTENT_PX, LIGHT, THEMES, Theme, VegaLite, vega_config
from ssdlab.presentation.terminal import visible

if TYPE_CHECKING:
    import altair as alt

EXPORT_WIDTH_PX = 760
# The `usermeta` of a chart whose plot uses the whole width.
NO_VERTICAL_AXIS = {"verticalAxis": False}
# The number of characters that certainly fit into the exported width at the title size of the theme.
_TITLE_CHARACTERS = 74
_SUBTITLE_CHARACTERS = 116


@dataclass(frozen=True)
class KeyEntry:
    """One entry of a picture's key: its value in the data, and the CSS variable of its colour."""

    value: str
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Key:
    """The key of a picture. Each entry is a switch: the chart's parameter `parameter` lists the hidden values."""

    parameter: str
    entries: tuple[KeyEntry, ...]


@dataclass(frozen=True)
class Figure:
    """A chart without colours (the theme sets them), its finding in one sentence, and the explanation below it."""

    name: str
    """The file name without theme and suffix."""
    title: str
    caption: str
    chart: vl.Picture
    keys: tuple[Key, ...] = field(default=())

    def specification(self) -> VegaLite:
        """Vega-Lite without title and legend: a page shows both as HTML around the picture."""
        stripped: VegaLite = _without_legends(vl.specification(self.chart))
        return stripped

    def plot(self) -> "alt.TopLevelMixin":
        """The chart with its finding as title, in the colours of the light theme, to show, change or save: an Altair
        chart."""
        import altair as alt

        whole = self._exported(LIGHT, vl.specification(self.chart))
        kinds: list[tuple[str, Any]] = [
            ("layer", alt.LayerChart),
            ("vconcat", alt.VConcatChart),
            ("spec", alt.FacetChart),
        ]
        kind = next((kind for part, kind in kinds if part in whole), alt.Chart)
        chart: alt.TopLevelMixin = kind.from_dict(whole, validate=False)
        return chart

    def still(self) -> VegaLite:
        """Vega-Lite without what follows the pointer, with control characters written out: for a separate picture."""
        written_out: VegaLite = _written_out(_still(vl.specification(self.chart)))
        return written_out

    def svg(self) -> str:
        """The picture in the light theme. Raises RunFailed if drawing would abort."""
        return self._svg(LIGHT, _still(vl.specification(self.chart)))

    def files(self, *, png: bool = True) -> Iterator[tuple[str, str | bytes]]:
        """(file name, content): SVG, light and dark, and each as PNG (twice the size) unless it is not wanted."""
        import vl_convert

        still = _still(vl.specification(self.chart))
        for theme in THEMES:
            svg = self._svg(theme, still)
            yield f"{self.name}-{theme.name}.svg", svg
            if png:
                picture: bytes = vl_convert.svg_to_png(svg, scale=2)
                yield f"{self.name}-{theme.name}.png", picture

    def _svg(self, theme: Theme, still: VegaLite) -> str:
        import vl_convert

        drawing.check()
        text: str = vl_convert.vegalite_to_svg(self._exported(theme, still))
        return text

    def _exported(self, theme: Theme, whole: VegaLite) -> VegaLite:
        """Vega-Lite of a separate picture: with its title, its legend and the theme's colours."""
        specification = sized(whole, EXPORT_WIDTH_PX)
        specification["title"] = {
            "text": textwrap.wrap(self.title, _TITLE_CHARACTERS),
            "subtitle": textwrap.wrap(self.caption, _SUBTITLE_CHARACTERS),
        }
        config = vega_config(theme)
        config["padding"] = 24
        # The title of the vertical axis is between the legend and the plot.
        config["legend"]["offset"] = 32 if "usermeta" not in specification else 12
        longest = max((len(entry.value) for key in self.keys for entry in key.entries), default=1)
        config["legend"]["columns"] = max(1, int(EXPORT_WIDTH_PX / (7 * longest + 44)))
        specification["config"] = config
        written_out: VegaLite = _written_out(specification)
        return written_out


def sized(specification: VegaLite, width_px: float) -> VegaLite:
    """A copy whose plots, in every part of the picture, leave space for the vertical axis within `width_px`.

    The script of the page does the same for the width of the reader's screen.
    """
    result = copy.deepcopy(specification)
    parts = result.get("vconcat") or ([result["spec"]] if "spec" in result else [result])
    for part in parts:
        part["width"] = width_px - (0 if specification.get("usermeta") == NO_VERTICAL_AXIS else AXIS_EXTENT_PX)
    return result


def _written_out(node: Any) -> Any:
    """A copy with the control characters in its texts written out: the library that draws aborts the process on those
    that XML does not have."""
    if isinstance(node, list):
        return [_written_out(item) for item in node]
    if isinstance(node, dict):
        return {_written_out(name): _written_out(item) for name, item in node.items()}
    return visible(node) if isinstance(node, str) else node


def _without_legends(node: Any) -> Any:
    """A copy in which no encoding has a legend."""
    if isinstance(node, list):
        return [_without_legends(item) for item in node]
    if isinstance(node, dict):
        return {name: None if name == "legend" else _without_legends(item) for name, item in node.items()}
    return node


def _still(specification: VegaLite) -> VegaLite:
    """A copy without interactive elements: selections, and the layers of points that they highlight."""
    result = {name: value for name, value in specification.items() if name != "params"}
    result["params"] = [parameter for parameter in specification.get("params", []) if "select" not in parameter]
    for parts in ("layer", "vconcat"):
        if parts in result:
            result[parts] = [_still(part) for part in result[parts] if not _follows_pointer(part)]
    return result


def _follows_pointer(layer: VegaLite) -> bool:
    return "condition" in layer.get("encoding", {}).get("opacity", {})
