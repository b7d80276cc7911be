"""Executes the runs of a sweep on a Dask cluster.

Each task contains complete specifications. The worker executes them and stores the results itself, so that the
scheduler transfers keys but no results. Dask repeats a task if its worker dies. Results are stored completely or not at
all, and the same task writes the same bytes, so that no result is lost or duplicated.
"""

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.sweeps.dataset import Dataset
from ssdlab.experiments.sweeps.execution import Executor
from ssdlab.experiments.sweeps.plan import Planned
from ssdlab.experiments.sweeps.rows import parquet, row
from ssdlab.simulator.engine import native
from ssdlab.simulator.targets import simulated

# A task should take a few seconds: for shorter ones the scheduler's overhead is noticeable, longer ones are lost with a
# worker.
_TASK_SECONDS = 3.0
# The time of client and scheduler for a task, measured on two busy cores (docs/simulate/sweeps.md). With very many
# threads, tasks become longer, so that client and scheduler can keep up.
_DISPATCH_SECONDS = 0.02
_RUNS_IN_TASK_MAX = 256
# Tasks waiting for each thread: enough that no thread is idle, few enough that the size of later tasks can be adjusted.
_TASKS_A_THREAD = 3
_CONNECT_SECONDS = 10


@dataclass(frozen=True)
class Finished:
    """A worker's report on a task."""

    keys: Sequence[str]
    seconds: float
    failure: str | None = None
    is_input: bool = False


def on_cluster(address: str) -> Executor:
    """An executor on the Dask scheduler at `address`, such as tcp://scheduler:8786.

    Raises InputError if no scheduler answers, if it has no workers, or if a worker has no ssdlab, another version of
    it, or no access to the place of the results.
    """

    def execute(planned: Sequence[Planned], dataset: Dataset) -> Iterator[str]:
        import distributed

        try:
            client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(
                f"--cluster {address}: no Dask scheduler responds there within {_CONNECT_SECONDS} s ({error})"
            ) from None
        with client:
            _check_workers(client, address, dataset)
            yield from _spread(client, planned, dataset.place)

    return execute


def _check_workers(client: Any, address: str, dataset: Dataset) -> None:
    """Raises InputError unless all workers have this version of ssdlab and see the data set at the same place."""
    here = native().version()
    marker = f"marker-{uuid.uuid4().hex}"
    dataset.write(marker, b"")
    try:
        seen: Mapping[str, tuple[str | None, bool]] = client.run(_introduce, dataset.place, marker)
    finally:
        dataset.remove(marker)
    if not seen:
        raise InputError(f"--cluster {address}: the scheduler has no workers")
    for worker, (version, sees) in sorted(seen.items()):
        if version is None:
            raise InputError(f"--cluster {address}: worker {worker} has no ssdlab installed; {here} is needed")
        if version != here:
            raise InputError(f"--cluster {address}: worker {worker} has ssdlab {version}, this machine has {here}")
        if not sees:
            raise InputError(
                f"--cluster {address}: worker {worker} cannot access {dataset.place}; --output must be shared by all "
                "workers: a network folder or an object store"
            )


def _introduce(place: str, marker: str) -> tuple[str | None, bool]:
    """Runs on a worker. Returns its version, or None without ssdlab, and whether it sees the client's file."""
    try:
        from ssdlab.simulator.engine import native

        return native().version(), Dataset(place).holds(marker)
    except ImportError:
        return None, False


def _spread(client: Any, planned: Sequence[Planned], place: str) -> Iterator[str]:
    """Keeps enough tasks at the scheduler that no thread is idle, and adjusts their size. Yields finished keys."""
    import distributed

    threads = max(1, sum(client.nthreads().values()))
    task_seconds = max(_TASK_SECONDS, threads * _DISPATCH_SECONDS)
    left = list(planned)[::-1]
    runs_in_task = 1
    futures = distributed.as_completed(loop=client.loop)
    waiting = 0
    try:
        while left or waiting:
            while left and waiting < threads * _TASKS_A_THREAD:
                batch = [left.pop() for _ in range(min(runs_in_task, len(left)))]
                # Dask would not repeat a pure task that it has run before; these must run in any case.
                futures.add(client.submit(_run_batch, batch, place, pure=False, retries=2))
                waiting += 1
            finished: Finished = _result(next(futures))
            waiting -= 1
            if finished.failure is not None:
                raise (InputError if finished.is_input else RunFailed)(finished.failure)
            # Large enough for the intended duration, but not so large that a thread gets no task.
            each_seconds = max(finished.seconds / max(len(finished.keys), 1), 1e-3)
            fair = max(1, len(left) // (threads * _TASKS_A_THREAD))
            runs_in_task = min(max(1, int(task_seconds / each_seconds)), _RUNS_IN_TASK_MAX, fair)
            yield from finished.keys
    finally:
        client.cancel([future for future in futures.futures if not future.done()])


def _result(future: Any) -> Finished:
    from distributed.scheduler import KilledWorker

    try:
        finished: Finished = future.result()
    except KilledWorker as error:
        raise RunFailed(f"the cluster gave up on a task after its workers died: {error}") from None
    return finished


def _run_batch(batch: Sequence[Planned], place: str) -> Finished:
    """Runs on a worker: simulates, stores, returns the keys. The engine releases the GIL, so threads can be used."""
    dataset = Dataset(place)
    started = time.perf_counter()
    keys: list[str] = []
    for each in batch:
        try:
            result = simulated.run(each.specification)
        except InputError as error:
            return Finished(keys, time.perf_counter() - started, str(error), is_input=True)
        except RunFailed as error:
            return Finished(keys, time.perf_counter() - started, str(error))
        dataset.write(each.key, parquet(row(each.point, result, each.endurance_cycles)))
        keys.append(each.key)
    return Finished(keys, time.perf_counter() - started)
