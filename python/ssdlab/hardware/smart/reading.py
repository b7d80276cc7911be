"""Parses a reading of a drive's health from a report with the structure of `smartctl --json`, whatever its source.

`formats` converts other programs' output to that structure; logs that smartctl lacks have additional keys.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from ssdlab.errors import InputError
from ssdlab.hardware.smart import default_names, signs, vendor_log, wear, writes
from ssdlab.hardware.smart.attributes import Attribute, attributes_of, statistics_of, whole
from ssdlab.hardware.smart.counts import NVME_DATA_UNIT_BYTES, Count
from ssdlab.hardware.smart.families import Family, Identity, family_by_names, family_of
from ssdlab.hardware.smart.formats.nvme_cli import FDP, GROUP, HEALTH, MAKER, OCP
from ssdlab.hardware.smart.plain import Plain, plain_of
from ssdlab.hardware.smart.signs import Signs
from ssdlab.hardware.smart.wear import Wear

__all__ = ["NVME_DATA_UNIT_BYTES", "Count", "Reading", "load", "parse"]

TEMPERATURE_MAX_C = 70
"""Limit for a drive that reports none: the operating maximum that makers specify for most client drives."""

# NVM Express Base Specification 2.0, figure 207: the bits of Critical Warning.
_WARNINGS = {
    0x01: "the spare area is below its threshold",
    0x02: "a temperature is beyond its threshold",
    0x04: "its reliability is degraded",
    0x08: "the media are read-only",
    0x10: "the backup of its volatile memory has failed",
    0x20: "its persistent memory region is read-only or unreliable",
}
_OCP_WRITTEN = "Physical media units written"
# nvme-cli's name, the name in its second output format, and the name in the simulated drive's log.
_OCP_NAMES = (_OCP_WRITTEN, "physical_media_units_written", "physical_media_units_written_bytes")
IDENTITY = "identity"
"""The key of a name that the reports of a drive without a serial number share."""
_SCSI_USED = "scsi_percentage_used_endurance_indicator"
_SCSI_ERRORS = "scsi_error_counter_log"
_SCSI_SELF_TEST = "scsi_self_test_0"
_GB = 10**9
"""The unit of NVMe's endurance group information and of SCSI's error counters."""
_HOURS_MAX = 175_000
"""Greatest accepted number of hours, 20 years; some firmware starts to count far above 0."""
_TEXT_CHARACTERS_MAX = 80
_TEMPERATURES = (194, 190)
"""The numbers of the temperature attributes; the second is often the air temperature."""
_HOT_C = 120
# Clocks that were not set begin in 1970 or 2000; smartmontools began in October 2002.
_TIME_MIN_S, _TIME_MAX_S = 1_033_430_400, 1 << 40
_CAPACITY_MAX_BYTES = 1 << 60
_TEMPERATURES_C = (-100, 1000)
_EMPTY_LOG = (
    "Every value of its health log is 0: it is a volume of a cloud or of a virtual machine, which has no health of its "
    "own, or the drive did not answer."
)
_ERASED_SERIALS = {"REDACTED", "UNKNOWN", "NONE", "N/A", "[NO INFORMATION FOUND]"}


class _Common(TypedDict):
    """Values that drives of every protocol report, by the names of `Reading`."""

    model: str
    serial: str
    time_s: int | None
    temperature_c: int | None
    temperature_max_c: int | None
    identity: str


@dataclass(frozen=True)
class Reading:
    """The health data of one report. Values that the drive does not report are None, NAND writes with a reason."""

    model: str
    """Empty if the report does not contain it."""
    serial: str
    """Empty if it was removed from the report."""
    family: str | None
    time_s: int | None
    """Time of the report in seconds since 1970."""
    power_on_hours: int | None
    capacity_bytes: int | None
    host: Count | None
    nand: tuple[Count, ...]
    """Counters whose sum is the programmed data; empty if not available."""
    pages: tuple[Count, Count] | None
    """Pages programmed for the host and in the background, if the drive counts these, otherwise None."""
    wear: Wear
    signs: Signs
    temperature_c: int | None
    temperature_max_c: int | None
    """The drive's limit: NVMe's critical composite temperature, SATA's recommended maximum; None if not reported."""
    reason: str | None
    """The reason why NAND writes are not available, or None."""
    protocol: str = "ATA"
    """`ATA`, `NVMe`, `SCSI`, `MMC`, `UFS`, or empty if the report does not say it."""
    is_disk: bool = False
    """Whether it has rotating platters."""
    reduces_data: bool = False
    """Whether its controller is known to store less than the host writes."""
    attributes_read_as: str | None = None
    """The family of ssdlab's table whose attributes a drive's are read as, and what says so; None if smartctl's
    database knows the drive, or nothing does."""
    attributes_doubt: str | None = None
    """Why the attributes have no meaning by themselves, or None if they have."""
    attributes_unknown: tuple[int, ...] = ()
    """Numbers of attributes whose meaning neither smartctl nor ssdlab knows."""
    remark: str | None = None
    """What a reader must know of the report, as a sentence."""
    identity: str = ""
    """What the reports of one drive have in common: the serial number, or the file of a history without one."""

    @property
    def is_nvme(self) -> bool:
        return self.protocol == "NVMe"

    @property
    def used_percent(self) -> int | None:
        """Percentage of the rated endurance that is used; it can exceed 100."""
        return self.wear.used_percent

    @property
    def spare_percent(self) -> int | None:
        return self.wear.spare_percent

    @property
    def critical_warning(self) -> int | None:
        """NVMe's warning bits, 0 without warnings. For SATA drives 1 if the overall health test failed."""
        return self.signs.critical_warning


def warnings_of(reading: Reading) -> list[str]:
    """The drive's warnings in words; empty without warnings."""
    return warning_words(reading.critical_warning, reading.protocol)


def warning_words(critical_warning: int | None, protocol: str) -> list[str]:
    """The bits of NVMe's Critical Warning, or a SATA or SAS drive's own verdict, in words."""
    if not critical_warning:
        return []
    if protocol == "SCSI":
        return ["it predicts its failure"]
    if protocol != "NVMe":
        return ["its self-assessment test has failed"]
    return [words for bit, words in _WARNINGS.items() if critical_warning & bit] or [f"bits {critical_warning:#x}"]


def limit_c(reading: Reading) -> int:
    """The drive's temperature limit, or a typical one if it reports none."""
    return TEMPERATURE_MAX_C if reading.temperature_max_c is None else reading.temperature_max_c


def load(path: Path, ocp_path: Path | None = None) -> Reading:
    """Reads a report from a file. Raises InputError, with the file and the problem."""
    return parse(_json(path), str(path), _json(ocp_path) if ocp_path else None)


def parse(
    report: Mapping[str, Any],
    where: str,
    ocp: Mapping[str, Any] | None = None,
    vendor: Mapping[str, Any] | None = None,
) -> Reading:
    """Parses a report with smartctl's structure. `ocp` is the output of `nvme ocp smart-add-log -o json`, `vendor` that
    of the maker's log (`vendor_log`). Raises InputError if there is no SMART data."""
    plain = plain_of(report)
    if "smartctl" not in report:
        raise InputError(f"{where}: is not a report of `smartctl -j` (it has no key `smartctl`)")
    ocp = ocp if ocp is not None else _mapping(report.get(OCP)) or None
    is_nvme = ocp is not None or any(isinstance(report.get(log), Mapping) for log in (HEALTH, FDP, GROUP, MAKER))
    model = _text(report.get("model_name") or report.get("scsi_model_name"))
    is_scsi = _SCSI_USED in report or _SCSI_ERRORS in report or _mapping(report.get("device")).get("protocol") == "SCSI"
    # Logs and attributes that were copied without the drive's name are a report of an unnamed drive.
    has_scsi_log = any(log in report for log in (_SCSI_USED, _SCSI_ERRORS, _SCSI_SELF_TEST))
    has_log = has_scsi_log or (model and ("ata_smart_attributes" in report or is_scsi))
    if not (plain or is_nvme or has_log or attributes_of(report)):
        raise InputError(
            f"{where}: contains no SMART data{_messages(report)}; run smartctl -x as root, with the option -d that a "
            "drive behind a USB adapter or a RAID controller needs"
        )
    common: _Common = {
        "model": model,
        "serial": _serial(report),
        "time_s": _within(_mapping(report.get("local_time")).get("time_t"), _TIME_MIN_S, _TIME_MAX_S),
        "temperature_c": _within(_mapping(report.get("temperature")).get("current"), *_TEMPERATURES_C),
        "temperature_max_c": _temperature_max_c(report),
        "identity": _serial(report) or _text(report.get(IDENTITY)),
    }
    if plain:
        return _plain(report, common, plain)
    if is_nvme:
        return _nvme(report, common, ocp, vendor, where)
    return _scsi(report, common) if is_scsi and "ata_smart_attributes" not in report else _ata(report, common)


def _messages(report: Mapping[str, Any]) -> str:
    messages = _mapping(report["smartctl"]).get("messages")
    said = "; ".join(str(_mapping(entry).get("string", "")) for entry in messages or ())
    return f" ({said})" if said else ""


def _serial(report: Mapping[str, Any]) -> str:
    """The serial number; empty if it was redacted, because a shared placeholder must not merge several drives into
    one."""
    serial = _text(report.get("serial_number"))
    letters = {letter for letter in serial if letter.isalnum()}
    is_erased = serial.upper() in _ERASED_SERIALS or len(serial) < 2 or not letters or letters <= set("Xx0")
    return "" if is_erased else serial


def _temperature_max_c(report: Mapping[str, Any]) -> int | None:
    """The temperature limit. smartctl 7.4 and later report NVMe's thresholds; SCT status has SATA's."""
    temperature = _mapping(report.get("temperature"))
    thresholds = _mapping(report.get("nvme_composite_temperature_threshold"))
    limits = (thresholds.get("critical"), temperature.get("op_limit_max"), temperature.get("drive_trip"))
    return next((limit for value in limits if (limit := _within(value, 1, _TEMPERATURES_C[1]))), None)


def _capacity(report: Mapping[str, Any], *keys: str) -> int | None:
    """The capacity of the whole drive; a namespace can cover less."""
    for key in keys:
        value = report.get(key)
        found = whole(value.get("bytes")) if isinstance(value, Mapping) else whole(value)
        if found and 0 < found < _CAPACITY_MAX_BYTES:
            return found
    return None


def _hours(report: Mapping[str, Any]) -> int | None:
    return _within(_mapping(report.get("power_on_time")).get("hours"), 0, _HOURS_MAX)


def _nvme(
    report: Mapping[str, Any],
    common: _Common,
    ocp: Mapping[str, Any] | None,
    vendor: Mapping[str, Any] | None,
    where: str,
) -> Reading:
    log, placed, group = (_mapping(report.get(name)) for name in (HEALTH, FDP, GROUP))
    is_empty = _is_empty(log)
    if is_empty:
        log = {}
    written = whole(log.get("data_units_written"))
    host = None if written is None else Count(written, NVME_DATA_UNIT_BYTES, "Data Units Written")
    nand: tuple[Count, ...] = ()
    reason = None
    if ocp is not None:
        nand = (Count(_ocp_written(ocp, where), 1, f"OCP C0h, {_OCP_WRITTEN}"),)
        reason = None if host else "OCP's log counts only NAND writes; NVMe's health log was not given in the same file"
    elif whole(placed.get("hbmw")) and whole(placed.get("mbmw")):
        # Both start at the configuration of the endurance group; the drive's own count can start earlier.
        host, nand = Count(placed["hbmw"], 1, "FDP, HBMW"), (Count(placed["mbmw"], 1, "FDP, MBMW"),)
    elif whole(group.get("data_units_written")) and whole(group.get("media_units_written")):
        # A drive that does not count reports 0.
        host = Count(group["data_units_written"], _GB, "endurance group, Data Units Written")
        nand = (Count(group["media_units_written"], _GB, "endurance group, Media Units Written"),)
    elif (counted := _counted_by_maker(report, vendor, written)) is not None:
        if isinstance(counted, str):
            reason = counted
        else:
            host, nand = host or counted[0], (counted[1],)
            reason = (
                None if host else "the log counts only NAND writes; NVMe's health log was not given in the same file"
            )
    else:
        reason = (
            "NVMe's health log counts only the host's writes, and there is no log beside it that counts the flash's"
        )
    hours = _within(log.get("power_on_hours"), 0, _HOURS_MAX)
    if common["temperature_c"] is None:
        common["temperature_c"] = _within(log.get("temperature"), *_TEMPERATURES_C)
    return Reading(
        **common,
        family=None,
        capacity_bytes=_capacity(report, "nvme_total_capacity", "user_capacity"),
        power_on_hours=_hours(report) if hours is None and not is_empty else hours,
        host=host,
        nand=nand,
        pages=None,
        wear=wear.of_nvme(log if log else wear.as_health_log(group)),
        signs=signs.of_nvme(report, log),
        reason=reason,
        protocol="NVMe",
        remark=_EMPTY_LOG if is_empty else None,
    )


def _is_empty(log: Mapping[str, Any]) -> bool:
    """Whether NVMe's health log has nothing but zeroes. A drive that has done nothing yet has spare blocks."""
    is_whole = "available_spare" in log and "power_on_hours" in log
    return is_whole and not any(value for name, value in log.items() if "temperature" not in name and name != "nsid")


def _counted_by_maker(
    report: Mapping[str, Any], vendor: Mapping[str, Any] | None, written: int | None
) -> tuple[Count | None, Count] | str | None:
    """The counts of a maker's log, or why they are not known; None if there is no such log."""
    if vendor is not None:
        log = vendor_log.within(vendor)
        return vendor_log.counts(log, written) if log else "the vendor log has no counts of NAND and host writes"
    found = report.get(MAKER)
    return vendor_log.counts(vendor_log.MakerLog(**found), written) if isinstance(found, dict) else None


def _ocp_written(ocp: Mapping[str, Any], where: str) -> int:
    """A 128-bit number, which nvme-cli prints as two halves or as one number. Raises InputError if there is none."""
    value = next((ocp[name] for name in _OCP_NAMES if name in ocp), None)
    if isinstance(value, Mapping) and {"hi", "lo"} <= value.keys():
        high, low = whole(value["hi"]), whole(value["lo"])
        if high is not None and low is not None:
            return (high << 64) + low
    if isinstance(value, int | str) and str(value).isdigit():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        # Older versions print it as a float.
        return int(value)
    raise InputError(f"{where}: the OCP log has no {_OCP_WRITTEN!r}; give the JSON of `nvme ocp smart-add-log -o json`")


def _ata(report: Mapping[str, Any], common: _Common) -> Reading:
    attributes, statistics = attributes_of(report), statistics_of(report)
    model_family = _text(report.get("model_family")) or None
    is_known = _is_known(report, model_family, attributes)
    doubt = None if is_known else _doubt(report, common["model"], attributes)
    if not is_known:
        attributes = default_names.without_defaults(attributes)
    identity = Identity(model_family, common["model"], _text(report.get("firmware_version")), _oui(report))
    named = ((each.id, each.name) for each in attributes if not default_names.is_default(each))
    family, taken_from = family_of(identity) or family_by_names(named) or (None, None)
    sector_bytes = _within(report.get("logical_block_size"), 1, 1 << 20) or 512
    counted = writes.of(attributes, statistics, sector_bytes, model_family, family)
    hours = next((each.raw for each in attributes if each.id == 9), None)
    if common["temperature_c"] is None:
        common["temperature_c"] = _attribute_temperature_c(attributes)
    hours_reported = _hours(report)
    if hours_reported is None:
        hours_reported = statistics.get("Power-on Hours") if hours is None else hours
    return Reading(
        **common,
        family=model_family,
        capacity_bytes=_capacity(report, "user_capacity"),
        power_on_hours=_within(hours_reported, 0, _HOURS_MAX),
        host=counted.host,
        nand=counted.nand,
        pages=counted.pages,
        wear=wear.of_ata(report, attributes, statistics, family),
        signs=signs.of_ata(report, attributes),
        reason=counted.reason,
        is_disk=bool(whole(report.get("rotation_rate"))),
        reduces_data=family is not None and family.reduces_data,
        attributes_read_as=f"{family.name}, by {taken_from}" if family and not is_known else None,
        attributes_doubt=doubt,
        attributes_unknown=() if is_known else _unknown(attributes, family, counted.host),
    )


def _is_known(report: Mapping[str, Any], model_family: str | None, attributes: Sequence[Attribute]) -> bool:
    """Whether smartctl's database knows the drive, so that all names of its attributes have a meaning."""
    said = report.get("in_smartctl_database")
    if model_family or isinstance(said, bool):
        return bool(model_family or said)
    return any(not default_names.is_default(each) for each in attributes)


def _doubt(report: Mapping[str, Any], model: str, attributes: Sequence[Attribute]) -> str:
    if not any(each.name for each in attributes):
        return "the report has no names of attributes"
    if not model:
        return "the report does not say what drive it is of"
    if "in_smartctl_database" not in report and not _mapping(report.get("smartctl")).get("version"):
        return "the report does not say whether smartctl's database knows the drive"
    return "smartctl's database does not know the drive"


def _unknown(attributes: Sequence[Attribute], family: Family | None, host: Count | None) -> tuple[int, ...]:
    known = {*default_names.ALIKE, *(counter.id for counter in (family.counters if family else ()))}
    read = host.attribute.split(" ")[0] if host else ""
    return tuple(sorted({each.id for each in attributes if not each.name and each.id not in known} - {_id(read)}))


def _id(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _oui(report: Mapping[str, Any]) -> int | None:
    return whole(_mapping(report.get("wwn")).get("oui"))


def _attribute_temperature_c(attributes: Sequence[Attribute]) -> int | None:
    found = {each.id: each.raw for each in attributes if each.raw is not None and 0 < each.raw < _HOT_C}
    return next((found[number] for number in _TEMPERATURES if number in found), None)


def _scsi(report: Mapping[str, Any], common: _Common) -> Reading:
    processed = _mapping(_mapping(report.get(_SCSI_ERRORS)).get("write")).get("gigabytes_processed")
    used = _within(report.get(_SCSI_USED), 0, wear.USED_MAX)
    return Reading(
        **common,
        family=None,
        capacity_bytes=_capacity(report, "user_capacity"),
        power_on_hours=_hours(report),
        host=_processed(processed),
        nand=(),
        pages=None,
        wear=Wear(used, None if used is None else "Percentage used endurance indicator"),
        signs=signs.of_scsi(report),
        reason="SCSI's logs do not count NAND writes",
        protocol="SCSI",
        is_disk=bool(whole(report.get("rotation_rate"))),
    )


def _plain(report: Mapping[str, Any], common: _Common, plain: Plain) -> Reading:
    host, nand = plain.host_bytes, plain.nand_bytes
    return Reading(
        **common,
        family=None,
        capacity_bytes=_capacity(report, "user_capacity"),
        power_on_hours=_hours(report),
        host=None if host is None else Count(host, 1, plain.host_source),
        nand=() if nand is None else (Count(nand, 1, plain.host_source),),
        pages=None,
        wear=Wear(plain.used_percent, plain.used_source, plain.spare_percent, None, plain.used_percent_max),
        signs=signs.of_plain(report, plain),
        reason=None if nand is not None else "the report does not count NAND writes",
        protocol=_text(_mapping(report.get("device")).get("protocol")),
        is_disk=bool(whole(report.get("rotation_rate"))),
        remark=plain.remark,
    )


def _processed(text: Any) -> Count | None:
    """SCSI's error counters give gigabytes (10^9) to three decimal places."""
    try:
        return Count(round(float(text) * 1000), _GB // 1000, "error counter log, gigabytes processed")
    except (TypeError, ValueError, OverflowError):
        return None


def _within(value: Any, low: int, high: int) -> int | None:
    """The value if it is an integer in the plausible range, otherwise None."""
    found = whole(value)
    return found if found is not None and low <= found <= high else None


def _text(value: Any) -> str:
    """Text from a drive made safe for terminals and pages: without control characters, and truncated."""
    plain = "".join(letter if letter.isprintable() else " " for letter in str(value or ""))
    return " ".join(plain.split())[:_TEXT_CHARACTERS_MAX]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: is not JSON ({error}); run smartctl with -j") from None
