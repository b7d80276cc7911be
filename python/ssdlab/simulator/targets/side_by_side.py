"""Executes short runs in threads of this process, and says how many runs fit beside each other.

The engine releases Python's lock, and starting a process for each batch would take longer than its runs. Not for long
lists of runs, or whole drives that need the memory one after the other: `ssdlab.simulator.runs` uses processes.
"""

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from threading import Event
from typing import TypeVar

from ssdlab.errors import notify
from ssdlab.foundation.quantities import format_bytes_binary
from ssdlab.simulator import engine
from ssdlab.simulator.engine import memory
from ssdlab.simulator.results import Result
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.targets import simulated

Progress = Callable[[int, float, int], None]
"""Called with the index of a specification, the share of it that is done, and the host bytes it has written so far."""

Found = TypeVar("Found")
Work = Callable[[engine.Progress], Found]
"""A piece of work. It calls its argument with its progress, which raises when the work is no longer needed."""

# Only the main thread receives Ctrl-C, between two checks of its runs.
_SECONDS_BETWEEN_LOOKS = 0.2
# The share of the available memory that runs use, so that other programs have some left.
_MEMORY_SHARE = 0.8


class _Ended(Exception):
    """Raised within a run whose result is no longer needed."""


def run_side_by_side(
    specifications: Sequence[Specification], workers: int | None, on_progress: Progress
) -> Generator[tuple[int, Result], None, None]:
    """As `ssdlab.simulator.runs.run_many`: yields (index, result) as runs finish; the first error, or Ctrl-C, stops
    all."""
    works = [_run_of(each) for each in specifications]
    return side_by_side(works, workers_for(specifications, workers), on_progress)


def _run_of(specification: Specification) -> Work[Result]:
    return lambda tell: simulated.run(specification, tell)


def all_side_by_side(
    specifications: Sequence[Specification], workers: int | None, on_progress: Progress | None = None
) -> list[Result]:
    """The results of `run_side_by_side` in the order of the specifications."""
    tell = on_progress or (lambda *_: None)
    results = {}
    with closing(run_side_by_side(specifications, workers, tell)) as finished:
        for index, result in finished:
            results[index] = result
            tell(index, 1.0, result.ledger.host_written_bytes)
    return [results[index] for index in range(len(specifications))]


def side_by_side(
    works: Sequence[Work[Found]], count: int, on_progress: Progress = lambda *_: None
) -> Generator[tuple[int, Found], None, None]:
    """Executes the works, `count` at a time, and yields (index, result) as they finish; the first error, or Ctrl-C,
    stops all."""
    has_ended = Event()

    def teller(index: int) -> Callable[[float, int], None]:
        def tell(share: float, host_bytes: int) -> None:
            if has_ended.is_set():
                raise _Ended
            on_progress(index, share, host_bytes)

        return tell

    pool = ThreadPoolExecutor(max(1, count))
    try:
        waiting: dict[Future[Found], int] = {
            pool.submit(work, teller(index)): index for index, work in enumerate(works)
        }
        while waiting:
            done, _ = wait(waiting, timeout=_SECONDS_BETWEEN_LOOKS, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda each: waiting[each]):
                yield waiting.pop(future), future.result()
    finally:
        has_ended.set()
        pool.shutdown(cancel_futures=True)


def workers_for(specifications: Sequence[Specification], workers: int | None) -> int:
    """The number of these runs to execute in parallel; 0 without runs.

    It is `workers`, at most one for each run. If None: the number of processors that this process can use, reduced to
    what fits into memory; a `Note` says so. Raises InputError if that many runs, or a single one, do not fit into
    memory.
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
        notify([f"{fitting} runs at a time, not {count}: one takes up to {size} of memory"])
    return min(count, fitting)
