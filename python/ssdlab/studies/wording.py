"""How the figures of a study's rows are said, in the terminal and on a page."""

from collections.abc import Sequence

from ssdlab.report import wording
from ssdlab.studies.contract import Range, Row

MISSING = "-"


def number(value: float | None) -> str:
    """Three significant digits, whole above that: 933.6 -> "934", 0.0561 -> "0.0561"."""
    if value is None:
        return MISSING
    return wording.significant(value, 3 if abs(value) < 1000 else 4)


def published(row: Row) -> str:
    """As it was printed, as far as digits go."""
    figure = row.published
    if isinstance(figure, Range):
        return f"over {figure.low:g}" if figure.high is None else f"{figure.low:g} to {figure.high:g}"
    return MISSING if figure is None else f"{figure:,.6g}"


def simulated(row: Row) -> str:
    return number(row.simulated)


def deviation(row: Row) -> str:
    """ "+2.3 %", "-0.4 pt"; an exclamation mark behind it where the tolerance is passed."""
    said = _deviation(row, row.deviation)
    return f"{said} !" if row.holds is False else said


def tolerance(row: Row) -> str:
    """ "5 %", "0.5 pt", or a dash where nothing is demanded."""
    if row.tolerance is None:
        return MISSING
    return f"{row.tolerance:g} pt" if row.in_points else f"{row.tolerance * 100:g} %"


def unfitted(row: Row) -> str:
    """What the model says with nothing fitted, and its deviation."""
    if row.unfitted is None:
        return MISSING
    apart = row.deviation_of(row.unfitted)
    return number(row.unfitted) + ("" if apart is None else f" ({_deviation(row, apart)})")


def _deviation(row: Row, value: float | None) -> str:
    if value is None:
        return MISSING
    # The "z" keeps what rounds to nothing from being called "-0".
    return f"{value:+z.2f} pt" if row.in_points else f"{value * 100:+z.1f} %"


def verdict(rows: Sequence[Row]) -> str:
    """How many of the rows that have a tolerance keep it."""
    asked = [row for row in rows if row.holds is not None]
    kept = sum(1 for row in asked if row.holds)
    return f"{kept} of {len(asked)} rows within their tolerance" if asked else "no row has a tolerance"
