"""Mounts a drive at a folder, and takes it away again whatever happens."""

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, RunFailed
from ssdlab.serving import guardian, loop
from ssdlab.serving.drive import ServedDrive

if TYPE_CHECKING:
    from ssdlab._engine import Mount


@dataclass(frozen=True)
class Mounted:
    """A drive at a folder."""

    folder: Path
    loop: str | None
    _mount: "Mount"

    @property
    def file(self) -> Path:
        """The drive as a file."""
        return self.folder / "drive"

    def wait(self) -> None:
        """Returns when someone unmounts it; Ctrl-C raises KeyboardInterrupt."""
        while not self._mount.wait(3600):
            pass


@contextlib.contextmanager
def mounted(drive: ServedDrive, folder: Path, *, threads: int = 4, with_loop: bool = False) -> Iterator[Mounted]:
    """The drive at a folder, which must be there and empty. Raises InputError for the folder, RunFailed when the system
    lacks something, which the message names.

    Afterwards neither mount nor loop device is left, nor when this process is killed.
    """
    folder = _checked(folder)
    if with_loop:
        loop.check()
    try:
        mount = drive.device.mount(folder, threads, drive.render)
    except OSError as error:
        raise RunFailed(_what_is_missing(folder, error)) from None
    pipe = guardian.start(str(folder), None)
    device = None
    try:
        if with_loop:
            device = loop.attach(folder / "drive")
            # From here on a new guardian knows of both.
            pipe_of_both = guardian.start(str(folder), device)
            guardian.stop(pipe)
            pipe = pipe_of_both
        yield Mounted(folder, device, mount)
    finally:
        try:
            if device:
                loop.detach(device)
        except RunFailed:
            # The guardian does it by force.
            os.close(pipe)
            raise
        else:
            _unmount(mount, folder)
            guardian.stop(pipe)
            drive.close()


def _unmount(mount: "Mount", folder: Path) -> None:
    try:
        mount.unmount()
    except OSError:
        # A program has a file of it open; it gets errors from now on.
        guardian.clean(str(folder), None)


def _checked(folder: Path) -> Path:
    if not folder.exists():
        try:
            folder.mkdir()
        except OSError as error:
            raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; a drive is mounted at an empty folder")
    folder = folder.resolve()
    if os.path.ismount(folder):
        raise InputError(f"{folder}: something is mounted there already; unmount it, or name another folder")
    if any(folder.iterdir()):
        raise InputError(f"{folder} is not empty; mounting would hide what is in it")
    return folder


def _what_is_missing(folder: Path, error: OSError) -> str:
    fuse = Path("/dev/fuse")
    if not fuse.exists():
        return f"{fuse} is missing: `modprobe fuse` loads it; a container must be given it (--device {fuse})"
    if not os.access(fuse, os.R_OK | os.W_OK):
        return f"{fuse} may not be opened by this user; its group, or root, may"
    if error.errno == errno.EPERM and os.geteuid() == 0:
        return f"{folder}: this system does not let even root mount here: a container needs the capability SYS_ADMIN"
    if os.geteuid() != 0:
        return f"{folder}: mounting as a user takes fusermount3, of the package fuse3 ({error})"
    return f"{folder}: cannot be mounted: {error}"
