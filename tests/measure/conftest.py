"""What tests of measuring share: simulated drives that are served beside them, and are always taken away."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from running_drives import DRIVE, Mount
from served import Serve
from ssdlab.serving import guardian


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = [name for name in ("/dev/fuse", "/dev/loop-control") if not Path(name).exists()]
    reason = f"no {', no '.join(missing)}" if missing else "not root" if os.geteuid() != 0 else None
    for item in items:
        if item.get_closest_marker("fuse") and reason:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serves a drive as a loop device: `serve()`, or `serve(drive_toml)`."""
    made: list[Mount] = []

    def start(drive: str = DRIVE, *options: str) -> Mount:
        file = tmp_path / f"served-{len(made)}.toml"
        file.write_text(drive)
        folder = tmp_path / f"served-{len(made)}"
        process = subprocess.Popen(
            [sys.executable, "-m", "ssdlab", "mount", str(folder), "--drive", str(file), "--loop", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        mount = Mount(folder, process, None)
        made.append(mount)
        assert process.stdout is not None and process.stderr is not None
        mount.loop = process.stdout.readline().strip()
        if not mount.loop:
            pytest.fail(f"ssdlab mount ended: {process.stderr.read()}")
        return mount

    yield start
    for mount in made:
        with contextlib.suppress(subprocess.TimeoutExpired):
            mount.end()
        if mount.process.poll() is None:
            mount.end(signal.SIGKILL)
        guardian.clean(str(mount.folder), mount.loop)
