"""`ssdlab fit`: fits values of a drive file so that simulations reproduce measured points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ssdlab.cli import fit_data_sheet, fit_queue_depths, options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form
from ssdlab.cli.groups import given
from ssdlab.errors import InputError
from ssdlab.experiments.advice.fit import MISFIT_MAX, Fit
from ssdlab.foundation.quantities import format_bytes, format_deviation, format_share, measured, rounded
from ssdlab.presentation.terminal import show, wrapped
from ssdlab.simulator.drives import resolve
from ssdlab.simulator.workloads.specifying import Until

# The points named in the last column together account for this share of the information about a value.
_DETERMINING_SHARE = 0.9

if TYPE_CHECKING:
    from ssdlab.experiments.advice.fit import Parameter
    from ssdlab.experiments.advice.fit_choices import Combination
    from ssdlab.experiments.advice.fit_drive import Point, Runs
    from ssdlab.experiments.advice.fit_measured import Measurement
    from ssdlab.experiments.advice.fit_next import Suggestion
    from ssdlab.experiments.advice.fitting import Fitted, Prediction
    from ssdlab.simulator.drives import DriveFile


@dataclass(frozen=True)
class Simulations:
    """Options for the simulation of each point."""

    until: Annotated[
        Until, typer.Option(metavar="steady|job", help="Run each point until SNIA's steady state, or the job once.")
    ] = "steady"
    precondition: options.Precondition = "none"
    scale: options.Scale = None
    seed: options.Seed = 1
    workers: options.Workers = None


@dataclass(frozen=True)
class Search:
    """How the values are searched, and which points are predicted instead."""

    samples: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Search the whole of the bounds and choices, with N drawn drives; predictions have intervals.",
        ),
    ] = 0
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Also predict each point from a fit to the others.")
    ] = False
    held_out: Annotated[
        Sequence[str],
        typer.Option("--held-out", metavar="JOB", help="A measured job that is predicted, not fitted to. Repeatable."),
    ] = ()


@dataclass(frozen=True)
class Instead:
    """What is fitted to instead of points, with its own choice of what is free."""

    data_sheet: Annotated[
        str | None,
        typer.Option(
            "--data-sheet",
            metavar="FILE.toml",
            help="Instead of points and --free: a drive file with [datasheet], whose rows say what is free.",
        ),
    ] = None
    queue_depths: Annotated[
        Path | None,
        typer.Option(
            "--queue-depths",
            metavar="FILE.csv",
            help="Instead of points and --free: columns drive, pattern, iodepth, iops, p50, p99 of a SATA drive.",
        ),
    ] = None


def fit(
    context: typer.Context,
    points: Annotated[
        str | None,
        typer.Argument(
            metavar="[POINTS.csv|RESULT.json]",
            help="Columns workload, space_in_use, metric, value, also rate, job, drive, use; or the result of "
            "`ssdlab measure JOB.fio`, or fio's own JSON.",
        ),
    ] = None,
    drive: Annotated[
        list[str] | None,
        typer.Option("--drive", metavar="NAME|FILE", help="Initial drive. Repeatable: drives that share what is free."),
    ] = None,
    free: Annotated[
        list[str] | None,
        typer.Option(
            "--free",
            metavar="KEY=LOW..HIGH|KEY=A,B",
            help="A key of the drive file to fit: a number between bounds, or a choice. NAME:KEY belongs to one drive "
            "alone. Repeatable.",
        ),
    ] = None,
    settings: options.Set = None,
    *,
    instead: Instead,
    search: Search,
    runs: Simulations,
    form: Form,
    output: Annotated[str | None, options.folder("out/fit-DRIVE")] = None,
) -> None:
    """Fit keys of a drive file to measured points, and report which parameters the points do not determine.

    Points are speeds, write amplification and latency percentiles. Of free choices every combination is fitted.

    With the result.json of a measurement it fits to the bandwidths and the write amplification of its jobs, and
    reports the error of the fitted drive on the held-out jobs.

    With --data-sheet it fits a drive to what its maker says of it, for a drive of which you have only the box. It takes
    seconds. A file with [datasheet] alone starts from the generic drive of its class, or from --drive.

    With --queue-depths it fits a SATA drive to depths 1 and 32 of random reads or writes, and predicts other depths.
    """
    data_sheet, queue_depths = instead.data_sheet, instead.queue_depths
    if data_sheet is not None or queue_depths is not None:
        name = "--data-sheet" if data_sheet is not None else "--queue-depths"
        if (
            points is not None
            or free
            or settings
            or given(search)
            or runs.until != "steady"
            or runs.precondition != "none"
            or (data_sheet is not None and queue_depths is not None)
        ):
            raise InputError(f"{name} takes only --drive, --seed, --workers and --output: its rows say what is free")
        if runs.scale is not None or (drive and len(drive) > 1):
            raise InputError(
                f"{name}: one drive, whose rows choose their scale; leave out --scale and a second --drive"
            )
        like = drive[0] if drive else None
        if data_sheet is not None:
            _fit_data_sheet(data_sheet, like, runs, form, output)
        elif queue_depths is not None:
            _fit_queue_depths(queue_depths, like, runs, form, output)
        return
    if points is None or not drive or not free:
        missing = " and ".join(
            name for name, value in (("POINTS", points), ("--drive", drive), ("--free", free)) if not value
        )
        raise InputError(
            f"fit needs {missing}: ssdlab fit POINTS.csv --drive NAME --free nand.program_us=100..2000; or a data"
            " sheet: ssdlab fit --data-sheet FILE.toml"
        )
    from ssdlab.experiments.advice.fitting import fitting

    asked = fitting(
        points,
        drive,
        free,
        settings=settings,
        until=runs.until,
        held_out=search.held_out,
        scale=runs.scale,
        seed=runs.seed,
        workers=runs.workers,
        precondition=runs.precondition,
        samples=search.samples,
    )
    directory = Path(output) if output else Path("out") / f"fit-{'-'.join(asked.drives)}"
    check_folder(directory, "fit")
    if asked.measurement:
        typer.echo(_sizes(asked.measurement, asked.drive, asked.runs), err=True)
    count = len(asked.parameters) + len(asked.choices)
    typer.echo(f"fitting {count} of {', '.join(asked.drives)} to {len(asked.points)} points", err=True)
    fitted = asked.fitted(leave_one_out=search.leave_one_out)
    form.give(fitted, lambda: _print_all(fitted))
    names = fitted.write(directory, notices=warnings(fitted), command_line=command_line(context))
    form.say()
    for name in names[: len(fitted.drives)]:
        form.say(f"fitted drive: {directory / name}")
    form.say(f"figures:      {directory / 'result.json'}\nreport:       {directory / names[-1]}")


def _fit_data_sheet(path: str, like: str | None, runs: Simulations, form: Form, output: str | None) -> None:
    # The help and the list of drives answer without what simulates.
    from ssdlab.experiments.studies.data_sheets.fitting import of_file

    asked = of_file(path, like)
    directory = Path(output) if output else Path("out") / f"fit-{asked.name}"
    check_folder(directory, "fit")
    found = fit_data_sheet.fitted(asked, seed=runs.seed, workers=runs.workers)
    form.give(found, lambda: fit_data_sheet.print_fit(found))
    drive_file, figures = fit_data_sheet.write(found, directory)
    form.say(f"\nfitted drive: {directory / drive_file}\nfigures:      {directory / figures}")
    form.say(f"as a page:    ssdlab study data-sheets --drive {directory / drive_file}")


def _fit_queue_depths(path: Path, like: str | None, runs: Simulations, form: Form, output: str | None) -> None:
    directory = Path(output) if output else Path("out") / f"fit-{path.stem}"
    check_folder(directory, "fit")
    found = fit_queue_depths.predicted(path, like, seed=runs.seed, workers=runs.workers)
    form.give(found, lambda: fit_queue_depths.print_predicted(found))
    figures, *drives = fit_queue_depths.write(found, directory)
    for label, name in zip(found.fits, drives, strict=True):
        form.say(f"fitted drive: {directory / name}, {label}")
    form.say(f"figures:      {directory / figures}")


def _print_all(fitted: Fitted) -> None:
    _print(fitted.fit, fitted.parameters, fitted.points, fitted.left_out)
    if fitted.chosen:
        _print_choices(fitted.combinations)
    for line in warnings(fitted):
        typer.echo(f"\n{wrapped(line)}")
    if fitted.held_out:
        _print_unseen(fitted.held_out)


def _sizes(measurement: Measurement, drive: DriveFile, runs: Runs) -> str:
    own = resolve(drive, scale=runs.scale).capacity.user_bytes
    if measurement.size_bytes is None:
        return f"measured by fio, which does not say the drive's size; the simulated drive has {format_bytes(own)}"
    return f"measured on {format_bytes(measurement.size_bytes)}; the simulated drive has {format_bytes(own)}"


def _print_unseen(unseen: Sequence[Prediction]) -> None:
    typer.echo("\nnot fitted to:")
    for each in unseen:
        said = f"measured {each.point.value:.5g}, predicted {each.value:.5g} ({format_deviation(each.deviation)})"
        if each.interval:
            said += f", {each.interval[0]:.5g} to {each.interval[1]:.5g}"
        typer.echo(f"  {each.point.title} {each.point.metric}: {said}{'' if each.is_decided in (None, True) else ' ?'}")
    if any(each.interval for each in unseen):
        off = [abs(each.deviation) for each in unseen]
        inside = sum(each.is_inside for each in unseen)
        typer.echo(
            f"  mean error {format_share(sum(off) / len(off), 2)}; {inside} of {len(unseen)} within their interval"
        )
    if any(each.is_decided is False for each in unseen):
        typer.echo("  ?: drives that fit the points as well differ by more than a factor of 1.5")


def _print(
    found: Fit, parameters: Sequence[Parameter], points: Sequence[Point], left_out: Sequence[float] | None
) -> None:
    console = Console()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("parameter", "fitted", "95 % confidence", "bounds", "determined by"):
        table.add_column(heading, justify="left" if heading in ("parameter", "determined by") else "right")
    for index, each in enumerate(parameters):
        by = _determined_by(found.determined_by(index), points)
        table.add_row(each.name, *found.cells(index), f"{each.low:g} to {each.high:g}", by)
    if parameters:
        show(table, console)
        console.print()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    headings = ["point", "metric", "measured", "fitted", "deviation"] + (["left out", "deviation"] if left_out else [])
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("point", "metric") else "right")
    for index, (point, value, deviation) in enumerate(zip(points, found.simulated, found.deviations, strict=True)):
        cells = [f"{index + 1} {point.title}", point.metric]
        cells += [f"{point.value:.5g}", measured(value), format_deviation(deviation)]
        if left_out:
            cells += [f"{left_out[index]:.5g}", format_deviation(left_out[index] / point.value - 1)]
        table.add_row(*cells)
    show(table, console)


def _determined_by(shares: Sequence[float], points: Sequence[Point]) -> str:
    """The points, by their numbers in the table, that together contribute nine tenths of the shares; "no point" if all
    shares are 0. At most three are named."""
    if not any(shares):
        return "no point"
    ranked = sorted(range(len(points)), key=lambda index: -shares[index])
    largest, total = [], 0.0
    while total < _DETERMINING_SHARE:
        largest.append(ranked.pop(0))
        total += shares[largest[-1]]
    numbers = ", ".join(f"{index + 1} ({100 * shares[index]:.0f} %)" for index in largest[:3])
    return numbers + (f" and {len(largest) - 3} more" if len(largest) > 3 else "")


def _print_choices(combinations: Sequence[Combination]) -> None:
    console = Console()
    console.print()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    names = list(combinations[0].chosen)
    for heading in (*names, "rms deviation", ""):
        table.add_column(heading, justify="right" if heading == "rms deviation" else "left")
    for index, each in enumerate(combinations):
        said = "chosen" if index == 0 else "excluded" if each.is_excluded else "not excluded"
        said = f"no such drive: {each.refused}" if each.fit is None else said
        table.add_row(*each.chosen.values(), each.fit.off if each.fit else "", said)
    show(table, console)


def warnings(fitted: Fitted) -> list[str]:
    """Sentences about what the points do not determine, and what to free if a value ended at a bound."""
    found, parameters, points = fitted.fit, fitted.parameters, fitted.points
    lines = []
    if found.is_misfit:
        lines.append(
            f"No drive within these bounds reproduces the points ({found.off} off, root mean "
            f"square; more than {format_share(MISFIT_MAX)} is no scatter of a measurement): no value is determined, "
            "and nothing is predicted from them. Free another key, or a choice."
        )
    for group in found.confounded:
        said = f"condition {found.condition:.3g}"
        if len(group) > 1:
            names = " and ".join(group)
            lines.append(f"These points do not separate {names}: their effects compensate each other ({said}).")
        else:
            lines += [f"These points hardly constrain {name} ({said})." for name in group]
    count = len(parameters) + len(fitted.chosen)
    if not found.is_misfit and len(points) > count:
        told = {name for group in found.confounded for name in group}
        lines += [
            f"These points exclude no {each.name} from {each.low:g} to {each.high:g}."
            for each, interval in zip(parameters, found.intervals, strict=True)
            if interval is None and each.name not in told
        ]
    if len(points) <= count:
        lines.append(f"Parameters: {count}, points: {len(points)}. An exact fit is no evidence.")
    for name in fitted.chosen:
        values = [each.chosen[name] for each in fitted.combinations if not each.is_excluded]
        if len(set(values)) > 1:
            lines.append(f"These points do not decide {name}: {' and '.join(dict.fromkeys(values))} fit alike.")
    for each, value in zip(parameters, found.values, strict=True):
        if each.name in found.at_bound:
            which = "lower" if value / each.low < each.high / value else "upper"
            lines.append(f"{each.name} ended at its {which} bound, {value:.5g}: the best fit is beyond it.")
    if found.at_bound:
        lines.append(_next_free(fitted.next_free))
    return lines


def _next_free(suggestions: Sequence[Suggestion]) -> str:
    if not suggestions:
        return "No other number of the drive file explains what is left: widen the bound, or free a choice."
    ranked_keys = ", ".join(
        f"{each.key} ({format_share(each.share, 2)} of the squared deviations, at about "
        f"{rounded(each.factor, 2)} times its value)"
        for each in suggestions[:3]
    )
    return f"If the bound is real, free what explains most of the rest, to first order: {ranked_keys}."
