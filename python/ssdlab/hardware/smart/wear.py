"""The used share of a drive's rated life and its remaining spare blocks, as reported by the drive.

NVMe and ATA's device statistics report a percentage; older drives have maker-specific attributes.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart.attributes import Attribute, whole
from ssdlab.hardware.smart.families import Family, Kind

_STATISTIC = "Percentage Used Endurance Indicator"
USED_MAX = 255
"""The largest percentage that NVMe, ATA and SCSI can report. It stands for all that are larger, too."""

# Names with a known meaning. If the raw value is used, the normalized value of known drives stays at 100.
_NAMES: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"Percent_Lifetime_Used|Perc_Rated_Life_Used|DriveLife_Used%"), "raw used"),
    (re.compile(r"Remaining_Lifetime_Perc|SSD_Life_Left_Perc|DriveLife_Remaining%"), "raw left"),
    (
        re.compile(r"Media_Wearout_Indicator|Percent_Lifetime_Remain|Percent_Life_Remaining|Drive_Life_Remaining%"),
        "level left",
    ),
    (re.compile(r"SSD_Life_Left|Lifetime_Left|Life_Left.*"), "level left"),
)
_NOT_A_LEVEL = (230,)
"""Media_Wearout_Indicator of WD's and SanDisk's drives, which packs its meaning into the raw value."""
_SPARE_NAMES = ("Available_Reservd_Space", "Perc_Avail_Resrvd_Space", "Reserved_Block_Pct", "Unused_Rsvd_Blk_Cnt_Tot")


@dataclass(frozen=True)
class Wear:
    """Percentages; None for values that the drive does not report."""

    used_percent: int | None = None
    """100 when the rated endurance is used; it can exceed 100."""
    source: str | None = None
    spare_percent: int | None = None
    spare_threshold_percent: int | None = None
    used_percent_max: int | None = None
    """The upper bound of the used share if the drive reports a range, of which `used_percent` is the lower one;
    USED_MAX where its value falls no further, however much more is used."""


def of_nvme(log: Mapping[str, Any]) -> Wear:
    """Wear from NVMe's health log."""
    used = _used(whole(log.get("percentage_used")))
    return Wear(
        used,
        None if used is None else "Percentage Used",
        _level(whole(log.get("available_spare"))),
        _level(whole(log.get("available_spare_threshold"))),
    )


def as_health_log(group: Mapping[str, Any]) -> JsonObject:
    """An endurance group's log with the names of the health log; it has the same percentages."""
    names = {"percentage_used": "percent_used", "available_spare": "avl_spare"}
    names["available_spare_threshold"] = "avl_spare_threshold"
    return {name: group.get(short) for name, short in names.items()}


def of_ata(
    report: Mapping[str, Any],
    attributes: Sequence[Attribute],
    statistics: Mapping[str, int],
    family: Family | None,
) -> Wear:
    """Wear from the device statistics, or from the maker's attribute for it."""
    reported = report.get("endurance_used")
    used = _used(whole(reported.get("current_percent"))) if isinstance(reported, Mapping) else None
    source = "endurance used" if used is not None else None
    if used is None and _STATISTIC in statistics:
        used, source = _used(statistics[_STATISTIC]), _STATISTIC
    used_max = None
    if used is None:
        used, source, used_max = _by_attribute(attributes, family)
    said = report.get("life_left")
    if used is None and isinstance(said, Mapping) and (left := _level(whole(said.get("percent")))) is not None:
        # Another program's reading of attributes that are not known here.
        used, source = 100 - left, str(said.get("source", ""))
    spare = _spare(attributes, family)
    return Wear(used, source, _level(spare.level) if spare else None, spare.threshold if spare else None, used_max)


def _spare(attributes: Sequence[Attribute], family: Family | None) -> Attribute | None:
    named = (each for name in _SPARE_NAMES for each in attributes if each.name == name)
    numbers = [counter.id for counter in family.spare] if family else []
    unnamed = (each for each in attributes if not each.name and each.id in numbers)
    return next((each for each in (*named, *unnamed) if each.threshold), None)


def _by_attribute(attributes: Sequence[Attribute], family: Family | None) -> tuple[int | None, str | None, int | None]:
    """The used percentage, the attribute that says it, and the upper bound where that has reached its end."""
    for counter in family.life_left if family else ():
        for each in attributes:
            unnamed = each.name in ("", counter.name) or each.name.startswith("Unk")
            if each.id == counter.id and unnamed and (used := _read(each, counter.kind)) is not None:
                return used, f"{each.id} {each.name or counter.name}", _bound(used, counter.kind)
    for pattern, kind in _NAMES:
        for each in attributes:
            if pattern.fullmatch(each.name) and each.id not in _NOT_A_LEVEL:
                used = _read(each, kind)
                if used is not None:
                    return used, f"{each.id} {each.name}", _bound(used, kind)
    return None, None, None


def _bound(used: int, kind: Kind) -> int | None:
    """USED_MAX for what is left at its end: a level falls to 1 and stays there (Intel's data sheets say so of 233),
    or to 0, and a percentage left to 0."""
    at_end = {"level left": 99, "raw left": 100}
    return USED_MAX if used >= at_end.get(kind, math.inf) else None


def _read(attribute: Attribute, kind: Kind) -> int | None:
    if kind == "raw used":
        return _used(attribute.raw)
    if kind == "level used":
        return _risen(attribute)
    left = _level(attribute.level if kind == "level left" else attribute.raw)
    return None if left is None else 100 - left


def _risen(attribute: Attribute) -> int | None:
    """WD's and SanDisk's value that rises with wear. Many drives leave it at 100; the raw value then tells: three
    shares of 16 bits each, of kinds of cells, in hundredths of a percent. The highest counts."""
    level = _level(attribute.level)
    if level != 100 or attribute.raw is None:
        return level
    words = [int(word) for word in re.findall(r"(?<![\dx])\d{1,5}(?!\d)", attribute.raw_text)]
    if len(words) != 3:
        words = [attribute.raw >> shift & 0xFFFF for shift in (0, 16, 32)]
    return _used(math.ceil(max(words) / 100))


def _used(value: int | None) -> int | None:
    return value if value is not None and 0 <= value <= USED_MAX else None


def _level(value: int | None) -> int | None:
    return value if value is not None and 0 <= value <= 100 else None
