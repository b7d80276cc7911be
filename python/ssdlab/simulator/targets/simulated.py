"""The simulated drive as a target: runs a specification, made by `ssdlab.simulator.workloads.specifying`."""

import json
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.simulator import engine
from ssdlab.simulator.engine import Progress
from ssdlab.simulator.engine.beginning import since_beginning
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.specification import Specification


def run(
    specification: Specification, on_progress: Progress | None = None, *, save_state: str | Path | None = None
) -> Result:
    """Runs a specification in this process. Writes the drive's final state to `save_state`, if given.

    Raises InputError and RunFailed as `ssdlab.simulator.engine.simulate`.
    """
    return result_of(specification, *engine.simulate(work_of(specification, save_state), on_progress))


def work_of(specification: Specification, save_state: str | Path | None = None) -> engine.Work:
    """The input for the native module. Raises InputError if the path of the initial state is not known."""
    state = specification.initial_state
    if state is not None and state.path is None:
        raise InputError(f"the run begins from a saved state (sha256 {state.sha256}), which is missing")
    return engine.Work(
        specification.engine_json(),
        specification.scale,
        specification.trace_json,
        (state.path, state.times) if state and state.path is not None else None,
        None if save_state is None else str(save_state),
        specification.held,
    )


def result_of(specification: Specification, outcome: str, wall_seconds: float) -> Result:
    """The result of a run from the native module's JSON outcome, which can come from another process."""
    counted = since_beginning(json.loads(outcome))
    return Result(specification, counted, version=engine.native().version(), wall_seconds=wall_seconds)
