"""`ssdlab measure --protocol`: the standard experiments, listed, or carried out on a real or a simulated drive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from ssdlab.drives import ResolvedDrive
    from ssdlab.protocols.contract import Protocol
    from ssdlab.protocols.figures import Figures
    from ssdlab.protocols.page import Beside
    from ssdlab.runs import Progress
    from ssdlab.targets.device.place import Permission


def print_list() -> None:
    """All protocols with what they ask and what `--quick` gives up."""
    from ssdlab.protocols import registry

    for protocol in registry.protocols():
        needs = " (needs a device)" if protocol.needs_device else ""
        typer.echo(f"{protocol.name}: {protocol.title}{needs}\n    --quick gives up {protocol.quick_gives_up}")


def on_drive(name: str, drive: ResolvedDrive, *, quick: bool, seed: int, output: Path, command_line: str) -> None:
    """On a simulated drive."""
    from ssdlab.protocols import registry, simulated
    from ssdlab.protocols.contract import Setting
    from ssdlab.results.files import check_writable

    protocol = registry.protocol(name)
    check_writable(output)
    labels = [point.label or name for point in protocol.points(Setting(drive.capacity.user_bytes, quick))]
    with _shown(labels) as tell:
        figures = simulated.run(protocol, drive, quick=quick, seed=seed, tell=tell)
    target = {"kind": "simulated", "drive": drive.specification(), "scale": str(drive.scale)}
    _report(protocol, figures, target, output, quick=quick, seed=seed, command_line=command_line)


def on_path(
    protocol: Protocol,
    path: Path,
    permission: Permission,
    *,
    size_bytes: int | None,
    smart: Path | None,
    quick: bool,
    seed: int,
    dry_run: bool,
    resume: bool,
    output: Path,
    command_line: str,
    beside: Callable[[list[Figures]], Beside] | None = None,
) -> list[Figures] | None:
    """On a device, or a file in a folder. Gives the figures, unless it is a dry run; `beside` joins the files."""
    from ssdlab.errors import InputError
    from ssdlab.protocols import device
    from ssdlab.protocols.contract import Setting
    from ssdlab.protocols.store import Store
    from ssdlab.results.files import check_writable
    from ssdlab.targets.device import health
    from ssdlab.targets.device.place import claimed, is_device
    from ssdlab.targets.device.volume import isolate_mounts

    name = protocol.name
    if size_bytes is None and not is_device(path):
        raise InputError(f"{name} works on as much as there is; give --size, such as 4GiB, of the file in {path}")
    check_writable(output)
    with claimed(path, size_bytes, permission) as place:
        points = protocol.points(Setting(place.size_bytes, quick))
        if any(point.is_script for point in points):
            isolate_mounts()
        if dry_run:
            _print_plan(protocol, place.size_bytes, quick=quick, seed=seed)
            return None
        identity = {"protocol": name, "path": str(path), "size_bytes": place.size_bytes, "quick": quick, "seed": seed}
        store = Store(output, identity, resume=resume)
        source = health.of(place.claim.place, smart)
        with _shown([point.label or name for point in points]) as tell:
            try:
                figures = device.run_protocol(protocol, place, source, store, quick=quick, seed=seed, tell=tell)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"finished steps are in {output}; --resume goes on after them") from None
        target = {
            "kind": "device", "path": str(place.path), "what": place.what, "size_bytes": place.size_bytes,
            "disk": place.claim.place.disk, "model": place.claim.place.model, "smart": source.source,
        }  # fmt: skip
    joined = beside(figures) if beside else None
    _report(protocol, figures, target, output, quick=quick, seed=seed, command_line=command_line, beside=joined)
    return figures


def _shown(labels: list[str]) -> AbstractContextManager[Progress | None]:
    from ssdlab.cli.progress import shown

    return shown(labels)


def _report(
    protocol: Protocol,
    figures: list[Figures],
    target: Mapping[str, Any],
    output: Path,
    *,
    quick: bool,
    seed: int,
    command_line: str,
    beside: Beside | None = None,
) -> None:
    from rich.console import Console

    from ssdlab.protocols import output as files
    from ssdlab.protocols.page import Beside

    typer.echo(f"{protocol.name}: {protocol.title}")
    if quick:
        typer.echo(f"quick: gives up {protocol.quick_gives_up}")
    files.print_table(protocol, figures, Console())
    names = files.write(
        protocol, figures, target, output, quick=quick, seed=seed, beside=beside or Beside(), command_line=command_line
    )
    typer.echo(f"\nreport: {output / names[-1]}\nfiles:  {len(names)} in {output}")


def _print_plan(protocol: Protocol, size_bytes: int, *, quick: bool, seed: int) -> None:
    from ssdlab.protocols.contract import Setting
    from ssdlab.protocols.steps import Engine
    from ssdlab.quantities import format_bytes
    from ssdlab.targets.device.plan import RATE_MB_S, write_share

    whole = 0.0
    for point in protocol.points(Setting(size_bytes, quick)):
        workload = Engine(point, len(point.steps), {})
        jobs = workload.resolve(size_bytes, seed=seed)
        typer.echo(f"# {point.label or protocol.name}: all of it is trimmed first")
        for number, step in enumerate(point.steps):
            own = [job for job in jobs if workload.step_of_stage[job["stage"]] == number]
            written = sum(job["io_bytes"] * write_share(job) for job in own)
            if any(job.get("time_based") for job in own):
                written = sum(job["runtime_ns"] / 1e9 * RATE_MB_S * 1e6 * write_share(job) for job in own)
            rounds = ""
            if step.end == "steady":
                written, rounds = 5.0 * size_bytes, " or more, until it is steady"
            whole += written
            typer.echo(f"# {step.name}: writes {format_bytes(int(written))}{rounds}")
            for line in step.text.splitlines():
                typer.echo(f"    {line}")
    minutes = whole / RATE_MB_S / 6e7
    typer.echo(f"# in all: {format_bytes(int(whole))} written or more, about {minutes:.0f} min at {RATE_MB_S:g} MB/s")
