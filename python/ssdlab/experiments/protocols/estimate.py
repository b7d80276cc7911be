"""Estimates of what a protocol writes and reads on a target, and of its duration, before it runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.experiments.protocols.contract import Point
from ssdlab.experiments.protocols.steps import Engine
from ssdlab.hardware.device.plan import RATE_MB_S, write_share
from ssdlab.simulator.engine import plain

# SNIA's rule needs at least five rounds.
_ROUNDS_MIN = 5.0


@dataclass(frozen=True)
class Estimate:
    """The estimate for one step, at `RATE_MB_S`."""

    written_bytes: float
    read_bytes: float
    idle_seconds: float
    """Idle time before the step."""
    seconds: float
    """Duration of the step, including the idle time."""


def of_point(point: Point, size_bytes: int, *, seed: int) -> Sequence[Estimate]:
    """The estimate for each step, in order; for the minimum number of rounds if the step ends when steady."""
    workload = Engine(point, len(point.steps), {})
    jobs = workload.resolve(size_bytes, seed=seed)
    found = []
    for number, step in enumerate(point.steps):
        own = [job for job in jobs if workload.step_of_stage[job["stage"]] == number]
        if step.end == "steady":
            moved = [(_ROUNDS_MIN * size_bytes, write_share(job)) for job in own[:1]]
        else:
            moved = [(_moved_bytes(job), write_share(job)) for job in own if job["direction"] != "trim"]
        written = sum(count * share for count, share in moved)
        read = sum(count * (1 - share) for count, share in moved)
        busy = (written + read) / RATE_MB_S / 1e6
        found.append(Estimate(written, read, step.idle_seconds, step.idle_seconds + busy))
    return found


def _moved_bytes(job: plain.Job) -> float:
    if job.get("time_based"):
        return (job.get("runtime_ns") or 0) / 1e9 * RATE_MB_S * 1e6
    return job["io_bytes"]
