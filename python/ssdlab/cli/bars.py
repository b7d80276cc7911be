"""Bars of progress on a terminal.

A file of its own: without a terminal, `progress` needs nothing of rich, which takes long to load.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    ProgressColumn,
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


@contextmanager
def shown(labels: Sequence[str]) -> "Iterator[Progress]":
    """A bar a run: its label, percent, host bytes written, their rate on the wall clock, and the time left."""
    bars = _bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[written]}", markup=False),
        TimeRemainingColumn(),
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
def counted(what: str, total: int) -> Iterator[Callable[[float], None]]:
    bar = _bars(
        TextColumn("{task.fields[done]} of {task.total:.0f} {task.description}", markup=False),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    task = bar.add_task(what, total=total, done=0)

    def tell(count: float) -> None:
        bar.update(task, completed=count, done=int(count))

    with _on_screen(bar):
        yield tell


@contextmanager
def described() -> Iterator[Callable[[str, float], None]]:
    bar = _bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    task = bar.add_task("reading", total=1.0)
    with _on_screen(bar):
        yield lambda what, share: bar.update(task, description=what, completed=share)


@contextmanager
def counting(what: str) -> Iterator[Callable[[int], None]]:
    bar = _bars(
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} {task.description}, {task.fields[rate]} per second", markup=False),
        TimeElapsedColumn(),
    )
    task = bar.add_task(what, total=None, rate="-")

    def tell(count: int) -> None:
        elapsed = bar.tasks[task].elapsed or 0
        bar.update(task, completed=count, rate=f"{count / elapsed:,.0f}" if elapsed > 0.2 else "-")

    with _on_screen(bar):
        yield tell


def _bars(*columns: ProgressColumn) -> Bars:
    return Bars(*columns, console=Console(stderr=True), transient=True)


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
