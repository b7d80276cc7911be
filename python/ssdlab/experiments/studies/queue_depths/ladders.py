"""Ladders of queue depths: a CSV file with the columns of `COLUMNS`, as fio-plot's measurements give them."""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ssdlab.errors import InputError

COLUMNS = ("drive", "pattern", "iodepth", "iops", "p50", "p99")
PATTERNS = ("randread", "randwrite")
ALONE, MANY = 1, 32
"""The depths that a drive is fitted to: what a request takes alone, and all that SATA has."""


@dataclass(frozen=True)
class Step:
    """What was measured at one depth: requests a second, and percentiles of completion latency in microseconds."""

    iops: float
    p50: float
    p99: float


@dataclass(frozen=True)
class Ladder:
    """One drive under random reads or writes of 4 KiB, at several depths."""

    drive: str
    pattern: str
    steps: Mapping[int, Step]

    @property
    def is_reads(self) -> bool:
        return self.pattern == "randread"

    @property
    def label(self) -> str:
        return f"{self.drive}, random {'reads' if self.is_reads else 'writes'}"

    @property
    def predicted(self) -> list[int]:
        """The depths that nothing is fitted to."""
        return [depth for depth in self.steps if depth not in (ALONE, MANY)]


def load(path: Path) -> list[Ladder]:
    """The ladders of a file, in its order. Lines that begin with # are comments; other columns are ignored.

    Raises InputError, which names the line, the column, the value and what is allowed.
    """
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    found: dict[tuple[str, str], dict[int, Step]] = {}
    reader = csv.DictReader(lines)
    if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
        raise InputError(f"{path}: no column {', '.join(missing)}; needed are {', '.join(COLUMNS)}")
    for number, row in enumerate(reader, 2):
        where = f"{path}: line {number} without comments"
        if row["pattern"] not in PATTERNS:
            raise InputError(f"{where}: pattern is {row['pattern']!r}; allowed are {', '.join(PATTERNS)}")
        depth = _number(row["iodepth"], "iodepth", where)
        step = Step(*(_number(row[name], name, where) for name in ("iops", "p50", "p99")))
        found.setdefault((row["drive"], row["pattern"]), {})[round(depth)] = step
    ladders = [Ladder(drive, pattern, steps) for (drive, pattern), steps in found.items()]
    for ladder in ladders:
        if not {ALONE, MANY} <= set(ladder.steps):
            raise InputError(
                f"{path}: {ladder.label}: iodepth {ALONE} and {MANY} are needed, to which the drive is fitted"
            )
    if not ladders:
        raise InputError(f"{path}: has no line of figures")
    return ladders


def _number(text: str | None, column: str, where: str) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise InputError(f"{where}: {column} is {text!r}; allowed is a number above 0")
    return value
