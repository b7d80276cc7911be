"""`ssdlab compare`: one workload over several spare areas, drives or policies, to the steady state."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ssdlab import workloads
from ssdlab.cli import compare_targets, comparing, options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.progress import shown
from ssdlab.errors import InputError
from ssdlab.targets.device.place import Permission

if TYPE_CHECKING:
    from ssdlab.workloads.specifying import Beginning, Until


def compare(
    context: typer.Context,
    job: options.Job,
    drives: Annotated[
        list[str] | None,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file. Repeatable."),
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--target", metavar="KIND:WHAT", help="Instead of --drive: simulated:NAME or device:PATH. Repeatable."
        ),
    ] = None,
    op: options.OpList = None,
    settings: options.SetLists = None,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    precondition: options.Precondition = "fill",
    until: Annotated[
        str,
        typer.Option(
            metavar="steady|job", help="Repeat the last stage until SNIA's steady state, or run the job once."
        ),
    ] = "steady",
    dwpd: options.Dwpd = 1.0,
    workers: options.Workers = None,
    size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="With --target device:FOLDER: size of the file.")
    ] = None,
    destroy_data_on: Annotated[
        str | None, typer.Option("--destroy-data-on", metavar="SERIAL", help="As in `ssdlab measure`.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Output folder.  [default: out/compare-JOB]")
    ] = None,
) -> None:
    """Compare spare areas, drives or policies under one workload: a table, charts, report.html and all figures.

    With --target the job runs once on each target, simulated or real, and the results are compared.
    """
    from ssdlab.comparison.comparing import compare as compared

    directory = Path(output) if output else Path("out") / f"compare-{workloads.title(job)}"
    check_folder(directory, "compare")
    if targets:
        _on_targets(
            job, targets, drives, op, settings, scale, size, destroy_data_on, seed, directory, command_line(context)
        )
        return
    if not drives:
        raise InputError("give --drive NAME, or --target simulated:NAME --target device:PATH")
    if size or destroy_data_on:
        raise InputError("--size and --destroy-data-on require --target device:PATH")
    comparison = compared(
        job,
        drives,
        op=op,
        settings=options.settings_of(settings),
        until=cast("Until", until),
        precondition=cast("Beginning", precondition),
        dwpd=dwpd,
        scale=options.scale_of(scale),
        seed=seed,
        timed=not untimed,
        workers=workers,
        show_progress=shown,
    )
    comparing.report(comparison, directory, command_line(context))


def _on_targets(
    job: str,
    targets: list[str],
    drives: list[str] | None,
    op: str | None,
    settings: list[str] | None,
    scale: str | None,
    size: str | None,
    serial: str | None,
    seed: int,
    directory: Path,
    command_line: str,
) -> None:
    if drives:
        raise InputError("--drive and --target exclude each other: use --target simulated:NAME for a simulated drive")
    compare_targets.compare(
        job,
        targets,
        op=op,
        settings=settings,
        scale=scale,
        size=size,
        permission=Permission(serial),
        seed=seed,
        output=directory,
        command_line=command_line,
    )
