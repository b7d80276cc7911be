"""The limits of the acceptance test, and which of them figures keep. Not for what to do about one that fails."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ssdlab.evidence.estimate import SEEDS_DIFFER

Quantity = Literal["rate", "p99", "p99.99", "p99.9999", "max"]
_ROUNDING_MIB_S = 0.5
"""Limits of rates are printed in whole MiB/s."""
PERCENT: dict[str, float] = {"p99": 99, "p99.99": 99.99, "p99.9999": 99.9999}


@dataclass(frozen=True)
class Limit:
    """One limit of a workload: at least so many MiB/s, or at most so many microseconds."""

    workload: str
    direction: Literal["read", "write", "trim"]
    quantity: Quantity
    value: float
    scope: str
    """Of a rate: "TB" if it is for each TB of capacity, "node" or "drive" if not."""
    checked: Literal["both", "suite", "specification", "differ", "beyond-demand"]
    """Which of the two sources has it; see limits.csv. Nothing is judged by a rate beyond what the jobs ask for."""
    note: str

    @property
    def is_minimum(self) -> bool:
        """Whether the figure has to be at least the limit."""
        return self.quantity == "rate"

    @property
    def unit(self) -> str:
        """The unit of `value`."""
        return "MiB/s" if self.is_minimum else "us"

    def for_capacity(self, terabytes: float) -> float:
        """The limit for a drive of that capacity."""
        return self.value * terabytes if self.scope == "TB" else self.value

    def is_kept(self, value: float, terabytes: float) -> bool:
        """Whether a figure keeps the limit. Jobs are held to the limits of rates, so that a run is a request short."""
        limit = self.for_capacity(terabytes)
        return value >= limit - _ROUNDING_MIB_S if self.is_minimum else value <= limit

    def verdict(self, value: float | None, terabytes: float) -> bool | None:
        """Whether the limit is kept; None if that is not judged.

        Not judged is a figure of too few requests (None), a rate beyond what the jobs ask for, and a limit that is
        missed by at most `SEEDS_DIFFER`: another run may keep it.
        """
        if value is None or self.checked == "beyond-demand":
            return None
        if self.is_kept(value, terabytes):
            return True
        return None if abs(value / self.for_capacity(terabytes) - 1) <= SEEDS_DIFFER else False


def _read() -> tuple[Limit, ...]:
    lines = Path(__file__).with_name("limits.csv").read_text(encoding="utf-8").splitlines()
    found = []
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        if row["quantity"] not in get_args(Quantity) or (row["bound"] == "min") != (row["quantity"] == "rate"):
            raise ValueError(f"limits.csv: {row['workload']}: quantity {row['quantity']!r} with bound {row['bound']!r}")
        found.append(
            Limit(
                row["workload"], row["direction"], row["quantity"], float(row["limit"]), row["scope"],  # type: ignore[arg-type]
                row["checked"], row["note"],  # type: ignore[arg-type]
            )
        )  # fmt: skip
    return tuple(found)


LIMITS: Sequence[Limit] = _read()


def of(workload: str) -> list[Limit]:
    """The limits of a workload, in the order of the file."""
    return [limit for limit in LIMITS if limit.workload == workload]
