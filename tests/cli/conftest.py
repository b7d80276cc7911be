"""What the tests of the command line share: the program as a user calls it, a small drive, small jobs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from small_drives import Program, drive_file, program_in

# Small enough to settle in a second.
DRIVE = drive_file("small", blocks=512, pages=64, user_bytes=104857600)
UNIFORM = "[uniform]\nrw=randwrite\nbs=4k\nnorandommap\nrandrepeat=0\n"


@pytest.fixture(scope="session")
def ssdlab_in() -> Callable[[Path], Program]:
    """Makes a caller of the program in a folder, into which it puts `small.toml`, `uniform.fio` and `iolog.fio`."""

    def prepare(folder: Path) -> Program:
        (folder / "small.toml").write_text(DRIVE)
        (folder / "uniform.fio").write_text(UNIFORM)
        (folder / "iolog.fio").write_text("[a]\nread_iolog=x.log\n")
        return program_in(folder)

    return prepare


@pytest.fixture
def ssdlab(ssdlab_in: Callable[[Path], Program], tmp_path: Path) -> Program:
    """Calls the program in the test's own folder."""
    return ssdlab_in(tmp_path)
