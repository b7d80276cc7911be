"""From a drive's write amplification in the field to what more spare area would have made of it: an inference.

A counter says how much was programmed, not why. Three explanations bound what could be, each with today's figure:

- evenly spread writes, and the effective spare area (free and trimmed space included) that gives it;
- the spare area of the drive's flash, all of it in use, and writes that are skewed so far that they give it;
- the same spare area, and a share of evenly spread writes among others in sequence, which are not amplified.

The simulation has been run beforehand over spare area and skew (`tools/skew_table.py`). None of the three is known to
hold, so that a range is given, and no single figure without it.
"""

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

_TABLE = "skew.csv"
WAF_MIN = 1.05
"""Below there is nothing to save."""


@dataclass(frozen=True)
class Inference:
    """What would have been, between the explanations; the middle of the range is the geometric one."""

    waf: float
    """As it is."""
    over_provisioning: float
    """The one that it is inferred for."""
    waf_low: float
    waf_high: float
    zipf_theta: float | None
    """The skew that explains the figure with all space in use; None where no skew does."""

    @property
    def waf_middle(self) -> float:
        return math.sqrt(self.waf_low * self.waf_high)

    @property
    def life_factor_low(self) -> float:
        """Life as a multiple of today's: wear goes with what is programmed."""
        return self.waf / self.waf_high

    @property
    def life_factor_high(self) -> float:
        return self.waf / self.waf_low


class SkewTable:
    """Simulated write amplification over spare area and skew; between the points by interpolation of logarithms."""

    def __init__(self, rows: list[tuple[float, float, float]]) -> None:
        self.over_provisionings = np.array(sorted({op for op, _, _ in rows}))
        self.thetas = np.array(sorted({theta for _, theta, _ in rows}))
        known = {(op, theta): waf for op, theta, waf in rows}
        self._log_waf = np.log([[known[op, theta] for theta in self.thetas] for op in self.over_provisionings])

    def waf(self, over_provisioning: float, theta: float) -> float:
        """At the table's edge outside of it."""
        by_op = [np.interp(theta, self.thetas, row) for row in self._log_waf]
        return float(np.exp(np.interp(math.log(over_provisioning), np.log(self.over_provisionings), by_op)))

    def theta_that_gives(self, waf: float, over_provisioning: float) -> float | None:
        """The least skew with which so much spare area gives such a figure; None where none does."""
        return _root(lambda theta: self.waf(over_provisioning, theta) - waf, 0.0, float(self.thetas[-1]))

    def over_provisioning_that_gives(self, waf: float) -> float | None:
        """Under evenly spread writes."""
        low, high = float(self.over_provisionings[0]), float(self.over_provisionings[-1])
        return _root(lambda op: self.waf(op, 0.0) - waf, low, high)


@cache
def table() -> SkewTable:
    """The one that was simulated."""
    with files("ssdlab.theory").joinpath(_TABLE).open(encoding="utf-8") as file:
        lines = csv.DictReader(file)
        rows = [(float(row["over_provisioning"]), float(row["zipf_theta"]), float(row["waf"])) for row in lines]
    return SkewTable(rows)


def with_more(waf: float, over_provisioning: float, left_empty: float) -> Inference | None:
    """With so large a share of the capacity left empty as well; None where no explanation fits the figure."""
    return at(waf, over_provisioning, more(over_provisioning, left_empty))


def at(waf: float, over_provisioning: float, other: float) -> Inference | None:
    """With another over-provisioning than the drive has; None where there is nothing to save or to explain."""
    if waf < WAF_MIN:
        return None
    known = table()
    found = []
    evenly = known.waf(over_provisioning, 0.0)
    if waf <= evenly:
        random_share = (waf - 1) / (evenly - 1)
        found.append(1 + random_share * (known.waf(other, 0.0) - 1))
    theta = known.theta_that_gives(waf, over_provisioning)
    if theta is not None:
        found.append(known.waf(other, theta))
    effective = known.over_provisioning_that_gives(waf)
    if effective is not None:
        found.append(known.waf((1 + effective) * (1 + other) / (1 + over_provisioning) - 1, 0.0))
    found = [min(each, waf) for each in found]
    return Inference(waf, other, min(found), max(found), theta) if found else None


def more(over_provisioning: float, left_empty: float) -> float:
    """The over-provisioning when a share of the capacity is left empty as well: (T - U) / U with a smaller U."""
    return (1 + over_provisioning) / (1 - left_empty) - 1


def _root(figure: Callable[[float], float], low: float, high: float) -> float | None:
    """Of a falling figure, by halving; None where it has no root between the ends."""
    if figure(low) < 0 or figure(high) > 0:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if figure(middle) > 0 else (low, middle)
    return (low + high) / 2
