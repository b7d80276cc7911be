"""Log pages of a SAS drive as `sg_logs` of sg3_utils prints them, one or all (`-a`): text.

A page begins with a line such as `Write error counter page  [0x2]`. Before the first one may stand the drive's vendor,
product and revision, of 8, 16 and 4 characters. The pages and their parameters are those of T10's SPC-5 and SBC-4; what
was written is counted in bytes, as in smartctl's "Gigabytes processed"; self-tests are listed from the newest on.
Source: sg_logs.c of sg3_utils.
"""

import re
from collections.abc import Iterator

from ssdlab.foundation.foreign import JsonObject

_PAGE = re.compile(r"^\S.*?\s\[0x([0-9a-f]{1,2})\](?: \(\S+\))?[ \t]*$", re.MULTILINE)
_DRIVE = re.compile(r"^ {4}(\S.{7})  (\S.{15})  \S.{0,3}[ \t]*$", re.MULTILINE)
_WRITES, _TEMPERATURE, _SELF_TESTS, _SCAN, _MEDIA, _VERDICT = "2", "d", "10", "15", "11", "2f"
_ERRORS = {"write": _WRITES, "read": "3", "verify": "5"}
_BYTES, _UNCORRECTED = r"Total bytes processed = (\d+)", r"Total uncorrected errors = (\d+)"
_LINES = {
    **{page: {f"{name} bytes": _BYTES, f"{name} errors": _UNCORRECTED} for name, page in _ERRORS.items()},
    _TEMPERATURE: {"celsius": r"Current temperature = (\d+) C"},
    _SCAN: {"minutes": r"Accumulated power on minutes: (\d+)"},
    _MEDIA: {"used": r"Percentage used endurance indicator: (\d+)%"},
}
# The page of informational exceptions: SPC's codes of none and of a predicted failure, which is false with the second
# qualifier: a host asked for it as a test.
_VERDICT_LINE = re.compile(r"^ +IE asc = 0x([0-9a-f]+), ascq = 0x([0-9a-f]+)", re.MULTILINE)
_GOOD, _PREDICTED, _AS_A_TEST = 0x00, 0x5D, 0xFF
# A result in words, and its number in SPC. Older versions begin it small, the first ones write it without a hyphen.
_SELF_TEST = re.compile(r"^ +[Ss]elf[- ]test result: (\S.*?) \[(\d+)\]", re.MULTILINE)


def is_text(text: str) -> bool:
    """Whether a text has a page of this program that says something of a drive's wear or of its self-tests."""
    return bool({match[1].lstrip("0") for match in _PAGE.finditer(text)} & {_WRITES, _MEDIA, _SELF_TESTS})


def reports(text: str) -> Iterator[JsonObject]:
    """The report of the drive."""
    heads = list(_PAGE.finditer(text))
    said: dict[str, int] = {}
    self_tests: list[tuple[str, str]] = []
    passed: bool | None = None
    for place, head in enumerate(heads):
        page = text[head.end() : heads[place + 1].start() if place + 1 < len(heads) else len(text)]
        for name, line in _LINES.get(head[1].lstrip("0"), {}).items():
            if (found := re.search(line, page)) is not None:
                said.setdefault(name, int(found[1]))
        if head[1] == _SELF_TESTS:
            self_tests = _SELF_TEST.findall(page)
        elif head[1] == _VERDICT:
            passed = _passed(page)
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
    for number, (words, value) in enumerate(self_tests):
        report[f"scsi_self_test_{number}"] = {"result": {"value": int(value), "string": words}}
    if passed is not None:
        report["smart_status"] = {"passed": passed}
    counters = {name: _counters(name, said) for name in _ERRORS}
    if any(counters.values()):
        report["scsi_error_counter_log"] = {name: found for name, found in counters.items() if found}
    yield report


def _counters(name: str, said: dict[str, int]) -> JsonObject:
    """An error counter page as smartctl gives it: bytes as gigabytes (10^9) in words."""
    found: JsonObject = {}
    if f"{name} bytes" in said:
        found["gigabytes_processed"] = f"{said[f'{name} bytes'] / 1e9:.3f}"
    if f"{name} errors" in said:
        found["total_uncorrected_errors"] = said[f"{name} errors"]
    return found


def _passed(page: str) -> bool | None:
    """The drive's own verdict; None if the page has none, or another than that of a failure."""
    said = _VERDICT_LINE.search(page)
    code, qualifier = (int(said[1], 16), int(said[2], 16)) if said else (None, None)
    if code == _PREDICTED and qualifier != _AS_A_TEST:
        return False
    return True if code == _GOOD and qualifier == 0 else None
