"""nvme-cli's logs of health, of an endurance group, of OCP (C0h), of makers and of flexible data placement, as text and
as JSON.

Names and forms are those of nvme-cli 1.x to 3 (nvme-print-stdout.c, nvme-print-json.c, plugins/ocp); `vendor_log` has
those of the makers. The logs do not contain the model, which `nvme id-ctrl` prints. Which logs are of one drive is
`joining`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart import vendor_log
from ssdlab.hardware.smart.formats.grouped_numbers import whole_at_start

HEALTH = "nvme_smart_health_information_log"
OCP = "ocp_smart_log"
FDP = "fdp_statistics"
GROUP = "endurance_group_log"
MAKER = "maker_log"
LOGS = (HEALTH, OCP, FDP, GROUP, MAKER)

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
    # ESXi's
    "composite_temperature": "temperature",
    # FreeBSD's nvmecontrol
    "critical_warning_state": "critical_warning",
    # DriveDx
    "power_on_time": "power_on_hours",
    # illumos' nvmeadm
    "device_life_used": "percentage_used",
    "available_spare_capacity": "available_spare",
    # Intel's isdct and intelmas
    "critical_warnings": "critical_warning",
}
_GROUP_KEYS = ("data_units_written", "media_units_written", "percent_used", "avl_spare", "avl_spare_threshold")
_OCP_KEYS = ("physical media units written", "physical_media_units_written", "physical_media_units_written_bytes")
_OCP_KEY = "Physical media units written"
_KELVIN = 273
_HEADING = re.compile(
    r"^(?:Smart Log for NVME device|SMART Cloud Attributes|Host Bytes with Metadata Written"
    r"|Endurance Group Log for NVME device|Additional Smart Log for NVME device|NVME Identify Controller"
    r"|[ \t]*(?:CA|D0)(?: Smart)? Log Page [A-Za-z ]*Statistics"
    r"|SMART/Health Information Log[ \t]*\n=+|\S+: SMART/Health Information[ \t]*$"
    r"|-[ \t]+(?:SMART and Health Information|Intel|Solidigm)[^\n]*[ \t]-[ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_LINE = re.compile(r"^[ \t]*([A-Za-z][^:\n]*?)[ \t]*:[ \t]*(.*)$", re.MULTILINE)
# A number, or its upper and lower 64 bits; Micron's plugin prints it in hexadecimal.
_OCP_LINE = re.compile(
    r"^[ \t]*Physical media units written[ \t]*[-:]?[ \t]*(0x[0-9a-f]{1,32}|\d[\d,.']{0,50})"
    r"(?:[ \t]+(\d{1,39}))?[ \t]*$",
    re.MULTILINE | re.I,
)
_KELVINS = re.compile(r"(\d{1,4})(?:\.\d+)? ?K")
# The bits of the warning, indented below it: nvmecontrol's have the names of other values.
_BITS = re.compile(r"^([ \t]*)(Critical.Warning[^\n]*\n)(?:\1[ \t]+[^\n]*\n)+", re.MULTILINE | re.I)
_FAHRENHEIT = re.compile(r"\s*(-?\d{1,4}) ?°?F")
_DEVICE = re.compile(r"device:[ \t]*(\S+)")
# Lines of `nvme id-ctrl`: model, serial number and capacity.
_IDENTITY = re.compile(r"^(mn|sn|tnvmcap)[ \t]*:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
# Other programs' lines, before the values.
_NAMED = re.compile(r"^(Model|Model ?Number|Serial ?Number)[ \t]*:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_IDENTITY_KEYS = {"mn": "model_name", "sn": "serial_number", "tnvmcap": "nvme_total_capacity"}


def log_of(value: Mapping[str, Any]) -> JsonObject:
    """The content of a JSON object of nvme-cli under the name of its log; empty for any other object."""
    value = _flattened(value)
    if "media_units_written" in value and "data_units_written" in value:
        return {GROUP: {key: _whole(value.get(key)) for key in _GROUP_KEYS}}
    if "data_units_written" in value and ("avail_spare" in value or "percent_used" in value):
        return {HEALTH: _health(value)}
    written = _ocp_written(value)
    if written is not None:
        return {OCP: written}
    if "hbmw" in value and "mbmw" in value:
        return {FDP: {key: _whole(value[key]) for key in ("hbmw", "mbmw")}}
    if "mn" in value and "sn" in value:
        return _identity({key: str(value[key]) for key in _IDENTITY_KEYS if key in value})
    log = vendor_log.of_json(value)
    return {MAKER: asdict(log)} if log else {}


def _flattened(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Seagate's logs as JSON are lists of names and values; as an object, they are read as any other log."""
    entries = [entry for entries in value.values() if isinstance(entries, list) for entry in entries]
    named = [entry for entry in entries if isinstance(entry, Mapping) and "attribute_name" in entry]
    return {str(entry["attribute_name"]): entry.get("attribute_value") for entry in named} or value


def _identity(found: Mapping[str, str]) -> JsonObject:
    identity: JsonObject = {_IDENTITY_KEYS[key]: text.strip() for key, text in found.items()}
    capacity = whole_at_start(identity.pop("nvme_total_capacity", ""))
    return identity | ({"nvme_total_capacity": capacity} if capacity else {})


def _ocp_written(value: Mapping[str, Any]) -> JsonObject | None:
    """OCP's counter as halves or as a whole, under the names and in the spellings of the plugins; None if there is
    none."""
    lower = {str(key).lower(): entry for key, entry in value.items()}
    for key in _OCP_KEYS:
        if key in lower:
            entry = lower[key]
            is_hexadecimal = isinstance(entry, str) and entry.lower().startswith("0x")
            return {_OCP_KEY: whole_at_start(entry) if is_hexadecimal else entry}
        if f"{key}_lo" in lower:
            return {_OCP_KEY: {"hi": lower.get(f"{key}_hi", 0), "lo": lower[f"{key}_lo"]}}
    return None


def text_parts(text: str) -> Iterator[JsonObject]:
    """The logs of a text, one part for each heading."""
    starts = [match.start() for match in _HEADING.finditer(text)]
    for start, end in pairwise([0, *starts, len(text)]):
        part = text[start:end]
        logs = _text_logs(part)
        if logs:
            named = _DEVICE.search(part)
            yield logs | ({"device": {"protocol": "NVMe", "name": named[1]}} if named else {})


def added_logs(text: str) -> JsonObject:
    """The logs of OCP and of makers in a text, also of one that begins as another program's report."""
    logs: JsonObject = {}
    ocp = _OCP_LINE.search(text)
    if ocp:
        first = whole_at_start(ocp[1].lower()) or 0
        logs[OCP] = {_OCP_KEY: {"hi": first, "lo": int(ocp[2])} if ocp[2] else {"hi": 0, "lo": first}}
    log = vendor_log.of_text(text)
    return logs | {MAKER: asdict(log)} if log else logs


def _text_logs(part: str) -> JsonObject:
    logs = added_logs(part)
    identity = dict(_IDENTITY.findall(part))
    if identity.keys() >= {"mn", "sn"}:
        logs |= _identity(identity)
    values: dict[str, int] = {}
    for match in _LINE.finditer(_BITS.sub(r"\1\2", part)):
        # Intel's tools write `PercentageUsed`.
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", match[1].strip()).lower().replace(" ", "_")
        number = _celsius(match[2]) if "temperature" in name else whole_at_start(match[2])
        if number is not None:
            values.setdefault(name, number)
    if "media_units_written" in values and "data_units_written" in values:
        logs[GROUP] = {key: values.get(key) for key in _GROUP_KEYS}
        return logs
    health = {_HEALTH_NAMES.get(name, name): value for name, value in values.items()}
    if "percentage_used" in health and ("data_units_written" in health or "available_spare" in health):
        logs[HEALTH] = _in_celsius(health)
        named = {("model_name" if name[0] == "M" else "serial_number"): value for name, value in _NAMED.findall(part)}
        logs |= {key: value for key, value in named.items() if key not in logs}
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
    return _in_celsius(health)


def _in_celsius(health: dict[str, int]) -> JsonObject:
    """The log with a temperature in Kelvin converted: no drive has more than 182 degrees Celsius."""
    temperature = health.get("temperature")
    is_kelvin = temperature is not None and temperature > 2 * _KELVIN // 3
    return health | ({"temperature": temperature - _KELVIN} if temperature is not None and is_kelvin else {})


def _celsius(text: str) -> int | None:
    """Celsius from `38 °C (311 K)`, `-18 C (255 Kelvin)` or `100 °F (311 K)`, depending on the locale."""
    kelvins, fahrenheit = _KELVINS.search(text), _FAHRENHEIT.match(text)
    if kelvins:
        return int(kelvins[1]) - _KELVIN
    if fahrenheit:
        return round((int(fahrenheit[1]) - 32) / 1.8)
    number = whole_at_start(text.removeprefix("-"))
    return -number if number is not None and text.startswith("-") else number


def _whole(value: Any) -> int | None:
    if isinstance(value, Mapping) and {"hi", "lo"} <= value.keys():
        high, low = _whole(value["hi"]), _whole(value["lo"])
        return None if high is None or low is None else (high << 64) + low
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        # Some versions print 128-bit counters as text, in the form of the locale.
        return whole_at_start(value.strip())
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None
