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
_FITTED_COLUMNS = ("fitted", "unfitted")


def print_rows(rows: Sequence[Row], console: "Console") -> None:
    """Prints the rows, one table per group under its heading, and a legend of the columns."""
    for index, (group, members) in enumerate(groupby(rows, key=lambda row: row.group)):
        if index:
            console.print()
        show(_table(group, list(members)), console, width_max=WIDTH)
    for line in _legend(rows):
        console.print(line, highlight=False, markup=False, width=min(WIDTH, console.width))


def _has_fitted(rows: Sequence[Row]) -> bool:
    return any(row.fitted or row.unfitted is not None for row in rows)


def _table(group: str, rows: Sequence[Row]) -> Table:
    fitted = _has_fitted(rows)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(Text(group, style="bold"), overflow="fold")
    for heading in _COLUMNS + (_FITTED_COLUMNS if fitted else ()):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        cells = [
            f"{row.what}, {row.unit}" if row.unit else row.what,
            wording.published(row),
            wording.simulated(row),
            wording.deviation(row),
        ]
        if fitted:
            cells += [wording.fitted(row), wording.as_precise(row, row.unfitted)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _legend(rows: Sequence[Row]) -> list[str]:
    lines = ["", wording.verdict(rows), f"points: a difference in the row's unit; {wording.MARKS}"]
    if any(row.printed == "ours" for row in rows):
        lines.append(wording.OURS)
    if _has_fitted(rows):
        lines.append(
            "fitted: number of parameters / number of points; unfitted: the same drive without what was fitted"
        )
    missing = {row.what: row.note for row in rows if row.simulated is None and row.note}
    return lines + [f"{what}: {note}" for what, note in missing.items()]
