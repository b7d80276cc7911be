"""What smartd keeps: the attribute log (`attrlog.MODEL-SERIAL.ata.csv`, `attrlog.VENDOR-MODEL-SERIAL.scsi.csv`), a
history, and its state files.

The attributes of a SATA drive have numbers but no names, so that their meaning depends on the model, which only the
file's name says. The log of a SAS drive has its error counters by name, with what was written in 10^9 bytes, but not
how much of its life is used. smartd names no log of NVMe drives (smartd(8) of smartmontools 7.3, `--attributelog`).
Source: `write_dev_attrlog` in smartmontools' smartd.cpp.
"""

import calendar
import re
import time
from collections.abc import Iterator

from ssdlab.foundation.foreign import JsonObject

_LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d);((?:[ \t]*\d{1,3};\d{1,3};\d+;)+)[ \t]*$", re.MULTILINE)
_SAS_LINE = re.compile(
    r"^(\d{4}-\d\d-\d\d[ \t]\d\d:\d\d:\d\d);((?:[ \t]*[a-z-]+;\d+(?:\.\d+)?;)+)[ \t]*$", re.MULTILINE
)
_SAS_PAIR = re.compile(r"([a-z-]+);(\d+(?:\.\d+)?);")
_TRIPLE = re.compile(r"(\d{1,3});(\d{1,3});(\d+);")
_STATE = re.compile(r"^ata-smart-attribute\.(\d+)\.(id|val|worst|raw)[ \t]*=[ \t]*(\d+)", re.MULTILINE)
# The prefix is what smartd was given, `attrlog.` by default, and can be empty.
_NAME = re.compile(r"(?:attrlog[.-]|smartd[.-])?(.+)-([^-/]+)\.(ata|scsi|nvme)\.(?:csv|state)")


def is_text(text: str) -> bool:
    """Whether a text is one of the files."""
    return any(kind.search(text) for kind in (_LINE, _SAS_LINE, _STATE))


def reports(text: str, where: str) -> Iterator[JsonObject]:
    """One report for each line of a log, or the report of a state. A last line without a line feed can be cut off."""
    # Only the file's own name: `where` can be a place in an archive.
    named = _NAME.search(where.rsplit("/", 1)[-1])
    drive: JsonObject = {"smartctl": {}, "device": {"protocol": "ATA"}, "identity": where}
    if named:
        # The name of a SAS drive begins with its vendor's.
        name = named[1].replace("-", " ", 1) if named[3] == "scsi" else named[1]
        drive |= {"model_name": name.replace("_", " "), "serial_number": named[2]}
    text = text[: text.rfind("\n") + 1]
    for stamp, triples in _LINE.findall(text):
        table = [_entry(int(number), int(level), int(raw)) for number, level, raw in _TRIPLE.findall(triples)]
        yield drive | {"ata_smart_attributes": {"table": table}, "local_time": {"time_t": _seconds(stamp)}}
    for stamp, pairs in _SAS_LINE.findall(text):
        yield drive | _of_sas(dict(_SAS_PAIR.findall(pairs)), _seconds(stamp))
    states: dict[str, dict[str, int]] = {}
    for index, key, value in _STATE.findall(text):
        states.setdefault(index, {})[key] = int(value)
    table = [_entry(state["id"], state.get("val"), state.get("raw")) for state in states.values() if "id" in state]
    if table:
        yield drive | {"ata_smart_attributes": {"table": table}}


def _seconds(stamp: str) -> int:
    return calendar.timegm(time.strptime(stamp.replace("\t", " "), "%Y-%m-%d %H:%M:%S"))


def _of_sas(values: dict[str, str], time_s: int) -> JsonObject:
    """The report of a line of a SAS drive, with the names that smartctl's JSON has."""
    counters = {
        direction: {
            "gigabytes_processed": processed,
            "total_uncorrected_errors": int(values.get(f"{direction}-total-unc-errors", "0")),
        }
        for direction in ("read", "write", "verify")
        if (processed := values.get(f"{direction}-gb-processed")) is not None
    }
    report: JsonObject = {"device": {"protocol": "SCSI"}, "local_time": {"time_t": time_s}}
    report["scsi_error_counter_log"] = counters
    if "temperature" in values:
        report["temperature"] = {"current": int(values["temperature"])}
    return report


def _entry(number: int, level: int | None, raw: int | None) -> JsonObject:
    return {"id": number, "name": "", "value": level, "raw": {"value": raw, "string": "" if raw is None else str(raw)}}
