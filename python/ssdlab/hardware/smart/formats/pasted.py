"""Reads a paste: reports of smartctl and logs of nvme-cli, as text and JSON, in any order and any number."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from ssdlab.errors import InputError
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats import json_text, nvme_cli, smartctl_text
from ssdlab.hardware.smart.formats.joining import joined

_JSON = re.compile(r"^[ \t]*(?=[{\[](?:[ \t]*$|[ \t]*[\"{\[]))", re.MULTILINE)
_BETWEEN = re.compile(r"(?:[ \t\r\n,]|/n)*")
# nvme-cli's own headings end a report of smartctl.
_OTHER = re.compile(
    r"^(?:Smart Log for NVME device|Endurance Group Log for|NVME Identify Controller)", re.MULTILINE | re.IGNORECASE
)


def reports(text: str, where: str) -> Iterator[JsonObject]:
    """The reports of a text. Raises InputError if it has none, or at the end if a JSON value in it is cut off."""
    errors: list[str] = []
    is_empty = True
    for report in joined(_parts(text, errors)):
        is_empty = False
        yield report
    if errors:
        raise InputError(f"{where}: {errors[0]}")
    if is_empty and json_text.begins(text):
        raise InputError(f"{where}: is JSON, but not of a known program")
    if is_empty:
        raise InputError(f"{where}: is not a known report")


def _parts(text: str, errors: list[str]) -> Iterator[JsonObject]:
    """The parts in order, up to a JSON value that is cut off, which is added to the errors."""
    decoder = json.JSONDecoder()
    at = 0
    while True:
        if not at or text[at : at + 1] not in ("{", "["):
            match = _JSON.search(text, at)
            yield from _text_parts(text[at : match.start() if match else None])
            if match is None:
                return
            at = match.end()
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            errors.append(_incomplete(text, at, error))
            return
        yield from json_text.parts_of(value)
        at = _next_value(text, end)


def _next_value(text: str, at: int) -> int:
    """The place after the commas and the stray "/n" that some versions of nvme-cli print after their JSON."""
    passed = _BETWEEN.match(text, at)
    return passed.end() if passed else at


def _incomplete(text: str, start: int, error: Exception) -> str:
    said = error.msg if isinstance(error, json.JSONDecodeError) else "too deeply nested, or a number is too long"
    # The decoder's sentences end where it would go on with the place.
    said = said.removesuffix(" at").removesuffix(" starting")
    line = text.count("\n", 0, getattr(error, "pos", start)) + 1
    return f"line {line}: is not complete JSON ({said})"


def _text_parts(text: str) -> Iterator[JsonObject]:
    # A last line without a line feed can be cut off within a number.
    text = text[: text.rfind("\n") + 1]
    beginnings = {*smartctl_text.starts(text), *smartctl_text.identities_without_start(text)}
    begins = sorted({0, *beginnings, *(match.start() for match in _OTHER.finditer(text)), len(text)})
    for part in (part for start, end in pairwise(begins) for part in _tables(text[start:end])):
        if _OTHER.match(part) or not smartctl_text.is_report(part):
            yield from nvme_cli.text_parts(part)
            continue
        yield smartctl_text.report_of(part)
        logs = nvme_cli.added_logs(part)
        if logs:
            yield logs


def _tables(text: str) -> Iterator[str]:
    """A report, divided where it has more than one table of attributes."""
    for start, end in pairwise((0, *smartctl_text.further_tables(text), len(text))):
        yield text[start:end]
