"""The attributes of a SATA drive as Intel's and Solidigm's tools print them (`isdct`, `intelmas`, `sst show -smart`):
a block of lines for each attribute, its number in hexadecimal.

The tools know only these makers' drives, so that the attributes with the makers' units get smartctl's names of them.
Values are those of the makers' data sheets: 225, 241 and 243 count 32 MiB (Intel, DC S3500 and S3700 product
specifications, table of attributes). NVMe drives' values are read by `nvme_cli`. The
layout was written without an original output at hand.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from ssdlab.foundation.foreign import JsonObject

_BEGIN = re.compile(r"^-[ \t]+(\S[^\n]*?)[ \t]+-[ \t]*$", re.MULTILINE)
_BLOCK = re.compile(
    r"^ID[ \t]*:[ \t]*(?:0x)?([0-9A-F]{2})[ \t]*\nNormalized[ \t]*:[ \t]*(\d{1,3})[ \t]*\n"
    r"Raw[ \t]*:[ \t]*(0x[0-9A-F]{1,16}|\d{1,20})(?:[ \t]*\n(?:Status[^\n]*\n)?Threshold[ \t]*:[ \t]*(\d{1,3}))?",
    re.MULTILINE | re.I,
)
_VALUE = re.compile(r"^(Model ?Number|Serial ?Number)[ \t]*:[ \t]*(\S[^\n]*?)[ \t]*$", re.MULTILINE)
_NAMES = {
    225: "Host_Writes_32MiB",
    232: "Available_Reservd_Space",
    233: "Media_Wearout_Indicator",
    241: "Host_Writes_32MiB",
    243: "NAND_Writes_32MiB",
}


def is_text(text: str) -> bool:
    """Whether a text has a block of an attribute."""
    return _BLOCK.search(text) is not None


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive."""
    begins = [match.start() for match in _BEGIN.finditer(text)] or [0]
    for start, end in pairwise([*begins, len(text)]):
        part = text[start:end]
        table = [
            _attribute(int(number, 16), int(level), int(raw, 0), threshold)
            for number, level, raw, threshold in _BLOCK.findall(part)
        ]
        if not table:
            continue
        said = {name.replace(" ", ""): value for name, value in _VALUE.findall(part)}
        head = _BEGIN.search(part)
        # The head is the drive's name and serial number, or only the latter, after "SMART Attributes".
        *name, serial = head[1].split() if head else [""]
        is_named = bool(name) and name[0].upper() in ("INTEL", "SOLIDIGM")
        yield {
            "smartctl": {},
            "device": {"protocol": "ATA"},
            "model_name": said.get("ModelNumber") or (" ".join(name) if is_named else ""),
            "serial_number": said.get("SerialNumber") or serial,
            "ata_smart_attributes": {"table": table},
        }


def _attribute(number: int, level: int, raw: int, threshold: str) -> JsonObject:
    said: JsonObject = {"id": number, "name": _NAMES.get(number, ""), "value": level}
    return said | {"thresh": int(threshold or 0), "raw": {"value": raw, "string": str(raw)}}
