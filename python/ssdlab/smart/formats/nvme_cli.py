"""nvme-cli's logs of health, of an endurance group, of OCP (C0h) and of flexible data placement, as text and as JSON.

Names and forms are those of nvme-cli 1.x to 3 (nvme-print-stdout.c, nvme-print-json.c, plugins/ocp). The logs do not
contain the model. Logs in one file are assumed to be of one drive, as if printed one after the other.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from ssdlab.foreign import JsonObject

HEALTH = "nvme_smart_health_information_log"
OCP = "ocp_smart_log"
FDP = "fdp_statistics"
GROUP = "endurance_group_log"

# nvme-cli's names in JSON, and smartctl's names for the same values.
_HEALTH_NAMES = {
    "avail_spare": "available_spare",
    "spare_thresh": "available_spare_threshold",
    "percent_used": "percentage_used",
    "host_read_commands": "host_reads",
    "host_write_commands": "host_writes",
    "media_and_data_integrity_errors": "media_errors",
    "critical_composite_temperature_time": "critical_comp_time",
    "warning_temperature_time": "warning_temp_time",
}
_GROUP_KEYS = ("data_units_written", "media_units_written", "percent_used", "avl_spare", "avl_spare_threshold")
_OCP_KEYS = ("Physical media units written", "physical_media_units_written", "physical_media_units_written_bytes")
_KELVIN = 273
_DIGITS_MAX = 39
"""Digits of a 128-bit number, the largest counter."""
_HEADING = re.compile(
    r"^(?:Smart Log for NVME device|SMART Cloud Attributes|Host Bytes with Metadata Written"
    r"|Endurance Group Log for NVME device)",
    re.MULTILINE | re.IGNORECASE,
)
_LINE = re.compile(r"^[ \t]*([A-Za-z][^:\n]*?)[ \t]*:[ \t]*(.*)$", re.MULTILINE)
# A number, or its upper and lower 64 bits; Micron's plugin prints it in hexadecimal.
_OCP_LINE = re.compile(
    r"^[ \t]*Physical media units written[ \t]*[-:]?[ \t]*(0x[0-9a-f]{1,32}|\d{1,39})(?:[ \t]+(\d{1,39}))?[ \t]*$",
    re.MULTILINE | re.I,
)
_KELVINS = re.compile(r"(\d{1,4}) ?K")
_FAHRENHEIT = re.compile(r"\s*(-?\d{1,4}) ?°?F")
_DEVICE = re.compile(r"device:[ \t]*(\S+)")
_CONTROLLER = re.compile(r"nvme\d+")
_LOGS = (HEALTH, OCP, FDP, GROUP)
_NAMELESS: JsonObject = {"smartctl": {}, "device": {"protocol": "NVMe"}}
_NUMBER = re.compile(r"[0-9][^A-Za-z%(\[°]*")


def is_text(text: str) -> bool:
    """Whether a text contains one of the logs."""
    return _HEADING.search(text) is not None or _OCP_LINE.search(text) is not None


def log_of(value: Mapping[str, Any]) -> JsonObject:
    """The content of a JSON object of nvme-cli under the name of its log; empty for any other object."""
    if "media_units_written" in value and "data_units_written" in value:
        return {GROUP: {key: _whole(value.get(key)) for key in _GROUP_KEYS}}
    if "data_units_written" in value and ("avail_spare" in value or "percent_used" in value):
        return {HEALTH: _health(value)}
    if any(key in value for key in _OCP_KEYS):
        return {OCP: dict(value)}
    if "hbmw" in value and "mbmw" in value:
        return {FDP: {key: _whole(value[key]) for key in ("hbmw", "mbmw")}}
    return {}


def joined(parts: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Merges logs into reports with the structure of smartctl's JSON.

    Consecutive logs, or a report of smartctl and the logs after it, belong to one drive until a log repeats or another
    report or device name follows. Logs after a report without NVMe logs also belong to another drive.
    """
    drive: JsonObject = {}
    for part in parts:
        if drive and _begins_another(drive, part):
            yield drive
            drive = {}
        drive = drive | part if drive else _NAMELESS | part
    if drive:
        yield drive


def _begins_another(drive: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    if "smartctl" in part or any(log in drive and log in part for log in _LOGS):
        return True
    is_of_other_kind = not any(log in drive for log in _LOGS)
    names = [controller for one in (drive, part) if (controller := _controller(one))]
    return is_of_other_kind or len(set(names)) > 1


def _controller(report: Mapping[str, Any]) -> str | None:
    """The controller in the report's device name, for example `nvme0` for `/dev/nvme0n1`, or None."""
    device = report.get("device")
    found = _CONTROLLER.search(str(device.get("name", ""))) if isinstance(device, Mapping) else None
    return found[0] if found else None


def text_reports(text: str) -> Iterator[JsonObject]:
    """The reports of a text that contains logs."""
    # A last line without a line feed can be cut off within a number.
    text = text[: text.rfind("\n") + 1]
    return joined(_text_parts(text))


def _text_parts(text: str) -> Iterator[JsonObject]:
    starts = [match.start() for match in _HEADING.finditer(text)]
    for start, end in pairwise([0, *starts, len(text)]):
        part = text[start:end]
        logs = _text_logs(part)
        if logs:
            named = _DEVICE.search(part)
            yield logs | ({"device": {"protocol": "NVMe", "name": named[1]}} if named else {})


def _text_logs(part: str) -> JsonObject:
    logs: JsonObject = {}
    ocp = _OCP_LINE.search(part)
    if ocp:
        high, low = (
            (int(ocp[1]), int(ocp[2])) if ocp[2] else (0, int(ocp[1], 16 if ocp[1].lower().startswith("0x") else 10))
        )
        logs[OCP] = {_OCP_KEYS[0]: {"hi": high, "lo": low}}
    values: dict[str, int] = {}
    for match in _LINE.finditer(part):
        name = match[1].strip().lower().replace(" ", "_")
        number = _celsius(match[2]) if name == "temperature" else _first_number(match[2])
        if number is not None:
            values.setdefault(name, number)
    if "media_units_written" in values and "data_units_written" in values:
        logs[GROUP] = {key: values.get(key) for key in _GROUP_KEYS}
        return logs
    health = {_HEALTH_NAMES.get(name, name): value for name, value in values.items()}
    if "data_units_written" in health and "percentage_used" in health:
        logs[HEALTH] = health
    placed = {short: value for name, value in values.items() for short in ("hbmw", "mbmw") if f"({short})" in name}
    if len(placed) == 2:
        logs[FDP] = placed
    return logs


def _health(value: Mapping[str, Any]) -> JsonObject:
    health = {}
    for name, entry in value.items():
        # With -v, the critical warning is an object that also lists its bits.
        whole = _whole(entry.get("value") if name == "critical_warning" and isinstance(entry, Mapping) else entry)
        if whole is not None:
            health[_HEALTH_NAMES.get(name, name)] = whole
    temperature = health.get("temperature")
    if temperature is not None and temperature > 2 * _KELVIN // 3:
        health["temperature"] = temperature - _KELVIN
    return health


def _celsius(text: str) -> int | None:
    """Celsius from `38 °C (311 K)`, `-18 C (255 Kelvin)` or `100 °F (311 K)`, depending on the locale."""
    kelvins, fahrenheit = _KELVINS.search(text), _FAHRENHEIT.match(text)
    if kelvins:
        return int(kelvins[1]) - _KELVIN
    if fahrenheit:
        return round((int(fahrenheit[1]) - 32) / 1.8)
    number = _first_number(text.removeprefix("-"))
    return -number if number is not None and text.startswith("-") else number


def _first_number(text: str) -> int | None:
    """The number at the start of a text, with thousands separators of any locale, or None."""
    if text.startswith("0x"):
        hexadecimal = re.match(r"0x[0-9a-fA-F]+", text)
        return int(hexadecimal[0], 16) if hexadecimal else None
    match = _NUMBER.match(text)
    digits = re.sub(r"[^0-9]", "", match[0]) if match else ""
    return int(digits) if 0 < len(digits) <= _DIGITS_MAX else None


def _whole(value: Any) -> int | None:
    if isinstance(value, Mapping) and {"hi", "lo"} <= value.keys():
        high, low = _whole(value["hi"]), _whole(value["lo"])
        return None if high is None or low is None else (high << 64) + low
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None
