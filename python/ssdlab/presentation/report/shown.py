"""The display of a result: a frame to compute with, pictures to change, a table and a picture in a notebook.

A result defines its rows and pictures; this module displays them. The import is fast: drawing is loaded at first use.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssdlab.errors import RunFailed
from ssdlab.presentation.report import wording

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from ssdlab.presentation.report.figure import Figure

ROWS_SHOWN_MAX = 20


class Shown(ABC):
    """The base class of the results of the library.

    It is also an Arrow stream of its frame, so that `narwhals.from_arrow(result, backend="pandas")` makes a frame of
    any library that narwhals supports, and `polars.DataFrame(result)` or `pyarrow.table(result)` accept it directly.
    """

    @abstractmethod
    def frame(self) -> "pl.DataFrame":
        """The figures as a polars frame; column names include the units, and values that were not measured are null."""

    @abstractmethod
    def figures(self) -> "Sequence[Figure]":
        """The pictures, the most informative first; empty if no measured data can be drawn."""

    def to_dict(self) -> object:
        """The result as plain data for JSON: by default the rows of the frame."""
        return {"rows": self.frame().to_dicts()}

    def plot(self, name: str | None = None) -> "alt.TopLevelMixin":
        """An Altair chart: the picture of that name, or the first one. Raises ValueError, which lists the pictures."""
        figures = self.figures()
        for figure in figures:
            if name in (None, figure.name):
                return figure.plot()
        names = ", ".join(figure.name for figure in figures) or "none"
        raise ValueError(f"no picture {name or 'can be drawn'}; there are: {names}")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The frame through Arrow's C interface."""
        return self.frame().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """The first rows of the frame and the first picture, for notebooks."""
        from ssdlab.presentation.report.template import render

        def cell(value: object) -> str:
            if value is None:
                return wording.EM_DASH
            return wording.significant(value) if isinstance(value, float) else str(value)

        frame = self.frame()
        figure = next(iter(self.figures()), None)
        html = render(
            "ssdlab.presentation.report",
            "shown.html",
            caption=repr(self),
            heads=frame.columns,
            rows=[[cell(value) for value in row] for row in frame.head(ROWS_SHOWN_MAX).iter_rows()],
            more=max(0, frame.height - ROWS_SHOWN_MAX),
            picture=_svg(figure) if figure else None,
        )
        # `Markup` would escape what is added to it.
        return str(html)


def said(value: float | None) -> str:
    """A figure in a short `repr`: three significant digits, or "not measured"."""
    return "not measured" if value is None else wording.rounded(value)


def _svg(figure: "Figure") -> str | None:
    """The picture as SVG; None if there is not enough memory to draw it."""
    try:
        return figure.svg()
    except RunFailed:
        return None
