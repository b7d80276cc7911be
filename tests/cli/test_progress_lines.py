"""Without a terminal, long work prints a line per minute. A regression: a study was silent for 400 seconds."""

import pytest

from ssdlab.cli.progress import Lines, counted, described, shown


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
