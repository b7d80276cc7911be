"""The report of Hard Disk Sentinel for the console of Linux: a block of lines for each drive.

Its health is a mark of its own, in which wear, bad sectors and other errors are one number (its help, appendix), so
that it is told as a remark and not taken for the used share of the rated life. Sizes and writes are in powers of 1024.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.plain import Plain

_BEGIN = re.compile(r"^HDD Device[ \t]+\d+[ \t]*:", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*([A-Z][^:\n]*?)[ \t]*:[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_HOURS = re.compile(r"(?:(\d{1,6}) days?)?,? ?(?:(\d{1,2}) hours?)?")
_WRITTEN = re.compile(r"(\d{1,9}(?:[.,]\d{1,4})?) (MB|GB|TB|PB)")
_UNITS = {"MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}


def is_text(text: str) -> bool:
    """Whether a text has a block of a drive."""
    return _BEGIN.search(text) is not None and "HDD Model ID" in text


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive."""
    starts = [match.start() for match in _BEGIN.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        yield _report(dict(reversed(_LINE.findall(text[start:end]))))


def _report(said: Mapping[str, str]) -> JsonObject:
    written = _WRITTEN.match(said.get("Total written", ""))
    on = _HOURS.match(said.get("Power on time", ""))
    health = re.match(r"(\d{1,3}) ?%", said.get("Health", ""))
    celsius = re.match(r"-?\d{1,3}", said.get("Temperature", ""))
    size = re.match(r"(\d{1,12}) MB", said.get("HDD Size", ""))
    plain = Plain(
        host_bytes=round(float(written[1].replace(",", ".")) * _UNITS[written[2]]) if written else None,
        host_source="Hard Disk Sentinel's total written",
        remark=f"Hard Disk Sentinel's health of {health[1]} % is its own mark, of wear and errors together."
        if health
        else None,
    )
    return plain.report(
        "",
        model_name=said.get("HDD Model ID"),
        serial_number=said.get("HDD Serial No"),
        firmware_version=said.get("HDD Revision"),
        temperature={"current": int(celsius[0])} if celsius else None,
        power_on_time={"hours": 24 * int(on[1] or 0) + int(on[2] or 0)} if on and (on[1] or on[2]) else None,
        user_capacity={"bytes": int(size[1]) << 20} if size else None,
    )
