"""Do `mount` and `serve` say at their end what was done: phases, write amplification, latency?"""

import contextlib
import mmap
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from running_drives import DRIVE
from waiting import wait_for

SECONDS_MAX = 40
END = "press Ctrl-C to end"
"""What both commands say when they wait for Ctrl-C."""


@contextlib.contextmanager
def running(folder: Path, *words: str) -> Iterator[Callable[[], str]]:
    """Starts the command, and yields a function that presses Ctrl-C and returns what was said on stderr."""
    (folder / "drive.toml").write_text(DRIVE)
    said = folder / "said"
    with said.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "ssdlab", *words, "--drive", "drive.toml"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )

    def end() -> str:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=SECONDS_MAX) == 0, said.read_text()
        return said.read_text()

    try:
        wait_for("the drive", lambda: END in said.read_text() or process.poll() is not None)
        yield end
    finally:
        process.kill()
        process.wait(timeout=SECONDS_MAX)


@pytest.mark.fuse
def test_a_mounted_drive_says_its_phases(tmp_path: Path) -> None:
    with running(tmp_path, "mount", "here") as end:
        file = tmp_path / "here/drive"
        with file.open("r+b", buffering=0) as drive:
            drive.write(bytes(range(256)) * 4096)
        (tmp_path / "here/control").write_text("mark second\n")
        # The 99th percentile needs ten requests above it: 1,000 and more, past the page cache, which would join them.
        unit, drive = mmap.mmap(-1, 4096), os.open(file, os.O_RDWR | os.O_DIRECT)
        for place in range(1200):
            os.pwrite(drive, unit, place * 4096)
        os.close(drive)
        said = end()
    rows = {line.split()[0]: line for line in said.splitlines() if line.strip()}
    assert "4.9 MB" in rows["second"], said
    assert re.search(r"6 MB from the host, \S+ \S+ to flash: WAF \d\.\d{3}", said), said
    assert " us" in rows["second"], "latency in simulated time"


def test_a_served_drive_without_requests_says_so(tmp_path: Path) -> None:
    with running(tmp_path, "serve", "--socket", "s") as end:
        assert end().rstrip().endswith("no requests")
