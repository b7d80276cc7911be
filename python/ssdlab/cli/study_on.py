"""`ssdlab study NAME --on PATH`: a published experiment on a real drive, with published and measured figures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ssdlab.cli import measure_protocol, options
from ssdlab.cli.console import Console
from ssdlab.experiments.protocols.carrying_out import Target
from ssdlab.experiments.studies import wording
from ssdlab.experiments.studies.internal_fragmentation import readers
from ssdlab.experiments.studies.internal_fragmentation.reading import FILE_BYTES
from ssdlab.experiments.studies.measured import extra
from ssdlab.experiments.studies.real import real
from ssdlab.hardware.safety.identity import firmware_of
from ssdlab.presentation.terminal import show
from ssdlab.simulator.results.files import check_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.experiments.protocols.figures import Figures
    from ssdlab.experiments.studies.contract import Row, Study


@dataclass(frozen=True)
class RealDrive(options.RealDrive):
    """Options for a real drive instead of simulated ones."""

    max_write: Annotated[
        int | None,
        typer.Option("--max-write", metavar="SIZE", help="With --on: maximum amount to write."),
        options.SIZE,
    ] = None
    smart: Annotated[
        Path | None, typer.Option("--smart", metavar="FILE", help="With --on: read SMART data from FILE.")
    ] = None
    on: Annotated[
        Path | None,
        typer.Option("--on", metavar="PATH", help="On a real drive: a folder, the name of a new file, or a device."),
        options.PLACE,
    ] = None
    size: Annotated[
        int | None, typer.Option(metavar="SIZE", help="With --on a folder: size of the file."), options.SIZE
    ] = None
    quick: Annotated[bool, typer.Option("--quick", help="With --on: a shorter run; reports what it omits.")] = False
    resume: Annotated[bool, typer.Option("--resume", help="With --on: resume after the last completed step.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --on: print what would be written.")] = False


def run(study: Study, target: Target, how: measure_protocol.How, contribute: Path | None = None) -> None:
    """Runs the steps, prints steps and rows, and writes `result.json`, pictures and the page.

    `contribute` is a file for the readings, of internal-fragmentation only.
    """
    if contribute is not None:
        check_writable(contribute.parent)
    found = real(study)
    carried = measure_protocol.on_path(
        found.protocol, target, how, lambda steps: extra(study, found.rows(steps)), command="study"
    )
    if carried is not None and not how.form.is_data:
        typer.echo("")
        _print_rows(found.rows(carried.steps), Console())
        if contribute is not None:
            _contribute(carried.steps, how, contribute)


def _contribute(figures: Sequence[Figures], how: measure_protocol.How, path: Path) -> None:
    """Writes the readings with the drive's name, which is all that the file says of where they come from."""
    measured = json.loads((how.output / "result.json").read_text(encoding="utf-8"))["ssdlab"]["target"]
    disk = measured["disk"]
    drive = (measured["model"] or "unknown").strip()
    firmware = (firmware_of(disk) if disk else None) or ""
    found = readers.contribution(figures, drive, firmware, min(measured["size_bytes"], FILE_BYTES))
    path.write_text(readers.text(found), encoding="utf-8")
    typer.echo(f"\nreadings: {path}")


def _print_rows(rows: Sequence[Row], console: object) -> None:
    assert isinstance(console, Console)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("", "published", "measured", "note"):
        table.add_column(heading, justify="right" if heading in ("published", "measured") else "left")
    for row in rows:
        what = f"{row.what}, {row.unit}" if row.unit else row.what
        table.add_row(what, wording.published(row), wording.simulated(row), row.note)
    show(table, console, ("note",))
