"""Detects the format of reports by their content and converts them to one structure, that of smartctl's JSON.

Each format is one file here. `ssdlab.smart.reading` interprets the reports.
"""

import re
from collections.abc import Iterator

from ssdlab.errors import InputError
from ssdlab.foreign import JsonObject
from ssdlab.smart.formats import backblaze, json_variants, pasted
from ssdlab.smart.formats.cleaning import cleaned
from ssdlab.smart.formats.decoding import text_of

__all__ = ["recognised"]

_RECOGNISED_IN = 4096
"""Number of characters at the start of a text by which its format is detected."""
_ALLOWED = "smartctl -a, smartctl --json, nvme smart-log, nvme ocp smart-add-log, nvme fdp stats, Backblaze's CSV"
_BLANK = re.compile(r"\s*\Z")


def recognised(data: bytes, where: str) -> Iterator[JsonObject]:
    """The reports of a file's content in the structure of `smartctl --json`; none for a file with only a header.

    Raises InputError, which includes `where`, if the content has no known format or is malformed.
    """
    text = text_of(data)
    if text is None:
        raise InputError(f"{where}: is binary; allowed: {_ALLOWED}")
    if _BLANK.match(text):
        raise InputError(f"{where}: is empty")
    text = cleaned(text)
    if backblaze.is_header(text[:_RECOGNISED_IN].lstrip()):
        return backblaze.reports(text, where)
    return _or_said(pasted.reports(json_variants.as_json(text), where))


def _or_said(found: Iterator[JsonObject]) -> Iterator[JsonObject]:
    """The reports; to the error that there are none, what is allowed is added."""
    try:
        yield from found
    except InputError as error:
        raise InputError(
            f"{error}; allowed: {_ALLOWED}" if "not a known report" in str(error) else str(error)
        ) from None
