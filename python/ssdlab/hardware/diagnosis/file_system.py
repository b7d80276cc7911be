"""Identifies the file system of a file, and whether it writes in place."""

import ctypes
import os
import struct
from dataclasses import dataclass
from pathlib import Path

# linux/magic.h, and for ZFS and bcachefs their own sources.
_MAGIC = {
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x4D44: "vfat",
    0x2011BAB0: "exfat",
    0x9123683E: "btrfs",
    0x2FC12FC1: "zfs",
    0xCA451A4E: "bcachefs",
    0x3434: "nilfs2",
    0xF2F52010: "f2fs",
    0x794C7630: "overlayfs",
    0x65735546: "fuse",
    0x6969: "nfs",
    0xFF534D42: "cifs",
    0xFE534D42: "smb2",
    0x01021994: "tmpfs",
    0x858458F6: "ramfs",
    0x7366746E: "ntfs3",
    0x73717368: "squashfs",
}
_WRITES_ELSEWHERE = {
    "btrfs": "copies on write",
    "zfs": "copies on write",
    "bcachefs": "copies on write",
    "nilfs2": "writes a log",
    "f2fs": "writes a log",
}
_IN_PLACE = {"ext4", "xfs", "vfat", "exfat"}


@dataclass(frozen=True)
class FileSystem:
    """A mounted file system."""

    name: str
    folder: Path
    source: str
    options: tuple[str, ...]

    @property
    def why_not_in_place(self) -> str | None:
        """The reason why a file on it cannot be rewritten in place, or None if it can."""
        if self.name in _IN_PLACE:
            return None
        if self.name in _WRITES_ELSEWHERE:
            return f"{self.name} {_WRITES_ELSEWHERE[self.name]}: rewritten data is stored elsewhere"
        return f"unknown whether {self.name} writes in place"


def name_of(descriptor: int) -> str:
    """The name of the file system of an open file, or its magic number if it is not in the table."""
    # The size of struct statfs differs between machines; its first word is the type on all of them.
    buffer = ctypes.create_string_buffer(256)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fstatfs(ctypes.c_int(descriptor), buffer) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    (magic,) = struct.unpack_from("=Q" if struct.calcsize("l") == 8 else "=L", buffer.raw)
    return _MAGIC.get(magic & 0xFFFFFFFF, f"a file system of type {magic & 0xFFFFFFFF:#x}")


def of(path: Path) -> FileSystem:
    """The file system of a file or folder, by the mount of its path."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        name = name_of(descriptor)
    finally:
        os.close(descriptor)
    folder, source, options = _mount_of(path.resolve())
    return FileSystem(name, folder, source, options)


def mounted_at(number: tuple[int, int]) -> Path | None:
    """A folder at which the device is mounted in this process's namespace, or None."""
    for numbers, folder, _, _ in _mounts():
        if numbers == number:
            return folder
    return None


def _mount_of(path: Path) -> tuple[Path, str, tuple[str, ...]]:
    """The mount with the longest matching prefix; among equal prefixes the last, which covers earlier ones."""
    found: tuple[Path, str, tuple[str, ...]] = (Path("/"), "", ())
    for _, folder, source, options in _mounts():
        if path.is_relative_to(folder) and len(folder.parts) >= len(found[0].parts):
            found = (folder, source, options)
    return found


def _mounts() -> list[tuple[tuple[int, int], Path, str, tuple[str, ...]]]:
    found = []
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        fields = line.split()
        major, minor = fields[2].split(":")
        rest = fields[fields.index("-") + 1 :]
        options = tuple(dict.fromkeys(fields[5].split(",") + rest[-1].split(",")))
        found.append(((int(major), int(minor)), Path(_unescaped(fields[4])), _unescaped(rest[1]), options))
    return found


def _unescaped(field: str) -> str:
    return field.encode("latin-1", "surrogateescape").decode("unicode_escape") if "\\" in field else field
