"""Progress of long work: one bar a run, on stderr, and on a terminal only."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.runs import Progress


@contextmanager
def shown(labels: Sequence[str]) -> "Iterator[Progress | None]":
    """What to call with (index, share done, host bytes) while bars are on the screen; None where there is no terminal.

    Each bar has its label, percent, host bytes written, their rate on the wall clock, and the time left.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[written]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    tasks = [bars.add_task(label, total=1.0, start=False, written="") for label in labels]

    def tell(index: int, share: float, host_bytes: int) -> None:
        from ssdlab.quantities import format_bytes

        task = bars.tasks[index]
        if task.start_time is None:
            bars.start_task(tasks[index])
        elapsed = task.elapsed or 0
        rate = f", {format_bytes(int(host_bytes / elapsed))}/s" if elapsed > 0.2 else ""
        bars.update(tasks[index], completed=share, written=f"{format_bytes(host_bytes)}{rate}")

    with bars:
        yield tell


@contextmanager
def counted(what: str, total: int) -> "Iterator[Callable[[float], None] | None]":
    """What to call with how many of `total` are done, parts of them included; None where there is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal or not total:
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.fields[done]} of {task.total:.0f} {task.description}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task(what, total=total, done=0)

    def tell(count: float) -> None:
        bar.update(task, completed=count, done=int(count))

    with bar:
        yield tell


@contextmanager
def described() -> "Iterator[Callable[[str, float], None] | None]":
    """What to call with what is being done and the share of it that is done; None where there is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("reading", total=1.0)
    with bar:
        yield lambda what, share: bar.update(task, description=what, completed=share)
