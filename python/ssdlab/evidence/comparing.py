"""Whether two figures differ, and by how much: only intervals that are apart say so."""

import math

from ssdlab.evidence.estimate import Estimate


def differ(one: Estimate, other: Estimate) -> bool:
    """Whether the intervals are apart.

    Two intervals of 95 % of equal width that are apart mean a difference of 2.8 standard errors or more, which chance
    causes in 0.6 % of equal pairs.
    """
    return one.low > other.high or other.low > one.high


def visible_share(one: Estimate, other: Estimate) -> float:
    """The least difference, as a share of the smaller figure, that would have been seen."""
    smaller = min(one.value, other.value)
    return (one.high - one.low + other.high - other.low) / 2 / smaller if smaller > 0 else math.inf


def ratio(one: Estimate, other: Estimate) -> Estimate:
    """`one` over `other`, with the interval of a quotient of independent figures (Fieller's, to the first order)."""
    value = one.value / other.value
    share = math.hypot(one.share, other.share)
    low = value * max(0.0, 1 - share)
    return Estimate(value, low, value * (1 + share), min(one.n, other.n), f"{one.how} over {other.how}")
