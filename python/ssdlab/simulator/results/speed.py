"""The speed of a variant in the part of the run that is compared: the steady-state rounds, or the last stage.

Rates, means and percentiles of the steady state are those of its rounds together, as counted by the engine; those of a
last stage are the counts of its jobs over the time from the first start to the last end. The series over time is not
used: an interval across the border of two stages has requests of both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.evidence.estimate import Estimate, of_one_run
from ssdlab.simulator.results.fio_schema import Direction
from ssdlab.simulator.results.job_result import JobResult
from ssdlab.simulator.results.latency import CLUSTERED, Latency, merged
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.results.steady_state import SteadyTiming


@dataclass(frozen=True)
class DirectionSpeed:
    """The requests of one direction in the window."""

    iops: float
    mb_s: float
    latency: Latency

    @property
    def latency_ns_mean(self) -> float | None:
        """None without requests."""
        return self.latency.mean_ns

    @property
    def latency_ns_p99(self) -> float | None:
        """None with fewer than ten requests above it, as `latency_ns_p999`."""
        return self.latency.percentile_ns(99)

    @property
    def latency_ns_p999(self) -> float | None:
        return self.latency.percentile_ns(99.9)


@dataclass(frozen=True)
class Speed:
    """The speed of a variant in the table, the report and `result.json`."""

    window: str
    """`steady state`, or `last stage` if the run did not search for it."""
    seconds: float
    """Simulated seconds in the window."""
    read: DirectionSpeed
    write: DirectionSpeed
    estimate: Estimate
    """`iops` with its interval."""

    @property
    def iops(self) -> float:
        """Requests per second, reads and writes together."""
        return self.read.iops + self.write.iops

    @property
    def mb_s(self) -> float:
        """10^6 bytes per second, reads and writes together."""
        return self.read.mb_s + self.write.mb_s


def speed(result: Result) -> Speed | None:
    """The speed of a result; None without a clock, or with too few reads and writes in the window to tell a rate: that
    of one request depends on when its job happens to end."""
    if result.timing_series is None:
        return None
    if result.steady_state:
        timing = result.steady_state.timing
        if timing is None or timing.window_seconds <= 0:
            return None
        read, write = _settled(timing, "read"), _settled(timing, "write")
        return Speed("steady state", timing.window_seconds, read, write, timing.estimate(read.iops + write.iops))
    last = result.specification.jobs[-1]["stage"]
    jobs = [job for job in result.jobs if job.stage == last]
    seconds = result.last_stage_seconds
    if not seconds:
        return None
    requests = sum(job.read.total_ios + job.write.total_ios for job in jobs)
    if requests < CLUSTERED:
        return None
    read, write = _counted(jobs, "read", seconds), _counted(jobs, "write", seconds)
    return Speed("last stage", seconds, read, write, of_one_run(read.iops + write.iops, requests))


def _settled(timing: SteadyTiming, name: Direction) -> DirectionSpeed:
    seconds = timing.window_seconds
    return DirectionSpeed(timing.ios[name] / seconds, timing.moved_bytes[name] / seconds / 1e6, timing.latency[name])


def _counted(jobs: Sequence[JobResult], name: Direction, seconds: float) -> DirectionSpeed:
    directions = [job.direction(name) for job in jobs]
    return DirectionSpeed(
        sum(direction.total_ios for direction in directions) / seconds,
        sum(direction.io_bytes for direction in directions) / seconds / 1e6,
        merged([direction.latency for direction in directions if direction.latency is not None]),
    )
