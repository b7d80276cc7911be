"""Whether the values of a drive fit together: sizes are multiples of each other, policies exist, cleaning can work."""

import math
from fractions import Fraction

from ssdlab.drives import policies
from ssdlab.drives.capacity import BITS_PER_CELL, Capacity, capacity_of
from ssdlab.drives.schema import POLICY_KINDS, DriveFile
from ssdlab.errors import InputError
from ssdlab.quantities import format_count, format_share

_SECTOR_BYTES = 512
_MAPPING_UNIT_BYTES_MAX = 65536
# The engine numbers physical units with 32 bits and keeps the last number for "not mapped".
_PHYSICAL_UNITS_END = 2**32 - 1
# The engine counts the run of a segment with 15 bits.
_SEGMENT_UNITS_MAX = 2**15 - 1
# It keeps the size of reduced data in a byte.
_PLACES_PER_UNIT_MAX = 128


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
    _check_stripe(drive, where)
    check_read_path(drive, where)
    check_spare(capacity_of(drive), f"{where}: ftl.user_bytes = {ftl.user_bytes}")


def _check_stripe(drive: DriveFile, where: str) -> None:
    stripe, ftl, housekeeping = drive.stripe, drive.ftl, drive.housekeeping
    if not stripe.is_on:
        return
    chunk = f"{where}: stripe.chunk_bytes = {stripe.chunk_bytes}"
    if stripe.chunk_bytes % ftl.mapping_unit_bytes:
        raise InputError(f"{chunk} should be a multiple of ftl.mapping_unit_bytes = {ftl.mapping_unit_bytes}")
    if (stripe.devices - 1) * stripe.chunk_bytes >= ftl.user_bytes:
        raise InputError(
            f"{chunk} should be so small that each of {stripe.devices} devices has one of the {ftl.user_bytes} B"
        )
    # A device does not know when the host will ask the next of it, and so not how long it may keep house.
    idle_work = {
        "slc_cache.static_bytes": drive.slc_cache.static_bytes,
        "slc_cache.dynamic_bytes_max": drive.slc_cache.dynamic_bytes_max,
        "housekeeping.erased_pool_bytes": housekeeping.erased_pool_bytes,
        "housekeeping.defragment": housekeeping.defragment,
        "housekeeping.wear_leveling": housekeeping.wear_leveling,
        "housekeeping.read_disturb_reads": housekeeping.read_disturb_reads,
        "housekeeping.retention_days": housekeeping.retention_days,
    }
    for key, value in idle_work.items():
        if value:
            raise InputError(
                f"{where}: stripe.devices = {stripe.devices} does not go with {key}: a device of a stripe does nothing"
                " in idle time; one of them should be off"
            )


def check_read_path(drive: DriveFile, where: str) -> None:
    """The tables [map_cache] and [read_ahead], where they are on."""
    unit, cache, ahead = drive.ftl.mapping_unit_bytes, drive.map_cache, drive.read_ahead
    map_page_bytes = cache.entries_per_map_page * cache.entry_bytes
    if cache.bytes and map_page_bytes > unit:
        raise InputError(
            f"{where}: map_cache.entries_per_map_page = {cache.entries_per_map_page} of {cache.entry_bytes} B should be"
            f" at most a mapping unit of {unit} B: a map page is one"
        )
    if cache.bytes and cache.form == "extent" and cache.entries_per_map_page > _SEGMENT_UNITS_MAX:
        raise InputError(
            f"{where}: map_cache.entries_per_map_page = {cache.entries_per_map_page} should be at most"
            f" {_SEGMENT_UNITS_MAX} for a map of extents"
        )
    if 0 < cache.bytes < map_page_bytes:
        raise InputError(
            f"{where}: map_cache.bytes = {cache.bytes} should be 0 (the whole map in memory) or at least a map page of"
            f" {map_page_bytes} B"
        )
    if ahead.window_bytes and (ahead.segment_bytes % unit or ahead.segment_bytes > ahead.window_bytes):
        raise InputError(
            f"{where}: read_ahead.segment_bytes = {ahead.segment_bytes} should be a multiple of a mapping unit of"
            f" {unit} B, and at most read_ahead.window_bytes = {ahead.window_bytes}"
        )


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
    _check_die_choice(drive, where)
    capacity = capacity_of(drive)
    device_units = capacity.flash_units // capacity.devices
    if device_units >= _PHYSICAL_UNITS_END:
        raise InputError(
            f"{where}: the geometry makes {device_units} mapping units of {unit} B, more than the"
            f" {_PHYSICAL_UNITS_END - 1} that a map of 32 bits an entry can name; a larger ftl.mapping_unit_bytes helps"
        )
    if capacity.units_per_erase_unit < 2:
        raise InputError(
            f"{where}: nand.pages_per_block = {nand.pages_per_block} should be at least 2: an erase unit holds two"
            " mapping units or more"
        )
    _check_slc_cache(drive, where)
    if capacity.erase_units < 1:
        erase_units = capacity.flash_units // capacity.devices // capacity.units_per_erase_unit
        raise InputError(
            f"{where}: ftl.reserved_bytes = {ftl.reserved_bytes} and slc_cache.static_bytes ="
            f" {drive.slc_cache.static_bytes} should leave one or more of the {erase_units} erase units of"
            f" {capacity.units_per_erase_unit * unit} B"
        )
    _check_housekeeping(drive, capacity, where)
    _check_data_reduction(drive, capacity, where)
    stripe = drive.parity.units_per_stripe
    if stripe > capacity.units_per_erase_unit:
        raise InputError(
            f"{where}: parity.units_per_stripe = {stripe} should be 0 (none) or at most the"
            f" {capacity.units_per_erase_unit} mapping units of an erase unit"
        )


def _check_die_choice(drive: DriveFile, where: str) -> None:
    nand, ftl = drive.nand, drive.ftl
    choice = ftl.die_choice.name
    if ftl.erase_unit == "superblock" and choice != "round-robin":
        raise InputError(
            f"{where}: ftl.die_choice = {choice!r} should be 'round-robin' with ftl.erase_unit = 'superblock', whose"
            " stripe says which die is next; with 'block' each die has an open block of its own"
        )
    open_blocks = policies.open_blocks_per_stream(ftl.erase_unit, nand.channels * nand.dies_per_channel, choice)
    has_one_frontier = drive.slc_cache.is_on or drive.data_reduction.is_on
    if has_one_frontier and open_blocks > 1:
        raise InputError(
            f"{where}: ftl.die_choice = {choice!r} should be {policies.ONE_BLOCK!r} for a drive of single blocks on"
            " several dies with an [slc_cache] or data reduction"
        )


def _check_housekeeping(drive: DriveFile, capacity: Capacity, where: str) -> None:
    housekeeping = drive.housekeeping
    if housekeeping.wear_leveling and drive.ftl.wear_leveling.name != "static":
        raise InputError(
            f"{where}: housekeeping.wear_leveling = true needs ftl.wear_leveling = 'static': no other has work for idle"
            " time"
        )
    bytes_per_erase_unit = capacity.units_per_erase_unit * capacity.mapping_unit_bytes
    if -(-housekeeping.erased_pool_bytes // bytes_per_erase_unit) >= capacity.erase_units // capacity.devices:
        raise InputError(
            f"{where}: housekeeping.erased_pool_bytes = {housekeeping.erased_pool_bytes} should be less than the"
            f" {capacity.physical_bytes} B of flash"
        )


def _check_data_reduction(drive: DriveFile, capacity: Capacity, where: str) -> None:
    reduction, unit = drive.data_reduction, drive.ftl.mapping_unit_bytes
    if not reduction.is_on:
        return
    packing = reduction.packing_bytes
    packing_min = max(1, unit // _PLACES_PER_UNIT_MAX)
    if packing & (packing - 1) or not packing_min <= packing <= unit:
        raise InputError(
            f"{where}: data_reduction.packing_bytes = {packing} should be a power of two from {packing_min} to"
            f" ftl.mapping_unit_bytes = {unit}"
        )
    if capacity.flash_units // capacity.devices * (unit // packing) >= _PHYSICAL_UNITS_END:
        raise InputError(
            f"{where}: data_reduction.packing_bytes = {packing} makes more pieces of the flash than a map of 32 bits an"
            f" entry can name, {_PHYSICAL_UNITS_END - 1}; a larger one helps"
        )
    if reduction.index_bytes_per_unit > packing // 4:
        raise InputError(
            f"{where}: data_reduction.index_bytes_per_unit = {reduction.index_bytes_per_unit} should be at most a"
            f" quarter of data_reduction.packing_bytes, {packing // 4}"
        )
    if drive.ftl.reserve_erase_units < 2:
        raise InputError(
            f"{where}: ftl.reserve_erase_units = {drive.ftl.reserve_erase_units} should be 2 or more with data"
            " reduction: what is moved may be packed less tightly than it was"
        )
    if drive.map_cache.bytes or drive.read_ahead.window_bytes:
        raise InputError(
            f"{where}: data_reduction does not go with map_cache.bytes = {drive.map_cache.bytes} and"
            f" read_ahead.window_bytes = {drive.read_ahead.window_bytes}; one of them should be off"
        )
    if drive.slc_cache.is_on:
        raise InputError(f"{where}: data_reduction does not go with an [slc_cache]; one of them should be off")
    if drive.housekeeping.defragment:
        raise InputError(
            f"{where}: housekeeping.defragment = true does not go with data reduction: units of different sizes are not"
            " put in order"
        )


def _check_slc_cache(drive: DriveFile, where: str) -> None:
    if not drive.slc_cache.is_on:
        return
    if drive.nand.cell == "slc":
        raise InputError(f"{where}: nand.cell = 'slc' should hold more than one bit for a drive with an [slc_cache]")
    bits = BITS_PER_CELL[drive.nand.cell]
    if drive.nand.pages_per_block < 2 * bits:
        raise InputError(
            f"{where}: nand.pages_per_block = {drive.nand.pages_per_block} should be at least {2 * bits}: in SLC mode a"
            f" block holds 1/{bits} of its pages"
        )
    if drive.ftl.placement.name != "host-gc-split":
        raise InputError(
            f"{where}: ftl.placement = {drive.ftl.placement.name!r} should be 'host-gc-split' for a drive with an"
            " [slc_cache]: what is moved must not go to the cache"
        )


def check_spare(capacity: Capacity, what: str) -> None:
    """Raise InputError, opened by `what`, when cleaning would have nothing to gain or the host nothing to use."""
    if capacity.user_units < 1:
        raise InputError(f"{what} leaves the host less than one mapping unit ({capacity.mapping_unit_bytes} B)")
    if capacity.user_units <= capacity.user_units_max:
        return
    held_back = (
        f"{format_count(capacity.erase_units)} erase units, of which {capacity.reserve_erase_units} are the free"
        f" reserve, {capacity.open_erase_units} stand open and {capacity.devices} must be left for cleaning"
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
