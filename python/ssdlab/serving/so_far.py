"""What a drive that is still at work has come to, as the result of a run that ended now."""

from collections.abc import Mapping
from typing import Any

from ssdlab import engine
from ssdlab.results.result import Result
from ssdlab.specification import Reporting, Specification


def result_of(
    outcome: dict[str, Any], drive: Mapping[str, Any], *, seed: int, scale: str, timed: bool = True
) -> Result:
    """From the engine's outcome; `drive` is as given to the engine. Its jobs are the phases that the outcome names."""
    phases = [{"name": job["name"], "clone": job["clone"], "stage": job["stage"]} for job in outcome["jobs"]]
    specification = Specification(
        engine={"seed": seed, "drive": drive, "timed": timed, "jobs": phases},
        reporting=tuple(Reporting({}, phase["stage"]) for phase in phases),
        scale=scale,
    )
    return Result(specification, outcome, version=engine.native().version())
