"""`ssdlab.fit`: keys of a drive file fitted to measured points, and what the points cannot determine."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import polars as pl

from ssdlab.advice import fit_drive, fit_measured
from ssdlab.advice.fit import Fit, Model, Parameter
from ssdlab.advice.fit import fit as least_squares
from ssdlab.advice.fit import leave_one_out as predicted_each
from ssdlab.advice.fit_drive import Point, Runs
from ssdlab.advice.fit_measured import Measurement
from ssdlab.drives import DriveFile, load, to_toml
from ssdlab.drives import settings as drive_settings
from ssdlab.errors import InputError, check_word
from ssdlab.quantities import parse_scale
from ssdlab.report.charts.published import Bar, published_bars
from ssdlab.report.figure import Figure
from ssdlab.report.shown import Shown
from ssdlab.results.files import staged
from ssdlab.workloads.specifying import Until


@dataclass(frozen=True, repr=False)
class Fitted(Shown):
    """A drive with fitted keys, and how well it repeats the points."""

    drive: DriveFile
    """With the found values, each of kind `fitted`."""
    parameters: Sequence[Parameter]
    points: Sequence[Point]
    fit: Fit
    left_out: Sequence[float] | None = None
    """Of each point, what a fit to the others predicts; None where that was not asked for."""
    held_out: Sequence[tuple[Point, float]] = ()
    """Points that nothing was fitted to, and what the fitted drive gives."""

    def __repr__(self) -> str:
        names = ", ".join(
            f"{each.name} = {value:.4g}" for each, value in zip(self.parameters, self.fit.values, strict=True)
        )
        return f"<Fitted: {self.drive.name}, {names}, deviation at most {self.fit.deviation_max * 100:.2g} %>"

    def frame(self) -> pl.DataFrame:
        """One row a point: workload, space_in_use, metric, measured and simulated (in the metric's unit), deviation
        (a share), left_out (as `left_out`), fitted (False: held out)."""
        rows = [
            [*_named(point), value, value / point.value - 1, left, True]
            for point, value, left in zip(self.points, self.fit.simulated, self._left_out(), strict=True)
        ]
        rows += [[*_named(point), value, value / point.value - 1, None, False] for point, value in self.held_out]
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")

    def figures(self) -> list[Figure]:
        """Each point as it was measured and as the fitted drive has it."""
        pairs = [*zip(self.points, self.fit.simulated, strict=True), *self.held_out]
        bars = [
            Bar(
                f"{point.workload.stem} {point.space_in_use}".strip() + f", {point.metric}",
                "fitted",
                value,
                point.value,
            )
            for point, value in pairs
        ]
        count = f"{len(self.parameters)} fitted to {len(self.points)} points"
        caption = "Bars: the fitted drive. Upright marks: measured."
        title = f"{self.drive.name}: {count}, {self.fit.deviation_max * 100:.2g} % off at most"
        return [published_bars(name="points", title=title, caption=caption, bars=bars, x_title="", own_axes=True)]

    def to_dict(self) -> dict[str, Any]:
        """What fit.json holds."""
        found = self.fit
        return {
            "parameters": [
                {
                    "key": each.name,
                    "low": each.low,
                    "high": each.high,
                    "fitted": value,
                    "confidence_95": interval and {"min": interval[0], "max": interval[1]},
                }
                for each, value, interval in zip(self.parameters, found.values, found.intervals, strict=True)
            ],
            "points": [
                {
                    "workload": point.workload.name,
                    "space_in_use": point.space_in_use or None,
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
            "condition": found.condition if found.condition < float("inf") else None,
            "confounded": [list(group) for group in found.confounded],
            "at_bound": list(found.at_bound),
            "evaluations": found.evaluations,
            "held_out": [
                {
                    "job": str(point.workload),
                    "metric": point.metric,
                    "measured": point.value,
                    "predicted": value,
                    "deviation": value / point.value - 1,
                }
                for point, value in self.held_out
            ],
        }

    def write(self, directory: str | Path) -> list[str]:
        """Writes fitted.toml, the drive file, and fit.json, all or none. Gives their names."""
        with staged(Path(directory)) as place:
            (place / "fitted.toml").write_text(to_toml(self.drive), encoding="utf-8")
            (place / "fit.json").write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")
        return ["fitted.toml", "fit.json"]

    def _left_out(self) -> Sequence[float | None]:
        return self.left_out if self.left_out is not None else [None] * len(self.points)


@dataclass(frozen=True)
class Fitting:
    """What is to be fitted to what: read and checked, nothing run yet."""

    drive: DriveFile
    parameters: Sequence[Parameter]
    points: Sequence[Point]
    measurement: Measurement | None
    """Where the points come from, if that is the result.json of a measurement."""
    runs: Runs

    def fitted(self, *, leave_one_out: bool = False) -> Fitted:
        """Runs the fit. Raises RunFailed when a run broke or gives no such figure."""
        model = self._model(self.points)
        values = [point.value for point in self.points]
        found = least_squares(model, self.parameters, values)
        left_out = predicted_each(model, self.parameters, values) if leave_one_out else None
        unseen = self.measurement.held_out if self.measurement else ()
        predicted = self._model(unseen)(found.values) if unseen else ()
        return Fitted(
            fit_drive.fitted_drive(self.drive, self.parameters, found, self.points),
            self.parameters,
            self.points,
            found,
            left_out,
            list(zip(unseen, predicted, strict=True)),
        )

    def _model(self, points: Sequence[Point]) -> Model:
        names = [each.name for each in self.parameters]
        if self.measurement:
            return fit_measured.simulated_model(self.drive, names, self.measurement, points, self.runs)
        return fit_drive.simulated_model(self.drive, names, points, self.runs)


def fitting(
    points: str | Path,
    drive: str | Path,
    free: str | Sequence[str],
    *,
    settings: Mapping[str, str] | None = None,
    until: Until = "steady",
    held_out: Sequence[str] = (),
    scale: Fraction | str | None = None,
    seed: int = 1,
    workers: int | None = None,
) -> Fitting:
    """The fit that `fit` runs, with its arguments. Raises InputError."""
    check_word("--until", until, get_args(Until))
    initial = load(str(drive))
    if settings:
        initial = drive_settings.apply(initial, settings)
    path = Path(points)
    measurement = fit_measured.read(path, held_out) if fit_measured.is_result(path) else None
    if held_out and measurement is None:
        raise InputError("--held-out requires a measurement: give its result.json")
    measured = list(measurement.points) if measurement else fit_drive.read_points(path)
    parameters = [fit_drive.parameter(text, initial) for text in ([free] if isinstance(free, str) else free)]
    names = [each.name for each in parameters]
    if len(set(names)) < len(names):
        raise InputError(f"--free: a key is given twice ({', '.join(names)})")
    exact = parse_scale(scale) if isinstance(scale, str) else scale
    runs = Runs(scale=exact, seed=seed, workers=workers, steady=until == "steady")
    return Fitting(initial, parameters, measured, measurement, runs)


def fit(
    points: str | Path,
    drive: str | Path,
    free: str | Sequence[str],
    *,
    settings: Mapping[str, str] | None = None,
    until: Until = "steady",
    leave_one_out: bool = False,
    held_out: Sequence[str] = (),
    scale: Fraction | str | None = None,
    seed: int = 1,
    workers: int | None = None,
) -> Fitted:
    """Fits keys of a drive file to measured points by simulation, as `ssdlab fit`.

    `points` is a CSV file with the columns workload, space_in_use, metric, value, or the result.json of a measurement.
    `drive` is what the fit starts from, a name of the catalogue or a .toml file, with `settings` of its keys. `free`:
    keys with their bounds, "nand.program_us=100..2000". `until`: each point is run until SNIA's steady state, or the
    job once ("job"). `leave_one_out`: also predict each point from a fit to the others. `held_out`: jobs of a
    measurement that are predicted, not fitted to. `scale` ("1/16") makes drive and workloads smaller.

    Raises InputError for points, keys and bounds, with file and line; RunFailed when a run broke or gives no such
    figure.

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
