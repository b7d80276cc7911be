"""Disk statistics during a run of fio, with the keys of fio's `disk_util`. fio itself cannot find the disk when the
file is opened by a descriptor's path."""

import time
from dataclasses import dataclass

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.safety import sysfs

# Fields of /sys/block/DISK/stat (the kernel's Documentation/block/stat.rst), counted from 0.
_FIELDS = {
    "read_ios": 0,
    "write_ios": 4,
    "read_merges": 1,
    "write_merges": 5,
    "read_ticks": 3,
    "write_ticks": 7,
    "in_queue": 10,
}
_BUSY_MS = 9


@dataclass(frozen=True)
class DiskUse:
    """The kernel's counters of a disk at one time. `counts` is None if the disk is not known."""

    disk: str | None
    counts: tuple[int, ...] | None
    at_seconds: float

    @classmethod
    def now(cls, disk: str | None) -> "DiskUse":
        text = sysfs.read(sysfs.folder_of(disk) / "stat") if disk else None
        return cls(disk, tuple(map(int, text.split())) if text else None, time.monotonic())

    def since(self, before: "DiskUse") -> list[JsonObject]:
        """fio's `disk_util` between two readings: counts, milliseconds, busy time in percent. Empty if not known."""
        if self.counts is None or before.counts is None:
            return []
        grown = [new - old for old, new in zip(before.counts, self.counts, strict=True)]
        passed_ms = 1000 * (self.at_seconds - before.at_seconds)
        share = min(100.0, 100 * grown[_BUSY_MS] / passed_ms) if passed_ms else 0.0
        return [{"name": self.disk, **{name: grown[at] for name, at in _FIELDS.items()}, "util": share}]
