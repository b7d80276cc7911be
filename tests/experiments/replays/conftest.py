"""Fixtures for replays: small drives, traces written line by line, the program as a user calls it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from program import Program, program_in
from small_drives import drive_file

Request = tuple[str, int, int]
"""Operation (read, write or trim), offset and length in bytes."""

# 256 units for the host: garbage collection begins within a hundred writes.
TINY = drive_file("tiny-one", blocks=24, pages=16, user_bytes=1 << 20)
SMALL = drive_file("small-one", blocks=320, pages=16, user_bytes=16 << 20)


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
    return program_in(folder, columns=100)


@pytest.fixture
def replayed(folder: Path) -> Callable[..., Any]:
    """Replays in this process, without a report: (files, drive, further options of `specify`) -> the result.

    Without a clock, unless `timed` is set.
    """
    from ssdlab import drive
    from ssdlab.simulator.runs import run_many
    from ssdlab.simulator.workloads.traces.recording import opened
    from ssdlab.simulator.workloads.traces.specification import specify

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
            [(_, result)] = run_many([specify(recording, resolved, volume=volume, **{"timed": False, **options})])
            return result

    return call
