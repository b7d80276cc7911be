"""The page on a drive that another process serves: it shows what programs do to it, and steers nothing."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ssdlab.live.serving import watching_server
from talk import Page
from waiting import SECONDS_MAX


@pytest.mark.surroundings
def test_a_served_drive_is_shown_and_not_steered(
    small_drive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "drive.sock"
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    command = [sys.executable, "-m", "ssdlab", "serve", "--drive", small_drive, "--socket", str(place)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert program.stdout is not None
        assert "nbd" in program.stdout.readline()
        server = watching_server(str(place), port=0)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            with Page(server) as page:
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
                page.do("cut-power")
                recovery = page.status()["recovery"]
                assert recovery["is_real"] and recovery["number"] == 1
                assert recovery["drives"][0]["scanned_pages"] >= 256
                page.do("power-on")
                assert page.status()["recovery"] is None
                for name in ("run", "reset", "share", "fill"):
                    assert "steered by the programs" in page.ask(name)["message"]
        finally:
            server.stop()
            thread.join()
            server.close()
    finally:
        program.send_signal(signal.SIGINT)
        program.wait(SECONDS_MAX)
