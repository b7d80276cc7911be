"""Drives behind Broadcom's RAID controllers: `storcli /cX/eY/sZ show all`, also as JSON, and `MegaCli -PDList`.

The controller counts media errors and predicts failures; it says nothing of wear.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.plain import Plain

_BEGIN = re.compile(r"^(?:Drive (/c\d+(?:/e\d+)?/s\d+) State[ \t]*:|Enclosure Device ID:)", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*([A-Z][A-Za-z0-9 ./'-]*?)[ \t]*[=:][ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_STATE = re.compile(r"Drive (/c\d+(?:/e\d+)?/s\d+) State")
_ATTRIBUTES = "Drive {} Device attributes"
_ALERTS = ("S.M.A.R.T alert flagged by drive", "Drive has flagged a S.M.A.R.T alert")
_SIZES = {"MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_REMARK = (
    "The controller does not say how worn its drives are: read them with smartctl -a -d megaraid,N (the Device Id)."
)


def is_text(text: str) -> bool:
    """Whether a text has a block of a drive."""
    return _BEGIN.search(text) is not None and "Media Error Count" in text


def is_object(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object holds the state of a drive."""
    return any(_STATE.fullmatch(str(key)) for key in value)


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive."""
    starts = [match.start() for match in _BEGIN.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        part = text[start:end]
        place = _BEGIN.match(part)
        yield _report(dict(reversed(_LINE.findall(part))), place[1] if place else None)


def report_of(value: Mapping[str, Any]) -> JsonObject:
    """The report of the drive in a JSON object."""
    place = next(match[1] for key in value if (match := _STATE.fullmatch(str(key))))
    parts = [value.get(f"Drive {place} State"), value.get(_ATTRIBUTES.format(place))]
    said = {str(key): str(entry) for part in parts if isinstance(part, Mapping) for key, entry in part.items()}
    return _report(said, place)


def _report(said: Mapping[str, str], place: str | None) -> JsonObject:
    alert = next((said[name] for name in _ALERTS if name in said), None)
    predicted = _number(said.get("Predictive Failure Count"))
    reported = None
    if (alert or "").lower() == "yes" or predicted:
        reported = "The controller has flagged a SMART alert or predicts a failure of the drive."
    inquiry = said.get("Inquiry Data", "").split()
    plain = Plain(
        media_errors=_number(said.get("Media Error Count")),
        reported=reported,
        is_urgent=reported is not None,
        remark=_REMARK,
    )
    size = re.match(r"(\d+(?:\.\d+)?) (MB|GB|TB)", said.get("Raw size", said.get("Raw Size", "")))
    temperature = _number(said.get("Drive Temperature"))
    model = said.get("Model Number") or " ".join(inquiry[1:]) or place
    return plain.report(
        "",
        model_name=model,
        serial_number=said.get("SN") or (inquiry[0] if inquiry else None),
        temperature={"current": temperature or None},
        user_capacity={"bytes": round(float(size[1]) * _SIZES[size[2]])} if size else None,
        smart_status={"passed": alert.lower() == "no"} if alert else None,
        rotation_rate=1 if said.get("Media Type", "").startswith("Hard") else None,
    )


def _number(text: str | None) -> int | None:
    match = re.match(r"\d{1,15}", (text or "").strip())
    return int(match[0]) if match else None
