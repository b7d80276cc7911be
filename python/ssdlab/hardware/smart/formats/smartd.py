"""What smartd keeps: the attribute log (`attrlog.MODEL-SERIAL.ata.csv`), a history, and its state files.

Attributes have numbers but no names, so that their meaning depends on the model, which only the file's name says.
"""

import calendar
import re
import time
from collections.abc import Iterator

from ssdlab.foundation.foreign import JsonObject

_LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d);((?:[ \t]*\d{1,3};\d{1,3};\d+;)+)[ \t]*$", re.MULTILINE)
_TRIPLE = re.compile(r"(\d{1,3});(\d{1,3});(\d+);")
_STATE = re.compile(r"^ata-smart-attribute\.(\d+)\.(id|val|worst|raw)[ \t]*=[ \t]*(\d+)", re.MULTILINE)
_NAME = re.compile(r"(?:attrlog|smartd)\.(.+)-([^-/]+)\.(?:ata|scsi|nvme)\.(?:csv|state)")


def is_text(text: str) -> bool:
    """Whether a text is one of the files."""
    return _LINE.search(text) is not None or _STATE.search(text) is not None


def reports(text: str, where: str) -> Iterator[JsonObject]:
    """One report for each line of a log, or the report of a state. A last line without a line feed can be cut off."""
    # Only the file's own name: `where` can be a place in an archive.
    named = _NAME.search(where.rsplit("/", 1)[-1])
    drive: JsonObject = {"smartctl": {}, "device": {"protocol": "ATA"}, "identity": where}
    if named:
        drive |= {"model_name": named[1].replace("_", " "), "serial_number": named[2]}
    text = text[: text.rfind("\n") + 1]
    for stamp, triples in _LINE.findall(text):
        table = [_entry(int(number), int(level), int(raw)) for number, level, raw in _TRIPLE.findall(triples)]
        when = calendar.timegm(time.strptime(stamp, "%Y-%m-%d %H:%M:%S"))
        yield drive | {"ata_smart_attributes": {"table": table}, "local_time": {"time_t": when}}
    states: dict[str, dict[str, int]] = {}
    for index, key, value in _STATE.findall(text):
        states.setdefault(index, {})[key] = int(value)
    table = [_entry(state["id"], state.get("val"), state.get("raw")) for state in states.values() if "id" in state]
    if table:
        yield drive | {"ata_smart_attributes": {"table": table}}


def _entry(number: int, level: int | None, raw: int | None) -> JsonObject:
    return {"id": number, "name": "", "value": level, "raw": {"value": raw, "string": "" if raw is None else str(raw)}}
