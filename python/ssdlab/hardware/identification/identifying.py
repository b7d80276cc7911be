"""`ssdlab.identify`: infers a drive file by experiments on a simulated or real drive treated as a black box."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import parse_bytes_with_unit
from ssdlab.hardware.device import health, programs, purging
from ssdlab.hardware.device.permission import Permission
from ssdlab.hardware.device.place import claimed, is_device, size_of
from ssdlab.hardware.identification import choices
from ssdlab.hardware.identification import identify as experiments
from ssdlab.hardware.identification import output as files
from ssdlab.hardware.identification.bench import Limits
from ssdlab.hardware.identification.boxes.device import DeviceBox
from ssdlab.hardware.identification.boxes.simulated import SimulatedBox
from ssdlab.hardware.identification.drive import model_of
from ssdlab.hardware.identification.store import FOLDER, SCRATCH, Store
from ssdlab.hardware.safety.place import check_platform
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator.drives import ResolvedDrive, load, resolve
from ssdlab.simulator.runs import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from ssdlab.foundation.foreign import JsonObject
    from ssdlab.hardware.identification.box import Box
    from ssdlab.hardware.identification.drive import Model
    from ssdlab.hardware.identification.identify import Found, Planned
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.drives import DriveFile
    from ssdlab.simulator.runs import ShowProgress

BUDGET = "2x"
_BUDGET_MAX = 2
_SIZE_BYTES_MIN = 64 << 20


def budget_of(budget: str | float) -> float:
    """The most to write, in drive capacities. Raises InputError unless it is above 0 and at most 2."""
    try:
        share = float(str(budget).removesuffix("x"))
    except ValueError:
        share = -1.0
    if not 0 < share <= _BUDGET_MAX:
        raise InputError(f"--budget is {budget!r}; allowed: above 0x, up to {_BUDGET_MAX}x, such as 0.5x")
    return share


@dataclass(frozen=True)
class How:
    """Limits on what the experiments write and how long they take, and whether they go on where others stopped."""

    budget: float = 2.0
    """The most to write, in drive capacities."""
    minutes: float | None = None
    """No experiment begins after this many minutes of the drive's time."""
    read_only: bool = False
    resume: bool = False
    seed: int = 1
    show_progress: ShowProgress = silent
    show_count: Callable[[str], AbstractContextManager[Callable[[int], None] | None]] | None = None
    """Shows the number of simulations, which run after the experiments."""
    workers: int | None = None
    """The most simulations at a time."""
    tell_plan: Callable[[Sequence[Planned], int], object] = lambda planned, capacity_bytes: None
    """Called with the experiments and the capacity before the first one."""

    def limits(self, capacity_bytes: int) -> Limits:
        """The limits in bytes and seconds for a drive of this capacity."""
        seconds = None if self.minutes is None else 60 * self.minutes
        return Limits(int(self.budget * capacity_bytes), seconds, self.read_only)

    def identity(self, target: JsonObject) -> JsonObject:
        """The values that must be unchanged for a run to be resumed."""
        return {**target, "seed": self.seed, "budget": self.budget, "read_only": self.read_only}


@dataclass(frozen=True)
class Place:
    """A real drive, or a file in a folder of it."""

    path: Path
    size_bytes: int | None
    permission: Permission
    smart: Path | None = None


@dataclass(frozen=True, repr=False)
class Identified(Shown):
    """What the experiments found of a drive, and the drive file that follows."""

    found: Found
    model: Model
    target: Mapping[str, Any]
    seed: int

    def __repr__(self) -> str:
        known, missing = len(self.found.inferred), len(self.found.undetermined)
        return f"<Identified: {self.target['name']}, {known} values inferred, {missing} not determined>"

    @property
    def drive(self) -> DriveFile:
        """The drive file; a value that was not inferred is assumed, and its source says so."""
        return self.model.file

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each key of the drive file that was looked for.

        Columns: key; value (text; null if it could not be determined), low and high (the ends of its 90 % interval;
        null if it has none), in the unit of the key; experiment; reason (why a value is missing).
        """
        rows = [
            {
                "key": each.key,
                "value": files.shown(each.value),
                "low": each.low if isinstance(each.low, int | float) else None,
                "high": each.high if isinstance(each.high, int | float) else None,
                "experiment": each.experiment,
                "reason": None,
            }
            for each in files.ordered(self.found)
        ]
        rows += [{"key": each.key, "reason": each.reason} for each in self.found.undetermined]
        schema = {
            "key": pl.String,
            "value": pl.String,
            "low": pl.Float64,
            "high": pl.Float64,
            "experiment": pl.String,
            "reason": pl.String,
        }
        return pl.DataFrame(rows, schema=schema, strict=False)

    def figures(self) -> Sequence[Figure]:
        """The measurements behind the values."""
        return [files.figure(each) for each in self.found.pictures]

    def to_dict(self) -> Mapping[str, object]:
        """The object of `result.json`."""
        return files.content(self.found, self.model, self.target, self.seed)

    def write(self, directory: str | Path, *, command_line: str = "") -> list[str]:
        """Writes drive.toml, result.json and report.html, all or none. Returns their names, the page last."""
        return files.write(self.found, self.model, self.target, Path(directory), seed=self.seed, line=command_line)


def identify(
    drive: ResolvedDrive | str | Path | None = None,
    *,
    on: str | Path | None = None,
    size: int | str | None = None,
    smart: str | Path | None = None,
    destroy_data_on: str | None = None,
    discard_signatures: bool = False,
    max_write: int | str | None = None,
    budget: str | float = BUDGET,
    minutes: float | None = None,
    read_only: bool = False,
    resume: bool = False,
    seed: int = 1,
    workers: int | None = None,
    output: str | Path | None = None,
    show_progress: ShowProgress = silent,
) -> Identified:
    """Infers a drive file by experiments that see only the completion of requests, as `ssdlab identify`.

    `drive` is a simulated one, treated as a black box: what `ssdlab.drive` returns, a name or a drive file. Or `on` is
    a device, or a folder or new file, which shows less, with the arguments of `ssdlab.measure`: `size` in bytes or as
    "4GiB", `smart`, `destroy_data_on`, `discard_signatures`, `max_write`. `budget` is the most to write, in drive
    capacities ("0.5x"); no experiment begins after `minutes` of the drive's time; `read_only` reads existing data. At
    most `workers` simulations of what was written run at a time. The
    outcomes of experiments are kept in `output`, by default out/identify-NAME, and `resume` goes on after them.

    Raises InputError before anything is written, and RunFailed if an experiment fails.

        identified = ssdlab.identify(ssdlab.drive("generic-tlc-480", scale="1/8"), budget="0.5x")
        identified.drive.nand.program_us, identified.frame().filter(polars.col("reason").is_null())
    """
    if (drive is None) == (on is None):
        raise InputError("give either --drive NAME, a simulated drive, or --on PATH, a real one")
    how = How(budget_of(budget), minutes, read_only, resume, seed, show_progress, workers=workers)
    if drive is not None:
        resolved = drive if isinstance(drive, ResolvedDrive) else resolve(load(str(drive)))
        return on_drive(resolved, how, Path(output) if output else folder_of(resolved.name))
    path = Path(str(on))
    permission = Permission(destroy_data_on, discard_signatures, _bytes(max_write))
    place = Place(path, _bytes(size), permission, None if smart is None else Path(smart))
    return on_path(place, how, Path(output) if output else folder_of(path.name or "folder"))


def folder_of(name: str) -> Path:
    """The folder of the output, if none is given."""
    return Path("out") / f"identify-{name}"


def planned_on_drive(drive: ResolvedDrive, how: How) -> tuple[list[Planned], int]:
    """The experiments on a simulated drive, and its capacity in bytes."""
    capacity_bytes = drive.with_whole_blocks().capacity.user_bytes
    _check_size(f"drive {drive.name!r}", capacity_bytes)
    return experiments.plan(capacity_bytes, how.limits(capacity_bytes)), capacity_bytes


def planned_on_path(place: Place, how: How) -> tuple[list[Planned], int]:
    """The experiments on a real drive, and its capacity in bytes. Writes nothing, so that it needs no consent."""
    on_device = _checked(place, how)
    size_bytes = DeviceBox.usable(size_of(place.path) if on_device else place.size_bytes or 0)
    _check_size(f"--on {place.path}", size_bytes)
    return experiments.plan(size_bytes, how.limits(size_bytes), whole_drive=on_device), size_bytes


def on_drive(drive: ResolvedDrive, how: How, output: Path) -> Identified:
    """Runs the experiments on a simulated drive, from the state stored after the last finished experiment.

    A drive at a scale has fewer blocks of full size: one whose blocks are smaller erases several at once, and shows
    them as one.
    """
    drive = drive.with_whole_blocks()
    planned, capacity_bytes = planned_on_drive(drive, how)
    how.tell_plan(planned, capacity_bytes)
    # The full specification, so that a run is not resumed on a different drive.
    store = Store(output, how.identity({"drive": drive.specification()}), resume=how.resume)
    last = next((each.experiment.name for each in reversed(planned) if store.finished(each.experiment.name)), None)
    state = store.folder / f"{last}.state" if last else None
    box = SimulatedBox(drive, store.folder, seed=how.seed, state=state if state and state.exists() else None)
    target = {"kind": "simulated", "name": drive.name, "scale": str(drive.scale)}
    found = _carried_out(box, planned, store, how, target, output, kept=box.keep)
    box.remove()
    return found


def on_path(place: Place, how: How, output: Path) -> Identified:
    """Runs the experiments on a device, trimmed first unless read only or resumed, or on a new file, removed at the
    end."""
    check_platform()
    path = place.path
    on_device = _checked(place, how)
    with claimed(path, place.size_bytes, place.permission) as held:
        source = health.of(held.claim.place, place.smart)
        box = DeviceBox(held, source, output / FOLDER / SCRATCH, seed=how.seed)
        _check_size(f"--on {path}", box.capacity_bytes)
        planned = experiments.plan(box.capacity_bytes, how.limits(box.capacity_bytes), whole_drive=on_device)
        how.tell_plan(planned, box.capacity_bytes)
        programs.check("fio")
        store = Store(output, how.identity({"path": str(path), "size_bytes": held.size_bytes}), resume=how.resume)
        begun = any(store.finished(each.experiment.name) for each in planned)
        if on_device and not how.read_only and not begun:
            purging.purge(held)
        disk = held.claim.place
        target = {
            "kind": "device", "name": disk.model or path.name or "the drive", "path": str(path), "what": held.what,
            "size_bytes": held.size_bytes, "disk": disk.disk, "smart": source.source,
        }  # fmt: skip
        return _carried_out(box, planned, store, how, target, output, kept=lambda _name: None)


def _carried_out(
    box: Box,
    planned: Sequence[Planned],
    store: Store,
    how: How,
    target: Mapping[str, Any],
    output: Path,
    *,
    kept: Callable[[str], object],
) -> Identified:
    try:
        with how.show_progress([each.experiment.title for each in planned]) as tell:
            found = experiments.identify(
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
    found.workers = how.workers
    if how.show_count:
        with how.show_count("simulations") as found.tell_simulations:
            found.add(choices.NAME, choices.choose(found))
    else:
        found.add(choices.NAME, choices.choose(found))
    model = model_of(found.inferred, found.capacity_bytes, _name(str(target["name"])), choices.nearest(found))
    return Identified(found, model, target, how.seed)


def _name(target: str) -> str:
    """The name of the drive file: "identified-" and the target's name in lower case, other characters as hyphens."""
    plain = "".join(letter if letter.isalnum() else "-" for letter in target.lower()).strip("-")
    return f"identified-{plain}"


def _check_size(what: str, capacity_bytes: int) -> None:
    if capacity_bytes < _SIZE_BYTES_MIN:
        raise InputError(f"{what}: {_SIZE_BYTES_MIN >> 20} MiB or more are needed to determine anything")


def _checked(place: Place, how: How) -> bool:
    """Whether the place is a device. Raises InputError if --size, --read-only or --resume do not fit it."""
    path, on_device = place.path, is_device(place.path)
    if on_device:
        if place.size_bytes is not None:
            raise InputError(f"--size: {path} is a device with a fixed size")
        return True
    if place.size_bytes is None:
        raise InputError(f"give --size, such as 4GiB, for the file in {path}")
    if how.read_only:
        raise InputError("--read-only: a file has to be written before it can be read; name a device")
    if how.resume:
        raise InputError(f"--resume: the file in {path} does not survive an interrupted run; run without --resume")
    return False


def _bytes(size: int | str | None) -> int | None:
    return parse_bytes_with_unit(size) if isinstance(size, str) else size
