"""How the figures of a study's rows are said, in the terminal and on a page."""

import re
from collections import Counter
from collections.abc import Sequence

from ssdlab.report import wording
from ssdlab.studies.contract import Range, Row, Verdict

MISSING = "-"
HEADLINE_CHARACTERS_MAX = 120
_MARKS = {Verdict.MISSED: " !", Verdict.INPUT: " =", Verdict.SATURATED: " ~"}


def number(value: float | None) -> str:
    """Three significant digits, whole above that: 933.6 -> "934", 0.0561 -> "0.0561"."""
    if value is None:
        return MISSING
    return wording.significant(value, 3 if abs(value) < 1000 else 4)


def published(row: Row) -> str:
    """As it was printed, as far as digits go; an asterisk where the number is our reading of words or a picture."""
    figure = row.published
    if figure is None:
        return MISSING
    if isinstance(figure, Range):
        said = f"over {figure.low:g}" if figure.high is None else f"{figure.low:g} to {figure.high:g}"
    else:
        said = f"{figure:,.6g}"
    return f"{said}*" if row.printed == "ours" else said


def simulated(row: Row) -> str:
    return as_precise(row, row.simulated)


def as_precise(row: Row, value: float | None) -> str:
    """A number next to the published one, with at least as many decimals: 1.0159 next to 1.01587 -> "1.01590"."""
    said = number(value)
    decimals = max((_decimals(figure) for figure in re.findall(r"[\d.,]+", published(row))), default=0)
    return said if value is None or _decimals(said) >= decimals else f"{value:,.{decimals}f}"


def _decimals(said: str) -> int:
    return len(said.partition(".")[2])


def headline(finding: str) -> tuple[str, str]:
    """What came out, as a title, and the rest of the finding: its first sentence, or the first clause of a long one."""
    first, *others = re.split(r"(?<=\.) (?=[A-Z])", finding, maxsplit=1)
    rest = "".join(others)
    if len(first) > HEADLINE_CHARACTERS_MAX and (clause := re.search(r"[:;] ", first)):
        rest = f"{first[clause.end() :].removesuffix('.')}. {rest}".strip()
        first, rest = first[: clause.start()], rest[0].upper() + rest[1:]
    return first.removesuffix("."), rest


def deviation(row: Row) -> str:
    """ "+2.3 %", "-0.4 pt", and a mark where the row does not simply meet its figure: see `MARKS`."""
    mark = _MARKS.get(row.verdict, "") if row.verdict else ""
    return _deviation(row, row.deviation) + (" ?" if row.is_unexplained else mark)


MARKS = (
    "! missed; ? missed, not explained; = input: arithmetic on what was given; "
    "~ saturated: as many parameters as points"
)
OURS = "* our reading of words or of a picture"


def verdict_of(row: Row) -> str:
    """As in `Verdict`, and whether a missed figure is explained; a dash where nothing was published."""
    if row.is_unexplained and row.verdict:
        return f"{row.verdict}, not explained"
    return row.verdict or MISSING


def fitted(row: Row) -> str:
    """ "1/3": one parameter, fitted to three points; a dash where nothing was fitted."""
    return f"{len(row.fitted.parameters)}/{row.fitted.points}" if row.fitted else MISSING


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
    return as_precise(row, row.unfitted) + ("" if apart is None else f" ({_deviation(row, apart)})")


def _deviation(row: Row, value: float | None) -> str:
    if value is None:
        return MISSING
    # The "z" keeps what rounds to nothing from being called "-0".
    return f"{value:+z.2f} pt" if row.in_points else f"{value * 100:+z.1f} %"


def overall(rows: Sequence[Row]) -> str:
    """The same as a title: "36 of 59 published figures are met"."""
    verdicts = [row.verdict for row in rows if row.verdict is not None]
    if not verdicts:
        return "No row has a published figure"
    return f"{verdicts.count(Verdict.MET)} of {len(verdicts)} published figures are met"


def verdict(rows: Sequence[Row]) -> str:
    """How many of the published figures are met, missed, input and saturated: every one of them counts."""
    counts = Counter(row.verdict for row in rows if row.verdict is not None)
    if not counts:
        return "no row has a published figure"
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{counts.total()} published figures: {said}"
