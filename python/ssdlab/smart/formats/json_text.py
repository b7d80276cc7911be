"""JSON of `smartctl --json` and of nvme-cli: one object, several in sequence, one per line, or an array of objects."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.errors import InputError
from ssdlab.foreign import JsonObject
from ssdlab.smart.formats import nvme_cli

_DEPTH_MAX = 4
"""Greatest depth of a report inside other objects, for example an object of reports by device."""


def reports(text: str, where: str) -> Iterator[JsonObject]:
    """The reports of a JSON text. Raises InputError if the text is not JSON or contains no report."""
    is_empty = True
    for report in nvme_cli.joined(_parts(text, where)):
        is_empty = False
        yield report
    if is_empty:
        raise InputError(f"{where}: is JSON, but not of a known program (smartctl --json, nvme smart-log)")


def _parts(text: str, where: str) -> Iterator[JsonObject]:
    for value in _values(text, where):
        for entry in _objects(value, 0):
            yield entry if "smartctl" in entry else nvme_cli.log_of(entry)


def _values(text: str, where: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    at, end = 0, len(text)
    while True:
        while at < end and text[at] in " \t\r\n,":
            at += 1
        if at == end:
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            # Some versions of nvme-cli print a stray "/n" after their JSON.
            if at and text[at:].strip() == "/n":
                return
            said = (
                error.msg if isinstance(error, json.JSONDecodeError) else "too deeply nested, or a number is too long"
            )
            line = text.count("\n", 0, getattr(error, "pos", at)) + 1
            raise InputError(f"{where}: line {line}: is not complete JSON ({said})") from None
        yield value


def _objects(value: Any, depth: int) -> Iterator[JsonObject]:
    """The reports in a value: the value itself, or those in its arrays and objects."""
    if isinstance(value, list):
        for entry in value:
            yield from _objects(entry, depth)
    elif isinstance(value, dict):
        if "smartctl" in value or nvme_cli.log_of(value):
            yield value
        elif isinstance(value.get("ssdlab"), Mapping) and isinstance(value["ssdlab"].get("smart"), dict):
            # The statistics of a served drive.
            yield value["ssdlab"]["smart"]
        elif depth < _DEPTH_MAX:
            for entry in value.values():
                if isinstance(entry, dict | list):
                    yield from _objects(entry, depth + 1)
