"""The parts of the latency of requests: queueing, link, flash, garbage collection and others, for all or for a tail.

The engine sums each part by the bin of the request's latency, so the values of a tail are those of all requests in its
bins. `docs/simulate/time.md` defines the parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.fio_schema import Direction
from ssdlab.simulator.results.latency import carries

PARTS: dict[str, str] = {
    "queueing": "queueing",
    "controller": "controller",
    "link": "link",
    "map": "map",
    "channel": "channel",
    "flash": "flash",
    "host_operations": "other host operations",
    "gc": "garbage collection",
}
"""The display name of each part by its name in results, in the order in which a request passes through them."""

TAIL_PERCENT = 99.9


@dataclass(frozen=True)
class Breakdown:
    """For the requests of one direction, at least one: the nanoseconds of each part, for each bin of their latency."""

    bins: Sequence[tuple[int, int, Sequence[int]]]
    """(middle of the bin in ns, requests, their total nanoseconds by `PARTS`), ascending."""

    @classmethod
    def from_outcomes(cls, timings: Sequence[plain.JobTiming], direction: Direction) -> "Breakdown | None":
        """Merges the `timing` objects of jobs in the engine's outcome.

        None if there was no request of this direction, or if the parts are not recorded, as on a served drive.
        """
        return merged(
            [
                cls(_bins(breakdown[direction], timing[direction]))
                for timing in timings
                if (breakdown := timing["breakdown"]) is not None
            ]
        )

    def mean_ns(self, from_percent: float = 0.0) -> dict[str, float]:
        """The mean of each part in nanoseconds, over the requests in the bin of this percentile and above.

        For all requests, the parts add up to the mean latency.
        """
        count = sum(requests for _, requests, _ in self.bins)
        seen = 0
        tail = []
        for _, requests, sums in self.bins:
            seen += requests
            if seen >= from_percent / 100 * count:
                tail.append((requests, sums))
        requests = sum(each for each, _ in tail)
        return {part: sum(sums[index] for _, sums in tail) / requests for index, part in enumerate(PARTS)}

    def to_dict(self) -> dict[str, dict[str, float]]:
        """`mean`: for all requests; `p99_9`: for those at and above the 99.9th percentile, absent without ten."""
        kinds = {"mean": self.mean_ns()}
        if carries(sum(requests for _, requests, _ in self.bins), TAIL_PERCENT):
            kinds["p99_9"] = self.mean_ns(TAIL_PERCENT)
        return kinds


def merged(breakdowns: Sequence[Breakdown]) -> Breakdown | None:
    """The sum of the breakdowns; None if there are none."""
    rows: dict[int, tuple[int, Sequence[int]]] = {}
    for middle_ns, count, sums in (row for breakdown in breakdowns for row in breakdown.bins):
        before, sums_before = rows.get(middle_ns, (0, [0] * len(PARTS)))
        rows[middle_ns] = (before + count, [one + other for one, other in zip(sums_before, sums, strict=True)])
    return Breakdown(tuple((middle_ns, *rows[middle_ns]) for middle_ns in sorted(rows))) if rows else None


def _bins(columns: plain.BreakdownColumns, latency: plain.Latency) -> list[tuple[int, int, Sequence[int]]]:
    sums = zip(
        columns["queueing"],
        columns["controller"],
        columns["link"],
        columns["map"],
        columns["channel"],
        columns["flash"],
        columns["host_operations"],
        columns["gc"],
        strict=True,
    )
    return [(middle, count, row) for (middle, count), row in zip(latency["bins"], sums, strict=True)]


def shares_text(parts_ns: Mapping[str, float]) -> str:
    """`garbage collection 61 %, flash 30 %, ...`: the parts of at least one percent, largest first."""
    whole = sum(parts_ns.values())
    largest = sorted(parts_ns.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{PARTS[part]} {100 * ns / whole:.0f} %" for part, ns in largest if ns >= 0.01 * whole)
