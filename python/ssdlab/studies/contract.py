"""What a study is and what it gives: plain values. How they are printed, written and drawn is in other files."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    import polars

    from ssdlab.report.figure import Figure
    from ssdlab.studies.context import Context


@dataclass(frozen=True)
class Range:
    """A published figure that is a range: "80 to 100 %", or with `high=None` "over 80 %"."""

    low: float
    high: float | None = None


Printed = Literal["figure", "text", "ours"]
"""How a source gives a figure: as a number in a table or picture, as a number in its text, or in words or a picture
without a number, so that the number next to them is our reading."""


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
    """What a row with a published figure counts as. Every such row counts as one of these."""

    MET = "met"
    MISSED = "missed"
    INPUT = "input"
    """Arithmetic on what was given: no model could have missed it."""
    SATURATED = "saturated"
    """As many parameters as published points: the agreement says nothing about the model."""
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Fitted:
    """What was chosen with the published figures in view, and how many of them it was chosen by."""

    parameters: tuple[str, ...]
    """Numbers and choices alike, each by its name: a choice counts where the figure depends on it."""
    points: int

    @property
    def is_saturated(self) -> bool:
        """Whether no degree of freedom is left."""
        return len(self.parameters) >= self.points


@dataclass(frozen=True)
class Row:
    """One figure, published and simulated. `in_points`: the deviation is a difference in `unit`, not a share."""

    what: str
    published: float | Range | None
    """None: nothing was published; the row is there for what it explains."""
    simulated: float | None
    """None: not measured; `note` says why."""
    unit: str
    tolerance: float | None = None
    """How near the figure has to come: 0.05 for 5 %, or a number of points. Set in the study's `figures.csv`, by one
    rule for all of its rows, before anything is fitted."""
    in_points: bool = False
    printed: Printed = "figure"
    is_input: bool = False
    """Whether the figure follows from what was given by arithmetic alone."""
    fitted: Fitted | None = None
    """What of the drive file or the workload was fitted to published points and moves this figure; None: predicted."""
    is_left_out: bool = False
    """Whether this figure is none of the points that `fitted` was fitted to: a prediction."""
    unfitted: float | None = None
    """What the same drive gives with the fitted keys taken back and nothing else changed; None where nothing was."""
    is_unexplained: bool = False
    """Whether the figure comes of something that the model does not have; then it is missed, however near it is."""
    spread: tuple[float, float] | None = None
    """Least and greatest over the seeds, where several were run."""
    group: str = ""
    """The heading under which the row stands; rows of a group follow each other."""
    note: str = ""

    def __post_init__(self) -> None:
        if self.published is not None and self.tolerance is None and not self.is_input:
            raise ValueError(f"{self.what}: a published figure needs a tolerance, or it could not miss")

    @property
    def deviation(self) -> float | None:
        """Of the simulated figure from the published one; from the nearer end of a range, 0 inside it."""
        return self.deviation_of(self.simulated)

    def deviation_of(self, value: float | None) -> float | None:
        """The same for another value, such as `unfitted`."""
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
        """None without a published figure, a simulated one or a tolerance."""
        if self.tolerance is None or self.deviation is None:
            return None
        # A deviation of exactly the tolerance is within it, whatever the last bit of a division is.
        return abs(self.deviation) <= self.tolerance * (1 + 1e-9) + 1e-12

    @property
    def verdict(self) -> Verdict | None:
        """None where nothing was published. A figure outside its tolerance is missed, however it came about."""
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
        """As `result.json` has it. A range is {"min", "max"}; `deviation` is a share, or in the unit with points."""
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
    """What the source leaves open, what the study takes instead, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class Table:
    """A further table of a study's page: cells are text, or numbers that are shown with three significant digits."""

    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]
    caption: str = ""


@dataclass(frozen=True)
class StudyResult:
    """What a study found."""

    finding: str
    """The answer in one or two sentences; it opens the page."""
    rows: Sequence[Row]
    figures: "Sequence[Figure]" = ()
    series: "Mapping[str, polars.DataFrame]" = field(default_factory=dict)
    """Frames by name, each written as `data/series-NAME.parquet`; a column's name carries its unit."""
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    """What a reader should know in addition to the assumptions, a sentence each."""


@dataclass(frozen=True)
class Study:
    """A published experiment and how it is repeated."""

    name: str
    """As in `ssdlab study NAME`; its folder is the same with underscores."""
    title: str
    """What it asks, in a line."""
    source: str
    assumptions: Sequence[Assumption]
    jobs: Sequence[str]
    """The job files of its folder, in the order in which one drive meets them: the steps, for any target."""
    run: "Callable[[Context], StudyResult]"


def published(path: Path) -> list[dict[str, str]]:
    """The rows of a study's `figures.csv`: comma-separated, a header, comments behind `#` at the start of a line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if line.strip() and not line.startswith("#")))


def joined(parts: Sequence[StudyResult]) -> StudyResult:
    """The result of a study that has several parts, in their order."""
    return StudyResult(
        finding=" ".join(part.finding for part in parts),
        rows=[row for part in parts for row in part.rows],
        figures=[figure for part in parts for figure in part.figures],
        series={name: frame for part in parts for name, frame in part.series.items()},
        tables=[table for part in parts for table in part.tables],
        notes=[note for part in parts for note in part.notes],
    )
