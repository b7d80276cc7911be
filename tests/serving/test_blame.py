"""What `ssdlab blame` predicts from a recording of SQLite's commits, against the same commits on a mounted drive.

The recording is made on another file system; on the mounted drive the commits run without strace.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from own_devices import make_ext4, needs
from running_drives import DRIVE, Mount, MountMaker
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.blame import calls, file_system, flash, watching
from ssdlab.simulator.drives import load

pytestmark = [pytest.mark.fuse, pytest.mark.loop]

COMMITS = """
import sqlite3, sys
file, journal, synchronous = sys.argv[1:]
database = sqlite3.connect(file, isolation_level=None)
database.execute(f"PRAGMA journal_mode={journal}")
database.execute(f"PRAGMA synchronous={synchronous}")
database.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)")
for row in range(300):
    database.execute("INSERT INTO t(v) VALUES(?)", (f"row {row} " + "x" * 100,))
database.close()
"""
SECONDS_MAX = 50
WITHIN = 0.05


def counted(mounted: Mount, folder: Path) -> tuple[int, int]:
    """The bytes from the host and into the flash, after everything in memory was written."""
    subprocess.run(["sync", "--file-system", folder], check=True, timeout=SECONDS_MAX)
    # What the loop device has written may still be in the page cache of the file below it.
    assert mounted.loop is not None
    subprocess.run(["sync", mounted.loop, mounted.drive], check=True, timeout=SECONDS_MAX)
    found = mounted.statistics()["ssdlab"]
    return found["host"]["written_bytes"], found["nand"]["programmed_bytes"]["total"]


@needs("mkfs.ext4", "losetup", "strace")
@pytest.mark.parametrize(("journal", "synchronous"), [("wal", "full"), ("wal", "normal"), ("delete", "full")])
def test_the_prediction_from_a_recording(mount: MountMaker, tmp_path: Path, journal: str, synchronous: str) -> None:
    # Without protection against a loss of power each flush costs flash.
    file = tmp_path / "unprotected.toml"
    file.write_text(DRIVE.replace("power_loss_protection = true", "power_loss_protection = false"))
    program = [sys.executable, "-c", COMMITS]
    (tmp_path / "here").mkdir()
    with watching.room_for_recording() as recording:
        here = str(tmp_path / "here" / "d.db")
        watching.command(
            [*program, here, journal, synchronous], seconds_max=SECONDS_MAX, recording=recording, tell=None
        )
        recorded = calls.read(recording)
    ours = [call for call in recorded.calls if call.file in ("", os.fspath(tmp_path / "here")) or "d.db" in call.file]
    drive = Setting(load(str(file)), {}).at(None, None)
    written = file_system.requests_of(ours, drive.capacity.user_bytes, seconds=recorded.seconds)
    with flash.as_trace(written.requests, "the recording") as trace:
        predicted = flash.once(trace, drive)

    mounted = mount("--loop", drive=file)
    assert mounted.loop is not None
    make_ext4(mounted.loop)
    folder = tmp_path / "there"
    folder.mkdir()
    subprocess.run(["mount", mounted.loop, folder], check=True, timeout=SECONDS_MAX)
    try:
        before = counted(mounted, folder)
        subprocess.run(
            [*program, str(folder / "d.db"), journal, synchronous], check=True, timeout=SECONDS_MAX, cwd=tmp_path
        )
        host, programmed = (new - old for new, old in zip(counted(mounted, folder), before, strict=True))
    finally:
        subprocess.run(["umount", folder], check=True, timeout=SECONDS_MAX)
    print(
        f"{journal} {synchronous}: host {written.device_bytes:,} predicted, {host:,} counted; flash "
        f"{predicted.programmed_bytes:,.0f} predicted, {programmed:,} counted"
    )
    assert written.device_bytes == pytest.approx(host, rel=WITHIN)
    assert predicted.programmed_bytes == pytest.approx(programmed, rel=WITHIN)
