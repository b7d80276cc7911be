"""Signs of failure in a report: the drive's overall verdict, its warnings, attributes at their thresholds, errors."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.hardware.smart.attributes import Attribute, whole
from ssdlab.hardware.smart.plain import Plain

_UNCORRECTABLE = re.compile(r"Reported_Uncorrect|Uncorrectable_Error_Cnt|Reported_UE_Counts")
REPORTED = "reported_failure"
"""The key of a failure of a SATA drive that somebody else than the drive reports, as a sentence."""
# NVM Express Base Specification 2.0, figure 214: fatal error, an unknown segment failed, segments failed.
_NVME_TEST_FAILED = (5, 6, 7)
# SPC-3, 7.2.10: 3 is an unknown error, 4 to 7 are failed segments, 15 is a test that still runs; 20 entries.
_SCSI_TEST_FAILED = (3, 4, 5, 6, 7)
_SCSI_TEST_RUNS = 15
_SCSI_TESTS_MAX = 20
_WARNING_MAX = 255
_COUNTED_MAX = 1 << 32
"""A larger raw value contains several packed numbers."""


@dataclass(frozen=True)
class Signs:
    """Signs of failure; None for values that the drive does not report."""

    passed: bool | None = None
    """The result of the drive's overall health test."""
    critical_warning: int | None = None
    """NVMe's warning bits, 0 without warnings. For SATA drives 1 if the overall health test failed."""
    failing: tuple[str, ...] = ()
    """Attributes that are at or below their thresholds now."""
    media_errors: int | None = None
    """The number of unreadable or corrupt reads."""
    reported: str | None = None
    """A warning in words, as a sentence."""
    is_urgent: bool = False
    """Whether that warning says that the drive is failing."""


def of_nvme(report: Mapping[str, Any], log: Mapping[str, Any]) -> Signs:
    """Signs from NVMe's health log."""
    warning = whole(log.get("critical_warning"))
    result = _newest(report.get("nvme_self_test_log")).get("self_test_result")
    failed = isinstance(result, Mapping) and result.get("value") in _NVME_TEST_FAILED
    return Signs(
        _passed(report),
        warning if warning is not None and 0 <= warning <= _WARNING_MAX else None,
        (),
        whole(log.get("media_errors")),
        _failed_test(result) if failed else None,
    )


def of_ata(report: Mapping[str, Any], attributes: Sequence[Attribute]) -> Signs:
    """Signs from the overall verdict and the attributes."""
    passed = _passed(report)
    # smartctl prints failed attributes twice: below the verdict, and in the table.
    failing = tuple(dict.fromkeys(f"{each.id} {each.name}".strip() for each in attributes if each.failed == "now"))
    errors = next((each.raw for each in attributes if _UNCORRECTABLE.fullmatch(each.name)), None)
    if errors is not None and not 0 <= errors < _COUNTED_MAX:
        errors = None
    said = report.get(REPORTED)
    if said is not None:
        return Signs(passed, int(passed is False), failing, errors, said, is_urgent=True)
    tests = report.get("ata_smart_self_test_log")
    logs = [tests.get(kind) for kind in ("extended", "standard")] if isinstance(tests, Mapping) else []
    status = next((entry.get("status") for log in logs if (entry := _newest(log))), None)
    failed = isinstance(status, Mapping) and status.get("passed") is False
    return Signs(passed, int(passed is False), failing, errors, _failed_test(status) if failed else None)


def of_scsi(report: Mapping[str, Any]) -> Signs:
    """Signs from the health status, the error counters and the newest self-test that has ended."""
    passed = _passed(report)
    counters = report.get("scsi_error_counter_log")
    errors = [
        uncorrected
        for log in (counters.values() if isinstance(counters, Mapping) else ())
        if isinstance(log, Mapping) and (uncorrected := whole(log.get("total_uncorrected_errors"))) is not None
    ]
    tests = (_result(report.get(f"scsi_self_test_{number}")) for number in range(_SCSI_TESTS_MAX))
    last = next((result for result in tests if result and result.get("value") != _SCSI_TEST_RUNS), {})
    failed = last.get("value") in _SCSI_TEST_FAILED
    said = _failed_test(last) if failed else None
    return Signs(passed, int(passed is False), (), sum(errors) if errors else None, said)


def of_plain(report: Mapping[str, Any], plain: Plain) -> Signs:
    """Signs that another program has interpreted."""
    passed = _passed(report)
    failed = None if passed is None else int(not passed)
    return Signs(passed, failed, (), plain.media_errors, plain.reported, plain.is_urgent)


def _newest(log: Any) -> Mapping[str, Any]:
    """The newest entry of a log of self-tests; empty if there is none."""
    table = log.get("table") if isinstance(log, Mapping) else None
    return table[0] if isinstance(table, list) and table and isinstance(table[0], Mapping) else {}


def _result(entry: Any) -> Mapping[str, Any]:
    """The result in an entry of SCSI's log of self-tests; empty if there is none."""
    result = entry.get("result") if isinstance(entry, Mapping) else None
    return result if isinstance(result, Mapping) else {}


def _failed_test(result: Any) -> str:
    # An arrow of smartctl points to the column of the segment.
    said = str(result.get("string", "")).removesuffix("-->").strip()
    return f"Its last self-test failed{f' ({said})' if said else ''}."


def _passed(report: Mapping[str, Any]) -> bool | None:
    status = report.get("smart_status")
    passed = status.get("passed") if isinstance(status, Mapping) else None
    return passed if isinstance(passed, bool) else None
