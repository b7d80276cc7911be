"""The outcomes of finished experiments on disk, each written whole, so that an interrupted identification goes on."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError
from ssdlab.identification.evidence import Outcome
from ssdlab.results.files import remove_unfinished, write_text

FOLDER, SCRATCH = "experiments", "scratch"


class Store:
    """A folder with a file for each experiment."""

    def __init__(self, folder: Path, identity: Mapping[str, Any], *, resume: bool = False) -> None:
        """`identity` says what is identified, and how. InputError when the folder holds another identification."""
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
        """For files of a job at work. A killed run leaves them there, and the next one takes them away."""
        return self.folder / SCRATCH

    def remove_scratch(self) -> None:
        """At the end of a run."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def finished(self, name: str) -> Outcome | None:
        """What is kept of an experiment; None where it is not finished."""
        file = self._file(name)
        return Outcome.from_dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None

    def keep(self, name: str, outcome: Outcome) -> None:
        write_text(self._file(name), json.dumps(asdict(outcome)) + "\n")

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.json"
