"""Prints tables that fit the width of the terminal: no cell is cut and no word is broken.

From a table that is too wide, columns are left out in the order that the caller gives, and their names are printed. If
that does not suffice, the table is printed as one block for each row, with one line for each column. Not for pages:
those scroll.
"""

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

# A column of prose narrower than this is harder to read than a block.
_PROSE_MIN = 16
# Longer lines of prose are harder to read.
_TEXT_COLUMNS_MAX = 79
# The gap between the names in a block and their values.
_GAP = 2


@dataclass(frozen=True)
class _Needs:
    """The widths that a column needs."""

    with_whole_heading: int
    with_broken_heading: int
    most: int
    """The width of the longest cell or the heading, on one line."""


def show(
    table: "Table", console: "Console", left_out_first: Sequence[str] = (), *, width_max: int | None = None
) -> None:
    """Prints the table. If it is too wide, leaves out the columns of `left_out_first` in order, then prints blocks.

    `width_max` is for tables that are hard to read when they are as wide as a wide terminal.
    """
    width = min(console.width, width_max or console.width)
    if not table.columns:
        return
    kept = list(range(len(table.columns)))
    left_out: list[str] = []
    for heading in (None, *left_out_first):
        if heading is not None:
            matching = [index for index in kept if _plain(table.columns[index].header) == heading]
            if not matching:
                continue
            kept = [index for index in kept if index not in matching]
            left_out.append(heading)
        if widths := _widths(table, kept, width):
            _set(table, kept, widths)
            console.print(table, markup=False, highlight=False)
            if left_out:
                console.print(f"left out for width: {', '.join(left_out)}", markup=False, highlight=False)
            return
    _turned(table, console, width)


def fits(table: "Table", console: "Console") -> bool:
    """Whether all columns of the table fit the width."""
    return _widths(table, range(len(table.columns)), console.width) is not None


def _widths(table: "Table", kept: Sequence[int], room: int) -> list[int] | None:
    """The widths of the columns; None if they do not fit."""
    _, right, _, left = table.padding
    # The box has a line between columns and one on each side.
    around = (left + right + 1) * len(kept) + 1 if table.box else (left + right) * len(kept)
    room -= around
    needs = [_needs(table.columns[index]) for index in kept]
    for least in ([need.with_whole_heading for need in needs], [need.with_broken_heading for need in needs]):
        if sum(least) > room:
            continue
        widths = list(least)
        spare = room - sum(widths)
        for at in sorted(range(len(needs)), key=lambda at: needs[at].most - widths[at]):
            more = min(needs[at].most - widths[at], spare)
            widths[at] += max(0, more)
            spare -= max(0, more)
        return widths
    return None


def text_columns() -> int:
    """The width of sentences: that of the terminal, up to what is easy to read."""
    return min(_TEXT_COLUMNS_MAX, shutil.get_terminal_size().columns)


def _needs(column: "Column") -> _Needs:
    heading = _plain(column.header)
    lines = [line for cell in column.cells for line in _plain(cell).split("\n")]
    longest = max(map(len, lines), default=0)
    words = max((len(word) for line in lines for word in line.split(" ")), default=0)
    breaks = not column.no_wrap and column.justify == "left"
    least = max(words, min(longest, _PROSE_MIN)) if breaks else longest
    heading_word = max((len(word) for word in heading.split(" ")), default=0)
    return _Needs(max(least, len(heading)), max(least, heading_word), max(longest, len(heading)))


def _set(table: "Table", kept: Sequence[int], widths: Sequence[int]) -> None:
    """Reduces the table to the columns in `kept`, each with its width. Cells wrap only between words."""
    table.columns[:] = [table.columns[index] for index in kept]
    for index, (column, width) in enumerate(zip(table.columns, widths, strict=True)):
        # rich finds the last column by this index.
        column._index = index
        column.width = column.min_width = width
        column.ratio = None
        column.no_wrap = False
        column.overflow = "fold"
    table.width = None


def _turned(table: "Table", console: "Console", width: int) -> None:
    headings = [_plain(column.header) for column in table.columns]
    rows = list(zip(*(list(column.cells) for column in table.columns), strict=True))
    name_width = max(map(len, headings[1:]), default=0)
    # On a narrow terminal, the longest name beside the values would leave too little room for them.
    indent = min(name_width, width // 2) + 2 + _GAP
    for row in rows:
        console.print()
        console.print(_lines(f"{headings[0]} ", _plain(row[0]), width, 0), markup=False, highlight=False)
        for heading, cell in zip(headings[1:], row[1:], strict=True):
            text = _lines(f"  {heading}".ljust(indent), _plain(cell), width, indent)
            console.print(text, markup=False, highlight=False)
    console.print()


def _lines(name: str, value: str, width: int, indent: int) -> str:
    """The name followed by the value; continuation lines are indented by `indent`."""
    flat = " ".join(value.split("\n"))
    wrapped = textwrap.wrap(
        flat, width, initial_indent=name, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrapped or [name.rstrip()])


def _plain(cell: object) -> str:
    plain: Text | object = getattr(cell, "plain", cell)
    return str(plain)
