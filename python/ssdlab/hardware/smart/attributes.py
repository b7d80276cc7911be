"""A SATA drive's attributes and device statistics, from a report with the structure of `smartctl --json`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_LEADING = re.compile(r"-?\d{1,39}(?!\d)")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,32}(?![0-9a-fA-F])")
_COUNTER_BITS = 128
_NOT_COUNTED = (1 << 48) - 1
"""The value with all bits set in the longest device statistic, and in the raw value of an attribute. Some drives report
it for what they do not count."""


@dataclass(frozen=True)
class Attribute:
    """An attribute as the drive reports it; None for values that it does not report."""

    id: int
    name: str
    """smartctl's name; empty in a report that has only numbers."""
    level: int | None
    """The normalized value."""
    threshold: int | None
    failed: str
    """`now`, `past` or empty."""
    raw: int | None
    """The raw value as interpreted by smartctl: the number at the start of its text."""
    raw_text: str = ""


def attributes_of(report: Mapping[str, Any]) -> list[Attribute]:
    """The attributes of a report. Malformed entries are left out."""
    table = _mapping(report.get("ata_smart_attributes")).get("table")
    found = []
    for entry in table if isinstance(table, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), int):
            raw = _mapping(entry.get("raw"))
            text = str(raw.get("string", ""))
            found.append(
                Attribute(
                    id=entry["id"],
                    name=str(entry.get("name", "")),
                    level=whole(entry.get("value")),
                    threshold=whole(entry.get("thresh")),
                    failed=str(entry.get("when_failed", "")),
                    raw=_raw(text, raw.get("value")),
                    raw_text=text,
                )
            )
    return found


def statistics_of(report: Mapping[str, Any]) -> dict[str, int]:
    """ATA's device statistics by name (ACS-4, log 04h). Statistics that are not valid are left out."""
    pages = _mapping(report.get("ata_device_statistics")).get("pages")
    found: dict[str, int] = {}
    for page in pages if isinstance(pages, list) else ():
        entries = _mapping(page).get("table")
        for entry in entries if isinstance(entries, list) else ():
            value = whole(_mapping(entry).get("value"))
            if value is not None and value < _NOT_COUNTED and _mapping(entry.get("flags")).get("valid", True):
                found.setdefault(str(entry.get("name", "")), value)
    return found


def whole(value: Any) -> int | None:
    """The value if it is an integer in the range of a drive's counter (128 bits), otherwise None."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and -(1 << _COUNTER_BITS) < value < 1 << _COUNTER_BITS else None


def _raw(text: str, value: Any) -> int | None:
    """Prefers the number in the text, because the upper bytes of the value can hold a minimum and a maximum."""
    hexadecimal, leading = _HEX.match(text), _LEADING.match(text)
    raw = int(hexadecimal[0], 16) if hexadecimal else int(leading[0]) if leading else whole(value)
    return None if raw == _NOT_COUNTED else raw


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
