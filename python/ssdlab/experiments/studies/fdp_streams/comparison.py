"""Compares measured with simulated intervals, and computes the cost of the reclaim units that handles hold open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, StudyResult, Table, published
from ssdlab.experiments.studies.handles import reclaim_unit_bytes, waf_figure
from ssdlab.foundation.quantities import format_bytes
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.drives import load
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
DRIVE = "samsung-fdp-3840gb"
SCALE = "1/128"
INTERVAL_MINUTES = 10
FIGURES = published(FOLDER / "figures.csv")
PARITY_STRIPE = 64
"""Units of a parity stripe, 63 + 1 for parity. With one handle per stream, parity is the whole write amplification."""
COST_INTERVALS = 3
COST_TOLERANCE = 0.03
OTHER_SIZES = (Fraction(1, 4), Fraction(2))
"""Factors of the reclaim unit size in the variants that show why placement has a cost."""

_STREAMS, _DATABASE, _COST = (
    "Two sequential streams",
    "A database, each ten minutes",
    "What placement costs the database",
)
# The job file and its variables, by load and handles as in figures.csv.
_JOBS = {
    ("two streams", "one"): ("two-streams.fio", {"SLOW_HANDLE": "0"}),
    ("two streams", "one each"): ("two-streams.fio", {"SLOW_HANDLE": "1"}),
    ("database", "none"): ("database.fio", {"WITH_HANDLES": "0"}),
    ("database", "seven"): ("database.fio", {"WITH_HANDLES": "1"}),
}
Key = tuple[str, str]
"""Load and handles."""


@dataclass(frozen=True)
class Course:
    """Write amplification and bytes of a run, with one entry per interval."""

    end_minutes: Sequence[float]
    waf: Sequence[float]
    written_bytes: Sequence[int]

    @classmethod
    def of(cls, result: "Result") -> "Course":
        rows = result.intervals or []
        return cls(
            [row.end_minutes for row in rows],
            [row.ledger.waf or 0.0 for row in rows],
            [row.ledger.host_written_bytes for row in rows],
        )

    def between(self, start_minutes: float, end_minutes: float) -> float:
        """Write amplification over the intervals between two times."""
        inside = [
            (waf * written, written)
            for end, waf, written in zip(self.end_minutes, self.waf, self.written_bytes, strict=True)
            if start_minutes < end <= end_minutes
        ]
        return sum(programmed for programmed, _ in inside) / sum(written for _, written in inside)

    def last(self) -> float:
        """Write amplification over the last COST_INTERVALS intervals."""
        end = self.end_minutes[-1]
        return self.between(end - COST_INTERVALS * INTERVAL_MINUTES, end)


def run(context: Context) -> StudyResult:
    """Simulates all runs and returns the rows in the order of the figures."""
    results = context.simulate(_specifications(context))
    courses = {key: Course.of(results[_label(key)]) for key in _JOBS}
    others = {
        times: {handles: Course.of(results[_label(("database", handles), times)]) for handles in ("none", "seven")}
        for times in OTHER_SIZES
    }
    cost = _cost(courses)
    rows = [_row(figure, courses) for figure in FIGURES]
    rows.append(cost)
    return StudyResult(
        finding=_finding(courses, cost),
        rows=rows,
        figures=[_picture(courses)],
        tables=[_theory(courses), _why(courses, others)],
        notes=[
            "Placement helps where handles tell apart what dies at different times. The database's tables are written "
            "at random all over, and its log and its temporary files about as often an address as its tables, so that "
            "handles tell nothing apart. What remains is their cost: each handle in use holds a reclaim unit open, "
            "half empty on average, and garbage collection lacks this space.",
        ],
    )


def _specifications(context: Context) -> "dict[str, Specification]":
    nand = load(DRIVE).nand
    found = {_label(key): _specify(context, key, {}) for key in _JOBS}
    for times in OTHER_SIZES:
        settings = {
            "nand.pages_per_block": str(round(nand.pages_per_block * times)),
            "nand.blocks_per_plane": str(round(nand.blocks_per_plane / times)),
        }
        found |= {
            _label(key, times): _specify(context, key, settings)
            for key in (("database", "none"), ("database", "seven"))
        }
    return found


def _specify(context: Context, key: Key, settings: Mapping[str, str]) -> "Specification":
    name, variables = _JOBS[key]
    drive = drive_of(DRIVE, scale=context.scale(SCALE), settings=dict(settings))
    job = context.job(FOLDER / name, **variables)
    return specify(job, drive, seed=context.seed, interval_ns=INTERVAL_MINUTES * 60 * 10**9)


def _label(key: Key, times: Fraction = Fraction(1)) -> str:
    other = "" if times == 1 else f", reclaim units {times} times as large"
    return f"{key[0]}, handles: {key[1]}{other}"


def _row(figure: Mapping[str, str], courses: Mapping[Key, Course]) -> Row:
    key = figure["load"], figure["handles"]
    start, end = int(figure["start_minutes"]), int(figure["end_minutes"])
    of_streams = key[0] == "two streams"
    again = f"{figure['again']} with the other driver" if figure["again"] not in ("", figure["waf"]) else ""
    return Row(
        f"handles: {key[1]}, minutes {start} to {end}",
        float(figure["waf"]),
        courses[key].between(start, end),
        "",
        tolerance=float(figure["tolerance"]),
        fitted=Fitted(FITTED.parameters[2:], 4) if of_streams else FITTED,
        group=_STREAMS if of_streams else _DATABASE,
        note=again,
    )


FITTED = Fitted(("nand.blocks_per_plane", "ftl.user_bytes", "ftl.victim", "parity.units_per_stripe"), 40)
"""Parameters of the drive chosen with the figures in view; for the streams only the last two."""


def _cost(courses: Mapping[Key, Course]) -> Row:
    def measured(handles: str) -> float:
        last = [
            float(figure["waf"]) for figure in FIGURES if (figure["load"], figure["handles"]) == ("database", handles)
        ]
        return sum(last[-COST_INTERVALS:]) / COST_INTERVALS

    simulated = courses["database", "seven"].last() / courses["database", "none"].last()
    return Row(
        "write amplification with handles over that without, the last half hour",
        measured("seven") / measured("none"),
        simulated,
        "",
        tolerance=COST_TOLERANCE,
        in_points=True,
        fitted=FITTED,
        group=_COST,
    )


def _finding(courses: Mapping[Key, Course], cost: Row) -> str:
    apart, together = (courses["two streams", handles].between(90, 300) for handles in ("one each", "one"))
    more = 100 * ((cost.simulated or 1.0) - 1)
    measured = 100 * (float(cost.published) - 1) if isinstance(cost.published, float) else None
    said = "" if measured is None else f" (published: {measured:.0f} %)"
    return (
        f"Two sequential streams of different speed have a write amplification of {apart:.3f} with a handle each and "
        f"of {together:.3f} through one. With handles that of a database that writes at random is {more:.0f} % "
        f"higher{said}: they hold space open."
    )


def _theory(courses: Mapping[Key, Course]) -> Table:
    stripe = PARITY_STRIPE / (PARITY_STRIPE - 1)
    forms = (
        ("one each", "64/63: parity alone", stripe),
        ("one", "4/3 x 64/63: each unit of the slow stream moved once", 4 / 3 * stripe),
    )
    cells = [
        (handles, form, f"{value:.6f}", f"{courses['two streams', handles].between(90, 300):.6f}")
        for handles, form, value in forms
    ]
    return Table("Two sequential streams in theory", ("handles", "closed form", "value", "simulated"), cells)


def _why(courses: Mapping[Key, Course], others: Mapping[Fraction, Mapping[str, Course]]) -> Table:
    unit_bytes = reclaim_unit_bytes(DRIVE)
    by_times = {Fraction(1): {handles: courses["database", handles] for handles in ("none", "seven")}} | dict(others)
    cells = [
        (
            format_bytes(round(unit_bytes * times)),
            course["none"].last(),
            course["seven"].last(),
            100 * (course["seven"].last() / course["none"].last() - 1),
        )
        for times, course in sorted(by_times.items())
    ]
    return Table(
        "Why: the same database on drives of the same capacity with other reclaim units",
        ("reclaim unit", "write amplification without handles", "with seven", "more, %"),
        cells,
        "The last half hour. The larger a reclaim unit, the more space seven open ones hold.",
    )


def _picture(courses: Mapping[Key, Course]) -> "Figure":
    named = {"none": "without handles", "seven": "with seven handles"}
    of = {label: courses["database", handles] for handles, label in named.items()}
    measured = {
        label: [
            (float(figure["end_minutes"]), float(figure["waf"]))
            for figure in FIGURES
            if (figure["load"], figure["handles"]) == ("database", handles)
        ]
        for handles, label in named.items()
    }
    return waf_figure(
        "database",
        {label: list(zip(course.end_minutes, course.waf, strict=True)) for label, course in of.items()},
        measured,
        title="A database that writes at random, with handles and without",
        caption="Write amplification of each ten minutes: lines simulated, marks measured.",
        x_title="minutes",
    )
