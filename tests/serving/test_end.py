"""Do `mount` and `serve` say at their end what was done: phases, write amplification, latency?"""

import contextlib
import json
import mmap
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from own_devices import needs
from program import program_in
from running_drives import DRIVE
from ssdlab.serving.drive import ServedDrive
from ssdlab.simulator.drives import drive
from waiting import wait_for

SECONDS_MAX = 40
END = "press Ctrl-C to end"
"""What both commands say when they wait for Ctrl-C."""


@contextlib.contextmanager
def running(folder: Path, *words: str) -> Iterator[Callable[[], str]]:
    """Starts the command, and yields a function that presses Ctrl-C and returns what was said on stderr."""
    (folder / "drive.toml").write_text(DRIVE)
    said, printed = folder / "said", folder / "printed"
    with said.open("w") as stderr, printed.open("w") as stdout:
        process = subprocess.Popen(
            [sys.executable, "-m", "ssdlab", *words, "--drive", "drive.toml"],
            cwd=folder,
            stdout=stdout,
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


@pytest.mark.fuse
def test_another_spare_area_changes_nothing_for_a_drive_that_is_not_written(tmp_path: Path) -> None:
    """A regression: a table of the same reads twice, of a host that "wrote 0 times the drive's capacity"."""
    with running(tmp_path, "mount", "here", "--what-if", "28%") as end:
        drive = os.open(tmp_path / "here/drive", os.O_RDONLY | os.O_DIRECT)
        os.preadv(drive, [mmap.mmap(-1, 1 << 20)], 0)
        os.close(drive)
        said = end()
    assert "nothing was written: another spare area would have changed nothing" in said and "as served" not in said


def _rows(said: str) -> dict[str, list[str]]:
    """The rows of the table of `--what-if`, by their spare area."""
    table = said.partition("the same requests on")[2]
    found = re.findall(r"(\d+(?:\.\d+)? %)( \(as served\))? +([\d.]+|-) +(.+)", table)
    return {share + served: [waf, *latencies.split("  ")] for share, served, waf, latencies in found}


def _overwrite(place: Path, times: int) -> None:
    """Writes single units at random over the whole of a drive of 256 MiB, past the page cache."""
    unit, drive, random = mmap.mmap(-1, 4096), os.open(place, os.O_RDWR | os.O_DIRECT), Random(1)
    filling = mmap.mmap(-1, 1 << 20)
    for place_bytes in range(0, 256 << 20, 1 << 20):
        os.pwrite(drive, filling, place_bytes)
    for _ in range(times):
        os.pwrite(drive, unit, random.randrange(65536) * 4096)
    os.close(drive)


@pytest.mark.fuse
def test_a_mounted_drive_says_what_it_would_have_been_with_more_flash(tmp_path: Path) -> None:
    with running(tmp_path, "mount", "here", "--what-if", "6.25%,28%", "--output", "stats.json") as end:
        _overwrite(tmp_path / "here/drive", 40_000)
        said = end()
    rows = _rows(said)
    assert list(rows) == ["6.25 % (as served)", "6.25 %", "28.12 %"], said
    # The same drive, asked the same, did the same.
    assert rows["6.25 %"] == rows["6.25 % (as served)"]
    assert float(rows["28.12 %"][0]) < float(rows["6.25 %"][0]) - 0.5
    assert "As many requests are in flight as here" in said
    same, more = json.loads((tmp_path / "stats.json").read_text())["ssdlab"]["device"]["what_if"]
    assert (f"{same['waf']:.3f}", f"{more['waf']:.3f}") == (rows["6.25 %"][0], rows["28.12 %"][0])
    assert more["phases"][0]["write_p99_ns"] <= same["phases"][0]["write_p99_ns"]


@needs("qemu-io")
def test_a_drive_served_over_nbd_says_it_too_and_warns_of_a_short_session(tmp_path: Path) -> None:
    with running(tmp_path, "serve", "--socket", "s", "--what-if", "28%") as end:
        image = f"nbd+unix:///?socket={tmp_path / 's'}"
        writes = [word for place in range(1200) for word in ("-c", f"write {place * 4}k 4k")]
        subprocess.run(["qemu-io", "-f", "raw", *writes, image], check=True, capture_output=True)
        said = end()
    rows = _rows(said)
    assert list(rows) == ["6.25 % (as served)", "28.12 %"], said
    assert rows["28.12 %"][0] == "1.000", "nothing had to be moved"
    assert "1.8 % of the drive's capacity" in said


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (("--what-if", "0%"), "too little spare area"),
        (("--what-if", "28%", "--null"), "leave out --null"),
        (("--what-if", "28%", "--store", "used"), "holds a drive in use"),
        (("--what-if", "28%", "--set", "data_reduction.compression=true"), "depends on the data"),
    ],
)
def test_what_cannot_be_asked_again_is_refused(tmp_path: Path, words: tuple[str, ...], refused: str) -> None:
    (tmp_path / "drive.toml").write_text(DRIVE)
    # An orderly session before.
    ServedDrive(drive(tmp_path / "drive.toml"), store=tmp_path / "used").close()
    done = program_in(tmp_path)("serve", "--drive", "drive.toml", *words)
    assert (done.returncode, refused in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_served_drive_prints_its_end_for_programs(form: str, tmp_path: Path) -> None:
    """Stdout is the result alone; the address, which is there otherwise, is on stderr."""
    with running(tmp_path, "serve", "--socket", "drive.sock", "--format", form) as end:
        assert "nbd+unix" in end()
    printed = (tmp_path / "printed").read_text()
    if form == "json":
        assert json.loads(printed)["jobs"] is not None
    else:
        assert "nbd" not in printed
