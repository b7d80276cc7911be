"""Readings of readers' drives: a small TOML file that a run on a drive writes, and that the study draws.

It names the drive and its firmware, and nothing of the machine or its owner.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ssdlab.errors import InputError
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.experiments.studies.contract import Row
from ssdlab.experiments.studies.internal_fragmentation.drives import CELLS, STEPS
from ssdlab.experiments.studies.internal_fragmentation.reading import FILE_BYTES, READINGS
from ssdlab.experiments.studies.real import step

FORMAT = "ssdlab internal-fragmentation 1"
LATER = {"after_an_hour": "read-after-an-hour", "after_remedy": "read-after-remedy"}
"""Readings that are taken once, with the names of their steps. A quick run has no waits, and not the first of them."""
KEYS = (*CELLS, *LATER)


class Contribution(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one drive did."""

    format: str
    drive: str
    firmware: str
    file_bytes: int
    seconds: Mapping[str, list[float]]
    """Of each reading, by cell of `KEYS`."""

    def of_whole_file(self, cell: str) -> float:
        """The mean of the readings in seconds, for a file of the article's size."""
        taken = self.seconds[cell]
        return sum(taken) / len(taken) * FILE_BYTES / self.file_bytes

    @property
    def slowdowns(self) -> list[float]:
        """The time after each rewriting over that of the fresh file, by cell of `CELLS`."""
        return [self.of_whole_file(cell) / self.of_whole_file(CELLS[0]) for cell in CELLS]

    @property
    def label(self) -> str:
        return f"{self.drive}, {self.firmware}" if self.firmware else self.drive


def contribution(figures: Sequence[Figures], drive: str, firmware: str, file_bytes: int) -> Contribution:
    """The readings of a run on a drive. Raises InputError if the time of one is not known."""
    steps = {
        cell: [f"read-{amount or 'fresh'}-{number}" for number in range(1, READINGS + 1)]
        for cell, amount in zip(CELLS, STEPS, strict=True)
    } | {cell: [name] for cell, name in LATER.items() if any(each.step == name for each in figures)}
    seconds = {}
    for cell, names in steps.items():
        taken = [step(figures, name).seconds for name in names]
        if not all(taken):
            raise InputError(f"--contribute: the time of {cell} is not known; only a complete run can be contributed")
        seconds[cell] = [round(each, 4) for each in taken if each is not None]
    return Contribution(FORMAT, drive, firmware, file_bytes, seconds)


def text(found: Contribution) -> str:
    """The file: TOML."""
    # A string of JSON is one of TOML too.
    lines = [
        "# Seconds for reading a file in order: fresh, after random rewrites, an hour later, rewritten in order.",
        *(f"{key} = {json.dumps(getattr(found, key))}" for key in ("format", "drive", "firmware")),
        f"file_bytes = {found.file_bytes}",
        "",
        "[seconds]",
        *(f"{cell} = {json.dumps(taken)}" for cell, taken in found.seconds.items()),
    ]
    return "\n".join(lines) + "\n"


def load(path: Path) -> Contribution:
    """Reads a file. Raises InputError, which names the file, the key and what is allowed."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Contribution)
    except OSError as error:
        raise InputError(f"--readings {path}: {error.strerror}") from None
    except (ValueError, msgspec.ValidationError) as error:
        raise InputError(f"--readings {path}: {error}") from None
    if found.format != FORMAT:
        raise InputError(f"--readings {path}: format is {found.format!r}; allowed is {FORMAT!r}")
    if found.file_bytes < 1:
        raise InputError(f"--readings {path}: file_bytes is {found.file_bytes}; allowed is 1 or more")
    if not set(CELLS) <= set(found.seconds) <= set(KEYS):
        allowed = f"required are {', '.join(CELLS)}, allowed {', '.join(LATER)}"
        raise InputError(f"--readings {path}: [seconds] has {', '.join(found.seconds)}; {allowed}")
    for cell, taken in found.seconds.items():
        if not taken or min(taken) <= 0:
            raise InputError(f"--readings {path}: seconds.{cell} is {taken}; allowed are one or more numbers above 0")
    return found


def rows(found: Sequence[Contribution]) -> list[Row]:
    """The rows of the readers' drives, which nothing was published of."""
    return [
        Row(
            f"{each.label}: {cell.replace('_', ' ')}",
            None,
            each.of_whole_file(cell),
            "s",
            group="Readers' drives, for a file of 4 GiB; measured",
        )
        for each in found
        for cell in each.seconds
    ]
