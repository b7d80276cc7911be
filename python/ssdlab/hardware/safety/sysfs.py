"""Properties of block devices from sysfs. Only reads; missing entries are None or empty."""

from pathlib import Path

SYS = Path("/sys")
SECTOR_BYTES = 512
"""The unit of sizes in sysfs, independent of the device's sector size."""


def name_of(number: tuple[int, int], sys: Path = SYS) -> str | None:
    """The kernel's name of a device number, for example `nvme0n1p1`; None if there is no such device."""
    link = sys / "dev/block" / f"{number[0]}:{number[1]}"
    return link.resolve().name if link.exists() else None


def folder_of(name: str, sys: Path = SYS) -> Path:
    """The sysfs folder of a disk or partition, by the kernel's name."""
    disk = sys / "block" / name
    if disk.exists():
        return disk.resolve()
    # A partition's folder is inside its disk's folder.
    for candidate in (sys / "block").glob(f"*/{name}"):
        if (candidate / "partition").exists():
            return candidate.resolve()
    return disk


def is_partition(name: str, sys: Path = SYS) -> bool:
    return (folder_of(name, sys) / "partition").exists()


def disk_of(name: str, sys: Path = SYS) -> str:
    """The whole disk of a partition; for a disk, the disk itself."""
    folder = folder_of(name, sys)
    return folder.parent.name if (folder / "partition").exists() else name


def partitions_of(disk: str, sys: Path = SYS) -> list[str]:
    return sorted(entry.parent.name for entry in folder_of(disk, sys).glob("*/partition"))


def holders_of(name: str, sys: Path = SYS) -> list[str]:
    """The devices built on this one (device-mapper, LVM, MD, bcache), directly or through others."""
    found: list[str] = []
    waiting = [name]
    while waiting:
        for entry in sorted(_entries(folder_of(waiting.pop(), sys) / "holders")):
            if entry not in found:
                found.append(entry)
                waiting.append(entry)
    return found


def number_of(name: str, sys: Path = SYS) -> tuple[int, int] | None:
    """The device number."""
    text = read(folder_of(name, sys) / "dev")
    if text is None:
        return None
    major, minor = text.split(":")
    return int(major), int(minor)


def size_bytes(name: str, sys: Path = SYS) -> int | None:
    text = read(folder_of(name, sys) / "size")
    return int(text) * SECTOR_BYTES if text else None


def read_bytes(name: str, sys: Path = SYS) -> int | None:
    """The bytes that all programs together have read from the device since it appeared."""
    text = read(folder_of(name, sys) / "stat")
    return None if text is None else int(text.split()[2]) * SECTOR_BYTES


def queue(name: str, key: str, sys: Path = SYS) -> str | None:
    """A limit of the disk's queue, for example `discard_granularity`."""
    return read(folder_of(disk_of(name, sys), sys) / "queue" / key)


def read(path: Path) -> str | None:
    """The stripped value of an attribute; None if it does not exist or cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0 \n") or None
    except OSError:
        return None


def _entries(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []
