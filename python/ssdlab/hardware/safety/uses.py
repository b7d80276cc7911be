"""The users of a disk: mounts in all visible namespaces, swap, devices built on it, programs that write to it.

A use of any part of a disk counts for the whole disk: SMART counts the whole drive, so other writers would falsify a
measurement even if their data were safe.
"""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ssdlab.hardware.safety import generic, sysfs

PROC = Path("/proc")

_HOW_TO_END = {
    "mount": "unmount it",
    "swap": "swapoff it",
    "holder": "take the volume apart first (vgchange -an, dmsetup remove, mdadm --stop, ...)",
    "loop": "detach it (losetup --detach)",
    "btrfs": "unmount that file system",
    "writer": "end that program",
}


@dataclass(frozen=True)
class Use:
    """One use of a device."""

    device: str
    """The kernel's name of the used device: the disk, a partition, or a device built on them."""
    how: str
    what: str
    """A description, for example `is mounted at /`."""

    @property
    def in_words(self) -> str:
        return f"/dev/{self.device} {self.what}: {_HOW_TO_END[self.how]}"


def uses_of(device: str, *, sys: Path = sysfs.SYS, proc: Path = PROC) -> list[Use]:
    """All visible uses of a disk and its partitions, or of one partition.

    An empty list does not prove that the device is unused; only an exclusive open does.
    """
    parts = [device, *sysfs.partitions_of(device, sys)]
    names = parts + [holder for part in parts for holder in sysfs.holders_of(part, sys)]
    names += [partition for name in names[len(parts) :] for partition in sysfs.partitions_of(name, sys)]
    by_number = {number: name for name in dict.fromkeys(names) if (number := sysfs.number_of(name, sys))}
    found = [use for part in parts for use in _held(part, sys)]
    found += _mounted(by_number, proc)
    found += _swap(by_number, proc)
    found += _loops(by_number, sys)
    found += [
        Use(name, "btrfs", f"is part of the btrfs file system {link.parents[1].name}")
        for name in by_number.values()
        for link in sorted((sys / "fs/btrfs").glob(f"*/devices/{name}"))
    ]
    passthrough = generic.of_disk(device, sys)
    found += _writers(by_number, {passthrough.number: passthrough.name} if passthrough else {}, proc)
    return list(dict.fromkeys(found))


def _held(name: str, sys: Path) -> Iterator[Use]:
    for holder in sysfs.holders_of(name, sys):
        yield Use(name, "holder", f"is held by {holder}{_what_holder(holder, sys)}")


def _what_holder(holder: str, sys: Path) -> str:
    folder = sysfs.folder_of(holder, sys)
    title = sysfs.read(folder / "dm/name")
    if title is not None:
        # device-mapper identifiers start with the user's mark: LVM-, CRYPT-, mpath-.
        mark = (sysfs.read(folder / "dm/uuid") or "").split("-")[0]
        return f" (device-mapper{f', {mark}' if mark else ''}, {title})"
    if (folder / "md").exists():
        return f" (MD, {sysfs.read(folder / 'md/level') or 'level unknown'})"
    return " (bcache)" if (folder / "bcache").exists() else ""


def _mounted(by_number: dict[tuple[int, int], str], proc: Path) -> Iterator[Use]:
    for table in _mount_tables(proc):
        for line in table.splitlines():
            fields = line.split()
            if len(fields) < 10 or "-" not in fields:
                continue
            major, minor = fields[2].split(":")
            folder = _unescaped(fields[4])
            # btrfs and overlayfs have artificial device numbers; the source field names a device.
            source = _unescaped(fields[fields.index("-") + 2])
            name = by_number.get((int(major), int(minor))) or by_number.get(_number_of_file(source) or (-1, -1))
            if name:
                is_root = " as the root file system" if folder == "/" else ""
                yield Use(name, "mount", f"is mounted at {folder}{is_root}")


def _mount_tables(proc: Path) -> Iterator[str]:
    """One mount table for each mount namespace of a process."""
    seen: set[str] = set()
    for process in _processes(proc):
        try:
            namespace = str((process / "ns/mnt").readlink())
            if namespace in seen:
                continue
            table = (process / "mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            # The process has ended, or belongs to another user.
            continue
        seen.add(namespace)
        yield table


def _swap(by_number: dict[tuple[int, int], str], proc: Path) -> Iterator[Use]:
    for line in (sysfs.read(proc / "swaps") or "").splitlines()[1:]:
        path = _unescaped(line.split()[0])
        name = by_number.get(_number_of_file(path) or (-1, -1))
        if name:
            yield Use(name, "swap", f"is swap ({path})")


def _loops(by_number: dict[tuple[int, int], str], sys: Path) -> Iterator[Use]:
    for entry in sorted((sys / "block").glob("loop*/loop/backing_file")):
        backing = sysfs.read(entry)
        name = by_number.get(_number_of_file(backing) or (-1, -1)) if backing else None
        if name:
            yield Use(name, "loop", f"backs the loop device /dev/{entry.parents[1].name}")


def _writers(by_number: dict[tuple[int, int], str], generics: dict[tuple[int, int], str], proc: Path) -> Iterator[Use]:
    """Other programs that have the device open for writing, for example a virtual machine, or that have the generic
    device of its namespace open: a privileged program can write through it however it opened it."""
    own = ("self", str(os.getpid()))
    for process in _processes(proc):
        if process.name in own:
            continue
        try:
            descriptors = list((process / "fd").iterdir())
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                # Most descriptors are pipes and sockets; reading the link is cheaper than following it.
                if not str(descriptor.readlink()).startswith("/dev/"):
                    continue
                name = by_number.get(_number_of_file(str(descriptor)) or (-1, -1))
                is_writable = name and _may_write(process / "fdinfo" / descriptor.name)
                passthrough = generics.get(_number_of_file(str(descriptor), stat.S_ISCHR) or (-1, -1))
                if (name and is_writable) or passthrough:
                    program = sysfs.read(process / "comm") or "a program"
                    how = "open for writing" if name else "open for NVMe commands"
                    yield Use(name or passthrough or "", "writer", f"is {how} by {program} (process {process.name})")
            except OSError:
                continue


def _may_write(information: Path) -> bool:
    for line in information.read_text().splitlines():
        if line.startswith("flags:"):
            return int(line.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY
    return True


def _processes(proc: Path) -> Iterator[Path]:
    """All processes, this one first, so that its paths for a mount are used."""
    yield proc / "self"
    yield from sorted((entry for entry in proc.iterdir() if entry.name.isdigit()), key=lambda entry: int(entry.name))


def _number_of_file(path: str, is_of_kind: Callable[[int], bool] = stat.S_ISBLK) -> tuple[int, int] | None:
    """The number of the block device at a path, or of another kind of device; None for anything else."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return (os.major(found.st_rdev), os.minor(found.st_rdev)) if is_of_kind(found.st_mode) else None


def _unescaped(field: str) -> str:
    """Decodes the octal escapes that the kernel uses for spaces and similar characters."""
    return field.encode("latin-1", "surrogateescape").decode("unicode_escape") if "\\" in field else field
