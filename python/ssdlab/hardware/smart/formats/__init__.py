"""Detects the format of reports by their content and converts them to one structure, that of smartctl's JSON.

Each format is one file here. `ssdlab.hardware.smart.reading` interprets the reports.
"""

from collections.abc import Callable, Iterator

from ssdlab.errors import InputError
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats import (
    backblaze,
    crystaldiskinfo,
    emmc,
    esxi,
    json_text,
    json_variants,
    megaraid,
    pasted,
    prometheus_text,
    seachest,
    servers,
    sg_logs,
    smartctl_text,
    smartd,
    windows,
    wmic,
)
from ssdlab.hardware.smart.formats.cleaning import cleaned
from ssdlab.hardware.smart.formats.decoding import text_of

__all__ = ["recognised"]

_RECOGNISED_IN = 4096
"""Number of characters at the start of a text by which the format of a table is detected."""
_ALLOWED = (
    "smartctl -a, smartctl --json, nvme smart-log, nvme ocp smart-add-log, nvme fdp stats, a maker's log, "
    "smartd's attrlog, the APIs of scrutiny and Proxmox VE, smartctl_exporter, CrystalDiskInfo, "
    "Get-StorageReliabilityCounter, mmc extcsd, storcli, ssacli, racadm, Redfish's Drive, openSeaChest -i, "
    "sg_logs -a, wmic diskdrive, esxcli, Backblaze's CSV"
)

# Programs other than smartctl and nvme-cli, in the order in which they are looked for.
_OTHERS: tuple[tuple[Callable[[str], bool], Callable[[str], Iterator[JsonObject]]], ...] = (
    (prometheus_text.is_text, prometheus_text.reports),
    (crystaldiskinfo.is_text, crystaldiskinfo.reports),
    (megaraid.is_text, megaraid.reports),
    (esxi.is_text, esxi.reports),
    (emmc.is_text, emmc.reports),
    (windows.is_text, windows.reports),
    (seachest.is_text, seachest.reports),
    (servers.is_text, servers.reports),
    (sg_logs.is_text, sg_logs.reports),
    (wmic.is_text, wmic.reports),
)


def recognised(data: bytes, where: str) -> Iterator[JsonObject]:
    """The reports of a file's content in the structure of `smartctl --json`; none for a file with only a header.

    Raises InputError, which includes `where`, if the content has no known format or is malformed.
    """
    text = text_of(data)
    if text is None:
        raise InputError(f"{where}: is binary; allowed: {_ALLOWED}")
    if not text.strip():
        raise InputError(f"{where}: is empty")
    # Not cleaned: a day's file has a hundred megabytes, and nobody quotes it.
    if backblaze.is_header(text[:_RECOGNISED_IN].lstrip()):
        return backblaze.reports(text, where)
    text = cleaned(text)
    if not json_text.begins(text) and not smartctl_text.starts(text):
        if smartd.is_text(text):
            return smartd.reports(text, where)
        for is_text, reports in _OTHERS:
            if is_text(text):
                return reports(text)
    return _or_said(pasted.reports(json_variants.as_json(text), where))


def _or_said(found: Iterator[JsonObject]) -> Iterator[JsonObject]:
    """The reports; to the error that there are none, what is allowed is added."""
    try:
        yield from found
    except InputError as error:
        is_unknown = any(words in str(error) for words in ("not a known report", "not of a known program"))
        raise InputError(f"{error}; allowed: {_ALLOWED}" if is_unknown else str(error)) from None
