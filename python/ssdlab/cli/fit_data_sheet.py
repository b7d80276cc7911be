"""A drive fitted to its data sheet, for `ssdlab fit --data-sheet` and `ssdlab drives new --data-sheet`: its text, its
files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from ssdlab.cli.console import Console
from ssdlab.cli.progress import shown
from ssdlab.foundation.quantities import format_share
from ssdlab.presentation.terminal import show
from ssdlab.simulator.drives.standing import TOLERANCE
from ssdlab.simulator.drives.writer import to_toml
from ssdlab.simulator.results.files import staged, write_text

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.experiments.studies.data_sheets.fitting import SheetFit
    from ssdlab.simulator.drives import DriveFile


def fitted(drive: DriveFile, *, seed: int = 1, workers: int | None = None) -> SheetFit:
    """The fit, with its progress on stderr. Raises InputError if the data sheet gives nothing to fit."""
    # The help and the list of drives answer without what simulates.
    from ssdlab.experiments.studies.data_sheets.fitting import fit

    return fit(drive, seed=seed, workers=workers, show_progress=shown)


def print_fit(found: SheetFit) -> None:
    """Prints the values that were set, every row, and what is off."""
    # The help and the list of drives answer without what simulates.
    from ssdlab.experiments.studies.table import print_rows

    console = Console()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("key", "value", "", "for the row"):
        table.add_column(heading, justify="right" if heading == "value" else "left", overflow="fold")
    for each in found.values():
        table.add_row(each["key"], _text(each["value"]), each["kind"], each["why"])
    show(table, console)
    console.print()
    print_rows(found.rows, console)
    for line in [found.finding, *notices(found)]:
        typer.echo(f"\n{line}")


def notices(found: SheetFit) -> list[str]:
    """Sentences on what the fit says, and on what it does not reach."""
    count = found.parameters
    predicted = len(found.rows) - sum(row.fitted is not None for row in found.rows)
    lines = [
        f"{count} value{'s' if count > 1 else ''} fitted to {count} row{'s' if count > 1 else ''}: that these agree is"
        f" no evidence; {predicted} row{'s are' if predicted != 1 else ' is'} predicted."
    ]
    lines += [
        f"{key} ended at a bound {bound}, and does not meet its row: {found.fitted[key]}."
        for key, bound in found.at_bound.items()
    ]
    off = [row for row in found.rows if row.deviation is not None and abs(row.deviation) > TOLERANCE]
    if off:
        lines.append(
            f"Speeds are not those of the product: off by more than {format_share(TOLERANCE)} are"
            f" {'; '.join(row.what for row in off)}."
        )
    return lines


def write(found: SheetFit, folder: Path) -> list[str]:
    """Writes fitted.toml and result.json, both or none, and returns their names."""
    with staged(folder) as place:
        (place / "fitted.toml").write_text(to_toml(found.drive), encoding="utf-8")
        (place / "result.json").write_text(json.dumps(found.to_dict(), indent=2) + "\n", encoding="utf-8")
    return ["fitted.toml", "result.json"]


def write_drive(found: SheetFit, path: Path) -> None:
    """Writes the drive file alone."""
    write_text(path, to_toml(found.drive))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
