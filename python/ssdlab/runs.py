"""Many runs, one seam: specifications in, results as they come.

The runs go to worker processes on this machine. Results do not depend on the number of workers, so that a cluster may
take this place. Not for showing progress: it is reported to the caller, which draws it.
"""

import os
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from subprocess import DEVNULL, Popen
from typing import Any

from ssdlab import engine
from ssdlab.engine import memory
from ssdlab.errors import InputError, Note, RunFailed
from ssdlab.quantities import format_bytes_binary
from ssdlab.results.result import Result
from ssdlab.specification import Specification
from ssdlab.targets.simulated import result_of, work_of

Progress = Callable[[int, float, int], None]
"""Called with the index of a specification, the share of it that is done, and the host bytes written in it."""

Worker = Popen[bytes]

ShowProgress = Callable[[Sequence[str]], "AbstractContextManager[Progress | None]"]
"""Given the labels of runs, what shows how far each of them is."""

# Of what is available, so that other programs have some of it too.
_MEMORY_SHARE = 0.8


def run_many(
    specifications: Sequence[Specification], workers: int | None = None, on_progress: Progress | None = None
) -> Generator[tuple[int, Result], None, None]:
    """Runs all and yields (index, result) in the order in which they finish.

    `workers` are as `workers_for` has them. One worker means this process; more are processes that import this package
    alone, so a script needs no `if __name__ == "__main__"`. The first InputError or RunFailed of any run is raised here
    and ends the others; so does leaving the iterator early, and Ctrl-C. No process is left. `on_progress` gets the
    index of a specification, the share of it that is done, and the host bytes written in it.

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
    """As `run_many`, with the results in the order of the specifications; `labels` are what progress is shown of."""
    results = {}
    with show_progress(labels) as tell, closing(run_many(specifications, workers, tell)) as finished:
        for index, result in finished:
            results[index] = result
            if tell:
                tell(index, 1.0, result.ledger.host_written_bytes)
    return [results[index] for index in range(len(specifications))]


def workers_for(specifications: Sequence[Specification], workers: int | None) -> int:
    """How many of these runs there are to be side by side.

    So many as asked for; by default one a processor that this process may use, but no more than memory allows, which a
    `Note` tells. Raises InputError when so many, or a single one, do not fit into memory.
    """
    if not specifications:
        return 0
    needed = [engine.needed(each.engine_json(), each.scale) for each in specifications]
    largest = max(needed, key=lambda each: each.bytes)
    memory.check([largest])
    if workers is not None:
        count = min(workers, len(specifications))
        memory.check_side_by_side(needed, count)
        return count
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = min(processors, len(specifications))
    fitting = max(1, memory.fitting(needed, _MEMORY_SHARE))
    if fitting < count:
        size = format_bytes_binary(largest.bytes)
        warnings.warn(f"{fitting} runs at a time, not {count}: one takes up to {size} of memory", Note, stacklevel=2)
    return min(count, fitting)


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
    """A worker at the other end of this connection.

    Not a `multiprocessing.Process`: one that is spawned imports the caller's script first, so that a script without
    `if __name__ == "__main__"` would start its runs once more in each worker. A worker needs nothing of the script.
    """
    # The caller's path first: what lies in the working folder is not for the worker to import.
    program = "import sys; fd, *sys.path[:] = sys.argv[1:]; from ssdlab.runs import work; work(int(fd))"
    return Popen(
        [sys.executable, "-c", program, str(connection.fileno()), *sys.path],
        stdin=DEVNULL,
        pass_fds=[connection.fileno()],
    )


@contextmanager
def _unseen_signals() -> Iterator[None]:
    """Ctrl-C, the end of a terminal and that of a service reach every process of theirs, and the first alone decides
    what they mean.

    A process that is started in here never sees them, from its first instruction on; for this one they only wait.
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
        # Its end of the connection closes with its last instruction.
        code = worker.wait()
        reason = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        hint = "; the machine may be out of memory: try fewer --workers, or --scale" if code == -signal.SIGKILL else ""
        raise RunFailed(f"a worker process {reason}{hint}") from None
    return message


def _end(worker: Worker) -> None:
    """Workers hold nothing that needs tidying, so they are ended at once, even in the middle of a native call."""
    worker.kill()
    worker.wait()


def work(fd: int) -> None:
    """The life of a worker: take a specification from the connection, run it, send the outcome; until it closes."""
    connection = Connection(fd)
    try:
        while True:
            asked: engine.Work = connection.recv()
            try:
                message: tuple[Any, ...] = (
                    "outcome",
                    *engine.simulate(asked, lambda share, host_bytes: connection.send(("progress", share, host_bytes))),
                )
            except InputError as error:
                message = ("input", str(error))
            except RunFailed as error:
                message = ("failed", str(error))
            except OSError:
                raise
            except Exception as error:
                message = ("failed", f"{type(error).__name__}: {error}")
            connection.send(message)
    except (EOFError, OSError):
        # The first process is gone or has all it wanted.
        return
