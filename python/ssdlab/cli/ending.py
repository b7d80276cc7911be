"""How a command ends on a signal: SIGTERM and SIGHUP clean up as Ctrl-C does, each with the exit code shells expect.

All commands use one mechanism: the signal raises KeyboardInterrupt, as Ctrl-C does in Python, so that the same cleanup
code runs. Worker processes do not receive these signals (`ssdlab.simulator.runs`); a command ends the other programs
that it started.
"""

import signal
import time
from types import FrameType

_SECONDS_TOGETHER = 2.0
"""Signals within this time after the first do not interrupt the cleanup: a closing terminal or a service manager can
send several at once. A later signal interrupts the cleanup, because it takes too long."""


class _Ended(KeyboardInterrupt):
    """KeyboardInterrupt for SIGTERM and SIGHUP. A subclass, because after a KeyboardInterrupt has passed through code
    compiled from a string, as in some imports, Python kills its own process with SIGINT at exit, even if the exception
    was caught (`run_eval_code_obj` in CPython's pythonrun.c)."""


class Ending:
    """The signal that ends this process."""

    def __init__(self) -> None:
        self._number = signal.SIGINT
        self._came_at: float | None = None

    def listen(self) -> None:
        """Installs the handlers. Signals that are ignored stay ignored, as `nohup` requires."""
        # SIGHUP is missing on some systems.
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
