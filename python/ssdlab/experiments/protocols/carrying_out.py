"""`ssdlab.protocol`: runs a standard experiment on a simulated or a real drive."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.protocols import output as files
from ssdlab.experiments.protocols import registry, simulated
from ssdlab.experiments.protocols.contract import Setting
from ssdlab.experiments.protocols.figures import COLUMNS
from ssdlab.experiments.protocols.kept import Kept, kept, tested
from ssdlab.experiments.protocols.page import Extra, pictures
from ssdlab.experiments.protocols.store import Store
from ssdlab.foundation.quantities import parse_bytes_with_unit
from ssdlab.hardware.device import health
from ssdlab.hardware.device.permission import Permission
from ssdlab.hardware.device.place import claimed, is_device
from ssdlab.hardware.device.volume import isolate_mounts
from ssdlab.hardware.safety.place import check_platform
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator.drives import ResolvedDrive, load, resolve
from ssdlab.simulator.runs import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from ssdlab.experiments.protocols.contract import Protocol
    from ssdlab.experiments.protocols.figures import Figures
    from ssdlab.hardware.device.place import Place
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.runs import ShowProgress


@dataclass(frozen=True)
class Target:
    """The part of a real drive that is measured."""

    path: Path
    size_bytes: int | None
    """The size of the file to create in a folder; None for a device."""
    permission: Permission
    smart: Path | None
    """A file to read SMART data from, instead of the drive."""


@dataclass(frozen=True, repr=False)
class Carried(Shown):
    """A protocol that was carried out, with the figures of each step."""

    protocol: Protocol
    steps: Sequence[Figures]
    target: Mapping[str, Any]
    """The drive: `kind` is "simulated" or "device"."""
    quick: bool
    seed: int
    extra: Extra = field(default_factory=Extra)
    beside: Sequence[Kept] = ()
    """Results of the same protocol that the pictures and the page show too."""

    def __repr__(self) -> str:
        return f"<Carried: {self.protocol.name}, {len(self.steps)} steps{', quick' if self.quick else ''}>"

    @property
    def conclusion(self) -> str | None:
        """The result as a sentence without a full stop; None if the figures do not allow one."""
        return self.protocol.conclude(self.steps)

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each step, preparations included.

        Columns: point, step, shown (False for a preparation), waf, read_ and write_iops (1/s), _mb_s (10^6 bytes/s),
        _mean_us, _p99_us and _p999_us (microseconds), written_bytes and read_bytes (of the whole step), seconds (over
        which the rates are, of simulated time or of the clock for a real drive: of a step until steady those of the
        rounds that are reported), rounds and steady (null unless the step ran until steady).
        """
        import polars as pl

        rows = [
            {
                "point": each.point,
                "step": each.step,
                "shown": each.shown,
                **{name: value(each) for name, (_, value) in COLUMNS.items()},
                "written_bytes": each.written_bytes,
                "read_bytes": each.read_bytes,
                "seconds": each.seconds,
                "rounds": each.rounds,
                "steady": each.steady,
            }
            for each in self.steps
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def figures(self) -> Sequence[Figure]:
        """The pictures of the protocol's page."""
        drives = tested([Kept(self.target, self.steps, ""), *self.beside])
        return [*self.extra.figures, *pictures(self.protocol, drives)]

    def laid_beside(self, *paths: str | Path) -> Carried:
        """The same with earlier results of the protocol, folders or files, in its pictures and on its page.

        Other drives are further lines; further tests of one drive make its line a mean with a band. Raises InputError
        for results of another protocol, of the other form, or that are incomplete.
        """
        found = [kept(Path(path), self.protocol, quick=self.quick) for path in paths]
        return replace(self, beside=[*self.beside, *found])

    def to_dict(self) -> Mapping[str, object]:
        """The object of `result.json`."""
        return files.content(
            self.protocol, self.steps, self.target, quick=self.quick, seed=self.seed, extra=self.extra.content
        )

    def write(self, directory: str | Path, *, command_line: str = "") -> list[str]:
        """Writes report.html, pictures and result.json, all or none. Returns their names, the page last."""
        return files.write(
            self.protocol,
            self.steps,
            self.target,
            Path(directory),
            quick=self.quick,
            seed=self.seed,
            extra=self.extra,
            command_line=command_line,
            beside=self.beside,
        )


def protocol(
    name: str,
    drive: ResolvedDrive | str | Path | None = None,
    *,
    on: str | Path | None = None,
    size: int | str | None = None,
    smart: str | Path | None = None,
    destroy_data_on: str | None = None,
    discard_signatures: bool = False,
    max_write: int | str | None = None,
    keep: bool = False,
    quick: bool = False,
    resume: bool = False,
    seed: int = 1,
    workers: int | None = None,
    output: str | Path | None = None,
    show_progress: ShowProgress = silent,
) -> Carried:
    """Carries out a standard experiment, as `ssdlab measure --protocol NAME`, on a simulated `drive` or a real one.

    `name` is one that `ssdlab measure --protocol` lists. `drive` is what `ssdlab.drive` returns, a name or a drive
    file; or `on` is a folder, the name of a file that does not exist yet, or a device, with the arguments of
    `ssdlab.measure`: `size` of the file in bytes or as "4GiB", `smart`, `destroy_data_on`, `discard_signatures`,
    `max_write`, `keep`. At most `workers` points of a simulated drive run at a time. `quick` omits what the protocol
    says that it can. The completed steps on a real drive are kept in `output`, by default out/measure-NAME, and
    `resume` goes on after them.

    Raises InputError before anything is written, and RunFailed if a step fails.

        carried = ssdlab.protocol("trim-effect", ssdlab.drive("generic-tlc-480", scale="1/256"), quick=True)
        carried.conclusion, carried.frame()
    """
    chosen = registry.protocol(name)
    if (drive is None) == (on is None):
        raise InputError("give --on PATH or --drive NAME, not both")
    if drive is not None:
        resolved = drive if isinstance(drive, ResolvedDrive) else resolve(load(str(drive)))
        return on_drive(chosen, resolved, quick=quick, seed=seed, workers=workers, show_progress=show_progress)
    check_platform()
    permission = Permission(destroy_data_on, discard_signatures, _bytes(max_write), keep)
    target = Target(Path(str(on)), _bytes(size), permission, None if smart is None else Path(smart))
    folder = Path(output) if output else Path("out") / f"measure-{name}"
    return on_path(chosen, target, folder, quick=quick, seed=seed, resume=resume, show_progress=show_progress)


def on_drive(
    protocol: Protocol,
    drive: ResolvedDrive,
    *,
    quick: bool,
    seed: int,
    workers: int | None = None,
    show_progress: ShowProgress = silent,
) -> Carried:
    """Carries out the protocol on a simulated drive."""
    labels = [
        point.label or protocol.name
        for point in protocol.points(Setting(drive.capacity.user_bytes, quick, drive.scale))
    ]
    with show_progress(labels) as tell:
        steps = simulated.run(protocol, drive, quick=quick, seed=seed, workers=workers, tell=tell)
    return Carried(
        protocol,
        steps,
        {"kind": "simulated", "drive": drive.specification(), "scale": str(drive.scale)},
        quick,
        seed,
    )


def on_path(
    protocol: Protocol,
    target: Target,
    folder: Path,
    *,
    quick: bool,
    seed: int,
    resume: bool = False,
    show_progress: ShowProgress = silent,
    extra: Callable[[Sequence[Figures]], Extra] | None = None,
    ended_early: Callable[[Sequence[Figures], str], object] = lambda steps, failure: None,
) -> Carried:
    """Carries out the protocol on a device or a file in a folder, and keeps the completed steps in `folder`.

    `extra` makes what is added to the files. If a step fails, or on Ctrl-C, `result.json` gets the completed steps,
    `ended_early` is called with them and the reason, and the error is raised again, with where they are.
    """
    from ssdlab.experiments.protocols import device

    with opened(protocol, target) as place:
        points = protocol.points(Setting(place.size_bytes, quick))
        if any(point.is_script for point in points):
            isolate_mounts()
        identity = {
            "protocol": protocol.name, "path": str(target.path), "size_bytes": place.size_bytes, "quick": quick,
            "seed": seed,
        }  # fmt: skip
        store = Store(folder, identity, resume=resume)
        source = health.of(place.claim.place, target.smart)
        end: RunFailed | KeyboardInterrupt | None = None
        with show_progress([point.label or protocol.name for point in points]) as tell:
            try:
                steps = device.run_protocol(protocol, place, source, store, quick=quick, seed=seed, tell=tell)
            except (RunFailed, KeyboardInterrupt) as ended:
                steps, end = [each for index in range(len(points)) for each in store.finished(index)], ended
        found = {
            "kind": "device", "path": str(place.path), "what": place.what, "size_bytes": place.size_bytes,
            "disk": place.claim.place.disk, "model": place.claim.place.model, "smart": source.source,
            "serial": next(iter(place.claim.place.identities), None),
        }  # fmt: skip
    if end is None:
        return Carried(protocol, steps, found, quick, seed, extra(steps) if extra else Extra())
    if not steps:
        raise end
    count = sum(len(point.steps) for point in points)
    failure = f"{len(steps)} of {count} steps are complete: {str(end) or 'the run was interrupted'}"
    files.write_incomplete(
        protocol,
        steps,
        found,
        folder,
        quick=quick,
        seed=seed,
        failure=failure,
        interrupted=isinstance(end, KeyboardInterrupt),
    )
    with contextlib.suppress(OSError):
        # Printing to a closed terminal fails.
        ended_early(steps, failure)
    raise type(end)(f"{failure}; they are in {folder}, and --resume continues after them") from None


def opened(protocol: Protocol, target: Target) -> contextlib.AbstractContextManager[Place]:
    """The claimed place for the protocol. Raises InputError for a file without a size."""
    if target.size_bytes is None and not is_device(target.path):
        raise InputError(
            f"{protocol.name} uses all available space; give --size, such as 4GiB, for the file in {target.path}"
        )
    return claimed(target.path, target.size_bytes, target.permission)


def _bytes(size: int | str | None) -> int | None:
    return parse_bytes_with_unit(size) if isinstance(size, str) else size
