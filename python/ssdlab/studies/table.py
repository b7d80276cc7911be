"""The rows of a study in the terminal: published | simulated | deviation, in 80 columns."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ssdlab.studies import wording
from ssdlab.studies.contract import Row

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 80
_COLUMNS = (("published", 10), ("simulated", 9), ("deviation", 11))
_FITTED_COLUMNS = (("fitted", 6), ("unfitted", 9))


def print_rows(rows: Sequence[Row], console: "Console") -> None:
    """Prints the rows, a table a group under its heading, and what the columns mean."""
    for index, (group, members) in enumerate(groupby(rows, key=lambda row: row.group)):
        if index:
            console.print()
        console.print(_table(group, list(members)), markup=False)
    for line in _legend(rows):
        console.print(line, highlight=False, markup=False, width=WIDTH)


def _has_fitted(rows: Sequence[Row]) -> bool:
    return any(row.fitted_parameters or row.unfitted is not None for row in rows)


def _table(group: str, rows: Sequence[Row]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    fitted = _has_fitted(rows)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, width=WIDTH)
    table.add_column(Text(group, style="bold"), ratio=1, overflow="fold")
    for heading, width in _COLUMNS + (_FITTED_COLUMNS if fitted else ()):
        table.add_column(heading, justify="right", no_wrap=True, min_width=width)
    for row in rows:
        cells = [f"{row.what}, {row.unit}", wording.published(row), wording.simulated(row), wording.deviation(row)]
        if fitted:
            cells += [str(row.fitted_parameters), wording.number(row.unfitted)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _legend(rows: Sequence[Row]) -> list[str]:
    lines = ["", f"{wording.verdict(rows)}; pt: points, a difference in the row's unit; !: not within it"]
    if _has_fitted(rows):
        lines.append("fitted: parameters fitted to published points; unfitted: what the model says without")
    missing = {row.what: row.note for row in rows if row.simulated is None and row.note}
    return lines + [f"{what}: {note}" for what, note in missing.items()]
