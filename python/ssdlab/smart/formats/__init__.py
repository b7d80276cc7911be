"""Reports as people keep them, recognised by what they hold, and brought into one shape: smartctl's own JSON.

A format is a file here. What a report means is not said here but in `ssdlab.smart.reading`.
"""

import re
from collections.abc import Iterator

from ssdlab.errors import InputError
from ssdlab.foreign import JsonObject
from ssdlab.smart.formats import backblaze, json_text, nvme_cli, smartctl_text
from ssdlab.smart.formats.decoding import text_of

__all__ = ["recognised"]

_RECOGNISED_IN = 4096
"""Characters: what a text is shows in its first ones."""
_ALLOWED = "smartctl -a, smartctl --json, nvme smart-log, nvme ocp smart-add-log, nvme fdp stats, Backblaze's CSV"
_BLANK = re.compile(r"\s*\Z")


def recognised(data: bytes, where: str) -> Iterator[JsonObject]:
    """The reports in a file's content, in the shape of `smartctl --json`; none in a file without any.

    Raises InputError, which names `where`, for what looks like a report and cannot be read as one, and for what does
    not look like one.
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
