"""Scrutiny's API: `/api/device/WWN/details`, a drive with its readings over time, and `/api/summary`, which has neither
wear nor writes.

The attributes of SATA drives have numbers but no names, so that their meaning depends on the model alone.
"""

import calendar
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.attributes import whole
from ssdlab.hardware.smart.formats.nvme_cli import HEALTH
from ssdlab.hardware.smart.plain import Plain

_RESULTS = "smart_results"
_LATEST = "smart"
_REMARK = "Scrutiny's summary has neither wear nor writes: ask /api/device/WWN/details for them."


def is_object(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a drive with its readings, or an entry of the summary."""
    device = value.get("device")
    if not isinstance(device, Mapping):
        return False
    return isinstance(value.get(_RESULTS), list) or ("wwn" in device and isinstance(value.get(_LATEST), Mapping))


def reports(value: Mapping[str, Any]) -> Iterator[JsonObject]:
    """One report for each reading."""
    device = value["device"]
    drive: JsonObject = {
        "smartctl": {},
        "model_name": str(device.get("model_name") or "").replace("_", " "),
        "serial_number": device.get("serial_number") or "",
        "firmware_version": device.get("firmware") or "",
        "identity": device.get("wwn") or device.get("device_name") or "",
        "rotation_rate": device.get("rotational_speed") or device.get("rotation_rate") or 0,
    }
    if whole(device.get("capacity")):
        drive["user_capacity"] = {"bytes": device["capacity"]}
    if _RESULTS not in value:
        latest = value[_LATEST]
        others = {
            "temperature": {"current": latest.get("temp")},
            "power_on_time": {"hours": latest.get("power_on_hours")},
        }
        yield Plain(remark=_REMARK).report(str(device.get("device_protocol") or ""), **others) | drive
        return
    for result in value[_RESULTS]:
        if isinstance(result, Mapping):
            yield drive | _reading(result)


def _reading(result: Mapping[str, Any]) -> JsonObject:
    found = result.get("attrs")
    attributes = [entry for entry in found.values() if isinstance(entry, Mapping)] if isinstance(found, dict) else []
    reading: JsonObject = {
        "temperature": {"current": result.get("temp")},
        "power_on_time": {"hours": result.get("power_on_hours")},
    }
    when = _time(result.get("date"))
    if when is not None:
        reading["local_time"] = {"time_t": when}
    numbered = [entry for entry in attributes if isinstance(entry.get("attribute_id"), int)]
    if numbered:
        table = [
            {
                "id": entry["attribute_id"],
                "name": "",
                "value": entry.get("value"),
                "worst": entry.get("worst"),
                "thresh": entry.get("thresh"),
                "when_failed": "now" if entry.get("when_failed") in ("now", "FAILING_NOW") else "",
                "raw": {"value": entry.get("raw_value"), "string": str(entry.get("raw_string", ""))},
            }
            for entry in numbered
        ]
        return reading | {"device": {"protocol": "ATA"}, "ata_smart_attributes": {"table": table}}
    log = {str(entry.get("attribute_id")): entry.get("value") for entry in attributes}
    if "percentage_used" in log or "data_units_written" in log:
        return reading | {"device": {"protocol": "NVMe"}, HEALTH: log}
    used = log.get("percentage_used_endurance_indicator") or log.get("scsi_percentage_used_endurance_indicator")
    return reading | {"device": {"protocol": "SCSI"}} | ({} if used is None else _scsi(used))


def _scsi(used: Any) -> JsonObject:
    return {"scsi_percentage_used_endurance_indicator": used}


def _time(text: Any) -> int | None:
    try:
        return calendar.timegm(datetime.fromisoformat(str(text).replace("Z", "+00:00")).utctimetuple())
    except ValueError:
        return None
