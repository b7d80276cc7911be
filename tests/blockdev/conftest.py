"""What the tests of mounted and served drives share: mounts that are always taken away, and skips by name.

A test that needs root, /dev/fuse, loop devices or a program is skipped where there is none, and says which.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from running_drives import DRIVE, Mount, MountMaker, Server
from ssdlab.serving import guardian


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = None
    if not Path("/dev/fuse").exists():
        reason = "no /dev/fuse"
    elif os.geteuid() != 0:
        reason = "not root"
    for item in items:
        if item.get_closest_marker("fuse") and reason:
            item.add_marker(pytest.mark.skip(reason=reason))
        if item.get_closest_marker("loop") and not Path("/dev/loop-control").exists():
            item.add_marker(pytest.mark.skip(reason="no loop devices (/dev/loop-control)"))


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[MountMaker]:
    """Mounts the drive of these tests: `mount("--loop", ...)`. All are taken away, and their loop devices."""
    made: list[Mount] = []
    (tmp_path / "mounted.toml").write_text(DRIVE)

    def start(*options: str, drive: Path | str | None = None) -> Mount:
        folder = tmp_path / f"mount-{len(made)}"
        arguments = ["--drive", str(drive or tmp_path / "mounted.toml"), *options]
        process = subprocess.Popen(
            [sys.executable, "-m", "ssdlab", "mount", str(folder), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        mount = Mount(folder, process, None)
        made.append(mount)
        assert process.stderr is not None and process.stdout is not None
        said = ""
        while "to end" not in said:
            line = process.stderr.readline()
            if not line:
                pytest.fail(f"ssdlab mount ended: {said}")
            said += line
        mount.loop = process.stdout.readline().strip() if "--loop" in options else None
        return mount

    yield start
    for mount in made:
        with contextlib.suppress(subprocess.TimeoutExpired):
            mount.end()
        if mount.process.poll() is None:
            mount.end(signal.SIGKILL)
        guardian.clean(str(mount.folder), mount.loop)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Serves the drive of these tests over NBD: `serve("--port", "0")`; at a unix socket unless told otherwise."""
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
