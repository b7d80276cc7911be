"""The speed of a variant in the part of the run that is compared: the steady-state rounds, or the last stage.

Rates, means and percentiles of the steady state are those of its rounds together, as counted by the engine; those of a
last stage are the counts of its jobs over the time of the longest, as fio sums up a group. The series over time is not
used: an interval across the border of two stages has requests of both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.results.fio_schema import Direction
from ssdlab.results.job_result import JobResult
from ssdlab.results.latency import merged
from ssdlab.results.result import Result
from ssdlab.results.steady_state import SteadyTiming


@dataclass(frozen=True)
class DirectionSpeed:
    """The requests of one direction in the window; the latencies are None if there were none."""

    iops: float
    mb_s: float
    latency_ns_mean: float | None
    latency_ns_p999: float | None


@dataclass(frozen=True)
class Speed:
    """The speed of a variant in the table, the report and `result.json`."""

    window: str
    """`steady state`, or `last stage` if the run did not search for it."""
    seconds: float
    """Simulated seconds in the window."""
    read: DirectionSpeed
    write: DirectionSpeed

    @property
    def iops(self) -> float:
        """Requests per second, reads and writes together."""
        return self.read.iops + self.write.iops

    @property
    def mb_s(self) -> float:
        """10^6 bytes per second, reads and writes together."""
        return self.read.mb_s + self.write.mb_s


def speed(result: Result) -> Speed | None:
    """The speed of a result; None without a clock, or if the window has no length."""
    if result.timing_series is None:
        return None
    if result.steady_state:
        timing = result.steady_state.timing
        if timing is None or timing.window_seconds <= 0:
            return None
        return Speed("steady state", timing.window_seconds, _settled(timing, "read"), _settled(timing, "write"))
    last = result.specification.jobs[-1]["stage"]
    jobs = [job for job in result.jobs if job.stage == last]
    seconds = max((job.seconds or 0.0 for job in jobs), default=0.0)
    if seconds <= 0:
        return None
    return Speed("last stage", seconds, _counted(jobs, "read", seconds), _counted(jobs, "write", seconds))


def _settled(timing: SteadyTiming, name: Direction) -> DirectionSpeed:
    latency = timing.latency[name]
    if not timing.ios[name]:
        return DirectionSpeed(0.0, 0.0, None, None)
    return DirectionSpeed(
        timing.ios[name] / timing.window_seconds,
        timing.moved_bytes[name] / timing.window_seconds / 1e6,
        latency.mean_ns,
        latency.percentile_ns(99.9),
    )


def _counted(jobs: Sequence[JobResult], name: Direction, seconds: float) -> DirectionSpeed:
    directions = [job.direction(name) for job in jobs]
    latency = merged([direction.latency for direction in directions if direction.latency is not None])
    return DirectionSpeed(
        sum(direction.total_ios for direction in directions) / seconds,
        sum(direction.io_bytes for direction in directions) / seconds / 1e6,
        latency.mean_ns,
        latency.percentile_ns(99.9),
    )
