"""Stores the outcomes of finished experiments on disk, each atomically, so that an interrupted run can be resumed."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError
from ssdlab.hardware.identification.evidence import Outcome
from ssdlab.simulator.results.files import remove_unfinished, write_text

FOLDER, SCRATCH = "experiments", "scratch"


class Store:
    """A folder with one file per experiment."""

    def __init__(self, folder: Path, identity: Mapping[str, Any], *, resume: bool = False) -> None:
        """Opens the folder: empties it, or with `resume` keeps the outcomes in it.

        `identity` describes the target and the settings. Raises InputError if `resume` is set and the folder holds no
        experiments, or those of another identity.
        """
        self.folder = folder / FOLDER
        known = self.folder / "of.json"
        if not resume:
            for file in [*self.folder.glob("*.json"), *self.folder.glob("*.state"), *self.folder.glob("*.counters")]:
                file.unlink()
        elif not known.exists():
            raise InputError(f"--resume: {folder} contains no experiments of an earlier run")
        elif json.loads(known.read_text(encoding="utf-8")) != dict(identity):
            raise InputError(f"--resume: {folder} contains another run: {known.read_text(encoding='utf-8')}")
        write_text(known, json.dumps(dict(identity)))
        self.remove_scratch()
        for place in (folder, self.folder):
            remove_unfinished(place)
        self.scratch.mkdir()

    @property
    def scratch(self) -> Path:
        """Folder for temporary files of a running job. Files that a killed run leaves here are removed by the next
        run."""
        return self.folder / SCRATCH

    def remove_scratch(self) -> None:
        """Removes the temporary files; called at the end of a run."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def finished(self, name: str) -> Outcome | None:
        """The stored outcome of an experiment, or None if it has not finished."""
        file = self._file(name)
        return Outcome.from_dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None

    def keep(self, name: str, outcome: Outcome) -> None:
        write_text(self._file(name), json.dumps(asdict(outcome)) + "\n")

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.json"
