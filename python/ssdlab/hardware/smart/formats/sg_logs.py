"""Log pages of a SAS drive as `sg_logs` of sg3_utils prints them, one or all (`-a`): text.

A page begins with a line such as `Write error counter page  [0x2]`. Before the first one may stand the drive's vendor,
product and revision, of 8, 16 and 4 characters. The pages and their parameters are those of T10's SPC-5 and SBC-4; what
was written is counted in bytes, as in smartctl's "Gigabytes processed". Source: sg_logs.c of sg3_utils.
"""

import re
from collections.abc import Iterator

from ssdlab.foundation.foreign import JsonObject

_PAGE = re.compile(r"^\S.*?\s\[0x([0-9a-f]{1,2})\](?: \(\S+\))?[ \t]*$", re.MULTILINE)
_DRIVE = re.compile(r"^ {4}(\S.{7})  (\S.{15})  \S.{0,3}[ \t]*$", re.MULTILINE)
_WRITES, _TEMPERATURE, _SCAN, _MEDIA = "2", "d", "15", "11"
_LINES = {
    _WRITES: {"bytes": r"Total bytes processed = (\d+)", "errors": r"Total uncorrected errors = (\d+)"},
    _TEMPERATURE: {"celsius": r"Current temperature = (\d+) C"},
    _SCAN: {"minutes": r"Accumulated power on minutes: (\d+)"},
    _MEDIA: {"used": r"Percentage used endurance indicator: (\d+)%"},
}


def is_text(text: str) -> bool:
    """Whether a text has a page of this program that says something of a drive's wear."""
    return bool({match[1].lstrip("0") for match in _PAGE.finditer(text)} & {_WRITES, _MEDIA})


def reports(text: str) -> Iterator[JsonObject]:
    """The report of the drive."""
    heads = list(_PAGE.finditer(text))
    said: dict[str, int] = {}
    for place, head in enumerate(heads):
        page = text[head.end() : heads[place + 1].start() if place + 1 < len(heads) else len(text)]
        for name, line in _LINES.get(head[1].lstrip("0"), {}).items():
            if (found := re.search(line, page)) is not None:
                said.setdefault(name, int(found[1]))
    report: JsonObject = {"smartctl": {}, "device": {"protocol": "SCSI"}}
    if (drive := _DRIVE.search(text, 0, heads[0].start())) is not None:
        report |= {"scsi_vendor": drive[1].strip(), "scsi_product": drive[2].strip()}
        report["model_name"] = f"{report['scsi_vendor']} {report['scsi_product']}"
    if "used" in said:
        report["scsi_percentage_used_endurance_indicator"] = said["used"]
    if "celsius" in said:
        report["temperature"] = {"current": said["celsius"]}
    if "minutes" in said:
        report["power_on_time"] = {"hours": said["minutes"] // 60}
    if "bytes" in said:
        written = {"gigabytes_processed": f"{said['bytes'] / 1e9:.3f}"}
        report["scsi_error_counter_log"] = {"write": written | {"total_uncorrected_errors": said.get("errors", 0)}}
    yield report
