"""`steadystate` and its times: a job that ends when its rate is steady, by fio's rule or, in ssdlab only, by SNIA's.

The engine implements it (`simulation/job_steady_state.rs`). SNIA's rule over rounds of host writes instead of time is
`ssdlab compare --until steady`, which repeats the last stage.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.pace import Complain
from ssdlab.simulator.workloads.jobs.values import Refused, duration_ns, flag, required, words

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section

_SECOND_NS = 10**9
_CRITERIA: dict[str, plain.SteadyCriterion] = {
    "iops": "iops",
    "iops_slope": "iops-slope",
    "bw": "bw",
    "bw_slope": "bw-slope",
}
_SNIA: dict[str, plain.SteadyCriterion] = {"snia-pts:iops": "snia-pts-iops", "snia-pts:bw": "snia-pts-bw"}
# The range that SNIA's rule allows, in percent of the mean, and the number of its rounds.
_SNIA_RANGE = 20.0
_SNIA_ROUNDS = 5


@dataclass(frozen=True)
class Steady:
    """A criterion with its limit, in requests or bytes per second, or in percent of the mean."""

    criterion: plain.SteadyCriterion
    limit: float
    is_percent: bool

    @property
    def text(self) -> str:
        """The criterion in the format of fio's report."""
        return f"{self.criterion.replace('-', '_')}:{self.limit:.6f}{'%' if self.is_percent else ''}"


def _steady(text: str | None, _kilobyte: int) -> Steady:
    if text is not None and text in _SNIA:
        return Steady(_SNIA[text], _SNIA_RANGE, True)
    criterion, _, limit = required(text).partition(":")
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(%?)", limit)
    if criterion not in _CRITERIA or not match or not float(match[1]):
        raise Refused(
            f"one of {', '.join(_CRITERIA)} with a limit above 0 behind a colon, such as iops:5%; "
            "or, for SNIA's rule, snia-pts:iops or snia-pts:bw"
        )
    return Steady(_CRITERIA[criterion], float(match[1]), bool(match[2]))


STEADYSTATE = Option[Steady | None](
    "steadystate", _steady,
    "end when the rate is steady by fio's rule; ssdlab only: by SNIA's rule with snia-pts:iops, snia-pts:bw",
    Effect.CLOCK, None, ("ss",),
)  # fmt: skip
DURATION = Option(
    "steadystate_duration", duration_ns, "seconds over which the rate must be steady; 0: off", Effect.CLOCK, 0,
    ("ss_dur",),
)  # fmt: skip
RAMP = Option(
    "steadystate_ramp_time", duration_ns, "time before the search for the steady state", Effect.CLOCK, 0, ("ss_ramp",)
)  # fmt: skip

EXITALL = Option("exitall", flag, "the first job to end also ends the jobs selected by exit_what", Effect.ACTS, False)
EXIT_WHAT = Option(
    "exit_what", words("group", "stonewall", "all"),
    "jobs to end: those of the same stage (also for group), or of all stages", Effect.ACTS, "group",
)  # fmt: skip

OPTIONS: tuple[Option[Any], ...] = (STEADYSTATE, DURATION, RAMP, EXITALL, EXIT_WHAT)


def others_ended(section: "Section") -> plain.EndsOthers:
    """Which jobs end when this one ends, if it ends others."""
    return "all" if section.get(EXIT_WHAT) == "all" else "stage"


def ending(section: "Section", exits_all: bool, complain: Complain) -> plain.JobPart:
    """The engine job's `ends_others` and `steady_state`, if it has them.

    `exits_all` is true if any job of the file sets `exitall`, which in fio applies to all jobs. Without a duration fio
    does not look for a steady state.
    """
    part: plain.JobPart = {"ends_others": others_ended(section)} if exits_all else {}
    rule = section.get(STEADYSTATE)
    duration = section.get(DURATION)
    if rule is None or not duration:
        return part
    if duration % _SECOND_NS or duration > 10**6 * _SECOND_NS:
        raise complain(DURATION, "is not a whole number of seconds up to 1,000,000; fio checks once per second")
    if rule.criterion in _SNIA.values() and duration // _SECOND_NS % _SNIA_ROUNDS:
        raise complain(DURATION, f"is for five rounds of SNIA's rule: a multiple of {_SNIA_ROUNDS} seconds")
    part["steady_state"] = {
        "criterion": rule.criterion,
        "limit": rule.limit,
        "is_percent": rule.is_percent,
        "duration_seconds": duration // _SECOND_NS,
        "ramp_ns": section.get(RAMP),
    }
    return part
