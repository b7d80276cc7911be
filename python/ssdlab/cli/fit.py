"""`ssdlab fit`: values of a drive file, chosen so that simulations repeat measured points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Console
from rich.table import Table

from ssdlab.cli import options
from ssdlab.drives import resolve
from ssdlab.quantities import format_bytes
from ssdlab.terminal import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.advice.fit import Fit, Parameter
    from ssdlab.advice.fit_drive import Point, Runs
    from ssdlab.advice.fit_measured import Measurement
    from ssdlab.drives import DriveFile
    from ssdlab.workloads.specifying import Until


def fit(
    points: Annotated[
        str,
        typer.Argument(
            metavar="POINTS.csv|RESULT.json",
            help="Columns workload, space_in_use, metric, value; or the result of `ssdlab measure JOB.fio`.",
        ),
    ],
    drive: Annotated[str, typer.Option("--drive", metavar="NAME|FILE", help="Initial drive.")],
    free: Annotated[
        list[str], typer.Option("--free", metavar="KEY=LOW..HIGH", help="A key of the drive file to fit. Repeatable.")
    ],
    settings: options.Set = None,
    until: Annotated[
        str, typer.Option(metavar="steady|job", help="Run each point until SNIA's steady state, or the job once.")
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
        str | None, typer.Option("--output", metavar="DIR", help="Output folder.  [default: out/fit-DRIVE]")
    ] = None,
) -> None:
    """Fit keys of a drive file to measured points, and report which parameters the points do not determine.

    With the result.json of a measurement it fits to the bandwidths and the write amplification of its jobs, and
    reports the error of the fitted drive on the held-out jobs.
    """
    from ssdlab.advice.fitting import fitting

    asked = fitting(
        points,
        drive,
        free,
        settings=options.settings_of(settings),
        until=cast("Until", until),
        held_out=held_out or (),
        scale=options.scale_of(scale),
        seed=seed,
        workers=workers,
    )
    directory = Path(output) if output else Path("out") / f"fit-{asked.drive.name}"
    if asked.measurement:
        typer.echo(_sizes(asked.measurement, asked.drive, asked.runs), err=True)
    typer.echo(f"fitting {len(asked.parameters)} of {asked.drive.name} to {len(asked.points)} points", err=True)
    fitted = asked.fitted(leave_one_out=leave_one_out)
    _print(fitted.fit, fitted.parameters, fitted.points, fitted.left_out)
    if fitted.held_out:
        _print_unseen(fitted.held_out)
    fitted.write(directory)
    typer.echo(f"\nfitted drive: {directory / 'fitted.toml'}\nfigures:      {directory / 'fit.json'}")


def _sizes(measurement: Measurement, drive: DriveFile, runs: Runs) -> str:
    own = resolve(drive, scale=runs.scale).capacity.user_bytes
    return f"measured on {format_bytes(measurement.size_bytes)}; the simulated drive has {format_bytes(own)}"


def _print_unseen(unseen: Sequence[tuple[Point, float]]) -> None:
    typer.echo("\nnot fitted to:")
    for point, value in unseen:
        deviation = 100 * (value / point.value - 1)
        typer.echo(
            f"  {point.workload} {point.metric}: measured {point.value:.5g}, predicted {value:.5g} ({deviation:+.1f} %)"
        )


def _print(
    found: Fit, parameters: Sequence[Parameter], points: Sequence[Point], left_out: Sequence[float] | None
) -> None:
    console = Console(highlight=False, markup=False)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("parameter", "fitted", "95 % confidence", "bounds"):
        table.add_column(heading, justify="left" if heading == "parameter" else "right")
    for each, value, interval in zip(parameters, found.values, found.intervals, strict=True):
        said = "not determined" if interval is None else f"{interval[0]:.4g} to {interval[1]:.4g}"
        table.add_row(each.name, f"{value:.5g}", said, f"{each.low:g} to {each.high:g}")
    show(table, console)
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
    show(table, console)
    for line in _warnings(found, parameters, points):
        console.print(f"\n{line}")


def _warnings(found: Fit, parameters: Sequence[Parameter], points: Sequence[Point]) -> list[str]:
    lines = []
    for group in found.confounded:
        said = f"condition {found.condition:.3g}"
        if len(group) > 1:
            names = " and ".join(group)
            lines.append(f"These points do not separate {names}: their effects compensate each other ({said}).")
        else:
            lines += [f"These points hardly constrain {name} ({said})." for name in group]
    if len(points) <= len(parameters):
        lines.append(f"{len(parameters)} parameters through {len(points)} points: an exact fit is no evidence.")
    lines += [f"{name} ended at a bound: the best fit is beyond it." for name in found.at_bound]
    return lines
