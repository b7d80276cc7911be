"""Writing files so that a reader never meets a half-written one."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.report.figure import Figure


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Writes beside `path` under a temporary name, then renames; an interrupted write leaves the old file as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def write_figures(figures: "Iterable[Figure]", staging: Path) -> list[str]:
    """Writes each picture as SVG and PNG, light and dark, and returns the names; for a folder that nobody reads yet."""
    names = []
    for figure in figures:
        for name, content in figure.files():
            (staging / name).write_bytes(content.encode() if isinstance(content, str) else content)
            names.append(name)
    return names
