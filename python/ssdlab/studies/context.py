"""What a study runs with: seed, scale, workers, progress, and the one way in which it simulates."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import RunFailed

if TYPE_CHECKING:
    from ssdlab.jobs import JobFile
    from ssdlab.results import Result
    from ssdlab.runs import Progress
    from ssdlab.targets.specification import Specification

ShowProgress = Callable[[Sequence[str]], "AbstractContextManager[Progress | None]"]
"""Given the labels of runs, what shows how far each of them is."""


def _silent(_labels: Sequence[str]) -> "AbstractContextManager[Progress | None]":
    return nullcontext(None)


@dataclass
class Context:
    """`full` asks for the whole capacity; `workers` None: as many as processors and memory allow."""

    seed: int = 1
    full: bool = False
    workers: int | None = None
    show_progress: ShowProgress = _silent
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
        from ssdlab import jobs

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
        from ssdlab.runs import run_many

        repeated = self.specifications.keys() & specifications.keys()
        if repeated:
            raise ValueError(f"labels of runs must differ: {sorted(repeated)}")
        self.specifications |= specifications
        labels = list(specifications)
        results: dict[str, Result] = {}
        with (
            self.show_progress(labels) as tell,
            closing(run_many(list(specifications.values()), self.workers, tell)) as runs,
        ):
            for index, result in runs:
                results[labels[index]] = result
                if tell:
                    tell(index, 1.0, result.ledger.host_written_bytes)
        return {label: results[label] for label in labels}
