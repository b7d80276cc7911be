"""`ssdlab identify`: infers a drive file by experiments on a simulated or real drive treated as a black box."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdlab.cli import options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.console import Console
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import counting, shown
from ssdlab.errors import InputError
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.device import health, programs, purging
from ssdlab.hardware.device.place import claimed, is_device, size_of
from ssdlab.hardware.device.plan import RATE_MB_S
from ssdlab.hardware.identification import choices
from ssdlab.hardware.identification import identify as identifying
from ssdlab.hardware.identification.bench import Limits
from ssdlab.hardware.identification.boxes.simulated import SimulatedBox
from ssdlab.hardware.identification.drive import model_of
from ssdlab.hardware.identification.experiments import random_writes
from ssdlab.hardware.identification.experiments.resting import REST_S, REST_S_MAX
from ssdlab.hardware.identification.store import FOLDER, SCRATCH, Store
from ssdlab.hardware.safety.place import check_platform
from ssdlab.simulator.results.files import check_writable

_BUDGET_MAX = 2
_SIZE_BYTES_MIN = 64 << 20
_READ_US = 100
"""What a single read is assumed to take in the plan, in microseconds."""

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ssdlab.hardware.identification.box import Box
    from ssdlab.hardware.identification.identify import Planned
    from ssdlab.simulator.drives import ResolvedDrive


def _share(budget: str) -> float:
    """The value of `--budget` in drive capacities. Raises InputError unless it is above 0 and at most 2."""
    try:
        share = float(budget.removesuffix("x"))
    except ValueError:
        share = -1.0
    if not 0 < share <= _BUDGET_MAX:
        raise InputError(f"--budget is {budget!r}; allowed: above 0x, up to {_BUDGET_MAX}x, such as 0.5x")
    return share


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
        Parsed(_share, default="2x"),
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
    output: Annotated[
        str | None, typer.Option("--output", metavar="DIR", help="Output folder.  [default: out/identify-NAME]")
    ] = None,
) -> None:
    """Infer a drive file by experiments that see only the completion of requests.

    DIR gets drive.toml, for `ssdlab run --drive`; result.json with each inferred value, its 90 % interval and the
    experiment that shows it; report.html with the evidence and what could not be determined.
    """
    if (simulated.drive is None) == (place.on is None):
        raise InputError("give either --drive NAME, a simulated drive, or --on PATH, a real one")
    how = _How(effort, seed, command_line(context))
    if place.on is not None:
        if simulated.is_changed:
            raise InputError("--op, --left-empty, --set and --scale apply to simulated drives; give --drive")
        _on_path(place, place.on, how, output)
        return
    assert simulated.drive is not None
    if any(each is not None for each in (place.size, place.smart, place.destroy_data_on, place.max_write)):
        raise InputError("--size, --smart, --destroy-data-on and --max-write apply to real drives; give --on")
    resolved = simulated.of(simulated.drive)
    _on_drive(resolved, how, Path(output) if output else Path("out") / f"identify-{resolved.name}")


@dataclass(frozen=True)
class _How:
    """The options that apply to simulated and real drives."""

    effort: Effort
    seed: int
    command_line: str

    def limits(self, capacity_bytes: int) -> Limits:
        """The limits in bytes and seconds for a drive of this capacity."""
        seconds = None if self.effort.minutes is None else 60 * self.effort.minutes
        return Limits(int(self.effort.budget * capacity_bytes), seconds, self.effort.read_only)

    def identity(self, target: JsonObject) -> JsonObject:
        """The values that must be unchanged for a run to be resumed."""
        return {**target, "seed": self.seed, "budget": self.effort.budget, "read_only": self.effort.read_only}


def _on_drive(drive: ResolvedDrive, how: _How, output: Path) -> None:
    """Runs the experiments on a simulated drive, from the state stored after the last finished experiment."""
    planned = identifying.plan(drive.capacity.user_bytes, how.limits(drive.capacity.user_bytes))
    _print_plan(planned, drive.capacity.user_bytes)
    if how.effort.dry_run:
        return
    check_writable(output)
    # The full specification, so that a run is not resumed on a different drive.
    store = Store(output, how.identity({"drive": drive.specification()}), resume=how.effort.resume)
    last = next((each.experiment.name for each in reversed(planned) if store.finished(each.experiment.name)), None)
    state = store.folder / f"{last}.state" if last else None
    box = SimulatedBox(drive, store.folder, seed=how.seed, state=state if state and state.exists() else None)
    target = {"kind": "simulated", "name": drive.name, "scale": str(drive.scale)}
    _carry_out(box, planned, store, how, target, output, kept=box.keep)
    box.remove()


def _on_path(chosen: Place, path: Path, how: _How, output: str | None) -> None:
    """Runs the experiments on a device, trimmed first unless --read-only or resumed, or on a new file, removed at the
    end."""
    from ssdlab.hardware.identification.boxes.device import DeviceBox

    check_platform()
    on_device = is_device(path)
    _check_file(path, on_device, chosen.size, how)
    if how.effort.dry_run:
        # Writes nothing, so that it needs no consent.
        size_bytes = DeviceBox.usable(size_of(path) if on_device else chosen.size or 0)
        _check_size(path, size_bytes)
        _print_plan(identifying.plan(size_bytes, how.limits(size_bytes), whole_drive=on_device), size_bytes)
        return
    folder = Path(output) if output else Path("out") / f"identify-{path.name or 'folder'}"
    check_writable(folder)
    with claimed(path, chosen.size, chosen.permission) as place:
        source = health.of(place.claim.place, chosen.smart)
        box = DeviceBox(place, source, folder / FOLDER / SCRATCH, seed=how.seed)
        _check_size(path, box.capacity_bytes)
        planned = identifying.plan(box.capacity_bytes, how.limits(box.capacity_bytes), whole_drive=on_device)
        _print_plan(planned, box.capacity_bytes)
        programs.check("fio")
        store = Store(
            folder, how.identity({"path": str(path), "size_bytes": place.size_bytes}), resume=how.effort.resume
        )
        begun = any(store.finished(each.experiment.name) for each in planned)
        if on_device and not how.effort.read_only and not begun:
            purging.purge(place)
        disk = place.claim.place
        target = {
            "kind": "device", "name": disk.model or path.name or "the drive", "path": str(path), "what": place.what,
            "size_bytes": place.size_bytes, "disk": disk.disk, "smart": source.source,
        }  # fmt: skip
        _carry_out(box, planned, store, how, target, folder, kept=lambda _name: None)


def _check_size(path: Path, capacity_bytes: int) -> None:
    if capacity_bytes < _SIZE_BYTES_MIN:
        raise InputError(f"--on {path}: {_SIZE_BYTES_MIN >> 20} MiB or more are needed to determine anything")


def _check_file(path: Path, on_device: bool, size_bytes: int | None, how: _How) -> None:
    """Raises InputError if --size, --read-only or --resume do not fit a device or a file."""
    if on_device:
        if size_bytes is not None:
            raise InputError(f"--size: {path} is a device with a fixed size")
        return
    if size_bytes is None:
        raise InputError(f"give --size, such as 4GiB, for the file in {path}")
    if how.effort.read_only:
        raise InputError("--read-only: a file has to be written before it can be read; name a device")
    if how.effort.resume:
        raise InputError(f"--resume: the file in {path} does not survive an interrupted run; run without --resume")


def _carry_out(
    box: Box,
    planned: Sequence[Planned],
    store: Store,
    how: _How,
    target: Mapping[str, Any],
    output: Path,
    *,
    kept: Callable[[str], object],
) -> None:
    from ssdlab.hardware.identification import output as files

    try:
        with shown([each.experiment.title for each in planned]) as tell:
            found = identifying.identify(
                box, planned, store, kept=kept, tell=tell, seconds_max=how.limits(box.capacity_bytes).seconds
            )
    except KeyboardInterrupt:
        done = sum(store.finished(each.experiment.name) is not None for each in planned)
        raise KeyboardInterrupt(
            f"{done} of {len(planned)} experiments are complete; they are in {output}, and "
            "--resume continues after them"
        ) from None
    finally:
        store.remove_scratch()
    # From here on only simulations run; the drive is not used.
    with counting("simulations") as found.tell_simulations:
        found.add(choices.NAME, choices.choose(found))
    model = model_of(found.inferred, found.capacity_bytes, _name(str(target["name"])), choices.nearest(found))
    files.print_table(found, Console())
    names = files.write(found, model, target, output, seed=how.seed, line=how.command_line)
    typer.echo(f"\ndrive:  {output / files.DRIVE_FILE}\nreport: {output / names[-1]}")


def _name(target: str) -> str:
    """The name of the drive file: "identified-" and the target's name in lower case, other characters as hyphens."""
    plain = "".join(letter if letter.isalnum() else "-" for letter in target.lower()).strip("-")
    return f"identified-{plain}"


def _print_plan(planned: Sequence[Planned], capacity_bytes: int) -> None:
    written = sum(each.write_bytes for each in planned)
    reads = sum(each.experiment.reads for each in planned)
    for each in planned:
        typer.echo(
            f"# {each.experiment.name}: {each.experiment.title}; writes {format_bytes(each.write_bytes)} or less"
        )
    rests = sum(each.experiment.rests for each in planned)
    minutes = (written / RATE_MB_S / 1e6 + reads * _READ_US / 1e6 + rests * REST_S) / 60
    typer.echo(
        f"# total: {format_bytes(written)} written or less, {written / capacity_bytes:.3g} x the capacity, and about "
        f"{reads:,} reads; {minutes:.1f} min at {RATE_MB_S:g} MB/s and {_READ_US} us a read"
        + (f", with {rests} rests of {REST_S:g} s" if rests else "")
    )
    if rests:
        typer.echo(
            f"# beside an SLC cache a rest takes up to {REST_S_MAX:g} s, {rests * REST_S_MAX / 60:.0f} min in all"
        )
    if any(each.experiment.name == random_writes.NAME for each in planned):
        typer.echo("# then: simulations without the drive, 40 to 500 runs of what was written, for what is left")
