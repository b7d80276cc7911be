"""Which parts of a paste are of one drive.

A log belongs to the drive above it: consecutive logs, or a report of smartctl and the logs after it, are of one drive
until a log repeats or another report or device name follows. A log of a maker that stands before the first report
belongs to that. Logs after the report of a drive without NVMe are of another drive.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.attributes import whole
from ssdlab.hardware.smart.formats.nvme_cli import HEALTH, LOGS

_NAMELESS: JsonObject = {"smartctl": {}, "device": {"protocol": "NVMe"}}
_CONTROLLER = re.compile(r"nvme\d+")
_ATTRIBUTES = "ata_smart_attributes"
_SAME_SHARE = 0.001
"""Largest relative difference of the bytes written between two readings, one right after the other."""
_EQUAL = ("power_cycles", "unsafe_shutdowns", "percentage_used")


def joined(parts: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Merges logs into reports with the structure of smartctl's JSON."""
    drive: JsonObject = {}
    for part in parts:
        if drive and not _is_same_drive(drive, part):
            yield drive
            drive = {}
        drive = _merged(drive, part) if drive else part if "smartctl" in part else _NAMELESS | part
    if drive:
        yield drive


def _merged(drive: JsonObject, part: JsonObject) -> JsonObject:
    """The later part's values, but the device and smartctl's version of the part that has them."""
    merged = drive | part
    for key in ("smartctl", "device"):
        if isinstance(drive.get(key), Mapping):
            merged[key] = {**drive[key], **part.get(key, {})}
    return merged


def _is_same_drive(drive: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    if _differ(drive, part, "serial_number") or _differ(drive, part, "model_name"):
        return False
    controllers = {controller for one in (drive, part) if (controller := _controller(one))}
    if len(controllers) > 1:
        return False
    if HEALTH in drive and HEALTH in part:
        # Two named or two nameless ones can be drives that mirror each other.
        is_one_named = ("model_name" in drive) != ("model_name" in part)
        return is_one_named and _are_one_reading(drive[HEALTH], part[HEALTH])
    if (HEALTH in drive and _ATTRIBUTES in part) or (_ATTRIBUTES in drive and HEALTH in part):
        # No drive has both NVMe's log and the attributes of SATA.
        return False
    if any(log in drive and log in part for log in (*LOGS, _ATTRIBUTES)):
        return False
    if "smartctl" in part:
        return _complement(drive, part)
    return any(log in drive for log in LOGS) or ("model_name" in drive and _ATTRIBUTES not in drive)


def _complement(drive: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    """Whether two reports are halves of one: the identity (`smartctl -i`), the verdict (-H), the attributes (-A); or
    logs that stand before the report of their drive."""
    is_nameless = "model_name" not in drive or "model_name" not in part
    has_data = [HEALTH in one or _ATTRIBUTES in one for one in (drive, part)]
    if HEALTH not in drive and any(log in drive for log in LOGS):
        return _ATTRIBUTES not in part
    return is_nameless and not all(has_data)


def _differ(one: Mapping[str, Any], other: Mapping[str, Any], key: str) -> bool:
    return bool(one.get(key) and other.get(key)) and str(one[key]).split() != str(other[key]).split()


def _are_one_reading(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two health logs are of one drive at about one time, as smartctl's and nvme-cli's in one paste."""
    written, later, hours, hours_later = (
        whole(log.get(key)) for key in ("data_units_written", "power_on_hours") for log in (one, other)
    )
    if not written or later is None or hours is None or hours_later is None:
        return False
    if any(one.get(key) != other.get(key) for key in _EQUAL if key in one and key in other):
        return False
    return abs(hours_later - hours) <= 1 and abs(later - written) <= _SAME_SHARE * written


def _controller(report: Mapping[str, Any]) -> str | None:
    """The controller in the report's device name, for example `nvme0` for `/dev/nvme0n1`, or None."""
    device = report.get("device")
    found = _CONTROLLER.search(str(device.get("name", ""))) if isinstance(device, Mapping) else None
    return found[0] if found else None
