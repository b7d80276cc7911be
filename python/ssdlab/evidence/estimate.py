"""A figure with its interval."""

import math
from dataclasses import dataclass

_Z = 1.959964
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


def of_rounds(value: float, half_width: float, rounds: int) -> Estimate:
    """The mean of rounds, with the half width of its interval."""
    return Estimate(value, value - half_width, value + half_width, rounds, f"batch means of {rounds} rounds")


def of_one_run(value: float, requests: int) -> Estimate:
    """A ratio or a rate over all requests of one run, which is exact for that run.

    The interval is for the job with another seed: what so many independent requests spread (Poisson), and at least
    SEEDS_DIFFER. `requests` is their number.
    """
    half_width = value * max(SEEDS_DIFFER, _Z / math.sqrt(requests) if requests else math.inf)
    low = max(0.0, value - half_width) if math.isfinite(half_width) else 0.0
    return Estimate(value, low, value + half_width, requests, f"one run of {requests:,} requests")
