"""`ssdlab.fit`: fits keys of a drive file to measured points, and shows what the points cannot determine."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TypedDict, get_args

import polars as pl

from ssdlab.errors import InputError, check_word, near
from ssdlab.experiments.advice import fit_choices, fit_drive, fit_measured, fit_next, fit_page, fit_search
from ssdlab.experiments.advice import free as freed
from ssdlab.experiments.advice.fit import Fit, Model, Parameter
from ssdlab.experiments.advice.fit_choices import Choice, Chosen, Combination
from ssdlab.experiments.advice.fit_drive import Point, Runs
from ssdlab.experiments.advice.fit_measured import Measurement
from ssdlab.experiments.advice.fit_search import Alike
from ssdlab.foundation.quantities import format_share, parse_scale, rounded
from ssdlab.presentation.report.charts.published import Bar, published_bars
from ssdlab.presentation.report.chosen import write_figures
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator.drives import DriveFile, Source, load
from ssdlab.simulator.drives import settings as drive_settings
from ssdlab.simulator.drives.writer import to_toml
from ssdlab.simulator.results.files import staged
from ssdlab.simulator.workloads.specifying import Beginning, Until


class BoundsJson(TypedDict):
    min: float
    max: float


class ParameterJson(TypedDict):
    key: str
    low: float
    high: float
    fitted: float
    confidence_95: BoundsJson | None
    determined_by: list[float]
    """The share of each point in determining the value."""


class ChoiceJson(TypedDict):
    chosen: dict[str, str]
    rms: float | None
    excluded: bool
    refused: str | None


class PointJson(TypedDict):
    """`fitted` and `left_out` are in the unit of the metric; `deviation` is a share."""

    drive: str | None
    workload: str
    space_in_use: str | None
    rate: float | None
    job: str | None
    metric: str
    measured: float
    fitted: float
    deviation: float
    left_out: float | None


class FreeNextJson(TypedDict):
    key: str
    share: float
    factor: float


class HeldOutJson(TypedDict):
    """`job` is a measured job, or the job file of a point with its inserted values. `interval` needs samples."""

    job: str
    rate: float | None
    metric: str
    measured: float
    predicted: float
    deviation: float
    interval: BoundsJson | None
    decided: bool | None


class AlikeJson(TypedDict):
    chosen: dict[str, str]
    values: dict[str, float]
    rms: float


class FittedJson(TypedDict):
    """The contents of result.json."""

    parameters: list[ParameterJson]
    choices: list[ChoiceJson]
    points: list[PointJson]
    misfit: bool
    """Whether the fitted drive does not reproduce the points, so that nothing is determined."""
    condition: float | None
    confounded: list[list[str]]
    at_bound: list[str]
    free_next: list[FreeNextJson]
    evaluations: int
    held_out: list[HeldOutJson]
    alike: list[AlikeJson]


_SAMPLES_MAX = 100_000
# Beyond this ratio of its ends, an interval says that the points do not decide the figure.
_DECIDED_MAX = 1.5


@dataclass(frozen=True)
class Prediction:
    """A point that was not used for the fit, and the value of the fitted drive."""

    point: Point
    value: float
    interval: tuple[float, float] | None = None
    """The range over the drives that repeat the fitted points as well; None without samples."""

    @property
    def deviation(self) -> float:
        """The deviation of the predicted value from the measured one, a share."""
        return self.value / self.point.value - 1

    @property
    def is_inside(self) -> bool:
        """Whether the measured value is in the interval; False without samples."""
        return self.interval is not None and self.interval[0] <= self.point.value <= self.interval[1]

    @property
    def is_decided(self) -> bool | None:
        """Whether the fitted points decide the figure within a factor of 1.5; None without samples."""
        return None if self.interval is None else self.interval[1] <= _DECIDED_MAX * self.interval[0]


@dataclass(frozen=True, repr=False)
class Fitted(Shown):
    """The fitted drives, usually one, and how well they reproduce the points."""

    drives: Mapping[str, DriveFile]
    """The drives by name, with the fitted values, each with a source of the kind `fitted`."""
    parameters: Sequence[Parameter]
    points: Sequence[Point]
    combinations: Sequence[Combination]
    """The combinations of the free choices, the best first; a single one without choices."""
    fit: Fit
    """The fit of the best combination."""
    next_free: Sequence[fit_next.Suggestion] = ()
    """If a parameter ended at a bound: the fixed keys that would explain most of the deviations."""
    left_out: Sequence[float] | None = None
    """The prediction for each point from a fit to the others; None if not requested."""
    held_out: Sequence[Prediction] = ()
    """Predictions of points that were not used for the fit; none if the drive does not reproduce the others."""
    alike: Sequence[Alike] = ()
    """With samples: drives within the tolerance of the fit, the best first and then as different as possible."""
    evaluations: int = 0
    """How many drives were simulated for the fit."""

    @property
    def drive(self) -> DriveFile:
        """The first drive, which is the only one unless several are fitted together."""
        return next(iter(self.drives.values()))

    @property
    def chosen(self) -> Chosen:
        """The best value of each choice, by its key."""
        return self.combinations[0].chosen

    def __repr__(self) -> str:
        numbers = [
            f"{each.name} = {rounded(value, 4)}" for each, value in zip(self.parameters, self.fit.values, strict=True)
        ]
        names = ", ".join([*numbers, *(f"{name} = {value}" for name, value in self.chosen.items())])
        return (
            f"<Fitted: {', '.join(self.drives)}, {names}, deviation at most {format_share(self.fit.deviation_max, 2)}>"
        )

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each point.

        Columns: workload, space_in_use, metric, measured and simulated (in the metric's unit), deviation (a share),
        left_out (as `left_out`), fitted (False for held-out points).
        """
        rows = [
            [*_named(point), value, value / point.value - 1, left, True]
            for point, value, left in zip(self.points, self.fit.simulated, self._left_out(), strict=True)
        ]
        rows += [[*_named(each.point), each.value, each.deviation, None, False] for each in self.held_out]
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")

    def figures(self) -> list[Figure]:
        """A picture of each point with its measured and its fitted value."""
        held_out = [(each.point, each.value) for each in self.held_out]
        pairs = [*zip(self.points, self.fit.simulated, strict=True), *held_out]
        bars = [Bar(f"{point.title}, {point.metric}", "fitted", value, point.value) for point, value in pairs]
        caption = "Bars: the fitted drive. Upright marks: measured."
        title = "Measured and fitted, point by point"
        return [published_bars(name="points", title=title, caption=caption, bars=bars, x_title="", own_axes=True)]

    def to_dict(self) -> FittedJson:
        """The contents of result.json."""
        found = self.fit
        return {
            "parameters": [
                {
                    "key": each.name,
                    "low": each.low,
                    "high": each.high,
                    "fitted": value,
                    "confidence_95": interval and {"min": interval[0], "max": interval[1]},
                    "determined_by": list(found.determined_by(index)),
                }
                for index, (each, value, interval) in enumerate(
                    zip(self.parameters, found.values, found.intervals, strict=True)
                )
            ],
            "choices": [
                {
                    "chosen": dict(each.chosen),
                    "rms": each.fit.rms if each.fit else None,
                    "excluded": each.is_excluded,
                    "refused": each.refused or None,
                }
                for each in self.combinations
                if each.chosen
            ],
            "points": [
                {
                    "drive": point.drive or None,
                    "workload": point.workload.name,
                    "space_in_use": point.space_in_use or None,
                    "rate": point.rate,
                    "job": point.job or None,
                    "metric": point.metric,
                    "measured": point.value,
                    "fitted": value,
                    "deviation": deviation,
                    "left_out": left,
                }
                for point, value, deviation, left in zip(
                    self.points, found.simulated, found.deviations, self._left_out(), strict=True
                )
            ],
            "misfit": found.is_misfit,
            "condition": found.condition if found.condition < float("inf") else None,
            "confounded": [list(group) for group in found.confounded],
            "at_bound": list(found.at_bound),
            "free_next": [{"key": each.key, "share": each.share, "factor": each.factor} for each in self.next_free],
            "evaluations": self.evaluations,
            "held_out": [
                {
                    "job": each.point.workload.name,
                    "rate": each.point.rate,
                    "metric": each.point.metric,
                    "measured": each.point.value,
                    "predicted": each.value,
                    "deviation": each.deviation,
                    "interval": each.interval and {"min": each.interval[0], "max": each.interval[1]},
                    "decided": each.is_decided,
                }
                for each in self.held_out
            ],
            "alike": [
                {
                    "chosen": dict(each.chosen),
                    "values": dict(zip((each.name for each in self.parameters), each.values, strict=True)),
                    "rms": each.rms,
                }
                for each in self.alike
            ],
        }

    def write(self, directory: str | Path, *, notices: Sequence[str] = (), command_line: str = "") -> list[str]:
        """Writes fitted.toml (for several drives, a fitted-NAME.toml for each), result.json and report.html with its
        pictures, all or none.

        `notices` are shown on the page, such as what the points do not determine. Returns the names, the drives first
        and the page last.
        """
        drawn = self.figures()
        whole = fit_page.page(self, drawn, notices, command_line)
        files = {"fitted.toml" if len(self.drives) == 1 else f"fitted-{n}.toml": d for n, d in self.drives.items()}
        with staged(Path(directory)) as place:
            for name, drive in files.items():
                (place / name).write_text(to_toml(drive), encoding="utf-8")
            (place / "result.json").write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")
            pictures = write_figures(drawn, place)
            (place / "report.html").write_text(whole.html(), encoding="utf-8")
        return [*files, "result.json", *pictures, "report.html"]

    def _left_out(self) -> Sequence[float | None]:
        return self.left_out if self.left_out is not None else [None] * len(self.points)


@dataclass(frozen=True)
class Fitting:
    """The inputs of a fit, read and checked; nothing has been run."""

    drives: Mapping[str, DriveFile]
    """The drives by name."""
    parameters: Sequence[Parameter]
    choices: Sequence[Choice]
    points: Sequence[Point]
    held_out: Sequence[Point]
    """Points that are predicted instead of fitted to."""
    measurement: Measurement | None
    """The measurement that the points come from; None for a CSV file."""
    runs: Runs
    samples: int
    """The number of drives drawn over all that is free; 0 for least squares from the initial values alone."""

    @property
    def drive(self) -> DriveFile:
        """The first drive."""
        return next(iter(self.drives.values()))

    def fitted(self, *, leave_one_out: bool = False) -> Fitted:
        """Runs the fit. Raises RunFailed if a run fails or does not have the figure of a point."""
        known: dict[tuple[tuple[str, ...], tuple[float, ...]], Sequence[float]] = {}

        def model_of(chosen: Chosen) -> Model:
            def model(values: Sequence[float]) -> Sequence[float]:
                # Fits that leave out a point begin with the same values as the fit to all points.
                key = (tuple(chosen.values()), tuple(values))
                if key not in known:
                    known[key] = self._simulate(self._at(chosen, values), self.points)
                return known[key]

            return model

        values = [point.value for point in self.points]
        alike: Sequence[Alike] = ()
        if self.samples:
            searched = fit_search.search(
                model_of, self.choices, self.parameters, values, samples=self.samples, seed=self.runs.seed
            )
            ranked, alike = searched.combinations, searched.alike
        else:
            ranked = fit_choices.fit_choices(model_of, self.choices, self.parameters, values)
        found = ranked[0].fit
        assert found is not None, "the best combination is one that there is"
        fitted = self._at(ranked[0].chosen, found.values)
        left_out = None
        if leave_one_out:
            left_out = fit_choices.leave_one_out(model_of, self.choices, self.parameters, values)
        next_free: list[fit_next.Suggestion] = []
        if found.at_bound:
            names = [each.name for each in self.parameters]
            next_free = fit_next.suggestions(fitted, names, found, lambda moved: self._simulate(moved, self.points))
        evaluations = len(known)
        return Fitted(
            {name: self._with_sources(name, drive) for name, drive in fitted.items()},
            self.parameters,
            self.points,
            ranked,
            found,
            next_free,
            left_out,
            [] if found.is_misfit else self._predictions(fitted, alike),
            alike,
            evaluations,
        )

    def _predictions(self, fitted: Mapping[str, DriveFile], alike: Sequence[Alike]) -> list[Prediction]:
        if not self.held_out:
            return []
        best = self._simulate(fitted, self.held_out)
        if not self.samples:
            return [Prediction(point, value) for point, value in zip(self.held_out, best, strict=True)]
        others = [self._simulate(self._at(each.chosen, each.values), self.held_out) for each in alike[1:]]
        return [
            Prediction(point, figures[0], (min(figures), max(figures)))
            for point, *figures in zip(self.held_out, best, *others, strict=True)
        ]

    def _at(self, chosen: Chosen, values: Sequence[float]) -> dict[str, DriveFile]:
        return freed.at(self.drives, [each.name for each in self.parameters], values, chosen)

    def _simulate(self, drives: Mapping[str, DriveFile], points: Sequence[Point]) -> list[float]:
        if self.measurement:
            return fit_measured.simulate(next(iter(drives.values())), self.measurement, points, self.runs)
        return fit_drive.simulate_all(drives, points, self.runs)

    def _with_sources(self, name: str, drive: DriveFile) -> DriveFile:
        names = [*(each.name for each in self.parameters), *(each.name for each in self.choices)]
        said = f"ssdlab fit, {len(names)} free, {len(self.points)} points: {fit_drive.source_of(self.points)}"
        source = Source(kind="fitted", source=said)
        return drive.with_sources(dict.fromkeys(freed.keys_of(names, name), source))


def fitting(
    points: str | Path,
    drive: str | Path | Sequence[str | Path],
    free: str | Sequence[str],
    *,
    settings: Mapping[str, str] | None = None,
    until: Until = "steady",
    held_out: Sequence[str] = (),
    scale: Fraction | str | None = None,
    seed: int = 1,
    workers: int | None = None,
    precondition: Beginning = "none",
    samples: int = 0,
) -> Fitting:
    """The inputs of the fit for the arguments of `fit`. Raises InputError."""
    check_word("--until", until, get_args(Until))
    check_word("--precondition", precondition, get_args(Beginning))
    if not 0 <= samples <= _SAMPLES_MAX:
        raise InputError(f"--samples {samples}: allowed are 0 to {_SAMPLES_MAX:,}")
    named = [drive] if isinstance(drive, str | Path) else list(drive)
    initial: dict[str, DriveFile] = {}
    for each in named:
        loaded = drive_settings.apply(load(str(each)), settings or {})
        if loaded.name in initial:
            raise InputError(f"--drive {each}: a drive {loaded.name!r} is given twice")
        initial[loaded.name] = loaded
    path = Path(points)
    measurement = fit_measured.read(path, held_out) if fit_measured.is_result(path) else None
    if held_out and measurement is None:
        raise InputError("--held-out requires a measurement: give its result.json")
    if measurement and precondition != "none":
        raise InputError(f"--precondition: {path} has the measured jobs, which begin with the drive as it was")
    if measurement and len(initial) > 1:
        raise InputError(f"--drive: {path} is a measurement of one drive; {len(initial)} drives are given")
    given = [*measurement.points, *measurement.held_out] if measurement else fit_drive.read_points(path)
    measured = given if measurement else _of_drives(given, initial)
    unseen = [point for point in measured if point.is_predicted]
    fitted_to = [point for point in measured if not point.is_predicted]
    if not fitted_to:
        raise InputError(f"{path}: every point is predicted; no points are left to fit")
    parameters, choices = freed.parse([free] if isinstance(free, str) else free, initial)
    if not samples:
        fit_choices.combinations(choices)
    exact = parse_scale(scale) if isinstance(scale, str) else scale
    runs = Runs(scale=exact, seed=seed, workers=workers, steady=until == "steady", precondition=precondition)
    return Fitting(initial, parameters, choices, fitted_to, unseen, measurement, runs, samples)


def _of_drives(points: Sequence[Point], drives: Mapping[str, DriveFile]) -> list[Point]:
    """The points, after a check that they belong to these drives. With one drive, points do not name it.

    Raises InputError for a point of another drive, or a drive without points.
    """
    more = len(drives) > 1
    for point in points:
        if point.drive not in drives and (point.drive or more):
            names = ", ".join(drives)
            problem = f"{point.drive!r} is not given{near(point.drive, drives)}" if point.drive else "is empty"
            raise InputError(f"{point.where}: drive {problem} (--drive: {names})")
    for name in drives:
        if more and name not in [point.drive for point in points]:
            raise InputError(f"--drive {name}: no point is of this drive")
    return [point if more else replace(point, drive="") for point in points]


def fit(
    points: str | Path,
    drive: str | Path | Sequence[str | Path],
    free: str | Sequence[str],
    *,
    settings: Mapping[str, str] | None = None,
    until: Until = "steady",
    leave_one_out: bool = False,
    held_out: Sequence[str] = (),
    scale: Fraction | str | None = None,
    seed: int = 1,
    workers: int | None = None,
    precondition: Beginning = "none",
    samples: int = 0,
) -> Fitted:
    """Fits keys of a drive file to measured points by simulation, as `ssdlab fit`.

    `points` is a CSV file with the columns workload, space_in_use, metric, value (optionally rate, job, drive, use), or
    the result.json of a measurement. `drive` is the initial drive, a name from the catalogue or a .toml file, with
    `settings` of its keys; several drives are fitted together, each to the points with its name. `free` are keys with
    their bounds, "nand.program_us=100..2000", or with their possible values, "ftl.victim=greedy,fifo"; the prefix
    "NAME:" restricts them to one of several drives. `until`: each point is run until SNIA's steady state, or until the
    job is done ("job"). `leave_one_out` also predicts each point from a fit to the others. `held_out` are jobs of a
    measurement that are predicted instead of fitted to. `scale` ("1/16") reduces drive and workloads. `precondition`:
    how the drive begins, as in `run`. `samples`: this number of drives is drawn over all that is free, least squares
    starts from the best of them, and predictions have intervals.

    Raises InputError for invalid points, keys and bounds, with file and line; RunFailed if a run fails or does not have
    the figure of a point.

        fitted = ssdlab.fit("points.csv", "generic-tlc-480", "nand.program_us=100..2000", scale="1/16")
        fitted.drive.nand.program_us, fitted.frame()["deviation"]
    """
    asked = fitting(
        points,
        drive,
        free,
        settings=settings,
        until=until,
        held_out=held_out,
        scale=scale,
        seed=seed,
        workers=workers,
        precondition=precondition,
        samples=samples,
    )
    return asked.fitted(leave_one_out=leave_one_out)


_SCHEMA = {
    "workload": pl.String,
    "space_in_use": pl.String,
    "metric": pl.String,
    "measured": pl.Float64,
    "simulated": pl.Float64,
    "deviation": pl.Float64,
    "left_out": pl.Float64,
    "fitted": pl.Boolean,
}


def _named(point: Point) -> list[str | float | None]:
    return [point.workload.name, point.space_in_use or None, point.metric, point.value]
