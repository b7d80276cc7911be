"""Options that fio 3.33 does not have and later versions do, up to 3.41. Not those of data placement (`placement.py`).

Noted are those that concern fio itself and its host; refused are those that change the requests.
"""

from typing import Any

from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.values import anything

_NOTED = {
    "thinkcycles": "processor cycles between requests",
    "priohint": "hint of request priority",
    "steadystate_check_interval": "interval of the check for the steady state",
    "ss_interval": "interval of the check for the steady state",
    "job_start_clock_id": "clock of the job's start in the report",
    "log_window_value": "a log or its format",
    "log_issue_time": "a log or its format",
    "verify_write_sequence": "of verify",
    "verify_header_seed": "of verify",
    "recover_zbd_write_error": "what follows a failed write to a zone",
}
_REFUSED = {
    "sprandom": "precondition in one pass",
    "spr_op": "of sprandom",
    "spr_num_regions": "of sprandom",
    "spr_cs": "of sprandom",
    "num_range": "ranges of a trim",
    "ramp_size": "bytes that are not counted at the beginning",
    "write_zone_remainder": "write what is left of a zone",
}
# What changes nothing: no sprandom, one range a trim, no ramp.
_NEUTRAL = ("0", "1")

OPTIONS: tuple[Option[Any], ...] = (
    *(Option(name, anything, meaning, Effect.NEWER, None) for name, meaning in _NOTED.items()),
    *(
        Option(
            name, anything, meaning, Effect.UNSUPPORTED, None, neutral=_NEUTRAL if name == "num_range" else ("0",),
            reason="it is newer than fio 3.33 and changes the requests",
        )
        for name, meaning in _REFUSED.items()
    ),
)  # fmt: skip
NAMES = frozenset(option.name for option in OPTIONS)
