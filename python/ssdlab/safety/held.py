"""What was checked is what is used: files, folders and devices are held by their descriptors.

A name can be exchanged between a check and an opening. So a path is opened once, what was opened is compared with what
was checked, and from then on its descriptor stands for it: in this process by calls relative to a folder's descriptor,
in other programs by `/proc/PID/fd/N`, which opens the held file whatever its name has become. Linux only.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ssdlab.errors import InputError, RunFailed


@dataclass(frozen=True)
class FileId:
    """Which file, folder or device it is, whatever it is called. A device may have several nodes."""

    kind: int
    """The kind of file in `st_mode`."""
    device: int
    """`st_rdev` of a block device, else `st_dev` of the file system."""
    inode: int | None
    """None of a block device."""

    @classmethod
    def of(cls, status: os.stat_result) -> "FileId":
        kind = stat.S_IFMT(status.st_mode)
        return cls(kind, status.st_rdev, None) if stat.S_ISBLK(kind) else cls(kind, status.st_dev, status.st_ino)


def path_of(descriptor: int) -> Path:
    """By which this process and others of the same user open what the descriptor holds."""
    return Path(f"/proc/{os.getpid()}/fd/{descriptor}")


def open_same(path: Path, flags: int, expected: FileId) -> int:
    """Opens what was checked before. Raises InputError when the path leads to something else now; that is not opened
    for reading or writing. Raises OSError as `os.open` does."""
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if FileId.of(os.fstat(found)) != expected:
            raise InputError(f"{path} was replaced after the check; nothing was changed")
        return os.open(path_of(found), flags | os.O_CLOEXEC)
    finally:
        os.close(found)


class HeldFolder:
    """A folder, open. What is made, moved or removed in it is named relative to its descriptor."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        """As it was named."""
        self.descriptor = descriptor

    @classmethod
    def open(cls, path: Path, expected: FileId | None = None) -> "HeldFolder":
        """Symbolic links in the path are followed, once. Raises OSError, and InputError as `open_same`."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        return cls(path, os.open(path, flags) if expected is None else open_same(path, flags, expected))

    @property
    def id(self) -> FileId:
        return FileId.of(os.fstat(self.descriptor))

    def folder(self, name: str) -> "HeldFolder":
        """A folder in it, which is no symbolic link. Raises OSError."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        return HeldFolder(self.path / name, os.open(name, flags, dir_fd=self.descriptor))

    def make_file(self, name: str) -> "HeldFile":
        """A new file that only this user may read and write. Raises OSError, also when the name is taken."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return HeldFile(self, name, os.open(name, flags, 0o600, dir_fd=self.descriptor))

    def status_of(self, name: str) -> os.stat_result | None:
        """Of what has a name in it, a symbolic link not followed; None when nothing has."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Of all that is in it."""
        return os.listdir(self.descriptor)  # noqa: PTH208

    def close(self) -> None:
        os.close(self.descriptor)


class HeldFile:
    """A file that was made here, open until it is closed or removed."""

    def __init__(self, folder: HeldFolder, name: str, descriptor: int) -> None:
        self.descriptor = descriptor
        self._folder = folder
        self._name = name
        self._id = FileId.of(os.fstat(descriptor))

    @property
    def path(self) -> Path:
        """By which other programs open it."""
        return path_of(self.descriptor)

    @property
    def where(self) -> Path:
        """Where it lies."""
        return self._folder.path / self._name

    def check(self) -> None:
        """Raises RunFailed when its name leads elsewhere by now, or it has got another name."""
        named, where = self._folder.status_of(self._name), self.where
        if named is None:
            raise RunFailed(f"{where} was removed during the measurement")
        if FileId.of(named) != self._id:
            raise RunFailed(f"{where} was replaced by another file during the measurement; that file was not written")
        if named.st_nlink != 1:
            raise RunFailed(f"{where} has got {named.st_nlink - 1} more name(s) during the measurement")

    def remove(self) -> None:
        """Takes the file away, unless its name is another's by now."""
        named = self._folder.status_of(self._name)
        if named is not None and FileId.of(named) == self._id:
            os.unlink(self._name, dir_fd=self._folder.descriptor)
        self.close()

    def move_to(self, folder: HeldFolder, name: str) -> None:
        """Gives it another name, unless that is taken. Raises OSError; then it stays where it is."""
        os.link(self._name, name, src_dir_fd=self._folder.descriptor, dst_dir_fd=folder.descriptor)
        self.remove()

    def close(self) -> None:
        os.close(self.descriptor)
