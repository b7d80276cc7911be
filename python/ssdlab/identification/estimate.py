"""Values with 90 % intervals, from repeated measurements.

A host only ever adds time, so that what the drive takes is where the distribution of measured times begins: its low
quantiles, extrapolated. How far chance moves these comes from a bootstrap; that the shape of the distribution is not
known is a systematic part, the difference that two shapes make.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot, sqrt
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


_RESAMPLES = 400
_LOW, _HIGH = 1.0, 4.0
"""The percentiles that are extrapolated to the beginning."""
_HOST_US, _HOST_SHARE = 5.0, 0.1
"""A median further above the beginning than both together is the drive's own doing: pages of several speeds."""
_SHAPE = 0.5
"""The systematic part, of the distance between the two percentiles: a third is what the two shapes differ by from their
mean; calibrated on the blind drives 101 to 140."""
_FLOOR_US = 0.01
"""Nothing is measured more exactly than so many microseconds, however equal the measurements."""


def beginning(values: "Floats | Sequence[float]") -> Estimate:
    """What repeated requests take without what the host adds, in microseconds.

    The share of requests that a host delays by less than x grows as x where one cause is at work, and as its square
    where two are; the value is the mean of both extrapolations. Where times spread further than a host spreads them,
    the value is the median and the interval begins at the beginning.
    """
    import numpy as np
    from scipy.stats import bootstrap

    measured = np.asarray(values, dtype=np.float64)

    def begins(sample: "Floats", axis: int = -1) -> "Floats":
        low, high = np.percentile(sample, (_LOW, _HIGH), axis=axis)
        begun: Floats = low - 2 / 3 * (high - low)
        return begun

    if len(measured) < 2 or float(np.ptp(measured)) == 0:
        return exactly(float(measured[0]))
    value = float(begins(measured))
    middle = median(measured)
    if middle.value - value > _HOST_US + _HOST_SHARE * value:
        return Estimate(middle.value, min(value, middle.low), middle.high)
    chance = bootstrap(
        (measured,), begins, confidence_level=0.9, n_resamples=_RESAMPLES, method="basic", rng=np.random.default_rng(1)
    ).confidence_interval
    low, high = np.percentile(measured, (_LOW, _HIGH))
    shape = _SHAPE * float(high - low)
    below = hypot(max(0.0, value - float(chance.low)), shape, _FLOOR_US)
    above = hypot(max(0.0, float(chance.high) - value), shape, _FLOOR_US)
    return Estimate(value, value - below, value + above)


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
