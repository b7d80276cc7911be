"""An output folder with a page: its pictures, and the figures behind it as JSON and as tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.presentation.report.chosen import write_figures
from ssdlab.presentation.report.page import Page
from ssdlab.simulator.results.files import data_file, names_in, staged

if TYPE_CHECKING:
    import polars as pl

PAGE_NAME = "report.html"


def write(
    directory: Path, page: Page, texts: Mapping[str, str], tables: "Mapping[str, pl.DataFrame] | None" = None
) -> list[str]:
    """Writes report.html with the chosen pictures, files of these names and texts, and tables in `data/`, all or none.

    Returns their names, the page last. Raises InputError if the folder is not writable.
    """
    with staged(directory) as place:
        write_figures(page.figures, place)
        for name, frame in (tables or {}).items():
            frame.write_parquet(data_file(place, name))
        for name, text in texts.items():
            (place / name).write_text(text, encoding="utf-8")
        (place / PAGE_NAME).write_text(page.html(), encoding="utf-8")
        return [*(name for name in names_in(place) if name != PAGE_NAME), PAGE_NAME]
