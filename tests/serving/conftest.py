"""Fixtures for mounted and served drives: mounts and servers that are always removed."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from running_drives import DRIVE, Mount, MountMaker, Mounts, Server


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[MountMaker]:
    """Mounts the test drive: `mount("--loop", ...)`. All mounts and their loop devices are removed at the end."""
    mounts = Mounts(tmp_path)
    (tmp_path / "mounted.toml").write_text(DRIVE)

    def start(*options: str, drive: Path | str = tmp_path / "mounted.toml") -> Mount:
        return mounts.start(drive, *options)

    yield start
    mounts.take_away()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Serves the test drive over NBD: `serve("--port", "0")`; by default at a Unix socket."""
    made: list[Server] = []
    (tmp_path / "mounted.toml").write_text(DRIVE)

    def start(*options: str) -> Server:
        place = [] if "--port" in options else ["--socket", str(tmp_path / f"{len(made)}.sock")]
        process = subprocess.Popen(
            [sys.executable, "-m", "ssdlab", "serve", "--drive", str(tmp_path / "mounted.toml"), *place, *options],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        server = Server("", process)
        made.append(server)
        assert process.stdout is not None
        server.uri = process.stdout.readline().strip()
        assert server.uri, "ssdlab serve ended"
        return server

    yield start
    for server in made:
        server.end(signal.SIGKILL)
