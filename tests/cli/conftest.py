"""What the tests of the command line share: the program as a user calls it, a small drive, small jobs."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Program = Callable[..., subprocess.CompletedProcess[str]]

# 512 erase units of 64 units of 4 KiB, 128 MiB in all: small enough to settle in a second.
DRIVE = """
name = "small"
description = "for the tests of the command line"
[nand]
cell = "slc"
channels = 1
dies_per_channel = 1
planes_per_die = 1
blocks_per_plane = 512
pages_per_block = 64
page_bytes = 4096
read_us = 25.0
program_us = 200.0
erase_us = 1500.0
channel_mb_s = 200
endurance_cycles = 3000
[ftl]
user_bytes = 104857600
mapping_unit_bytes = 4096
erase_unit = "block"
victim = "greedy"
placement = "single"
reserve_erase_units = 1
wear_leveling = "none"
spare_area = "dynamic"
[sources]
"nand.*" = { kind = "assumed", source = "made up for a test" }
"ftl.*" = { kind = "assumed", source = "made up for a test" }
"""

UNIFORM = "[uniform]\nrw=randwrite\nbs=4k\nnorandommap\nrandrepeat=0\n"


@pytest.fixture(scope="session")
def ssdlab_in() -> Callable[[Path], Program]:
    """Makes a caller of the program in a folder, into which it puts `small.toml` and `uniform.fio`."""

    def prepare(folder: Path) -> Program:
        (folder / "small.toml").write_text(DRIVE)
        (folder / "uniform.fio").write_text(UNIFORM)

        def call(*arguments: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, "-m", "ssdlab", *arguments],
                capture_output=True,
                text=True,
                cwd=folder,
                timeout=timeout_s,
                env=os.environ | {"COLUMNS": "80"},
            )

        return call

    return prepare


@pytest.fixture
def ssdlab(ssdlab_in: Callable[[Path], Program], tmp_path: Path) -> Program:
    """Calls the program in the test's own folder."""
    return ssdlab_in(tmp_path)
