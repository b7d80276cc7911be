"""Whether the values of a drive fit together: sizes are multiples of each other, policies exist, cleaning can work."""

import math
from fractions import Fraction

from ssdlab.drives import policies
from ssdlab.drives.capacity import Capacity, capacity_of
from ssdlab.drives.schema import POLICY_KINDS, DriveFile
from ssdlab.errors import InputError
from ssdlab.quantities import format_count, format_share

_SECTOR_BYTES = 512
_MAPPING_UNIT_BYTES_MAX = 65536
# The engine numbers physical units with 32 bits and keeps the last number for "not mapped".
_PHYSICAL_UNITS_END = 2**32 - 1


def check(drive: DriveFile, where: str) -> None:
    """Raise InputError, opened by `where`, when the values contradict each other."""
    check_geometry(drive, where)
    ftl = drive.ftl
    if ftl.user_bytes % ftl.mapping_unit_bytes:
        below = ftl.user_bytes - ftl.user_bytes % ftl.mapping_unit_bytes
        raise InputError(
            f"{where}: ftl.user_bytes = {ftl.user_bytes} is not a whole number of mapping units of"
            f" {ftl.mapping_unit_bytes} B; the next below is {below}"
        )
    check_spare(capacity_of(drive), f"{where}: ftl.user_bytes = {ftl.user_bytes}")


def check_geometry(drive: DriveFile, where: str) -> None:
    """The checks that do not depend on how much the host may use."""
    nand, ftl = drive.nand, drive.ftl
    unit = ftl.mapping_unit_bytes
    if not _SECTOR_BYTES <= unit <= _MAPPING_UNIT_BYTES_MAX or unit & (unit - 1):
        raise InputError(
            f"{where}: ftl.mapping_unit_bytes = {unit} should be a power of two from {_SECTOR_BYTES} to"
            f" {_MAPPING_UNIT_BYTES_MAX}"
        )
    if nand.page_bytes % ftl.mapping_unit_bytes:
        raise InputError(
            f"{where}: nand.page_bytes = {nand.page_bytes} should be a multiple of ftl.mapping_unit_bytes ="
            f" {ftl.mapping_unit_bytes}"
        )
    for kind in POLICY_KINDS:
        policies.check(kind, getattr(ftl, kind), where)
    capacity = capacity_of(drive)
    if capacity.physical_units >= _PHYSICAL_UNITS_END:
        raise InputError(
            f"{where}: the geometry makes {capacity.physical_units} mapping units of {unit} B, more than the"
            f" {_PHYSICAL_UNITS_END - 1} that a map of 32 bits an entry can name; a larger ftl.mapping_unit_bytes helps"
        )
    if capacity.units_per_erase_unit < 2:
        raise InputError(
            f"{where}: nand.pages_per_block = {nand.pages_per_block} should be at least 2: an erase unit holds two"
            " mapping units or more"
        )
    stripe = drive.parity.units_per_stripe
    if stripe > capacity.units_per_erase_unit:
        raise InputError(
            f"{where}: parity.units_per_stripe = {stripe} should be 0 (none) or at most the"
            f" {capacity.units_per_erase_unit} mapping units of an erase unit"
        )


def check_spare(capacity: Capacity, what: str) -> None:
    """Raise InputError, opened by `what`, when cleaning would have nothing to gain or the host nothing to use."""
    if capacity.user_units < 1:
        raise InputError(f"{what} leaves the host less than one mapping unit ({capacity.mapping_unit_bytes} B)")
    if capacity.user_units <= capacity.user_units_max:
        return
    held_back = (
        f"{format_count(capacity.erase_units)} erase units, of which {capacity.reserve_erase_units} are the free"
        f" reserve, {capacity.open_erase_units} stand open and 1 must be left for cleaning"
    )
    if capacity.user_units_max < 1:
        raise InputError(f"{what}: no over-provisioning makes this drive work: it has {held_back}")
    raise InputError(
        f"{what} leaves too little spare area: the least over-provisioning for this drive is"
        f" {format_share(over_provisioning_min(capacity))}, that is"
        f" {capacity.user_units_max * capacity.mapping_unit_bytes} B for the host (it has {held_back})"
    )


def over_provisioning_min(capacity: Capacity) -> float:
    """The least OP that leaves cleaning something to gain, rounded up to a hundredth of a percent."""
    exact = Fraction(capacity.physical_units, capacity.user_units_max) - 1
    return math.ceil(exact * 10_000) / 10_000
