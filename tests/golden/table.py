"""`golden.txt`: a row for each case with the hashes of its input and of its outcome, and the reason for the row.

The reasons are at its end, each with a mark by which rows refer to it. A mark is a hash of the reason's text, so that
branches that both change rows can be merged line by line.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from canonical import Hashes

PATH = Path(__file__).with_name("golden.txt")

_HEAD = """\
# What the corpus gave, a line a case: its name; the hash of its specification; the hashes of its outcome: exact, values
# without keys, keys without values (tests/golden/canonical.py); the mark of the reason, which stands at the end. Only
# tools/golden changes this file.
"""
_WHY = "why "


@dataclass(frozen=True)
class Row:
    specification: str
    outcome: Hashes
    mark: str


@dataclass
class Table:
    rows: dict[str, Row]
    """By the name of the case."""
    reasons: dict[str, str]
    """By their marks, oldest first."""

    def mark_of(self, reason: str) -> str:
        """Adds a reason, unless it exists. Returns its mark."""
        mark = hashlib.blake2b(reason.encode(), digest_size=2).hexdigest()
        if self.reasons.setdefault(mark, reason) != reason:
            raise ValueError(f"the mark {mark} is taken; word the reason differently")
        return mark


def read(path: Path = PATH) -> Table:
    """Reads the table. Raises ValueError for a malformed line or an unknown mark."""
    table = Table({}, {})
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.startswith("#"):
            continue
        if line.startswith(_WHY):
            mark, reason = line.removeprefix(_WHY).split(": ", 1)
            table.reasons[mark] = reason
            continue
        words = line.split()
        if len(words) != 6 or words[0] in table.rows:
            raise ValueError(f"{path.name}:{number}: not a row, or one that is there twice: {line}")
        table.rows[words[0]] = Row(words[1], Hashes(*words[2:5]), words[5])
    for name, row in table.rows.items():
        if row.mark not in table.reasons:
            raise ValueError(f"{path.name}: nothing says why {name} is as it is")
    return table


def write(table: Table, path: Path = PATH) -> None:
    rows = [
        f"{name} {row.specification} {row.outcome.exact} {row.outcome.values} {row.outcome.keys} {row.mark}\n"
        for name, row in sorted(table.rows.items())
    ]
    reasons = [f"{_WHY}{mark}: {reason}\n" for mark, reason in table.reasons.items()]
    path.write_text(_HEAD + "".join(rows) + "".join(reasons))
