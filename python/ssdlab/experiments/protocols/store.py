"""Stores finished steps of a protocol on disk, so that an interrupted run can be resumed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.simulator.results.files import write_text

FOLDER = "steps"


class Store:
    """A folder with one file per step. With `folder=None` nothing is stored."""

    def __init__(self, folder: Path | None, identity: Mapping[str, Any], *, resume: bool = False) -> None:
        """`identity` describes the measurement. Without `resume`, stored steps are deleted. With `resume`, raises
        InputError if the folder has no steps or those of another measurement."""
        self._folder = folder / FOLDER if folder else None
        if self._folder is None:
            return
        known = self._folder / "of.json"
        if not resume:
            if known.exists():
                for file in self._folder.glob("*.json"):
                    file.unlink()
        elif not known.exists():
            raise InputError(f"--resume: {folder} contains no steps of an earlier run")
        elif json.loads(known.read_text(encoding="utf-8")) != dict(identity):
            raise InputError(
                f"--resume: {folder} contains the steps of another run: {known.read_text(encoding='utf-8')}"
            )
        write_text(known, json.dumps(dict(identity)))

    def finished(self, point: int) -> list[Figures]:
        """The finished steps of a point, from the first up to the first missing one."""
        found: list[Figures] = []
        while self._folder and (file := self._file(point, len(found))).exists():
            found.append(Figures.from_dict(json.loads(file.read_text(encoding="utf-8"))))
        return found

    def keep(self, point: int, step: int, figures: Figures) -> None:
        if self._folder:
            write_text(self._file(point, step), json.dumps(figures.to_dict(), indent=2) + "\n")

    def _file(self, point: int, step: int) -> Path:
        assert self._folder is not None
        return self._folder / f"point-{point:02}-step-{step:02}.json"
