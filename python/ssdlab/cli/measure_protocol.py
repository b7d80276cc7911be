"""`ssdlab measure --protocol`: lists the standard experiments, or runs one on a real or simulated drive."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ssdlab.cli.console import Console
from ssdlab.cli.progress import shown
from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.protocols import output as files
from ssdlab.experiments.protocols import registry, simulated
from ssdlab.experiments.protocols.contract import Setting
from ssdlab.experiments.protocols.estimate import Estimate, of_point
from ssdlab.experiments.protocols.page import Extra
from ssdlab.experiments.protocols.store import Store
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.device import health
from ssdlab.hardware.device.place import claimed, is_device
from ssdlab.hardware.device.plan import RATE_MB_S
from ssdlab.hardware.device.volume import isolate_mounts
from ssdlab.simulator.results.files import check_writable

if TYPE_CHECKING:
    from ssdlab.experiments.protocols.contract import Protocol
    from ssdlab.experiments.protocols.figures import Figures
    from ssdlab.hardware.device.place import Permission
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.runs import Progress


def print_list() -> None:
    """Prints all protocols with their titles and what `--quick` omits."""
    for protocol in registry.protocols():
        needs = " (needs a device)" if protocol.needs_device else ""
        typer.echo(f"{protocol.name}: {protocol.title}{needs}\n    --quick omits {protocol.quick_gives_up}")


_COUNTED = ("written_bytes", "read_bytes")


@dataclass(frozen=True)
class Target:
    """The part of a real drive that is measured."""

    path: Path
    size_bytes: int | None
    """The size of the file to create in a folder; None for a device."""
    permission: Permission
    smart: Path | None
    """A file to read SMART data from, instead of the drive."""


@dataclass(frozen=True)
class How:
    """How a protocol is run, and where its files are written."""

    output: Path
    command_line: str
    quick: bool
    seed: int
    resume: bool = False
    dry_run: bool = False


def on_drive(name: str, drive: ResolvedDrive, how: How) -> None:
    """Runs the protocol on a simulated drive, prints the figures and writes the files."""
    protocol = registry.protocol(name)
    check_writable(how.output)
    labels = [point.label or name for point in protocol.points(Setting(drive.capacity.user_bytes, how.quick))]
    with _shown(labels) as tell:
        figures = simulated.run(protocol, drive, quick=how.quick, seed=how.seed, tell=tell)
    target = {"kind": "simulated", "drive": drive.specification(), "scale": str(drive.scale)}
    _report(protocol, figures, target, how)


def on_path(
    protocol: Protocol, target: Target, how: How, extra: Callable[[list[Figures]], Extra] | None = None
) -> list[Figures] | None:
    """Runs the protocol on a device or a file in a folder. Returns the figures, or None for a dry run. `extra` returns
    additional output for the files."""
    from ssdlab.experiments.protocols import device

    name, path, size_bytes = protocol.name, target.path, target.size_bytes
    quick, seed = how.quick, how.seed
    if size_bytes is None and not is_device(path):
        raise InputError(f"{name} uses all available space; give --size, such as 4GiB, for the file in {path}")
    check_writable(how.output)
    with claimed(path, size_bytes, target.permission) as place:
        points = protocol.points(Setting(place.size_bytes, quick))
        if any(point.is_script for point in points):
            isolate_mounts()
        if how.dry_run:
            _print_plan(protocol, place.size_bytes, quick=quick, seed=seed)
            return None
        identity = {"protocol": name, "path": str(path), "size_bytes": place.size_bytes, "quick": quick, "seed": seed}
        store = Store(how.output, identity, resume=how.resume)
        source = health.of(place.claim.place, target.smart)
        with _shown([point.label or name for point in points]) as tell:
            end: RunFailed | KeyboardInterrupt | None = None
            try:
                figures = device.run_protocol(protocol, place, source, store, quick=quick, seed=seed, tell=tell)
            except (RunFailed, KeyboardInterrupt) as ended:
                figures, end = [each for index in range(len(points)) for each in store.finished(index)], ended
        found = {
            "kind": "device", "path": str(place.path), "what": place.what, "size_bytes": place.size_bytes,
            "disk": place.claim.place.disk, "model": place.claim.place.model, "smart": source.source,
        }  # fmt: skip
    if end is not None:
        steps = sum(len(point.steps) for point in points)
        _end_early(end, protocol, figures, found, how, steps)
    _report(protocol, figures, found, how, extra(figures) if extra else None)
    return figures


def _end_early(
    end: RunFailed | KeyboardInterrupt,
    protocol: Protocol,
    figures: list[Figures],
    target: Mapping[str, Any],
    how: How,
    steps: int,
) -> NoReturn:
    """Writes the completed steps to `result.json`, marked as incomplete, and raises `end` with a new message. Raises
    `end` itself if no step is complete."""
    if not figures:
        raise end
    failure = f"{len(figures)} of {steps} steps are complete: {str(end) or 'the run was interrupted'}"
    interrupted = isinstance(end, KeyboardInterrupt)
    files.write_incomplete(
        protocol,
        figures,
        target,
        how.output,
        quick=how.quick,
        seed=how.seed,
        failure=failure,
        interrupted=interrupted,
    )
    with contextlib.suppress(OSError):
        # Printing to a closed terminal fails.
        typer.echo(f"{protocol.name}: {protocol.title}")
        files.print_table(protocol, figures, Console())
        typer.echo(f"INCOMPLETE: {failure}")
    raise type(end)(f"{failure}; they are in {how.output}, and --resume continues after them") from None


def _shown(labels: list[str]) -> AbstractContextManager[Progress | None]:
    return shown(labels)


def _report(
    protocol: Protocol,
    figures: list[Figures],
    target: Mapping[str, Any],
    how: How,
    extra: Extra | None = None,
) -> None:
    typer.echo(f"{protocol.name}: {protocol.title}")
    if how.quick:
        typer.echo(f"quick: omits {protocol.quick_gives_up}")
    files.print_table(protocol, figures, Console())
    if found := protocol.conclude(figures):
        typer.echo(f"\n{found}.")
    names = files.write(
        protocol,
        figures,
        target,
        how.output,
        quick=how.quick,
        seed=how.seed,
        extra=extra or Extra(),
        command_line=how.command_line,
    )
    typer.echo(f"\nreport: {how.output / names[-1]}\nfiles:  {len(names)} in {how.output}")


def _print_plan(protocol: Protocol, size_bytes: int, *, quick: bool, seed: int) -> None:
    whole: list[Estimate] = []
    for point in protocol.points(Setting(size_bytes, quick)):
        typer.echo(f"# {point.label or protocol.name}: the whole target is trimmed first")
        for step, estimate in zip(point.steps, of_point(point, size_bytes, seed=seed), strict=True):
            whole.append(estimate)
            waits = f"waits {estimate.idle_seconds / 60:.3g} min, " if estimate.idle_seconds else ""
            does = [
                f"{verb} {format_bytes(int(count))}"
                for verb, count in (("writes", estimate.written_bytes), ("reads", estimate.read_bytes))
                if count
            ]
            rounds = " or more, until steady" if step.end == "steady" else ""
            typer.echo(f"# {step.name}: {waits}{', '.join(does) or 'writes nothing'}{rounds}")
            for line in step.text.splitlines():
                typer.echo(f"    {line}")
    written, read = (format_bytes(int(sum(getattr(each, name) for each in whole))) for name in _COUNTED)
    minutes, idle = sum(each.seconds for each in whole) / 60, sum(each.idle_seconds for each in whole) / 60
    waiting = f", {idle:.3g} min of it waiting" if idle else ""
    typer.echo(
        f"# total: {written} written or more, {read} read, about {minutes:.0f} min at {RATE_MB_S:g} MB/s{waiting}"
    )
