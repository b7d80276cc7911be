"""What libatasmart's programs print: skdump's table, and udisks's attributes, which GNOME Disks shows, over D-Bus.

udisks gives no raw values but readable ones: hours in milliseconds, temperatures in millikelvin, and 241 and 242 in
sectors (unit 3) or, in most versions, as a count of 65,536 sectors converted to megabytes, whatever the drive counts.
The raw value follows from that. Names are those of the numbers on any drive; `udisksctl info` before the attributes
gives the model.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.counts import NVME_DATA_UNIT_BYTES
from ssdlab.hardware.smart.formats.nvme_cli import HEALTH

# skdump: "  9 power-on-hours   92  92  0  4.3 years  0x009293000000 old-age online n/a n/a".
_DUMPED = re.compile(
    r"^[ \t]*(\d{1,3})[ \t]+[a-z][a-z0-9-]+[ \t]+(\d{1,3}|n/a)[ \t]+(?:\d{1,3}|n/a)[ \t]+(\d{1,3}|n/a)[ \t]+"
    r"\S.*?[ \t]+0x([0-9a-f]{12})[ \t]+(?:prefail|old-age)",
    re.MULTILINE,
)
# gdbus and busctl: id, name, flags, value, worst, threshold, readable value, its unit.
_CALLED = re.compile(
    r"\((?:byte )?(0x[0-9a-f]{1,2}|\d{1,3}), '[a-z][a-z0-9-]+', (?:uint16 )?(?:0x[0-9a-f]+|\d+), "
    r"(-?\d+), -?\d+, (-?\d+), (?:int64 )?(-?\d+), (\d+), "
)
_BEGIN = re.compile(r"^(?:Device: \S+|/org/freedesktop/UDisks2/drives/\S+:)[ \t]*$", re.MULTILINE)
_VALUE = re.compile(r"^[ \t]*([A-Z][A-Za-z ]*?):[ \t]+\[?(\S.*?)\]?[ \t]*$", re.MULTILINE)
_SECTORS, _MILLISECONDS, _MILLIKELVIN = 3, 2, 4
_WRITTEN_OR_READ = (241, 242)
_COUNTED_BYTES, _MB = 65536 * 512, 10**6
_ZERO_CELSIUS_K = 273.15


# udisks of 2.10 and later, of an NVMe controller: a dictionary, with what was written in bytes.
_NVME_VALUE = re.compile(
    r"'(avail_spare|spare_thresh|percent_used|total_data_written|media_errors|power_cycles)': "
    r"<(?:byte |uint64 )?(0x[0-9a-f]+|\d+)>"
)
_NVME_NAMES = {"avail_spare": "available_spare", "spare_thresh": "available_spare_threshold"}
_NVME_NAMES |= {"percent_used": "percentage_used", "total_data_written": "data_units_written"}


def is_text(text: str) -> bool:
    """Whether one of the programs printed the text."""
    patterns = (_DUMPED, _CALLED, _NVME_VALUE)
    return any(pattern.search(text) for pattern in patterns) or "org.freedesktop.UDisks2.Drive:" in text


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive."""
    starts = [match.start() for match in _BEGIN.finditer(text)] or [0]
    for start, end in pairwise([*starts, len(text)]):
        part = text[start:end]
        said: dict[str, str] = dict(reversed(_VALUE.findall(part)))
        report = _report(said, [*_dumped(part), *_called(part)])
        log = {_NVME_NAMES.get(name, name): int(value, 0) for name, value in _NVME_VALUE.findall(part)}
        if log:
            if "data_units_written" in log:
                log["data_units_written"] //= NVME_DATA_UNIT_BYTES
            report |= {"device": {"protocol": "NVMe"}, HEALTH: log}
        yield report


def _dumped(text: str) -> Iterator[JsonObject]:
    for number, level, threshold, raw in _DUMPED.findall(text):
        # The drive's six bytes in their order, the least significant first.
        yield _attribute(int(number), _level(level), _level(threshold), int.from_bytes(bytes.fromhex(raw), "little"))


def _called(text: str) -> Iterator[JsonObject]:
    for number, level, threshold, readable, unit in _CALLED.findall(text):
        at = int(number, 0)
        yield _attribute(at, int(level), int(threshold), _raw(at, int(readable), int(unit)))


def _raw(number: int, readable: int, unit: int) -> int:
    if unit == _MILLISECONDS:
        return readable // 3_600_000
    if unit == _MILLIKELVIN:
        return round(readable / 1000 - _ZERO_CELSIUS_K)
    if number in _WRITTEN_OR_READ and unit != _SECTORS:
        return -(-readable * _MB // _COUNTED_BYTES)
    return readable


def _report(said: Mapping[str, str], attributes: list[JsonObject]) -> JsonObject:
    report: JsonObject = {"smartctl": {}, "device": {"protocol": "ATA"}, "model_name": said.get("Model", "")}
    report |= {"serial_number": said.get("Serial", ""), "firmware_version": _firmware(said)}
    mebibytes, size = re.match(r"(\d+) MiB", said.get("Size", "")), re.fullmatch(r"\d+", said.get("Size", ""))
    if mebibytes or size:
        report["user_capacity"] = {"bytes": int(mebibytes[1]) << 20 if mebibytes else int(said["Size"])}
    seconds, hours = said.get("SmartPowerOnSeconds", ""), said.get("SmartPowerOnHours", "")
    if seconds.isdigit() or hours.isdigit():
        report["power_on_time"] = {"hours": int(hours) if hours.isdigit() else int(seconds) // 3600}
    passed = {"false": True, "true": False}.get(said.get("SmartFailing", ""))
    healthy = {"yes": True, "no": False}.get(said.get("SMART Disk Health Good", ""))
    if passed is not None or healthy is not None:
        report["smart_status"] = {"passed": healthy if passed is None else passed}
    return report | ({"ata_smart_attributes": {"table": attributes}} if attributes else {})


def _firmware(said: Mapping[str, str]) -> str:
    return said.get("Firmware") or said.get("Revision") or ""


def _attribute(number: int, level: int | None, threshold: int | None, raw: int) -> JsonObject:
    return {
        "id": number,
        "name": "",
        "value": level,
        "thresh": threshold,
        "raw": {"value": raw, "string": str(raw)},
    }


def _level(text: str) -> int | None:
    return int(text) if text.isdigit() else None
