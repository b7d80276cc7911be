"""The rows of a study in the terminal: published | simulated | deviation, in 80 columns."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from ssdlab.experiments.studies import wording
from ssdlab.experiments.studies.contract import Row
from ssdlab.presentation.terminal import show

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 80
_COLUMNS = ("published", "simulated", "deviation")


def print_rows(rows: Sequence[Row], console: "Console") -> None:
    """Prints the rows, one table per group under its heading, and a legend of the columns."""
    is_published = any(row.published is not None for row in rows)
    for index, (group, members) in enumerate(groupby(rows, key=lambda row: row.group)):
        if index:
            console.print()
        show(_table(group, list(members), is_published=is_published), console, width_max=WIDTH)
    for line in _legend(rows):
        console.print(line, highlight=False, markup=False, width=min(WIDTH, console.width))


def _has_fitted(rows: Sequence[Row]) -> bool:
    return any(row.fitted for row in rows)


def _has_unfitted(rows: Sequence[Row]) -> bool:
    return any(row.unfitted is not None for row in rows)


def _table(group: str, rows: Sequence[Row], *, is_published: bool) -> Table:
    """Without columns for published figures if the study has none."""
    fitted, unfitted = _has_fitted(rows), _has_unfitted(rows)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(Text(group, style="bold"), overflow="fold")
    for heading in (
        *(_COLUMNS if is_published else _COLUMNS[1:2]),
        *(["fitted"] if fitted else []),
        *(["unfitted"] if unfitted else []),
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        cells = [wording.figure(row), wording.simulated(row)]
        if is_published:
            cells = [cells[0], wording.published(row), cells[1], wording.deviation(row)]
        cells += [wording.fitted(row)] if fitted else []
        cells += [wording.as_precise(row, row.unfitted)] if unfitted else []
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _legend(rows: Sequence[Row]) -> list[str]:
    marks = [
        *(["points: a difference in the row's unit"] if any(row.in_points for row in rows) else []),
        *([said] if (said := wording.marks(rows)) else []),
    ]
    marks += [said] if (said := wording.tolerances(rows)) else []
    is_published = any(row.published is not None for row in rows)
    lines = ["", wording.verdict(rows), *(["; ".join(marks)] if marks else [])] if is_published else []
    if any(row.printed == "ours" for row in rows):
        lines.append(wording.OURS)
    if _has_fitted(rows):
        lines.append("fitted: number of parameters / number of points")
    if _has_unfitted(rows):
        lines.append("unfitted: the same drive without what was fitted")
    missing = {row.what: row.note for row in rows if row.simulated is None and row.note}
    return lines + [f"{what}: {note}" for what, note in missing.items()]
