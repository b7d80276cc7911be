"""Describes the state of a drive at the start and end of a run: without it, a WAF is hard to interpret.

For runs that end with their job. For runs that search for the steady state, `steady_state.py` applies SNIA's rule.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ssdlab.foundation.quantities import format_share, rounded
from ssdlab.simulator.workloads.specifying import PRECONDITION_NAME, WARM_UP_DRIVE_WRITES, WARM_UP_NAME

if TYPE_CHECKING:
    from ssdlab.simulator.results.result import Result

# The values of `--precondition`, and a state saved by another run.
_STARTS = {
    "none": "fresh",
    "fill": "filled once sequentially",
    "steady": "in the steady state of a smaller drive",
    "saved": "in a saved state",
}
_FROM = {
    "none": "from a fresh drive",
    "fill": "filled sequentially first",
    "steady": "from the steady state of a smaller drive",
    "trace": "from the steady state of the trace",
    "saved": "from a saved state",
}
# The last two fifths of the writes show whether write amplification is still changing.
_PARTS = 5
_CHANGE_MAX = 0.05
# With fewer drive writes than this, no part of the run predicts the next one. Write amplification is level at first on
# a drive that was fresh or filled in order, and rises to several times that later.
_DRIVE_WRITES_MIN = 3
_DRIVE_WRITES_MIN_WHEN_STEADY = 1
# A run that writes less has not yet overwritten what it began with. Namespaces can leave a few percent unwritten.
_DRIVE_WRITES_OF_A_LIFE = 0.95
TELLS_NO_LIFE = "the last stage wrote less than the drive's capacity, which says nothing of its life"

PARTS_UNDETERMINED = "the last stage made too few writes to tell the parts of its WAF"


# The saved state is the map: buffer, queues and open blocks are empty. What that changes: docs/theory/steady-state.md.
_COLD = (
    "no further drive write was made before anything was counted: latencies of the first drive write are those of a "
    "drive that was idle before (99.9th percentiles up to 5 times as long)"
)


def _of_capacity(share: float) -> str:
    """Drive writes: as times from one on, below as a share."""
    return f"{rounded(share, 2)} times its capacity" if share >= 1 else f"{format_share(share, 2)} of its capacity"


def sentence(result: "Result", start: str) -> str:
    """The state at the start and at the end of the last stage, with the figures that show it."""
    began = f"the drive began {_STARTS[start]}{_warm_up(result)}"
    written = result.last_stage_ledger.host_written_bytes
    share = written / result.capacity.user_bytes
    if not written or result.waf is None:
        return f"{began}; the last stage wrote nothing{_read_nothing(result)}"
    wrote = f"the last stage wrote {_of_capacity(share)}"
    cold = f"; {_COLD}; leave them out with ramp_time" if is_cold(result) else ""
    needed = _needed(start)
    if share < needed:
        return f"{began}; {wrote}, too little to tell the state at the end (which takes {needed} times){cold}"
    before, last = waf_of_last_parts(result)
    whole = result.last_stage_ledger.waf
    if before is None or last is None or whole is None:
        return f"{began}; {wrote}{cold}"
    ended = "near steady" if _is_level(before, last) else "not steady"
    figures = f"WAF {last:.2f} over the last fifth of that, {whole:.2f} over all of it"
    return f"{began} and ended {ended}: {wrote}, {figures}{cold}"


def _read_nothing(result: "Result") -> str:
    """Why the last stage made no request, if it reads zones in which nothing is written, which fio leaves out, too."""
    zoned = result.specification.engine["jobs"][-1].get("zoned")
    if not zoned or zoned["read_beyond_pointer"] or result.jobs[-1].read.total_ios:
        return ""
    return " and read nothing: its zones are empty, and only what is written is read (read_beyond_wp=1: all of a zone)"


def is_cold(result: "Result") -> bool:
    """Whether the last stage began within the first drive write after a saved state, with a clock."""
    return result.specification.initial_state is not None and result.timing_series is not None and not _warm_up(result)


def _warm_up(result: "Result") -> str:
    """What was written to the drive between its start and the last stage; "" if it was less than a drive write."""
    if not result.stages:
        return ""
    first, last = result.stages[0], result.stages[-1]
    name = result.specification.jobs[0]["name"]
    if name == WARM_UP_NAME:
        share = (first["host_written_bytes_end"] - first["host_written_bytes_start"]) / result.capacity.user_bytes
        return f", was written {_times(share)} more, not measured"
    is_filled = name == PRECONDITION_NAME
    began = first["host_written_bytes_end" if is_filled else "host_written_bytes_start"]
    share = (last["host_written_bytes_start"] - began) / result.capacity.user_bytes
    if share < WARM_UP_DRIVE_WRITES:
        return ""
    more = " more" if is_filled or result.specification.initial_state is not None else ""
    return f", was written {_times(share)}{more} by its earlier stages"


def _times(share: float) -> str:
    said = f"{share:.2g}"
    return "once" if said == "1" else f"{said} times"


def beginning(results: Sequence["Result"], start: str) -> str:
    """The state at the start, as the beginning of a line about all results: "from a fresh drive".

    The steady state of a trace ("trace") is that of the drive itself, which repeats it.
    """
    if results[0].specification.initial_state is None or results[0].timing_series is None:
        return _FROM[start]
    if any(is_cold(result) for result in results):
        return f"{_FROM[start]} with empty buffer and queues"
    return f"{_FROM[start]}, after one more drive write"


def facts(results: Mapping[str, "Result"], start: str) -> list[str]:
    """What the states of several drives, by label, mean for the figures: sentences without a full stop."""
    found = [_COLD] if any(is_cold(result) for result in results.values()) else []
    unsettled = [label for label, result in results.items() if result.waf and caveat(result, start)]
    if unsettled:
        who = "" if len(unsettled) == len(results) else f" of {', '.join(unsettled)}"
        told = ", and TBW and years follow from it" if any(tells_life(results[label]) for label in unsettled) else ""
        found.append(
            f"the write amplification{who} is not that of the steady state{told}: "
            "a run until the steady state has that of long use"
        )
    return found


def caveat(result: "Result", start: str) -> str:
    """What to add to a sentence with the figures of the last stage, which are means over it: "" if it was steady."""
    written = result.last_stage_ledger.host_written_bytes
    if not written or (result.steady_state and result.steady_state.reached):
        return ""
    if written / result.capacity.user_bytes < _needed(start):
        return ", in a run too short to be steady"
    before, last = waf_of_last_parts(result)
    return (
        "" if before is None or last is None or _is_level(before, last) else ", on average of a run that is not steady"
    )


def tells_life(result: "Result") -> bool:
    """Whether the write amplification of the last stage says something of the drive's life."""
    if result.steady_state and result.steady_state.reached:
        return True
    return result.last_stage_ledger.host_written_bytes >= _DRIVE_WRITES_OF_A_LIFE * result.capacity.user_bytes


def _needed(start: str) -> float:
    return _DRIVE_WRITES_MIN_WHEN_STEADY if start == "steady" else _DRIVE_WRITES_MIN


def _is_level(before: float, last: float) -> bool:
    return abs(last / before - 1) <= _CHANGE_MAX


def waf_of_last_parts(result: "Result") -> tuple[float | None, float | None]:
    """Write amplification over the fourth and the fifth part of the last stage's host writes; None without writes."""
    last_stage = result.stages[-1]
    end, start = last_stage["host_written_bytes_end"], last_stage["host_written_bytes_start"]
    programmed = dict(result.programmed_over_host_bytes)
    marks = [min(programmed, key=lambda at, mark=mark: abs(at - mark)) for mark in _marks(start, end)]  # type: ignore[misc]

    def waf(first: int, last: int) -> float | None:
        return (programmed[last] - programmed[first]) / (last - first) if last > first else None

    return waf(marks[0], marks[1]), waf(marks[1], marks[2])


def _marks(start: int, end: int) -> list[float]:
    """The host bytes at which the fourth fifth begins, at which it ends, and at the end."""
    return [end - (end - start) * parts / _PARTS for parts in (2, 1, 0)]


def offer(result: "Result", start: str) -> str | None:
    """The option for a run that starts in a more typical state; None if it started in the steady state."""
    if start == "steady":
        return None
    if result.last_stage_ledger.host_written_bytes or _warm_up(result):
        return "for the steady state add --precondition steady"
    return "for a written drive add --precondition fill" if start == "none" else None
