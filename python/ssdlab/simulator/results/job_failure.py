"""The reasons for which a job fails by its own limits, with fio's texts and error numbers.

Not for drives that become read-only.
"""

from dataclasses import dataclass

from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.fio_schema import DIRECTIONS

_INPUT_OUTPUT_ERROR = 5
_TIMED_OUT = 110


@dataclass(frozen=True)
class JobFailure:
    """`error` is fio's error number, `place` fio's text behind the number, `words` the message."""

    error: int
    place: str
    words: str


def job_failure(raw: plain.JobOutcome) -> JobFailure | None:
    """The failure of a job in the engine's outcome (`simulation/job_limits.rs`); None if it did not fail."""
    found = raw["timing"]["failure"] if raw["timing"] else None
    if found is None:
        return None
    limit, name, allowed, got = found["limit"], raw["name"], found["allowed"], found["found"]
    if limit == "latency-ns-max":
        direction = DIRECTIONS[found["direction"]]
        what = f"{direction} {found['offset_bytes']} {found['length_bytes']}"
        return JobFailure(
            _TIMED_OUT,
            "func=max latency exceeded, error=Connection timed out",
            f"{name}: latency of {got} nsec exceeds specified max ({allowed} nsec): {what}",
        )
    missed = {
        "bytes-per-second-min": f"rate_min={allowed}B/s not met, got {got}B/s",
        "iops-min": f"rate_iops_min={allowed} not met, got {got} IOPS",
    }[limit]
    return JobFailure(_INPUT_OUTPUT_ERROR, "func=check_min_rate, error=Input/output error", f"{name}: {missed}")
