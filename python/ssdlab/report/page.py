"""The shell of every page that ssdlab writes: one HTML file that holds its pictures, styles and scripts.

A content security policy in the page itself forbids every request, so "offline" does not depend on care.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import vl_convert
from markupsafe import Markup

from ssdlab.report import drawing, parts
from ssdlab.report.figure import Figure
from ssdlab.report.template import render
from ssdlab.report.theme import AXIS_EXTENT_PX, DARK, LIGHT, css_variables, vega_config

# Vega compiles its expressions to functions, which needs 'unsafe-eval'; without requests nothing foreign comes in.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"

# What the bundled libraries hand to the page.
_BUNDLE_SNIPPET = "window.vegaEmbed = vegaEmbed;"

# A command as command.html writes it.
_COMMAND = re.compile(r'class="command"\W+code\Wssdlab ([a-z]+)')
_OPTION = re.compile(r"--[a-z][a-z-]*")


@dataclass(frozen=True)
class Section:
    """A part of a page: HTML under a heading."""

    heading: str
    html: Markup


@dataclass(frozen=True)
class Page:
    """What a page says. All texts are plain; only sections carry HTML."""

    title: str
    subtitle: str
    summary: str
    notices: Sequence[str] = ()
    """What the reader must know before believing a figure, such as that the drive was scaled."""
    before: Sequence[Section] = ()
    figures: Sequence[Figure] = ()
    after: Sequence[Section] = ()

    def html(self) -> str:
        data = ""
        if self.figures:
            pictures = {
                "axisExtent": AXIS_EXTENT_PX,
                "config": {theme.name: vega_config(theme) for theme in (LIGHT, DARK)},
                "figures": {figure.name: figure.specification() for figure in self.figures},
            }
            # Inside a script element only "</" could end it early; JSON may write the solidus escaped.
            data = json.dumps(pictures, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            data = data.replace("</", "<\\/")
        return render(
            "ssdlab.report",
            "page.html",
            page=self,
            policy=_POLICY,
            style=css_variables() + _asset("page.css"),
            notices=[_pieces(notice) for notice in self.notices],
            data=data,
            vega=_vega_bundle() if data else "",
            script=_asset("page.js") if data else "",
        )


def made_by(html: str) -> str | None:
    """The command of ssdlab that made a page, such as "compare", by its section "How to reproduce"; None for others."""
    found = _COMMAND.search(html)
    return found[1] if found else None


def specification(texts: Mapping[str, str]) -> Section:
    """What each run was, by its label; those of several runs in one fold."""
    return Section("Full specification", parts.folds(texts, f"{len(texts)} runs" if len(texts) > 1 else ""))


def _pieces(text: str) -> list[tuple[str, bool]]:
    """The text cut at the options of a command line in it, which are code that no line break cuts."""
    return [(piece, _OPTION.fullmatch(piece) is not None) for piece in re.split(f"({_OPTION.pattern})", text) if piece]


@cache
def _vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; it sets `vegaEmbed` on the window."""
    drawing.check()
    return str(vl_convert.javascript_bundle(_BUNDLE_SNIPPET)).replace("</script", "<\\/script")


def _asset(name: str) -> str:
    return files("ssdlab.report").joinpath("assets", name).read_text(encoding="utf-8")
