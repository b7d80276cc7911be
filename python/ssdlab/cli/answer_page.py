"""The page of an answer that is a few sentences and a table: `--output` of commands whose result needs no more."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli.command_line import command_line
from ssdlab.cli.form import Answer, Printing, finite

if TYPE_CHECKING:
    from markupsafe import Markup

    from ssdlab.presentation.report.figure import Figure

Output = Annotated[
    str | None,
    typer.Option("--output", metavar="DIR", help="Folder for report.html and result.json.  [default: print only]"),
]


@dataclass(frozen=True)
class Table:
    """A table of the page under its heading."""

    heading: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    is_text: bool = False
    """Whether it is a list of things with a text for each, not of figures."""


@dataclass(frozen=True)
class Told:
    """What the page tells, as plain text."""

    title: str
    subtitle: str
    summary: str
    sentences: Sequence[str] = ()
    heading: str = "Details"
    """That of the sentences."""
    tables: Sequence[Table] = ()
    words: Sequence[tuple[str, str]] = ()
    """What the columns mean."""
    figures: Sequence["Figure"] = ()


def write(output: str, told: Told, answer: Answer, form: Printing, context: typer.Context) -> None:
    """Writes report.html and result.json, which is what `--format json` prints, and says where they are."""
    # The page is only loaded for those who ask for it.
    from ssdlab.presentation.report import page, parts
    from ssdlab.simulator.results import page_folder

    whole = page.Page(
        title=told.title,
        subtitle=told.subtitle,
        summary=told.summary,
        before=[
            *([page.Section(told.heading, parts.bullets(told.sentences))] if told.sentences else []),
            *(page.Section(each.heading, _html(each)) for each in told.tables),
        ],
        figures=told.figures,
        after=[
            *([page.Section("Words", parts.definitions(told.words))] if told.words else []),
            *page.reproduced(command_line(context)),
        ],
    )
    content = json.dumps(finite(answer.to_dict()), indent=2, ensure_ascii=False, default=str) + "\n"
    form.say_files(output, page_folder.write(Path(output), whole, {"result.json": content}))


def _html(table: Table) -> "Markup":
    from ssdlab.presentation.report import parts

    if table.is_text:
        return parts.definitions([(name, text) for name, text in table.rows])
    return parts.table(table.heading, table.heads, table.rows)
