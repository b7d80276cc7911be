"""Seagate's openSeaChest: the drive information (`-i`) that each of its programs prints, as text.

Lines are those of `print_Device_Information` in Seagate's opensea-operations (drive_info.c): what was written has its
unit in the label, in powers of 1000, and `Write Amplification (%)` is a ratio, flash writes by host writes, with two
decimal places.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.plain import Plain

_BEGIN = re.compile(r"^[ \t]*Model Number:[ \t]*\S", re.MULTILINE)
_MARK = re.compile(r"^[ \t]*(?:Annualized Workload Rate \(TB/yr\)|Percentage Used Endurance Indicator \(%\)):", re.M)
_LINE = re.compile(r"^[ \t]*([A-Z][^:\n]*?):[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_WRITTEN = re.compile(r"Total Bytes Written \((B|KB|MB|GB|TB|PB)\)")
_CAPACITY = re.compile(r"Drive Capacity \((GB|TB)/")
_UNITS: dict[str, int] = {unit: 1000**power for power, unit in enumerate(("B", "KB", "MB", "GB", "TB", "PB"))}
_PASSED = {"Good": True, "Tripped": False}


def is_text(text: str) -> bool:
    """Whether a text has the lines that only these programs print."""
    return _MARK.search(text) is not None and _BEGIN.search(text) is not None


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive."""
    starts = [match.start() for match in _BEGIN.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        # The first of lines with one name: later ones are of parts of the drive.
        yield _report(dict(reversed(_LINE.findall(text[start:end]))))


def _report(said: Mapping[str, str]) -> JsonObject:
    host, used = _sized(said, _WRITTEN), _decimal(said.get("Percentage Used Endurance Indicator (%)"))
    ratio = _decimal(said.get("Write Amplification (%)"))
    plain = Plain(
        used_percent=None if used is None else round(used),
        used_source=None if used is None else "Percentage Used Endurance Indicator",
        host_bytes=host,
        host_source="openSeaChest's drive information",
        nand_bytes=round(host * ratio) if host and ratio else None,
    )
    temperature, hours = _decimal(said.get("Current Temperature (C)")), _decimal(said.get("Power On Hours"))
    size = _sized(said, _CAPACITY)
    rotation = re.match(r"\d+", said.get("Rotation Rate (RPM)", ""))
    return plain.report(
        "",
        model_name=said.get("Model Number"),
        serial_number=said.get("Serial Number"),
        temperature={"current": None if temperature is None else round(temperature)},
        power_on_time=None if hours is None else {"hours": int(hours)},
        user_capacity={"bytes": size} if size else None,
        smart_status={"passed": _PASSED[said["SMART Status"]]} if said.get("SMART Status") in _PASSED else None,
        rotation_rate=int(rotation[0]) if rotation else None,
    )


def _sized(said: Mapping[str, str], label: re.Pattern[str]) -> int | None:
    """Bytes of a line with its unit in the label; of two values, in two units, the first."""
    for name, value in said.items():
        match, number = label.match(name), _decimal(value)
        if match and number is not None:
            return round(number * _UNITS[match[1]])
    return None


def _decimal(text: str | None) -> float | None:
    match = re.match(r"\d{1,15}(?:\.\d{1,9})?", text or "")
    return float(match[0]) if match else None
