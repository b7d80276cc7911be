"""`ssdlab run`: runs a fio job on a simulated drive and reports as fio does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from ssdlab.cli import options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import destination
from ssdlab.cli.form import Form
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import shown
from ssdlab.errors import InputError, RunFailed
from ssdlab.foundation.quantities import parse_duration_ns
from ssdlab.presentation.terminal import for_reader
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import left_empty_sentences
from ssdlab.simulator.results import drive_state, logs
from ssdlab.simulator.results.files import check_writable, note_complete
from ssdlab.simulator.results.text import FORMATS as writers
from ssdlab.simulator.targets import auto_scale, running
from ssdlab.simulator.workloads.host import Host
from ssdlab.simulator.workloads.jobs.iolog import replay_of

Format = Literal["normal", "json", "json+", "terse", "sysbench"]
_NOT_IN_COMPARE = ("alone", "from_state", "host", "interval", "precondition", "save_state", "seed")
"""Options of this command that are left out of the command line for `ssdlab compare`."""


@dataclass(frozen=True)
class Clock:
    """Whether time is simulated, that of the host too, and the reporting interval."""

    untimed: options.Untimed = False
    interval: Annotated[
        int | None,
        typer.Option(
            "--interval",
            metavar="TIME",
            help="Also report each interval of this time of the full drive, such as 10min.",
        ),
        Parsed(parse_duration_ns),
    ] = None
    """Nanoseconds."""
    host: Annotated[
        Host,
        typer.Option(
            "--host",
            help="linux: latencies of jobs with one request at a time include the host's share of each command, "
            "17.4 us on SATA and 2.8 us on NVMe; none: they are the drive's own.",
        ),
    ] = "none"

    def __post_init__(self) -> None:
        if self.untimed and self.interval is not None:
            raise InputError("--interval needs the clock, which --untimed leaves out; give one of them")
        if self.untimed and self.host != "none":
            raise InputError("--host linux needs the clock, which --untimed leaves out; give one of them")


@dataclass(frozen=True)
class States:
    """The states of the drive before and after the run."""

    precondition: options.Precondition = "none"
    from_state: Annotated[
        str | None,
        typer.Option("--from-state", metavar="FILE", help="Start from a drive state saved with --save-state."),
    ] = None
    save_state: Annotated[
        str | None,
        typer.Option("--save-state", metavar="FILE", help="Save the drive's final state to this file."),
    ] = None


@dataclass(frozen=True)
class Runs:
    """The run, and those of namespaces alone."""

    alone: Annotated[
        bool,
        typer.Option("--alone", help="Also run the jobs of each namespace alone, on a drive of its share."),
    ] = False
    seed: options.Seed = 1
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, metavar="N", help="With --alone: number of runs at a time."),
    ] = None

    def __post_init__(self) -> None:
        if self.workers is not None and not self.alone:
            raise InputError(f"--workers {self.workers}: the run is one; allowed: with --alone, whose runs are several")


@dataclass(frozen=True)
class FormLikeFio(Form):
    """The format of the result: one of all commands, or one of fio's."""

    output_format: Annotated[
        Format | None,
        typer.Option("--output-format", metavar="FORMAT", help="As in fio: normal, json, json+ or terse; or sysbench."),
    ] = None


def run(
    context: typer.Context,
    job: options.Job,
    drive: Annotated[
        str,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue (ssdlab drives) or a .toml file."),
    ],
    changes: options.ChangesOfRun,
    states: States,
    clock: Clock,
    runs: Runs,
    form: FormLikeFio,
    output: options.Output = None,
) -> None:
    """Run a fio job file on a simulated drive; report fio's figures and the flash operations behind them."""
    if states.save_state:
        check_writable(Path(states.save_state).parent)
        if Path(states.save_state).is_dir():
            raise InputError(f"--save-state {states.save_state}: is a folder; a file is needed")
    to = destination(output, form.output_format, form, command="run")
    resolved = changes.of(drive)
    workload: str | workloads.Workload = job
    # A recording is replayed on the whole drive.
    if changes.is_scale_chosen and not (states.from_state or states.save_state) and replay_of(job) is None:
        workload = workloads.load(job)
        (resolved,) = auto_scale.fitted(
            workload, [resolved], until="job", precondition=states.precondition, timed=not clock.untimed
        )
    with shown([workloads.title(job)]) as tell:
        result = running.run(
            workload,
            resolved,
            seed=runs.seed,
            precondition=states.precondition,
            from_state=states.from_state,
            save_state=states.save_state,
            timed=not clock.untimed,
            interval_ns=clock.interval,
            alone=runs.alone,
            host=clock.host,
            workers=runs.workers,
            on_progress=(lambda share, written: tell(0, share, written)) if tell else None,
        )
    if states.save_state:
        note_complete(Path(states.save_state))
    to.give(result, writers)
    start = "saved" if states.from_state else states.precondition
    if to.directory:
        from ssdlab.simulator.results import page

        result.write(to.directory)
        written = page.write(
            result,
            to.directory,
            job=workloads.title(job),
            start=start,
            notes=[
                *([] if result.failure else [drive_state.sentence(result, start)]),
                *(f"{each.name}: {durably['said']}" for each, durably in result.durability()),
                *left_empty_sentences([resolved]),
                *([unsourced] if (unsourced := resolved.file.unsourced()) else []),
            ],
            command_line=command_line(context),
        )
        series = "data/timeseries.parquet" + ("" if clock.untimed else ", data/timeseries-time.parquet")
        pictures = " and pictures/" if len(written) > 1 else ""
        typer.echo(f"wrote {to.directory}/result.json, {series}, report.html{pictures}", err=True)
    # As in fio, the logs are written in addition to the report.
    names = logs.write(result, to.log_folder)
    if clock.untimed and any("logs" in entry.output for entry in result.specification.reporting):
        typer.echo("note: no logs are written, because they need a clock", err=True)
    if names:
        typer.echo(f"logs: {', '.join(names)}", err=True)
    if result.failure:
        raise RunFailed(f"{job}: {result.failure}")
    typer.echo(for_reader(f"state: {drive_state.sentence(result, start)}"), err=True)
    if better := drive_state.offer(result, start):
        typer.echo(f"       {better}", err=True)
        if result.last_stage_ledger.host_written_bytes:
            comparison = command_line(context, command="compare", without=_NOT_IN_COMPARE)
            typer.echo(f"       or run {comparison}", err=True)
