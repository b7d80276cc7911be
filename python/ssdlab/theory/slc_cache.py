"""An SLC cache without a run: where a full-span write slows down, and how long it takes.

A block in SLC mode holds one bit per cell instead of b. A cache that has taken S bytes occupies the place of b x S, so
that direct writes, past the full cache, find C - b x S of a capacity C. When these are written too, the cache must be
folded to make room: the speed drops a second time, at S + (C - b x S) = C - (b - 1) x S.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise


def second_drop_bytes(capacity_bytes: float, cache_bytes: float, bits_per_cell: int) -> float | None:
    """The bytes of a full-span write before the speed drops a second time; None if the cache leaves no room for direct
    writes, so that there is no second phase."""
    found = capacity_bytes - (bits_per_cell - 1) * cache_bytes
    return found if found > cache_bytes else None


def cache_bytes(capacity_bytes: float, second_drop_at_bytes: float, bits_per_cell: int) -> float:
    """The cache that has the second drop there."""
    return (capacity_bytes - second_drop_at_bytes) / (bits_per_cell - 1)


def fill_rate(phases: Sequence[tuple[float, float]]) -> float:
    """The mean rate of a write that passes phases of (bytes, rate), in the unit of the rates."""
    return sum(size for size, _ in phases) / sum(size / rate for size, rate in phases)


@dataclass(frozen=True)
class Phase:
    """Consecutive equal parts of a fill with about the same rate: up to part `end`, at the mean rate."""

    end: int
    rate: float


APART = 0.15
"""Phases whose rates differ by a smaller share are one: rates of parts differ as much from one part to the next."""
_PHASES_MAX = 3


def phases_of(rates: Sequence[float]) -> list[Phase]:
    """The one to three phases of a fill whose equal parts have these rates.

    The cuts have the least squared deviations of the logarithms; those between rates that rise or are hardly apart are
    left out.
    """
    logs = [math.log(rate) for rate in rates]
    cuts = min(
        (cut for cut in combinations(range(1, len(rates)), _PHASES_MAX - 1)),
        key=lambda cut: sum(_deviation(logs[start:end]) for start, end in pairwise((0, *cut, len(rates)))),
        default=(),
    )
    found: list[Phase] = []
    for start, end in pairwise((0, *cuts, len(rates))):
        phase = Phase(end, fill_rate([(1.0, rate) for rate in rates[start:end]]))
        if found and phase.rate > (1 - APART) * found[-1].rate:
            first = found[-2].end if len(found) > 1 else 0
            found[-1] = Phase(end, fill_rate([(1.0, rate) for rate in rates[first:end]]))
        else:
            found.append(phase)
    return found


def _deviation(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)
