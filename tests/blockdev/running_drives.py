"""Drives that run beside the tests: mounted or served by the program as a user calls it, and what this machine lacks.

Real block devices are only loop devices that a test made itself.
"""

import json
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ssdlab.serving import guardian
from waiting import SECONDS_MAX, wait_for

# 272 MiB of flash in 272 erase units of 1 MiB; the host has 1 MiB in 17 less: an over-provisioning of 6.25 %, of which
# cleaning has a little more than half.
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
[sources]
"nand.*" = { kind = "assumed", source = "made up for tests" }
"ftl.*" = { kind = "assumed", source = "made up for tests" }
"write_buffer.*" = { kind = "assumed", source = "made up for tests" }
"""


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skips a test where one of the programs is not installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


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

    def wait_until_gone(self) -> None:
        """Until neither mount nor loop device is left."""
        wait_for(
            "mount and loop device are gone",
            lambda: str(self.folder) not in guardian.mounted_folders() and not self._loop_is_there(),
        )

    def _loop_is_there(self) -> bool:
        return self.loop is not None and Path(f"/sys/block/{Path(self.loop).name}/loop/backing_file").exists()


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
