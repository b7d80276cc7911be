"""Detects the format of reports by their content and converts them to one structure, that of smartctl's JSON.

Each format is one file here. `ssdlab.hardware.smart.reading` interprets the reports.
"""

import re
from collections.abc import Callable, Iterator

from ssdlab.errors import InputError
from ssdlab.foundation.decoding import text_of
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats import (
    backblaze,
    crystaldiskinfo,
    emmc,
    esxi,
    hdsentinel,
    intel_tool,
    json_text,
    json_variants,
    libatasmart,
    megaraid,
    pasted,
    prometheus_text,
    seachest,
    servers,
    sg_logs,
    smartctl_text,
    smartd,
    tables,
    telegraf,
    windows,
    wmic,
)
from ssdlab.hardware.smart.formats.cleaning import cleaned

__all__ = ["recognised"]

_RECOGNISED_IN = 4096
"""Number of characters at the start of a text by which the format of a table is detected."""
_ALLOWED = (
    "smartctl -a, smartctl --json, nvme smart-log, nvme ocp smart-add-log, nvme fdp stats, a maker's log, "
    "smartd's attrlog, the APIs of scrutiny and Proxmox VE, smartctl_exporter, CrystalDiskInfo, "
    "Get-StorageReliabilityCounter, mmc extcsd, storcli, ssacli, racadm, Redfish's Drive, openSeaChest -i, "
    "sg_logs -a, wmic diskdrive, skdump, udisks's attributes, esxcli, nvmecontrol, intelmas, msecli, Telegraf's lines, "
    "Hard Disk Sentinel's console, Backblaze's CSV"
)

# Lines of a program in another language: "Verfügbare Reserve: 100 %".
_FIGURE = re.compile(r"^[^\n:\t]{3,60}[:\t][^\n]*\d[ \u00a0]?(?:%|°?C\b|[GT][Bo]\b)", re.MULTILINE)
_FIGURES_MIN = 2
_IN_ENGLISH = (
    ", though it has figures of a drive. smartctl -x /dev/sdX and nvme smart-log /dev/nvmeX print them in English, "
    "whatever the language of the system; smartctl also runs on Windows and macOS"
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
    (libatasmart.is_text, libatasmart.reports),
    (hdsentinel.is_text, hdsentinel.reports),
    (telegraf.is_text, telegraf.reports),
    (intel_tool.is_text, intel_tool.reports),
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
    has_figures = len(_FIGURE.findall(text)) >= _FIGURES_MIN
    hint = _IN_ENGLISH if has_figures else ""
    return _or_table(pasted.reports(json_variants.as_json(text), where), text, hint)


def _or_table(found: Iterator[JsonObject], text: str, hint: str) -> Iterator[JsonObject]:
    """The reports; if there are none, those of another program's tables of attributes. To the error that there are none
    of these either, the hint and what is allowed are added."""
    try:
        yield from found
    except InputError as error:
        is_unknown = any(words in str(error) for words in ("not a known report", "not of a known program"))
        if is_unknown and tables.is_text(text):
            yield from tables.reports(text)
            return
        raise InputError(f"{error}{hint}; allowed: {_ALLOWED}" if is_unknown else str(error)) from None
