"""Infers the effect of more spare area from a drive's write amplification in the field.

Counters show how much was programmed, but not why. Three explanations of the measured figure bound the effect:

- uniform writes, and the effective spare area (including free and trimmed space) that results in the figure;
- the spare area of the drive's flash, with all space in use, and writes with the skew that results in the figure;
- the same spare area, and a share of uniform writes among sequential ones, which are not amplified.

A table of simulations over spare area and skew is computed in advance (`tools/skew_table.py`). It is not known which
explanation applies, so the result is always a range.
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
"""Below this write amplification, more spare area has no effect."""


@dataclass(frozen=True)
class Inference:
    """The inferred write amplification as a range over the explanations, with its geometric mean as the middle."""

    waf: float
    """The measured write amplification."""
    over_provisioning: float
    """The over-provisioning that the inference is for."""
    waf_low: float
    waf_high: float
    zipf_theta: float | None
    """The skew that explains the figure with all space in use; None if no skew does."""

    @property
    def waf_middle(self) -> float:
        return math.sqrt(self.waf_low * self.waf_high)

    @property
    def life_factor_low(self) -> float:
        """The minimum life as a multiple of the present one; wear is proportional to the bytes programmed."""
        return self.waf / self.waf_high

    @property
    def life_factor_high(self) -> float:
        return self.waf / self.waf_low


class SkewTable:
    """Simulated write amplification over spare area and skew, with interpolation of logarithms between the points."""

    def __init__(self, rows: list[tuple[float, float, float]]) -> None:
        self.over_provisionings = np.array(sorted({op for op, _, _ in rows}))
        self.thetas = np.array(sorted({theta for _, theta, _ in rows}))
        known = {(op, theta): waf for op, theta, waf in rows}
        self._log_waf = np.log([[known[op, theta] for theta in self.thetas] for op in self.over_provisionings])

    def waf(self, over_provisioning: float, theta: float) -> float:
        """The write amplification; outside of the table, that of its edge."""
        by_op = [np.interp(theta, self.thetas, row) for row in self._log_waf]
        return float(np.exp(np.interp(math.log(over_provisioning), np.log(self.over_provisionings), by_op)))

    def theta_that_gives(self, waf: float, over_provisioning: float) -> float | None:
        """The minimum skew that results in `waf` with this spare area; None if none does."""
        return _root(lambda theta: self.waf(over_provisioning, theta) - waf, 0.0, float(self.thetas[-1]))

    def over_provisioning_that_gives(self, waf: float) -> float | None:
        """The spare area that results in `waf` under uniform writes; None if none in the table does."""
        low, high = float(self.over_provisionings[0]), float(self.over_provisionings[-1])
        return _root(lambda op: self.waf(op, 0.0) - waf, low, high)


@cache
def table() -> SkewTable:
    """The included table."""
    with files("ssdlab.theory").joinpath(_TABLE).open(encoding="utf-8") as file:
        lines = csv.DictReader(file)
        rows = [(float(row["over_provisioning"]), float(row["zipf_theta"]), float(row["waf"])) for row in lines]
    return SkewTable(rows)


def with_more(waf: float, over_provisioning: float, left_empty: float) -> Inference | None:
    """The inference for a share of the capacity left empty; None if `waf` is below WAF_MIN or not explained."""
    return at(waf, over_provisioning, more(over_provisioning, left_empty))


def at(waf: float, over_provisioning: float, other: float) -> Inference | None:
    """The inference for over-provisioning of `other`; None if `waf` is below WAF_MIN or not explained."""
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
    """The over-provisioning if a share of the capacity is left empty: (T - U) / U with a smaller U."""
    return (1 + over_provisioning) / (1 - left_empty) - 1


def _root(figure: Callable[[float], float], low: float, high: float) -> float | None:
    """The root of a decreasing function, by bisection; None if it has no root between the ends."""
    if figure(low) < 0 or figure(high) > 0:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if figure(middle) > 0 else (low, middle)
    return (low + high) / 2
