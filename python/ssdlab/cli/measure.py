"""`ssdlab measure`: a fio job file on a real drive, a partition or a file, reported as fio would, with SMART's WAF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.targets.device.measured import Measured
    from ssdlab.targets.device.place import Permission
    from ssdlab.targets.device.plan import Planned

FORMATS = ("normal", "json", "json+")


def measure(
    job: Annotated[
        str | None,
        typer.Argument(metavar="[JOB.fio|NAME]", help="A fio job file; with --protocol its name.", show_default=False),
    ] = None,
    protocol: Annotated[
        bool, typer.Option("--protocol", help="Carry out the protocol NAME; without a name list them.")
    ] = False,
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="PATH", help="A folder or a new file's name (nothing is lost), or a device."),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The file's size, where the job does not say it, such as 4GiB.")
    ] = None,
    drive: Annotated[
        str | None, typer.Option("--drive", metavar="NAME|FILE", help="A simulated drive instead, for a protocol.")
    ] = None,
    op: options.Op = None,
    settings: options.Set = None,
    scale: options.Scale = None,
    quick: Annotated[bool, typer.Option("--quick", help="A shorter protocol; it says what it gives up.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a protocol after the last step that is finished in --output.")
    ] = False,
    seed: options.Seed = 1,
    smart: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Read health from FILE (smartctl -j, or a served drive's stats.json)."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the command lines, what they will write, and how long; do nothing.")
    ] = False,
    rated_tbw: Annotated[
        float | None, typer.Option(metavar="TB", help="The drive's rated TBW, for --dry-run.", min=0.001)
    ] = None,
    max_write: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Write no more than this, such as 100GB.")
    ] = None,
    destroy_data_on: options.DestroyDataOn = None,
    discard_signatures: options.DiscardSignatures = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the file that was measured on.")] = False,
    output_format: Annotated[
        str | None,
        typer.Option("--output-format", metavar="FORMAT", help="normal, json or json+.  [default: normal, or by FILE]"),
    ] = None,
    output: options.Output = None,
) -> None:
    """Measure a real drive: a fio job through the installed fio, with the drive's health before and after each stage.

    PATH is a folder (a file is made in it and removed afterwards), the name of a file that does not exist yet, or a
    device. What is there is never written over, but on a device with --destroy-data-on.

    Write amplification comes from SMART, where the drive counts what it programs; without it, the result says why.
    Ctrl-C ends fio in order and keeps what was measured.

    With --protocol NAME the steps of a standard experiment are carried out, on PATH or on a simulated --drive.
    """
    from ssdlab.cli import comparing, measure_protocol
    from ssdlab.errors import InputError
    from ssdlab.safety.place import check_platform
    from ssdlab.targets.device.place import Permission

    if protocol and job is None:
        measure_protocol.print_list()
        return
    if not protocol and (drive or quick or resume):
        raise InputError("--drive, --quick and --resume belong to --protocol; `ssdlab run` takes a job on a drive")
    place = Path(output) if output else Path("out") / f"protocol-{job}"
    command_line = comparing.command_line(
        ["ssdlab", "measure", "--protocol", str(job)],
        {
            **{"--drive": drive, "--op": op, "--set": settings, "--scale": scale},
            **{"--on": on, "--size": size, "--destroy-data-on": destroy_data_on, "--smart": smart},
            **{"--discard-signatures": discard_signatures, "--max-write": max_write, "--quick": quick},
            "--seed": str(seed),
        },
    )
    if protocol and drive:
        from ssdlab.cli import drive_options

        if on:
            raise InputError("give --on PATH or --drive NAME, not both")
        resolved = drive_options.resolved(drive, op, settings, scale)
        measure_protocol.on_drive(str(job), resolved, quick=quick, seed=seed, output=place, command_line=command_line)
        return
    check_platform()
    if op or settings or scale:
        raise InputError("--op, --set and --scale are of simulated drives; give --drive")
    if job is None:
        raise InputError("give a job file: ssdlab measure JOB.fio --on PATH")
    if on is None:
        raise InputError("give --on PATH: a folder, the name of a file that does not exist yet, or a device")
    permission = Permission(destroy_data_on, discard_signatures, options.bytes_of("--max-write", max_write), keep)
    if protocol:
        from ssdlab.protocols import registry

        measure_protocol.on_path(
            registry.protocol(str(job)),
            Path(on),
            permission,
            size_bytes=options.bytes_of("--size", size),
            smart=Path(smart) if smart else None,
            quick=quick,
            seed=seed,
            dry_run=dry_run,
            resume=resume,
            output=place,
            command_line=command_line,
        )
        return
    _measure_job(
        job,
        Path(on),
        size_bytes=options.bytes_of("--size", size),
        seed=seed,
        smart=Path(smart) if smart else None,
        dry_run=dry_run,
        rated_tbw=rated_tbw,
        permission=permission,
        output_format=output_format,
        output=output,
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
) -> None:
    from ssdlab import jobs
    from ssdlab.cli.destination import destination
    from ssdlab.cli.progress import shown
    from ssdlab.targets.device import health, plan, programs, run
    from ssdlab.targets.device.joblogs import JobLogs
    from ssdlab.targets.device.opened import opened
    from ssdlab.targets.device.text import FORMATS as writers

    to = destination(output, output_format, FORMATS)
    job_file = jobs.load(job)
    logs = JobLogs(to.beside)
    with opened(path, job_file, permission, size_bytes=size_bytes, seed=seed) as place:
        stages = run.prepared(job_file, place, seed=seed)
        planned = plan.planned(job_file, stages, place, seed=seed)
        plan.check_budget(planned, permission.max_write_bytes)
        if dry_run:
            _print_plan(planned, rated_tbw)
            return
        programs.check("fio")
        source = health.of(place.claim.place, smart)
        with shown([stage.name for stage in stages]) as tell:
            measured = run.measure(job_file, place, source, seed=seed, on_progress=tell, logs=logs)
    to.give(writers[to.format](measured))
    if to.directory:
        names = measured.write(to.directory)
        typer.echo(f"wrote {to.directory}/{', '.join(names)}", err=True)
    if logs.names:
        typer.echo(f"logs: {', '.join(logs.names)}", err=True)
    _end(measured, to.directory or to.file)


def _end(measured: Measured, place: Path | None) -> None:
    from ssdlab.errors import RunFailed

    if measured.interrupted:
        where = f"in {place}" if place else "above"
        raise KeyboardInterrupt(f"what was measured until then is {where}")
    if measured.failure:
        raise RunFailed(measured.failure)


def _print_plan(planned: Sequence[Planned], rated_tbw: float | None) -> None:
    from ssdlab.quantities import format_bytes
    from ssdlab.targets.device.plan import RATE_MB_S

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
    typer.echo(f"# in all: {format_bytes(written)} written{share}, about {seconds / 60:.1f} min")
    typer.echo(f"# times and what ends by time are estimates, at {RATE_MB_S:g} MB/s")
