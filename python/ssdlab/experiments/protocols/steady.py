"""SNIA's rule for the steady state, applied to values of rounds."""

from collections.abc import Sequence
from dataclasses import dataclass

ROUNDS = 5
RANGE_SHARE_MAX = 0.2
SLOPE_SHARE_MAX = 0.1


@dataclass(frozen=True)
class Window:
    """The measurement window: the last five rounds, with what the rule asks of them."""

    mean: float
    range_share: float
    """The data excursion: the difference of the largest and the smallest value, as a share of the mean."""
    slope_share: float
    """The slope excursion: by how much the least-squares line rises or falls over the window, as a share of the mean;
    negative if it falls."""

    @property
    def is_steady(self) -> bool:
        """Whether the range is at most 20 % of the mean, and the change of the line at most 10 % of it."""
        return self.range_share <= RANGE_SHARE_MAX and abs(self.slope_share) <= SLOPE_SHARE_MAX


def window_of(values: Sequence[float]) -> Window | None:
    """The window of these rounds; None with fewer than five, or if nothing was done in them."""
    last = values[-ROUNDS:]
    mean = sum(last) / ROUNDS
    if len(last) < ROUNDS or mean <= 0:
        return None
    middle = (ROUNDS - 1) / 2
    slope = sum((at - middle) * value for at, value in enumerate(last)) / sum(
        (at - middle) ** 2 for at in range(ROUNDS)
    )
    return Window(mean, (max(last) - min(last)) / mean, slope * (ROUNDS - 1) / mean)


def is_steady(values: Sequence[float]) -> bool:
    """Whether the last five values keep the rule."""
    window = window_of(values)
    return window is not None and window.is_steady
