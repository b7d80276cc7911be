"""Executes short runs in threads of this process.

The engine releases Python's lock, and starting a process for each batch would take longer than its runs. Not for long
lists of runs, or whole drives that need the memory one after the other: `ssdlab.simulator.runs` uses processes.
"""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event

from ssdlab.simulator.results import Result
from ssdlab.simulator.runs import Progress, workers_for
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.targets import simulated

# Only the main thread receives Ctrl-C, between two checks of its runs.
_SECONDS_BETWEEN_LOOKS = 0.2


class _Ended(Exception):
    """Raised within a run whose result is no longer needed."""


def run_side_by_side(
    specifications: Sequence[Specification], workers: int | None, on_progress: Progress
) -> Generator[tuple[int, Result], None, None]:
    """As `ssdlab.simulator.runs.run_many`: yields (index, result) as runs finish; the first error, or Ctrl-C, stops
    all."""
    count = max(1, workers_for(specifications, workers))
    has_ended = Event()

    def teller(index: int) -> Callable[[float, int], None]:
        def tell(share: float, host_bytes: int) -> None:
            if has_ended.is_set():
                raise _Ended
            on_progress(index, share, host_bytes)

        return tell

    pool = ThreadPoolExecutor(count)
    try:
        waiting: dict[Future[Result], int] = {
            pool.submit(simulated.run, specification, teller(index)): index
            for index, specification in enumerate(specifications)
        }
        while waiting:
            done, _ = wait(waiting, timeout=_SECONDS_BETWEEN_LOOKS, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda each: waiting[each]):
                yield waiting.pop(future), future.result()
    finally:
        has_ended.set()
        pool.shutdown(cancel_futures=True)
