"""`ssdlab fit`: values of a drive file, chosen so that simulations repeat measured points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options

if TYPE_CHECKING:
    from ssdlab.drives import DriveFile
    from ssdlab.planning.fit import Fit, Parameter
    from ssdlab.planning.fit_drive import Point, Runs
    from ssdlab.planning.fit_measured import Measurement

UNTIL = ("steady", "job")


def fit(
    points: Annotated[
        str,
        typer.Argument(
            metavar="POINTS.csv|RESULT.json",
            help="Columns workload, space_in_use, metric, value; or the result of `ssdlab measure JOB.fio`.",
        ),
    ],
    drive: Annotated[str, typer.Option("--drive", metavar="NAME|FILE", help="The drive to begin with.")],
    free: Annotated[
        list[str], typer.Option("--free", metavar="KEY=LOW..HIGH", help="A key of the drive file to fit. Repeatable.")
    ],
    settings: options.Set = None,
    until: Annotated[
        str, typer.Option(metavar="steady|job", help="Each point until SNIA's steady state, or the job once.")
    ] = "steady",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Also predict each point from a fit to the others.")
    ] = False,
    held_out: Annotated[
        list[str] | None,
        typer.Option("--held-out", metavar="JOB", help="A measured job that is predicted, not fitted to. Repeatable."),
    ] = None,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    workers: options.Workers = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Where the files go.  [default: out/fit-DRIVE]")
    ] = None,
) -> None:
    """Fit keys of a drive file to measured points, and say what the points cannot tell.

    From the result.json of a measurement it fits to the bandwidths and the write amplification of its jobs, and says
    how far off the fitted drive is on the jobs that are held out.
    """
    import json

    from ssdlab.drives import load, to_toml
    from ssdlab.drives import settings as drive_settings
    from ssdlab.errors import InputError
    from ssdlab.planning import fit as fitting
    from ssdlab.planning import fit_drive, fit_measured
    from ssdlab.results.files import staged

    if until not in UNTIL:
        raise InputError(f"--until is {until!r}; allowed: {', '.join(UNTIL)}")
    begun = load(drive)
    if changes := options.settings_of(settings):
        begun = drive_settings.apply(begun, changes)
    directory = Path(output) if output else Path("out") / f"fit-{begun.name}"
    measurement = fit_measured.read(Path(points), held_out or ()) if fit_measured.is_result(Path(points)) else None
    if held_out and measurement is None:
        raise InputError("--held-out names a job of a measurement: give its result.json")
    measured = list(measurement.points) if measurement else fit_drive.read_points(Path(points))
    parameters = [fit_drive.parameter(text, begun) for text in free]
    names = [each.name for each in parameters]
    if len(set(names)) < len(names):
        raise InputError(f"--free: a key is given twice ({', '.join(names)})")
    runs = fit_drive.Runs(scale=options.scale_of(scale), seed=seed, workers=workers, steady=until == "steady")
    if measurement:
        typer.echo(_sizes(measurement, begun, runs), err=True)
        model = fit_measured.simulated_model(begun, names, measurement, measured, runs)
    else:
        model = fit_drive.simulated_model(begun, names, measured, runs)
    values = [point.value for point in measured]
    typer.echo(f"fitting {len(names)} of {begun.name} to {len(measured)} points", err=True)
    found = fitting.fit(model, parameters, values)
    left_out = fitting.leave_one_out(model, parameters, values) if leave_one_out else None
    _print(found, parameters, measured, left_out)
    unseen: list[tuple[Point, float]] = []
    if measurement and measurement.held_out:
        predicted = fit_measured.simulated_model(begun, names, measurement, measurement.held_out, runs)(found.values)
        unseen = list(zip(measurement.held_out, predicted, strict=True))
        _print_unseen(unseen)
    with staged(directory) as place:
        fitted = fit_drive.fitted_drive(begun, parameters, found, measured)
        (place / "fitted.toml").write_text(to_toml(fitted), encoding="utf-8")
        content = _content(found, parameters, measured, left_out)
        content["held_out"] = [
            {
                "job": str(point.workload),
                "metric": point.metric,
                "measured": point.value,
                "predicted": value,
                "deviation": value / point.value - 1,
            }
            for point, value in unseen
        ]
        (place / "fit.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    typer.echo(f"\nfitted drive: {directory / 'fitted.toml'}\nfigures:      {directory / 'fit.json'}")


def _sizes(measurement: Measurement, drive: DriveFile, runs: Runs) -> str:
    from ssdlab.drives import resolve
    from ssdlab.quantities import format_bytes

    own = resolve(drive, scale=runs.scale).capacity.user_bytes
    return f"measured on {format_bytes(measurement.size_bytes)}; the simulated drive has {format_bytes(own)}"


def _print_unseen(unseen: list[tuple[Point, float]]) -> None:
    typer.echo("\nnot fitted to:")
    for point, value in unseen:
        deviation = 100 * (value / point.value - 1)
        typer.echo(
            f"  {point.workload} {point.metric}: measured {point.value:.5g}, predicted {value:.5g} ({deviation:+.1f} %)"
        )


def _print(found: Fit, parameters: list[Parameter], points: list[Point], left_out: list[float] | None) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("parameter", "fitted", "95 % confidence", "bounds"):
        table.add_column(heading, justify="left" if heading == "parameter" else "right")
    for each, value, interval in zip(parameters, found.values, found.intervals, strict=True):
        said = "not determined" if interval is None else f"{interval[0]:.4g} to {interval[1]:.4g}"
        table.add_row(each.name, f"{value:.5g}", said, f"{each.low:g} to {each.high:g}")
    console.print(table)
    console.print()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    headings = ["point", "metric", "measured", "fitted", "deviation"] + (["left out", "deviation"] if left_out else [])
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("point", "metric") else "right")
    for index, (point, value, deviation) in enumerate(zip(points, found.simulated, found.deviations, strict=True)):
        cells = [f"{point.workload.stem} {point.space_in_use}".strip(), point.metric]
        cells += [f"{point.value:.5g}", f"{value:.5g}", f"{deviation * 100:+.1f} %"]
        if left_out:
            cells += [f"{left_out[index]:.5g}", f"{(left_out[index] / point.value - 1) * 100:+.1f} %"]
        table.add_row(*cells)
    console.print(table)
    for line in _warnings(found, parameters, points):
        console.print(f"\n{line}")


def _warnings(found: Fit, parameters: list[Parameter], points: list[Point]) -> list[str]:
    lines = []
    for group in found.confounded:
        said = f"condition {found.condition:.3g}"
        if len(group) > 1:
            names = " and ".join(group)
            lines.append(f"These points cannot tell {names} apart: one makes good what the other does ({said}).")
        else:
            lines += [f"These points say next to nothing of {name} ({said})." for name in group]
    if len(points) <= len(parameters):
        lines.append(
            f"{len(parameters)} parameters through {len(points)} points: an exact fit of these proves nothing."
        )
    lines += [f"{name} ended at a bound: the points pull further." for name in found.at_bound]
    return lines


def _content(
    found: Fit, parameters: list[Parameter], points: list[Point], left_out: list[float] | None
) -> dict[str, object]:
    return {
        "parameters": [
            {
                "key": each.name,
                "low": each.low,
                "high": each.high,
                "fitted": value,
                "confidence_95": interval and {"min": interval[0], "max": interval[1]},
            }
            for each, value, interval in zip(parameters, found.values, found.intervals, strict=True)
        ],
        "points": [
            {
                "workload": point.workload.name,
                "space_in_use": point.space_in_use or None,
                "metric": point.metric,
                "measured": point.value,
                "fitted": value,
                "deviation": deviation,
                "left_out": left_out and left_out[index],
            }
            for index, (point, value, deviation) in enumerate(
                zip(points, found.simulated, found.deviations, strict=True)
            )
        ],
        "condition": found.condition if found.condition < float("inf") else None,
        "confounded": [list(group) for group in found.confounded],
        "at_bound": list(found.at_bound),
        "evaluations": found.evaluations,
    }
