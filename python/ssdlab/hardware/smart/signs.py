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
    return Signs(
        _passed(report),
        warning if warning is not None and 0 <= warning <= _WARNING_MAX else None,
        (),
        whole(log.get("media_errors")),
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
    return Signs(passed, int(passed is False), failing, errors, said, said is not None)


def of_scsi(report: Mapping[str, Any]) -> Signs:
    """Signs from the health status and the error counters."""
    passed = _passed(report)
    counters = report.get("scsi_error_counter_log")
    errors = [
        uncorrected
        for log in (counters.values() if isinstance(counters, Mapping) else ())
        if isinstance(log, Mapping) and (uncorrected := whole(log.get("total_uncorrected_errors"))) is not None
    ]
    return Signs(passed, int(passed is False), (), sum(errors) if errors else None)


def of_plain(report: Mapping[str, Any], plain: Plain) -> Signs:
    """Signs that another program has interpreted."""
    passed = _passed(report)
    failed = None if passed is None else int(not passed)
    return Signs(passed, failed, (), plain.media_errors, plain.reported, plain.is_urgent)


def _passed(report: Mapping[str, Any]) -> bool | None:
    status = report.get("smart_status")
    passed = status.get("passed") if isinstance(status, Mapping) else None
    return passed if isinstance(passed, bool) else None
