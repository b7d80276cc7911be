"""One reading of a drive's health: `smartctl -j -x`, with the OCP log of nvme-cli beside it where there is one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError
from ssdlab.smart import vendor_log
from ssdlab.smart.counts import NVME_DATA_UNIT_BYTES, Count
from ssdlab.smart.families import Counter, Family, family_of

__all__ = ["NVME_DATA_UNIT_BYTES", "Count", "Reading", "load", "parse"]

_OCP_WRITTEN = "Physical media units written"
# nvme-cli's name, the one of its second output format, and that of the simulated drive's own log.
_OCP_NAMES = (_OCP_WRITTEN, "physical_media_units_written", "physical_media_units_written_bytes")


@dataclass(frozen=True)
class Reading:
    """What a drive said of itself. What it does not say is None, with a reason where that is a surprise."""

    model: str
    serial: str
    family: str | None
    time_s: int | None
    """Seconds since 1970, from the report."""
    power_on_hours: int | None
    capacity_bytes: int | None
    host: Count | None
    nand: tuple[Count, ...]
    """Their sum is what was programmed; empty when not available."""
    pages: tuple[Count, Count] | None
    """Pages programmed for the host, and in the background, where these are what the drive counts."""
    used_percent: int | None
    """NVMe's Percentage Used: 100 when the rated endurance is spent."""
    spare_percent: int | None
    temperature_c: int | None
    temperature_max_c: int | None
    """The drive's own limit: NVMe's critical composite temperature, SATA's recommended maximum; None if untold."""
    critical_warning: int | None
    """NVMe's bits; 0 when all is well. For SATA drives 1 when the overall health test failed."""
    reason: str | None
    """Why NAND writes are not available."""
    is_nvme: bool = False


def load(path: Path, ocp_path: Path | None = None) -> Reading:
    """Reads a report from a file. InputError names the file and what is wrong with it."""
    return parse(_json(path), str(path), _json(ocp_path) if ocp_path else None)


def parse(
    report: Mapping[str, Any],
    where: str,
    ocp: Mapping[str, Any] | None = None,
    vendor: Mapping[str, Any] | None = None,
) -> Reading:
    """Reads the JSON of `smartctl -j`; `ocp` is that of `nvme ocp smart-add-log -o json`, `vendor` that of the maker's
    own log (`vendor_log`)."""
    if "smartctl" not in report:
        raise InputError(f"{where}: is no report of `smartctl -j` (it has no key `smartctl`)")
    model = report.get("model_name") or report.get("scsi_model_name")
    if not model or ("ata_smart_attributes" not in report and "nvme_smart_health_information_log" not in report):
        said = "; ".join(entry.get("string", "") for entry in report["smartctl"].get("messages", ()))
        raise InputError(f"{where}: holds no SMART data{f' ({said})' if said else ''}; run smartctl -j -x as root")
    common = {
        "model": str(model),
        "serial": str(report.get("serial_number", "")),
        "time_s": report.get("local_time", {}).get("time_t"),
        "power_on_hours": report.get("power_on_time", {}).get("hours"),
        "capacity_bytes": report.get("user_capacity", {}).get("bytes") or report.get("nvme_total_capacity"),
        "temperature_c": report.get("temperature", {}).get("current"),
        "temperature_max_c": _temperature_max_c(report),
    }
    if "nvme_smart_health_information_log" in report:
        return _nvme(report["nvme_smart_health_information_log"], common, ocp, vendor, where)
    return _ata(report, common)


def _temperature_max_c(report: Mapping[str, Any]) -> int | None:
    """smartctl 7.4 and later tell NVMe's thresholds, in the controller's identification; SCT status has SATA's."""
    thresholds = report.get("nvme_composite_temperature_threshold", {})
    limit: int | None = thresholds.get("critical") or report.get("temperature", {}).get("op_limit_max")
    return limit


def _nvme(
    log: Mapping[str, Any],
    common: dict[str, Any],
    ocp: Mapping[str, Any] | None,
    vendor: Mapping[str, Any] | None,
    where: str,
) -> Reading:
    written = log.get("data_units_written")
    host = None if written is None else Count(written, NVME_DATA_UNIT_BYTES, "Data Units Written")
    nand: tuple[Count, ...] = ()
    reason = None
    if ocp is not None:
        nand = (Count(_ocp_written(ocp, where), 1, f"OCP C0h, {_OCP_WRITTEN}"),)
    elif vendor is not None:
        found = vendor_log.nand_writes(vendor, written)
        nand, reason = ((found,), None) if isinstance(found, Count) else ((), found)
    else:
        reason = "NVMe's health log counts only the host's writes; OCP's log (C0h) was not given"
    return Reading(
        **common,
        family=None,
        host=host,
        nand=nand,
        pages=None,
        used_percent=log.get("percentage_used"),
        spare_percent=log.get("available_spare"),
        critical_warning=log.get("critical_warning"),
        reason=reason,
        is_nvme=True,
    )


def _ocp_written(ocp: Mapping[str, Any], where: str) -> int:
    """A 128-bit number, which nvme-cli gives as two halves or as one."""
    value = next((ocp[name] for name in _OCP_NAMES if name in ocp), None)
    if isinstance(value, Mapping) and {"hi", "lo"} <= value.keys():
        return (int(value["hi"]) << 64) + int(value["lo"])
    if isinstance(value, int | str) and str(value).isdigit():
        return int(value)
    raise InputError(f"{where}: the OCP log has no {_OCP_WRITTEN!r}; give the JSON of `nvme ocp smart-add-log -o json`")


def _ata(report: Mapping[str, Any], common: dict[str, Any]) -> Reading:
    attributes = {
        (entry["id"], entry["name"]): int(entry["raw"]["value"]) for entry in report["ata_smart_attributes"]["table"]
    }
    model_family = report.get("model_family")
    family = family_of(model_family)
    host = _first(attributes, family.host) if family else None
    nand = next((way for each in family.nand if (way := _all(attributes, each))), ()) if family else ()
    pages = _pages(attributes, family) if family else None
    return Reading(
        **common,
        family=model_family,
        host=host,
        nand=nand,
        pages=pages,
        used_percent=None,
        spare_percent=None,
        critical_warning=int(report.get("smart_status", {}).get("passed") is False),
        reason=None if nand or pages else _reason(model_family, family),
    )


def _reason(model_family: str | None, family: Family | None) -> str:
    if model_family is None:
        return "smartctl does not know this model, so the meaning of its attributes is not known"
    if family is None:
        return f"the family {model_family!r} is not in the table of families"
    return f"drives of the family {model_family!r} do not count NAND writes, or this model does not"


def _first(attributes: Mapping[tuple[int, str], int], counters: tuple[Counter, ...]) -> Count | None:
    return next((_count(attributes, each) for each in counters if (each.id, each.name) in attributes), None)


def _all(attributes: Mapping[tuple[int, str], int], counters: tuple[Counter, ...]) -> tuple[Count, ...]:
    if any((each.id, each.name) not in attributes for each in counters):
        return ()
    return tuple(_count(attributes, each) for each in counters)


def _pages(attributes: Mapping[tuple[int, str], int], family: Family) -> tuple[Count, Count] | None:
    if family.pages is None:
        return None
    host, background = _first(attributes, (family.pages.host,)), _first(attributes, family.pages.background)
    return (host, background) if host and background else None


def _count(attributes: Mapping[tuple[int, str], int], counter: Counter) -> Count:
    name = f"{counter.id} {counter.name}"
    return Count(attributes[counter.id, counter.name], counter.unit_bytes, name, counter.assumed)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: is not JSON ({error}); run smartctl with -j") from None
