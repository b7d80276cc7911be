"""A figure with its interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

Z = 1.959964
"""The 97.5th percentile of the normal distribution."""
SEEDS_DIFFER = 0.01
"""How much two runs of a job differ with other seeds, as a share: taken for a figure of one run without rounds."""


@dataclass(frozen=True)
class Estimate:
    """A value, its 95 % interval, and where that comes from."""

    value: float
    low: float
    high: float
    n: int
    """The number of observations: rounds, or requests."""
    how: str
    """How the interval was obtained, as a phrase such as "batch means of 7 rounds"."""

    @property
    def share(self) -> float:
        """Half the width of the interval as a share of the value; infinite for a value of 0."""
        return (self.high - self.low) / 2 / self.value if self.value else math.inf

    @property
    def has_only_ends(self) -> bool:
        """Whether it is so wide that the ends of its interval say more than its value."""
        return self.share > ENDS_FROM

    def times(self, factor: float) -> "Estimate":
        """The same in another unit, or a figure in a fixed ratio to it."""
        return replace(self, value=factor * self.value, low=factor * self.low, high=factor * self.high)


def exact(value: float) -> Estimate:
    """A figure without chance: counted, or computed in closed form."""
    return Estimate(value, value, value, 1, "exact")


def of_rounds(value: float, half_width: float, rounds: int) -> Estimate:
    """The mean of rounds, with the half width of its interval."""
    return Estimate(value, value - half_width, value + half_width, rounds, f"batch means of {rounds} rounds")


def of_samples(values: Sequence[float], what: str) -> Estimate:
    """The mean of two or more repeated measurements, with Student's interval; `what` names them in the plural."""
    # Of scipy.stats, which takes longer to load, this is the quantile of Student's t.
    from scipy.special import stdtrit

    half_width = float(stdtrit(len(values) - 1, 0.975)) * stdev(values) / math.sqrt(len(values))
    mean = fmean(values)
    return Estimate(mean, mean - half_width, mean + half_width, len(values), f"{len(values)} {what}")


def of_few_rounds(value: float, rounds: Sequence[float]) -> Estimate:
    """The mean of rounds that are too few for an interval: from the least to the most of them."""
    return Estimate(value, min(rounds), max(rounds), len(rounds), f"the range of {len(rounds)} rounds")


def of_one_run(value: float, requests: int, certain: float = 0.0) -> Estimate:
    """A ratio or a rate over all requests of one run, which is exact for that run.

    The interval is for the job with another seed: what so many independent requests spread (Poisson), and at least
    SEEDS_DIFFER. `requests` is their number; `certain` is the part of the value that has no chance in it.
    """
    half_width = max(SEEDS_DIFFER * value, (value - certain) * Z / math.sqrt(max(1, requests)))
    return Estimate(
        value, max(0.0, value - half_width), value + half_width, requests, f"one run of {requests:,} requests"
    )


def of_groups(values: Sequence[float], withins: Sequence[float]) -> Estimate:
    """The geometric mean of independent figures, each known within a share of itself."""
    value = math.exp(fmean(math.log(value) for value in values))
    share = math.hypot(*withins) / len(values)
    return Estimate(value, value * max(0.0, 1 - share), value * (1 + share), len(values), f"{len(values)} runs")


def text(estimate: Estimate, decimals_max: int = 3, *, digits_max: int = 9) -> str:
    """The value with the digits that its interval allows, and the interval where it is wide: "2.534", "34,200",
    "8.6 ±0.3"; an interval that is as wide as the value itself, by its ends: "5.0 to 620". For what is never negative.

    The last digit is not smaller than half the width of the interval, but one digit of the value is left at least.
    """
    half_width = (estimate.high - estimate.low) / 2
    if not half_width or estimate.share < WIDE:
        return _fixed(estimate.value, decimals(estimate, decimals_max, digits_max=digits_max))
    if estimate.has_only_ends:
        return f"{_two_digits(max(0.0, estimate.low))} to {_two_digits(estimate.high)}"
    places = decimals(estimate, 9)
    return f"{_fixed(estimate.value, places)} \N{PLUS-MINUS SIGN}{_fixed(half_width, places)}"


def decimals(estimate: Estimate, decimals_max: int = 3, *, digits_max: int = 9) -> int:
    """How many decimals of the value its interval allows; below 0 for tens, hundreds and so on."""
    half_width = (estimate.high - estimate.low) / 2
    leading = _leading(estimate.value)
    found = min(decimals_max, digits_max - 1 - leading)
    return min(found, max(-math.floor(math.log10(half_width)), -leading)) if half_width > 0 else found


def _leading(value: float) -> int:
    """The power of ten of the first digit."""
    return math.floor(math.log10(abs(value))) if value else 0


def _two_digits(value: float) -> str:
    return _fixed(value, 1 - _leading(value)) if value else "0"


def _fixed(value: float, decimals: int) -> str:
    return f"{round(value, decimals):,.{max(0, decimals)}f}"


WIDE = 0.02
"""An interval with a half width of this share or more is shown beside its value."""
ENDS_FROM = 0.5
"""From this share on the ends of an interval say more than the value and half of its width."""
