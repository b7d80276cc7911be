"""Drives that run next to the tests: mounted or served by the program as a user calls it, and missing prerequisites.

The only block devices used are loop devices that a test created itself.
"""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ssdlab.serving import guardian
from waiting import SECONDS_MAX, wait_for

# 272 MiB of flash in 272 erase units of 1 MiB; the host has 1/17 less: an over-provisioning of 6.25 %, of which garbage
# collection has a little more than half.
DRIVE = """
name = "mounted"
description = "a drive for tests"
[nand]
cell = "tlc"
channels = 2
dies_per_channel = 2
planes_per_die = 2
blocks_per_plane = 272
pages_per_block = 8
page_bytes = 16384
read_us = 60.0
program_us = 700.0
erase_us = 5000.0
channel_mb_s = 800
endurance_cycles = 3000
[ftl]
user_bytes = 268435456
mapping_unit_bytes = 4096
erase_unit = "superblock"
victim = "greedy"
placement = "host-gc-split"
reserve_erase_units = 2
wear_leveling = "none"
spare_area = "dynamic"
[write_buffer]
bytes = 1048576
power_loss_protection = true
[sources]
"nand.*" = { kind = "assumed", source = "made up for tests" }
"ftl.*" = { kind = "assumed", source = "made up for tests" }
"write_buffer.*" = { kind = "assumed", source = "made up for tests" }
"""


@dataclass
class Mount:
    """A running `ssdlab mount`."""

    folder: Path
    process: subprocess.Popen[str]
    loop: str | None

    @property
    def drive(self) -> Path:
        return self.folder / "drive"

    def statistics(self) -> dict[str, Any]:
        statistics: dict[str, Any] = json.loads((self.folder / "stats.json").read_text())
        return statistics

    def command(self, line: str) -> None:
        (self.folder / "control").write_text(line + "\n")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(SECONDS_MAX)

    def take_away(self) -> None:
        """Removes the mount and its loop device, in any state."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.end()
        if self.process.poll() is None:
            self.end(signal.SIGKILL)
        guardian.clean(str(self.folder), self.loop)

    def wait_until_gone(self) -> None:
        """Waits until neither mount nor loop device is left."""
        wait_for(
            "mount and loop device are gone",
            lambda: str(self.folder) not in guardian.mounted_folders() and not self._loop_is_there(),
        )

    def _loop_is_there(self) -> bool:
        return self.loop is not None and Path(f"/sys/block/{Path(self.loop).name}/loop/backing_file").exists()


class Mounts:
    """Mounts drives at new folders."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: list[Mount] = []

    def start(self, drive: Path | str, *options: str) -> Mount:
        """Runs `ssdlab mount` with a drive's name or file, and waits until the drive is mounted."""
        folder = self._folder / f"mount-{len(self._made)}"
        process = subprocess.Popen(
            [sys.executable, "-m", "ssdlab", "mount", str(folder), "--drive", str(drive), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        mount = Mount(folder, process, None)
        self._made.append(mount)
        assert process.stderr is not None and process.stdout is not None
        said = ""
        while "to end" not in said:
            line = process.stderr.readline()
            if not line:
                pytest.fail(f"ssdlab mount ended: {said}")
            said += line
        mount.loop = process.stdout.readline().strip() if "--loop" in options else None
        return mount

    def take_away(self) -> None:
        for mount in self._made:
            mount.take_away()


@dataclass
class Server:
    """A running `ssdlab serve`."""

    uri: str
    process: subprocess.Popen[str]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(SECONDS_MAX)


MountMaker = Callable[..., Mount]
