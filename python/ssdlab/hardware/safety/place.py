"""Identifies a path: a folder, a file, a whole disk, a partition or a loop device, and the disk it lies on."""

import os
import stat
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.safety import identity, sysfs
from ssdlab.hardware.safety.held import FileId


class Kind(StrEnum):
    """The kinds of places."""

    FOLDER = "folder"
    FILE = "file"
    DISK = "disk"
    PARTITION = "partition"
    LOOP = "loop"
    VIRTUAL = "virtual"
    """A block device that is built on other devices or on memory: device-mapper, MD, zram, NBD."""


_IN_WORDS = {
    Kind.FOLDER: "a folder",
    Kind.FILE: "a regular file",
    Kind.DISK: "a whole disk",
    Kind.PARTITION: "a partition",
    Kind.LOOP: "a loop device",
    Kind.VIRTUAL: "a virtual block device",
}


@dataclass(frozen=True)
class Place:
    """A path and its properties."""

    path: Path
    """With symbolic links resolved."""
    kind: Kind
    size_bytes: int
    """The size of a file or device; for a folder, the free space available to the user."""
    device: str | None
    """The kernel's name of the block device that the place is or lies on, for example `sda1`. None if not visible: on
    tmpfs, overlayfs, btrfs, network file systems."""
    disk: str | None
    """The whole disk that contains `device`."""
    disk_size_bytes: int | None
    model: str | None
    identities: tuple[str, ...]
    """The names that authorize destroying the disk, the serial number first."""
    backing_file: Path | None
    """The file behind a loop device, or None."""
    file_id: FileId
    """The object that the path led to at the check; later opens compare it (`held.open_same`)."""

    @property
    def is_device(self) -> bool:
        return self.kind not in (Kind.FOLDER, Kind.FILE)

    @property
    def in_words(self) -> str:
        """`/dev/sda1 (a partition of sda, MODEL, 480.1 GB)`."""
        words = _IN_WORDS[self.kind]
        if self.kind == Kind.PARTITION:
            words += f" of {self.disk}"
        if self.kind == Kind.LOOP and self.backing_file:
            words += f" over {self.backing_file}"
        if self.is_device and self.model:
            words += f", {self.model}"
        size = f", {format_bytes(self.size_bytes)}" if self.kind != Kind.FOLDER else ""
        return f"{self.path} ({words}{size})"


def locate(path: Path | str) -> Place:
    """Identifies a path. Raises InputError if it does not exist or is not a folder, regular file or block device."""
    check_platform()
    path = Path(path)
    try:
        found = path.stat()
        resolved = path.resolve()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name a folder, a file or a block device") from None
    if stat.S_ISBLK(found.st_mode):
        return _block_device(resolved, found)
    if stat.S_ISDIR(found.st_mode):
        room = os.statvfs(resolved)
        return _on_file_system(resolved, Kind.FOLDER, room.f_bavail * room.f_frsize, found)
    if stat.S_ISREG(found.st_mode):
        return _on_file_system(resolved, Kind.FILE, found.st_size, found)
    raise InputError(f"{path} is not a folder, regular file or block device; name one of these")


def check_platform() -> None:
    """Raises InputError on systems other than Linux."""
    if sys.platform != "linux":
        raise InputError(
            "real drives are measured, checked and refreshed on Linux only; the simulation (`ssdlab run`, `ssdlab "
            "study`) runs here too"
        )


def _block_device(path: Path, status: os.stat_result) -> Place:
    name = sysfs.name_of((os.major(status.st_rdev), os.minor(status.st_rdev)))
    if name is None:
        raise InputError(f"{path}: the kernel no longer has this device; `lsblk` lists the devices")
    disk = sysfs.disk_of(name)
    size = sysfs.size_bytes(name) or 0
    disk_size = sysfs.size_bytes(disk) or 0
    backing = sysfs.read(sysfs.folder_of(disk) / "loop/backing_file")
    return Place(
        path=path,
        kind=_kind(name),
        size_bytes=size,
        device=name,
        disk=disk,
        disk_size_bytes=disk_size,
        model=identity.model_of(disk),
        identities=identity.identities(disk, disk_size),
        backing_file=Path(backing) if backing else None,
        file_id=FileId.of(status),
    )


def _kind(name: str) -> Kind:
    if sysfs.is_partition(name):
        return Kind.PARTITION
    if name.startswith("loop"):
        return Kind.LOOP
    # Physical devices have a `device` entry; device-mapper, MD, zram and NBD have none.
    return Kind.DISK if (sysfs.folder_of(name) / "device").exists() else Kind.VIRTUAL


def _on_file_system(path: Path, kind: Kind, size_bytes: int, status: os.stat_result) -> Place:
    name = sysfs.name_of((os.major(status.st_dev), os.minor(status.st_dev)))
    disk = sysfs.disk_of(name) if name else None
    disk_size = sysfs.size_bytes(disk) if disk else None
    backing = sysfs.read(sysfs.folder_of(disk) / "loop/backing_file") if disk else None
    return Place(
        path=path,
        kind=kind,
        size_bytes=size_bytes,
        device=name,
        disk=disk,
        disk_size_bytes=disk_size,
        model=identity.model_of(disk) if disk else None,
        identities=identity.identities(disk, disk_size or 0) if disk else (),
        backing_file=Path(backing) if backing else None,
        file_id=FileId.of(status),
    )
