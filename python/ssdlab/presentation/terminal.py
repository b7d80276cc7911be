"""What reaches the terminal: no control characters of others, and tables that fit its width.

Names, labels and messages come from files, drives and other programs, and can hold escape sequences, which would move
the cursor, change colours or rename the window, and characters that change the direction of text. `guard` replaces
stdout and stderr by streams that write them as text, `\\x1b`; `cli/console.py` does so for what rich prints. Not for
files and pages: those have escapes of their own.

In a table, no cell is cut and no word is broken. From a table that is too wide, columns are left out in the order that
the caller gives, and their names are printed. If that does not suffice, the table is printed as one block for each row,
with one line for each column.
"""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from ssdlab.foundation.quantities import NO_BREAK_SPACE, unbroken

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

# A column of prose narrower than this is harder to read than a block.
_PROSE_MIN = 16
# Longer lines of prose are harder to read.
_LABEL = re.compile(r"(?: +(?:\w+ {2,})?)?(?:- )?")
_TEXT_COLUMNS_MAX = 79
# The gap between the names in a block and their values.
_GAP = 2


_UNSEEN = re.compile(
    r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]"
)
"""Control characters except tab and the ends of lines; line separators; the controls of the direction of text; and two
that are no characters, which XML does not have."""


def visible(text: str) -> str:
    """The text with control characters written out, such as `\\x1b`. What JSON does not escape itself gets its form,
    `\\u202e`, so that JSON stays the same values."""
    return _UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}" if found[0] < " " else f"\\u{ord(found[0]):04x}", text)


class _Guarded:
    """A text stream that writes control characters as text; `raw` is for the program's own escape sequences."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        self.raw.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def guard() -> None:
    """From now on, control characters in what is printed to stdout and stderr are written as text."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, _Guarded):
            setattr(sys, name, _Guarded(stream))


def raw(stream: TextIO) -> TextIO:
    """The stream for the program's own escape sequences: nothing that was read may be written to it."""
    return stream.raw if isinstance(stream, _Guarded) else stream


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
    _clean(table)
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


def _clean(table: "Table") -> None:
    """Makes the control characters in the cells visible, before the widths are computed."""
    for column in table.columns:
        column.header = _cleaned(column.header)
        column._cells[:] = [_cleaned(cell) for cell in column.cells]


def _cleaned(cell: Any) -> Any:
    shown = _plain(cell)
    if shown == str(getattr(cell, "plain", cell)):
        return cell
    return shown if isinstance(cell, str) else type(cell)(shown, style=cell.style)


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


def wrapped(sentence: str, columns: int | None = None) -> str:
    """A sentence in lines of `text_columns`, or so many columns, none of which ends between a figure and its unit.

    Lines after the first begin below its text, behind a label of its own.
    """
    label = _LABEL.match(sentence)
    indent = len(label[0]) if label else 0
    return _lines(sentence[:indent], sentence[indent:], columns or text_columns(), indent)


def for_reader(line: str) -> str:
    """A line of prose for stderr: wrapped if that is a terminal; elsewhere whole, for programs that read lines."""
    return wrapped(line) if sys.stderr.isatty() else line


def _needs(column: "Column") -> _Needs:
    heading = _plain(column.header)
    lines = [line for cell in column.cells for line in _plain(cell).split("\n")]
    longest = max(map(len, lines), default=0)
    words = max((len(word) for line in lines for word in unbroken(line).split(" ")), default=0)
    breaks = not column.no_wrap and column.justify == "left"
    least = max(words, min(longest, _PROSE_MIN)) if breaks else longest
    heading_word = max((len(word) for word in unbroken(heading).split(" ")), default=0)
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
        # As they are: a path that is longer than a line stays one word, which can be copied.
        console.print(_lines(f"{headings[0]} ", _plain(row[0]), width, 0), soft_wrap=True)
        for heading, cell in zip(headings[1:], row[1:], strict=True):
            text = _lines(f"  {heading}".ljust(indent), _plain(cell), width, indent)
            console.print(text, soft_wrap=True)
    console.print()


def _lines(name: str, value: str, width: int, indent: int) -> str:
    """The name followed by the value; continuation lines are indented by `indent`."""
    flat = unbroken(" ".join(value.split("\n")))
    wrapped = textwrap.wrap(
        flat, width, initial_indent=name, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrapped or [name.rstrip()]).replace(NO_BREAK_SPACE, " ")


def _plain(cell: object) -> str:
    return visible(str(getattr(cell, "plain", cell)))
