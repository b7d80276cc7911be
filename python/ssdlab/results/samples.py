"""How rates spread over the intervals of a timed run: fio's `iops_min`, `bw_stddev` and their like.

fio samples each half second; here the samples are the intervals of the time series. The series knows of stages, not of
jobs, so a job has samples only when no other job of its stage makes requests of the same direction.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ssdlab.engine import plain
from ssdlab.results.fio_schema import Direction

_Column = Literal["read_ios", "read_bytes", "write_ios", "written_bytes", "trim_ios"]
_COLUMNS: dict[Direction, tuple[_Column, _Column | None]] = {
    "read": ("read_ios", "read_bytes"),
    "write": ("write_ios", "written_bytes"),
    "trim": ("trim_ios", None),
}


@dataclass(frozen=True)
class Spread:
    """Statistics of a rate over intervals of equal simulated time; `stddev` is 0 with a single one."""

    min: float
    max: float
    mean: float
    stddev: float
    samples: int


@dataclass(frozen=True)
class Samples:
    """Of one direction: requests a second, and bytes a second where the series counts them."""

    iops: Spread
    bytes_per_second: Spread | None


def samples(series: plain.TimeColumns, direction: Direction, start_ns: int, end_ns: int) -> Samples | None:
    """Over the whole intervals between `start_ns` and `end_ns`; None when there is none."""
    ends = series["time_ns"]
    whole = [
        (index, ends[index] - begin)
        for index, begin in enumerate([0, *ends][: len(ends)])
        if start_ns <= begin < ends[index] <= end_ns
    ]
    if not whole:
        return None
    ios, moved_bytes = _COLUMNS[direction]
    return Samples(
        _spread([series[ios][index] * 1e9 / length_ns for index, length_ns in whole]),
        _spread([series[moved_bytes][index] * 1e9 / length_ns for index, length_ns in whole]) if moved_bytes else None,
    )


def _spread(rates: Sequence[float]) -> Spread:
    deviation = statistics.stdev(rates) if len(rates) > 1 else 0.0
    return Spread(min(rates), max(rates), statistics.fmean(rates), deviation, len(rates))
