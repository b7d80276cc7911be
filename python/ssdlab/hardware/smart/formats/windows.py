"""PowerShell's `Get-StorageReliabilityCounter` and `Get-PhysicalDisk`: as a list, a table, CSV or JSON.

Meanings are those of Microsoft's MSFT_StorageReliabilityCounter: `Wear` is the used share in percent, temperatures are
in Celsius.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.plain import Plain

_COUNTERS = ("Wear", "PowerOnHours", "ReadErrorsUncorrected", "TemperatureMax")
_LINE = re.compile(r"^[ \t]*([A-Za-z]\w*)[ \t]*:[ \t]?(.*)$")
_RULE = re.compile(r"^[ \t]*-+(?:[ \t]+-+)*[ \t]*$")
_SIZES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def is_text(text: str) -> bool:
    """Whether a text names at least two of the counters as PowerShell does."""
    return sum(bool(re.search(rf"(?<!\w){name}(?!\w)", text)) for name in _COUNTERS) > 1


def is_object(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is of `ConvertTo-Json`."""
    return sum(name in value for name in _COUNTERS) > 1


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive. Blocks of one `DeviceId` are of one drive, and so are two blocks of which one names
    the drive and the other has its counters."""
    drives: dict[str, dict[str, str]] = {}
    for number, entry in enumerate(_entries(text)):
        drive = drives.setdefault(entry.get("DeviceId") or f"#{number}", {})
        drive.update({key: value for key, value in entry.items() if value or key not in drive})
    named = [drive for drive in drives.values() if not is_object(drive) and "FriendlyName" in drive]
    counted = [drive for drive in drives.values() if is_object(drive)]
    for drive in counted:
        yield report_of({**named[0], **drive} if len(named) == len(counted) == 1 else drive)


def report_of(value: Mapping[str, Any]) -> JsonObject:
    """The report of one drive from its properties."""
    errors = [_whole(value.get(name)) for name in ("ReadErrorsUncorrected", "WriteErrorsUncorrected")]
    known = [count for count in errors if count is not None]
    used = _whole(value.get("Wear"))
    health = str(value.get("HealthStatus") or "")
    plain = Plain(
        used_percent=used,
        used_source="Wear" if used is not None else None,
        media_errors=sum(known) if known else None,
    )
    temperature, limit, hours = (_whole(value.get(name)) for name in ("Temperature", "TemperatureMax", "PowerOnHours"))
    size = _size(value.get("Size"))
    return plain.report(
        str(value.get("BusType") or ""),
        model_name=_text(value, "FriendlyName", "Model"),
        serial_number=_text(value, "SerialNumber"),
        power_on_time={"hours": hours} if hours is not None else None,
        temperature={"current": temperature or None, "op_limit_max": limit or None},
        user_capacity={"bytes": size} if size else None,
        smart_status={"passed": health == "Healthy"} if health in ("Healthy", "Warning", "Unhealthy") else None,
    )


def _entries(text: str) -> Iterator[dict[str, str]]:
    lines = text.split("\n")
    first = next((line for line in lines if line.strip() and not line.startswith("#TYPE")), "")
    if first.count('","') > 1:
        rows = csv.DictReader(io.StringIO("\n".join(line for line in lines if not line.startswith("#TYPE"))))
        yield from ({key: value or "" for key, value in row.items() if key} for row in rows)
        return
    entry: dict[str, str] = {}
    for at, line in enumerate(lines):
        match = _LINE.match(line)
        if _RULE.match(line) and at:
            yield from _table(lines[at - 1], line, lines[at + 1 :])
        elif match and match[1] in entry:
            yield entry
            entry = {match[1]: match[2].strip()}
        elif match:
            entry[match[1]] = match[2].strip()
        elif not line.strip() and entry:
            yield entry
            entry = {}
    if entry:
        yield entry


def _table(head: str, rule: str, lines: list[str]) -> Iterator[dict[str, str]]:
    """The rows below a head, whose words the rule underlines."""
    columns = [match.span() for match in re.finditer(r"-+", rule)]
    names = [head[start:end].strip() for start, end in columns]
    for line in lines:
        if not line.strip():
            return
        cuts = [0, *(_cut(line, start) for start, _ in columns[1:]), len(line)]
        yield {name: line[begin:end].strip() for name, (begin, end) in zip(names, pairwise(cuts), strict=True)}


def _cut(line: str, start: int) -> int:
    """Where a column begins in a row: at its head, or before it if a number at the right is longer than the head."""
    return line.rfind(" ", 0, start) + 1 if line[start - 1 : start].strip() else start


def _text(value: Mapping[str, Any], *names: str) -> str | None:
    return next((str(value[name]).strip() for name in names if value.get(name)), None)


def _whole(value: Any) -> int | None:
    text = str(value).strip() if value is not None and not isinstance(value, bool) else ""
    return int(text) if re.fullmatch(r"\d{1,20}", text, re.ASCII) else None


def _size(value: Any) -> int | None:
    """Bytes from a number or from `465.76 GB`, which Windows counts in powers of 1024."""
    if (whole := _whole(value)) is not None:
        return whole
    match = re.fullmatch(r"(\d+(?:[.,]\d+)?) ?(B|KB|MB|GB|TB)", str(value or "").strip())
    return round(float(match[1].replace(",", ".")) * _SIZES[match[2]]) if match else None
