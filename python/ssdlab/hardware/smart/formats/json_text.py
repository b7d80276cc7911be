"""The reports and logs in a JSON value of smartctl, nvme-cli and other programs: an object, or several in arrays and
objects."""

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats import megaraid, nvme_cli, proxmox, scrutiny, windows

_DEPTH_MAX = 4
"""Greatest depth of a report inside other objects, for example an object of reports by device."""


def parts_of(value: Any) -> Iterator[JsonObject]:
    """Reports of smartctl as they are, logs under the names that `nvme_cli` gives them, and others as reports."""
    for entry in _objects(value, 0):
        if scrutiny.is_object(entry):
            yield from scrutiny.reports(entry)
        elif windows.is_object(entry):
            yield windows.report_of(entry)
        elif megaraid.is_object(entry):
            yield megaraid.report_of(entry)
        elif proxmox.is_object(entry):
            yield proxmox.report_of(entry)
        else:
            yield entry if "smartctl" in entry else nvme_cli.log_of(entry)


def _objects(value: Any, depth: int) -> Iterator[JsonObject]:
    """The reports in a value: the value itself, or those in its arrays and objects."""
    if isinstance(value, list):
        for entry in value:
            yield from _objects(entry, depth)
    elif isinstance(value, dict):
        is_other = any(program.is_object(value) for program in (scrutiny, windows, megaraid, proxmox))
        if "smartctl" in value or is_other or nvme_cli.log_of(value):
            yield value
        elif isinstance(value.get("ssdlab"), Mapping) and isinstance(value["ssdlab"].get("smart"), dict):
            # The statistics of a served drive.
            yield value["ssdlab"]["smart"]
        elif depth < _DEPTH_MAX:
            for entry in value.values():
                if isinstance(entry, dict | list):
                    yield from _objects(entry, depth + 1)
