"""The targets of a refresh: a file under a lease, an unused device held exclusively, or a device under its frozen file
system. Each lists the pieces to rewrite and excludes other writers while a block is processed."""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.diagnosis import extents, file_system, space_map
from ssdlab.hardware.refresh import freezing, lease
from ssdlab.hardware.safety import sysfs, uses
from ssdlab.hardware.safety.held import open_same
from ssdlab.hardware.safety.place import Kind, Place

# Compression flags of FS_IOC_GETFLAGS exist only on file systems that are refused anyway; FIEMAP reports it per extent.
_CANNOT = {
    extents.UNKNOWN: "the file system does not report the location of its data",
    extents.ENCODED: "it is compressed or otherwise encoded, and is not rewritten in place",
    extents.SHARED: "it shares data with another file (a reflink or snapshot), and rewriting would duplicate the data",
}
_NOT_ON_BLOCKS = extents.INLINE | extents.TAIL | extents.NOT_ALIGNED


@dataclass(frozen=True)
class Plan:
    """The pieces to rewrite, in order, and the skipped parts."""

    pieces: tuple[tuple[int, int], ...]
    """(offset, length) in bytes, ascending."""
    skipped_bytes: dict[str, int] = field(default_factory=dict)
    """By reason."""
    notes: tuple[str, ...] = ()

    @property
    def rewrite_bytes(self) -> int:
        return sum(length for _, length in self.pieces)


@dataclass(frozen=True)
class Target:
    """An open and protected file or device."""

    descriptor: int
    """Open for reading and writing with O_DIRECT."""
    plan: Plan
    alignment_bytes: int
    skips_zeroes: bool
    """Whether zeroes are not rewritten: on a device they are possibly trimmed, and writing them would use flash."""
    quiet: Callable[[], AbstractContextManager[object]]
    """Within this context nobody else writes, so that data read can be written back. It is limited to about a second,
    because other processes are possibly waiting."""
    may_write: Callable[[], bool]
    """Called before each write. Returns False while another process waits to change the file."""
    needs_quiet: bool
    """Whether `quiet` blocks other processes, so that it needs pauses."""
    look_again: Callable[[], None] = lambda: None
    """Called every few seconds, outside `quiet`. Raises RunFailed if the device has come into use."""


@contextlib.contextmanager
def opened(place: Place) -> Iterator[Target]:
    """Opens the target at a place. Raises InputError, with the obstacle and a remedy."""
    if place.kind == Kind.FOLDER:
        raise InputError(
            f"{place.path} is a folder; name a file, or all files in it: "
            f"find {place.path} -xdev -type f -exec ssdlab refresh {{}} \\;"
        )
    if place.kind == Kind.VIRTUAL:
        raise InputError(f"{place.in_words} is built on other devices; name a partition, a disk, or files")
    with _file(place) if place.kind == Kind.FILE else _device(place) as target:
        yield target


@contextlib.contextmanager
def _file(place: Place) -> Iterator[Target]:
    system = file_system.of(place.path)
    if system.why_not_in_place:
        raise InputError(
            f"{place.path} cannot be refreshed in place: {system.why_not_in_place}. Replace it with a copy, which is "
            "written in order (cp --reflink=never)"
        )
    with _open(place, 0) as descriptor, lease.held(descriptor, place.path) as held:
        found = os.fstat(descriptor)
        try:
            yield Target(
                descriptor=descriptor,
                plan=_plan_of_file(place.path, descriptor, found.st_size),
                alignment_bytes=_sector_bytes(place),
                skips_zeroes=False,
                quiet=contextlib.nullcontext,
                may_write=held.is_whole,
                needs_quiet=False,
            )
        finally:
            # The contents are unchanged, so the file's times are restored.
            times = found.st_atime_ns, found.st_mtime_ns
            with contextlib.suppress(OSError):
                now = os.fstat(descriptor)
                if (now.st_atime_ns, now.st_mtime_ns) != times:
                    os.utime(descriptor, ns=times)


def _plan_of_file(path: Path, descriptor: int, size_bytes: int) -> Plan:
    try:
        found = extents.extents_of(descriptor)
    except OSError as error:
        raise InputError(f"{path}: the file system cannot report the location of its data ({error.strerror})") from None
    for flag, why in _CANNOT.items():
        if any(extent.flags & flag for extent in found):
            raise InputError(f"{path} cannot be refreshed in place: {why}")
    pieces: list[tuple[int, int]] = []
    unwritten = inline = 0
    for extent in found:
        length = min(extent.end, size_bytes) - extent.offset
        if length <= 0 or extent.flags & extents.UNWRITTEN:
            unwritten += extent.length
        elif extent.flags & _NOT_ON_BLOCKS:
            inline += length
        elif pieces and sum(pieces[-1]) == extent.offset:
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + length)
        else:
            pieces.append((extent.offset, length))
    holes = size_bytes - sum(length for _, length in pieces) - inline - min(unwritten, size_bytes)
    skipped = {"holes": max(0, holes), "allocated, never written": unwritten, "kept with the metadata": inline}
    notes = []
    runs = extents.pieces_on_device(found)
    if runs > 1 and size_bytes / runs < 1 << 20:
        notes.append(
            f"the file has {runs} extents on the device, of {size_bytes // runs} bytes on average: this is "
            "fragmentation of the file system, which refresh does not change (e4defrag and xfs_fsr do)"
        )
    return Plan(tuple(pieces), {why: size for why, size in skipped.items() if size}, tuple(notes))


@contextlib.contextmanager
def _device(place: Place) -> Iterator[Target]:
    mounts, others = _uses(place)
    if others:
        raise InputError(
            f"{place.in_words} has users other than one mounted file system, and they cannot be paused. {others}"
        )

    def look_again() -> None:
        _, others = _uses(place)
        if others:
            raise RunFailed(f"{place.path} has come into use: {others}")

    with _mounted_device(place) if mounts else _free_device(place) as target:
        yield replace(target, look_again=look_again)


def _uses(place: Place) -> tuple[bool, str]:
    """Whether a file system on the device is mounted, and a description of its other uses."""
    name = place.device or ""
    found = uses.uses_of(name)
    mounts = [use for use in found if use.how == "mount" and use.device == name]
    return bool(mounts), "; ".join(use.in_words for use in found if use not in mounts)


@contextlib.contextmanager
def _free_device(place: Place) -> Iterator[Target]:
    with _open(place, os.O_EXCL) as descriptor:
        yield Target(
            descriptor=descriptor,
            plan=Plan(
                ((0, place.size_bytes),),
                notes=(
                    "it is not mounted, so its free space is unknown: everything except zeroes is rewritten. If "
                    "mounted, ext4 and XFS report their free space",
                ),
            ),
            alignment_bytes=_sector_bytes(place),
            skips_zeroes=True,
            quiet=contextlib.nullcontext,
            may_write=lambda: True,
            needs_quiet=False,
        )


@contextlib.contextmanager
def _mounted_device(place: Place) -> Iterator[Target]:
    number = sysfs.number_of(place.device or "")
    folder = file_system.mounted_at(number) if number else None
    if folder is None:
        raise InputError(f"{place.in_words} is mounted in a namespace that is not visible here, so it cannot be frozen")
    with freezing.freezer(folder) as freezer, _open(place, 0) as descriptor:
        if freezer.device != place.file_id.device:
            raise InputError(f"{folder}: a file system other than that of {place.path} is now mounted there")
        yield Target(
            descriptor=descriptor,
            plan=_plan_of_mounted(place, folder, freezer),
            alignment_bytes=_sector_bytes(place),
            skips_zeroes=True,
            quiet=freezer.frozen,
            may_write=lambda: True,
            needs_quiet=True,
        )


def _plan_of_mounted(place: Place, folder: Path, freezer: freezing.Freezer) -> Plan:
    try:
        name = file_system.name_of(freezer.descriptor)
        found = space_map.space_map(freezer.descriptor, place.size_bytes)
    except OSError as error:
        raise InputError(
            f"{place.in_words}: {file_system.of(folder).name} at {folder} does not report which space is in use "
            f"({error.strerror}); ext4 and XFS report it to root. Unmount it, or refresh its files"
        ) from None
    skipped = {
        "free space": found.free_bytes,
        "allocated, never written": found.preallocated_bytes,
    }
    return Plan(
        tuple((region.offset, region.length) for region in found.used),
        {why: size for why, size in skipped.items() if size},
        (f"{name} at {folder} is frozen for up to a second at a time; programs that write to it wait",),
    )


@contextlib.contextmanager
def _open(place: Place, flags: int) -> Iterator[int]:
    try:
        descriptor = open_same(place.path, os.O_RDWR | os.O_DIRECT | flags, place.file_id)
    except OSError as error:
        raise InputError(f"{place.in_words} cannot be opened for writing: {error.strerror}{_hint(error)}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _hint(error: OSError) -> str:
    return {
        errno.ETXTBSY: "; it is a running program or a swap file",
        errno.EBUSY: "; it is held by something that is not visible here, or this kernel forbids writes to a mounted "
        "device (bdev_allow_write_mounted)",
        errno.EROFS: "; remount it read-write first",
        errno.EPERM: "; it is immutable or append-only (lsattr), or the kernel protects mounted devices",
        errno.EACCES: "; run ssdlab as its owner or as root",
        errno.EINVAL: "; its file system has no direct I/O",
    }.get(error.errno or 0, "")


def _sector_bytes(place: Place) -> int:
    return int((sysfs.queue(place.disk, "logical_block_size") if place.disk else None) or 4096)
