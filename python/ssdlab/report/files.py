"""Writing files so that a reader never meets a half-written one."""

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import naming

if TYPE_CHECKING:
    from ssdlab.report.figure import Figure
    from ssdlab.report.page import Page

_PICTURES = "pictures"


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Writes to a temporary file in the folder of `path`, then renames it; an interruption leaves the old file."""
    # A name that nobody can guess, and a new file: a link that somebody put there is not followed.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with naming(path), temporary.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def write_figures(figures: "Iterable[Figure]", staging: Path) -> list[str]:
    """Writes each picture as SVG and PNG, light and dark, into `pictures/`; for a folder that nobody reads yet.

    Returns the names within the folder.
    """
    names = []
    for figure in figures:
        for name, content in figure.files():
            names.append(f"{_PICTURES}/{name}")
            (staging / _PICTURES).mkdir(exist_ok=True)
            (staging / names[-1]).write_bytes(content.encode() if isinstance(content, str) else content)
    return names


def write_page(page: "Page", directory: Path) -> list[str]:
    """Writes the pictures of a page as SVG, light and dark, into `pictures/`, then `report.html`. Gives the names."""
    (directory / _PICTURES).mkdir(parents=True, exist_ok=True)
    names = []
    for figure in page.figures:
        for name, svg in figure.svgs():
            names.append(f"{_PICTURES}/{name}")
            write_atomically(directory / names[-1], svg)
    write_atomically(directory / "report.html", page.html())
    return [*names, "report.html"]
