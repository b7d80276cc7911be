"""The limits at which a job fails: a rate below its minimum, or a request that takes too long.

The engine implements them (`simulation/job_limits.rs`), as fio 3.33 does. Not for maximum rates; see `pace.py`.
"""

from typing import TYPE_CHECKING, Any

from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.ending import others_ended
from ssdlab.simulator.workloads.jobs.latency_target import LATENCY_TARGET
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.pace import RATE, RATE_IOPS, Complain
from ssdlab.simulator.workloads.jobs.values import (
    LARGEST,
    PerDirection,
    byte_count,
    flag,
    microseconds_ns,
    per_direction,
    whole_number,
)

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section

_MILLISECOND_NS = 10**6
_LIMIT = Effect.LIMIT
_NONE = PerDirection[int | None](None, None, None)
_LEAST = per_direction(whole_number(0, LARGEST))

RATE_MIN = Option(
    "rate_min",
    per_direction(byte_count),
    "minimum bytes per second, by direction: the job fails below it",
    _LIMIT,
    _NONE,
    ("ratemin",),
)
RATE_IOPS_MIN = Option(
    "rate_iops_min", _LEAST, "minimum requests per second, by direction: the job fails below it", _LIMIT, _NONE
)
RATE_CYCLE = Option(
    "rate_cycle", whole_number(0, 2**31 - 1), "interval in ms for the check of the minimum rate", _LIMIT, 1000,
    ("ratecycle",),
)  # fmt: skip
MAX_LATENCY = Option(
    "max_latency", per_direction(microseconds_ns),
    "maximum latency of a request, by direction, in microseconds: the job fails above it", _LIMIT, _NONE,
)  # fmt: skip
EXITALL_ON_ERROR = Option(
    "exitall_on_error", flag, "a failed job also ends the jobs selected by exit_what", _LIMIT, False
)

OPTIONS: tuple[Option[Any], ...] = (RATE_MIN, RATE_IOPS_MIN, RATE_CYCLE, MAX_LATENCY, EXITALL_ON_ERROR)


def limits(section: "Section", complain: Complain) -> plain.JobPart:
    """The engine job's `limits`; empty if there are none."""
    rate_min = _by_direction(section.get(RATE_MIN))
    iops_min = _by_direction(section.get(RATE_IOPS_MIN))
    latency_max = _by_direction(section.get(MAX_LATENCY))
    ends_others = section.get(EXITALL_ON_ERROR)
    is_limited = any(any(each.values()) for each in (rate_min, iops_min, latency_max))
    if not is_limited and not (ends_others and section.get(LATENCY_TARGET)):
        return {}
    if any(rate_min.values()) and any(iops_min.values()):
        raise complain(RATE_IOPS_MIN, "cannot be combined with rate_min; fio accepts one of them")
    for least, most in ((RATE_MIN, RATE), (RATE_IOPS_MIN, RATE_IOPS)):
        for direction, rate in vars(section.get(most)).items():
            if rate and (getattr(section.get(least), direction) or 0) > rate:
                raise complain(least, f"is more than {most.name} allows for {direction}s, {rate:,}")
    return {
        "limits": {
            "bytes_per_second_min": rate_min,
            "iops_min": iops_min,
            "latency_ns_max": latency_max,
            # fio counts whole milliseconds, at least one.
            "window_ns": max(1, section.get(RATE_CYCLE)) * _MILLISECOND_NS,
            "ends_others": others_ended(section) if ends_others else "none",
        }
    }


def _by_direction(given: PerDirection[int | None]) -> plain.PerDirection[int | None]:
    return {"read": given.read or None, "write": given.write or None, "trim": given.trim or None}
