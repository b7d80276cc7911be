"""The TRIM behaviour that a drive reports, and the amount of data on it that no file system uses.

Read only: nothing is trimmed. Values that are not known are None, with a reason in words.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from ssdlab.hardware.diagnosis import file_system
from ssdlab.hardware.safety import sysfs
from ssdlab.hardware.safety.place import Place
from ssdlab.hardware.smart import source
from ssdlab.hardware.smart.source import Report, Unavailable


class MountedJson(TypedDict):
    device: str
    folder: str
    name: str
    used_bytes: int
    free_bytes: int
    discards: bool


class TrimJson(TypedDict):
    """The TRIM section of the output of `ssdlab check --format json`."""

    supported: bool | None
    stopped_by: str | None
    granularity_bytes: int | None
    max_bytes: int | None
    after_trim: str
    utilization_bytes: int | None
    utilization_reason: str | None
    is_periodic: bool | None
    never_trimmed_bytes: int | None
    mounted: list[MountedJson]


@dataclass(frozen=True)
class Mounted:
    """A file system on the disk."""

    device: str
    folder: Path
    name: str
    used_bytes: int
    """Including metadata: the device's size minus the free space."""
    free_bytes: int
    discards: bool
    """Mounted with `discard`: freed space is trimmed immediately."""


@dataclass(frozen=True)
class Trim:
    """TRIM on the disk of a place, and on an intermediate device, if any."""

    supported: bool | None
    """Whether trims reach the disk from this place; None if no disk is visible."""
    stopped_by: str | None
    """An intermediate device that does not forward trims although the disk supports them, or None."""
    granularity_bytes: int | None
    max_bytes: int | None
    after_trim: str
    """The contents of a trimmed sector, in words."""
    utilization_bytes: int | None
    """Bytes of data that the disk reports to hold, or None."""
    utilization_reason: str | None
    """The reason why the utilization is not known, or None."""
    mounted: tuple[Mounted, ...] = ()
    is_periodic: bool | None = None
    """Whether systemd's fstrim.timer runs; None if this cannot be determined."""

    def to_dict(self) -> TrimJson:
        """The values for `ssdlab check --format json`."""
        return {
            "supported": self.supported,
            "stopped_by": self.stopped_by,
            "granularity_bytes": self.granularity_bytes,
            "max_bytes": self.max_bytes,
            "after_trim": self.after_trim,
            "utilization_bytes": self.utilization_bytes,
            "utilization_reason": self.utilization_reason,
            "is_periodic": self.is_periodic,
            "never_trimmed_bytes": self.never_trimmed_bytes,
            "mounted": [
                {
                    "device": each.device,
                    "folder": str(each.folder),
                    "name": each.name,
                    "used_bytes": each.used_bytes,
                    "free_bytes": each.free_bytes,
                    "discards": each.discards,
                }
                for each in self.mounted
            ],
        }

    @property
    def never_trimmed_bytes(self) -> int | None:
        """The least amount of data that the disk holds although no mounted file system uses it.

        A lower bound, because file systems can use less than they allocate. None unless the disk reports its
        utilization and a file system on it is mounted.
        """
        if self.utilization_bytes is None or not self.mounted:
            return None
        return max(0, self.utilization_bytes - sum(each.used_bytes for each in self.mounted))

    @property
    def free_bytes(self) -> int:
        """Free space of the mounted file systems, an upper bound of their untrimmed space."""
        return sum(each.free_bytes for each in self.mounted)


def look(place: Place, smart: Report | Unavailable) -> Trim:
    """Collects the TRIM properties of a place."""
    if place.disk is None or place.device is None:
        return Trim(None, None, None, None, "unknown: no disk is visible here", None, "no disk is visible here")
    disk_max, device_max = _limit(place.disk, "discard_max_bytes"), _limit(place.device, "discard_max_bytes")
    report = smart.smartctl if isinstance(smart, Report) else {}
    utilization, reason = _utilization(report, smart)
    return Trim(
        supported=bool(disk_max and device_max),
        stopped_by=place.device if disk_max and not device_max else None,
        granularity_bytes=_limit(place.disk, "discard_granularity"),
        max_bytes=disk_max,
        after_trim=_after_trim(place.disk, report),
        utilization_bytes=utilization,
        utilization_reason=reason,
        mounted=tuple(_mounted(place.disk)),
        is_periodic=_is_periodic(),
    )


def _limit(device: str, key: str) -> int:
    return int(sysfs.queue(device, key) or 0)


def _after_trim(disk: str, report: Mapping[str, Any]) -> str:
    """The contents of trimmed sectors: ATA's identification through smartctl, NVMe's through nvme-cli."""
    if disk.startswith("nvme"):
        return _after_deallocation(disk)
    trim = report.get("trim")
    if not isinstance(trim, Mapping):
        return "unknown: the drive's identification does not state it, or could not be read"
    if not trim.get("supported"):
        return "the drive reports no TRIM support"
    if trim.get("zeroed"):
        return "zeroes (deterministic, as reported by the drive)"
    if trim.get("deterministic"):
        return "deterministic data, not necessarily zeroes (as reported by the drive)"
    return "old data or zeroes (not deterministic, as reported by the drive)"


def _after_deallocation(disk: str) -> str:
    """The contents of deallocated blocks, from bits 2 to 0 of DLFEAT (NVM Express, Identify Namespace)."""
    found = source.run_json("nvme", "id-ns", f"/dev/{disk}", "--output-format=json")
    if isinstance(found, Unavailable):
        return f"not known: {found.reason}"
    said = {1: "zeroes (as reported by the drive)", 2: "all ones (as reported by the drive)"}
    return said.get(int(found.get("dlfeat", 0)) & 0b111, "unknown: the drive does not report it")


def _utilization(report: Mapping[str, Any], smart: Report | Unavailable) -> tuple[int | None, str | None]:
    """NVMe's Namespace Utilization, or the reason why it is not known. Many drives always report their whole size,
    which is rejected."""
    if isinstance(smart, Unavailable):
        return None, smart.reason
    namespaces = report.get("nvme_namespaces")
    if not namespaces:
        return None, "SATA drives cannot report how much of them is in use"
    try:
        used, size = namespaces[0]["utilization"]["bytes"], namespaces[0]["size"]["bytes"]
    except (KeyError, TypeError, IndexError):
        return None, "the drive does not report its namespace utilization"
    if used >= size:
        return None, "the drive reports its whole size as in use, as many drives always do"
    return int(used), None


def _mounted(disk: str) -> list[Mounted]:
    found = []
    for name in [disk, *sysfs.partitions_of(disk)]:
        for device in [name, *sysfs.holders_of(name)]:
            number = sysfs.number_of(device)
            folder = file_system.mounted_at(number) if number else None
            if folder is None:
                continue
            room = os.statvfs(folder)
            system = file_system.of(folder)
            free = room.f_bfree * room.f_frsize
            used = (sysfs.size_bytes(device) or 0) - free
            discards = any(option.split("=")[0] == "discard" for option in system.options)
            found.append(Mounted(device, folder, system.name, used, free, discards))
    return found


def _is_periodic() -> bool | None:
    if shutil.which("systemctl") is None:
        return None
    try:
        done = subprocess.run(["systemctl", "is-active", "fstrim.timer"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {"active": True, "inactive": False}.get(done.stdout.strip())
