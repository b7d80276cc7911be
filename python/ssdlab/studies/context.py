"""What a study runs with: seed, scale, workers, progress, and the one way in which it simulates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import RunFailed
from ssdlab.runs import ShowProgress, run_all, silent
from ssdlab.workloads import jobs

if TYPE_CHECKING:
    from ssdlab.results import Result
    from ssdlab.specification import Specification
    from ssdlab.workloads.jobs import JobFile


@dataclass
class Context:
    """`full` asks for the whole capacity; `workers` None: as many as processors and memory allow."""

    seed: int = 1
    full: bool = False
    workers: int | None = None
    show_progress: ShowProgress = silent
    specifications: "dict[str, Specification]" = field(default_factory=dict)
    """Every run so far by its label: enough to repeat the study to the same bytes."""

    def scale(self, text: str) -> Fraction | None:
        """The scale that the study chose for its short form ("1/16"); None when the whole capacity is wanted."""
        return None if self.full else Fraction(text)

    def seeds(self, count: int) -> list[int]:
        """So many seeds, the first of them `seed`, for the spread of a figure."""
        return [self.seed + index for index in range(count)]

    def job(self, path: Path, **variables: str) -> "JobFile":
        """A job file of the study; `${NAME}` in it is replaced by the variable of that name."""
        return jobs.load(path, environment=variables)

    def simulate(self, specifications: "Mapping[str, Specification]") -> "dict[str, Result]":
        """Runs all and gives their results under the same labels, in the same order.

        Raises RunFailed when a drive turned read-only on the way: its figures would be those of a part of the run. A
        study for which that is the point uses `simulate_to_the_end`.
        """
        results = self.simulate_to_the_end(specifications)
        for label, result in results.items():
            if result.failure:
                raise RunFailed(f"{label}: {result.failure}")
        return results

    def simulate_to_the_end(self, specifications: "Mapping[str, Specification]") -> "dict[str, Result]":
        """The same, and a drive that wore out is a result too, with `failure` set."""
        repeated = self.specifications.keys() & specifications.keys()
        if repeated:
            raise ValueError(f"labels of runs must differ: {sorted(repeated)}")
        self.specifications |= specifications
        labels = list(specifications)
        results = run_all(labels, list(specifications.values()), self.workers, self.show_progress)
        return dict(zip(labels, results, strict=True))
