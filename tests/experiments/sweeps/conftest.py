"""Fixtures for sweeps: a folder with a small drive, a job and a sweep file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from program import Program, program_in
from small_drives import drive_file

SWEEP = """
name = "small"
[axes]
drive = ["small.toml"]
job = ["uniform.fio"]
op = ["10%", "20%"]
"ftl.victim" = ["greedy", "fifo"]
seed = [1, 2]
[run]
timed = false
until = "job"
precondition = "none"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with `small.toml`, `uniform.fio` and `small-sweep.toml`: eight runs of a few milliseconds."""
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=256, pages=32, user_bytes=16 << 20))
    (tmp_path / "uniform.fio").write_text("[uniform]\nrw=randwrite\nbs=4k\nnorandommap\nrandrepeat=0\n")
    (tmp_path / "small-sweep.toml").write_text(SWEEP)
    return tmp_path


@pytest.fixture
def ssdlab(folder: Path) -> Program:
    """Calls the program in that folder."""
    return program_in(folder)


@pytest.fixture
def contents() -> Callable[[Path], dict[str, bytes]]:
    """Reads every result of a data set."""
    return lambda dataset: {path.name: path.read_bytes() for path in sorted((dataset / "runs").glob("*.parquet"))}
