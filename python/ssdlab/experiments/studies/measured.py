"""Output that a study adds to the files of its steps on a real drive: published next to measured figures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from ssdlab.experiments.protocols.page import Extra
from ssdlab.experiments.studies.contract import BoundsJson, Range, Row, Study
from ssdlab.presentation.report import wording

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure


class _RowJson(TypedDict):
    group: str
    what: str
    published: float | BoundsJson | None
    measured: float | None
    unit: str
    deviation: float | None
    note: str


def extra(study: Study, rows: Sequence[Row]) -> Extra:
    """The rows as data for `result.json`, and their table, pictures and notes for the page."""
    from ssdlab.experiments.studies.page import notes_html, rows_html
    from ssdlab.presentation.report import parts
    from ssdlab.presentation.report.page import Section

    sections = [Section("Published and measured", rows_html(rows, "measured"))]
    if notes := notes_html([], rows):
        sections.append(Section("Notes", notes))
    sections.append(Section("The published experiment", parts.paragraphs(study.source)))
    content = {"study": {"name": study.name, "rows": [_plain(row) for row in rows]}}
    return Extra(content, study.title, finding(rows), _pictures(rows), sections)


def _plain(row: Row) -> _RowJson:
    entry = row.to_dict()
    return {
        "group": entry["group"],
        "what": entry["what"],
        "published": entry["published"],
        "measured": entry["simulated"],
        "unit": entry["unit"],
        "deviation": entry["deviation"],
        "note": entry["note"],
    }


def _pictures(rows: Sequence[Row]) -> "list[Figure]":
    """One picture per unit, of the measured rows."""
    from ssdlab.presentation.report.charts.published import Bar, published_bars

    drawn = []
    for number, unit in enumerate(dict.fromkeys(row.unit for row in rows)):
        shown = [row for row in rows if row.unit == unit]
        bars = [Bar(row.what, "measured", row.simulated, _marks(row)) for row in shown if row.simulated is not None]
        # Bars cannot show negative values; these are only in the table.
        if bars and min(bar.value for bar in bars) >= 0 and max(bar.value for bar in bars) > 0:
            drawn.append(
                published_bars(
                    name=f"published-and-measured-{number + 1}",
                    title=finding(shown) or shown[0].what,
                    caption="The bars were measured on this drive; upright marks are what was published of other "
                    "drives, the ends of a range where there were several.",
                    bars=bars,
                    x_title=unit or "ratio",
                    said="measured",
                )
            )
    return drawn


def finding(rows: Sequence[Row]) -> str | None:
    """A sentence that compares this drive with the published ones; None if nothing was measured."""
    measured = [row for row in rows if row.simulated is not None]
    ranges = [row for row in measured if isinstance(row.published, Range) and row.deviation is not None]
    if ranges:
        inside = sum(row.deviation == 0 for row in ranges)
        lie = "lies" if inside == 1 else "lie"
        return f"{inside} of {len(ranges)} figures {lie} within what was published of other drives"
    if not measured:
        return None
    first = next((row for row in measured if row.deviation is not None), measured[0])
    said = f"{first.what}: {_figure(first.simulated, first.unit)} on this drive"
    return f"{said}, {_figure(first.published, first.unit)} published" if first.deviation is not None else said


def _figure(value: object, unit: str) -> str:
    return f"{wording.significant(value)} {unit}".rstrip() if isinstance(value, int | float) else "nothing"


def _marks(row: Row) -> float | tuple[float, float] | None:
    figure = row.published
    if isinstance(figure, Range):
        return figure.low if figure.high is None else (figure.low, figure.high)
    return figure
