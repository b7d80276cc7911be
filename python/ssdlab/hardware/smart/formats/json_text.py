"""The reports and logs in a JSON value of smartctl, nvme-cli and other programs: an object, or several in arrays and
objects."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats import (
    megaraid,
    nvme_cli,
    prometheus_text,
    proxmox,
    scrutiny,
    servers,
    windows,
)

_DEPTH_MAX = 4
"""Greatest depth of a report inside other objects, for example an object of reports by device."""
# Shells' prompts begin with a bracket, too: `[root@host ~]# `, `[~] # `.
_BEGIN = re.compile(r"\s*[{\[]\s*(?:[\"{\[}\]]|\Z)")

# Programs other than smartctl and nvme-cli, in the order in which they are asked.
_OTHERS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], Iterator[JsonObject]]], ...] = (
    (scrutiny.is_object, scrutiny.reports),
    (windows.is_object, lambda value: iter((windows.report_of(value),))),
    (megaraid.is_object, lambda value: iter((megaraid.report_of(value),))),
    (proxmox.is_object, lambda value: iter((proxmox.report_of(value),))),
    (proxmox.is_disk, lambda value: iter((proxmox.report_of_disk(value),))),
    (servers.is_object, lambda value: iter((servers.report_of(value),))),
    (prometheus_text.is_answer, prometheus_text.reports_of_answer),
)


def begins(text: str) -> bool:
    """Whether a text begins as an object or array of JSON."""
    return _BEGIN.match(text) is not None


def parts_of(value: Any) -> Iterator[JsonObject]:
    """Reports of smartctl as they are, logs under the names that `nvme_cli` gives them, and others as reports."""
    for entry in _objects(value, 0):
        other = next((reports for is_object, reports in _OTHERS if is_object(entry)), None)
        if other:
            yield from other(entry)
        else:
            yield entry if "smartctl" in entry else nvme_cli.log_of(entry)


def _objects(value: Any, depth: int) -> Iterator[JsonObject]:
    """The reports in a value: the value itself, or those in its arrays and objects."""
    if isinstance(value, list):
        if _is_table(value):
            yield {"smartctl": {}, "device": {"protocol": "ATA"}, "ata_smart_attributes": {"table": value}}
            return
        for entry in value:
            yield from _objects(entry, depth)
    elif isinstance(value, dict):
        is_other = any(is_object(value) for is_object, _ in _OTHERS)
        if "smartctl" in value or is_other or nvme_cli.log_of(value):
            yield value
        elif isinstance(value.get("ssdlab"), Mapping) and isinstance(value["ssdlab"].get("smart"), dict):
            # The statistics of a served drive.
            yield value["ssdlab"]["smart"]
        elif depth < _DEPTH_MAX:
            for entry in value.values():
                if isinstance(entry, dict | list):
                    yield from _objects(entry, depth + 1)


def _is_table(value: list[Any]) -> bool:
    """Whether a list is the table of smartctl's attributes alone, as TrueNAS' `disk.smart_attributes` gives it."""
    keys = {"id", "name", "value", "raw"}
    return bool(value) and all(isinstance(each, dict) and each.keys() >= keys for each in value)
