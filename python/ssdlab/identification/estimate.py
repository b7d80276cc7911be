"""Values with 90 % intervals, from repeated measurements.

A median's interval is that of order statistics, which assume nothing of the distribution, and its low end goes down to
the first percentile: a host only ever adds time, so that the drive itself may be that much faster than the median.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.identification.box import Floats

_DEVIATIONS = 1.645
"""Standard deviations of a normal distribution on either side that hold 90 %."""


@dataclass(frozen=True)
class Estimate:
    """A value and where it lies with 90 % confidence."""

    value: float
    low: float
    high: float

    def clipped(self, low: float = 0.0) -> "Estimate":
        """The same, nowhere below `low`."""
        return Estimate(max(self.value, low), max(self.low, low), max(self.high, low))


def exactly(value: float) -> Estimate:
    """A value without doubt."""
    return Estimate(value, value, value)


def within(value: float, share: float) -> Estimate:
    """A value that is known to a share of itself."""
    return Estimate(value, value * (1 - share), value * (1 + share))


def median(values: "Floats | Sequence[float]", *, of_host: bool = True) -> Estimate:
    """The median of measured times; without `of_host` of what a host does not lengthen, such as rates."""
    import numpy as np

    rising = np.sort(np.asarray(values, dtype=np.float64))
    count = len(rising)
    # How many of so many values lie below the median is binomial, here by its normal approximation.
    half = _DEVIATIONS * sqrt(count) / 2
    first, last = max(0, floor(count / 2 - half) - 1), min(count - 1, ceil(count / 2 + half))
    low = float(rising[first])
    if of_host:
        low = min(low, float(np.percentile(rising, 1)))
    return Estimate(float(np.median(rising)), low, float(rising[last]))


def derived(function: Callable[..., float], *inputs: Estimate) -> Estimate:
    """A function of independent estimates: their one-sided deviations, each alone, added in squares."""
    values = [each.value for each in inputs]
    at = function(*values)
    below = above = 0.0
    for index, each in enumerate(inputs):
        moved = [
            function(*[end if place == index else value for place, value in enumerate(values)]) - at
            for end in (each.low, each.high)
        ]
        below += min(0.0, *moved) ** 2
        above += max(0.0, *moved) ** 2
    return Estimate(at, at - sqrt(below), at + sqrt(above))
