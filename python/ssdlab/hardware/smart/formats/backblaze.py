"""Backblaze's daily drive statistics: a CSV line per drive and day, with `smart_N_raw` and `smart_N_normalized`.

Attributes have numbers but no names here, so that their meaning depends on the model alone.
"""

import calendar
import csv
import io
import re
from collections.abc import Iterator
from datetime import date

from ssdlab.errors import InputError
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.signs import REPORTED

_HEADER = re.compile(r'"?date"?,"?serial_number"?,"?model"?,')
_COLUMN = re.compile(r"smart_(\d+)_raw")


def is_header(start: str) -> bool:
    """Whether a text begins with the header of Backblaze's CSV."""
    return _HEADER.match(start) is not None


def reports(text: str, where: str) -> Iterator[JsonObject]:
    """One report per line. A last line without a line feed is skipped, because it can be cut off within a number."""
    lines = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1], newline=""))
    numbers = [(int(match[1]), column) for column in lines.fieldnames or () if (match := _COLUMN.fullmatch(column))]
    if not numbers:
        raise InputError(f"{where}: line 1: has no column smart_N_raw")
    try:
        for row in lines:
            yield _report(row, numbers)
    except csv.Error as error:
        raise InputError(f"{where}: line {lines.line_num}: {error}") from None


def _report(row: dict[str, str], numbers: list[tuple[int, str]]) -> JsonObject:
    table: list[JsonObject] = []
    for number, column in numbers:
        raw = _whole(row.get(column))
        if raw is not None:
            value = _whole(row.get(f"smart_{number}_normalized"))
            table.append({"id": number, "name": "", "value": value, "raw": {"value": raw, "string": str(raw)}})
    hours = next((entry["raw"]["value"] for entry in table if entry["id"] == 9), None)
    report: JsonObject = {
        "smartctl": {},
        "device": {"protocol": "ATA"},
        "model_name": row.get("model") or "",
        "serial_number": row.get("serial_number") or "",
        "ata_smart_attributes": {"table": table},
        "power_on_time": {"hours": hours},
    }
    capacity = _whole(row.get("capacity_bytes"))
    if capacity and capacity > 0:
        report["user_capacity"] = {"bytes": capacity}
    if row.get("failure") == "1":
        report[REPORTED] = "Backblaze counts it as failed on the day of this report."
    try:
        day = date.fromisoformat(row.get("date") or "")
        report["local_time"] = {"time_t": calendar.timegm(day.timetuple())}
    except ValueError:
        pass
    return report


def _whole(text: str | None) -> int | None:
    try:
        return int(float(text)) if text and "." in text else int(text) if text else None
    except (ValueError, OverflowError):
        return None
