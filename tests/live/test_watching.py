"""The page on a drive that another process serves: it shows the drive's activity and cannot control it."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect

from running_server import running
from ssdlab.live.server import LiveServer
from ssdlab.live.serving import watching_server
from talk import Page
from waiting import SECONDS_MAX


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The socket at which the drive is served."""
    return tmp_path / "drive.sock"


@pytest.fixture
def served(small_drive: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """The page's server for the small drive, which another process serves."""
    runtime = place.parent / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    command = [sys.executable, "-m", "ssdlab", "serve", "--drive", small_drive, "--socket", str(place)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert program.stdout is not None
        assert "nbd" in program.stdout.readline()
        with running(watching_server(str(place), port=0)) as server:
            yield server
    finally:
        program.send_signal(signal.SIGINT)
        program.wait(SECONDS_MAX)


@pytest.mark.surroundings
def test_a_served_drive_is_shown_and_not_steered(served: LiveServer, place: Path) -> None:
    with Page(served) as page:
        status = page.status()
        assert str(place) in status["watched"]
        assert status["drives"][0]["erase_units"] == 256
        assert page.figures()["host_written_bytes"] == 0
        while not page.pictures:
            page.hear()
        assert len(page.pictures[0][3]) == 256
        assert page.do("erase-unit", index=5)["state"] == "free"
        page.do("mark", name="here")
        assert page.status()["moments"][0]["name"] == "here"
        for name in ("run", "reset", "share", "fill"):
            assert page.ask(name)["message"] == (
                "programs control the drive; this page can only mark moments and cut the power"
            )


@pytest.mark.surroundings
def test_its_power_is_really_cut(served: LiveServer) -> None:
    with Page(served) as page:
        for number in (1, 2):
            page.do("cut-power")
            recovery = page.status()["recovery"]
            assert recovery["is_real"] and recovery["number"] == number
            # Nothing was written: one page of each erase unit is scanned.
            (loss,) = recovery["drives"]
            assert (loss["scanned_pages"], loss["scanned_in_full"], loss["checkpoint_units"]) == (256, [], 0)
        page.do("power-on")
        assert page.status()["recovery"] is None


@pytest.mark.surroundings
def test_its_recovery_is_shown(served: LiveServer, open_page: Callable[..., BrowserPage]) -> None:
    page = open_page(served)
    # What would do nothing is not there.
    for control in ("run", "reset", "partition", "fill", "share", "report"):
        expect(page.locator(f"#{control}")).to_be_hidden()
    page.click("#cut-power")
    recovery = page.locator("#recovery")
    expect(recovery).to_have_attribute("data-phase", "over")
    expect(recovery).to_contain_text("The drive has really lost power")
    expect(recovery).to_contain_text("It scans 256 pages")
    page.click("#recovery-close")
    expect(recovery).to_be_hidden()
