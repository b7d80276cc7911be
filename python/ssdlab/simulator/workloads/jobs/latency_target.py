"""`latency_target` and its window: a job that searches for the largest queue depth at which it meets a latency.

The engine implements the search (`simulation/depth_search.rs`), with the steps of fio 3.33.
"""

import re
from typing import TYPE_CHECKING, Any

from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.values import Refused, microseconds_ns, required, truth

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section


def _percentile(text: str | None, _kilobyte: int) -> float:
    stripped = required(text)
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", stripped) or not 0 < float(stripped) <= 100:
        raise Refused("a percentage above 0 and at most 100, such as 99.9")
    return float(stripped)


LATENCY_TARGET = Option(
    "latency_target", microseconds_ns, "find the depth, up to iodepth, that meets this latency in microseconds",
    Effect.PACE, 0,
)  # fmt: skip
LATENCY_WINDOW = Option(
    "latency_window", microseconds_ns, "duration of the test of each depth, in microseconds", Effect.PACE, 0
)
LATENCY_PERCENTILE = Option(
    "latency_percentile", _percentile, "percentage of requests that must meet the latency", Effect.PACE, 100.0
)
LATENCY_RUN = Option(
    "latency_run", truth, "continue the search until the end of the job; default: end at the depth found", Effect.PACE,
    False,
)  # fmt: skip

OPTIONS: tuple[Option[Any], ...] = (LATENCY_TARGET, LATENCY_WINDOW, LATENCY_PERCENTILE, LATENCY_RUN)


def latency_target(section: "Section") -> plain.JobPart:
    """The engine job's `latency_target`; empty if the option is not set."""
    if not section.get(LATENCY_TARGET):
        return {}
    return {
        "latency_target": {
            "latency_ns": section.get(LATENCY_TARGET),
            "window_ns": section.get(LATENCY_WINDOW),
            "percent": section.get(LATENCY_PERCENTILE),
            "goes_on": section.get(LATENCY_RUN),
        }
    }
