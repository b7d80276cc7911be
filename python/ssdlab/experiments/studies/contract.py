"""Data classes for a study and its result. Printing, writing and drawing them is in other files."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    import polars

    from ssdlab.experiments.studies.context import Context
    from ssdlab.presentation.report.figure import Figure


@dataclass(frozen=True)
class Range:
    """A published figure that is a range: "80 to 100 %", or "over 80 %" with `high=None`."""

    low: float
    high: float | None = None


Printed = Literal["figure", "text", "ours"]
"""How a source gives a figure: as a number in a table or picture ("figure"), as a number in its text ("text"), or in
words or a picture without a number ("ours": the number is our reading)."""


class BoundsJson(TypedDict):
    min: float
    max: float | None


class RowJson(TypedDict):
    """A row of a study in `result.json`."""

    group: str
    what: str
    published: float | BoundsJson | None
    printed: Printed | None
    simulated: float | None
    unit: str
    deviation: float | None
    deviation_in: Literal["unit", "share"]
    tolerance: float | None
    verdict: "Verdict | None"
    fitted_parameters: list[str]
    fitted_to_points: int
    left_out: bool
    unexplained: bool
    unfitted: float | None
    unfitted_deviation: float | None
    spread: BoundsJson | None
    note: str


class Verdict(StrEnum):
    """The verdict on a row with a published figure. Each of these rows has one."""

    MET = "met"
    MISSED = "missed"
    INPUT = "input"
    """The figure follows by arithmetic from the inputs, so that no model can miss it."""
    SATURATED = "saturated"
    """There are as many parameters as published points, so that agreement is no evidence for the model."""
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Fitted:
    """Parameters chosen with the published figures in view, and the number of figures they were fitted to."""

    parameters: tuple[str, ...]
    """Names of numbers and of choices. A choice counts if the figure depends on it."""
    points: int

    @property
    def is_saturated(self) -> bool:
        """Whether there are at least as many parameters as points, so that no degree of freedom is left."""
        return len(self.parameters) >= self.points


@dataclass(frozen=True)
class Row:
    """One figure, published and simulated. With `in_points` the deviation is a difference in `unit`, not a share."""

    what: str
    published: float | Range | None
    """None if nothing was published; the row then only explains other rows."""
    simulated: float | None
    """None if not measured; `note` gives the reason."""
    unit: str
    tolerance: float | None = None
    """The allowed deviation: 0.05 for 5 %, or a number of points. Set in the study's `figures.csv` by one rule for all
    of its rows, before anything is fitted."""
    in_points: bool = False
    printed: Printed = "figure"
    is_input: bool = False
    """Whether the figure follows from the inputs by arithmetic alone."""
    fitted: Fitted | None = None
    """Parameters fitted to published points that affect this figure; None for a prediction."""
    is_left_out: bool = False
    """Whether `fitted` was fitted without this figure, which makes it a prediction."""
    unfitted: float | None = None
    """The figure of the same drive with only the fitted keys reset; None if nothing was fitted."""
    is_unexplained: bool = False
    """Whether the cause of the figure is missing in the model; the figure then counts as missed at any deviation."""
    spread: tuple[float, float] | None = None
    """Minimum and maximum over the seeds, if several were run, or the interval of their mean where `note` says so."""
    group: str = ""
    """The heading of the row's group; rows of a group are consecutive."""
    note: str = ""

    def __post_init__(self) -> None:
        if self.published is not None and self.tolerance is None and not self.is_input:
            raise ValueError(f"{self.what}: a published figure needs a tolerance, or it could not miss")

    @property
    def deviation(self) -> float | None:
        """The deviation of the simulated figure from the published one, or from the nearer end of a range; 0 within it.

        None if either is missing, or for a share of a published 0.
        """
        return self.deviation_of(self.simulated)

    def deviation_of(self, value: float | None) -> float | None:
        """The deviation of another value, such as `unfitted`."""
        if self.published is None or value is None:
            return None
        nearest = self.published
        if isinstance(nearest, Range):
            high = nearest.high if nearest.high is not None else max(value, nearest.low)
            nearest = min(max(value, nearest.low), high)
        if self.in_points:
            return value - nearest
        return value / nearest - 1 if nearest else None

    @property
    def is_within_tolerance(self) -> bool | None:
        """None if the published figure, the simulated one or the tolerance is missing."""
        if self.tolerance is None or self.deviation is None:
            return None
        # The margin makes a deviation equal to the tolerance count as within it, despite rounding.
        return abs(self.deviation) <= self.tolerance * (1 + 1e-9) + 1e-12

    @property
    def verdict(self) -> Verdict | None:
        """None if nothing was published. A figure outside its tolerance is missed, even if it was fitted."""
        if self.published is None:
            return None
        if self.simulated is None:
            return Verdict.NOT_MEASURED
        if self.is_within_tolerance is False or self.is_unexplained:
            return Verdict.MISSED
        if self.is_input:
            return Verdict.INPUT
        if self.fitted is not None and self.fitted.is_saturated and not self.is_left_out:
            return Verdict.SATURATED
        return Verdict.MET

    def to_dict(self) -> RowJson:
        """The row for `result.json`. A range is {"min", "max"}; `deviation` is a share, or in `unit` if `in_points`."""
        published = self.published
        figure: float | BoundsJson | None
        match published:
            case Range():
                figure = {"min": published.low, "max": published.high}
            case _:
                figure = published
        return {
            "group": self.group,
            "what": self.what,
            "published": figure,
            "printed": None if figure is None else self.printed,
            "simulated": self.simulated,
            "unit": self.unit,
            "deviation": self.deviation,
            "deviation_in": "unit" if self.in_points else "share",
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "fitted_parameters": list(self.fitted.parameters) if self.fitted else [],
            "fitted_to_points": self.fitted.points if self.fitted else 0,
            "left_out": self.is_left_out,
            "unexplained": self.is_unexplained,
            "unfitted": self.unfitted,
            "unfitted_deviation": self.deviation_of(self.unfitted),
            "spread": None if self.spread is None else {"min": self.spread[0], "max": self.spread[1]},
            "note": self.note,
        }


@dataclass(frozen=True)
class Assumption:
    """A detail that the source leaves open: what the study assumes, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class Table:
    """An additional table of a study's page. Cells are text, or numbers shown with three significant digits."""

    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]
    caption: str = ""
    sentences: Sequence[int] = ()
    """The numbers of the columns, the first being 0, whose cells are sentences, which wrap."""
    wraps: bool = True
    """Whether the cells of the first column are phrases, which have room and wrap."""


@dataclass(frozen=True)
class StudyResult:
    """The result of a study."""

    finding: str
    """The answer in one or two sentences, shown at the top of the page."""
    rows: Sequence[Row]
    figures: "Sequence[Figure]" = ()
    series: "Mapping[str, polars.DataFrame]" = field(default_factory=dict)
    """Frames by name, each written as `data/series-NAME.parquet`; column names include the unit."""
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    """Further information for the reader, one sentence each."""


@dataclass(frozen=True)
class Study:
    """A published experiment and the function that repeats it."""

    name: str
    """The name in `ssdlab study NAME`; the folder has underscores instead of hyphens."""
    title: str
    """The question of the study, in one line."""
    source: str
    assumptions: Sequence[Assumption]
    jobs: Sequence[str]
    """The job files of its folder, in the order in which they run on a drive."""
    run: "Callable[[Context], StudyResult]"
    takes_drive: bool = False
    """Whether it can study one drive alone, any one, `context.drive`."""


def published(path: Path) -> list[dict[str, str]]:
    """The rows of a study's `figures.csv`: comma-separated with a header; lines that start with `#` are comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if line.strip() and not line.startswith("#")))


def joined(parts: Sequence[StudyResult]) -> StudyResult:
    """Joins the results of a study's parts, in order."""
    return StudyResult(
        finding=" ".join(part.finding for part in parts),
        rows=[row for part in parts for row in part.rows],
        figures=[figure for part in parts for figure in part.figures],
        series={name: frame for part in parts for name, frame in part.series.items()},
        tables=[table for part in parts for table in part.tables],
        notes=[note for part in parts for note in part.notes],
    )
