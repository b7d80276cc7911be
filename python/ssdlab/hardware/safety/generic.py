"""The generic character device of an NVMe namespace, such as `/dev/ng0n1`: requests to it bypass the block layer.

It reaches the whole namespace, whatever is mounted, and an exclusive open of the block device does not keep it out. It
is therefore never claimed by itself: the block device of the same namespace is, with all its checks, and the generic
device is held beside it. Not for controllers (`/dev/nvme0`).
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.hardware.safety import sysfs
from ssdlab.hardware.safety.held import FileId, open_same, path_of

# The kernel numbers a namespace alike in both names; the number of the controller can differ.
_DISK = re.compile(r"nvme[0-9]+n([0-9]+)")
_GENERIC = re.compile(r"ng[0-9]+n([0-9]+)")
_NVME_IOCTL_ID = 0x4E40


@dataclass(frozen=True)
class Generic:
    """A generic device."""

    name: str
    """The kernel's name, for example `ng0n1`."""
    number: tuple[int, int]

    @property
    def path(self) -> Path:
        return Path("/dev") / self.name


@dataclass(frozen=True)
class HeldGeneric:
    """A generic device that was checked and is open."""

    device: Generic
    descriptor: int

    @property
    def path(self) -> Path:
        """The path by which other programs open the held device."""
        return path_of(self.descriptor)


def of_disk(disk: str, sys: Path = sysfs.SYS) -> Generic | None:
    """The generic device of a namespace's block device (`nvme0n1`); None for other disks.

    Both are children of the same controller, or of the same subsystem with multipath, and have the same last number.
    """
    named = _DISK.fullmatch(disk)
    parent = sysfs.folder_of(disk, sys) / "device"
    if not named or not parent.exists():
        return None
    for folder in sorted((sys / "class/nvme-generic").glob("ng*")):
        generic, beside = _GENERIC.fullmatch(folder.name), folder / "device"
        if generic and generic[1] == named[1] and beside.exists() and beside.resolve() == parent.resolve():
            text = sysfs.read(folder / "dev")
            if text:
                major, minor = text.split(":")
                return Generic(folder.name, (int(major), int(minor)))
    return None


def block_device_of(path: Path, sys: Path = sysfs.SYS) -> Path:
    """The block device of the namespace whose generic device is at `path`; other paths as they are.

    Raises InputError for a generic device whose block device is not known, which could not be checked.
    """
    try:
        status = path.stat()
    except OSError:
        return path
    link = sys / "dev/char" / f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    if not stat.S_ISCHR(status.st_mode) or not link.exists():
        return path
    name = link.resolve().name
    if not (sys / "class/nvme-generic" / name).exists():
        return path
    for disk in sorted(entry.name for entry in (sys / "block").glob("nvme*")):
        found = of_disk(disk, sys)
        if found and found.name == name:
            return Path("/dev") / disk
    raise InputError(
        f"{path}: the block device of this NVMe namespace is not visible, so that its mounts and other uses cannot be "
        "checked; name a whole namespace, such as /dev/nvme0n1"
    )


@contextlib.contextmanager
def held(disk: str, block: int) -> Iterator[HeldGeneric | None]:
    """Opens the generic device of the namespace whose block device is open as `block`; None if it has none.

    Raises InputError if the device file leads to another device, or to another namespace.
    """
    generic = of_disk(disk)
    if generic is None or not generic.path.exists():
        yield None
        return
    try:
        descriptor = open_same(generic.path, os.O_RDONLY, FileId(stat.S_IFCHR, os.makedev(*generic.number), None))
    except OSError as error:
        raise InputError(f"{generic.path} cannot be opened: {error.strerror}") from None
    try:
        if namespace_of(descriptor) != namespace_of(block):
            raise InputError(f"{generic.path} is not the namespace of /dev/{disk}; nothing was changed")
        yield HeldGeneric(generic, descriptor)
    finally:
        os.close(descriptor)


def namespace_of(descriptor: int) -> int:
    """The namespace's identifier, from the driver. Raises InputError if the device is no NVMe namespace."""
    # Imported here, so that other systems reach the message that they are not supported.
    import fcntl

    try:
        return fcntl.ioctl(descriptor, _NVME_IOCTL_ID)
    except OSError as error:
        raise InputError(
            f"{path_of(descriptor).resolve()}: its NVMe namespace is not known: {error.strerror}"
        ) from None
