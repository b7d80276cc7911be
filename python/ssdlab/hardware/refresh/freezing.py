"""Freezes a mounted file system briefly (fsfreeze): all its writes are on the device, and no new ones arrive.

While it is frozen, programs that write to it wait. This process must not write to it either: no progress file, no log.
"""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.refresh import thaw_guardian
from ssdlab.hardware.safety.held import path_of


class Freezer:
    """Freezes and thaws the file system at a folder, which cannot be unmounted while this is open."""

    def __init__(self, folder: Path, descriptor: int, pipe: int) -> None:
        self.folder = folder
        self.descriptor = descriptor
        self._pipe = pipe

    @property
    def device(self) -> int:
        """The device number of the file system."""
        return os.fstat(self.descriptor).st_dev

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Freezes the file system. Raises RunFailed if it cannot be frozen, or cannot be thawed, with a manual
        remedy."""
        self._tell(thaw_guardian.FREEZES)
        self._freeze()
        try:
            yield
        finally:
            self._thaw()
            # Not after a failed thaw, so that the guardian tries again at the end.
            self._tell(thaw_guardian.THAWED)

    def _tell(self, what: bytes) -> None:
        try:
            os.write(self._pipe, what)
        except BrokenPipeError:
            raise RunFailed(
                f"the process that would thaw {self.folder} after a kill has ended; nothing is frozen"
            ) from None

    def _freeze(self) -> None:
        try:
            fcntl.ioctl(self.descriptor, thaw_guardian.FIFREEZE, 0)
        except OSError as error:
            # A file system frozen by another program must not be thawed here.
            self._tell(thaw_guardian.THAWED)
            raise RunFailed(f"{self.folder}: {_why_not(error)}") from None

    def _thaw(self) -> None:
        try:
            fcntl.ioctl(self.descriptor, thaw_guardian.FITHAW, 0)
        except OSError as error:
            # EINVAL: another process has thawed it already.
            if error.errno != errno.EINVAL:
                raise RunFailed(
                    f"{self.folder} could not be thawed ({error.strerror}); `fsfreeze --unfreeze {self.folder}` does it"
                ) from None
            raise RunFailed(f"{self.folder} was thawed by another process during the refresh") from None


def _why_not(error: OSError) -> str:
    if error.errno == errno.EBUSY:
        return "is already frozen by another program; if that program has ended, run `fsfreeze --unfreeze`"
    if error.errno == errno.EPERM:
        return "only root may freeze a file system"
    return f"cannot be frozen: {error.strerror}"


@contextlib.contextmanager
def freezer(folder: Path) -> Iterator[Freezer]:
    """A freezer for the file system at a folder, with its guardian. Raises InputError if the folder cannot be
    opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None
    try:
        pipe, guardian = thaw_guardian.start(str(path_of(descriptor)))
        try:
            yield Freezer(folder, descriptor, pipe)
        finally:
            os.close(pipe)
            guardian.wait()
            if guardian.stdout:
                guardian.stdout.close()
    finally:
        os.close(descriptor)
