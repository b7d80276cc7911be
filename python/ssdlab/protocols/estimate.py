"""What a protocol will write and read on a target and how long that takes, before anything is run."""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.engine import plain
from ssdlab.protocols.contract import Point
from ssdlab.protocols.steps import Engine
from ssdlab.targets.device.plan import RATE_MB_S, write_share

# SNIA's rule takes five rounds at least.
_ROUNDS_MIN = 5.0


@dataclass(frozen=True)
class Estimate:
    """One step, at `RATE_MB_S`."""

    written_bytes: float
    read_bytes: float
    idle_seconds: float
    """Before the step."""
    seconds: float
    """With the idle time."""


def of_point(point: Point, size_bytes: int, *, seed: int) -> Sequence[Estimate]:
    """Of each step in order; for one that ends when it is steady, of the fewest rounds that tell."""
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
