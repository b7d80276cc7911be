"""The tables that `ssdlab fleet` prints."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from ssdlab.cli.console import Console
from ssdlab.presentation.terminal import show


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; the first row has the names of the columns."""
    table = Table(box=box.SIMPLE_HEAD)
    for index, name in enumerate(rows[0]):
        table.add_column(name, justify="right" if index else "left")
    for row in rows[1:]:
        table.add_row(*row)
    show(table, Console())
