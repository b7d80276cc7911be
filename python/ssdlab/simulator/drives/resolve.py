"""Applies the changes of an experiment (`--op`, `--set`, `--scale`) to a drive file, for a run of the engine."""

import copy
import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError, notify
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import (
    OVER_PROVISIONING_MAX,
    format_bytes,
    format_count,
    format_scale,
    format_share,
    left_empty_of,
    parse_scale,
    spare_area_of,
)
from ssdlab.simulator.drives import namespaces
from ssdlab.simulator.drives import settings as drive_settings
from ssdlab.simulator.drives.loader import load
from ssdlab.simulator.drives.schema import DriveFile, Source, changed, described, drive_of, problems
from ssdlab.simulator.engine import plain
from ssdlab.simulator.engine.types import DriveCapacity
from ssdlab.simulator.specification import ChosenScale, PowerJson

# With fewer units per erase unit, the ratios of the full drive do not hold.
_UNITS_PER_ERASE_UNIT_MIN = 64
# With fewer erase units, the reserve and the open erase units are a large share of the drive.
_ERASE_UNITS_MIN = 128
# The same for a drive that is made smaller by fewer blocks, to be looked at from outside.
_WHOLE_ERASE_UNITS_MIN = 64
# Sizes that the engine rounds to whole erase units.
_IN_ERASE_UNITS = ("ftl.reserved_bytes", "background.erased_pool_bytes")
_IN_SLC_ERASE_UNITS = ("slc_cache.static_bytes", "slc_cache.dynamic_bytes_max")


@dataclass(frozen=True, repr=False)
class ResolvedDrive:
    """A drive with all changes applied. `file` has the final values; `scale` is the share of the full drive."""

    file: DriveFile
    scale: Fraction
    settings: dict[str, str]
    of: DriveFile = field(compare=False)
    """The drive file before the changes."""
    asked_over_provisioning: float | None = field(default=None, compare=False)
    asked_left_empty: float | None = field(default=None, compare=False)
    """The spare area that was asked for, by `--op` or by `--left-empty`; None for the drive's own."""
    left_empty: float | None = None
    """The share of its own host capacity that `--op` or `--left-empty` takes away; negative if `--op` adds to it. None
    without either."""
    chosen: ChosenScale | None = None
    """How the scale was chosen; None if it was given."""

    def __repr__(self) -> str:
        scaled = f", {format_scale(self.scale)} of the drive" if self.scale != 1 else ""
        capacity = self.capacity
        share = format_share(capacity.over_provisioning)
        return f"<ResolvedDrive: {self.name}, {format_bytes(capacity.user_bytes)}, OP {share}{scaled}>"

    def at(self, scale: Fraction) -> "ResolvedDrive":
        """The same drive at another scale. Raises InputError if it cannot have that scale."""
        return resolve(
            self.of,
            over_provisioning=self.asked_over_provisioning,
            left_empty=self.asked_left_empty,
            settings=self.settings,
            scale=scale,
        )

    def with_whole_blocks(self) -> "ResolvedDrive":
        """The same drive at the same scale, made smaller by fewer blocks of full size, as a small product is."""
        return resolve(
            self.of,
            over_provisioning=self.asked_over_provisioning,
            left_empty=self.asked_left_empty,
            settings=self.settings,
            scale=self.scale,
            whole_blocks=True,
        )

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def capacity(self) -> DriveCapacity:
        return self.file.capacity

    @property
    def over_provisioning_min(self) -> float:
        """The minimum OP with which garbage collection can work, rounded up to a hundredth of a percent."""
        least = self.capacity.over_provisioning_min
        assert least is not None, "a drive that no over-provisioning makes work is refused"
        return least

    @property
    def endurance_cycles(self) -> int:
        return self.file.nand.endurance_cycles

    @property
    def power(self) -> PowerJson | None:
        """`[power]` in full; None without the values that an energy needs."""
        power = self.file.power
        if power.idle_watts is None or power.read_uj is None or power.program_uj is None:
            return None
        return {
            "idle_watts": power.idle_watts,
            "read_uj": power.read_uj,
            "program_uj": power.program_uj,
            "erase_uj": power.erase_uj,
            "transfer_nj_per_byte": power.transfer_nj_per_byte,
            "command_uj": power.command_uj,
        }

    def specification(self) -> plain.Drive:
        """A copy of the drive in the form of the engine's specification (`crates/engine/src/specification/drive/`)."""
        return copy.deepcopy(self.file.specification)


def drive(
    name_or_path: str | Path,
    op: float | str | None = None,
    *,
    left_empty: float | str | None = None,
    settings: Mapping[str, str] | None = None,
    scale: Fraction | str | None = None,
) -> ResolvedDrive:
    """Loads a drive of the catalogue or a drive file, ready to run.

    `op` is the over-provisioning as a share (0.07) or a text ("7%"), or None for the drive's own. A number above 1 is
    rejected, because 7 is not 7 %. `left_empty` is the share of the drive that the host leaves empty, instead of `op`:
    0.2 or "20%" of a drive with 10 % is an over-provisioning of 37.5 %. `settings` maps keys of the drive file to
    values ({"ftl.victim": "fifo"}). `scale` ("1/16") makes the drive smaller, with the same ratios. Raises InputError
    with the argument or key, its value and the allowed values.

        ssdlab.drive("generic-tlc-480", op="7%", settings={"ftl.victim": "fifo"}).capacity.user_bytes
    """
    return resolve(
        load(str(name_or_path)),
        over_provisioning=None if op is None else spare_area_of(op),
        left_empty=None if left_empty is None else left_empty_of(left_empty),
        settings=settings,
        scale=parse_scale(scale) if isinstance(scale, str) else scale,
    )


def resolve(
    drive: DriveFile,
    *,
    over_provisioning: float | None = None,
    left_empty: float | None = None,
    settings: Mapping[str, str] | None = None,
    scale: Fraction | None = None,
    whole_blocks: bool = False,
) -> ResolvedDrive:
    """The drive with `settings` applied, U set from `over_provisioning` (a share, 0.07) or reduced by `left_empty` (a
    share of U), then all reduced by `scale`: by smaller blocks, or with `whole_blocks` by fewer.

    `settings` maps `table.key` to a TOML value. Raises InputError if a key or value is not valid, the spare area is too
    small for garbage collection, or the scale makes erase units too small.
    """
    settings = dict(settings or {})
    where = f"drive {drive.name!r}"
    label_bytes = drive.market.sold_bytes or drive.ftl.user_bytes
    varied = drive_settings.apply(drive, settings) if settings else drive
    if "market.sold_bytes" in settings or (drive.market.sold_bytes is None and "ftl.user_bytes" in settings):
        label_bytes = varied.market.sold_bytes or varied.ftl.user_bytes
    own_bytes = varied.ftl.user_bytes
    if over_provisioning is not None:
        if "ftl.user_bytes" in settings:
            raise InputError("--op and --set ftl.user_bytes both say what the host may use; give one of them")
        if left_empty is not None:
            raise InputError("--op and --left-empty both say what the host may use; give one of them")
        varied = _with_over_provisioning(varied, over_provisioning, where)
    elif left_empty is not None:
        varied = _with_left_empty(varied, left_empty, where)
    is_changed = over_provisioning is not None or left_empty is not None
    empty = 1 - varied.ftl.user_bytes / own_bytes if is_changed else None
    if scale is None or scale == 1:
        whole = drive_of(varied.content, where, sold_bytes=label_bytes)
        return ResolvedDrive(whole, Fraction(1), settings, drive, over_provisioning, left_empty, empty)
    full = drive_of(varied.content, where)
    content, scale = _with_scale(full, scale, where, whole_blocks=whole_blocks)
    asked = f"{where}: --scale {format_scale(scale)}"
    smaller = drive_of(content, asked, sold_bytes=round(label_bytes * scale))
    return ResolvedDrive(smaller, scale, settings, drive, over_provisioning, left_empty, empty)


_AS_SOLD_BELOW = 0.0005
"""A share of the drive that over-provisioning as people write it, with two decimals, does not tell apart."""


def left_empty_sentences(drives: Sequence[ResolvedDrive]) -> list[str]:
    """A sentence for each drive with `--op` or `--left-empty`: the share left empty beside the over-provisioning, since
    one is a share of the drive and the other of what remains of it."""
    by_name: dict[str, dict[str, None]] = {}
    for each in drives:
        if each.left_empty is None:
            continue
        op = format_share(each.capacity.over_provisioning)
        share = format_share(abs(each.left_empty))
        if abs(each.left_empty) < _AS_SOLD_BELOW:
            words = f"OP {op} is as sold"
        elif each.left_empty < 0:
            words = f"OP {op} leaves nothing empty and gives the host {share} more than as sold"
        else:
            words = f"OP {op} leaves {share} of it empty"
        by_name.setdefault(each.name, {})[words] = None
    return [f"{name}: {'; '.join(words)}" for name, words in by_name.items()]


def _with_over_provisioning(drive: DriveFile, over_provisioning: float, where: str) -> DriveFile:
    shown = format_share(over_provisioning)
    _refuse_zones(drive, f"{where}: --op {shown}")
    if not 0 <= over_provisioning <= OVER_PROVISIONING_MAX:
        raise InputError(f"{where}: --op {shown} should be 0% to {OVER_PROVISIONING_MAX * 100}%")
    # The decimal text makes 0.07 exactly 7/100, so that U equals the value computed by hand.
    user_units = math.floor(drive.capacity.physical_units / (1 + Fraction(str(over_provisioning))))
    if user_units < 1:
        raise InputError(f"{where}: --op {shown} leaves the host less than one mapping unit")
    content = _with_user_units(drive, user_units, f"--op {shown.replace(' ', '')}")
    for problem in problems(content):
        if problem.kind == "spare-area":
            raise InputError(f"{where}: --op {shown} leaves too little spare area: {problem.allowed}")
    return described(content)


def _with_left_empty(drive: DriveFile, left_empty: float, where: str) -> DriveFile:
    shown = format_share(left_empty)
    _refuse_zones(drive, f"{where}: --left-empty {shown}")
    # The decimal text makes 0.2 exactly 1/5, so that U equals the value computed by hand.
    user_units = math.floor(drive.capacity.user_units * (1 - Fraction(str(left_empty))))
    if user_units < 1:
        raise InputError(f"{where}: --left-empty {shown} leaves the host less than one mapping unit")
    return described(_with_user_units(drive, user_units, f"--left-empty {shown.replace(' ', '')}"))


def _refuse_zones(drive: DriveFile, asked: str) -> None:
    if drive.zones.zone_bytes:
        raise InputError(
            f"{asked} should be left out: the zones say what the host may use; --set ftl.user_bytes, a"
            f" multiple of zones.zone_bytes = {drive.zones.zone_bytes}, changes their number"
        )


def _with_user_units(drive: DriveFile, user_units: int, asked: str) -> JsonObject:
    source = Source(kind="assumed", source=f"set on the command line: {asked}")
    user_bytes = user_units * drive.ftl.mapping_unit_bytes
    return changed(drive.content, {"ftl.user_bytes": user_bytes}, {"ftl.user_bytes": source})


@dataclass(frozen=True)
class _Smaller:
    """The pages and blocks of a smaller drive, and their shares of those of the full drive."""

    pages_per_block: int
    blocks_per_plane: int
    of_pages: Fraction
    of_blocks: Fraction

    @property
    def scale(self) -> Fraction:
        return self.of_pages * self.of_blocks


def _with_scale(drive: DriveFile, scale: Fraction, where: str, *, whole_blocks: bool) -> tuple[JsonObject, Fraction]:
    """The content of a smaller drive with the same dies and OP, and its exact scale.

    Blocks have fewer pages; if that would be too few, there are also fewer blocks. As many of them as have the pages of
    one full block are erased at once, so that the erase time per page, and with it throughput, is unchanged, and a
    request that waits for an erase waits as long. Reserved flash, the SLC cache and the pool kept erased by idle
    garbage collection have the same number of erase units, or the same share of them if there are fewer blocks. The map
    cache has the same share of the map. Times of background work, the write buffer and read-ahead are unchanged:
    buffers hold milliseconds of requests, independent of the drive's size. So is a batch of garbage collection, unless
    it is larger than an erase unit of the smaller drive.
    """
    full, asked = drive.capacity, f"{where}: --scale {format_scale(scale)}"
    if not 0 < scale <= 1:
        raise InputError(f"{asked} should be above 0 and at most 1")
    of = _fewer_blocks(drive, scale, asked) if whole_blocks else _smaller_blocks(drive, scale, asked)
    at_once = max(1, round(1 / of.of_pages))
    smaller: dict[str, float] = {
        "nand.pages_per_block": of.pages_per_block,
        "nand.erase_us": float(drive.nand.erase_us * at_once * of.of_pages),
        "nand.erases_at_once": drive.nand.erases_at_once * at_once,
        "nand.blocks_per_plane": of.blocks_per_plane,
        "power.erase_uj": float(drive.power.erase_uj * of.of_pages),
    }
    bytes_per_erase_unit = full.units_per_erase_unit * full.mapping_unit_bytes

    def erase_units(size: int, bytes_each: int) -> int:
        return math.ceil(-(-size // bytes_each) * of.of_blocks)

    for key in _IN_ERASE_UNITS:
        count = erase_units(_value(drive, key), bytes_per_erase_unit)
        smaller[key] = count * bytes_per_erase_unit * of.pages_per_block // drive.nand.pages_per_block
    smaller["background.read_disturb_reads"] = max(1, round(drive.background.read_disturb_reads * of.of_pages))
    smaller["read_retries.reads"] = float(drive.read_retries.reads * of.of_pages)
    cache = drive.map_cache
    smaller["map_cache.bytes"] = max(round(cache.bytes * of.scale), cache.entries_per_map_page * cache.entry_bytes)
    if of.of_blocks == 1:
        del smaller["nand.blocks_per_plane"]
    content = _with_smaller(drive.content, drive, smaller, scale)
    slc_bytes = described(content).capacity.slc_bytes_per_erase_unit
    slc = {
        key: erase_units(_value(drive, key), full.slc_bytes_per_erase_unit) * slc_bytes for key in _IN_SLC_ERASE_UNITS
    }
    content = _with_smaller(content, drive, slc, scale)
    content = _with_batch(content, drive, of.of_pages, scale, asked)
    if drive.zones.zone_bytes:
        return _with_zones(content, drive, scale, of.of_blocks), of.scale
    user_units = described(content).capacity.physical_units * full.user_units // full.physical_units
    user_bytes = user_units * drive.ftl.mapping_unit_bytes
    content = changed(content, {"ftl.user_bytes": user_bytes}, {"ftl.user_bytes": drive.source_of("ftl.user_bytes")})
    content = namespaces.scaled(content, drive.ftl.user_bytes, drive.ftl.mapping_unit_bytes)
    return content, of.scale


def _with_batch(content: JsonObject, drive: DriveFile, of_pages: Fraction, scale: Fraction, asked: str) -> JsonObject:
    """The content with a batch of garbage collection that is the same share of an erase unit as in the full drive, if
    it would otherwise be larger than an erase unit.

    Such a batch empties several victims at once, and with skewed writes the write amplification differs from that of
    the full drive. It is rounded to whole programs, of which the batch of a full drive has many. Smaller batches are
    unchanged: they are a program or a burst of milliseconds. A note says from which scale on the batch remains.
    """
    policy = drive.ftl.gc_throttling
    units = policy.parameters.get("units")
    if units is None or units <= described(content).capacity.data_units_per_erase_unit:
        return content
    blocks = drive.nand.planes_per_die if drive.ftl.erase_unit == "superblock" else 1
    units_per_page = drive.nand.page_bytes // drive.ftl.mapping_unit_bytes
    units_per_program = blocks * drive.nand.pages_per_program * units_per_page
    smaller = max(1, round(units * of_pages / units_per_program)) * units_per_program
    parts = drive.capacity.data_units_per_erase_unit // units
    remains = f"from 1/{parts} on it remains" if parts else "it is larger than an erase unit of the full drive too"
    notify(
        [
            f"{asked} makes a batch of garbage collection smaller, {smaller:,} of {units:,} units, so that it is no"
            f" larger than an erase unit: requests wait for shorter bursts than on the full drive; {remains}"
        ]
    )
    said = f"{units} units in the full drive, made smaller: --scale {format_scale(scale)}"
    choice = {"name": policy.name, **policy.parameters, "units": smaller}
    source = {"ftl.gc_throttling": Source(kind="assumed", source=said)}
    return changed(content, {"ftl.gc_throttling": choice}, source)


def _with_zones(content: JsonObject, drive: DriveFile, scale: Fraction, of_blocks: Fraction) -> JsonObject:
    """The content with zones reduced like the erase units that hold them, and as many zones as there are blocks for."""
    zones, unit_bytes = drive.zones, drive.ftl.mapping_unit_bytes
    smaller_units = described(content).capacity.data_units_per_erase_unit
    capacity_bytes = zones.capacity_bytes or zones.zone_bytes
    full_units = drive.capacity.data_units_per_erase_unit
    # The write pointer passes a random write area, which is memory and stays as it is, in steps of a flush.
    step_units = max(1, zones.flush_granularity_bytes // unit_bytes)
    capacity_units = capacity_bytes * smaller_units // full_units // unit_bytes // step_units * step_units
    capacity_units = max(step_units, capacity_units)
    zone_bytes = -(-zones.zone_bytes * capacity_units // capacity_bytes) * unit_bytes
    sizes = {
        "zones.zone_bytes": zone_bytes,
        "zones.capacity_bytes": capacity_units * unit_bytes,
        "ftl.user_bytes": math.floor(drive.ftl.user_bytes // zones.zone_bytes * of_blocks) * zone_bytes,
    }
    if zones.random_write_area_bytes > capacity_units * unit_bytes:
        sizes["zones.random_write_area_bytes"] = capacity_units * unit_bytes
    said = f"made smaller: --scale {format_scale(scale)}"
    return changed(content, sizes, {key: Source(kind="assumed", source=said) for key in sizes})


def _smaller_blocks(drive: DriveFile, scale: Fraction, asked: str) -> _Smaller:
    pages, blocks = drive.nand.pages_per_block, drive.nand.blocks_per_plane
    # A program operation fills whole word lines.
    step = drive.nand.pages_per_program
    scaled_pages = round(pages * scale / step) * step
    pages_min = _pages_min(drive)
    if scaled_pages >= pages_min:
        return _Smaller(scaled_pages, blocks, Fraction(scaled_pages, pages), Fraction(1))
    # Up to twice the minimum number of pages, if the scale is then exact.
    wanted = pages * blocks * scale
    exact = (each for each in range(pages_min, 2 * pages_min, step) if (wanted / each).denominator == 1)
    scaled_pages = next(exact, pages_min)
    scaled_blocks = round(wanted / scaled_pages)
    blocks_min = -(-_ERASE_UNITS_MIN * blocks // drive.capacity.erase_units)
    if scaled_pages <= pages and scaled_blocks >= blocks_min:
        notify(
            [
                f"{asked} leaves {scaled_blocks:,} of {blocks:,} blocks in a plane, because a block needs at least"
                f" {format_count(pages_min)} page{'s' * (pages_min > 1)}; erase units in reserve are then a larger"
                " share of the spare area, and write amplification is higher than in the full drive. From"
                f" 1/{pages // pages_min} on it has all blocks"
            ]
        )
        return _Smaller(scaled_pages, scaled_blocks, Fraction(scaled_pages, pages), Fraction(scaled_blocks, blocks))
    smallest = Fraction(pages_min, pages) * min(Fraction(blocks_min, blocks), Fraction(1))
    limit = "this drive cannot be made smaller"
    if smallest < 1:
        limit = f"the smallest scale for this drive is {format_scale(smallest)}"
    raise InputError(
        f"{asked} would leave too little: an erase unit needs {_UNITS_PER_ERASE_UNIT_MIN} mapping units or more, and"
        f" the drive {_ERASE_UNITS_MIN} erase units or more; {limit}"
    )


def _fewer_blocks(drive: DriveFile, scale: Fraction, asked: str) -> _Smaller:
    pages, blocks = drive.nand.pages_per_block, drive.nand.blocks_per_plane
    fewer = round(blocks * scale)
    erase_units = drive.capacity.erase_units * fewer // blocks
    if erase_units < _WHOLE_ERASE_UNITS_MIN:
        parts = _parts_with_whole_blocks(drive)
        limit = f"the smallest scale for this drive is 1/{parts}" if parts else "leave --scale out"
        raise InputError(
            f"{asked} leaves {erase_units:,} erase units of full size; {_WHOLE_ERASE_UNITS_MIN} are needed to see them"
            f" one by one; {limit}"
        )
    return _Smaller(pages, fewer, Fraction(1), Fraction(fewer, blocks))


def _parts_with_whole_blocks(drive: DriveFile) -> int | None:
    """N of the smallest scale 1/N that leaves enough erase units and enough spare area; None if there is none."""
    blocks, erase_units = drive.nand.blocks_per_plane, drive.capacity.erase_units
    for parts in range(erase_units // _WHOLE_ERASE_UNITS_MIN, 1, -1):
        if erase_units * round(Fraction(blocks, parts)) // blocks < _WHOLE_ERASE_UNITS_MIN:
            continue
        with warnings.catch_warnings(action="ignore"), suppress(InputError):
            resolve(drive, scale=Fraction(1, parts), whole_blocks=True)
            return parts
    return None


def _pages_min(drive: DriveFile) -> int:
    """The minimum number of pages per block that the engine accepts and that has enough mapping units."""
    step = drive.nand.pages_per_program
    units_per_page_row = drive.capacity.units_per_erase_unit // drive.nand.pages_per_block
    pages = -(-_UNITS_PER_ERASE_UNIT_MIN // (units_per_page_row * step)) * step
    while pages < drive.nand.pages_per_block and _is_refused(drive, "nand.pages_per_block", pages):
        pages += step
    return pages


def _is_refused(drive: DriveFile, key: str, value: float) -> bool:
    content = changed(drive.content, {key: value}, {key: drive.source_of(key)})
    return any(problem.key == key for problem in problems(content))


def _with_smaller(
    content: Mapping[str, Any], drive: DriveFile, smaller: Mapping[str, float], scale: Fraction
) -> JsonObject:
    """The content with the smaller values, and sources that give the full drive's values. Values of 0 (off) stay 0."""
    values = {key: value for key, value in smaller.items() if _value(drive, key)}
    said = {
        key: f"{_value(drive, key):.15g} in the full drive, made smaller: --scale {format_scale(scale)}"
        for key in values
    }
    return changed(content, values, {key: Source(kind="assumed", source=source) for key, source in said.items()})


def _value(drive: DriveFile, key: str) -> Any:
    table, _, name = key.partition(".")
    return getattr(getattr(drive, table), name)
