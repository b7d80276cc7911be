"""Shared by the programs that write a page of docs/: Markdown tables, and the output file."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, ending with a line break."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def write(page: Callable[[], str]) -> None:
    """Writes the page to the file named on the command line; `-` is standard output."""
    if len(sys.argv) != 2:
        raise SystemExit(f"usage: {Path(sys.argv[0]).name} FILE")
    if sys.argv[1] == "-":
        sys.stdout.write(page())
    else:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
