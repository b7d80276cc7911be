"""Jobs that move from zone to zone of their range, or write at the write pointers of zones: fio's `zonemode`.

The options and their engine values, as observed with fio 3.33 (tests/simulator/workloads/jobs). With `strided`, zones
extend from the offset to the end of the file, and `size` is the amount to transfer. With `zbd`, the zones are those of
the drive. A drive without zones gets them from `zonesize`; these exist only for the host: nothing is trimmed when one
is rewritten.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.pace import Complain
from ssdlab.simulator.workloads.jobs.scaling import scaled_bytes
from ssdlab.simulator.workloads.jobs.values import (
    LARGEST,
    SECTOR_BYTES,
    Refused,
    byte_count,
    percentage_or_sign,
    required,
    truth,
    whole_number,
)

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section


def _mode(text: str | None, _kilobyte: int) -> str:
    word = required(text)
    if word not in ("none", "strided", "zbd"):
        raise Refused("none, strided or zbd")
    return word


def _share(text: str | None, _kilobyte: int) -> float:
    try:
        value = float(required(text))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise Refused("a number from 0 to 1")
    return value


def _sectors(text: str | None, kilobyte: int) -> int:
    value = byte_count(text, kilobyte)
    if value % SECTOR_BYTES or value > LARGEST >> 2:
        raise Refused(f"a multiple of {SECTOR_BYTES} bytes")
    return value


_zone_count = whole_number(0, 1 << 31)
ZONEMODE = Option(
    "zonemode",
    _mode,
    "strided: go from zone to zone, with gaps between; zbd: write at the write pointers of zones",
    Effect.ACTS,
    "none",
)
ZONESIZE = Option(
    "zonesize", _sectors,
    "strided: bytes to transfer in a zone before the next has its turn; zbd: size of a zone, where the drive has none",
    Effect.ACTS, 0,
)  # fmt: skip
ZONERANGE = Option(
    "zonerange", _sectors, "extent of a zone; default: zonesize; for zonemode=strided", Effect.ACTS, 0
)  # fmt: skip
ZONESKIP = Option(
    "zoneskip", _sectors, "bytes between the end of a zone and the next; for zonemode=strided", Effect.ACTS, 0
)  # fmt: skip

ZONECAPACITY = Option(
    "zonecapacity", _sectors, "zbd: what is written of a zone, where the drive has none; default: all", Effect.ACTS, 0
)  # fmt: skip
READ_BEYOND_WP = Option(
    "read_beyond_wp", truth, "zbd: read anywhere, and not only where a zone is written", Effect.ACTS, False
)  # fmt: skip
MAX_OPEN_ZONES = Option(
    "max_open_zones", _zone_count, "zbd: zones that all jobs have open together; 0: as the drive allows",
    Effect.ACTS, 0,
)  # fmt: skip
JOB_MAX_OPEN_ZONES = Option(
    "job_max_open_zones", _zone_count, "zbd: zones that this job has open; 0: no limit of its own", Effect.ACTS, 0
)  # fmt: skip
ZONE_RESET_THRESHOLD = Option(
    "zone_reset_threshold", _share, "zbd: share of the job's part from which zones are reset before they are full",
    Effect.ACTS, 0.0,
)  # fmt: skip
ZONE_RESET_FREQUENCY = Option(
    "zone_reset_frequency", _share, "zbd: share of the writes from then on that reset their zone; 0: none",
    Effect.ACTS, 0.0,
)  # fmt: skip

ZRWA_OVERWRITE = Option(
    "zrwa_overwrite", percentage_or_sign,
    "zbd: percentage of the writes that write again what is in the zone's random write area, at a random place there; "
    "for drives with zones.random_write_area_bytes",
    Effect.ACTS, 0, is_ours=True,
)  # fmt: skip

OPTIONS: tuple[Option[Any], ...] = (
    ZONEMODE, ZONESIZE, ZONERANGE, ZONESKIP, ZONECAPACITY, READ_BEYOND_WP, MAX_OPEN_ZONES, JOB_MAX_OPEN_ZONES,
    ZONE_RESET_THRESHOLD, ZONE_RESET_FREQUENCY, ZRWA_OVERWRITE,
)  # fmt: skip


def zones(
    section: "Section", least_bytes: int, scale: Fraction, hindrance: str, complain: Complain
) -> plain.StridedZones | None:
    """The engine job's `zones`; None without. `hindrance` names what cannot be combined with zones, or is ""."""
    if section.get(ZONEMODE) != "strided":
        if section.get(ZONESIZE) and section.get(ZONEMODE) == "none":
            raise complain(ZONESIZE, "is for zonemode=strided or zbd, which is missing")
        return None
    if not section.get(ZONESIZE):
        raise complain(ZONEMODE, "needs zonesize, the bytes to transfer in each zone")
    if hindrance:
        raise complain(ZONEMODE, f"does not go together with {hindrance}")
    extent = section.get(ZONERANGE) or section.get(ZONESIZE)
    if extent < least_bytes:
        given = ZONERANGE if section.get(ZONERANGE) else ZONESIZE
        raise complain(given, f"is smaller than the shortest request, {least_bytes:,} bytes")
    return {
        "transfer_bytes": scaled_bytes(section.get(ZONESIZE), scale, least_bytes),
        "range_bytes": scaled_bytes(extent, scale, least_bytes),
        "skip_bytes": scaled_bytes(section.get(ZONESKIP), scale, least_bytes),
    }


def zoned(
    section: "Section", least_bytes: int, scale: Fraction, hindrance: str, complain: Complain
) -> plain.ZonedJob | None:
    """The engine job's `zoned`; None without. Sizes of 0 mean those of the drive's zones."""
    if section.get(ZONEMODE) != "zbd":
        if section.get(ZRWA_OVERWRITE):
            raise complain(ZRWA_OVERWRITE, "is for zonemode=zbd, which is missing")
        return None
    if hindrance:
        raise complain(ZONEMODE, f"does not go together with {hindrance}")
    size, capacity = section.get(ZONESIZE), section.get(ZONECAPACITY)
    if capacity > size:
        raise complain(ZONECAPACITY, f"is more than zonesize, {size:,} bytes")
    rules: plain.ZonedJob = {
        "zone_bytes": scaled_bytes(size, scale, least_bytes),
        "capacity_bytes": scaled_bytes(capacity, scale, least_bytes),
        "open_max": section.get(MAX_OPEN_ZONES),
        "job_open_max": section.get(JOB_MAX_OPEN_ZONES),
        "reset_threshold": section.get(ZONE_RESET_THRESHOLD),
        "reset_frequency": section.get(ZONE_RESET_FREQUENCY),
        "read_beyond_pointer": section.get(READ_BEYOND_WP),
    }
    if section.get(ZRWA_OVERWRITE):
        rules["overwrite_percent"] = section.get(ZRWA_OVERWRITE)
    return rules
