"""The shell of every page that ssdlab writes: one HTML file that holds its pictures, styles and scripts.

A content security policy in the page itself forbids every request, so "offline" does not depend on care.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files

import vl_convert

from ssdlab.report import drawing
from ssdlab.report.figure import Figure, Key
from ssdlab.report.theme import AXIS_EXTENT_PX, DARK, LIGHT, css_variables, vega_config

# Vega compiles its expressions to functions, which needs 'unsafe-eval'; without requests nothing foreign comes in.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"

# What the bundled libraries hand to the page.
_BUNDLE_SNIPPET = "window.vegaEmbed = vegaEmbed;"

_COMMAND = '<pre class="command"><code>'


@dataclass(frozen=True)
class Section:
    """A part of a page: HTML under a heading. `html` is trusted: its builder has escaped what came from outside."""

    heading: str
    html: str


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
        sections = [*map(_section, self.before), *map(_figure, self.figures), *map(_section, self.after)]
        notices = "".join(f'<p class="notice">{_with_options(notice)}</p>' for notice in self.notices)
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="ssdlab">
<title>{escape(self.title)}</title>
<style>
{css_variables()}{_asset("page.css")}</style>
</head>
<body>
<header>
<h1>{escape(self.title)}</h1>
<p class="subtitle">{escape(self.subtitle)}</p>
{f'<p class="summary">{escape(self.summary)}</p>' if self.summary else ""}
{notices}
</header>
<main>
<noscript><p class="notice">The charts need JavaScript; this folder has them as pictures.</p></noscript>
{"".join(sections)}</main>
{self._scripts()}</body>
</html>
"""

    def _scripts(self) -> str:
        if not self.figures:
            return ""
        data = {
            "axisExtent": AXIS_EXTENT_PX,
            "config": {theme.name: vega_config(theme) for theme in (LIGHT, DARK)},
            "figures": {figure.name: figure.specification() for figure in self.figures},
        }
        # Inside a script element only "</" could end it early; JSON may write the solidus escaped.
        pictures = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
        return (
            f'<script type="application/json" id="pictures">{pictures}</script>\n'
            f"<script>{_vega_bundle()}</script>\n<script>\n{_asset('page.js')}</script>\n"
        )


def definition_list(entries: Sequence[tuple[str, str]]) -> str:
    """HTML of terms with their descriptions; both are plain text."""
    items = "".join(f"<dt>{escape(term)}</dt><dd>{escape(description)}</dd>" for term, description in entries)
    return f"<dl>{items}</dl>"


def command(line: str) -> str:
    """HTML of a command to copy."""
    return f"{_COMMAND}{escape(line)}</code></pre>"


def made_by(html: str) -> str | None:
    """The command of ssdlab that made a page, such as "compare", by its section "How to reproduce"; None for others."""
    found = re.search(re.escape(_COMMAND) + r"ssdlab ([a-z]+)", html)
    return found[1] if found else None


def details(summary: str, text: str) -> str:
    """HTML of a long text that opens on demand."""
    return f"<details><summary>{escape(summary)}</summary><pre><code>{escape(text)}</code></pre></details>"


def specification(texts: Mapping[str, str]) -> Section:
    """What each run was, by its label; those of several runs in one fold."""
    blocks = "\n".join(details(label, text) for label, text in texts.items())
    if len(texts) > 1:
        blocks = f"<details><summary>{len(texts)} runs</summary>\n{blocks}\n</details>"
    return Section("Full specification", blocks)


def _with_options(text: str) -> str:
    """The text as HTML, the options of a command line in it as code, which no line break cuts."""
    return re.sub(r"--[a-z][a-z-]*", r"<code>\g<0></code>", escape(text))


def _section(section: Section) -> str:
    return f"<section>\n<h2>{escape(section.heading)}</h2>\n{section.html}\n</section>\n"


def _figure(figure: Figure) -> str:
    keys = "".join(_key(key) for key in figure.keys if len(key.entries) > 1)
    described = escape(f"{figure.title}. {figure.caption}")
    return (
        f'<figure id="{escape(figure.name)}">\n<h2>{escape(figure.title)}</h2>\n{keys}'
        f'<div class="picture" role="img" aria-label="{described}" data-figure="{escape(figure.name)}"></div>\n'
        f"<figcaption>{escape(figure.caption)}</figcaption>\n</figure>\n"
    )


def _key(key: Key) -> str:
    """The switches of a key: a variant or part each, pressed while it is shown."""
    buttons = "".join(
        f'<button type="button" aria-pressed="true" data-value="{escape(entry.value)}">'
        f'<span class="swatch{" dashed" if entry.dashed else ""}" style="--colour: var({entry.colour})"></span>'
        f"{escape(entry.value)}</button>"
        for entry in key.entries
    )
    parameter = escape(key.parameter)
    return (
        f'<div class="key" role="group" aria-label="Shown in this chart" data-parameter="{parameter}">{buttons}</div>'
    )


@cache
def _vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; it sets `vegaEmbed` on the window."""
    drawing.check()
    return str(vl_convert.javascript_bundle(_BUNDLE_SNIPPET)).replace("</script", "<\\/script")


def _asset(name: str) -> str:
    return files("ssdlab.report").joinpath("assets", name).read_text(encoding="utf-8")
