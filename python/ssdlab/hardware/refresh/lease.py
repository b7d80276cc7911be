"""A write lease (fcntl's F_SETLEASE): no other process has the file open, and a process that opens it waits for the
lease's end.

It prevents changes to a file between reading a block and writing it. Locks (flock, fcntl) are advisory and can be
ignored by a writer; `chattr +i` blocks this process's writes too. A lease is granted only if this process is the only
one that has the file open or mapped into memory. When another process opens or truncates it, the kernel blocks that
process for `lease-break-time` (45 s by default), and `is_whole` returns False.
"""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.hardware.safety import sysfs

SECONDS_MIN = 10
"""The least lease-break-time. With less, a slow drive can still be writing when the waiting process continues."""


class Lease:
    """A lease that is held."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def is_whole(self) -> bool:
        """False while another process waits to open the file: finish the current block soon and start no new one."""
        return fcntl.fcntl(self._descriptor, fcntl.F_GETLEASE) == fcntl.F_WRLCK


@contextlib.contextmanager
def held(descriptor: int, path: Path) -> Iterator[Lease]:
    """Takes a lease on a file that is open for writing. Raises InputError, with the processes that have it open."""
    seconds = int(sysfs.read(Path("/proc/sys/fs/lease-break-time")) or 0)
    if seconds < SECONDS_MIN:
        raise InputError(
            f"/proc/sys/fs/lease-break-time is {seconds} s; allowed: at least {SECONDS_MIN} s, so that a block is "
            "completely rewritten before another process may write"
        )
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        raise InputError(_why_not(path, error)) from None
    # Suppresses SIGIO, which would end a process that does not expect it; `is_whole` polls instead.
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, 0)
    try:
        yield Lease(descriptor)
    finally:
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def _why_not(path: Path, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"{path}: only its owner or root can exclude other writers during the rewrite"
    if isinstance(error, BlockingIOError):
        users = openers(path)
        by = f" by {', '.join(users)}" if users else " (by the kernel or another user's program)"
        return f"{path} is open elsewhere{by} and could change during the rewrite. Close it first"
    return f"{path}: other writers cannot be excluded during the rewrite: {error.strerror}"


def openers(path: Path) -> list[str]:
    """Descriptions of other processes that have the file open or mapped, and of loop devices over it."""
    wanted = path.stat()
    own = str(Path("/proc/self").readlink())
    found = []
    for process in sorted(entry for entry in Path("/proc").iterdir() if entry.name.isdigit() and entry.name != own):
        for kind in ("fd", "map_files"):
            try:
                links = list((process / kind).iterdir())
            except OSError:
                continue
            if any(_is(link, wanted.st_dev, wanted.st_ino) for link in links):
                found.append(f"{sysfs.read(process / 'comm') or 'a program'} (process {process.name})")
                break
    for entry in sorted(Path("/sys/block").glob("loop*/loop/backing_file")):
        backing = sysfs.read(entry)
        if backing and Path(backing) == path.resolve():
            found.append(f"the loop device /dev/{entry.parents[1].name}")
    return found


def _is(link: Path, device: int, inode: int) -> bool:
    try:
        found = link.stat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (device, inode)
