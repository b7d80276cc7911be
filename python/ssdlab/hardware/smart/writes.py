"""The write counters of a SATA drive, by the attributes' names first, then by the family, then by the model.

On a drive that smartctl does not know, an attribute has no name here (`default_names`) and its number has the meaning
that the family gives it. The device statistics (logical sectors) determine the unit of the host's counter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ssdlab.hardware.smart import naming
from ssdlab.hardware.smart.attributes import Attribute
from ssdlab.hardware.smart.counts import Count
from ssdlab.hardware.smart.families import Counter, Family

_SECTORS = "Logical Sectors Written"
_UNITS_BYTES = (512, 4096, 1 << 20, 32 << 20, 64 << 20, 10**9, 1 << 30)
_AGREES_WITHIN = 0.03
_SECTORS_MIN = 1 << 21
"""One GiB. Below it one step of a coarse counter exceeds the difference between the units."""
_HOST_NUMBERS = (241, 246)
_LINK_BYTES_PER_HOUR = 600 * 10**6 * 3600
"""What SATA's fastest link carries."""
_SECTOR_BYTES, _NEXT_UNIT_BYTES = 512, 1 << 20
_BY_LINK = "512 bytes a count: the next larger unit that drives use would be more than SATA carries in its hours"


@dataclass(frozen=True)
class Writes:
    """Host writes and programmed data. Empty or None if not known."""

    host: Count | None
    nand: tuple[Count, ...]
    """Counters whose sum is the programmed data."""
    pages: tuple[Count, Count] | None
    """Pages programmed for the host and in the background, if the drive counts these, otherwise None."""
    reason: str | None
    """The reason why NAND writes are not available, or None if they are."""


def of(
    attributes: Sequence[Attribute],
    statistics: Mapping[str, int],
    sector_bytes: int,
    model_family: str | None,
    family: Family | None,
) -> Writes:
    """The write counters of a drive. `statistics` are ATA's device statistics, in logical sectors of `sector_bytes`."""
    table = _Table(attributes)
    sectors_bytes = statistics.get(_SECTORS, 0) * sector_bytes
    by_name = naming.host(attributes) or (_first(table, family.host) if family else None)
    host = _proven(by_name, sectors_bytes) or _by_statistics(attributes, statistics, sector_bytes)
    if host is None and family is None:
        host = _by_link(attributes)
    if family and family.nand_not_counted:
        return Writes(host, (), None, family.nand_not_counted)
    nand = naming.nand(attributes)
    pages = None
    if family:
        by_family = next((way for each in family.nand if (way := _all(table, each))), ())
        # The family entry contains the assumptions about a counter.
        nand = by_family or nand
        pages = _pages(table, family)
    reason = None if nand or pages else _reason(model_family, family)
    return Writes(host, nand, pages, reason)


class _Table:
    """Attributes by number and name, and by number alone if they have no name."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._by_name = {(each.id, each.name): each for each in attributes}
        self._by_number = {each.id: each for each in attributes if not each.name}

    def count(self, counter: Counter) -> Count | None:
        exact = self._by_name.get((counter.id, counter.name))
        found = exact or self._by_number.get(counter.id)
        if found is None or found.raw is None or found.raw < 0:
            return None
        assumed = counter.assumed if exact else counter.assumed or "meaning on other drives of this manufacturer"
        return Count(found.raw, counter.unit_bytes, f"{counter.id} {found.name or counter.name}", assumed)


def _first(table: _Table, counters: Sequence[Counter]) -> Count | None:
    return next((count for each in counters if (count := table.count(each))), None)


def _all(table: _Table, counters: Sequence[Counter]) -> tuple[Count, ...]:
    found = [table.count(each) for each in counters]
    return () if None in found else tuple(count for count in found if count)


def _pages(table: _Table, family: Family) -> tuple[Count, Count] | None:
    if family.pages is None:
        return None
    host, background = table.count(family.pages.host), _first(table, family.pages.background)
    return (host, background) if host and background else None


def _proven(count: Count | None, sectors_bytes: int) -> Count | None:
    """The count with its unit corrected by the device statistics. A unit that the name or smartctl's family says is
    not corrected, except that of `Total_LBAs_Written`."""
    if count is None or sectors_bytes < _SECTORS_MIN * 512:
        return count
    if not (count.attribute.endswith("Total_LBAs_Written") or count.assumed):
        return count
    unit_bytes = _unit(count.ticks, sectors_bytes)
    if unit_bytes is None or unit_bytes == count.unit_bytes:
        return count
    return Count(count.ticks, unit_bytes, count.attribute)


def _by_statistics(attributes: Sequence[Attribute], statistics: Mapping[str, int], sector_bytes: int) -> Count | None:
    sectors = statistics.get(_SECTORS)
    if not sectors or sectors < 0:
        return None
    for attribute in attributes:
        if attribute.id in _HOST_NUMBERS and attribute.raw and sectors >= _SECTORS_MIN:
            unit_bytes = _unit(attribute.raw, sectors * sector_bytes)
            if unit_bytes:
                return Count(attribute.raw, unit_bytes, f"{attribute.id} {attribute.name}".strip())
    return Count(sectors, sector_bytes, f"device statistics, {_SECTORS}")


def _by_link(attributes: Sequence[Attribute]) -> Count | None:
    """241 of a drive that nobody knows, if it can only be sectors. Drives that count MiB or GiB have far smaller
    counts."""
    hours = next((each.raw for each in attributes if each.id == 9), None)
    written = next((each for each in attributes if each.id == _HOST_NUMBERS[0] and not each.name), None)
    if not hours or hours < 0 or written is None or not written.raw:
        return None
    if written.raw * _NEXT_UNIT_BYTES <= hours * _LINK_BYTES_PER_HOUR:
        return None
    return Count(written.raw, _SECTOR_BYTES, "241", _BY_LINK)


def _unit(ticks: int, written_bytes: int) -> int | None:
    if not ticks:
        return None
    return next((unit for unit in _UNITS_BYTES if abs(ticks * unit / written_bytes - 1) < _AGREES_WITHIN), None)


def _reason(model_family: str | None, family: Family | None) -> str:
    if family is not None:
        return (
            f"drives of the family {(model_family or family.name)!r} do not count NAND writes, at least not this model"
        )
    if model_family is None:
        return "smartctl does not know this model, nor does ssdlab, so the meaning of its attributes is not known"
    return f"the family {model_family!r} is not in the table of families, and no attribute name mentions NAND writes"
