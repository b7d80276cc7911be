"""Executes the missing runs of a sweep and stores their results. An executor decides where: locally or on a cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from ssdlab.experiments.sweeps.dataset import Dataset
from ssdlab.experiments.sweeps.plan import Planned
from ssdlab.experiments.sweeps.rows import parquet, row
from ssdlab.simulator.runs import run_many

Progress = Callable[[int, float], None]
"""Called with the number of finished runs, and the sum of the finished shares of the running ones."""

Executor = Callable[[Sequence[Planned], Dataset], Iterator[str]]
"""Executes all runs, stores each result in the data set, and yields its key when it is stored."""


@dataclass(frozen=True)
class Sweep:
    """The runs of a sweep and the place of their results."""

    planned: Sequence[Planned]
    dataset: Dataset

    def missing(self) -> list[Planned]:
        """The runs without a stored result, in order; duplicate points are run once."""
        kept = self.dataset.keys()
        return list({each.key: each for each in self.planned if each.key not in kept}.values())

    def all_keys(self) -> list[str]:
        """The keys of the sweep's runs in order, stored or not."""
        return list(dict.fromkeys(each.key for each in self.planned))


def carry_out(sweep: Sweep, executor: Executor, on_done: Callable[[int], None] | None = None) -> int:
    """Executes the missing runs and returns their number. After Ctrl-C or an error, finished results remain stored."""
    missing = sweep.missing()
    done = 0
    for _ in executor(missing, sweep.dataset) if missing else ():
        done += 1
        if on_done:
            on_done(done)
    return done


def on_this_machine(workers: int | None, on_progress: Progress | None = None) -> Executor:
    """An executor with worker processes; by default as many as processors and memory allow."""

    def execute(planned: Sequence[Planned], dataset: Dataset) -> Iterator[str]:
        shares: dict[int, float] = {}

        def tell(index: int, share: float, host_bytes: int) -> None:
            shares[index] = share
            if on_progress:
                on_progress(done, sum(shares.values()))

        done = 0
        with closing(run_many([each.specification for each in planned], workers, tell)) as runs:
            for index, result in runs:
                each = planned[index]
                dataset.write(each.key, parquet(row(each.point, result, each.endurance_cycles)))
                shares.pop(index, None)
                done += 1
                yield each.key

    return execute
