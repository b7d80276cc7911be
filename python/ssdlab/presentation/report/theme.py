"""Colours, fonts and lines of all pictures and pages, light and dark. No other file defines them.

Charts use roles ("theory", "label", range "ordinal"), not colours, so that one chart works in both themes. The eight
variant colours were chosen so that any two differ by a CIE76 distance of 15 or more for normal sight, protanopia,
deuteranopia and tritanopia (Machado et al. 2009), and differ from the background by a contrast of 3 or more.
"""

from dataclasses import dataclass
from typing import Any

# Liberation Sans has the same widths as Arial, so pictures written as PNG have the same layout as the page.
FONT_FAMILY = "Inter, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
MONOSPACE_FAMILY = "ui-monospace, 'SF Mono', Menlo, Consolas, 'Liberation Mono', monospace"

# The space for the labels of the vertical axis, equal in all pictures, so that plots are aligned on the page.
AXIS_EXTENT_PX = 46


@dataclass(frozen=True)
class Theme:
    """A colour scheme."""

    name: str
    background: str
    surface: str
    ink: str
    ink_soft: str
    line: str
    grid: str
    band: str
    accent: str
    variants: tuple[str, ...]
    parts: tuple[str, ...]


LIGHT = Theme(
    name="light",
    background="#ffffff",
    surface="#f5f7f9",
    ink="#16202b",
    ink_soft="#566372",
    line="#d5dce3",
    grid="#e8ecf0",
    band="#eef2f6",
    accent="#1261b0",
    variants=("#1261b0", "#d9600a", "#0f8f83", "#5b1f74", "#8f7ae0", "#6b4a1e", "#2d2a28", "#3b4652"),
    parts=("#a9b8c6", "#b02a48", "#e0a526", "#2f7d5b", "#6d5bd0", "#5c4630", "#e38ab4", "#3f9fd6"),
)

DARK = Theme(
    name="dark",
    background="#12161c",
    surface="#1a2028",
    ink="#e8edf2",
    ink_soft="#9dabb9",
    line="#36414d",
    grid="#242c35",
    band="#1b222b",
    accent="#5aa9f0",
    variants=("#5aa9f0", "#f0832e", "#7fe3cf", "#9150c4", "#dcd4ff", "#a87c5a", "#f4d75e", "#76808c"),
    parts=("#5d6e80", "#ff6b81", "#f0c04f", "#58c394", "#a99bff", "#b58d68", "#ffb3d1", "#86d3ff"),
)

THEMES = (LIGHT, DARK)


VegaLite = dict[str, Any]
"""A specification of Vega-Lite, or a part of one, or its configuration: JSON made by Altair and drawn by vega-embed."""


def vega_config(theme: Theme) -> VegaLite:
    """Vega-Lite's configuration for this theme, for pictures on a page and in files."""
    text = {"font": FONT_FAMILY, "fontSize": 12, "color": theme.ink}
    return {
        "background": theme.background,
        "font": FONT_FAMILY,
        # Marks have no names for screen readers; titles and tables contain the figures.
        "aria": False,
        "mark": {"aria": False},
        "padding": {"left": 1, "right": 4, "top": 4, "bottom": 8},
        "view": {"stroke": None},
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "color": theme.ink,
            "fontSize": 18,
            "fontWeight": 600,
            "lineHeight": 24,
            "offset": 18,
            "subtitleColor": theme.ink_soft,
            "subtitleFontSize": 12.5,
            "subtitleLineHeight": 17,
            "subtitlePadding": 6,
        },
        "axis": {
            "labelColor": theme.ink_soft,
            "labelFontSize": 12,
            "titleColor": theme.ink_soft,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "gridColor": theme.grid,
            "gridWidth": 1,
            "domainColor": theme.line,
            "tickColor": theme.line,
            "tickSize": 4,
            "labelPadding": 5,
            "labelOverlap": True,
        },
        # With a separation of 0, labels that touch, such as 1,000 and 1,100, are drawn and read as one number.
        "axisX": {"grid": False, "ticks": False, "titlePadding": 8, "labelFlush": False, "labelSeparation": 10},
        # The title is horizontal, above the axis: it is easier to read and does not use width on a phone.
        "axisY": {
            "domain": False,
            "ticks": False,
            "minExtent": AXIS_EXTENT_PX,
            "maxExtent": AXIS_EXTENT_PX,
            "titleAngle": 0,
            "titleAlign": "left",
            "titleAnchor": "end",
            "titleBaseline": "bottom",
            "titleX": -AXIS_EXTENT_PX,
            "titleY": -12,
        },
        "legend": {
            "orient": "top",
            "title": None,
            "labelColor": theme.ink,
            "labelFontSize": 12,
            "symbolType": "square",
            "symbolStrokeWidth": 0,
            "symbolSize": 110,
            "labelLimit": 320,
            "columnPadding": 18,
            "offset": 14,
        },
        "header": {
            "title": None,
            "labelColor": theme.ink,
            "labelFontSize": 12,
            "labelAnchor": "start",
            "labelPadding": 4,
        },
        "range": {"category": list(theme.variants), "ordinal": list(theme.parts)},
        "line": {"strokeWidth": 2, "strokeJoin": "round", "strokeCap": "round"},
        "style": {
            "label": text,
            "number": {**text, "fontWeight": 600},
            "note": {**text, "color": theme.ink_soft, "fontSize": 11},
            "theory": {"strokeDash": [5, 4], "strokeWidth": 1.5},
            "theory-tick": {"color": theme.ink, "thickness": 2},
            "theory-curve": {"strokeDash": [5, 4], "strokeWidth": 1.5, "color": theme.ink_soft},
            "leader": {"color": theme.line, "strokeWidth": 1},
            "band": {"color": theme.band},
            "mark": {"stroke": theme.background, "strokeWidth": 1.5, "filled": True},
            "segment": {"stroke": theme.background, "strokeWidth": 1},
        },
    }


def css_variables() -> str:
    """Both themes as CSS custom properties, selected by the setting of the reader's system."""

    def declarations(theme: Theme) -> str:
        plain = {name: getattr(theme, name) for name in ("background", "surface", "ink", "line", "grid", "accent")}
        plain["ink-soft"] = theme.ink_soft
        plain |= {f"variant-{index}": colour for index, colour in enumerate(theme.variants)}
        plain |= {f"part-{index}": colour for index, colour in enumerate(theme.parts)}
        return " ".join(f"--{name}: {value};" for name, value in plain.items())

    return (
        f":root {{ color-scheme: light dark; --font: {FONT_FAMILY}; --monospace: {MONOSPACE_FAMILY}; "
        f"{declarations(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {declarations(DARK)} }} }}\n"
    )
