"""Drives fitted to two queue depths of a ladder, for `ssdlab fit --queue-depths`: their text, their files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ssdlab.cli.console import Console
from ssdlab.cli.progress import shown
from ssdlab.simulator.drives import load
from ssdlab.simulator.drives.writer import to_toml
from ssdlab.simulator.results.files import staged

if TYPE_CHECKING:
    from ssdlab.experiments.studies.queue_depths.predicting import Predicted


def predicted(path: Path, drive: str | None, *, seed: int, workers: int | None) -> Predicted:
    """Each ladder of the file, fitted and simulated, with progress on stderr. Raises InputError for a wrong file."""
    # The help answers without what simulates.
    from ssdlab.experiments.studies.context import Context
    from ssdlab.experiments.studies.queue_depths import fitting, ladders, predicting

    base = load(drive or str(fitting.BASE))
    return predicting.predict(Context(seed=seed, workers=workers, show_progress=shown), ladders.load(path), base)


def print_predicted(found: Predicted) -> None:
    """Prints each depth, and the medians."""
    # The help answers without what simulates.
    from ssdlab.experiments.studies.table import print_rows

    print_rows(found.rows, Console())
    typer.echo(f"\n{found.finding}")


def write(found: Predicted, folder: Path) -> list[str]:
    """Writes result.json and a drive file for each ladder, all or none, and returns their names."""
    drives = {f"fitted-{index}.toml": each.drive for index, each in enumerate(found.fits.values(), 1)}
    with staged(folder) as place:
        (place / "result.json").write_text(json.dumps(found.to_dict(), indent=2) + "\n", encoding="utf-8")
        for name, drive in drives.items():
            (place / name).write_text(to_toml(drive), encoding="utf-8")
    return ["result.json", *drives]
