"""The logs of NVMe drives in which their makers count what was programmed into flash, as nvme-cli's plugins print them.

Most have Intel's form (CAh): NAND and host writes in one unit, often 32 MiB. NVMe's health log also has the host
writes, in a known unit. A unit is accepted only if the two counts of host writes agree, checked for each drive. Western
Digital's CAh and Micron's logs count bytes.

Names and forms are those of nvme-cli 1.x to 3 (plugins/intel, solidigm, memblaze, huawei, shannon, ymtc, dapustor, wdc,
sndk, micron, seagate) and of FreeBSD's nvmecontrol.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.hardware.smart.attributes import whole
from ssdlab.hardware.smart.counts import NVME_DATA_UNIT_BYTES, Count

_INTELS_UNIT_BYTES = 32 << 20
_UNITS_BYTES = (_INTELS_UNIT_BYTES, 1, 512, 1000, 1024, 512_000, 1 << 20, 10**9, 1 << 30)
_SHARE_MAX = 0.02
"""Largest relative difference of the two counts of host writes. One can start before formatting, and both are
rounded."""
_TICKS_MIN = 100
_DEPTH_MAX = 4

MODELS = {"INTEL ": "intel", "SOLIDIGM ": "solidigm"}
"""Prefixes of model names, and the nvme-cli plugin for each."""

# A name, then for Intel's form the key, the normalized value and `sectors:`, each of which can be missing.
_INTEL_LINE = r"^[ \t]*(?:0x[0-9a-f]+[ \t]+)?{name}[ \t]*:?[ \t]*(?:\d+%?[ \t]+){{0,2}}(?:sectors:[ \t]*)?(\d+)[ \t]*$"
_NAND_LINE = re.compile(_INTEL_LINE.format(name="nand_bytes_written"), re.MULTILINE | re.I)
_HOST_LINE = re.compile(_INTEL_LINE.format(name="host_bytes_written"), re.MULTILINE | re.I)
_VALUE = r"[ \t]*[-:]?[ \t]*(0x[0-9a-f]{1,32}|\d[\d,.']{0,50})(?:[ \t]+(\d{1,39}))?[ \t]*$"
_WDC_LINE = re.compile(rf"^[ \t]*NAND Bytes Written{_VALUE}", re.MULTILINE | re.I)
_LIFETIME_NAND_LINE = re.compile(rf"^[ \t]*Lifetime NAND Writes{_VALUE}", re.MULTILINE | re.I)
_LIFETIME_HOST_LINE = re.compile(rf"^[ \t]*Lifetime User Writes{_VALUE}", re.MULTILINE | re.I)
_MICRON_LINES = tuple(
    re.compile(rf"^[ \t]*{name}{_VALUE}", re.MULTILINE | re.I)
    for name in (
        r"NAND Writes \(Bytes Written\)",
        r"Physical Media Units Written - TLC",
        r"Physical Media Units Written - SLC",
    )
)
# Seagate's, in a unit that the host's writes prove: a number of the attribute can stand before the value.
_SEAGATE = "physical ({}) bytes written"
_SEAGATE_LINE = r"^[ \t]*physical \({}\) bytes written[ \t]+(?:\d+[ \t]+)?(0x[0-9a-f]{{1,32}})()[ \t]*$"
_SEAGATE_NAND, _SEAGATE_HOST = (
    re.compile(_SEAGATE_LINE.format(whose), re.MULTILINE | re.I) for whose in ("nand", "host")
)


@dataclass(frozen=True)
class MakerLog:
    """Counts of a maker's log. A unit of None must be proven by the host's writes."""

    name: str
    nand: int
    host: int | None = None
    unit_bytes: int | None = None


def command(model: str, path: str) -> tuple[str, ...] | None:
    """The command line that prints the log as JSON, or None for models of other makers."""
    plugin = next((plugin for start, plugin in MODELS.items() if model.upper().startswith(start)), None)
    if plugin is None:
        return None
    # The older plugin has a different switch for JSON.
    form = "--json" if plugin == "intel" else "--output-format=json"
    return ("nvme", plugin, "smart-log-add", path, form)


def first_object(text: str) -> Any:
    """The first JSON value of a text; some nvme-cli versions print a stray `/n` after it. Raises ValueError if there is
    none."""
    value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    return value


def of_json(value: Mapping[str, Any]) -> MakerLog | None:
    """The counts that are entries of a JSON object of one of the plugins; None for any other object."""
    found = dict(_entries(value))
    if "nand_bytes_written" in found:
        return MakerLog("CAh, nand_bytes_written", found["nand_bytes_written"], found.get("host_bytes_written"))
    if "nand bytes written lo" in found:
        high = found.get("nand bytes written hi", 0)
        return MakerLog("CAh, NAND Bytes Written", (high << 64) + found["nand bytes written lo"], None, 1)
    if "lifetime nand writes" in found:
        host = found.get("lifetime user writes")
        return MakerLog("D0h, Lifetime NAND Writes", found["lifetime nand writes"], host)
    if _SEAGATE.format("nand") in found:
        nand, host = (found.get(_SEAGATE.format(whose), 0) for whose in ("nand", "host"))
        return MakerLog("extended SMART, Physical (NAND) bytes written", nand, host or None)
    return _micron(
        *(
            found.get(name)
            for name in (
                "nand writes (bytes written)",
                "physical media units written - tlc",
                "physical media units written - slc",
            )
        )
    )


def of_text(text: str) -> MakerLog | None:
    """The counts in the text of one of the plugins; None if it has none."""
    nand, host = _NAND_LINE.search(text), _HOST_LINE.search(text)
    if nand:
        return MakerLog("CAh, nand_bytes_written", int(nand[1]), int(host[1]) if host else None)
    written = _number(_WDC_LINE.search(text))
    if written is not None:
        return MakerLog("CAh, NAND Bytes Written", written, None, 1)
    written = _number(_LIFETIME_NAND_LINE.search(text))
    if written is not None:
        return MakerLog("D0h, Lifetime NAND Writes", written, _number(_LIFETIME_HOST_LINE.search(text)))
    written = _number(_SEAGATE_NAND.search(text))
    if written is not None:
        return MakerLog("extended SMART, Physical (NAND) bytes written", written, _number(_SEAGATE_HOST.search(text)))
    return _micron(*(_number(line.search(text)) for line in _MICRON_LINES))


def counts(log: MakerLog, data_units_written: int | None) -> tuple[Count | None, Count] | str:
    """The counts of host and NAND writes, or the reason why they are not known. The host's is None where NVMe's health
    log has it."""
    if log.unit_bytes is not None:
        return None, Count(log.nand, log.unit_bytes, log.name)
    if log.host is None or log.host < _TICKS_MIN:
        return "too little was written to determine the unit of the vendor log"
    if data_units_written is None:
        assumed = "the unit of the maker's log is 32 MiB, as on Intel's drives"
        both = [Count(ticks, _INTELS_UNIT_BYTES, log.name, assumed) for ticks in (log.host, log.nand)]
        return both[0], both[1]
    written_bytes = data_units_written * NVME_DATA_UNIT_BYTES
    for unit_bytes in _UNITS_BYTES:
        if abs(log.host * unit_bytes - written_bytes) <= _SHARE_MAX * written_bytes:
            return None, Count(log.nand, unit_bytes, log.name)
    share = log.host * _INTELS_UNIT_BYTES / written_bytes if written_bytes else 0.0
    return (
        f"the maker's additional log counts {share:.2f} times the host writes of NVMe's health log, in steps of "
        "32 MiB: its unit on this model is unknown"
    )


def _micron(total: int | None, tlc: int | None, slc: int | None) -> MakerLog | None:
    """Micron's logs count bytes: all of them, or those in TLC and in SLC mode."""
    if total is not None:
        return MakerLog("D0h, NAND Writes", total, None, 1)
    if tlc is None:
        return None
    return MakerLog("C0h, Physical Media Units Written in TLC and SLC mode", tlc + (slc or 0), None, 1)


def within(value: Any, depth: int = 0) -> MakerLog | None:
    """The counts in a JSON object or in the objects that it holds, as some plugins print them."""
    if isinstance(value, Mapping) and (found := of_json(value)):
        return found
    if depth == _DEPTH_MAX or not isinstance(value, Mapping | list):
        return None
    entries = value.values() if isinstance(value, Mapping) else value
    return next((found for entry in entries if (found := within(entry, depth + 1))), None)


def _entries(value: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The numbers of an object by their names in lower case; of an entry with a raw value that."""
    for name, entry in value.items():
        raw = entry.get("raw") if isinstance(entry, Mapping) else entry
        number = _parsed(raw) if isinstance(raw, str) else whole(raw)
        if number is not None and number >= 0:
            yield str(name).strip().lower(), number


def _number(match: re.Match[str] | None) -> int | None:
    """The value of a line; of two numbers the upper and the lower 64 bits."""
    if match is None:
        return None
    first = _parsed(match[1])
    return (first << 64) + int(match[2]) if match[2] and first is not None else first


def _parsed(text: str) -> int | None:
    text = text.strip()
    if re.fullmatch(r"0x[0-9a-fA-F]{1,32}", text):
        return int(text, 16)
    digits = re.sub(r"(?<=\d)[,.'](?=\d{3})|(?<=[a-z]): ?", "", text).removeprefix("sectors").strip()
    return int(digits) if re.fullmatch(r"\d{1,39}", digits, re.ASCII) else None
