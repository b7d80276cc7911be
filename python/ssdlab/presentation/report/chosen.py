"""Writes a report and its pictures: which pictures are separate files, beside the report that contains all of them.

The choice belongs to a whole command. It is kept here, so that the functions between the command line and the writer of
files do not pass it on.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ssdlab.presentation.report import paper
from ssdlab.presentation.report.files import write_atomically

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.presentation.report.page import Page

Pictures = Literal["all", "svg", "paper", "none"]
"""SVG and PNG, SVG only, PDF and SVG for a paper with captions, or no separate files."""

_FOLDER = "pictures"
_CHOICE: ContextVar[Pictures] = ContextVar("pictures", default="none")
_COMMAND: ContextVar[str] = ContextVar("command", default="")


@contextmanager
def choosing(choice: Pictures | None, command: str | None = None) -> Iterator[None]:
    """Within the block, `choice` applies; None keeps the choice that applies already.

    `command` repeats the pictures: it is in the captions of those for a paper.
    """
    token = _CHOICE.set(choice or _CHOICE.get())
    of_command = _COMMAND.set(command or _COMMAND.get())
    try:
        yield
    finally:
        _COMMAND.reset(of_command)
        _CHOICE.reset(token)


def write_figures(figures: "Iterable[Figure]", staging: Path) -> list[str]:
    """Writes the chosen files of each picture into `pictures/` of a temporary folder.

    Returns the names relative to the folder. The files are not written atomically.
    """
    names = []
    for name, content in picture_files(figures):
        (staging / name).parent.mkdir(exist_ok=True)
        (staging / name).write_bytes(content.encode() if isinstance(content, str) else content)
        names.append(name)
    return names


def write_page(page: "Page", directory: Path) -> list[str]:
    """Writes the chosen files of a page's pictures into `pictures/`, then `report.html`. Returns the names."""
    directory.mkdir(parents=True, exist_ok=True)
    names = []
    for name, content in picture_files(page.figures):
        (directory / name).parent.mkdir(exist_ok=True)
        write_atomically(directory / name, content)
        names.append(name)
    write_atomically(directory / "report.html", page.html())
    return [*names, "report.html"]


def picture_files(figures: "Iterable[Figure]") -> Iterator[tuple[str, str | bytes]]:
    """(name below the output folder, content) of every picture, in the formats that were chosen: by default none."""
    choice = _CHOICE.get()
    if choice == "none":
        return
    for figure in figures:
        files = paper.files(figure, _COMMAND.get()) if choice == "paper" else figure.files(png=choice == "all")
        for name, content in files:
            yield f"{_FOLDER}/{name}", content
