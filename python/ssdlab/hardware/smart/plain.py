"""Reports whose program has interpreted the drive itself: eMMC's registers, Windows, RAID controllers, ESXi.

They have the key `HEALTH`, an object of plain values by the names of `Plain`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ssdlab.foundation.foreign import JsonObject

HEALTH = "plain_health"


@dataclass(frozen=True)
class Plain:
    """What such a report says; None for what it does not say."""

    used_percent: int | None = None
    used_percent_max: int | None = None
    """The upper bound, where the report has a range; `used_percent` is then the lower one."""
    used_source: str | None = None
    spare_percent: int | None = None
    host_bytes: int | None = None
    host_source: str = ""
    nand_bytes: int | None = None
    media_errors: int | None = None
    reported: str | None = None
    """A warning of the drive or its controller, as a sentence."""
    is_urgent: bool = False
    """Whether the warning says that the drive is failing."""
    remark: str | None = None

    def report(self, protocol: str, **others: Any) -> JsonObject:
        """A report with the structure of smartctl's JSON; `others` are keys of that, left out if None."""
        said = {key: value for key, value in others.items() if value is not None}
        return {"smartctl": {}, "device": {"protocol": protocol}, HEALTH: asdict(self)} | said


def plain_of(report: Mapping[str, Any]) -> Plain | None:
    """The plain values of a report, or None if it has none."""
    found = report.get(HEALTH)
    return Plain(**found) if isinstance(found, dict) else None
