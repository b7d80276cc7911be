"""`ssdlab study NAME --on PATH`: a published experiment on a real drive, published figures next to those measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from ssdlab.cli import measure_protocol, options
from ssdlab.studies import wording
from ssdlab.studies.measured import extra
from ssdlab.studies.real import real
from ssdlab.targets.device.place import Permission
from ssdlab.terminal import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.studies.contract import Row, Study


def run(
    study: Study,
    path: Path,
    *,
    size: str | None,
    serial: str | None,
    discard_signatures: bool,
    max_write: str | None,
    smart: str | None,
    quick: bool,
    resume: bool,
    dry_run: bool,
    seed: int,
    output: Path,
    command_line: str,
) -> None:
    """Carries the steps out, prints rows and steps, writes `result.json`, pictures and the page."""
    found = real(study)
    permission = Permission(serial, discard_signatures, options.bytes_of("--max-write", max_write))
    figures = measure_protocol.on_path(
        found.protocol,
        path,
        permission,
        size_bytes=options.bytes_of("--size", size),
        smart=Path(smart) if smart else None,
        quick=quick,
        seed=seed,
        dry_run=dry_run,
        resume=resume,
        output=output,
        command_line=command_line,
        extra=lambda figures: extra(study, found.rows(figures)),
    )
    if figures is not None:
        typer.echo("")
        _print_rows(found.rows(figures), Console())


def _print_rows(rows: Sequence[Row], console: object) -> None:
    assert isinstance(console, Console)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("", "published", "measured", "note"):
        table.add_column(heading, justify="right" if heading in ("published", "measured") else "left")
    for row in rows:
        what = f"{row.what}, {row.unit}" if row.unit else row.what
        table.add_row(what, wording.published(row), wording.simulated(row), row.note)
    show(table, console, ("note",))
