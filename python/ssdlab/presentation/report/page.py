"""The frame of every page that ssdlab writes: one HTML file that contains its pictures, styles and scripts.

A content security policy in the page forbids every request, so that the page works offline by construction.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from markupsafe import Markup

from ssdlab.presentation.report import parts
from ssdlab.presentation.report.bundle import vega_bundle
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.report.template import render
from ssdlab.presentation.report.theme import AXIS_EXTENT_PX, DARK, LIGHT, css_variables, vega_config

# Vega compiles its expressions to functions, which needs 'unsafe-eval'; without requests no foreign code is loaded.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"

# A command in the form written by command.html.
_COMMAND = re.compile(r'class="command"\W+code\Wssdlab ([a-z]+)')
_OPTION = re.compile(r"--[a-z][a-z-]*")


@dataclass(frozen=True)
class Section:
    """A part of a page: HTML under a heading."""

    heading: str
    html: Markup
    anchor: str = ""
    """The name to which links on the page refer; empty for none."""


@dataclass(frozen=True)
class Page:
    """The contents of a page. All texts are plain; only sections contain HTML."""

    title: str
    subtitle: str
    summary: str
    notices: Sequence[str] = ()
    """Notices for the interpretation of the figures, such as that the drive was scaled."""
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
            # In a script element only "</" can end it early; in JSON the slash can be escaped.
            data = json.dumps(pictures, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            data = data.replace("</", "<\\/")
        has_tables = any('class="scroll' in section.html for section in (*self.before, *self.after))
        return render(
            "ssdlab.presentation.report",
            "page.html",
            page=self,
            has_tables=has_tables,
            tables=_asset("tables.js") if has_tables else "",
            policy=_POLICY,
            style=css_variables() + _asset("page.css"),
            notices=[_pieces(notice) for notice in self.notices],
            data=data,
            vega=vega_bundle() if data else "",
            script=_asset("page.js") if data else "",
        )


def made_by(html: str) -> str | None:
    """The ssdlab command that made a page, such as "compare", from its section "How to reproduce"; None for others."""
    # The last one: a page may show other commands before.
    found = _COMMAND.findall(html)
    return found[-1] if found else None


def reproduced(command_line: str | None) -> list[Section]:
    """The command that makes the page again, by which `made_by` knows it; empty without one."""
    return [Section("How to reproduce", parts.command(command_line))] if command_line else []


def specification(texts: Mapping[str, str]) -> Section:
    """The specification of each run, by its label; several runs are in one fold."""
    return Section("Full specification", parts.folds(texts, f"{len(texts)} runs" if len(texts) > 1 else ""))


def _pieces(text: str) -> list[tuple[str, bool]]:
    """Splits the text at command-line options, which are marked as code that must not be broken across lines."""
    return [(piece, _OPTION.fullmatch(piece) is not None) for piece in re.split(f"({_OPTION.pattern})", text) if piece]


def _asset(name: str) -> str:
    return files("ssdlab.presentation.report").joinpath("assets", name).read_text(encoding="utf-8")
