"""The settings of a study's run (seed, scale, workers, progress), and the function with which it simulates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import RunFailed
from ssdlab.simulator.runs import ShowProgress, run_all, silent
from ssdlab.simulator.workloads import jobs

if TYPE_CHECKING:
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification
    from ssdlab.simulator.workloads.jobs import JobFile


@dataclass
class Context:
    """Settings of a run. `full`: simulate the whole capacity. `workers`: processes; None for as many as processors and
    memory allow."""

    seed: int = 1
    full: bool = False
    workers: int | None = None
    show_progress: ShowProgress = silent
    drive: str | None = None
    """The only drive to study, a name or a drive file; None for all of the study."""
    readings: Sequence[Path] = ()
    """Files with readings of readers' drives, which internal-fragmentation draws."""
    specifications: "dict[str, Specification]" = field(default_factory=dict)
    """The specification of every run so far, by label; sufficient to reproduce the study exactly."""
    known: "Sequence[Result]" = ()
    """Results of runs before the study. A run of an equal specification has the same result, and is not repeated."""

    def scale(self, text: str) -> Fraction | None:
        """The scale of the study's short form, such as "1/16"; None if the whole capacity is simulated."""
        return None if self.full else Fraction(text)

    def seeds(self, count: int) -> list[int]:
        """`count` consecutive seeds, starting with `seed`, for the spread of a figure."""
        return [self.seed + index for index in range(count)]

    def job(self, path: Path, **variables: str) -> "JobFile":
        """Loads a job file of the study. `${NAME}` in it is replaced by the variable of that name."""
        return jobs.load(path, environment=variables)

    def simulate(self, specifications: "Mapping[str, Specification]") -> "dict[str, Result]":
        """Runs all specifications and returns their results with the same labels, in the same order.

        Raises RunFailed if a result has a failure, such as a drive that became read-only, because its figures would
        cover only a part of the run. Studies of worn-out drives use `simulate_to_the_end`.
        """
        results = self.simulate_to_the_end(specifications)
        for label, result in results.items():
            if result.failure:
                raise RunFailed(f"{label}: {result.failure}")
        return results

    def simulate_to_the_end(self, specifications: "Mapping[str, Specification]") -> "dict[str, Result]":
        """As `simulate`, but returns the results of drives that wore out, with `failure` set."""
        repeated = self.specifications.keys() & specifications.keys()
        if repeated:
            raise ValueError(f"labels of runs must differ: {sorted(repeated)}")
        self.specifications |= specifications
        results = {
            label: result
            for label, specification in specifications.items()
            for result in self.known
            if result.specification == specification
        }
        new = {label: specification for label, specification in specifications.items() if label not in results}
        simulated = run_all(list(new), list(new.values()), self.workers, self.show_progress)
        results |= zip(new, simulated, strict=True)
        return {label: results[label] for label in specifications}
