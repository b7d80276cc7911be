"""Detects the format of reports by their content and converts them to one structure, that of smartctl's JSON.

Each format is one file here. `ssdlab.smart.reading` interprets the reports.
"""

import re
from collections.abc import Iterator

from ssdlab.errors import InputError
from ssdlab.foreign import JsonObject
from ssdlab.smart.formats import backblaze, json_text, nvme_cli, smartctl_text
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
    start = text[:_RECOGNISED_IN].lstrip()
    if start.startswith(("{", "[")):
        return json_text.reports(text, where)
    if backblaze.is_header(start):
        return backblaze.reports(text, where)
    if smartctl_text.is_report(text):
        return smartctl_text.reports(text)
    if nvme_cli.is_text(text):
        return nvme_cli.text_reports(text)
    raise InputError(f"{where}: is not a known report; allowed: {_ALLOWED}")
