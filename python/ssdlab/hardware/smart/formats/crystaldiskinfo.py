"""CrystalDiskInfo's text (Edit, Copy): a block for each drive with its attributes in hexadecimal.

The attributes of SATA drives have numbers and the program's own names; what they mean depends on the model, as in a
report without names. Those of NVMe drives are the values of the health log in its order.
"""

import calendar
import re
import time
from collections.abc import Iterator

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats.nvme_cli import HEALTH

_BLOCK = re.compile(r"^-{20,}[ \t]*\n[ \t]*\(\d+\)[ \t]+(\S.*?)[ \t]*\n-{20,}[ \t]*$", re.MULTILINE)
_VALUE = re.compile(r"^[ \t]*([#A-Za-z][A-Za-z #.]*?)[ \t]*:[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"^([0-9A-F]{2})[ \t]+([\d_]{3})[ \t]+([\d_]{3})[ \t]+([\d_]{3})[ \t]+([0-9A-F]{12,16})\b", re.MULTILINE
)
_NVME = re.compile(r"^([0-9A-F]{2})[ \t]+([0-9A-F]{12,32})[ \t]+[A-Z]", re.MULTILINE)
_DATE = re.compile(r"^[ \t]*Date[ \t]*:[ \t]*(\d{4})/(\d\d)/(\d\d) +(\d{1,2}):(\d\d):(\d\d)", re.MULTILINE)
_LOG = (
    "critical_warning",
    "temperature",
    "available_spare",
    "available_spare_threshold",
    "percentage_used",
    "data_units_read",
    "data_units_written",
    "host_reads",
    "host_writes",
    "controller_busy_time",
    "power_cycles",
    "power_on_hours",
    "unsafe_shutdowns",
    "media_errors",
    "num_err_log_entries",
)
_KELVIN = 273
_SECTOR_BYTES = 512


def is_text(text: str) -> bool:
    """Whether a text has a block of a drive with attributes."""
    return bool(_BLOCK.search(text)) and "RawValues(" in text


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive."""
    date = _DATE.search(text)
    when = calendar.timegm(time.struct_time((*map(int, date.groups()), 0, 0, 0))) if date else None
    blocks = list(_BLOCK.finditer(text))
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        part = text[block.end() : following.start() if following else None]
        report = _report(part, block[1])
        yield report | ({"local_time": {"time_t": when}} if when is not None else {})


def _report(text: str, name: str) -> JsonObject:
    values: dict[str, str] = {}
    for key, value in _VALUE.findall(text):
        values.setdefault(key, value)
    report: JsonObject = {
        "smartctl": {},
        "model_name": values.get("Model", name),
        "serial_number": values.get("Serial Number", ""),
        "firmware_version": values.get("Firmware", ""),
        "temperature": {"current": _number(values.get("Temperature"))},
        "power_on_time": {"hours": _number(values.get("Power On Hours"))},
    }
    sectors = _number(values.get("# of Sectors"))
    size = sectors * _SECTOR_BYTES if sectors else _bytes(values.get("Disk Size", ""))
    if size:
        report["user_capacity"] = {"bytes": size}
    if "SSD" not in values.get("Rotation Rate", "SSD"):
        report["rotation_rate"] = _number(values["Rotation Rate"]) or 0
    health = re.match(r"(\w+)(?: \((\d+) %\))?", values.get("Health Status", ""))
    if health and health[1] in ("Good", "Caution", "Bad"):
        report["smart_status"] = {"passed": health[1] != "Bad"}
    if health and health[2]:
        report["life_left"] = {"percent": int(health[2]), "source": "CrystalDiskInfo's health status"}
    if "NVM" in values.get("Interface", "") or not _ATTRIBUTE.search(text):
        return report | {"device": {"protocol": "NVMe"}, HEALTH: _health(text)}
    table = [
        {
            "id": int(number, 16),
            "name": "",
            "value": int(current.replace("_", "") or 0),
            "worst": int(worst.replace("_", "") or 0),
            "thresh": int(threshold.replace("_", "") or 0),
            "raw": {"value": int(raw, 16), "string": str(int(raw, 16))},
        }
        for number, current, worst, threshold, raw in _ATTRIBUTE.findall(text)
    ]
    return report | {"device": {"protocol": "ATA"}, "ata_smart_attributes": {"table": table}}


def _health(text: str) -> JsonObject:
    log = {_LOG[int(number, 16) - 1]: int(raw, 16) for number, raw in _NVME.findall(text) if 0 < int(number, 16) <= 15}
    if "temperature" in log:
        log["temperature"] -= _KELVIN
    return log


def _number(text: str | None) -> int | None:
    match = re.match(r"\d{1,20}", text or "")
    return int(match[0]) if match else None


def _bytes(text: str) -> int | None:
    match = re.match(r"(\d+(?:[.,]\d+)?) ?(GB|TB)", text)
    return round(float(match[1].replace(",", ".")) * (10**9 if match[2] == "GB" else 10**12)) if match else None
