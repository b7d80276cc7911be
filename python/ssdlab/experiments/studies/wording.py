"""Texts for the figures of a study's rows, in the terminal and on a page."""

import re
from collections import Counter
from collections.abc import Sequence

from ssdlab.experiments.studies.contract import Range, Row, Verdict
from ssdlab.foundation.quantities import format_deviation, format_share, rounded
from ssdlab.presentation.report import wording

MISSING = "-"
HEADLINE_CHARACTERS_MAX = 120
_WORDS_MIN = 4
"""Fewer are no sentence, and no title."""
_MARKS = {Verdict.MISSED: " !", Verdict.INPUT: " =", Verdict.SATURATED: " ~"}


def number(value: float | None) -> str:
    """The number with three significant digits, or four from 1000 on: 933.6 -> "934"; a dash for None."""
    if value is None:
        return MISSING
    return wording.significant(value, 3 if abs(value) < 1000 else 4)


def published(row: Row) -> str:
    """The published figure with its printed digits; with an asterisk if it is our reading of words or a picture."""
    figure = row.published
    if figure is None:
        return MISSING
    if isinstance(figure, Range):
        low = rounded(figure.low, 6)
        said = f"over {low}" if figure.high is None else f"{low} to {rounded(figure.high, 6)}"
    else:
        said = rounded(figure, 6)
    return f"{said}*" if row.printed == "ours" else said


def figure(row: Row) -> str:
    """What the row is about, with its unit unless it or its group ends with it: "fresh, s"."""
    ends = (row.what.casefold(), row.group.casefold())
    return f"{row.what}, {row.unit}" if row.unit and not any(_says(end, row.unit) for end in ends) else row.what


def _says(text: str, unit: str) -> bool:
    """Whether the unit is the last word of the text."""
    return text == unit.casefold() or text.endswith(f" {unit.casefold()}")


def simulated(row: Row) -> str:
    return as_precise(row, row.simulated)


def as_precise(row: Row, value: float | None) -> str:
    """The number with at least as many decimals as the published figure: 1.0159 next to 1.01587 -> "1.01590"."""
    said = number(value)
    decimals = max((_decimals(figure) for figure in re.findall(r"[\d.,]+", published(row))), default=0)
    return said if value is None or _decimals(said) >= decimals else f"{value:,.{decimals}f}"


def _decimals(said: str) -> int:
    return len(said.partition(".")[2])


def headline(finding: str) -> tuple[str, str]:
    """Splits a finding into a title (its first sentence, or the first clause of a long one) and the rest."""
    first, *others = re.split(r"(?<=\.) (?=[A-Z])", finding, maxsplit=1)
    rest = "".join(others)
    clause = re.search(r"[:;] ", first)
    if len(first) > HEADLINE_CHARACTERS_MAX and clause and len(first[: clause.start()].split()) >= _WORDS_MIN:
        rest = f"{first[clause.end() :].removesuffix('.')}. {rest}".strip()
        first, rest = first[: clause.start()], rest[0].upper() + rest[1:]
    return first.removesuffix("."), rest


def deviation(row: Row) -> str:
    """The deviation, such as "+2.3 %" or "-0.4 points", with a mark (`marks`) for the verdict; "?": unexplained."""
    mark = _MARKS.get(row.verdict, "") if row.verdict else ""
    return _deviation(row, row.deviation) + (" ?" if row.is_unexplained else mark)


def marks(rows: Sequence[Row]) -> str:
    """What the marks behind the deviations of these rows say; empty without any."""
    meanings = {
        "!": "missed",
        "?": "missed, not explained",
        "=": "input: arithmetic on what was given",
        "~": "saturated: as many parameters fitted as there are points, so it tests nothing",
    }
    found = {deviation(row)[-1:] for row in rows}
    return "; ".join(f"{mark} {meaning}" for mark, meaning in meanings.items() if mark in found)


OURS = "* our reading of words or of a picture"


def verdict_of(row: Row) -> str:
    """The verdict, with "not explained" if its cause is missing in the model; a dash if nothing was published."""
    if row.is_unexplained and row.verdict:
        return f"{row.verdict}, not explained"
    return row.verdict or MISSING


def fitted(row: Row) -> str:
    """The numbers of parameters and points, such as "1 / 3"; a dash if nothing was fitted."""
    return f"{len(row.fitted.parameters)} / {row.fitted.points}" if row.fitted else MISSING


def tolerance(row: Row) -> str:
    """The tolerance, such as "5 %" or "0.5 points"; a dash if there is none."""
    if row.tolerance is None:
        return MISSING
    return f"{row.tolerance:g} points" if row.in_points else format_share(row.tolerance, 2)


def tolerances(rows: Sequence[Row]) -> str:
    """Within what a figure counts as met, such as "met: within 5 %" or "met: within 33 % to 50 % or 3 points"; empty
    without any."""
    shares = sorted({row.tolerance for row in rows if row.tolerance is not None and not row.in_points})
    points = sorted({row.tolerance for row in rows if row.tolerance is not None and row.in_points})
    said = [" to ".join(dict.fromkeys(format_share(each, 2) for each in (shares[0], shares[-1])))] if shares else []
    said += [" to ".join(dict.fromkeys(f"{each:g}" for each in (points[0], points[-1]))) + " points"] if points else []
    return f"met: within {' or '.join(said)}" if said else ""


def unfitted(row: Row) -> str:
    """The figure with nothing fitted, and its deviation; a dash if nothing was fitted."""
    if row.unfitted is None:
        return MISSING
    apart = row.deviation_of(row.unfitted)
    return as_precise(row, row.unfitted) + ("" if apart is None else f" ({_deviation(row, apart)})")


def _deviation(row: Row, value: float | None) -> str:
    if value is None:
        return MISSING
    # "z" prevents "-0" for small negative numbers.
    return f"{value:+z.2f} points" if row.in_points else format_deviation(value)


def overall(rows: Sequence[Row]) -> str:
    """The verdict on all rows as a title: "36 of 59 published figures are met"."""
    verdicts = [row.verdict for row in rows if row.verdict is not None]
    if not verdicts:
        return "No row has a published figure"
    return f"{verdicts.count(Verdict.MET)} of {len(verdicts)} published figures are met"


def verdict(rows: Sequence[Row]) -> str:
    """The number of published figures with each verdict."""
    counts = Counter(row.verdict for row in rows if row.verdict is not None)
    if not counts:
        return "no row has a published figure"
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{counts.total()} published figures: {said}"
