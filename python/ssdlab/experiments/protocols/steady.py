"""SNIA's rule for the steady state, applied to values of rounds."""

from collections.abc import Sequence

ROUNDS = 5
RANGE_SHARE_MAX = 0.2
SLOPE_SHARE_MAX = 0.1


def is_steady(values: Sequence[float]) -> bool:
    """Whether the last five values have a range of at most 20 % of their mean, and a linear fit that changes by at most
    10 % of it."""
    last = values[-ROUNDS:]
    if len(last) < ROUNDS:
        return False
    mean = sum(last) / ROUNDS
    middle = (ROUNDS - 1) / 2
    slope = sum((at - middle) * value for at, value in enumerate(last)) / sum(
        (at - middle) ** 2 for at in range(ROUNDS)
    )
    return max(last) - min(last) <= RANGE_SHARE_MAX * mean and abs(slope) * (ROUNDS - 1) <= SLOPE_SHARE_MAX * mean
