"""Many runs, one seam: specifications in, results as they come.

The runs go to worker processes on this machine. Results do not depend on the number of workers, so that a cluster may
take this place. Not for showing progress: the caller is told of it and draws.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.results.result import Result
from ssdlab.targets import engine
from ssdlab.targets.simulated import result_of, work_of
from ssdlab.targets.specification import Specification

Progress = Callable[[int, float, int], None]
"""Told the index of a specification, the share of it that is done, and the host bytes written in it."""

# The engine's own bound is 10; the rest is what a process needs besides.
_MEMORY_BYTES_PER_UNIT = 11
_MEMORY_SHARE = 0.8


def run_many(
    specifications: Sequence[Specification], workers: int | None = None, on_progress: Progress | None = None
) -> Generator[tuple[int, Result], None, None]:
    """Runs all and yields (index, result) in the order in which they finish.

    Without `workers` there are as many as processors and free memory allow. One worker means this process; more are
    started by `spawn`, so a script must call this under `if __name__ == "__main__"`. The first InputError or RunFailed
    of any run is raised here and ends the others; so does leaving the iterator early, and Ctrl-C. No process is left.
    """
    count = min(workers or default_workers(specifications), len(specifications))
    if count <= 1:
        return _in_this_process(specifications, on_progress)
    return _in_workers(specifications, count, on_progress)


def default_workers(specifications: Sequence[Specification]) -> int:
    """One a processor that this process may use, as far as the free memory holds the drives."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    largest = max((_memory_bytes(specification) for specification in specifications), default=1)
    free = _free_memory_bytes()
    return processors if free is None else max(1, min(processors, int(free * _MEMORY_SHARE) // largest))


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
    context = multiprocessing.get_context("spawn")
    queue = list(enumerate(specifications))[::-1]
    working: dict[Connection, tuple[SpawnProcess, int]] = {}
    processes: list[SpawnProcess] = []
    try:
        for _ in range(count):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there,), daemon=True)
            processes.append(process)
            with _without_interrupts():
                process.start()
            there.close()
            index, specification = queue.pop()
            here.send(work_of(specification))
            working[here] = (process, index)
        while working:
            for connection in wait(list(working)):
                assert isinstance(connection, Connection)
                process, index = working[connection]
                kind, *content = _receive(connection, process)
                if kind == "progress":
                    if on_progress:
                        on_progress(index, *content)
                elif kind == "outcome":
                    if queue:
                        next_index, specification = queue.pop()
                        connection.send(work_of(specification))
                        working[connection] = (process, next_index)
                    else:
                        connection.close()
                        del working[connection]
                    yield index, result_of(specifications[index], *content)
                else:
                    raise (InputError if kind == "input" else RunFailed)(*content)
    finally:
        for process in processes:
            _end(process)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C reaches every process of the terminal, and the first alone decides what it means.

    A process that is started in here never sees it, from its first instruction on; for this one it only waits.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _receive(connection: Connection, process: SpawnProcess) -> tuple[Any, ...]:
    try:
        message: tuple[Any, ...] = connection.recv()
    except (EOFError, ConnectionResetError):
        process.join(1)
        code = process.exitcode
        reason = f"was ended by {signal.Signals(-code).name}" if code and code < 0 else f"ended with code {code}"
        hint = "; the machine may be out of memory: try fewer --workers, or --scale" if code == -signal.SIGKILL else ""
        raise RunFailed(f"a worker process {reason}{hint}") from None
    return message


def _end(process: SpawnProcess) -> None:
    """Workers hold nothing that needs tidying, so they are ended at once, even in the middle of a native call."""
    if process.pid is None:
        return
    process.terminate()
    process.join(2)
    if process.is_alive():
        process.kill()
        process.join()


def _work(connection: Connection) -> None:
    """The life of a worker: take a specification, run it, send the outcome; until the other end closes."""
    try:
        while True:
            work: engine.Work = connection.recv()
            try:
                message: tuple[Any, ...] = (
                    "outcome",
                    *engine.simulate(work, lambda share, host_bytes: connection.send(("progress", share, host_bytes))),
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


def _memory_bytes(specification: Specification) -> int:
    nand, ftl = specification.drive["nand"], specification.drive["ftl"]
    planes = nand["channels"] * nand["dies_per_channel"] * nand["planes_per_die"]
    flash_bytes = planes * nand["blocks_per_plane"] * nand["pages_per_block"] * nand["page_bytes"]
    units: int = specification.drive.get("stripe", {}).get("devices", 1) * flash_bytes // ftl["mapping_unit_bytes"]
    return units * _MEMORY_BYTES_PER_UNIT + 1


def _free_memory_bytes() -> int | None:
    """What Linux says is available; None elsewhere."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
