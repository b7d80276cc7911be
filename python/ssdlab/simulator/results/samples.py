"""The spread of rates over the intervals of a timed run: fio's `iops_min`, `bw_stddev` and similar keys.

fio samples every half second; here the samples are the intervals of the time series. The series distinguishes stages,
not jobs, so a job has samples only if no other job of its stage makes requests of the same direction.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.fio_schema import Direction

_Column = Literal["read_ios", "read_bytes", "write_ios", "written_bytes", "trim_ios"]
_COLUMNS: dict[Direction, tuple[_Column, _Column | None]] = {
    "read": ("read_ios", "read_bytes"),
    "write": ("write_ios", "written_bytes"),
    "trim": ("trim_ios", None),
}


@dataclass(frozen=True)
class Spread:
    """Statistics of a rate over intervals of equal simulated time; `stddev` is 0 for a single interval."""

    min: float
    max: float
    mean: float
    stddev: float
    samples: int


@dataclass(frozen=True)
class Samples:
    """For one direction: requests per second, and bytes per second if the series counts them."""

    iops: Spread
    bytes_per_second: Spread | None


def samples(series: plain.TimeColumns, direction: Direction, start_ns: int, end_ns: int) -> Samples | None:
    """The samples of the complete intervals between `start_ns` and `end_ns`; None if there are none.

    What is left of an interval at the end of a stage counts as one from half an interval on, or if there is no other: a
    request in 20 us is no rate.
    """
    ends = series["time_ns"]
    whole = [
        (index, ends[index] - begin)
        for index, begin in enumerate([0, *ends][: len(ends)])
        if start_ns <= begin < ends[index] <= end_ns
    ]
    if not whole:
        return None
    longest_ns = max(length_ns for _, length_ns in whole)
    whole = [(index, length_ns) for index, length_ns in whole if 2 * length_ns >= longest_ns]
    ios, moved_bytes = _COLUMNS[direction]
    return Samples(
        _spread([series[ios][index] * 1e9 / length_ns for index, length_ns in whole]),
        _spread([series[moved_bytes][index] * 1e9 / length_ns for index, length_ns in whole]) if moved_bytes else None,
    )


def _spread(rates: Sequence[float]) -> Spread:
    deviation = statistics.stdev(rates) if len(rates) > 1 else 0.0
    return Spread(min(rates), max(rates), statistics.fmean(rates), deviation, len(rates))
