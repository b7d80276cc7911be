"""Executes many runs: takes specifications, yields results as they finish.

The runs go to worker processes on this machine. Results do not depend on the number of workers, so that a cluster can
replace this module. Not for drawing progress: it is reported to the caller.
"""

import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from subprocess import DEVNULL, Popen
from typing import Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.simulator import engine
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.targets.side_by_side import Progress, workers_for
from ssdlab.simulator.targets.simulated import result_of, work_of

Worker = Popen[bytes]

ShowProgress = Callable[[Sequence[str]], "AbstractContextManager[Progress | None]"]
"""Takes the labels of the runs and returns a context manager of the callback that shows their progress, or of None."""


def run_many(
    specifications: Sequence[Specification], workers: int | None = None, on_progress: Progress | None = None
) -> Generator[tuple[int, Result], None, None]:
    """Executes all runs and yields (index, result) in the order in which they finish.

    `workers` is the number of parallel runs; see `workers_for`. With one worker the runs execute in this process. More
    workers are processes that import only this package, so a script does not need `if __name__ == "__main__"`. The
    first InputError or RunFailed of any run is raised here and stops the others, as does closing the iterator early or
    Ctrl-C. No process remains. `on_progress` is called with the index of a specification, the share of it that is done,
    and the host bytes it has written so far.

        drives = [ssdlab.drive("generic-tlc-480", op=op, scale="1/64") for op in (0.07, 0.28)]
        runs = [ssdlab.specify("jobs/randwrite.fio", drive, until="steady") for drive in drives]
        {drives[index].name: result.settled_waf for index, result in ssdlab.run_many(runs)}
    """
    count = workers_for(specifications, workers)
    if count <= 1:
        return _in_this_process(specifications, on_progress)
    return _in_workers(specifications, count, on_progress)


def silent(_labels: Sequence[str]) -> "AbstractContextManager[Progress | None]":
    """Shows no progress."""
    return nullcontext(None)


def run_all(
    labels: Sequence[str],
    specifications: Sequence[Specification],
    workers: int | None = None,
    show_progress: ShowProgress = silent,
) -> list[Result]:
    """The results of `run_many` in the order of the specifications. `labels` name the runs in the progress display."""
    results = {}
    with show_progress(labels) as tell, closing(run_many(specifications, workers, tell)) as finished:
        for index, result in finished:
            results[index] = result
            if tell:
                tell(index, 1.0, result.ledger.host_written_bytes)
    return [results[index] for index in range(len(specifications))]


def _in_this_process(
    specifications: Sequence[Specification], on_progress: Progress | None
) -> Generator[tuple[int, Result], None, None]:
    for index, specification in enumerate(specifications):

        def tell(share: float, host_bytes: int, index: int = index) -> None:
            if on_progress:
                on_progress(index, share, host_bytes)

        outcome = engine.simulate(work_of(specification), tell)
        yield index, result_of(specification, *outcome)


def _in_workers(
    specifications: Sequence[Specification], count: int, on_progress: Progress | None
) -> Generator[tuple[int, Result], None, None]:
    queue = list(enumerate(specifications))[::-1]
    working: dict[Connection, tuple[Worker, int]] = {}
    workers: list[Worker] = []
    try:
        for _ in range(count):
            here, there = Pipe()
            with there, _unseen_signals():
                workers.append(_started(there))
            index, specification = queue.pop()
            here.send(work_of(specification))
            working[here] = (workers[-1], index)
        while working:
            for connection in wait(list(working)):
                assert isinstance(connection, Connection)
                worker, index = working[connection]
                kind, *content = _receive(connection, worker)
                if kind == "progress":
                    if on_progress:
                        on_progress(index, *content)
                elif kind == "outcome":
                    if queue:
                        next_index, specification = queue.pop()
                        connection.send(work_of(specification))
                        working[connection] = (worker, next_index)
                    else:
                        connection.close()
                        del working[connection]
                    yield index, result_of(specifications[index], *content)
                else:
                    raise (InputError if kind == "input" else RunFailed)(*content)
    finally:
        for worker in workers:
            _end(worker)


def _started(connection: Connection) -> Worker:
    """Starts a worker process at the other end of this connection.

    Not a `multiprocessing.Process`: a spawned one first imports the caller's script, so that a script without
    `if __name__ == "__main__"` would start its runs again in each worker. A worker needs nothing from the script.
    """
    # The path is the caller's: the worker must not import modules from the working folder.
    program = (
        "import sys; fd, *sys.path[:] = sys.argv[1:]; from ssdlab.simulator.engine.worker import work; work(int(fd))"
    )
    return Popen(
        [sys.executable, "-c", program, str(connection.fileno()), *sys.path],
        stdin=DEVNULL,
        pass_fds=[connection.fileno()],
    )


@contextmanager
def _unseen_signals() -> Iterator[None]:
    """Blocks SIGINT, SIGTERM and SIGHUP, so that a worker started inside ignores them from its first instruction on.

    Ctrl-C, the end of a terminal and the stop of a service send the signal to all processes of the group, but only the
    first process decides how to react. In this process the signals are delivered after the block.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _receive(connection: Connection, worker: Worker) -> tuple[Any, ...]:
    try:
        message: tuple[Any, ...] = connection.recv()
    except (EOFError, ConnectionResetError):
        # The worker's end of the connection closes only when the worker ends.
        code = worker.wait()
        reason = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        hint = "; the machine may be out of memory: try fewer --workers, or --scale" if code == -signal.SIGKILL else ""
        raise RunFailed(f"a worker process {reason}{hint}") from None
    return message


def _end(worker: Worker) -> None:
    """Kills a worker, even inside a native call: a worker holds nothing that needs cleaning up."""
    worker.kill()
    worker.wait()
