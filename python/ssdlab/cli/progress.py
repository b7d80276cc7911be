"""Progress of long work on stderr: one bar per run on a terminal, otherwise one line per minute."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING

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


def shown(labels: Sequence[str]) -> "AbstractContextManager[Progress | None]":
    """The context of a function of (index, share done, host bytes)."""
    if sys.stderr.isatty():
        # It loads rich.
        from ssdlab.cli import bars

        return bars.shown(labels)
    return nullcontext(_of_runs(labels, Lines()))


def counted(what: str, total: int) -> AbstractContextManager[Callable[[float], None] | None]:
    """The context of a function of the number done out of `total`, which can be fractional; None if `total` is 0."""
    if not total:
        return nullcontext(None)
    if sys.stderr.isatty():
        # It loads rich.
        from ssdlab.cli import bars

        return bars.counted(what, total)
    lines = Lines()
    return nullcontext(lambda count: lines.say(lambda: f"{int(count)} of {total} {what} done"))


def described() -> AbstractContextManager[Callable[[str, float], None] | None]:
    """The context of a function of (description, share done)."""
    if sys.stderr.isatty():
        # It loads rich.
        from ssdlab.cli import bars

        return bars.described()
    lines = Lines()
    return nullcontext(lambda what, share: lines.say(lambda: f"{what}: {share:.0%} done".replace("%", " %")))


def counting(what: str) -> AbstractContextManager[Callable[[int], None] | None]:
    """The context of a function of the number done, for work of unknown length."""
    if sys.stderr.isatty():
        # It loads rich.
        from ssdlab.cli import bars

        return bars.counting(what)
    lines = Lines()
    return nullcontext(lambda count: lines.say(lambda: f"{count:,} {what}"))
