"""Writes files so that readers never see incomplete ones."""

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import naming

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.presentation.report.page import Page

_PICTURES = "pictures"


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Writes to a temporary file in the folder of `path`, then renames it; an interruption keeps the old file."""
    # The name cannot be guessed, and the file must not exist: a link placed there by others is not followed.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with naming(path), temporary.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def write_figures(figures: "Iterable[Figure]", staging: Path) -> list[str]:
    """Writes each picture as SVG and PNG, light and dark, into `pictures/` of a temporary folder.

    Returns the names relative to the folder. The files are not written atomically.
    """
    names = []
    for figure in figures:
        for name, content in figure.files():
            names.append(f"{_PICTURES}/{name}")
            (staging / _PICTURES).mkdir(exist_ok=True)
            (staging / names[-1]).write_bytes(content.encode() if isinstance(content, str) else content)
    return names


def write_page(page: "Page", directory: Path) -> list[str]:
    """Writes the pictures of a page as SVG, light and dark, into `pictures/`, then `report.html`. Returns the names."""
    (directory / _PICTURES).mkdir(parents=True, exist_ok=True)
    names = []
    for figure in page.figures:
        for name, svg in figure.svgs():
            names.append(f"{_PICTURES}/{name}")
            write_atomically(directory / names[-1], svg)
    write_atomically(directory / "report.html", page.html())
    return [*names, "report.html"]
