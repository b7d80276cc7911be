"""A freshly written region beside a file, to compare the file's read speed with: data that lies as the drive likes it.

It is a file without a name, which the kernel removes with its descriptor, however the process ends.
"""

import contextlib
import errno
import mmap
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ssdlab.hardware.diagnosis import read_speed
from ssdlab.hardware.safety.held import FileId

BYTES_MAX = 64 << 20
BYTES_MIN = 8 << 20
"""A smaller region is only a few requests, and possibly in the drive's cache."""
FREE_SHARE = 0.25
"""The largest share of the free space that it takes."""
_BLOCK_BYTES = read_speed.BLOCK_BYTES


@dataclass(frozen=True)
class Fresh:
    """The region, or the reason why there is none."""

    descriptor: int | None
    size_bytes: int = 0
    why_not: str | None = None

    def stretches(self, segment_bytes: int) -> list[tuple[int, int]]:
        """Its segments (offset, length)."""
        return read_speed.stretches([(0, self.size_bytes)], segment_bytes=segment_bytes)


@contextlib.contextmanager
def beside(
    path: Path, file_id: FileId, size_bytes: int, *, tell: Callable[[str, float], None] = lambda what, share: None
) -> Iterator[Fresh]:
    """Writes a region of random data, as large as a file of `size_bytes` and at most `BYTES_MAX`, to the file system
    of the file at `path`, and removes it in the end. Where it cannot be written, the region says why."""
    try:
        descriptor = _unnamed(path.parent)
    except OSError as error:
        yield Fresh(None, why_not=f"nothing can be written beside it ({error.strerror})")
        return
    try:
        yield _written(descriptor, file_id, size_bytes, tell)
    finally:
        os.close(descriptor)


def _unnamed(folder: Path) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_DIRECT
    try:
        return os.open(folder, flags | os.O_TMPFILE, 0o600)
    except OSError as error:
        # Older kernels open the folder itself, which is EISDIR.
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT):
            raise
    name = folder / f".ssdlab-check-{secrets.token_hex(8)}"
    descriptor = os.open(name, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        name.unlink()
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _written(descriptor: int, file_id: FileId, size_bytes: int, tell: Callable[[str, float], None]) -> Fresh:
    if os.fstat(descriptor).st_dev != file_id.device:
        return Fresh(None, why_not="its folder is on another file system now")
    system = os.fstatvfs(descriptor)
    room_bytes = int(system.f_bavail * system.f_frsize * FREE_SHARE)
    total = min(size_bytes, BYTES_MAX, room_bytes) // _BLOCK_BYTES * _BLOCK_BYTES
    if total < BYTES_MIN:
        return Fresh(None, why_not="the file system has too little free space for it")
    try:
        with mmap.mmap(-1, _BLOCK_BYTES) as buffer:
            for offset in range(0, total, _BLOCK_BYTES):
                # Random, so that the drive cannot compress it.
                buffer[:] = os.urandom(_BLOCK_BYTES)
                if os.pwrite(descriptor, buffer, offset) != _BLOCK_BYTES:
                    return Fresh(None, why_not="it could be written in part only")
                tell("writing a fresh region", (offset + _BLOCK_BYTES) / total)
        os.fsync(descriptor)
    except OSError as error:
        return Fresh(None, why_not=f"it could not be written ({error.strerror})")
    return Fresh(descriptor, total)
