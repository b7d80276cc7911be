"""`ssdlab measure`: a fio job file on a real drive, a partition or a file, reported as fio would, with SMART's WAF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import drive_options, measure_protocol, options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import destination
from ssdlab.cli.progress import shown
from ssdlab.errors import InputError, RunFailed
from ssdlab.protocols import registry
from ssdlab.quantities import format_bytes
from ssdlab.safety.place import check_platform
from ssdlab.targets.device.joblogs import JobLogs
from ssdlab.targets.device.place import Permission
from ssdlab.targets.device.plan import RATE_MB_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.targets.device.measured import Measured
    from ssdlab.targets.device.plan import Planned

FORMATS = ("normal", "json", "json+")


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
    protocol: Annotated[
        bool, typer.Option("--protocol", help="Run the protocol NAME; without a name: list all.")
    ] = False,
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="PATH", help="A folder or a new file (no data is lost), or a device."),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Size of the file, if the job does not set it, such as 4GiB.")
    ] = None,
    drive: Annotated[
        str | None, typer.Option("--drive", metavar="NAME|FILE", help="A simulated drive instead, for a protocol.")
    ] = None,
    op: options.Op = None,
    settings: options.Set = None,
    scale: options.Scale = None,
    quick: Annotated[bool, typer.Option("--quick", help="A shorter protocol; reports what it omits.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a protocol after the last completed step in --output.")
    ] = False,
    seed: options.Seed = 1,
    smart: options.SmartFile = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the command lines, bytes written and duration; run nothing.")
    ] = False,
    rated_tbw: Annotated[
        float | None, typer.Option(metavar="TB", help="The drive's rated TBW, for --dry-run.", min=0.001)
    ] = None,
    max_write: options.MaxWrite = None,
    destroy_data_on: options.DestroyDataOn = None,
    discard_signatures: options.DiscardSignatures = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the measured file.")] = False,
    output_format: Annotated[
        str | None,
        typer.Option("--output-format", metavar="FORMAT", help="normal, json or json+.  [default: normal, or by FILE]"),
    ] = None,
    output: options.Output = None,
) -> None:
    """Measure a real drive: run a fio job through the installed fio, with SMART data before and after each stage.

    PATH is a folder (a file is created in it and removed afterwards), the name of a file that does not exist yet, or
    a device. Existing data is never overwritten, except on a device with --destroy-data-on.

    Write amplification comes from SMART, if the drive counts its programs; otherwise the result gives the reason.
    Ctrl-C stops fio and keeps the measurements so far.

    With --protocol NAME the steps of a standard test are run, on PATH or on a simulated --drive.
    """
    if protocol and job is None:
        measure_protocol.print_list()
        return
    if not protocol and (drive or quick or resume):
        raise InputError(
            "--drive, --quick and --resume require --protocol; use `ssdlab run` for a job on a simulated drive"
        )
    place = Path(output) if output else Path("out") / f"protocol-{job}"
    line = command_line(context)
    if protocol and drive:
        if on is not None:
            raise InputError("give --on PATH or --drive NAME, not both")
        resolved = drive_options.resolved(drive, op, settings, scale)
        measure_protocol.on_drive(str(job), resolved, quick=quick, seed=seed, output=place, command_line=line)
        return
    check_platform()
    if op or settings or scale:
        raise InputError("--op, --set and --scale apply to simulated drives; give --drive")
    if job is None:
        raise InputError("give a job file: ssdlab measure JOB.fio --on PATH")
    path = options.place_of("--on", on)
    if path is None:
        raise InputError("give --on PATH: a folder, the name of a file that does not exist yet, or a device")
    permission = Permission(destroy_data_on, discard_signatures, options.bytes_of("--max-write", max_write), keep)
    if protocol:
        measure_protocol.on_path(
            registry.protocol(str(job)),
            path,
            permission,
            size_bytes=options.bytes_of("--size", size),
            smart=Path(smart) if smart else None,
            quick=quick,
            seed=seed,
            dry_run=dry_run,
            resume=resume,
            output=place,
            command_line=line,
        )
        return
    _measure_job(
        job,
        path,
        size_bytes=options.bytes_of("--size", size),
        seed=seed,
        smart=Path(smart) if smart else None,
        dry_run=dry_run,
        rated_tbw=rated_tbw,
        permission=permission,
        output_format=output_format,
        output=output,
        command_line=line,
    )


def _measure_job(
    job: str,
    path: Path,
    *,
    size_bytes: int | None,
    seed: int,
    smart: Path | None,
    dry_run: bool,
    rated_tbw: float | None,
    permission: Permission,
    output_format: str | None,
    output: str | None,
    command_line: str,
) -> None:
    from ssdlab.targets.device.measuring import prepared
    from ssdlab.targets.device.text import FORMATS as writers

    to = destination(output, output_format, FORMATS, command="measure")
    logs = JobLogs(to.log_folder)
    with prepared(job, path, permission, size_bytes=size_bytes, smart=smart, seed=seed) as measurement:
        if dry_run:
            _print_plan(measurement.planned, rated_tbw)
            return
        with shown([stage.name for stage in measurement.stages]) as tell:
            measured = measurement.run(tell, logs)
    # The files first: a terminal that was closed takes no text.
    names = measured.write(to.directory) if to.directory else []
    if to.directory:
        from ssdlab.targets.device import page

        page.write(measured, to.directory, command_line)
        names += ["pictures/", "report.html"]
    to.give(writers[to.format](measured))
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
    share = "" if rated_tbw is None else f", {written / rated_tbw / 1e10:.3g} % of the rated {rated_tbw:g} TBW"
    typer.echo(f"# total: {format_bytes(written)} written{share}, about {seconds / 60:.1f} min")
    typer.echo(f"# times, and bytes of time-based stages, are estimates at {RATE_MB_S:g} MB/s")
