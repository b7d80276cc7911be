"""`ssdlab run`: a fio job on a simulated drive, reported as fio would."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ssdlab import workloads
from ssdlab.cli import options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import destination
from ssdlab.cli.progress import shown
from ssdlab.drives import load, resolve
from ssdlab.errors import RunFailed
from ssdlab.results import drive_state, logs
from ssdlab.results.files import check_writable
from ssdlab.results.text import FORMATS as writers
from ssdlab.targets import running

if TYPE_CHECKING:
    from ssdlab.workloads.specifying import Beginning

FORMATS = ("normal", "json", "json+", "terse", "sysbench")


def run(
    context: typer.Context,
    job: options.Job,
    drive: Annotated[
        str,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue (ssdlab drives) or a .toml file."),
    ],
    op: options.Op = None,
    settings: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = 1,
    untimed: options.Untimed = False,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            metavar="TIME",
            help="Also report each interval of this time of the full drive, such as 10min.",
        ),
    ] = None,
    precondition: options.Precondition = "none",
    from_state: Annotated[
        str | None,
        typer.Option("--from-state", metavar="FILE", help="Start from a drive state saved with --save-state."),
    ] = None,
    save_state: Annotated[
        str | None,
        typer.Option("--save-state", metavar="FILE", help="Save the drive's final state to this file."),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--output-format",
            metavar="FORMAT",
            help="normal, json, json+ or terse as in fio; sysbench.  [default: normal, or by FILE]",
        ),
    ] = None,
    output: options.Output = None,
) -> None:
    """Run a fio job file on a simulated drive; report fio's figures and the flash operations behind them."""
    interval_ns = options.interval_of(interval, untimed)
    if save_state:
        check_writable(Path(save_state).parent)
    to = destination(output, output_format, FORMATS, command="run")
    resolved = resolve(
        load(drive),
        over_provisioning=options.op_of(op),
        settings=options.settings_of(settings),
        scale=options.scale_of(scale),
    )
    with shown([workloads.title(job)]) as tell:
        result = running.run(
            job,
            resolved,
            seed=seed,
            precondition=cast("Beginning", precondition),
            from_state=from_state,
            save_state=save_state,
            timed=not untimed,
            interval_ns=interval_ns,
            on_progress=(lambda share, written: tell(0, share, written)) if tell else None,
        )
    to.give(writers[to.format](result))
    start = "saved" if from_state else precondition
    if to.directory:
        from ssdlab.results import page

        result.write(to.directory)
        page.write(
            result,
            to.directory,
            job=workloads.title(job),
            notes=[
                *([] if result.failure else [drive_state.said(result, start)]),
                *([unsourced] if (unsourced := resolved.file.unsourced()) else []),
            ],
            command_line=command_line(context),
        )
        series = "data/timeseries.parquet" + ("" if untimed else ", data/timeseries-time.parquet")
        typer.echo(f"wrote {to.directory}/result.json, {series}, report.html and pictures/", err=True)
    # As in fio.
    names = logs.write(result, to.log_folder)
    if untimed and any("logs" in entry.output for entry in result.specification.reporting):
        typer.echo("note: no logs are written, because they need a clock", err=True)
    if names:
        typer.echo(f"logs: {', '.join(names)}", err=True)
    if result.failure:
        raise RunFailed(f"{job}: {result.failure}")
    typer.echo(f"state: {drive_state.said(result, start)}", err=True)
    if better := drive_state.offer(result, start, job, drive):
        typer.echo(f"       {better}", err=True)
