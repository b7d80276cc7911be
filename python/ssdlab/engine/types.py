"""Drive files, capacities and problems in the engine's own words.

Written by `make docs` from `_engine.schema()`; changes belong into the Rust types. Units are in the names.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class PolicyChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A policy and its own parameters, every one of them given."""

    name: str
    parameters: dict[str, Any]


Cell = Literal["slc", "mlc", "tlc", "qlc"]
Duplex = Literal["full", "half"]
EraseUnitKind = Literal["block", "superblock"]
Eviction = Literal["lru", "clock"]
MapForm = Literal["page", "extent"]
ProblemKind = Literal["unknown-key", "missing-key", "value", "no-source", "spare-area"]
SourceKind = Literal["datasheet", "measured", "fitted", "assumed"]
SpareArea = Literal["dynamic", "static"]
WhenFull = Literal["direct", "fold"]


class BackgroundOperations(msgspec.Struct, frozen=True, kw_only=True):
    """What the drive does in idle time; all of it is off unless a key turns it on. Without a clock there is no idle
    time."""

    idle_after_ms: float
    """How long nothing must have been asked of the drive before it begins"""
    erased_pool_bytes: int
    """Idle garbage collection keeps so much erased for the host, besides the reserve; 0: no garbage collection ahead"""
    defragment: bool
    """Whether idle time rewrites in the order of addresses what lies otherwise"""
    wear_leveling: bool
    """Whether static wear levelling waits for idle time"""
    read_disturb_reads: int
    """Page reads of a block after which its data is moved; 0: never"""
    retention_days: float
    """Age at which data is moved; 0: never"""


class Controller(msgspec.Struct, frozen=True, kw_only=True):
    """The controller's own time."""

    command_us: float
    """To answer a command that touches no flash, or to take a write into the buffer"""
    commands_per_second_max: int
    """Commands that it takes a second; 0: no limit"""
    command_slots: int
    """Commands inside the drive at a time, reads and writes alike; others wait in the order of their arrival; 0: no
    limit"""
    program_us: float
    """To hand a program on to the flash, the host's or garbage collection's; meanwhile it takes no write into the
    buffer"""


class DataReduction(msgspec.Struct, frozen=True, kw_only=True):
    """What the drive does not write although the host does; off unless a key turns it on."""

    compression: bool
    """Whether data is compressed before it is programmed"""
    deduplication: bool
    """Whether what is stored already is stored again only by name"""
    packing_bytes: int
    """Reduced data takes a whole number of these; a power of two"""
    index_bytes_per_unit: int
    """The index's entry for each stored unit, programmed as metadata"""


class DescribedDrive(msgspec.Struct, frozen=True, kw_only=True):
    """A drive whose description has no problems."""

    file: DriveFile
    """The file with every value in it, defaults and parameters of policies too."""
    capacity: DriveCapacity
    memory: Memory
    """Of the drive alone, without the jobs of a run."""


class DriveCapacity(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a drive, all devices of a stripe together. T is `physical_units`, U is `user_units`; a unit is a mapping
    unit."""

    mapping_unit_bytes: int
    flash_units: int
    """T and what is held out of it: all of the flash."""
    flash_bytes: int
    physical_units: int
    physical_bytes: int
    user_units: int
    user_bytes: int
    held_out_bytes: int
    spare_bytes: int
    """T - U; below zero where the host would use more than there is."""
    sold_bytes: int
    """The capacity on the label of the drive, whatever share of it the host uses now."""
    over_provisioning: float
    """(T - U) / U"""
    spare_factor: float
    """(T - U) / T"""
    hidden_over_provisioning: float
    """(T - S) / S for the S that the drive is sold as: 7.37 % for GiB of flash sold as GB."""
    over_provisioning_min: float | None
    """The least (T - U) / U that leaves garbage collection something to gain, rounded up to a hundredth of a percent;
    null: none does."""
    user_units_max: int
    """The most that the host may use while garbage collection still has one whole erase unit to gain; 0 or less:
    none."""
    planes: int
    blocks: int
    erase_units: int
    blocks_per_erase_unit: int
    units_per_erase_unit: int
    data_units_per_erase_unit: int
    """The part of an erase unit that is not parity."""
    slc_bytes_per_erase_unit: int
    """What an erase unit holds in SLC mode, without parity."""
    reserve_erase_units: int
    """Held back from garbage collection: the free reserve and what is open."""
    open_erase_units: int
    open_blocks_per_stream: int
    """How many erase units each stream has open: a single block on every die, unless one is filled at a time."""
    data_units: int
    """Units that can hold data once parity and factory bad blocks are off."""
    devices: int
    """Devices of the stripe."""


class DriveFile(msgspec.Struct, frozen=True, kw_only=True):
    """A drive file: TOML, with the source of every value in it."""

    name: str
    """What the drive is called; a drive of the catalogue by the name of its file."""
    nand: Nand
    ftl: Ftl
    write_buffer: WriteBuffer
    controller: Controller
    host_link: HostLink
    background: BackgroundOperations
    slc_cache: SlcCache
    map_cache: MapCache
    read_ahead: ReadAhead
    data_reduction: DataReduction
    parity: Parity
    faults: Faults
    stripe: Stripe
    zones: Zones
    description: str
    """What kind of drive it is, in a sentence."""
    identity: Identity
    market: Market
    sources: dict[str, Source]
    """The source of each value, by `"table.key"`, or by `"table.*"` for all others of a table."""


class Faults(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks that fail."""

    factory_bad_blocks: float
    """Share of blocks that are bad from the start"""
    wear_out: bool
    """Whether a block past its endurance fails and is retired"""
    endurance_spread: float
    """Standard deviation of endurance as a share of `endurance_cycles`"""


class Ftl(msgspec.Struct, frozen=True, kw_only=True):
    """The translation layer: what the host may use, and what decides where data goes."""

    user_bytes: int
    """What the host may use"""
    mapping_unit_bytes: int
    """What the map maps"""
    erase_unit: EraseUnitKind
    """What garbage collection empties and erases at once"""
    victim: PolicyChoice
    """Which erase unit is cleaned next"""
    placement: PolicyChoice
    """Which open erase unit a write goes to"""
    wear_leveling: PolicyChoice
    """How erases are spread"""
    reserve_erase_units: int
    """Kept free: garbage collection runs before there are fewer"""
    spare_area: SpareArea
    """Whether free and trimmed space helps garbage collection"""
    reserved_bytes: int
    """Flash held out of T for tables and firmware, in whole erase units, rounded up"""
    gc_throttling: PolicyChoice
    """How fast a victim is emptied while the host goes on writing"""
    die_choice: PolicyChoice
    """Which die a program group goes to, where erase units are single blocks"""


class HostLink(msgspec.Struct, frozen=True, kw_only=True):
    """The link between host and drive. SATA's directions take turns, those of PCIe do not."""

    interface: str
    """None, which takes no time; sata-3g, sata-6g; generation and lanes: pcie3x4"""
    mb_s: float | None
    """Rate of data, instead of the interface's"""
    duplex: Duplex | None
    """Whether both directions take turns, instead of the interface's; SATA's do"""
    command_us: float
    """Time for which a command occupies the link in addition to its data"""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Which product it is, for a real one."""

    maker: str | None
    """Maker"""
    model: str | None
    """Model"""
    year: int | None
    """Year of its description"""
    controller: str | None
    """Controller"""
    interface: str | None
    """Host interface"""


class MapCache(msgspec.Struct, frozen=True, kw_only=True):
    """Memory for a part of the map; the whole of it lies in flash, in map pages of one mapping unit each."""

    bytes: int
    """Memory for a part of the map, the rest of which lies in flash; 0: the whole map is in memory"""
    entries_per_map_page: int
    """Map entries fetched and written back together, as one mapping unit of flash"""
    entry_bytes: int
    """What one entry takes"""
    eviction: Eviction
    """Which cached map page makes room"""
    form: MapForm
    """An entry for each unit, or one in memory for each segment written in order"""
    miss_us: float
    """The firmware's own time for a map page that is not in memory, besides the flash read"""


class Market(msgspec.Struct, frozen=True, kw_only=True):
    """What the maker and the shop say about it. The price's date belongs into its source."""

    sold_bytes: int | None
    """Capacity on the label"""
    rated_tbw: float | None
    """Rated endurance, 10^12 bytes of host writes"""
    rated_dwpd: float | None
    """Rated drive writes per day"""
    rated_years: float | None
    """Years that the rating is for"""
    price_usd: float | None
    """Price"""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of memory of a run, in two parts."""

    of_units_bytes: int
    """Tables by mapping unit: a drive of half the scale takes half of them."""
    other_bytes: int
    """Everything else; it is the same at every scale."""


class Namespace(msgspec.Struct, frozen=True, kw_only=True):
    """A namespace, as NVMe has them: a range of the drive's addresses that the host sees as a device. Namespaces lie
    one behind another in the order of the file; what they leave of `ftl.user_bytes` is allocated to none and is spare
    area. They share spare area, open erase units, dies and channels. A job's `filename` chooses one, by `/dev/nvme0n1`
    for the first, `/dev/nvme0n2` for the second and so on, or by its name."""

    name: str
    """Name, which no other namespace of the drive has"""
    size_bytes: int
    """Capacity of the namespace; all of them together at most `ftl.user_bytes`"""


class Nand(msgspec.Struct, frozen=True, kw_only=True):
    """The flash: how it is built, and how long its operations take."""

    cell: Cell
    """Bits in a cell: 1, 2, 3 or 4"""
    channels: int
    """Buses between controller and flash"""
    dies_per_channel: int
    """Dies on a channel"""
    planes_per_die: int
    """Planes in a die"""
    blocks_per_plane: int
    """Blocks in a plane"""
    pages_per_block: int
    """Pages in a block"""
    page_bytes: int
    """Data in a page, without its spare bytes"""
    read_us: float | list[float]
    """From cells to page register; a list: by page of a word line"""
    copy_read_us: float
    """How long a page that is copied holds its die until its transfer, where garbage collection reads the pages of
    several planes at once; 0: as long as any read"""
    copy_pages_together: int
    """Pages that garbage collection reads from a die one after another before a read of the host may come between, such
    as those of all planes and of a word line; 0: any read of the host comes between two"""
    program_us: float | list[float]
    """From page register to cells; a list: by page of a word line"""
    erase_us: float
    """To erase a block"""
    channel_mb_s: float
    """Transfer rate of a channel, 10^6 bytes a second"""
    endurance_cycles: int
    """Programs and erases that a block is good for"""
    pages_per_program: int
    """Pages that one program fills, all of them in `program_us`: 3 for TLC in one shot; in SLC mode always 1"""
    suspend: bool
    """Whether a read of the host suspends a program or an erase that is under way"""
    program_suspend_us: float
    """From suspending a program until the die can read"""
    erase_suspend_us: float
    """From suspending an erase until the die can read; as long as an erase, where erases are not suspended"""
    suspend_spread_us: float
    """What suspending may take on top, drawn evenly from 0 to this"""
    resume_us: float
    """What a suspended operation takes more, each time it is resumed"""
    suspends_per_operation_max: int
    """How often one operation may be suspended; 0: no limit"""
    cache_program: bool
    """Whether the next page crosses the channel while one is programmed"""
    cache_read: bool
    """Whether the next page is read from the array while one crosses the channel"""
    background_us: float
    """How long a die is now and then at work of its own, which nothing suspends; 0: never"""
    background_per_second: float
    """How often that is, on each die, whatever its load"""


class Parity(msgspec.Struct, frozen=True, kw_only=True):
    """Parity within an erase unit (RAIN)."""

    units_per_stripe: int
    """One mapping unit in so many holds parity; 0: none"""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a drive file."""

    kind: ProblemKind
    key: str
    """`table.key`, or a table, or a key at the top."""
    value: Any
    """As the file has it, or its default; null for a key that is missing."""
    allowed: str
    """Completes "should be"; for an unknown key, what the known ones are keys of."""
    known: list[str]
    """The names that would be right, where there is a list of them."""


class ReadAhead(msgspec.Struct, frozen=True, kw_only=True):
    """Reading ahead of sequential reads."""

    window_bytes: int
    """The most of a sequential stream in flight or in the read buffer; 0: reads go to flash at once"""
    segment_bytes: int
    """What is translated and fetched of a sequential stream at a time"""


class SlcCache(msgspec.Struct, frozen=True, kw_only=True):
    """Flash written with one bit a cell, to be fast: blocks of its own, or erased ones of T, or both."""

    static_bytes: int
    """What blocks outside T hold in SLC mode; 0: none"""
    dynamic_bytes_max: int
    """The most that erased blocks of T may hold in SLC mode; 0: none"""
    dynamic_free_share: float
    """That as a share of the addresses that hold nothing, where it is less; 0: however full it is"""
    when_full: WhenFull
    """Whether writes go past a full cache, or wait until it is folded"""
    read_us: float
    """From cells to page register in SLC mode"""
    program_us: float
    """From page register to cells in SLC mode"""
    erase_us: float
    """To erase a block in SLC mode"""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where a value comes from."""

    kind: SourceKind
    """How sure the value is."""
    source: str
    """Which document, measurement or reason."""


class Stripe(msgspec.Struct, frozen=True, kw_only=True):
    """Several devices as one drive (RAID-0). The other tables but `[market]` then describe one of them, and
    `ftl.user_bytes` is what the host may use of all."""

    devices: int
    """Devices that the drive's bytes go round; each has flash, garbage collection, buffer and link of its own"""
    chunk_bytes: int
    """How many bytes in a row lie on one device before the next has its turn"""


class WriteBuffer(msgspec.Struct, frozen=True, kw_only=True):
    """The controller's buffer for writes."""

    bytes: int
    """DRAM: a write that is in it is complete; 0: none"""
    power_loss_protection: bool
    """Whether it outlives a loss of power; else flushes and sync writes wait for flash"""
    resume_bytes: int
    """Once a write has found it full, it takes none until it holds no more than this; 0: it takes what it has room
    for"""
    close_bytes: int
    """A write that would fill it further than this closes it; 0: only when it is full"""
    closed_per_second: int
    """Writes a second that it takes all the same while it is closed and has room; 0: none"""
    programs_first: bool
    """Whether reads suspend nothing while writes wait for room in it"""
    coalesce: bool
    """Whether a write to units that wait in it for their program replaces them there, and programs nothing more"""
    free_at_program: bool
    """Whether units give back their room when their program begins, not when it ends"""


class Zones(msgspec.Struct, frozen=True, kw_only=True):
    """Zones, as NVMe's zoned namespaces have them: each is written in order, at its write pointer, and is empty again
    only after a reset. `ftl.user_bytes` are the addresses of all of them. Each lies in erase units of its own, so that
    there is nothing to clean."""

    zone_bytes: int
    """Addresses from the start of a zone to that of the next; 0: the drive has no zones"""
    capacity_bytes: int
    """What a zone holds, from its start; 0: the whole zone"""
    open_max: int
    """Zones that may be open, so that they take writes; 0: as many as may be active"""
    active_max: int
    """Zones that may be open or closed, so that they are written in part; 0: all, up to 255"""


UNITS = {
    "background.idle_after_ms": "ms",
    "background.erased_pool_bytes": "B",
    "background.read_disturb_reads": "reads",
    "background.retention_days": "days",
    "controller.command_us": "us",
    "controller.commands_per_second_max": "1/s",
    "controller.command_slots": "commands",
    "controller.program_us": "us",
    "data_reduction.packing_bytes": "B",
    "data_reduction.index_bytes_per_unit": "B",
    "faults.factory_bad_blocks": "share",
    "faults.endurance_spread": "share",
    "ftl.user_bytes": "B",
    "ftl.mapping_unit_bytes": "B",
    "ftl.reserve_erase_units": "erase units",
    "ftl.reserved_bytes": "B",
    "host_link.mb_s": "MB/s",
    "host_link.command_us": "us",
    "map_cache.bytes": "B",
    "map_cache.entries_per_map_page": "entries",
    "map_cache.entry_bytes": "B",
    "map_cache.miss_us": "us",
    "market.sold_bytes": "B",
    "market.rated_tbw": "TB",
    "market.rated_dwpd": "1/day",
    "market.rated_years": "years",
    "market.price_usd": "USD",
    "nand.channels": "channels",
    "nand.dies_per_channel": "dies",
    "nand.planes_per_die": "planes",
    "nand.blocks_per_plane": "blocks",
    "nand.pages_per_block": "pages",
    "nand.page_bytes": "B",
    "nand.read_us": "us",
    "nand.copy_read_us": "us",
    "nand.copy_pages_together": "pages",
    "nand.program_us": "us",
    "nand.erase_us": "us",
    "nand.channel_mb_s": "MB/s",
    "nand.endurance_cycles": "P/E cycles",
    "nand.pages_per_program": "pages",
    "nand.program_suspend_us": "us",
    "nand.erase_suspend_us": "us",
    "nand.suspend_spread_us": "us",
    "nand.resume_us": "us",
    "nand.suspends_per_operation_max": "suspends",
    "nand.background_us": "us",
    "nand.background_per_second": "1/s",
    "parity.units_per_stripe": "mapping units",
    "read_ahead.window_bytes": "B",
    "read_ahead.segment_bytes": "B",
    "slc_cache.static_bytes": "B",
    "slc_cache.dynamic_bytes_max": "B",
    "slc_cache.dynamic_free_share": "share",
    "slc_cache.read_us": "us",
    "slc_cache.program_us": "us",
    "slc_cache.erase_us": "us",
    "stripe.devices": "devices",
    "stripe.chunk_bytes": "B",
    "write_buffer.bytes": "B",
    "write_buffer.resume_bytes": "B",
    "write_buffer.close_bytes": "B",
    "write_buffer.closed_per_second": "1/s",
    "zones.zone_bytes": "B",
    "zones.capacity_bytes": "B",
    "zones.open_max": "zones",
    "zones.active_max": "zones",
}
"""The units of the keys of a drive file, by `table.key`; none for names and choices."""
