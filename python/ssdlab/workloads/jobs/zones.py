"""Jobs that go from zone to zone of what they work on: fio's `zonemode=strided`. Options, and what the engine is given.

As fio 3.33 was seen to do it (tests/workloads/jobs): zones reach from the offset to the end of the file, and `size`
says how much is transferred. Not for drives that have zones (`zonemode=zbd`), which is refused.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ssdlab.workloads.jobs.option import Effect, Option
from ssdlab.workloads.jobs.pace import Complain
from ssdlab.workloads.jobs.scaling import scaled_bytes
from ssdlab.workloads.jobs.values import LARGEST, SECTOR_BYTES, Refused, byte_count, required

if TYPE_CHECKING:
    from ssdlab.workloads.jobs.jobfile import Section


def _mode(text: str | None, _kilobyte: int) -> str:
    if required(text) == "zbd":
        raise Refused("none or strided; a drive of zones (zbd) is not simulated")
    if text not in ("none", "strided"):
        raise Refused("none or strided")
    return text


def _sectors(text: str | None, kilobyte: int) -> int:
    value = byte_count(text, kilobyte)
    if value % SECTOR_BYTES or value > LARGEST >> 2:
        raise Refused(f"a multiple of {SECTOR_BYTES} bytes")
    return value


ZONEMODE = Option("zonemode", _mode, "strided: go from zone to zone, with gaps between", Effect.ACTS, "none")
ZONESIZE = Option(
    "zonesize", _sectors, "bytes to transfer in a zone before the next has its turn; for zonemode=strided",
    Effect.ACTS, 0,
)  # fmt: skip
ZONERANGE = Option(
    "zonerange", _sectors, "extent of a zone; default: zonesize; for zonemode=strided", Effect.ACTS, 0
)  # fmt: skip
ZONESKIP = Option(
    "zoneskip", _sectors, "bytes between the end of a zone and the next; for zonemode=strided", Effect.ACTS, 0
)  # fmt: skip

OPTIONS: tuple[Option[Any], ...] = (ZONEMODE, ZONESIZE, ZONERANGE, ZONESKIP)


def zones(
    section: "Section", least_bytes: int, scale: Fraction, hindrance: str, complain: Complain
) -> dict[str, int] | None:
    """The engine job's `zones`; None without. `hindrance` says what of the job does not go together with zones."""
    if section.get(ZONEMODE) != "strided":
        if section.get(ZONESIZE):
            raise complain(ZONESIZE, "is for zonemode=strided, which is missing")
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
