"""Proxmox VE's API and `pvesh`: `/nodes/NODE/disks/smart`, what `smartctl -H -A -f brief` printed of one drive, and
`/nodes/NODE/disks/list`, in which `wearout` is the share of life left.

The attributes of a SATA drive are objects; of other drives the lines are one text. The model is in neither, so that the
names of attributes are all that says what they mean. Source: `get_smart_data` in pve-storage, PVE/Diskmanage.pm.
"""

from collections.abc import Mapping
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.attributes import whole
from ssdlab.hardware.smart.formats import smartctl_text
from ssdlab.hardware.smart.plain import Plain

_LEFT_MAX = 100
_COLUMNS = ("id", "name", "flags", "value", "worst", "threshold", "fail", "raw")


def is_object(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is the answer for a drive."""
    if not isinstance(value.get("health"), str):
        return False
    return isinstance(value.get("attributes"), list) if value.get("type") == "ata" else _is_text(value)


def report_of(value: Mapping[str, Any]) -> JsonObject:
    """The report that smartctl's text gives."""
    lines = [str(value["text"])] if _is_text(value) else list(map(_line, value["attributes"]))
    lines.append(f"SMART overall-health self-assessment test result: {value['health']}")
    return smartctl_text.report_of("\n".join(lines))


def is_disk(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an entry of the list of disks."""
    return "wearout" in value and isinstance(value.get("devpath"), str)


def report_of_disk(value: Mapping[str, Any]) -> JsonObject:
    """The report of an entry of the list of disks. Its wear is `N/A` where the drive does not report it."""
    left, size, health = whole(value.get("wearout")), whole(value.get("size")), value.get("health")
    is_known = left is not None and left <= _LEFT_MAX
    return Plain(
        used_percent=_LEFT_MAX - left if left is not None and is_known else None,
        used_source="Proxmox VE's wearout" if is_known else None,
    ).report(
        "NVMe" if value.get("type") == "nvme" else "",
        model_name=str(value.get("model") or value["devpath"]).replace("_", " "),
        serial_number=str(value.get("serial") or ""),
        user_capacity={"bytes": size} if size else None,
        smart_status={"passed": health in ("PASSED", "OK")} if health in ("PASSED", "OK", "FAILED") else None,
        rotation_rate=1 if value.get("type") == "hdd" else None,
    )


def _is_text(value: Mapping[str, Any]) -> bool:
    return value.get("type") == "text" and isinstance(value.get("text"), str)


def _line(entry: object) -> str:
    """The line of the table that an attribute was; empty for what is none."""
    if not isinstance(entry, Mapping):
        return ""
    number, name, flags, *levels, failed, raw = (" ".join(str(entry.get(column, "-")).split()) for column in _COLUMNS)
    # As numbers in JSON they have lost the zeros in front.
    return " ".join([number, name, flags, *(level.rjust(3, "0") for level in levels), failed, raw])
