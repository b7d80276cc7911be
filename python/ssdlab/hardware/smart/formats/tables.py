"""Tables of attributes of other programs than smartctl: makers' tools (msecli, Samsung Magician), controllers' (Areca's
cli64), NetBSD's atactl, Checkmk's agent.

A table has a head that names a column for the number, one for the value, and others; columns are parted by two blanks,
a tab or a bar. Names are the programs' own, so that the meaning of a number depends on the model, where a line above
the table says it. The layouts were written without original outputs at hand.
"""

import re
from collections.abc import Iterator, Mapping

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats import smartctl_text

_PARTED = re.compile(r"[ \t]*\|[ \t]*|\t+|[ \t]{2,}")
_COLUMNS = {
    "value": re.compile(r"(?:current(?: value)?|cur|value|normalized(?: value)?)", re.I),
    "worst": re.compile(r"(?:worst|wor)(?: value)?", re.I),
    "thresh": re.compile(r"(?:threshold|thresh?|thr|thres)", re.I),
    "raw": re.compile(r"raw(?: ?(?:data|value|values?))?", re.I),
}
_ID = re.compile(r"(?:#|id#?)(?=$|[ \t])", re.I)
# NetBSD: " 177  81    0     no  online  positive    Wear Leveling Count         400".
_ATACTL = re.compile(
    r"^[ \t]*(\d{1,3})[ \t]+(\d{1,3})[ \t]+(\d{1,3})[ \t]+(?:yes|no)[ \t]+(?:online|offline)[ \t]+"
    r"(?:posi|nega)tive[ \t]+\S.*?[ \t]{2,}(\d{1,20})\b",
    re.MULTILINE,
)
# Checkmk's agent puts device, kind and model before each of smartctl's lines.
_CHECKMK = re.compile(
    r"^(/dev/\S+) (?:ATA|SAT)[ \t]+(\S+)[ \t]+(\d{1,3}[ \t]+\S+[ \t]+0x[0-9a-f]{4}[ \t].*)$", re.MULTILINE
)
_MODEL = re.compile(r"(?:Model(?: Name| Number| No\.?)?|Device Model)[ \t]*:[ \t]*([^|\n]*[^|\s])", re.I)
_SERIAL = re.compile(r"Serial(?: Number| No\.?)?[ \t]*:[ \t]*([^|\s]+)", re.I)


def is_text(text: str) -> bool:
    """Whether a text has such a table with at least one row."""
    return any(report["ata_smart_attributes"]["table"] for report in reports(text))


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each table, or for each drive of Checkmk's agent."""
    yield from _checkmk(text)
    said: JsonObject = {}
    head: list[str] | None = None
    table: list[JsonObject] = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in _PARTED.split(line.strip().strip("|").strip())]
        found = _head(cells)
        if found or _MODEL.search(line):
            if table:
                yield _report(said, table)
                said, table = {}, []
            head = found
        said |= _identity(line)
        if head and (entry := _entry(head, cells)):
            table.append(entry)
    rows = [
        _attribute(int(number), {"value": level, "thresh": low, "raw": raw})
        for number, level, low, raw in _ATACTL.findall(text)
    ]
    if table or rows:
        yield _report(said, table or rows)


def _checkmk(text: str) -> Iterator[JsonObject]:
    drives: dict[tuple[str, str], list[str]] = {}
    for device, model, line in _CHECKMK.findall(text):
        drives.setdefault((device, model), []).append(line)
    for (_, model), lines in drives.items():
        yield smartctl_text.report_of("\n".join(lines)) | {"model_name": model.replace("_", " ")}


def _head(cells: list[str]) -> list[str] | None:
    """The keys of the columns, `id` for the number and an empty text for others; None if the line is no head."""
    keys = [
        "id" if _ID.match(cell) else next((key for key, name in _COLUMNS.items() if name.fullmatch(cell)), "")
        for cell in cells
    ]
    return keys if keys[0] == "id" and "value" in keys and len(cells) > 2 else None


def _entry(head: list[str], cells: list[str]) -> JsonObject | None:
    """The attribute of a row: a number first, the name in its column or behind the number."""
    number = re.match(r"(?:0x([0-9a-fA-F]{1,2})|(\d{1,3}))(?=$|[ \t])", cells[0])
    if not number or len(cells) < len(head) - 1:
        return None
    values = {key: cell for key, cell in zip(head, cells, strict=False) if key}
    at = int(number[1], 16) if number[1] else int(number[2])
    return _attribute(at, values) if values.get("value", "").isdecimal() else None


def _attribute(number: int, values: Mapping[str, str]) -> JsonObject:
    entry: JsonObject = {"id": number, "name": ""}
    entry |= {key: int(text) for key in ("value", "worst", "thresh") if (text := values.get(key, "")).isdecimal()}
    raw = re.match(r"0x[0-9a-fA-F]{1,16}|\d{1,20}", values.get("raw", "").replace(",", ""))
    return entry | ({"raw": {"value": int(raw[0], 0), "string": str(int(raw[0], 0))}} if raw else {})


def _identity(line: str) -> JsonObject:
    model, serial = _MODEL.search(line), _SERIAL.search(line)
    return ({"model_name": model[1]} if model else {}) | ({"serial_number": serial[1]} if serial else {})


def _report(said: JsonObject, table: list[JsonObject]) -> JsonObject:
    return {"smartctl": {}, "device": {"protocol": "ATA"}, **said, "ata_smart_attributes": {"table": table}}
