"""SNIA's rule of the steady state, over the figures of rounds."""

from collections.abc import Sequence

ROUNDS = 5
RANGE_SHARE_MAX = 0.2
SLOPE_SHARE_MAX = 0.1


def is_steady(values: Sequence[float]) -> bool:
    """Whether the last five lie within 20 % of their mean, and the line through them rises or falls by 10 % at most."""
    last = values[-ROUNDS:]
    if len(last) < ROUNDS:
        return False
    mean = sum(last) / ROUNDS
    middle = (ROUNDS - 1) / 2
    slope = sum((at - middle) * value for at, value in enumerate(last)) / sum(
        (at - middle) ** 2 for at in range(ROUNDS)
    )
    return max(last) - min(last) <= RANGE_SHARE_MAX * mean and abs(slope) * (ROUNDS - 1) <= SLOPE_SHARE_MAX * mean
