"""What a drive did in each interval of time, for `ssdlab run --interval`.

Times and bytes are those of the full-size drive: a run on a scaled drive takes proportionally less time and writes
proportionally less, at the same speed. Not for the time series, which has latencies and intervals chosen by the engine;
see `time_series.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict

from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.ledger import Ledger

_MINUTE_NS = 60 * 10**9
# Requests outstanding at the end of the jobs' time complete after it; an interval below this share of a full one is
# merged into the previous one.
_SHORTEST_SHARE = 0.01


class IntervalJson(TypedDict):
    """An entry of `ssdlab.intervals` of a result."""

    end_minutes: float
    host_written_bytes: int
    waf: float | None
    """None if the host wrote nothing."""


@dataclass(frozen=True)
class Interval:
    """One interval; the last of a run can be shorter than the others."""

    end_minutes: float
    ledger: Ledger
    """The counters of the interval, on the simulated drive."""
    host_written_bytes: int
    """What the host wrote, on the full-size drive."""

    def to_dict(self) -> IntervalJson:
        return {
            "end_minutes": self.end_minutes,
            "host_written_bytes": self.host_written_bytes,
            "waf": self.ledger.waf,
        }


def intervals(rows: Sequence[plain.Interval], capacity: plain.Capacity, scale: Fraction) -> list[Interval]:
    """Reads the INTERVAL objects of the engine's outcome, whose times are those of the simulated drive."""
    ends_minutes = [round(float(Fraction(row["end_ns"], _MINUTE_NS) / scale), 6) for row in rows]
    ledgers = [Ledger.from_outcome(row["ledger"], capacity) for row in rows]
    if len(rows) > 1 and ends_minutes[-1] - ends_minutes[-2] < _SHORTEST_SHARE * ends_minutes[0]:
        *ledgers, before, last = ledgers
        ledgers.append(before + last)
        ends_minutes.pop()
    return [
        Interval(end, ledger, round(ledger.host_written_bytes / scale))
        for end, ledger in zip(ends_minutes, ledgers, strict=True)
    ]
