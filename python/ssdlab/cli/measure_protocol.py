"""`ssdlab measure --protocol`: lists the standard experiments, or runs one on a real or simulated drive."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import Form, Rows
from ssdlab.cli.progress import shown
from ssdlab.experiments.protocols import carrying_out, registry
from ssdlab.experiments.protocols import output as files
from ssdlab.experiments.protocols.carrying_out import Target
from ssdlab.experiments.protocols.contract import Setting
from ssdlab.experiments.protocols.estimate import Estimate, of_point
from ssdlab.experiments.protocols.kept import kept
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.device.plan import RATE_MB_S
from ssdlab.presentation.terminal import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.experiments.protocols.carrying_out import Carried
    from ssdlab.experiments.protocols.contract import Protocol
    from ssdlab.experiments.protocols.figures import Figures
    from ssdlab.experiments.protocols.page import Extra
    from ssdlab.simulator.drives import ResolvedDrive

COMMAND = "measure"
"""The command that a report says that it is of."""


def print_list(form: Form) -> None:
    """Prints all protocols with their titles and what `--quick` omits."""
    rows = [
        {
            "name": each.name,
            "title": each.title,
            "needs_device": each.needs_device,
            "quick_omits": each.quick_gives_up,
            "source": each.source,
        }
        for each in registry.protocols()
    ]
    form.give(Rows(rows), _print_list)


def _print_list() -> None:
    for protocol in registry.protocols():
        needs = " (needs a device)" if protocol.needs_device else ""
        typer.echo(wrapped(f"{protocol.name}: {protocol.title}{needs}"))
        typer.echo(wrapped(f"    --quick omits {protocol.quick_gives_up}"))


_COUNTED = ("written_bytes", "read_bytes")


@dataclass(frozen=True)
class How:
    """How a protocol is run, and where its files are written."""

    output: Path
    command_line: str
    quick: bool
    seed: int
    workers: int | None = None
    resume: bool = False
    dry_run: bool = False
    form: Form = field(default_factory=Form)
    beside: Sequence[Path] = ()
    """Earlier results of the protocol, which the report shows too."""


def on_drive(name: str, drive: ResolvedDrive, how: How) -> None:
    """Runs the protocol on a simulated drive, prints the figures and writes the files."""
    protocol = registry.protocol(name)
    check_folder(how.output, COMMAND)
    _check_beside(protocol, how)
    carried = carrying_out.on_drive(
        protocol, drive, quick=how.quick, seed=how.seed, workers=how.workers, show_progress=shown
    )
    _report(carried, how)


def on_path(
    protocol: Protocol,
    target: Target,
    how: How,
    extra: Callable[[Sequence[Figures]], Extra] | None = None,
    *,
    command: str = COMMAND,
) -> Carried | None:
    """Runs the protocol on a device or a file in a folder. Returns the figures, or None for a dry run. `extra` returns
    additional output for the files."""
    if how.dry_run:
        with carrying_out.opened(protocol, target) as place:
            _print_plan(protocol, place.size_bytes, quick=how.quick, seed=how.seed)
        return None
    check_folder(how.output, command)
    _check_beside(protocol, how)

    def ended_early(steps: Sequence[Figures], failure: str) -> None:
        how.form.say(f"{protocol.name}: {protocol.title}")
        if not how.form.is_data:
            files.print_table(protocol, steps, Console())
        how.form.say(f"INCOMPLETE: {failure}")

    carried = carrying_out.on_path(
        protocol,
        target,
        how.output,
        quick=how.quick,
        seed=how.seed,
        resume=how.resume,
        show_progress=shown,
        extra=extra,
        ended_early=ended_early,
    )
    _report(carried, how)
    return carried


def _check_beside(protocol: Protocol, how: How) -> None:
    """Raises InputError for a file of --with that cannot be shown: before hours of measuring."""
    for path in how.beside:
        kept(path, protocol, quick=how.quick)


def _report(carried: Carried, how: How) -> None:
    carried = carried.laid_beside(*how.beside)
    how.form.give(carried, lambda: _print(carried))
    names = carried.write(how.output, command_line=how.command_line)
    how.form.say_files(how.output, names)


def _print(carried: Carried) -> None:
    protocol = carried.protocol
    typer.echo(wrapped(f"{protocol.name}: {protocol.title}"))
    if carried.quick:
        typer.echo(wrapped(f"quick: omits {protocol.quick_gives_up}"))
    files.print_table(protocol, carried.steps, Console())
    for said in (carried.conclusion and f"{carried.conclusion}.", *files.limits_of(carried.steps, carried.target)):
        if said:
            typer.echo(f"\n{wrapped(said)}")


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
