"""Proxmox VE's API and `pvesh`: `/nodes/NODE/disks/smart`, what `smartctl -H -A -f brief` printed of one drive.

The attributes of a SATA drive are objects; of other drives the lines are one text. The model is in neither, so that the
names of attributes are all that says what they mean. Source: `get_smart_data` in pve-storage, PVE/Diskmanage.pm.
"""

from collections.abc import Mapping
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats import smartctl_text

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


def _is_text(value: Mapping[str, Any]) -> bool:
    return value.get("type") == "text" and isinstance(value.get("text"), str)


def _line(entry: object) -> str:
    """The line of the table that an attribute was; empty for what is none."""
    if not isinstance(entry, Mapping):
        return ""
    number, name, flags, *levels, failed, raw = (" ".join(str(entry.get(column, "-")).split()) for column in _COLUMNS)
    # As numbers in JSON they have lost the zeros in front.
    return " ".join([number, name, flags, *(level.rjust(3, "0") for level in levels), failed, raw])
