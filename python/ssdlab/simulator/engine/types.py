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
Duplex = Literal["half", "full"]
EraseUnitKind = Literal["block", "superblock"]
Eviction = Literal["lru", "clock"]
MapForm = Literal["page", "extent"]
ProblemKind = Literal["missing-key", "unknown-key", "value", "no-source", "spare-area"]
SourceKind = Literal["datasheet", "measured", "fitted", "assumed"]
SpareArea = Literal["dynamic", "static"]
WhenFull = Literal["direct", "fold"]


class BackgroundOperations(msgspec.Struct, frozen=True, kw_only=True):
    """Background operations in idle time; all are off by default. Without a clock there is no idle time."""

    idle_after_ms: float
    """How long the host must have sent no request before they begin"""
    erased_pool_bytes: int
    """Erased space for the host that garbage collection maintains in idle time, in addition to the reserve; 0: no
    garbage collection in idle time"""
    defragment: bool
    """Whether idle time rewrites data that is stored out of address order"""
    wear_leveling: bool
    """Whether static wear levelling waits for idle time"""
    read_disturb_reads: int
    """Page reads of a block after which its data is moved; 0: never"""
    retention_days: float
    """Age at which data is moved; 0: never"""


class Controller(msgspec.Struct, frozen=True, kw_only=True):
    """The controller's processing times."""

    command_us: float
    """Time to answer a command that needs no flash, or to admit a write to the buffer"""
    commands_per_second_max: int
    """Maximum commands a second; 0: no limit"""
    trim_us: float
    """Time of the controller on a trim, during which every later command waits; 0: trims hold up nothing"""
    trim_us_per_mib: float
    """The same for each MiB that it covers, whatever is there; 0: trims of any length take equally long"""
    command_slots: int
    """Maximum commands inside the drive, reads and writes together; others wait in the order of their arrival; 0: no
    limit"""
    slots_in_turn: bool
    """Whether the jobs' queues take turns for free slots; otherwise the command that came first is next"""
    program_us: float
    """Time to pass a program to the flash, the host's or garbage collection's, during which no write is admitted to the
    buffer"""
    delayed_share: float
    """Share of the commands that need no flash that it answers later than usual"""
    delay_us: float
    """Mean additional time of these, exponentially distributed; 0: none"""


class DataReduction(msgspec.Struct, frozen=True, kw_only=True):
    """Compression and deduplication; both are off by default."""

    compression: bool
    """Whether data is compressed before it is programmed"""
    deduplication: bool
    """Whether a unit whose data is already stored is only mapped to it"""
    packing_bytes: int
    """The granularity of reduced data; a power of two"""
    index_bytes_per_unit: int
    """Size of the index entry of each stored unit, programmed as metadata"""


class DescribedDrive(msgspec.Struct, frozen=True, kw_only=True):
    """A drive whose description has no errors."""

    file: DriveFile
    """The file with every value filled in, including defaults and parameters of policies."""
    capacity: DriveCapacity
    """The capacities derived from it."""
    memory: Memory
    """The memory of the drive alone, without the jobs of a run."""


class DriveCapacity(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a drive, all devices of a stripe together. T is `physical_units`, U is `user_units`; a unit is a mapping
    unit."""

    mapping_unit_bytes: int
    """The unit of the map."""
    flash_units: int
    """T and what is excluded from it: all of the flash."""
    flash_bytes: int
    """All of the flash, in bytes."""
    physical_units: int
    """T in mapping units."""
    physical_bytes: int
    """T in bytes."""
    user_units: int
    """U in mapping units."""
    user_bytes: int
    """U in bytes."""
    held_out_bytes: int
    """Flash excluded from T, in bytes."""
    spare_bytes: int
    """T - U; negative where the host would use more than there is."""
    sold_bytes: int
    """The capacity on the label of the drive, whatever part of it the host uses now."""
    over_provisioning: float
    """(T - U) / U"""
    spare_factor: float
    """(T - U) / T"""
    hidden_over_provisioning: float
    """(T - S) / S for the capacity S on the label: 7.37 % for GiB of flash sold as GB."""
    over_provisioning_min: float | None
    """The least (T - U) / U with which garbage collection can free space, rounded up to a hundredth of a percent; null:
    none."""
    user_units_max: int
    """The largest U with which garbage collection can still free one whole erase unit; 0 or less: none."""
    planes: int
    """Planes of all devices."""
    blocks: int
    """Blocks of all devices."""
    erase_units: int
    """Erase units of all devices."""
    blocks_per_erase_unit: int
    """1, or the number of planes of a device."""
    units_per_erase_unit: int
    """Mapping units of an erase unit, including parity."""
    data_units_per_erase_unit: int
    """The part of an erase unit without parity."""
    slc_bytes_per_erase_unit: int
    """The capacity of an erase unit in SLC mode, without parity."""
    reserve_erase_units: int
    """Not available to garbage collection: the reserve and the open erase units."""
    open_erase_units: int
    """Erase units that are open at a time."""
    open_blocks_per_stream: int
    """The number of open erase units of each stream: a single block on every die, unless one is filled at a time."""
    data_units: int
    """Units for data, without parity and factory bad blocks."""
    devices: int
    """Devices of the stripe."""


class DriveFile(msgspec.Struct, frozen=True, kw_only=True):
    """A drive file: TOML, with the source of every value."""

    name: str
    """The drive's name; for a drive of the catalogue, that of its file"""
    nand: Nand
    ftl: Ftl
    write_buffer: WriteBuffer
    controller: Controller
    host_link: HostLink
    background: BackgroundOperations
    slc_cache: SlcCache
    map_cache: MapCache
    read_ahead: ReadAhead
    read_retries: ReadRetries
    data_reduction: DataReduction
    parity: Parity
    faults: Faults
    stripe: Stripe
    zones: Zones
    power: Power
    description: str
    """The kind of drive, in one sentence"""
    identity: Identity
    market: Market
    sources: dict[str, Source]
    """The source of each value, by `"table.key"`, or by `"table.*"` for all others of a table"""


class Faults(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks that fail."""

    factory_bad_blocks: float
    """Share of blocks that are bad from the start"""
    wear_out: bool
    """Whether a block past its endurance fails and is retired"""
    endurance_spread: float
    """Standard deviation of endurance as a share of `endurance_cycles`"""


class Ftl(msgspec.Struct, frozen=True, kw_only=True):
    """The translation layer: the capacity for the host, and the policies that place data."""

    user_bytes: int
    """Capacity for the host"""
    mapping_unit_bytes: int
    """The unit of the map"""
    erase_unit: EraseUnitKind
    """What garbage collection collects and erases at once"""
    victim: PolicyChoice
    """Which erase unit garbage collection takes next"""
    placement: PolicyChoice
    """Which open erase unit a write goes to"""
    wear_leveling: PolicyChoice
    """How erases are distributed"""
    reserve_erase_units: int
    """Erased units held in reserve: garbage collection runs before there are fewer"""
    spare_area: SpareArea
    """Whether unwritten and trimmed space serves garbage collection"""
    reserved_bytes: int
    """Flash excluded from T for tables and firmware, in whole erase units, rounded up"""
    gc_throttling: PolicyChoice
    """How fast a victim is collected while the host continues writing"""
    die_choice: PolicyChoice
    """Which die receives a program group, where erase units are single blocks"""


class HostLink(msgspec.Struct, frozen=True, kw_only=True):
    """The link between host and drive. SATA transfers in one direction at a time, PCIe in both."""

    interface: str
    """Name of the interface: none (takes no time); sata-3g, sata-6g; generation and lanes, as in pcie3x4"""
    mb_s: float | None
    """Data rate, instead of that of the interface"""
    duplex: Duplex | None
    """Whether only one direction transfers at a time, instead of that of the interface"""
    command_us: float
    """Time for which a command occupies the link in addition to its data"""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """The product, for a real drive."""

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
    """A cache of map pages in memory; the whole map is in flash, in map pages of one mapping unit each."""

    bytes: int
    """Memory for the cache; 0: the whole map is in memory"""
    entries_per_map_page: int
    """Entries in a map page, which is fetched and written back as one mapping unit of flash"""
    entry_bytes: int
    """Size of one entry"""
    eviction: Eviction
    """Which cached map page is evicted"""
    form: MapForm
    """An entry for each unit, or one in memory for each segment written in order"""
    miss_us: float
    """The firmware's time for a map page that is not in memory, in addition to the flash read"""


class Market(msgspec.Struct, frozen=True, kw_only=True):
    """Rating and price. The date of the price belongs in its source."""

    sold_bytes: int | None
    """Capacity on the label"""
    rated_tbw: float | None
    """Rated endurance, 10^12 bytes of host writes"""
    rated_dwpd: float | None
    """Rated drive writes per day"""
    rated_years: float | None
    """Years for which the rating holds"""
    price_usd: float | None
    """Price"""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of memory of a run, in two parts."""

    of_units_bytes: int
    """Tables by mapping unit: a drive of half the size needs half of them."""
    other_bytes: int
    """Everything else; the same at every scale."""


class Namespace(msgspec.Struct, frozen=True, kw_only=True):
    """A namespace as in NVMe: a range of the drive's addresses that the host sees as a device. Namespaces follow each
    other in the order of the file; the rest of `ftl.user_bytes` is not allocated and is spare area. They share spare
    area, open erase units, dies and channels. A job's `filename` chooses one: `/dev/nvme0n1` is the first,
    `/dev/nvme0n2` the second and so on, or the name."""

    name: str
    """Name, unique on the drive"""
    size_bytes: int
    """Capacity of the namespace; the sum of all is at most `ftl.user_bytes`"""
    placement_handles: list[int]
    """Reclaim unit handles (NVMe TP4146) that the namespace's writes use: placement identifier 0 of a job is the first
    of the list, 1 the second and so on, with reclaim groups each handle in all groups; writes without an identifier use
    the first. Empty: all of the drive's, in order"""


class Nand(msgspec.Struct, frozen=True, kw_only=True):
    """The flash: its geometry, and how long its operations take."""

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
    """How long a page that is copied occupies its die until its transfer, where garbage collection reads the pages of
    several planes at once; 0: as long as any read"""
    copy_pages_together: int
    """Pages that garbage collection reads from a die consecutively before it admits a read of the host, such as those
    of all planes and of a word line; 0: admits reads of the host between any two"""
    program_us: float | list[float]
    """From page register to cells; a list: by page of a word line"""
    erase_us: float
    """To erase a block"""
    erases_at_once: int
    """One of so many erases takes `erase_us`, the others no time: a drive made smaller with --scale has smaller blocks,
    of which as many as one full block are erased at once"""
    erase_by_plane: bool
    """Whether the planes of a die are erased one after another, each in `erase_us`, spread over the time until the next
    erase unit is erased, instead of together"""
    channel_mb_s: float
    """Transfer rate of a channel, 10^6 bytes a second"""
    endurance_cycles: int
    """Programs and erases that a block endures"""
    pages_per_program: int
    """Pages that one program fills, all of them in `program_us`: 3 for TLC in one shot; in SLC mode always 1"""
    suspend: bool
    """Whether a read of the host suspends a program or an erase in progress"""
    program_suspend_us: float
    """From suspending a program until the die can read"""
    erase_suspend_us: float
    """From suspending an erase until the die can read; as long as an erase, where erases are not suspended"""
    suspend_spread_us: float
    """Additional time that suspending may take, uniform from 0 to this"""
    resume_us: float
    """Additional time of a suspended operation at each resume"""
    suspend_repeats_us: float
    """Time in the array that a suspended program loses and repeats, at most what it did since it began or was
    resumed"""
    suspends_per_operation_max: int
    """How often one operation may be suspended; 0: no limit"""
    background_us: float
    """Duration of an internal operation of a die that occurs occasionally and cannot be suspended; 0: never"""
    background_per_second: float
    """How often it occurs, on each die, independent of load"""


class Parity(msgspec.Struct, frozen=True, kw_only=True):
    """Parity within an erase unit (RAIN)."""

    units_per_stripe: int
    """One mapping unit in this many holds parity; 0: none"""


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """Power at rest and the energy of each operation. Off, and the energy of a run unknown, unless the first three are
    given."""

    idle_watts: float | None
    """Power without requests, which the energies below are added to"""
    read_uj: float | None
    """Energy of reading a page; a unit takes its share of it"""
    program_uj: float | None
    """Energy of programming a page"""
    erase_uj: float
    """Energy of erasing a block; 0: contained in `program_uj`"""
    transfer_nj_per_byte: float
    """Energy of a byte between host and flash; 0: contained in `read_uj` and `program_uj`"""
    command_uj: float
    """The controller's energy for a command of the host; 0: contained in the other values"""
    limit_watts: float | None
    """Mean power above which commands wait, as in a power state of NVMe; absent: no limit"""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An error in a drive file."""

    kind: ProblemKind
    """The kind of error."""
    key: str
    """`table.key`, or a table, or a key at the top."""
    value: Any
    """As the file has it, or its default; null for a key that is missing."""
    allowed: str
    """Completes "should be"; for an unknown key, the table whose keys are known."""
    known: list[str]
    """The valid names, where there is a list of them."""


class ReadAhead(msgspec.Struct, frozen=True, kw_only=True):
    """Read-ahead of sequential reads."""

    window_bytes: int
    """Maximum of a sequential stream in flight or in the read buffer; 0: no read-ahead"""
    segment_bytes: int
    """Bytes of a sequential stream translated and fetched at a time"""


class ReadRetries(msgspec.Struct, frozen=True, kw_only=True):
    """Reads that are repeated with other voltages; off by default. A page needs k retries or more once the severity of
    its block, (reads / `reads`)^`reads_exponent` + (days / `days`)^`days_exponent` + (erases /
    `cycles`)^`cycles_exponent`, exceeds the page's own limit: of all pages the share 1 - exp(-(severity /
    `severities`[k])^`spread`)."""

    retry_us: list[float]
    """How long the first, second and third retry occupy the die, in addition to `nand.read_us`; no number: no
    retries"""
    severities: list[float]
    """By retry: severity at which 63 % of the pages need it; as many as retries, ascending"""
    spread: float
    """How alike pages are: the exponent of the Weibull distribution of their limits"""
    reads: float
    """Reads of a block's pages since it was erased that alone make the severity 1; 0: reads do not count"""
    reads_exponent: float
    """Exponent of the reads"""
    days: float
    """Days since the first page of an erase unit was programmed that alone make the severity 1; 0: time does not
    count"""
    days_exponent: float
    """Exponent of the days"""
    cycles: float
    """Erases of a block that alone make the severity 1; 0: wear does not count"""
    cycles_exponent: float
    """Exponent of the erases"""
    cycles_before: int
    """Erases of each block before the run, of a drive that was used before"""


class SlcCache(msgspec.Struct, frozen=True, kw_only=True):
    """Flash written with one bit a cell for speed: separate blocks, or erased ones of T, or both."""

    static_bytes: int
    """Capacity in SLC mode of blocks outside T; 0: none"""
    dynamic_bytes_max: int
    """Maximum capacity in SLC mode of erased blocks of T; 0: none"""
    dynamic_free_share: float
    """That as a share of the unwritten addresses, if less; 0: however full it is"""
    when_full: WhenFull
    """Whether writes bypass a full cache, or wait until it is folded"""
    read_us: float
    """From cells to page register in SLC mode"""
    program_us: float
    """From page register to cells in SLC mode"""
    erase_us: float
    """To erase a block in SLC mode"""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The source of a value."""

    kind: SourceKind
    """How reliable the value is"""
    source: str
    """The document, measurement or reason"""


class Stripe(msgspec.Struct, frozen=True, kw_only=True):
    """Several devices as one drive (RAID-0). The other tables except `[market]` then describe one of them, and
    `ftl.user_bytes` is the capacity of all."""

    devices: int
    """Number of devices; each has its own flash, garbage collection, buffer and link"""
    chunk_bytes: int
    """Consecutive bytes on one device before the next"""


class WriteBuffer(msgspec.Struct, frozen=True, kw_only=True):
    """The controller's buffer for writes."""

    bytes: int
    """Size in DRAM: a write completes when it is in the buffer; 0: none"""
    power_loss_protection: bool
    """Whether its contents survive a loss of power; otherwise flushes and sync writes wait for flash"""
    resume_bytes: int
    """After a write has found it full, it admits none until it holds no more than this; 0: it admits what fits"""
    close_bytes: int
    """A write that would fill it beyond this closes it; 0: it closes only when it is full"""
    closed_per_second: int
    """Writes a second admitted while it is closed and has space; 0: none"""
    programs_first: bool
    """Whether reads suspend nothing while writes wait for space in it"""
    coalesce: bool
    """Whether a write to units that wait in it for their program replaces them there, without another program"""
    free_at_program: bool
    """Whether units release their space when their program begins, not when it ends"""
    gc_admission_share: float
    """The share of the arrival rate of writes that it admits while more operations of garbage collection are queued
    than there are dies, for a drive that collects in large batches; 0: all"""
    paced: bool
    """Whether writes that wait, once one has found no space, are admitted evenly, at the mean rate at which as many
    units as it holds left it, and faster the emptier it is; otherwise as soon as there is space"""


class Zones(msgspec.Struct, frozen=True, kw_only=True):
    """Zones as in NVMe's zoned namespaces: each is written in order, at its write pointer, and is emptied only by a
    reset. `ftl.user_bytes` are the addresses of all of them. Each occupies erase units of its own, so that there is no
    garbage collection."""

    zone_bytes: int
    """Distance between the starts of two zones; 0: the drive has no zones"""
    capacity_bytes: int
    """Writable part of a zone, from its start; 0: the whole zone"""
    open_max: int
    """Zones that may be open, and so accept writes; 0: as many as may be active"""
    active_max: int
    """Zones that may be open or closed, and so partly written; 0: all, up to 255"""
    random_write_area_bytes: int
    """Zone random write area (NVMe TP4076): from the write pointer on so many bytes may be written in any order and
    again, and are programmed when the pointer passes them. Every zone has one while it is active, in memory that
    survives a loss of power; 0: none"""
    flush_granularity_bytes: int
    """Steps in which the write pointer passes the random write area; 0: one mapping unit"""


UNITS = {
    "background.idle_after_ms": "ms",
    "background.erased_pool_bytes": "B",
    "background.read_disturb_reads": "reads",
    "background.retention_days": "days",
    "controller.command_us": "us",
    "controller.commands_per_second_max": "1/s",
    "controller.trim_us": "us",
    "controller.trim_us_per_mib": "us/MiB",
    "controller.command_slots": "commands",
    "controller.program_us": "us",
    "controller.delay_us": "us",
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
    "nand.erases_at_once": "erases",
    "nand.channel_mb_s": "MB/s",
    "nand.endurance_cycles": "P/E cycles",
    "nand.pages_per_program": "pages",
    "nand.program_suspend_us": "us",
    "nand.erase_suspend_us": "us",
    "nand.suspend_spread_us": "us",
    "nand.resume_us": "us",
    "nand.suspend_repeats_us": "us",
    "nand.suspends_per_operation_max": "suspends",
    "nand.background_us": "us",
    "nand.background_per_second": "1/s",
    "parity.units_per_stripe": "mapping units",
    "power.idle_watts": "W",
    "power.read_uj": "uJ",
    "power.program_uj": "uJ",
    "power.erase_uj": "uJ",
    "power.transfer_nj_per_byte": "nJ/B",
    "power.command_uj": "uJ",
    "power.limit_watts": "W",
    "read_ahead.window_bytes": "B",
    "read_ahead.segment_bytes": "B",
    "read_retries.retry_us": "us",
    "read_retries.severities": "severity",
    "read_retries.spread": "exponent",
    "read_retries.reads": "reads",
    "read_retries.reads_exponent": "exponent",
    "read_retries.days": "days",
    "read_retries.days_exponent": "exponent",
    "read_retries.cycles": "P/E cycles",
    "read_retries.cycles_exponent": "exponent",
    "read_retries.cycles_before": "P/E cycles",
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
    "zones.random_write_area_bytes": "B",
    "zones.flush_granularity_bytes": "B",
}
"""The units of the keys of a drive file, by `table.key`; none for names and choices."""
