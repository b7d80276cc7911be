"""Progress of long work on stderr: one bar per run on a terminal, otherwise one line per minute."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from ssdlab.cli.console import Console
from ssdlab.foundation.quantities import format_bytes
from ssdlab.presentation.terminal import guard

if TYPE_CHECKING:
    from ssdlab.simulator.targets.side_by_side import Progress

_SECONDS_BETWEEN_LINES = 60


class Lines:
    """Progress lines on stderr when it is no terminal: at most one per minute, the first after a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = clock() + _SECONDS_BETWEEN_LINES

    def say(self, line: Callable[[], str]) -> None:
        """Prints the text that `line` returns if a minute has passed since the last one."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _SECONDS_BETWEEN_LINES
        with suppress(OSError):
            print(f"progress: {line()}", file=sys.stderr, flush=True)


def _of_runs(labels: Sequence[str], lines: Lines) -> "Progress":
    shares = dict.fromkeys(range(len(labels)), 0.0)

    def tell(index: int, share: float, _host_bytes: int) -> None:
        shares[index] = share
        done = sum(each >= 1 for each in shares.values())
        mean = f"{sum(shares.values()) / len(shares) * 100:.0f} %"
        lines.say(lambda: f"{done} of {len(shares)} runs done, {mean} of all; now {labels[index]}")

    return tell


@contextmanager
def shown(labels: Sequence[str]) -> "Iterator[Progress | None]":
    """Yields a function of (index, share done, host bytes) that updates the bars, or prints a line per minute if stderr
    is no terminal.

    Each bar has its label, percent, host bytes written, their rate on the wall clock, and the time left.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _of_runs(labels, Lines())
        return
    bars = Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[written]}", markup=False),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    tasks = [bars.add_task(label, total=1.0, start=False, written="") for label in labels]

    def tell(index: int, share: float, host_bytes: int) -> None:
        task = bars.tasks[index]
        if task.start_time is None:
            bars.start_task(tasks[index])
        elapsed = task.elapsed or 0
        rate = f", {format_bytes(int(host_bytes / elapsed))}/s" if elapsed > 0.2 else ""
        bars.update(tasks[index], completed=share, written=f"{format_bytes(host_bytes)}{rate}")

    with _on_screen(bars):
        yield tell


@contextmanager
def counted(what: str, total: int) -> Iterator[Callable[[float], None] | None]:
    """Yields a function of the number done out of `total`, which can be fractional; None if `total` is 0."""
    console = Console(stderr=True)
    if not total:
        yield None
        return
    if not console.is_terminal:
        lines = Lines()
        yield lambda count: lines.say(lambda: f"{int(count)} of {total} {what} done")
        return
    bar = Bars(
        TextColumn("{task.fields[done]} of {task.total:.0f} {task.description}", markup=False),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task(what, total=total, done=0)

    def tell(count: float) -> None:
        bar.update(task, completed=count, done=int(count))

    with _on_screen(bar):
        yield tell


@contextmanager
def described() -> Iterator[Callable[[str, float], None] | None]:
    """Yields a function of (description, share done)."""
    console = Console(stderr=True)
    if not console.is_terminal:
        lines = Lines()
        yield lambda what, share: lines.say(lambda: f"{what}: {share:.0%} done".replace("%", " %"))
        return
    bar = Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("reading", total=1.0)
    with _on_screen(bar):
        yield lambda what, share: bar.update(task, description=what, completed=share)


@contextmanager
def _on_screen(bars: Bars) -> Iterator[None]:
    """Shows the bars during the `with` block. Ignores the error if the terminal was closed meanwhile."""
    bars.start()
    # Bars replace the streams by their own, which take escape sequences for styles.
    guard()
    try:
        yield
    finally:
        with suppress(OSError):
            bars.stop()


@contextmanager
def counting(what: str) -> Iterator[Callable[[int], None] | None]:
    """Yields a function of the number done, for work of unknown length."""
    console = Console(stderr=True)
    if not console.is_terminal:
        lines = Lines()
        yield lambda count: lines.say(lambda: f"{count:,} {what}")
        return
    bar = Bars(
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} {task.description}, {task.fields[rate]} per second", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task(what, total=None, rate="-")

    def tell(count: int) -> None:
        elapsed = bar.tasks[task].elapsed or 0
        bar.update(task, completed=count, rate=f"{count / elapsed:,.0f}" if elapsed > 0.2 else "-")

    with _on_screen(bar):
        yield tell
