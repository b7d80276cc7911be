"""`ssdlab identify`: infers a drive file by experiments on a simulated or real drive treated as a black box."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import counting, shown
from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.device.plan import RATE_MB_S
from ssdlab.hardware.identification import identifying
from ssdlab.hardware.identification.experiments import random_writes
from ssdlab.hardware.identification.experiments.resting import REST_S, REST_S_MAX
from ssdlab.hardware.identification.output import DRIVE_FILE, print_table
from ssdlab.hardware.safety.place import check_platform

_READ_US = 100
"""What a single read is assumed to take in the plan, in microseconds."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.hardware.identification.identify import Planned


@dataclass(frozen=True)
class Simulated(options.Changes):
    """A simulated drive, about which the experiments get the same information as about a real one."""

    drive: Annotated[
        str | None,
        typer.Option("--drive", metavar="NAME|FILE", help="A simulated drive, treated as a black box."),
    ] = None


@dataclass(frozen=True)
class Place(options.RealDrive):
    """A real drive."""

    on: Annotated[
        Path | None,
        typer.Option("--on", metavar="PATH", help="A real device, or a folder or new file, which shows less."),
        options.PLACE,
    ] = None
    size: Annotated[int | None, typer.Option(metavar="SIZE", help="Size of the file, such as 4GiB."), options.SIZE] = (
        None
    )


@dataclass(frozen=True)
class Effort:
    """Limits on what the experiments write and how long they take, and the choice of experiments."""

    budget: Annotated[
        float,
        typer.Option(metavar="Nx", help="The most to write, in drive capacities, such as 0.5x."),
        Parsed(identifying.budget_of, default=identifying.BUDGET),
    ] = 2.0
    minutes: Annotated[
        float | None,
        typer.Option(metavar="N", min=0.0001, help="Begin no experiment after this many minutes of the drive's time."),
    ] = None
    read_only: Annotated[bool, typer.Option("--read-only", help="Write nothing; reads existing data.")] = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume after the last completed experiment in --output.")
    ] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan; run nothing.")] = False


def identify(
    context: typer.Context,
    simulated: Simulated,
    place: Place,
    effort: Effort,
    seed: options.Seed = 1,
    *,
    workers: options.Workers = None,
    form: Form,
    output: Annotated[str | None, options.folder("out/identify-NAME")] = None,
) -> None:
    """Infer a drive file by experiments that see only the completion of requests.

    DIR gets drive.toml, for `ssdlab run --drive`; result.json with each inferred value, its 90 % interval and the
    experiment that shows it; report.html with the evidence and what could not be determined.
    """
    if (simulated.drive is None) == (place.on is None):
        raise InputError("give either --drive NAME, a simulated drive, or --on PATH, a real one")
    dry_run = effort.dry_run
    how = identifying.How(
        effort.budget,
        effort.minutes,
        effort.read_only,
        effort.resume,
        seed,
        shown,
        counting,
        workers,
        lambda planned, capacity_bytes: form.say(_plan(planned, capacity_bytes)),
    )
    if place.on is not None:
        if simulated.is_changed:
            raise InputError("--op, --left-empty, --set and --scale apply to simulated drives; give --drive")
        check_platform()
        real = identifying.Place(place.on, place.size, place.permission, place.smart)
        if dry_run:
            typer.echo(_plan(*identifying.planned_on_path(real, how)))
            return
        folder = Path(output) if output else identifying.folder_of(place.on.name or "folder")
        check_folder(folder, "identify")
        found = identifying.on_path(real, how, folder)
    else:
        assert simulated.drive is not None
        if any(each is not None for each in (place.size, place.smart, place.destroy_data_on, place.max_write)):
            raise InputError("--size, --smart, --destroy-data-on and --max-write apply to real drives; give --on")
        resolved = simulated.of(simulated.drive)
        if dry_run:
            typer.echo(_plan(*identifying.planned_on_drive(resolved, how)))
            return
        folder = Path(output) if output else identifying.folder_of(resolved.name)
        check_folder(folder, "identify")
        found = identifying.on_drive(resolved, how, folder)
    form.give(found, lambda: print_table(found.found, Console()))
    names = found.write(folder, command_line=command_line(context))
    form.say()
    form.say(f"drive:  {folder / DRIVE_FILE}\nreport: {folder / names[-1]}")


def _plan(planned: Sequence[Planned], capacity_bytes: int) -> str:
    written = sum(each.write_bytes for each in planned)
    reads = sum(each.experiment.reads for each in planned)
    lines = [
        f"# {each.experiment.name}: {each.experiment.title}; writes {format_bytes(each.write_bytes)} or less"
        for each in planned
    ]
    rests = sum(each.experiment.rests for each in planned)
    minutes = (written / RATE_MB_S / 1e6 + reads * _READ_US / 1e6 + rests * REST_S) / 60
    lines.append(
        f"# total: {format_bytes(written)} written or less, {written / capacity_bytes:.3g} x the capacity, and about "
        f"{reads:,} reads; {minutes:.1f} min at {RATE_MB_S:g} MB/s and {_READ_US} us a read"
        + (f", with {rests} rest{'s' * (rests != 1)} of {REST_S:g} s" if rests else "")
    )
    if rests:
        lines.append(
            f"# beside an SLC cache a rest takes up to {REST_S_MAX:g} s, {rests * REST_S_MAX / 60:.0f} min in all"
        )
    if any(each.experiment.name == random_writes.NAME for each in planned):
        lines.append("# then: simulations without the drive, 40 to 500 runs of what was written, for what is left")
    return "\n".join(lines)
