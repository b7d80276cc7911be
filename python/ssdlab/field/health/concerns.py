"""Problems of a drive that a person should know, in plain sentences, the gravest first; none if all is well."""

import math
import re
from dataclasses import dataclass
from enum import IntEnum

from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.smart.reading import TEMPERATURE_MAX_C, warning_words
from ssdlab.hardware.smart.wear import USED_MAX

YEARS_LEFT_MIN = 1.0
USED_PERCENT_MAX = 90
SPARE_PERCENT_MIN = 20
WAF_HIGH = 5.0
YEARS_SAID_MAX = 50.0
"""Above it nothing is known of a drive."""
_WHOLE_YEARS_MIN = 10
_WIDE = 1.9
"""From this ratio of the bounds on they are shown: up to 3 % used, one percent more or less is a factor of two."""
_RAID = re.compile(r"AVAGO|LSI|MegaRAID|\bMR9|PERC|LOGICAL VOLUME|ServeRAID|Adaptec|Smart ?Array|ASR\d|RAID", re.I)
"""Names of volumes of RAID controllers in the answer to SCSI INQUIRY."""

Row = TableRow


class Level(IntEnum):
    """The severity of a concern."""

    FINE = 0
    UNKNOWN = 1
    """The report does not say whether the drive is well."""
    NOTE = 2
    ATTENTION = 3
    """Action is needed: plan a replacement, or inspect the drive."""
    FAILING = 4
    """The drive reports it, or is about to stop accepting writes."""


LEVELS = tuple(level.name.lower() for level in Level)


@dataclass(frozen=True)
class Concern:
    """A sentence about a drive, and its severity."""

    level: Level
    text: str


def of(row: Row) -> list[Concern]:
    """The concerns of a drive's row (columns as in `drive.row_of`), the gravest first."""
    found = [*_own_word(row), *_unknown(row), *_wear(row), *_spare(row), *_rest(row), *_fallen(row), *_writes(row)]
    return sorted(found, key=lambda concern: -concern.level)


def _own_word(row: Row) -> list[Concern]:
    found = []
    words = warning_words(row["critical_warning"], row["protocol"])
    if words:
        found.append(Concern(Level.FAILING, f"The drive warns: {'; '.join(words)}."))
    elif row["passed"] is False:
        found.append(Concern(Level.FAILING, "The drive's self-assessment test has failed."))
    if row["reported"]:
        found.append(Concern(Level.FAILING if row["is_urgent"] else Level.ATTENTION, row["reported"]))
    if row["failing"]:
        found.append(Concern(Level.FAILING, f"At or below the manufacturer's threshold: {row['failing']}."))
    return found


def _unknown(row: Row) -> list[Concern]:
    if row["used_percent"] is not None:
        return []
    why = f" {row['remark']}" if row["remark"] else ""
    says = row["passed"] is not None or row["reported"] or row["failing"]
    if says or (row["critical_warning"] is not None and row["protocol"] == "NVMe"):
        text = "Its wear is not known: the report does not say how much of its rated life is used"
        return [] if row["is_disk"] else [Concern(Level.UNKNOWN, f"{text}.{why}")]
    text = "Nothing is known of its health"
    if _RAID.search(row["model"] or ""):
        text += (
            ": it is a volume of a RAID controller. Read the drives behind it, for example with "
            "smartctl -a -d megaraid,0 (or cciss,0; aacraid,0,0,0; see smartctl's manual) and the device"
        )
    elif row["protocol"] == "SCSI" and not row["is_disk"]:
        text += (
            ": a virtual disk has none, and a USB adapter hides it. Behind an adapter, smartctl -a -d sat, or "
            "-d sntjmicron, sntasmedia or sntrealtek for NVMe, reads the drive itself"
        )
    return [Concern(Level.UNKNOWN, f"{text}.{why}")]


def _wear(row: Row) -> list[Concern]:
    used, years = row["used_percent"], bounded_years(row)
    if used is None:
        return []
    if row["drive_writes_too_few"] is not None and used < USED_PERCENT_MAX:
        return [Concern(Level.NOTE, f"{contradiction(row)}.")]
    said = used_share(row)
    if used >= 100:
        text = f"It is past its rated life ({said} used): plan its replacement."
        return [Concern(Level.ATTENTION, text)]
    if used < USED_PERCENT_MAX and (years is None or years >= YEARS_LEFT_MIN):
        return []
    text = f"{said} of its rated life is used"
    if years is not None:
        days = row["pace_days"]
        since = f"the pace of the last {days:.0f} days" if row["pace_between_reports"] else "its mean write rate so far"
        powered = "" if row["pace_between_reports"] else " with power"
        text += f"; at {since} the rest lasts {_lasts(row, years)}{powered}"
    return [Concern(Level.ATTENTION, f"{text}: plan its replacement.")]


def _spare(row: Row) -> list[Concern]:
    spare, threshold = row["spare_percent"], row["spare_threshold_percent"] or 0
    if spare is None:
        return []
    left = f"{spare} % are left, the limit is {threshold} %"
    # An NVMe drive warns below its threshold, an attribute of SATA has failed at it.
    is_nvme = row["protocol"] == "NVMe"
    if is_nvme and 0 < spare == threshold < 100:
        return [Concern(Level.ATTENTION, f"Its spare blocks are at their limit: {left}.")]
    if spare <= threshold < 100 and (threshold or not is_nvme):
        return [Concern(Level.FAILING, f"Its spare blocks are at or below their limit: {left}.")]
    return [Concern(Level.ATTENTION, f"Few spare blocks are left: {spare} %.")] if spare < SPARE_PERCENT_MIN else []


def _rest(row: Row) -> list[Concern]:
    found = []
    limit = row["temperature_max_c"] or TEMPERATURE_MAX_C
    if row["temperature_c"] is not None and row["temperature_c"] >= limit:
        found.append(Concern(Level.NOTE, f"It was at {row['temperature_c']} °C, and its limit is {limit} °C."))
    errors = row["media_errors"]
    if errors:
        text = f"Unreadable or corrupt data {errors:,} time{'s' * (errors != 1)}."
        found.append(Concern(Level.ATTENTION, text))
    return found


def _fallen(row: Row) -> list[Concern]:
    if not row.get("fallen"):
        return []
    text = (
        f"Counters fell between two of its reports: {row['fallen']}. Either they began anew, or a clock was wrong and "
        "the reports are in the wrong order, or two drives have this serial number; what is said here is of the report "
        "with the latest time."
    )
    return [Concern(Level.NOTE, text)]


def _writes(row: Row) -> list[Concern]:
    if row["waf_is_implausible"]:
        return [Concern(Level.NOTE, f"Its write amplification is implausible: {row['waf_reason']}.")]
    if row["waf"] is None or row["waf_is_early"] or row["waf_low"] < WAF_HIGH:
        return []
    wrote = f" of {format_bytes(row['host_bytes'])}" if row["host_bytes"] else ""
    text = (
        f"Each byte{wrote} from the host became {row['waf']:.1f} in flash: more free space, or a part of the drive "
        "left unpartitioned, would lengthen its life."
    )
    return [Concern(Level.NOTE, text)]


def contradiction(row: Row) -> str:
    """Why nothing is said of the life of a drive whose `drive_writes_too_few` is known."""
    return (
        f"{used_share(row)} of its rated life is used after {row['drive_writes_too_few']:.2g} drive writes from the "
        "host, far fewer than any drive is rated for: one of the two counters began anew or counts something else, so "
        "that nothing can be said of its years"
    )


def used_share(row: Row) -> str:
    """The used share of the rated life, which is known: `12 %`, `10 to 20 %`, `99 % or more` of a value that falls no
    further, or `more than 254 %` for the largest percentage that a drive can report."""
    if row["used_percent_max"] == USED_MAX:
        return f"{row['used_percent']} % or more"
    if row["used_percent_max"]:
        return f"{row['used_percent']} to {row['used_percent_max']} %"
    return f"more than {USED_MAX - 1} %" if row["used_percent"] >= USED_MAX else f"{row['used_percent']} %"


def bounded_years(row: Row) -> float | None:
    """The years left; None if they are not known or can be any number, as of a drive that has used less than 2 %."""
    return None if row["years_left_high"] is None else float(row["years_left"])


def life_left(row: Row) -> str | None:
    """The years left in words, such as `2.4 years` or `more than 50 years`; None if nothing can be said of them."""
    years, least = bounded_years(row), row["years_left_low"]
    if years is None:
        return None if least is None or least < 1 else _more_than(least)
    return _more_than(least or 0.0) if years > YEARS_SAID_MAX else _lasts(row, years)


def is_wide(low: float, high: float) -> bool:
    """Whether a figure with these bounds is rather said by them."""
    return high > _WIDE * low


def _lasts(row: Row, years: float) -> str:
    """The years left in words, of a wide interval its bounds; if it may be none, what is left at most."""
    low, high = row["years_left_low"], row["years_left_high"]
    if low and is_wide(low, high) and duration(low) != duration(high):
        return f"{duration(low)} to {duration(high)}"
    if low:
        return duration(years)
    most = duration(high)
    return most if most.startswith("less than") else f"at most {most}"


def _more_than(least: float) -> str:
    """A lower bound, which is not rounded up."""
    step = 0.1 if least < _WHOLE_YEARS_MIN else 1
    return f"more than {duration(math.floor(min(least, YEARS_SAID_MAX) / step) * step)}"


def duration(years: float) -> str:
    """`3 months`, `2.4 years`."""
    if years < 1 / 12:
        return "less than a month"
    if years < 1:
        months = max(1, round(years * 12))
        return f"{months} month{'s' * (months != 1)}"
    return f"{years:.1f} years" if years < _WHOLE_YEARS_MIN else f"{years:.0f} years"
