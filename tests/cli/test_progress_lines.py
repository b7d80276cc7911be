"""Without a terminal, long work prints a line per minute. A regression: a study was silent for 400 seconds."""

import errno
import io
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from ssdlab.cli.progress import Lines, counted, counting, described, shown


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_line_a_minute_and_none_before(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock)
    for second in range(0, 200, 5):
        clock.now = second
        lines.say(lambda second=second: f"at {second}")  # type: ignore[misc]
    assert capsys.readouterr().err.splitlines() == ["progress: at 60", "progress: at 120", "progress: at 180"]


def test_what_is_done_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("ssdlab.cli.progress._SECONDS_BETWEEN_LINES", 0)
    with shown(["7 %", "28 %"]) as tell:
        assert tell
        tell(0, 1.0, 4096)
        tell(1, 0.5, 4096)
    with counted("runs", 4) as count, described() as describe:
        assert count and describe
        count(3)
        describe("reading", 0.25)
    assert capsys.readouterr().err.splitlines() == [
        "progress: 1 of 2 runs done, 50 % of all; now 7 %",
        "progress: 1 of 2 runs done, 75 % of all; now 28 %",
        "progress: 3 of 4 runs done",
        "progress: reading: 25 % done",
    ]


class Terminal(io.StringIO):
    """A terminal that can be closed, after which each write fails."""

    is_closed_by_user = False

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.is_closed_by_user:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().write(text)


# The thread that draws the bars can meet the closed terminal first.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    "bars",
    [lambda: shown(["7 %"]), lambda: counted("runs", 4), described, lambda: counting("requests")],
    ids=["shown", "counted", "described", "counting"],
)
def test_a_closed_terminal_does_not_end_the_work(
    bars: Callable[[], AbstractContextManager[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression: `counting` ended with the error of the terminal, and the work without its results."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with bars():
        terminal.is_closed_by_user = True
    assert terminal.getvalue(), "the bars were drawn"
