"""Values with 90 % intervals, from repeated measurements.

A host only adds time, so the time that the drive itself takes is the lower end of the distribution of measured times,
extrapolated from its low quantiles. The random error comes from a bootstrap. The unknown shape of the distribution adds
a systematic error: the difference between two assumed shapes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.hardware.identification.box import Floats

_DEVIATIONS = 1.645
"""Half width of an interval that holds 90 % of a normal distribution, in standard deviations."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 90 % interval."""

    value: float
    low: float
    high: float

    def clipped(self, low: float = 0.0) -> "Estimate":
        """The estimate with value and bounds limited to at least `low`."""
        return Estimate(max(self.value, low), max(self.low, low), max(self.high, low))


def exactly(value: float) -> Estimate:
    """A value without uncertainty."""
    return Estimate(value, value, value)


def within(value: float, share: float) -> Estimate:
    """A value with a relative uncertainty of `share`."""
    return Estimate(value, value * (1 - share), value * (1 + share))


_RESAMPLES = 400
_LOW, _HIGH = 1.0, 4.0
"""The percentiles from which the lower end of the distribution is extrapolated."""
_HOST_US, _HOST_SHARE = 5.0, 0.1
"""A median that exceeds the lower end by more than the sum of these is caused by the drive: pages of several speeds."""
_SHAPE = 0.5
"""The systematic error, as a share of the distance between the two percentiles. Each of the two shapes differs by a
third from their mean; one half is calibrated on the blind drives 101 to 140."""
_FLOOR_US = 0.01
"""The least uncertainty in microseconds, even if all measurements are equal."""


def beginning(values: "Floats | Sequence[float]", *, of_drive: bool = True) -> Estimate:
    """The time of repeated requests without the host's part, in microseconds.

    The share of requests that a host delays by less than x grows linearly in x if there is one cause of delays, and
    quadratically if there are two; the value is the mean of both extrapolations. If the times vary more than a host
    explains, the value is the median and the interval starts at the lower end; not if `of_drive` is false, when the
    drive is known to take the same time for all, and a busy host adds however much it does.
    """
    import numpy as np
    from scipy.stats import bootstrap

    measured = np.asarray(values, dtype=np.float64)

    def begins(sample: "Floats", axis: int = -1) -> "Floats":
        low, high = np.percentile(sample, (_LOW, _HIGH), axis=axis)
        begun: Floats = low - 2 / 3 * (high - low)
        return begun

    if len(measured) < 2 or float(np.ptp(measured)) == 0:
        alike = float(measured[0])
        return Estimate(alike, alike - _FLOOR_US, alike + _FLOOR_US)
    value = float(begins(measured))
    middle = median(measured)
    if of_drive and middle.value - value > _HOST_US + _HOST_SHARE * value:
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
    """The median of measured times. `of_host=False` is for values to which a host adds nothing, for example rates."""
    import numpy as np

    rising = np.sort(np.asarray(values, dtype=np.float64))
    count = len(rising)
    # The number of values below the true median is binomial; this is its normal approximation.
    half = _DEVIATIONS * sqrt(count) / 2
    first, last = max(0, floor(count / 2 - half) - 1), min(count - 1, ceil(count / 2 + half))
    low, middle, high = float(rising[first]), float(np.median(rising)), float(rising[last])
    if of_host:
        low = min(low, middle - _FLOOR_US, float(np.percentile(rising, 1)))
        high = max(high, middle + _FLOOR_US)
    return Estimate(middle, low, high)


def derived(function: Callable[..., float], *inputs: Estimate) -> Estimate:
    """A function of independent estimates. The one-sided deviations caused by each input are added in squares."""
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
