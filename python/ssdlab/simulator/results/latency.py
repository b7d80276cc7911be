"""Latencies of many requests: moments, fio's bins, and values that fio derives from the bins.

The engine counts in fio's own bins (64 for each doubling), so the percentiles are those that fio would print for the
same latencies. Not for single requests: their latencies are not recorded.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from ssdlab.evidence.estimate import SEEDS_DIFFER, Estimate, Z
from ssdlab.simulator.engine import plain

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""fio's default list, in percent."""

_STEPS_NS_US = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_STEPS_MS = (*_STEPS_NS_US, 2000)
OBSERVATIONS_ABOVE_MIN = 10
"""A percentile with fewer requests above it is not reported, except where fio's format has it: with ten above it, its
rank is uncertain by a third of the share above."""
CLUSTERED = 10
# fio never reports 0 % for a step with requests.
_SHARE_MIN_PERCENT = 0.01


@dataclass(frozen=True)
class Percentiles:
    """The percentiles to report, and for which latencies: clat, lat, slat."""

    ranks: tuple[float, ...] = PERCENTILES
    of: tuple[str, ...] = ("clat",)


USUAL = Percentiles()


class LatencyJson(TypedDict):
    """fio's latency object, in nanoseconds."""

    min: int | None
    max: int | None
    mean: float | None
    stddev: float | None
    N: int | None
    percentile: NotRequired[dict[str, int | None]]
    """By rank in percent with six decimals, such as `99.900000`."""
    bins: NotRequired[dict[str, int] | None]
    """The number of requests, by the middle of their bin."""


@dataclass(frozen=True)
class Latency:
    """Latencies from the issue of a request to its completion, in ns. The moments are None without requests."""

    count: int
    min_ns: int | None
    max_ns: int | None
    mean_ns: float | None
    stddev_ns: float | None
    bins: Sequence[tuple[int, int]]
    """(middle of the bin, count), ascending."""

    @classmethod
    def from_outcome(cls, raw: plain.Latency) -> "Latency":
        """Reads a LATENCY object of the engine's outcome."""
        return cls(
            count=raw["count"],
            min_ns=raw["min_ns"],
            max_ns=raw["max_ns"],
            mean_ns=raw["mean_ns"],
            stddev_ns=raw["stddev_ns"],
            bins=tuple((middle_ns, count) for middle_ns, count in raw["bins"]),
        )

    def percentile_ns(self, percent: float) -> int | None:
        """The middle of the first bin that completes `percent` of all requests; None without ten requests above it."""
        return self.percentiles_ns((percent,))[0] if self.carries(percent) else None

    def estimate(self, percent: float) -> Estimate | None:
        """`percentile_ns` with its interval, by the ranks that it can have; None if it is None.

        Latencies come in clusters, such as all requests that wait for one erase, so that the ranks are as uncertain as
        those of CLUSTERED times fewer independent requests. Of very many requests the ranks are in one bin, 1.6 % wide,
        but another seed moves the whole distribution: the interval is at least SEEDS_DIFFER wide on either side.
        """
        value = self.percentile_ns(percent)
        if value is None:
            return None
        share = percent / 100
        spread = Z * math.sqrt(share * (1 - share) * CLUSTERED / self.count)
        low, high = self.percentiles_ns((100 * max(0.0, share - spread), 100 * min(1.0, share + spread)))
        assert low is not None
        assert high is not None
        return Estimate(
            value,
            min(low, value * (1 - SEEDS_DIFFER)),
            max(high, value * (1 + SEEDS_DIFFER)),
            self.count,
            f"ranks of {self.count:,} requests",
        )

    @property
    def mean_estimate(self) -> Estimate | None:
        """The mean with its interval, of CLUSTERED times fewer independent requests; None of fewer than
        that."""
        if self.mean_ns is None or self.count < CLUSTERED:
            return None
        spread = Z * (self.stddev_ns or 0.0) * math.sqrt(CLUSTERED / self.count)
        half_width = max(SEEDS_DIFFER * self.mean_ns, spread)
        low, high = max(0.0, self.mean_ns - half_width), self.mean_ns + half_width
        return Estimate(self.mean_ns, low, high, self.count, f"mean of {self.count:,} requests")

    def carries(self, percent: float) -> bool:
        """Whether there are enough requests above this percentile to report it."""
        return carries(self.count, percent)

    def percentiles_ns(self, percents: Sequence[float]) -> list[int | None]:
        """As fio gives them: of any number of requests, None without any. `percents` must be ascending."""
        found: list[int | None] = []
        seen = 0
        for middle_ns, count in self.bins:
            seen += count
            while len(found) < len(percents) and seen >= percents[len(found)] / 100 * self.count:
                found.append(middle_ns)
        return found + [None] * (len(percents) - len(found))

    def percent_above(self, ns: int) -> float | None:
        """The percentage of requests in bins whose middle is above `ns`; None without requests."""
        return 100 * sum(count for middle_ns, count in self.bins if middle_ns > ns) / self.count if self.count else None

    def to_dict(self, *, percentiles: Sequence[float] = (), bins: bool = False) -> LatencyJson:
        """fio's latency object. As in fio, percentiles and bins exist only if there were requests."""
        frame: LatencyJson = {
            "min": self.min_ns,
            "max": self.max_ns,
            "mean": self.mean_ns,
            "stddev": self.stddev_ns,
            "N": self.count,
        }
        if percentiles and self.count:
            values = self.percentiles_ns(percentiles)
            frame["percentile"] = {f"{rank:.6f}": value for rank, value in zip(percentiles, values, strict=True)}
        if bins and self.count:
            frame["bins"] = {str(middle_ns): count for middle_ns, count in self.bins}
        return frame


def carries(requests: int, percent: float) -> bool:
    """Whether so many requests are enough above this percentile to report it."""
    # 1e-6: the share above 99.9 % is not exact in binary.
    return requests * (1 - percent / 100) >= OBSERVATIONS_ABOVE_MIN - 1e-6


def merged(latencies: Sequence[Latency]) -> Latency:
    """The combined latencies, as if they had been counted together."""
    parts = [latency for latency in latencies if latency.count]
    if len(parts) <= 1:
        return parts[0] if parts else NONE
    count = sum(part.count for part in parts)
    mean_ns = sum(part.count * (part.mean_ns or 0.0) for part in parts) / count
    squares = sum(
        part.count * ((part.stddev_ns or 0.0) ** 2 + ((part.mean_ns or 0.0) - mean_ns) ** 2) for part in parts
    )
    bins: Counter[int] = Counter()
    for part in parts:
        bins.update(dict(part.bins))
    return Latency(
        count,
        min(part.min_ns or 0 for part in parts),
        max(part.max_ns or 0 for part in parts),
        mean_ns,
        math.sqrt(squares / count),
        tuple(sorted(bins.items())),
    )


NONE = Latency(0, None, None, None, None, ())


def distribution(latency: Latency) -> dict[str, dict[str, float]]:
    """fio's coarse tables `latency_ns`, `latency_us` and `latency_ms`: percentages of the requests below each step.

    A step counts the requests from the previous step up to itself; each bin is counted at its middle.
    """
    tables: dict[str, dict[str, float]] = {}
    below_ns = 0
    counts = list(latency.bins)
    for unit, unit_ns, steps in (("ns", 1, _STEPS_NS_US), ("us", 1000, _STEPS_NS_US), ("ms", 10**6, _STEPS_MS)):
        table = {}
        for step in steps:
            end_ns = step * unit_ns
            within = sum(count for middle_ns, count in counts if below_ns <= middle_ns < end_ns)
            table[str(step)] = _percent(within, latency.count)
            below_ns = end_ns
        tables[f"latency_{unit}"] = table
    beyond = sum(count for middle_ns, count in counts if middle_ns >= below_ns)
    tables["latency_ms"][f">={_STEPS_MS[-1]}"] = _percent(beyond, latency.count)
    return tables


def _percent(count: int, of: int) -> float:
    return max(100 * count / of, _SHARE_MIN_PERCENT) if count else 0.0
