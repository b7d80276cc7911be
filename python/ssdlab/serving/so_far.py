"""The state of a running drive as the result of a run that ended now."""

from typing import cast

from ssdlab.simulator import engine
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.specification import ReportedJob, Reporting, Specification


def result_of(outcome: plain.Outcome, drive: plain.Drive, *, seed: int, scale: str, timed: bool = True) -> Result:
    """A result from the engine's outcome. `drive` is as given to the engine. The phases in the outcome become jobs."""
    phases: list[ReportedJob] = [
        {"name": job["name"], "clone": job["clone"], "stage": job["stage"]} for job in outcome["jobs"]
    ]
    specification = Specification(
        # This specification is never run: the phases contain no requests.
        engine=cast("plain.Specification", {"seed": seed, "drive": drive, "timed": timed, "jobs": phases}),
        reporting=tuple(Reporting({}, phase["stage"]) for phase in phases),
        scale=scale,
    )
    return Result(specification, outcome, version=engine.native().version())
