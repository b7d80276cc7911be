"""From a drive file and what an experiment varies (`--op`, `--set`, `--scale`) to a drive that the engine can run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ssdlab.drives import consistency, policies
from ssdlab.drives import settings as drive_settings
from ssdlab.drives.capacity import Capacity, capacity_of, slc_bytes_per_erase_unit
from ssdlab.drives.schema import POLICY_KINDS, DriveFile, Source
from ssdlab.errors import InputError
from ssdlab.quantities import format_count, format_scale, format_share

# Below this an erase unit is no longer a large population of units, and the ratios of the big drive do not hold.
_UNITS_PER_ERASE_UNIT_MIN = 64
# Sizes that the engine takes as whole erase units.
_IN_ERASE_UNITS = (("ftl", "reserved_bytes"), ("housekeeping", "erased_pool_bytes"))


@dataclass(frozen=True)
class ResolvedDrive:
    """A drive with every choice made. `file` holds the final values; `scale` is what they are of the full drive's."""

    file: DriveFile
    capacity: Capacity
    scale: Fraction
    settings: dict[str, str]

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def endurance_cycles(self) -> int:
        return self.file.nand.endurance_cycles

    def specification(self) -> dict[str, Any]:
        """The drive as the engine's specification has it: `crates/engine/src/specification/drive.rs`."""
        ftl = self.file.ftl.model_dump()
        for kind in POLICY_KINDS:
            ftl[kind] = policies.with_defaults(kind, getattr(self.file.ftl, kind))
        return {
            "name": self.name,
            "nand": self.file.nand.model_dump(),
            "ftl": ftl,
            "write_buffer": self.file.write_buffer.model_dump(),
            "controller": self.file.controller.model_dump(),
            "host_link": self.file.host_link.model_dump(),
            "housekeeping": self.file.housekeeping.model_dump(),
            "slc_cache": self.file.slc_cache.model_dump(),
            "map_cache": self.file.map_cache.model_dump(),
            "read_ahead": self.file.read_ahead.model_dump(),
            "data_reduction": self.file.data_reduction.model_dump(),
            "parity": self.file.parity.model_dump(),
            "faults": self.file.faults.model_dump(),
            "stripe": self.file.stripe.model_dump(),
        }


def resolve(
    drive: DriveFile,
    *,
    over_provisioning: float | None = None,
    settings: Mapping[str, str] | None = None,
    scale: Fraction | None = None,
) -> ResolvedDrive:
    """The drive with `settings` applied, U set from `over_provisioning` (a share, 0.07), then made smaller by `scale`.

    `settings` maps `table.key` to a TOML value. Raises InputError when a key or value is wrong, when the spare area
    is too small for cleaning, or when the scale leaves too small an erase unit.
    """
    settings = dict(settings or {})
    where = f"drive {drive.name!r}"
    label_bytes = drive.market.sold_bytes or drive.ftl.user_bytes
    changed = drive_settings.apply(drive, settings) if settings else drive
    if "market.sold_bytes" in settings or (drive.market.sold_bytes is None and "ftl.user_bytes" in settings):
        label_bytes = changed.market.sold_bytes or changed.ftl.user_bytes
    if over_provisioning is not None:
        if "ftl.user_bytes" in settings:
            raise InputError("--op and --set ftl.user_bytes both say what the host may use; give one of them")
        changed = _with_over_provisioning(changed, over_provisioning, where)
    consistency.check(changed, where)
    if scale is None or scale == 1:
        return ResolvedDrive(changed, capacity_of(changed, sold_bytes=label_bytes), Fraction(1), settings)
    full = capacity_of(changed)
    changed, scale = _with_scale(changed, full, scale, where)
    return ResolvedDrive(changed, capacity_of(changed, sold_bytes=round(label_bytes * scale)), scale, settings)


def _with_over_provisioning(drive: DriveFile, over_provisioning: float, where: str) -> DriveFile:
    shown = format_share(over_provisioning)
    if not math.isfinite(over_provisioning) or over_provisioning < 0:
        raise InputError(f"{where}: --op {over_provisioning} should be 0% or more")
    consistency.check_geometry(drive, where)
    # Through the decimal text, so that 0.07 is 7/100 and U is what a reader computes by hand.
    user_units = math.floor(capacity_of(drive).physical_units / (1 + Fraction(str(over_provisioning))))
    if user_units < 1:
        raise InputError(f"{where}: --op {shown} leaves the host less than one mapping unit")
    source = Source(kind="assumed", source=f"set on the command line: --op {shown.replace(' ', '')}")
    changed = _replaced(drive, "ftl", "user_bytes", user_units * drive.ftl.mapping_unit_bytes, source)
    consistency.check_spare(capacity_of(changed), f"{where}: --op {shown}")
    return changed


def _with_scale(drive: DriveFile, full: Capacity, scale: Fraction, where: str) -> tuple[DriveFile, Fraction]:
    """Fewer pages in a block; as many dies and erase units, and the same OP. Also the scale that came of it.

    The smaller block is erased in as much less time, so that an erase costs a page what it does in the full drive, and
    throughput holds. What is held out, the SLC cache and what idle cleaning keeps erased are as many erase units as
    before; the map cache keeps its share of the map; times of idle work stay as they are. So do write buffer and
    read-ahead: they hold milliseconds of requests, whatever the size of the drive.
    """
    pages = drive.nand.pages_per_block
    units_per_page_row = full.units_per_erase_unit // pages
    pages_min = -(-_UNITS_PER_ERASE_UNIT_MIN // units_per_page_row)
    asked = f"{where}: --scale {format_scale(scale)}"
    if not 0 < scale <= 1:
        raise InputError(f"{asked} should be above 0 and at most 1")
    scaled_pages = round(pages * scale)
    if scaled_pages < pages_min:
        limit = f"the smallest scale for this drive is {format_scale(Fraction(pages_min, pages))}"
        if pages_min >= pages:
            limit = "this drive cannot be made smaller"
        raise InputError(
            f"{asked} would leave an erase unit with {format_count(scaled_pages * units_per_page_row)} mapping units,"
            f" at least {_UNITS_PER_ERASE_UNIT_MIN} are needed; {limit}"
        )
    changes: dict[str, tuple[float, float]] = {"pages_per_block": (pages, scaled_pages)}
    changes["erase_us"] = (drive.nand.erase_us, drive.nand.erase_us * scaled_pages / pages)
    smaller = drive
    for key, (full_value, value) in changes.items():
        said = f"{full_value:g} in the full drive, made smaller: --scale {format_scale(scale)}"
        smaller = _replaced(smaller, "nand", key, value, Source(kind="assumed", source=said))
    # As many erase units as in the full drive, where a size is made of whole ones.
    for table, key in _IN_ERASE_UNITS:
        size = getattr(getattr(drive, table), key)
        if size:
            bytes_per_erase_unit = full.units_per_erase_unit * full.mapping_unit_bytes
            scaled_size = -(-size // bytes_per_erase_unit) * bytes_per_erase_unit * scaled_pages // pages
            said = f"{size} in the full drive, made smaller: --scale {format_scale(scale)}"
            smaller = _replaced(smaller, table, key, scaled_size, Source(kind="assumed", source=said))
    for key in ("static_bytes", "dynamic_bytes_max"):
        size = getattr(drive.slc_cache, key)
        if size:
            scaled_size = -(-size // slc_bytes_per_erase_unit(drive)) * slc_bytes_per_erase_unit(smaller)
            said = f"{size} in the full drive, made smaller: --scale {format_scale(scale)}"
            smaller = _replaced(smaller, "slc_cache", key, scaled_size, Source(kind="assumed", source=said))
    reads = drive.housekeeping.read_disturb_reads
    if reads:
        said = f"{reads} in the full drive, in a smaller block: --scale {format_scale(scale)}"
        scaled_reads = max(1, round(reads * scaled_pages / pages))
        source = Source(kind="assumed", source=said)
        smaller = _replaced(smaller, "housekeeping", "read_disturb_reads", scaled_reads, source)
    cache = drive.map_cache
    if cache.bytes:
        cache_bytes = max(round(cache.bytes * scaled_pages / pages), cache.entries_per_map_page * cache.entry_bytes)
        said = f"{cache.bytes} in the full drive, made smaller: --scale {format_scale(scale)}"
        smaller = _replaced(smaller, "map_cache", "bytes", cache_bytes, Source(kind="assumed", source=said))
    physical_units = capacity_of(smaller).physical_units
    user_units = physical_units * full.user_units // full.physical_units
    smaller = _replaced(
        smaller, "ftl", "user_bytes", user_units * drive.ftl.mapping_unit_bytes, drive.source_of("ftl.user_bytes")
    )
    consistency.check(smaller, asked)
    return smaller, Fraction(scaled_pages, pages)


def _replaced(drive: DriveFile, table: str, key: str, value: Any, source: Source) -> DriveFile:
    changed_table = getattr(drive, table).model_copy(update={key: value})
    return drive.model_copy(
        update={table: changed_table, "sources": drive.sources | {f"{table}.{key}": source}},
    )
