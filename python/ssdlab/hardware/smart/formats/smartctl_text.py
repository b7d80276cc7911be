"""Converts the text of `smartctl -a` and `smartctl -x`, of any version and locale, to the structure of smartctl's JSON.

Of a report that was cut off, all complete lines are read; a last line without a line feed is skipped.
"""

import calendar
import re
import time
from itertools import pairwise

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.formats.grouped_numbers import whole_at_start

_START = re.compile(r"^smartctl (?:version )?(\d+)\.(\d+)", re.MULTILINE)
_SECTION = re.compile(r"^=== START OF (?:INFORMATION|READ SMART DATA|SMART DATA) SECTION ===", re.MULTILINE)
# A SAS drive's used share of its life. Versions of smartctl differ in the name.
_SCSI_USED = ("Percentage used endurance indicator", "SS Media used endurance indicator")
_NAMED = re.compile(
    r"^(?:(?:Device Model|Model Number):[ \t]+\S|Vendor:[ \t]+\S.*\nProduct:[ \t]+\S.*\nRevision:|"
    rf"(?:{'|'.join(_SCSI_USED)}):)",
    re.MULTILINE,
)
_IDENTITY = re.compile(
    r"^(?:=== START OF INFORMATION SECTION ===[ \t\r]*\n)?(?:Model Family:.*\n)?"
    r"(?:Device Model|Model Number|Vendor):[ \t]+\S",
    re.MULTILINE,
)
_INFO = re.compile(r"^([A-Z][A-Za-z0-9 ./#%-]{2,60}?)(?: is)?:[ \t]+(\S.*)$", re.MULTILINE)
# Matches the brief form (FLAGS as letters) and the old one (a number, TYPE, UPDATED), each also in hexadecimal (`-f
# hex`).
_ATTRIBUTE = re.compile(
    r"^[ \t]*(0x[0-9a-f]{2}|\d{1,3})[ \t]+(\S+(?: \S+)*?)[ \t]+(?:0x[0-9a-f]{4}|[POSRCK-]{6}\+?)"
    r"[ \t]+(\d{3}|0x[0-9a-f]{2}|---)[ \t]+(\d{3}|0x[0-9a-f]{2}|---)[ \t]+(\d{3}|0x[0-9a-f]{2}|---)[ \t]+"
    r"(?:(?:Pre-fail|Old_age)[ \t]+(?:Always|Offline)[ \t]+)?"
    r"(-|NOW|Past|FAILING_NOW|In_the_past)[ \t]+(\S.*)$",
    re.MULTILINE,
)
_TABLE_HEAD = re.compile(r"\bID#[ \t]+ATTRIBUTE_NAME")
_STATISTIC = re.compile(
    r"^ {0,2}(?:0x)?[0-9a-f]{1,2} +0x[0-9a-f]{3} +\d +(-?\d{1,39})~? +(?:[VNDC+~-]{3,4} +)?([A-Z]\S.*)$", re.MULTILINE
)
_FAILED = {"NOW": "now", "FAILING_NOW": "now", "Past": "past", "In_the_past": "past"}
_PROCESSED = re.compile(r"^(read|write|verify): +(.+)$", re.MULTILINE)
_HOURS = re.compile(r"(?:number of hours powered up|Accumulated power on time, hours:minutes)[ =:]*(\d{1,12})")
_ERASED = "--"
# The newest entry of the log of self-tests, if the test failed.
_TEST_FAILED = re.compile(
    r"^# ?1[ \t]+\S.*?[ \t]((?:Completed: (?:\S+ failure|handling damage\?\?))|Fatal or unknown error)[ \t]",
    re.MULTILINE,
)
_NVME_TEST_RESULTS = (
    "Fatal or unknown test error",
    "Completed: unknown failed segment",
    "Completed: failed segments",
)
_NVME_TEST_FAILED = re.compile(
    rf"^Num[ \t]+Test_Description.*Power_on_Hours.*\n[ \t]*0[ \t]+\S+[ \t]+({'|'.join(_NVME_TEST_RESULTS)})[ \t]",
    re.MULTILINE,
)
# Entries of the log of self-tests of SCSI, newest first, and the results of failed ones from 3 on (SPC-3, 7.2.10).
_SCSI_TEST = re.compile(
    r"^# ?\d+[ \t]+(?:Default|Background \w+|Foreground \w+|Abort background|Reserved\(\d\))[ \t]+"
    r"(\S.*?)(?:[ \t]{2,}|$)",
    re.MULTILINE,
)
_SCSI_TEST_RESULTS = (
    "Unknown error, incomplete",
    "Completed, segment failed",
    "Failed in first segment",
    "Failed in second segment",
    "Failed in segment -->",
)
# What smartctl says when it reads nothing.
_FAILURE = re.compile(
    r"^(?:/dev/\S+: |Smartctl open device: |Read |SMART support is: +Unavailable|Please specify device type).*$",
    re.MULTILINE,
)

# Abbreviations of the time zone database. CST and IST, which are of several zones, and CDT, which changes with CST, are
# left out.
_ZONES_HOURS = {
    **{
        "UTC": 0,
        "GMT": 0,
        "WET": 0,
        "WEST": 1,
        "BST": 1,
        "CET": 1,
        "CEST": 2,
        "EET": 2,
        "EEST": 3,
        "MSK": 3,
        "SAST": 2,
    },
    **{"EST": -5, "EDT": -4, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10},
    **{"WIB": 7, "HKT": 8, "AWST": 8, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13},
}

# smartctl's labels, and the keys of NVMe's health log in its JSON.
_HEALTH = {
    "Critical Warning": "critical_warning",
    "Temperature": "temperature",
    "Available Spare": "available_spare",
    "Available Spare Threshold": "available_spare_threshold",
    "Percentage Used": "percentage_used",
    "Data Units Read": "data_units_read",
    "Data Units Written": "data_units_written",
    "Host Read Commands": "host_reads",
    "Host Write Commands": "host_writes",
    "Controller Busy Time": "controller_busy_time",
    "Power Cycles": "power_cycles",
    "Power On Hours": "power_on_hours",
    "Unsafe Shutdowns": "unsafe_shutdowns",
    "Media and Data Integrity Errors": "media_errors",
    "Error Information Log Entries": "num_err_log_entries",
    "Warning  Comp. Temperature Time": "warning_temp_time",
    "Critical Comp. Temperature Time": "critical_comp_time",
}


def is_report(text: str) -> bool:
    """Whether smartctl printed the text, with or without its first lines."""
    return any(begin.search(text) for begin in (_START, _SECTION, _ATTRIBUTE, _NAMED))


def starts(text: str) -> list[int]:
    """Where the reports of a text begin."""
    return [match.start() for match in _START.finditer(text)]


def identities_without_start(text: str) -> list[int]:
    """Where a further drive's identity begins without smartctl's first line above it, as people leave it out."""
    found = [match.start() for match in _IDENTITY.finditer(text)]
    first_lines = starts(text)
    return [later for earlier, later in pairwise(found) if not any(earlier < start < later for start in first_lines)]


def further_tables(text: str) -> list[int]:
    """Where the tables of attributes after the first begin, with the identities above them: at an attribute that the
    table before has, too. People paste tables of several drives, or of one drive at several times, without any more."""
    found: list[int] = []
    seen: set[int] = set()
    last = end = 0
    for match in _ATTRIBUTE.finditer(text):
        number = _level(match[1]) or 0
        if number in seen and number <= last:
            identity = _IDENTITY.search(text, end, match.start())
            found.append((identity or match).start())
            seen.clear()
        seen.add(number)
        last, end = number, match.end()
    return found


def report_of(text: str) -> JsonObject:
    """The report of a text that smartctl printed."""
    info: dict[str, str] = {}
    for name, value in _INFO.findall(text):
        info.setdefault(name, value.rstrip())
    version = _START.search(text)
    report: JsonObject = {"smartctl": {"version": [int(version[1]), int(version[2])] if version else []}}
    failures = _FAILURE.findall(text)
    if _TABLE_HEAD.search(text) and not _ATTRIBUTE.search(text):
        failures.append("its table of attributes has no line that can be read; each attribute needs a line of its own")
    if failures:
        report["smartctl"]["messages"] = [{"string": failure.strip()} for failure in failures]
    _identify(report, info)
    if _is_nvme(info):
        _nvme(report, info, text)
    elif ({"Vendor", "Product"} <= info.keys() or info.keys() & set(_SCSI_USED)) and not _ATTRIBUTE.search(text):
        # A NAS prints vendor and product of SATA drives, too; only those have attributes.
        _scsi(report, info, text)
    else:
        _ata(report, info, text)
    passed = _passed(info)
    if passed is not None:
        report["smart_status"] = {"passed": passed}
    return report


def _is_nvme(info: dict[str, str]) -> bool:
    return any(name.casefold() in ("critical warning", "data units written") for name in info)


def _identify(report: JsonObject, info: dict[str, str]) -> None:
    model = info.get("Device Model") or info.get("Model Number") or info.get("Device")
    if model is None and "Product" in info:
        model = f"{info.get('Vendor', '')} {info['Product']}".strip()
    if model:
        report["model_name"] = model
    for key, names in (
        ("model_family", ("Model Family",)),
        ("serial_number", ("Serial Number", "Serial number")),
        ("firmware_version", ("Firmware Version", "Revision")),
    ):
        found = next((info[name] for name in names if name in info), None)
        if found and found != _ERASED:
            report[key] = found
    wwn = re.match(r"(\d) ([0-9a-f]{6}) ", info.get("LU WWN Device Id", ""))
    if wwn:
        report["wwn"] = {"naa": int(wwn[1]), "oui": int(wwn[2], 16)}
    # `Device is:`; other programs say `Device:` of its name.
    if re.match(r"(?:In|Not in) smartctl", info.get("Device", "")):
        report["in_smartctl_database"] = info["Device"].startswith("In smartctl")
        if report.get("model_name") == info["Device"]:
            del report["model_name"]
    capacity = _bytes(info.get("User Capacity") or info.get("Namespace 1 Size/Capacity"))
    if capacity:
        report["user_capacity"] = {"bytes": capacity}
    total = _bytes(info.get("Total NVM Capacity"))
    if total:
        report["nvme_total_capacity"] = total
    sector = re.match(
        r"\d+", info.get("Sector Sizes") or info.get("Sector Size") or info.get("Logical block size") or ""
    )
    if sector:
        report["logical_block_size"] = int(sector[0])
    rotation = info.get("Rotation Rate", "")
    if rotation:
        turning = re.match(r"\d+", rotation)
        report["rotation_rate"] = int(turning[0]) if turning else 0
    when = _time(info.get("Local Time"))
    if when is not None:
        report["local_time"] = {"time_t": when}


def _nvme(report: JsonObject, info: dict[str, str], text: str) -> None:
    log = {}
    # Web pages write the labels with other capitals.
    labels = {name.casefold(): value for name, value in info.items()}
    for name, key in _HEALTH.items():
        value = _number(info.get(name, labels.get(name.casefold())))
        if value is not None:
            log[key] = value
    report["device"] = {"protocol": "NVMe"}
    report["nvme_smart_health_information_log"] = log
    failed = _NVME_TEST_FAILED.search(text)
    if failed:
        value = _NVME_TEST_RESULTS.index(failed[1]) + 5
        report["nvme_self_test_log"] = {"table": [{"self_test_result": {"value": value, "string": failed[1]}}]}
    if "temperature" in log:
        report["temperature"] = {"current": log["temperature"]}
    if "power_on_hours" in log:
        report["power_on_time"] = {"hours": log["power_on_hours"]}
    critical = _number(info.get("Critical Comp. Temp. Threshold"))
    if critical:
        report["nvme_composite_temperature_threshold"] = {"critical": critical}


def _scsi(report: JsonObject, info: dict[str, str], text: str) -> None:
    report["device"] = {"protocol": "SCSI"}
    used = next((value for name in _SCSI_USED if (value := _number(info.get(name))) is not None), None)
    if used is not None:
        report["scsi_percentage_used_endurance_indicator"] = used
    temperature, trip = _number(info.get("Current Drive Temperature")), _number(info.get("Drive Trip Temperature"))
    if temperature is not None:
        report["temperature"] = {"current": temperature, **({"drive_trip": trip} if trip else {})}
    hours = _HOURS.search(text)
    if hours:
        report["power_on_time"] = {"hours": int(hours[1])}
    tests = (test[1] for test in _SCSI_TEST.finditer(text))
    last = next((result for result in tests if not result.startswith("Self test in progress")), None)
    if last in _SCSI_TEST_RESULTS:
        value = _SCSI_TEST_RESULTS.index(last) + 3
        report["scsi_self_test_0"] = {"result": {"value": value, "string": last}}
    # The columns: corrected fast and delayed, rereads, total, invocations, gigabytes, uncorrected.
    lines = {name: values.split() for name, values in _PROCESSED.findall(text)}
    counted = {
        name: {"gigabytes_processed": columns[5].replace(",", "."), "total_uncorrected_errors": _number(columns[6])}
        for name, columns in lines.items()
        if len(columns) == 7
    }
    if counted:
        report["scsi_error_counter_log"] = counted


def _ata(report: JsonObject, info: dict[str, str], text: str) -> None:
    report["device"] = {"protocol": "ATA"}
    table = []
    for number, name, value, worst, threshold, failed, raw in _ATTRIBUTE.findall(text):
        table.append(
            {
                "id": _level(number),
                "name": name,
                "value": _level(value),
                "worst": _level(worst),
                "thresh": _level(threshold),
                "when_failed": _FAILED.get(failed, ""),
                "raw": {"string": raw.rstrip()},
            }
        )
    if table:
        report["ata_smart_attributes"] = {"table": table}
    failed = _TEST_FAILED.search(text)
    if failed:
        status = {"string": failed[1], "passed": False}
        report["ata_smart_self_test_log"] = {"standard": {"table": [{"status": status}]}}
    statistics = [{"name": name.rstrip(), "value": int(value)} for value, name in _STATISTIC.findall(text)]
    if statistics:
        report["ata_device_statistics"] = {"pages": [{"table": statistics}]}
    temperature, limit = (
        _number(info.get("Current Temperature")),
        _number(info.get("Specified Max Operating Temperature")),
    )
    if temperature is not None:
        report["temperature"] = {"current": temperature, **({"op_limit_max": limit} if limit else {})}


def _passed(info: dict[str, str]) -> bool | None:
    said = info.get("SMART overall-health self-assessment test result") or info.get("SMART Health Status")
    return None if not said else said.startswith(("PASSED", "OK"))


def _level(text: str) -> int | None:
    return None if text == "---" else int(text, 16) if text.startswith("0x") else int(text)


def _bytes(text: str | None) -> int | None:
    """Bytes from `480.103.981.056 bytes [480 GB]`."""
    bytes_said = _number(text)
    return bytes_said if bytes_said is None or bytes_said >= 0 else None


def _number(text: str | None) -> int | None:
    return None if text is None else whole_at_start(text)


def _time(text: str | None) -> int | None:
    """Seconds since 1970, or None. A time in a zone whose abbreviation is ambiguous or not known is read as UTC."""
    match = re.match(r"\w{3} (\w{3} +\d+ \d\d:\d\d:\d\d \d{4})(?: +(\S+))?", text or "")
    if not match:
        return None
    try:
        local_s = calendar.timegm(time.strptime(match[1], "%b %d %H:%M:%S %Y"))
    except ValueError:
        return None
    return local_s - _ahead_s(match[2] or "")


def _ahead_s(zone: str) -> int:
    """How far a zone is ahead of UTC in seconds: by its abbreviation, or as `+0530` or `-03`."""
    numeric = re.fullmatch(r"([+-])(\d\d)(\d\d)?", zone)
    if numeric:
        minutes = int(numeric[2]) * 60 + int(numeric[3] or 0)
        return (-60 if numeric[1] == "-" else 60) * minutes
    return _ZONES_HOURS.get(zone, 0) * 3600
