"""What Telegraf's plugin `smart` writes, in InfluxDB's line protocol: a line `smart_device` for each drive, a line
`smart_attribute` for each of its attributes, with smartctl's names.

NVMe's values are attributes without a number. Source: the README of Telegraf's plugins/inputs/smart. Of several
readings each is a report of its time.
"""

import re
from collections.abc import Iterator

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats.nvme_cli import HEALTH

_WORD = r"(?:[^\s,=\\\"]|\\.)"
_LINE = re.compile(
    rf"^(?:> )?smart_(device|attribute),((?:{_WORD}+={_WORD}*,?)+) (\S+=\S+)(?: (\d{{10,20}}))?[ \t]*$", re.MULTILINE
)
_PAIR = re.compile(rf"({_WORD}+)=({_WORD}*)")
_IDENTITY = {"model": "model_name", "serial_no": "serial_number"}
_LOG = {
    "critical_warning": "critical_warning",
    "available_spare": "available_spare",
    "available_spare_threshold": "available_spare_threshold",
    "percentage_used": "percentage_used",
    "data_units_written": "data_units_written",
    "media_and_data_integrity_errors": "media_errors",
    "power_on_hours": "power_on_hours",
    "power_cycle_count": "power_cycles",
}


def is_text(text: str) -> bool:
    """Whether a text has a line of the plugin."""
    return _LINE.search(text) is not None


def reports(text: str) -> Iterator[JsonObject]:
    """One report for each drive and time."""
    drives: dict[tuple[str, str, str], _Drive] = {}
    for kind, tags, fields, stamp in _LINE.findall(text):
        tagged = {name: re.sub(r"\\(.)", r"\1", value) for name, value in _PAIR.findall(tags)}
        # Attributes of one reading differ by milliseconds.
        at = (tagged.get("host", ""), tagged.get("device", ""), stamp[:10])
        drives.setdefault(at, _Drive(stamp[:10])).add(kind, tagged, dict(_PAIR.findall(fields)))
    for drive in drives.values():
        yield drive.report


class _Drive:
    """The lines of one drive at one time."""

    def __init__(self, seconds: str) -> None:
        self._time = {"local_time": {"time_t": int(seconds)}} if seconds else {}
        self._said: JsonObject = {}
        self._table: list[JsonObject] = []
        self._log: dict[str, int] = {}

    def add(self, kind: str, tags: dict[str, str], fields: dict[str, str]) -> None:
        """Adds the tags and fields of a line."""
        self._said |= {key: tags[tag] for tag, key in _IDENTITY.items() if tags.get(tag)}
        if tags.get("capacity", "").isdecimal():
            self._said["user_capacity"] = {"bytes": int(tags["capacity"])}
        if kind == "device" and "health_ok" in fields:
            self._said["smart_status"] = {"passed": fields["health_ok"] in ("true", "t", "T", "True", "TRUE")}
        temperature = _whole(fields.get("temp_c"))
        if temperature is not None:
            self._said["temperature"] = {"current": temperature}
        raw, number = _whole(fields.get("raw_value")), tags.get("id", "")
        key = _LOG.get(tags.get("name", "").lower())
        if number.isdecimal():
            levels = {name: _whole(fields.get(name)) for name in ("value", "worst")}
            level = {
                "id": int(number),
                "name": tags.get("name", ""),
                **levels,
                "thresh": _whole(fields.get("threshold")),
            }
            self._table.append(level | {"raw": {"value": raw, "string": "" if raw is None else str(raw)}})
        elif kind == "attribute" and key and raw is not None:
            self._log[key] = raw
        for name, key in _LOG.items():
            if kind == "device" and (value := _whole(fields.get(name))) is not None:
                self._log[key] = value

    @property
    def report(self) -> JsonObject:
        """The report; SATA drives have attributes with numbers, NVMe drives a log."""
        if self._table:
            table = {"device": {"protocol": "ATA"}, "ata_smart_attributes": {"table": self._table}}
            return {"smartctl": {}, **self._said, **self._time, **table}
        return {"smartctl": {}, **self._said, **self._time, "device": {"protocol": "NVMe"}, HEALTH: self._log}


def _whole(text: str | None) -> int | None:
    match = re.fullmatch(r"(-?\d{1,39})(?:\.0+)?[iu]?", text or "")
    return int(match[1]) if match else None
