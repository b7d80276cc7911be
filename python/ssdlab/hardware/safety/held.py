"""Holds files, folders and devices by their descriptors, so that the object used is the object checked.

A path can be replaced between a check and an open. Therefore a path is opened once, the opened object is compared with
the checked one, and from then on its descriptor represents it: in this process by calls relative to a folder's
descriptor, in other programs by `/proc/PID/fd/N`, which opens the held file even if it was renamed. Linux only.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ssdlab.errors import InputError, RunFailed


@dataclass(frozen=True)
class FileId:
    """The identity of a file, folder or device, independent of its path. A device can have several nodes."""

    kind: int
    """The file type bits of `st_mode`."""
    device: int
    """`st_rdev` for a block or character device, otherwise `st_dev` of the file system."""
    inode: int | None
    """None for a device."""

    @classmethod
    def of(cls, status: os.stat_result) -> "FileId":
        kind = stat.S_IFMT(status.st_mode)
        if stat.S_ISBLK(kind) or stat.S_ISCHR(kind):
            return cls(kind, status.st_rdev, None)
        return cls(kind, status.st_dev, status.st_ino)


def path_of(descriptor: int) -> Path:
    """The path by which this process and others of the same user open the object behind a descriptor."""
    return Path(f"/proc/{os.getpid()}/fd/{descriptor}")


def open_same(path: Path, flags: int, expected: FileId) -> int:
    """Opens a path that was checked before. Raises InputError, without opening it for reading or writing, if the path
    leads to another object now. Raises OSError as `os.open` does."""
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if FileId.of(os.fstat(found)) != expected:
            raise InputError(f"{path} was replaced after the check; nothing was changed")
        return os.open(path_of(found), flags | os.O_CLOEXEC)
    finally:
        os.close(found)


class HeldFolder:
    """An open folder. Files in it are created, moved and removed relative to its descriptor."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        """The path as given."""
        self.descriptor = descriptor

    @classmethod
    def open(cls, path: Path, expected: FileId | None = None) -> "HeldFolder":
        """Opens a folder, following symbolic links once. Raises OSError, and InputError as `open_same` does."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        return cls(path, os.open(path, flags) if expected is None else open_same(path, flags, expected))

    @property
    def id(self) -> FileId:
        return FileId.of(os.fstat(self.descriptor))

    def folder(self, name: str) -> "HeldFolder":
        """Opens a folder in it that is not a symbolic link. Raises OSError."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        return HeldFolder(self.path / name, os.open(name, flags, dir_fd=self.descriptor))

    def make_file(self, name: str) -> "HeldFile":
        """Creates a file that only this user can read and write. Raises OSError, also if the name exists."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return HeldFile(self, name, os.open(name, flags, 0o600, dir_fd=self.descriptor))

    def status_of(self, name: str) -> os.stat_result | None:
        """The status of an entry, without following a symbolic link; None if there is no entry of this name."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Names of all entries."""
        return os.listdir(self.descriptor)  # noqa: PTH208

    def close(self) -> None:
        os.close(self.descriptor)


class HeldFile:
    """A file created by this process, open until it is closed or removed."""

    def __init__(self, folder: HeldFolder, name: str, descriptor: int) -> None:
        self.descriptor = descriptor
        self._folder = folder
        self._name = name
        self._id = FileId.of(os.fstat(descriptor))

    @property
    def path(self) -> Path:
        """The path by which other programs open the file."""
        return path_of(self.descriptor)

    @property
    def where(self) -> Path:
        """The path of the file in its folder."""
        return self._folder.path / self._name

    def check(self) -> None:
        """Raises RunFailed if the file was removed or replaced, or has additional hard links."""
        named, where = self._folder.status_of(self._name), self.where
        if named is None:
            raise RunFailed(f"{where} was removed during the measurement")
        if FileId.of(named) != self._id:
            raise RunFailed(f"{where} was replaced by another file during the measurement; that file was not written")
        if named.st_nlink != 1:
            raise RunFailed(f"{where} has got {named.st_nlink - 1} more name(s) during the measurement")

    def remove(self) -> None:
        """Removes the file, unless its name belongs to another file by now, and closes it."""
        named = self._folder.status_of(self._name)
        if named is not None and FileId.of(named) == self._id:
            os.unlink(self._name, dir_fd=self._folder.descriptor)
        self.close()

    def move_to(self, folder: HeldFolder, name: str) -> None:
        """Moves the file to a name that must be free. Raises OSError; the file then remains where it was."""
        os.link(self._name, name, src_dir_fd=self._folder.descriptor, dst_dir_fd=folder.descriptor)
        self.remove()

    def close(self) -> None:
        os.close(self.descriptor)
