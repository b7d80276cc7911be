"""What the tests of replaying share: small drives, traces written line by line, the program as a user calls it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

Program = Callable[..., subprocess.CompletedProcess[str]]
Request = tuple[str, int, int]
"""(read, write or trim; offset; length), in bytes."""

_DRIVE = """
name = "{name}"
description = "for the tests of replaying"
[nand]
cell = "slc"
channels = 1
dies_per_channel = 1
planes_per_die = 1
blocks_per_plane = {blocks}
pages_per_block = {pages}
page_bytes = 4096
read_us = 25.0
program_us = 200.0
erase_us = 1500.0
channel_mb_s = 200
endurance_cycles = 3000
[ftl]
user_bytes = {user_bytes}
mapping_unit_bytes = 4096
erase_unit = "block"
victim = "greedy"
placement = "single"
reserve_erase_units = 1
wear_leveling = "none"
spare_area = "dynamic"
[sources]
"nand.*" = {{ kind = "assumed", source = "made up for a test" }}
"ftl.*" = {{ kind = "assumed", source = "made up for a test" }}
"""

# 256 units for the host: cleaning begins within a hundred writes.
TINY = _DRIVE.format(name="tiny-one", blocks=24, pages=16, user_bytes=1 << 20)
SMALL = _DRIVE.format(name="small-one", blocks=320, pages=16, user_bytes=16 << 20)


@pytest.fixture
def write_trace(folder: Path) -> Callable[..., Path]:
    """Writes requests as fio's iolog, version 3: (file name, requests, volume) -> its path."""

    def write(name: str, requests: Iterable[Request], volume: str = "/dev/sdb") -> Path:
        lines = [f"{us} {volume} {operation} {at} {length}" for us, (operation, at, length) in enumerate(requests)]
        text = "\n".join(["fio version 3 iolog", f"0 {volume} add", f"0 {volume} open", *lines, ""])
        (folder / name).write_text(text)
        return folder / name

    return write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the drive files `tiny.toml` and `small.toml`."""
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


@pytest.fixture
def ssdlab(folder: Path) -> Program:
    """Calls the program in the folder; `stdin` is given as bytes."""

    def call(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
        ended = subprocess.run(
            [sys.executable, "-m", "ssdlab", *arguments],
            capture_output=True,
            input=stdin,
            cwd=folder,
            timeout=120,
            env=os.environ | {"COLUMNS": "100"},
        )
        out, err = ended.stdout.decode(), ended.stderr.decode()
        return subprocess.CompletedProcess(ended.args, ended.returncode, out, err)

    return call


@pytest.fixture
def replayed(folder: Path) -> Callable[..., Any]:
    """Replays in this process, without a report: (files, drive, further options of `specify`) -> the result."""
    from ssdlab import drive
    from ssdlab.runs import run_many
    from ssdlab.traces.recording import opened
    from ssdlab.traces.specification import specify

    def call(
        *names: str,
        on: str = "tiny.toml",
        settings: dict[str, str] | None = None,
        volume: str | None = None,
        skip_bad: int = 0,
        **options: Any,
    ) -> Any:
        with opened([str(folder / name) for name in names], None, skip_bad) as recording:
            resolved = drive(folder / on, settings=settings)
            [(_, result)] = run_many([specify(recording, resolved, volume=volume, **options)])
            return result

    return call
