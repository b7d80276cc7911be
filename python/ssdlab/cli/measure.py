"""`ssdlab measure`: runs a fio job file on a real drive, partition or file; reports as fio does, and WAF by SMART."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ssdlab.cli import measure_protocol, options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import Destination, destination
from ssdlab.cli.form import Form
from ssdlab.cli.progress import shown
from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.protocols import registry
from ssdlab.experiments.protocols.carrying_out import Target
from ssdlab.foundation.quantities import format_bytes, format_share
from ssdlab.hardware.device.joblogs import JobLogs
from ssdlab.hardware.device.plan import RATE_MB_S
from ssdlab.hardware.safety.place import check_platform

if TYPE_CHECKING:
    from ssdlab.hardware.device.measured import Measured
    from ssdlab.hardware.device.plan import Planned

Format = Literal["normal", "json", "json+"]


@dataclass(frozen=True)
class Ordered:
    """The choice of steps to measure."""

    protocol: Annotated[bool, typer.Option("--protocol", help="Run the protocol NAME; without a name: list all.")] = (
        False
    )
    quick: Annotated[bool, typer.Option("--quick", help="A shorter protocol; reports what it omits.")] = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a protocol after the last completed step in --output.")
    ] = False
    beside: Annotated[
        Sequence[str],
        typer.Option(
            "--with",
            metavar="DIR",
            help="Show an earlier result of the protocol in the report too: another drive's, or the same drive again. "
            "Repeatable.",
        ),
    ] = ()


@dataclass(frozen=True)
class Place(options.RealDrive):
    """The part of a real drive that is measured."""

    on: Annotated[
        Path | None,
        typer.Option("--on", metavar="PATH", help="A folder or a new file (no data is lost), or a device."),
        options.PLACE,
    ] = None
    size: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="Size of the file, if the job does not set it, such as 4GiB."),
        options.SIZE,
    ] = None
    keep: Annotated[bool, typer.Option("--keep", help="Keep the measured file.")] = False

    @property
    def target(self) -> Target:
        """The target to measure. Raises InputError without --on."""
        if self.on is None:
            raise InputError("give --on PATH: a folder, the name of a file that does not exist yet, or a device")
        return Target(self.on, self.size, replace(self.permission, keep=self.keep), self.smart)


@dataclass(frozen=True)
class Simulated(options.Changes):
    """A simulated drive in place of a real one."""

    drive: Annotated[
        str | None, typer.Option("--drive", metavar="NAME|FILE", help="A simulated drive instead, for a protocol.")
    ] = None
    workers: options.Workers = None

    @property
    def is_changed(self) -> bool:
        return super().is_changed or self.workers is not None


@dataclass(frozen=True)
class Planning:
    """Options about the plan of a measurement."""

    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the command lines, bytes written and duration; run nothing.")
    ] = False
    rated_tbw: Annotated[
        float | None, typer.Option(metavar="TB", help="The drive's rated TBW, for --dry-run.", min=0.001)
    ] = None


def measure(
    context: typer.Context,
    job: Annotated[
        str | None,
        typer.Argument(
            metavar="[JOB.fio|NAME]",
            help="A fio job file; with --protocol: the name of the protocol.",
            show_default=False,
        ),
    ] = None,
    *,
    ordered: Ordered,
    place: Place,
    simulated: Simulated,
    planning: Planning,
    seed: options.Seed = 1,
    form: Form,
    output_format: Annotated[
        Format | None,
        typer.Option("--output-format", metavar="FORMAT", help="As in fio: normal, json or json+."),
    ] = None,
    output: Annotated[str | None, options.output("print only; with --protocol: out/measure-NAME")] = None,
) -> None:
    """Measure a real drive: run a fio job through the installed fio, with SMART data before and after each stage.

    PATH is a folder (a file is created in it and removed afterwards), the name of a file that does not exist yet, or
    a device. Existing data is never overwritten, except on a device with --destroy-data-on.

    Write amplification comes from SMART, if the drive counts its programs; otherwise the result gives the reason.
    Ctrl-C stops fio and keeps the measurements so far.

    With --protocol NAME the steps of a standard test are run, on PATH or on a simulated --drive.
    """
    if ordered.protocol and output_format is not None:
        raise InputError(f"--output-format {output_format} is for jobs; --format is for protocols too")
    if ordered.protocol and job is None:
        measure_protocol.print_list(form)
        return
    if not ordered.protocol and (simulated.drive or ordered.quick or ordered.resume or ordered.beside):
        raise InputError(
            "--drive, --quick, --resume and --with require --protocol; use `ssdlab run` for a job on a simulated drive"
        )
    how = measure_protocol.How(
        Path(output) if output else Path("out") / f"measure-{job}",
        command_line(context),
        ordered.quick,
        seed,
        simulated.workers,
        ordered.resume,
        planning.dry_run,
        form,
        [Path(each) for each in ordered.beside],
    )
    if ordered.protocol and simulated.drive:
        if place.on is not None:
            raise InputError("give --on PATH or --drive NAME, not both")
        measure_protocol.on_drive(str(job), simulated.of(simulated.drive), how)
        return
    check_platform()
    if simulated.is_changed:
        raise InputError("--op, --set, --scale and --workers apply to simulated drives; give --drive")
    if job is None:
        raise InputError("give a job file: ssdlab measure JOB.fio --on PATH")
    if ordered.protocol:
        measure_protocol.on_path(registry.protocol(job), place.target, how)
        return
    to = destination(output, output_format, form, command="measure")
    _measure_job(job, place.target, seed, planning, to, how.command_line)


def _measure_job(
    job: str,
    target: Target,
    seed: int,
    planning: Planning,
    to: Destination,
    command_line: str,
) -> None:
    from ssdlab.hardware.device.measuring import prepared
    from ssdlab.hardware.device.text import FORMATS as writers

    logs = JobLogs(to.log_folder)
    with prepared(
        job, target.path, target.permission, size_bytes=target.size_bytes, smart=target.smart, seed=seed
    ) as measurement:
        if planning.dry_run:
            _print_plan(measurement.planned, planning.rated_tbw)
            return
        with shown([stage.name for stage in measurement.stages]) as tell:
            measured = measurement.run(tell, logs)
    # The files are written first, because printing to a closed terminal fails.
    names = measured.write(to.directory) if to.directory else []
    if to.directory:
        from ssdlab.hardware.device import page

        *pictures, whole = page.write(measured, to.directory, command_line)
        names += [*(["pictures/"] if pictures else []), whole]
    to.give(measured, writers)
    if names:
        typer.echo(f"wrote {to.directory}/{', '.join(names)}", err=True)
    if logs.names:
        typer.echo(f"logs: {', '.join(logs.names)}", err=True)
    _end(measured, to.directory or to.file)


def _end(measured: Measured, place: Path | None) -> None:
    if measured.interrupted:
        where = f"in {place}" if place else "above"
        raise KeyboardInterrupt(f"measurements up to then are {where}")
    if measured.failure:
        raise RunFailed(measured.failure)


def _print_plan(planned: Sequence[Planned], rated_tbw: float | None) -> None:
    written = 0
    seconds = 0.0
    for stage in planned:
        about = "about " if stage.by_time else ""
        typer.echo(f"# {stage.name}: writes {about}{format_bytes(stage.written_bytes)}, {stage.seconds / 60:.1f} min")
        for command in stage.commands:
            typer.echo(command)
        for line in (stage.job_text or "").splitlines():
            typer.echo(f"    {line}")
        written += stage.written_bytes
        seconds += stage.seconds
    share = "" if rated_tbw is None else f", {format_share(written / rated_tbw / 1e12)} of the rated {rated_tbw:g} TBW"
    typer.echo(f"# total: {format_bytes(written)} written{share}, about {seconds / 60:.1f} min")
    typer.echo(f"# times, and bytes of time-based stages, are estimates at {RATE_MB_S:g} MB/s")
