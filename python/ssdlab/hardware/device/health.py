"""A drive's SMART data before and after each stage, and the bytes written to flash between two readings.

Readings come from `ssdlab.hardware.smart.source`, or from a file that another program keeps up to date (`--smart`). If
SMART data cannot be read, the result has the reason, and the measurement continues.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from ssdlab.errors import InputError
from ssdlab.hardware import safety
from ssdlab.hardware.safety import health as safety_health
from ssdlab.hardware.smart import change, reading
from ssdlab.hardware.smart.change import Change
from ssdlab.hardware.smart.placement import PlacementLogs
from ssdlab.hardware.smart.reading import Reading
from ssdlab.hardware.smart.source import Report, Unavailable


@dataclass(frozen=True)
class ReadOut:
    """A reading, or the reason why there is none."""

    reading: Reading | None
    reason: str | None = None
    fdp: PlacementLogs | None = None
    """The logs of a drive with flexible data placement; None for other drives."""


@dataclass(frozen=True)
class Health:
    """The source of readings."""

    source: str
    """A description of the source, for the result."""
    read: Callable[[], ReadOut]


class IntervalJson(TypedDict):
    value: float
    low: float
    high: float


class PhaseJson(TypedDict):
    """A drive's counters over one stage, as in a result."""

    host_written_bytes: int | None
    nand_written_bytes: int | None
    waf: IntervalJson | None
    resolution: str | None
    reason: str | None
    assumed: list[str]
    temperature_c: float | None
    critical_warning: int | None


@dataclass(frozen=True)
class Phase:
    """The change of a drive's counters between two readings."""

    change: Change | None
    reason: str | None
    """Why write amplification is not known; None if it is known."""
    after: Reading | None = None
    fdp: Mapping[str, Any] | None = None
    """Counters of flexible data placement between the readings, in the form of a simulated result's `ssdlab.fdp`."""

    @property
    def waf(self) -> float | None:
        return self.change.waf.value if self.change and self.change.waf else None

    @property
    def nand_bytes(self) -> int | None:
        return self.change.nand_bytes if self.change else None

    def to_dict(self) -> PhaseJson:
        """The entry for a result's `ssdlab.smart`."""
        found = self.change
        waf = found.waf if found else None
        return {
            "host_written_bytes": found.host_bytes if found else None,
            "nand_written_bytes": found.nand_bytes if found else None,
            "waf": {"value": waf.value, "low": waf.low, "high": waf.high} if waf else None,
            "resolution": found.resolution if found else None,
            "reason": self.reason,
            "assumed": list(found.assumed) if found else [],
            "temperature_c": self.after.temperature_c if self.after else None,
            "critical_warning": self.after.critical_warning if self.after else None,
        }


def between(before: ReadOut, after: ReadOut) -> Phase:
    """The change between two readings, or the reason why it is not known."""
    old, new = before.reading, after.reading
    if old is None or new is None:
        return Phase(None, before.reason or after.reason, new)
    try:
        found = change.change(old, new)
    except InputError as error:
        return Phase(None, str(error), new)
    return Phase(found, found.reason, new, after.fdp.since(before.fdp) if after.fdp else None)


def of(place: safety.Place, file: Path | None = None) -> Health:
    """The source of readings for a disk or the disk under a file. With `file`, that file is read at each reading."""
    if file is not None:
        return Health(str(file), lambda: _from_file(file))
    if place.backing_file is not None:
        source = f"the statistics next to {place.backing_file}"
    else:
        source = f"smartctl of /dev/{place.disk}" if place.disk else "none"
    return Health(source, lambda: _read_out(safety_health.read(place)))


def _read_out(found: Report | Unavailable) -> ReadOut:
    return ReadOut(found.reading, None, found.fdp) if isinstance(found, Report) else ReadOut(None, found.reason)


def _from_file(path: Path) -> ReadOut:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        ocp = None
        served = content.get("ssdlab") if isinstance(content, dict) else None
        if isinstance(served, dict) and "smart" in served:
            # The file has the statistics of a served drive.
            content = served["smart"]
            ocp = content.get("ocp_smart_log") if isinstance(content, dict) else None
        if not isinstance(content, dict):
            return ReadOut(None, f"--smart {path}: contains no SMART data")
        return ReadOut(reading.parse(content, str(path), ocp if isinstance(ocp, dict) else None))
    except OSError as error:
        return ReadOut(None, f"--smart {path}: {error.strerror}")
    except (UnicodeDecodeError, json.JSONDecodeError, InputError) as error:
        return ReadOut(None, f"--smart {path}: {error}")
