"""Helpers for tests of measurements: served drives, and calls of the program as a user makes them."""

import json
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from program import program_in
from running_drives import DRIVE, Mount, Mounts

Serve = Callable[..., Mount]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serves a drive as a loop device: `serve()`, or `serve(drive_toml)`."""
    mounts, names = Mounts(tmp_path), count()

    def start(drive: str = DRIVE, *options: str) -> Mount:
        file = tmp_path / f"served-{next(names)}.toml"
        file.write_text(drive)
        return mounts.start(file, "--loop", *options)

    yield start
    mounts.take_away()


def serial_of(mount: Mount) -> str:
    """The name that authorizes destroying the loop device of a served drive."""
    status = mount.drive.stat()
    return f"loop:{status.st_ino}:{status.st_size}"


def on(mount: Mount) -> list[str]:
    """The options that allow a command to destroy the data on the served drive."""
    assert mount.loop
    return ["--on", mount.loop, "--destroy-data-on", serial_of(mount)]


def ssdlab(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = program_in(Path.cwd())(*map(str, arguments))
    assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def result_in(folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return result
