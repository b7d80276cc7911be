"""Block devices created by a test: loop devices over files in its folder, and partitions and mounts on them; all
removed."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from waiting import SECONDS_MAX


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skips a test where one of the programs is not installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True)


def make_ext4(device: str, *options: str) -> None:
    """Creates an ext4 without lazy initialization: otherwise the kernel writes to it in the first seconds after
    mounting."""
    run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", *options, device)


def write_out(folder: Path | str) -> None:
    """Flushes the file system there; `os.sync` would also wait for those of other tests."""
    run("sync", "--file-system", str(folder))


def forget(file: Path | str) -> None:
    """Drops the cached, flushed pages of a file or device, and no others."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


class Devices:
    """Creates devices and removes them in the opposite order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._undo: list[tuple[str, ...]] = []

    def loop(self, size_bytes: int = 32 << 20) -> str:
        """Creates an empty loop device. Returns its path."""
        file = self.folder / f"device-{len(self._undo)}"
        with file.open("wb") as opened:
            opened.truncate(size_bytes)
        device = run("losetup", "--find", "--show", str(file)).stdout.strip()
        self._undo.append(("losetup", "--detach", device))
        return device

    def partition(self, device: str, number: int = 1, start_bytes: int = 1 << 20, size_bytes: int = 16 << 20) -> str:
        """Registers a partition with the kernel, as partx does; nothing is written to the device."""
        try:
            run("addpart", device, str(number), str(start_bytes // 512), str(size_bytes // 512))
        except subprocess.CalledProcessError as error:
            pytest.skip(f"the kernel gives loop devices no partitions: {error.stderr}")
        self._undo.append(("delpart", device, str(number)))
        return f"{device}p{number}"

    def mount(self, device: str, *options: str) -> Path:
        folder = self.folder / f"mounted-{len(self._undo)}"
        folder.mkdir()
        run("mount", *options, device, str(folder))
        self._undo.append(("umount", str(folder)))
        return folder

    def also_undo(self, *command: str) -> None:
        self._undo.append(command)

    def take_away(self) -> None:
        while self._undo:
            command = self._undo.pop()
            with contextlib.suppress(OSError):
                done = subprocess.run(command, capture_output=True)
                if done.returncode != 0 and command[0] == "umount":
                    subprocess.run(["umount", "--lazy", command[-1]], capture_output=True)


@contextlib.contextmanager
def served_drive(folder: Path, drive: str) -> Iterator[tuple[str, Path]]:
    """Serves a simulated drive, from a drive file's text, as a loop device. Yields its name and the folder of its
    statistics."""
    if not Path("/dev/fuse").exists():
        pytest.skip("no /dev/fuse")
    (folder / "served.toml").write_text(drive)
    mount = folder / "served"
    command = [sys.executable, "-m", "ssdlab", "mount", str(mount), "--drive", str(folder / "served.toml"), "--loop"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        try:
            device = process.stdout.readline().strip()
            assert device, "ssdlab mount ended"
            yield device, mount
        finally:
            process.terminate()
            try:
                process.wait(SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def devices(tmp_path: Path) -> Iterator[Devices]:
    """Loop devices over files of the test, removed even if it fails."""
    made = Devices(tmp_path)
    yield made
    made.take_away()


@pytest.fixture
def loop(devices: Devices) -> str:
    """One empty loop device of 32 MiB."""
    return devices.loop()
