"""Without a page there is no simulation: the drives pause while no page is open, and pages are notified."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from running_server import running
from ssdlab.live import pulse
from ssdlab.live.choices import DriveChoice
from ssdlab.live.server import LiveServer
from ssdlab.live.serving import live_server
from ssdlab.live.session import Session
from ssdlab.live.workbench import Start, Workbench
from waiting import wait_for

Open = Callable[..., Page]


def issued(server: LiveServer) -> int:
    assert isinstance(server.shown, Workbench)
    return sum(server.shown.session.issued(0))


def test_drives_work_only_while_a_page_is_open(
    small_drive: str, tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "_REST_SECONDS_MIN", 0.2)
    rests: list[int] = []
    start = Start((DriveChoice(name=small_drive),))
    server = live_server(
        start, tmp_path, port=0, tour=None, is_running=True, on_rest=lambda: rests.append(issued(server))
    )
    with running(server):
        wait_for("the first rest", lambda: bool(rests))
        assert rests == [0]
        page = open_page(server)
        wait_for("requests", lambda: issued(server) > 1000)
        expect(page.locator("#run")).to_have_text("Pause")
        # The drive had not started, so nothing was interrupted.
        expect(page.locator("#notice")).to_be_hidden()
        page.close()
        wait_for("the second rest", lambda: len(rests) == 2)
        time.sleep(0.3)
        assert issued(server) == rests[1]
        page = open_page(server)
        expect(page.locator("#notice")).to_contain_text("no page was open")
        wait_for("more requests", lambda: issued(server) > rests[1])


def test_what_is_given_while_nobody_looks_waits(small_drive: str) -> None:
    """A reset creates a new session, which is not watched either."""
    bench = Workbench(Start((DriveChoice(name=small_drive),), timed=False), Session)
    try:
        bench.set_watched(False)
        bench.run()
        bench.reset()
        assert bench.session.is_running
        bench.session.step(5)
        time.sleep(0.2)
        assert sum(bench.session.issued(0)) == 5
        bench.set_watched(True)
        wait_for("requests", lambda: sum(bench.session.issued(0)) > 5)
    finally:
        bench.close()
