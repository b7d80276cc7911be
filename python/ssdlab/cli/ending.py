"""How a command ends at a signal: SIGTERM and SIGHUP as tidily as Ctrl-C, with the status that shells expect of each.

One mechanism for all commands: the signal becomes KeyboardInterrupt, as Ctrl-C is in Python, and what is tidied up then
is tidied up always. Worker processes never see these signals (`ssdlab.runs`), other programs that a command starts are
ended by it.
"""

import signal
import time
from types import FrameType

_SECONDS_TOGETHER = 2.0
"""A terminal that closes and a service manager that stops a service send signals twice, or two at once: those that come
so soon after the first must not interrupt the tidying up. Later ones mean that it takes too long."""


class _Ended(KeyboardInterrupt):
    """KeyboardInterrupt for SIGTERM and SIGHUP. Not that class itself: once it has passed through code that Python
    compiled from a string, as in some imports, Python kills its own process with SIGINT at exit, even if the exception
    was caught (`run_eval_code_obj` in CPython's pythonrun.c)."""


class Ending:
    """The signal that ends this process."""

    def __init__(self) -> None:
        self._number = signal.SIGINT
        self._came_at: float | None = None

    def listen(self) -> None:
        """From here on. What is ignored stays so, as `nohup` wants."""
        # Other systems have no SIGHUP.
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._interrupt)

    @property
    def has_come(self) -> bool:
        """Whether SIGTERM or SIGHUP arrived."""
        return self._came_at is not None

    @property
    def exit_code(self) -> int:
        return 128 + self._number

    @property
    def in_words(self) -> str:
        return "interrupted" if self._number == signal.SIGINT else f"ended by {self._number.name}"

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._came_at is not None and now - self._came_at < _SECONDS_TOGETHER:
            return
        self._came_at = now
        self._number = signal.Signals(number)
        raise _Ended
