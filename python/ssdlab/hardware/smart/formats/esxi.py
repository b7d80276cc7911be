"""ESXi's `esxcli storage core device smart get`; its `esxcli nvme device log smart get` is read as nvme-cli's text.

The table has a drive's normalized values, not the raw ones: no counts of bytes or hours.
"""

import re
from collections.abc import Iterator

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.plain import Plain

_HEAD = re.compile(r"^[ \t]*Parameter[ \t]+Value[ \t]+Threshold", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*([A-Z][A-Za-z -]*?)[ \t]{2,}(\S+)[ \t]+(\S+)(?:[ \t]+(\S+))?", re.MULTILINE)
_DEVICE = re.compile(r"-d[ \t=]+(?:t10\.)?(?:(?:ATA|NVMe)_+)?(\S+)")
_WEAR = "Media Wearout Indicator"


def is_text(text: str) -> bool:
    """Whether a text has the head of the table."""
    return _HEAD.search(text) is not None and "Health Status" in text


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each table."""
    begins = [match.start() for match in _HEAD.finditer(text)]
    names = [_DEVICE.search(text[before:start]) for before, start in zip([0, *begins], begins, strict=False)]
    for start, end, name in zip(begins, [*begins[1:], len(text)], names, strict=True):
        yield _report({row[0]: row[1:] for row in _ROW.findall(text[start:end])}, name[1] if name else None)


def _report(rows: dict[str, tuple[str, ...]], name: str | None) -> JsonObject:
    health = rows.get("Health Status", ("",))[0]
    level = _number(rows.get(_WEAR, ("",))[0])
    # Only SATA drives have a normalized count of reallocated sectors; how ESXi fills in the row for others is not
    # published.
    is_left = level is not None and _number(rows.get("Reallocated Sector Count", ("",))[0]) is not None
    is_known = level is not None and is_left and level <= 100
    remark = None
    if level is not None and not is_known:
        remark = f"{_WEAR} {level}: whether this is used or left is not published for such drives."
    plain = Plain(
        used_percent=100 - level if level is not None and is_known else None,
        used_source=_WEAR if is_known else None,
        remark=remark,
    )
    temperature = _number(rows.get("Drive Temperature", ("",))[0])
    return plain.report(
        "",
        model_name=" ".join(name.replace("_", " ").split()) if name else None,
        temperature={"current": temperature},
        smart_status={"passed": health == "OK"} if health and health != "N/A" else None,
    )


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,6}", text, re.ASCII) else None
