"""Fixtures for the command line: the program as a user calls it, a small drive, small jobs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from program import Program, program_in
from small_drives import drive_file

# Small enough to reach steady state in a second.
DRIVE = drive_file("small", blocks=512, pages=64, user_bytes=104857600)
UNIFORM = "[uniform]\nrw=randwrite\nbs=4k\nnorandommap\nrandrepeat=0\n"


@pytest.fixture(scope="session")
def ssdlab_in() -> Callable[[Path], Program]:
    """Returns a function that prepares a folder with `small.toml`, `uniform.fio` and `iolog.fio`, and calls the program
    there."""

    def prepare(folder: Path) -> Program:
        (folder / "small.toml").write_text(DRIVE)
        (folder / "uniform.fio").write_text(UNIFORM)
        (folder / "iolog.fio").write_text("[a]\nread_iolog=x.log\n")
        return program_in(folder)

    return prepare


@pytest.fixture
def ssdlab(ssdlab_in: Callable[[Path], Program], tmp_path: Path) -> Program:
    """Calls the program in the test's folder."""
    return ssdlab_in(tmp_path)
