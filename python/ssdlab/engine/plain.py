"""What the engine is given and what it gives back, as JSON objects: specifications and outcomes.

Written by `make docs` from `_engine.schema()`; changes belong into the Rust types. Units are in the names. A key that
need not be given has a default in the engine. Drive files as Python reads them are in `types.py`.
"""

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")

PolicyChoice = dict[str, Any]
"""A policy's `name` and its own parameters, every one of them given; `ssdlab policies` lists those of each."""


class PerDirection(TypedDict, Generic[T]):
    read: T
    write: T
    trim: T


class TraceCounts(TypedDict):
    """What became of a trace's requests: `Counts` in `crates/python/src/trace/source.rs`."""

    passes: int
    """Passes that were begun."""
    reads: int
    writes: int
    trims: int
    flushes: int
    """Without a clock they have no effect."""
    empty: int
    """Reads, writes and trims of 0 bytes."""
    split: int
    """Requests that came to lie in several pieces on the drive; each piece is a request to it."""
    moved: int
    """Requests that begin at another address than in the recording."""
    trimmed_nowhere_bytes: int
    """Bytes of trims that fell on what nothing had touched, where packing gives no place."""
    placed_units: int | None
    """Units that packing has placed."""


class AbsoluteZone(TypedDict):
    access_percent: float
    span_bytes: int


class BackgroundOperations(TypedDict):
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


class BlockSize(TypedDict):
    """One entry of a distribution of sizes; the percentages of a list add up to 100."""

    bytes: int
    percent: float


class BreakdownColumns(TypedDict):
    """What leaves the engine: for each bin of a latency that holds anything, the nanoseconds of its requests
    together."""

    queueing: list[int]
    controller: list[int]
    link: list[int]
    map: list[int]
    channel: list[int]
    flash: list[int]
    host_operations: list[int]
    gc: list[int]


class Capacity(TypedDict):
    """How much there is, in mapping units unless the name says otherwise."""

    mapping_unit_bytes: int
    physical_units: int
    """T: all of the flash but what is held out of it."""
    user_units: int
    """U: what the host may use."""
    erase_units: int
    units_per_erase_unit: int
    data_units_per_erase_unit: int
    counted_unit_bytes: int
    """What the ledger counts in: a mapping unit, or the part of one that reduced data is packed in."""
    live_units: int
    effective_over_provisioning: float | None
    """What garbage collection really has, over what is live: spare, trimmed and never-written space less reserve, half
    of each open erase unit, parity and bad blocks. Nothing when nothing is live."""


Cell = Literal["slc", "mlc", "tlc", "qlc"]


class Columns(TypedDict):
    """Columns of equal length: cumulative counters at the end of each step."""

    host_written_bytes: list[int]
    stage: list[int]
    programmed_units_host: list[int]
    programmed_units_gc: list[int]
    programmed_units_wear_leveling: list[int]
    programmed_units_metadata: list[int]
    programmed_units_parity: list[int]
    programmed_units_padding: list[int]
    programmed_units_slc_fold: list[int]
    free_erase_units: list[int]
    effective_over_provisioning: list[float | None]


class Controller(TypedDict):
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


class DataReduction(TypedDict):
    """What the drive does not write although the host does; off unless a key turns it on."""

    compression: bool
    """Whether data is compressed before it is programmed"""
    deduplication: bool
    """Whether what is stored already is stored again only by name"""
    packing_bytes: int
    """Reduced data takes a whole number of these; a power of two"""
    index_bytes_per_unit: int
    """The index's entry for each stored unit, programmed as metadata"""


class DepthFound(TypedDict):
    """What the search came to."""

    depth: int
    is_final: bool
    """Whether the last window was at this depth and in time."""


Direction = Literal["read", "write", "trim", "read-write", "trim-write"]


Duplex = Literal["full", "half"]


EndsOthers = Literal["none", "stage", "all"]


EraseUnitKind = Literal["block", "superblock"]


Eviction = Literal["lru", "clock"]


class Faults(TypedDict):
    """Blocks that fail."""

    factory_bad_blocks: float
    """Share of blocks that are bad from the start"""
    wear_out: bool
    """Whether a block past its endurance fails and is retired"""
    endurance_spread: float
    """Standard deviation of endurance as a share of `endurance_cycles`"""


class FileRange(TypedDict):
    """The part of one file that the job works on."""

    offset_bytes: int
    size_bytes: int


class FileServiceRoundRobin(TypedDict):
    """In turn, so many requests at a time."""

    kind: Literal["round-robin"]
    ios: int


class FileServiceSequential(TypedDict):
    """One file to its end, then the next. Files that never end (random ones without a map) keep the job at the
    first."""

    kind: Literal["sequential"]


class FileServiceRandom(TypedDict):
    """At random, so many requests at a time."""

    kind: Literal["random"]
    ios: int


class FileServiceWeighted(TypedDict):
    """At random with these chances, one a file; no file waits for another."""

    kind: Literal["weighted"]
    weights: list[float]


FileService = FileServiceRoundRobin | FileServiceSequential | FileServiceRandom | FileServiceWeighted
"""Which file comes next (fio's `file_service_type`). A file whose blocks have all been visited waits for the others."""


class FioLawZipf(TypedDict):
    name: Literal["zipf"]
    theta: float


class FioLawPareto(TypedDict):
    name: Literal["pareto"]
    h: float


class FioLawNormal(TypedDict):
    name: Literal["normal"]
    deviation_percent: float


FioLaw = FioLawZipf | FioLawPareto | FioLawNormal


class HistogramRow(TypedDict):
    time_ns: int
    direction: int
    length_bytes: int
    """Of the last request in it."""
    bins: list[list[int]]
    """Pairs of fio's bin and its count, rising."""


class IdentifierRange(TypedDict):
    start_bytes: int
    end_bytes: int
    identifier: int


class JobSteadyStateOutcome(TypedDict):
    attained: bool
    at_ns: int | None
    """Since the start of the job; null when it was not attained."""
    criterion: float | None
    """What was held against the limit at last: a deviation or a slope. Null while the window was never full."""
    slope: float | None
    max_deviation: float | None
    iops: list[float]
    """The rates of the window, a second each, oldest first."""
    bytes_per_second: list[float]


class Latency(TypedDict):
    """What leaves the engine: moments, and the bins that hold anything."""

    count: int
    min_ns: int | None
    max_ns: int | None
    mean_ns: float | None
    stddev_ns: float | None
    bins: list[list[int]]
    """Pairs of a bin's middle in nanoseconds and its count, rising."""


class LatencyTarget(TypedDict):
    """The job looks for the most requests outstanding at which it keeps to a latency (fio's `latency_target`), up to
    its `iodepth`; see `simulation/depth_search.rs`."""

    latency_ns: int
    window_ns: int
    """How long a depth is tried."""
    percent: float
    """So many of the requests must be in time, above 0 to 100."""
    goes_on: bool
    """Whether the job goes on looking to its end, and does not end at the depth that it found."""


Limit = Literal["bytes-per-second-min", "iops-min", "latency-ns-max"]


class LogPlan(TypedDict):
    """How a job is logged."""

    average_ns: NotRequired[int | None]
    """Averages over so long (fio's `log_avg_msec`). Null: every request is an entry."""
    histogram_ns: NotRequired[int | None]
    """Histograms of latency over so long (fio's `log_hist_msec`). Null: none."""


MapForm = Literal["page", "extent"]


class Namespace(TypedDict):
    """A namespace, as NVMe has them: a range of the drive's addresses that the host sees as a device. Namespaces lie
    one behind another in the order of the file; what they leave of `ftl.user_bytes` is allocated to none and is spare
    area. They share spare area, open erase units, dies and channels. A job's `filename` chooses one, by `/dev/nvme0n1`
    for the first, `/dev/nvme0n2` for the second and so on, or by its name."""

    name: str
    """Name, which no other namespace of the drive has"""
    size_bytes: int
    """Capacity of the namespace; all of them together at most `ftl.user_bytes`"""


class NamespacePrograms(TypedDict):
    """Mapping units of a namespace that were programmed into flash, by cause."""

    host: int
    gc: int
    wear_leveling: int
    slc_fold: int


class NamespaceReads(TypedDict):
    """Mapping units of a namespace that were read from flash for its host, by cause."""

    host: int
    read_modify_write: int


class Parity(TypedDict):
    """Parity within an erase unit (RAIN)."""

    units_per_stripe: int
    """One mapping unit in so many holds parity; 0: none"""


class ProgrammedUnits(TypedDict):
    """Mapping units programmed into flash, by cause."""

    host: int
    gc: int
    wear_leveling: int
    metadata: int
    parity: int
    padding: int
    slc_fold: int


RateProcess = Literal["linear", "poisson"]


class ReadAhead(TypedDict):
    """Reading ahead of sequential reads."""

    window_bytes: int
    """The most of a sequential stream in flight or in the read buffer; 0: reads go to flash at once"""
    segment_bytes: int
    """What is translated and fetched of a sequential stream at a time"""


class ReadCounts(TypedDict):
    """Sums over segments."""

    segments: int
    pages: int
    """Pages that hold units of a segment."""
    dies: int
    """Dies on which these lie."""
    busiest_die_pages: int
    """Pages of a segment on the die that has most of them: it works at these one after another."""
    map_pages: int
    """Map pages that were fetched first."""


class ReadUnits(TypedDict):
    """Mapping units read from flash, by cause."""

    host: int
    gc: int
    wear_leveling: int
    slc_fold: int
    read_modify_write: int
    """Read to fill up a unit of which the host wrote a part."""
    metadata: int
    """Map pages that were not in memory."""


class Requests(TypedDict):
    ios: int
    bytes: int


Sequencer = Literal["sequential", "identical"]


SpareArea = Literal["dynamic", "static"]


class Spread(TypedDict):
    min: int
    mean: float
    max: int
    stddev: float


SteadyCriterion = Literal["iops", "iops-slope", "bw", "bw-slope", "snia-pts-bw", "snia-pts-iops"]


class StridedZones(TypedDict):
    """Zones of equal extent with equal gaps between, one after the other and then the first again. The end of the job's
    part may cut the last short."""

    transfer_bytes: int
    """What is transferred in a zone before the job goes on to the next; it may be more than a zone has."""
    range_bytes: int
    skip_bytes: int


class Stripe(TypedDict):
    """Several devices as one drive (RAID-0). The other tables but `[market]` then describe one of them, and
    `ftl.user_bytes` is what the host may use of all."""

    devices: int
    """Devices that the drive's bytes go round; each has flash, garbage collection, buffer and link of its own"""
    chunk_bytes: int
    """How many bytes in a row lie on one device before the next has its turn"""


class TimeColumns(TypedDict):
    """Columns of equal length, an entry an interval; counts are those of the interval unless the name says
    otherwise."""

    time_ns: list[int]
    """End of the interval."""
    stage: list[int]
    read_ios: list[int]
    write_ios: list[int]
    trim_ios: list[int]
    read_bytes: list[int]
    written_bytes: list[int]
    host_written_bytes: list[int]
    """Since the run began."""
    programmed_units_total: list[int]
    """Since the run began."""
    free_erase_units: list[int]
    write_mean_ns: list[float | None]
    write_p50_ns: list[int | None]
    write_p99_ns: list[int | None]
    write_p999_ns: list[int | None]
    read_mean_ns: list[float | None]
    read_p50_ns: list[int | None]
    read_p99_ns: list[int | None]
    read_p999_ns: list[int | None]


class UntilJob(TypedDict):
    """When its jobs have done what they ask for."""

    kind: Literal["job"]


class UntilSteadyState(TypedDict):
    """Its jobs start over until write amplification is steady by SNIA's rule, or `host_bytes_max` have been written in
    the stage."""

    kind: Literal["steady-state"]
    round_bytes: int
    host_bytes_max: int


Until = UntilJob | UntilSteadyState
"""When the last stage ends."""


class WearBin(TypedDict):
    """Blocks whose erase count lies in a range, both ends included."""

    erase_count_min: int
    erase_count_max: int
    blocks: int


WhenFull = Literal["direct", "fold"]


class WriteBuffer(TypedDict):
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


class Zone(TypedDict):
    access_percent: float
    span_percent: float


class ZoneCounts(TypedDict):
    """How many zones are in each state, and what was done with zones since the drive was new."""

    empty: int
    implicitly_open: int
    explicitly_open: int
    closed: int
    full: int
    resets: int
    finishes: int
    refused: int
    """Writes that were refused."""


class ZonedJob(TypedDict):
    """How a job writes zone by zone. Jobs of a run that do so have the same zones."""

    zone_bytes: int
    """The drive's, or 0 for these, where it has zones; else those that the host keeps on it."""
    capacity_bytes: int
    """What the host writes of a zone, on a drive without zones; 0: all."""
    open_max: int
    """The most zones that all jobs have open together; 0: as many as the drive allows."""
    job_open_max: int
    """The most that this job has opened; 0: no limit of its own."""
    reset_threshold: float
    """Once this share of the job's part is written, zones are reset before they are full, 0 to 1."""
    reset_frequency: float
    """At so many of the writes from then on, 0 to 1; 0: never."""
    read_beyond_pointer: bool
    """Whether reads go anywhere, and not only where something was written."""


class Zones(TypedDict):
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


class Files(TypedDict):
    ranges: list[FileRange]
    service: FileService


class Ftl(TypedDict):
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


class HostLink(TypedDict):
    """The link between host and drive. SATA's directions take turns, those of PCIe do not."""

    interface: str
    """None, which takes no time; sata-3g, sata-6g; generation and lanes: pcie3x4"""
    mb_s: float | None
    """Rate of data, instead of the interface's"""
    duplex: Duplex | None
    """Whether both directions take turns, instead of the interface's; SATA's do"""
    command_us: float
    """Time for which a command occupies the link in addition to its data"""


class IdentifiersRoundRobin(TypedDict):
    """In turn, one a write. An empty list stands for all that the drive has."""

    choose: Literal["round-robin"]
    among: list[int]


class IdentifiersRandom(TypedDict):
    """At random; the same of an empty list."""

    choose: Literal["random"]
    among: list[int]


class IdentifiersByOffset(TypedDict):
    """By where a write begins, in bytes of the drive: the first range that holds it, or identifier 0."""

    choose: Literal["by-offset"]
    ranges: list[IdentifierRange]


Identifiers = IdentifiersRoundRobin | IdentifiersRandom | IdentifiersByOffset


class JobBreakdown(TypedDict):
    """Where the time of the requests went, a row for each bin of the direction's latency."""

    read: BreakdownColumns
    write: BreakdownColumns
    trim: BreakdownColumns


class JobFailure(TypedDict):
    """Which limit a job did not keep to, and by how much."""

    limit: Limit
    direction: int
    """As fio numbers them: 0 reads, 1 writes, 2 trims."""
    allowed: int
    """In bytes or requests a second, or nanoseconds."""
    found: int
    offset_bytes: int
    """The request that was complete then."""
    length_bytes: int


class JobLimits(TypedDict):
    """The job fails when its rate falls below the least that is asked of it, or when a request takes longer than it
    may; see `simulation/job_limits.rs`."""

    bytes_per_second_min: PerDirection[int | None]
    """The least rate over a window (fio's `rate_min`, `rate_iops_min`). Null: any. Bytes go before requests, as in
    fio."""
    iops_min: PerDirection[int | None]
    window_ns: int
    """The least length of a window (fio's `rate_cycle`)."""
    latency_ns_max: PerDirection[int | None]
    """The longest that a request may take (fio's `max_latency`). Null: as long as it likes."""
    ends_others: EndsOthers
    """Which others end when the job fails."""


class JobSteadyState(TypedDict):
    """A rule for a job's steady state, fio's or SNIA's; see `simulation/job_steady_state.rs`."""

    criterion: SteadyCriterion
    limit: float
    """In requests or bytes a second, or in percent of the mean. SNIA's rule has its own limits."""
    is_percent: bool
    duration_seconds: int
    """Seconds over which the rule looks."""
    ramp_ns: int
    """Before it begins to look."""


class Ledger(TypedDict):
    """Counters since the drive was new, or between two moments."""

    host_written_bytes: int
    host_read_bytes: int
    host_trimmed_bytes: int
    programmed_units: ProgrammedUnits
    read_units: ReadUnits
    read_modify_write_units: int
    """Units of which the host wrote a part only; each is programmed whole."""
    trimmed_units: int
    """Live units that a trim made stale."""
    erased_erase_units: int
    map_page_lookups: int
    """Look-ups of map pages, by drives that do not hold the whole map in memory."""
    deduplicated_units: int
    """Units that the host has written and the drive had stored already; counted in mapping units."""


class LogColumns(TypedDict):
    """One row an entry: a request, or all requests of a direction within a window."""

    time_ns: list[int]
    """When the request completed or the window ended."""
    direction: list[int]
    """As fio numbers them: 0 reads, 1 writes, 2 trims."""
    ios: list[int]
    bytes: list[int]
    latency_ns: list[int]
    """The mean of the window's."""
    offset_bytes: list[int]
    """0 for a window."""
    lost: int
    """Requests that found the log full."""
    histograms: list[HistogramRow]


class MapCache(TypedDict):
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


class NamespaceLedger(TypedDict):
    """What a ledger counts and an address has caused: the counters of one of several namespaces. Parity, padding and
    erases belong to none."""

    host_written_bytes: int
    host_read_bytes: int
    host_trimmed_bytes: int
    programmed_units: NamespacePrograms
    read_units: NamespaceReads
    read_modify_write_units: int
    """Units of which the host wrote a part only; each is programmed whole."""
    trimmed_units: int
    """Live units that a trim made stale."""


class Nand(TypedDict):
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


class Runs(TypedDict):
    """So many requests share one random place (fio's `rw=randread:8`)."""

    ios: int
    then: Sequencer


class SlcCache(TypedDict):
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


class StageOutcome(TypedDict):
    stage: int
    host_written_bytes_start: int
    host_written_bytes_end: int
    read_ahead: ReadCounts | None
    """What was read ahead in it; nothing for a drive, or a run, that does not."""


class SteadyTiming(TypedDict):
    """The last five rounds together, or all of them if they were fewer."""

    round_iops: list[float]
    range_share: float | None
    slope_share: float | None
    window_ns: int
    read: Requests
    write: Requests
    trim: Requests
    read_latency: Latency
    write_latency: Latency
    trim_latency: Latency


class Wear(TypedDict):
    """How the erases are spread over the blocks."""

    erase_count: Spread
    histogram: list[WearBin]
    bad_blocks_factory: int
    bad_blocks_grown: int


class DistributionRandom(TypedDict):
    name: Literal["random"]


class DistributionZipf(TypedDict):
    """Rank r is drawn in proportion to r^-theta."""

    name: Literal["zipf"]
    theta: float
    center: NotRequired[float | None]
    ranks_per_block: NotRequired[int]
    """So many ranks in a row fall on one block: a part of a drive made smaller keeps the skew of the whole."""


class DistributionPareto(TypedDict):
    """Fio's pareto: rank = blocks x u^(log h / log (1 - h)) for uniform u."""

    name: Literal["pareto"]
    h: float
    center: NotRequired[float | None]


class DistributionNormal(TypedDict):
    """Fio's normal: the mean of twelve uniform ranks, and a uniform deviation of so many percent of the blocks."""

    name: Literal["normal"]
    deviation_percent: float
    center: NotRequired[float | None]


class DistributionZoned(TypedDict):
    """So many percent of the accesses to so many percent of the range, in order; uniform within each zone."""

    name: Literal["zoned"]
    zones: list[Zone]
    scattered: NotRequired[bool]
    """Whether the blocks of a zone lie scattered over the range instead of one behind another."""


class DistributionZonedByDirection(TypedDict):
    """The same with zones for each direction."""

    name: Literal["zoned-by-direction"]
    zones: PerDirection[list[Zone]]


class DistributionZonedAbsolute(TypedDict):
    """So many percent of the accesses to the next so many bytes of the range; what lies behind them is never
    accessed."""

    name: Literal["zoned-absolute"]
    zones: PerDirection[list[AbsoluteZone]]


class DistributionLikeFio(TypedDict):
    """Fio's own generator, rounding and scatter, bit by bit: see `workload/distribution/like_fio.rs`."""

    name: Literal["like-fio"]
    law: FioLaw
    center: NotRequired[float | None]
    seed: int


Distribution = (
    DistributionRandom
    | DistributionZipf
    | DistributionPareto
    | DistributionNormal
    | DistributionZoned
    | DistributionZonedByDirection
    | DistributionZonedAbsolute
    | DistributionLikeFio
)
"""Where random requests fall, over the blocks of the job's part of the drive. Skewed ones draw a rank, and the ranks
are scattered over all blocks by a permutation. A `center`, 0 to 1, says where in the part the most frequent block lies;
null: anywhere."""


class Drive(TypedDict):
    """What the engine needs to know of a drive."""

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
    namespace: NotRequired[list[Namespace]]
    """Namespaces, in their order; without any the drive is one device."""


class Interval(TypedDict):
    """Counts are those of the interval."""

    end_ns: int
    ledger: Ledger


class JobTiming(TypedDict):
    start_ns: int
    end_ns: int
    read: Latency
    write: Latency
    trim: Latency
    flush: Latency
    breakdown: JobBreakdown | None
    """Nothing where requests come from outside."""
    log: LogColumns | None
    """Nothing unless the job asks for a log."""
    steady_state: JobSteadyStateOutcome | None
    """Nothing unless the job is to end in its steady state."""
    failure: JobFailure | None
    """Nothing where the job kept to its limits, or has none."""
    depth: DepthFound | None
    """Nothing unless the job looks for a depth."""


class NamespaceOutcome(TypedDict):
    live_units: int
    """Addresses that the host has written and not trimmed."""
    ledger: NamespaceLedger
    """Since the drive was new."""
    last_stage: NamespaceLedger
    """In the stage that the run ended with."""


class SteadyStateOutcome(TypedDict):
    reached: bool
    at_host_bytes: int | None
    """Host bytes since the start of the run."""
    round_bytes: int
    range_share: float | None
    slope_share: float | None
    round_waf: list[float]
    """Write amplification of each round of the last stage; nothing where the host wrote nothing."""
    timing: SteadyTiming | None
    """Nothing without a clock."""
    window: Ledger
    """What the drive did in the last five rounds, or in all of them if they were fewer."""


class Job(TypedDict):
    name: str
    clone: int
    """Which of fio's `numjobs` clones this is, from 0."""
    stage: int
    """Index of the stage (what stands between two `stonewall`s), from 0, never falling along the list of jobs."""
    direction: Direction
    sequential: bool
    read_percent: float
    """Share of reads among the requests of a `read-write` job, 0 to 100."""
    offset_bytes: int
    """The part of the drive that the job works on."""
    size_bytes: int
    io_bytes: int
    """The job ends after so many bytes of requests."""
    number_ios: NotRequired[int | None]
    """Or after so many requests, if that comes first."""
    loops: int
    """How often the whole is repeated."""
    block_sizes: PerDirection[list[BlockSize]]
    block_align_bytes: PerDirection[int]
    """Offsets of random requests are multiples of this."""
    distribution: Distribution
    random_map: bool
    """Whether a uniform random job visits every block once before any a second time (fio without `norandommap`). With
    several sizes a block is the smallest, and a request ends where it would meet a visited one."""
    skip_bytes: NotRequired[int | None]
    """Between the end of a sequential request and the start of the next; below zero it goes backwards. Null: none."""
    runs: NotRequired[Runs | None]
    """How long a random job stays with a place. Null: every request takes a new one."""
    following_block_sizes: NotRequired[PerDirection[list[BlockSize]] | None]
    """The lengths of random jobs' requests that are not at a random place (fio's `bs_is_seq_rand`). Null:
    `block_sizes`."""
    zones: NotRequired[StridedZones | None]
    """The job goes from zone to zone of its part (fio's `zonemode=strided`). Null: it is all one."""
    random_percent: NotRequired[PerDirection[float] | None]
    """Share of the new places that are random, 0 to 100; the others follow the last request of their direction. Null:
    all."""
    files: NotRequired[Files | None]
    """The files, when there are several; they lie between `offset_bytes` and `offset_bytes + size_bytes`. Null: one,
    which is the whole of that."""
    seed: int
    iodepth: int
    """Requests outstanding at a time; without a clock, the job's share of the turns among the jobs of its stage."""
    runtime_ns: NotRequired[int | None]
    """The job ends after so much simulated time, if it has not ended before."""
    time_based: NotRequired[bool]
    """Whether the job starts over until its time is up."""
    ramp_ns: NotRequired[int]
    """What completes before so much of the job's time is over is not counted (fio's `ramp_time`); the runtime begins
    after it."""
    start_delay_ns: NotRequired[int]
    """The job's time begins so long after its stage's."""
    wait_for: NotRequired[str | None]
    """An earlier job of the list, all clones of which must be done before this one starts."""
    think_time_ns: NotRequired[int]
    """Whenever `think_time_blocks` requests are complete the job lets what is outstanding end, and then issues nothing
    for so long. 0: it never pauses."""
    think_time_blocks: NotRequired[int]
    think_time_counts_issued: NotRequired[bool]
    """Whether issued requests are counted for that, not complete ones."""
    think_time_after_ns: NotRequired[int]
    """It pauses whenever it has worked for so long, too; 0: only by requests."""
    think_time_spin_ns: NotRequired[int]
    """The part of the think time that fio spends busy on the processor. It makes no difference to the drive."""
    rate_bytes_per_second: NotRequired[PerDirection[int | None] | None]
    """The most that the job asks for in each direction. Null: as much as it can."""
    rate_iops: NotRequired[PerDirection[int | None] | None]
    """The same in requests of the least size of the direction, as fio counts them."""
    rate_process: NotRequired[RateProcess]
    rate_leaves_think_time: NotRequired[bool]
    """Whether a linear rate leaves out what it could not ask for while the job thought, and does not make up for it."""
    refill_at: NotRequired[int | None]
    """A full queue is filled up again only when so few requests are outstanding (fio's `iodepth_low`,
    `iodepth_batch_complete_min`). Null: with each that is complete."""
    ends_others: NotRequired[EndsOthers]
    """Which others end when this job ends (fio's `exitall`)."""
    flush_every_writes: NotRequired[int]
    """A flush follows every so many writes (fio's `fsync`); the job issues nothing more until it is complete. 0:
    never."""
    sync_writes: NotRequired[bool]
    """Whether a write is complete only when it is in memory that outlives a loss of power (fio's `sync`, NVMe's
    FUA)."""
    compress_percent: NotRequired[float]
    """How much of what is written compression takes away, 0 to 100 (fio's `buffer_compress_percentage`)."""
    dedupe_percent: NotRequired[float]
    """The chance that a write repeats the data of the write before it, 0 to 100 (fio's `dedupe_percentage`)."""
    stream_id: NotRequired[int | None]
    """The placement identifier that the job's writes carry. Null: none."""
    identifiers: NotRequired[Identifiers | None]
    """Several of them, and which write carries which. Null: `stream_id` is all."""
    log: NotRequired[LogPlan | None]
    """What is logged of the job while it runs (fio's `write_bw_log` and its like). Null: nothing."""
    steady_state: NotRequired[JobSteadyState | None]
    """The job ends when its rate is steady by a rule (`steadystate`). Null: it does not look."""
    limits: NotRequired[JobLimits | None]
    """What the job fails by (fio's `rate_min`, `max_latency`). Null: nothing."""
    latency_target: NotRequired[LatencyTarget | None]
    """The job looks for the depth that suits a latency (fio's `latency_target`). Null: it keeps to `iodepth`."""
    zoned: NotRequired[ZonedJob | None]
    """The job writes at the write pointers of zones (fio's `zonemode=zbd`). Null: it writes anywhere."""


class JobPart(TypedDict, total=False):
    """Some of the keys of a `Job`."""

    block_align_bytes: PerDirection[int]
    block_sizes: PerDirection[list[BlockSize]]
    clone: int
    compress_percent: float
    dedupe_percent: float
    direction: Direction
    distribution: Distribution
    ends_others: EndsOthers
    files: Files | None
    flush_every_writes: int
    following_block_sizes: PerDirection[list[BlockSize]] | None
    identifiers: Identifiers | None
    io_bytes: int
    iodepth: int
    latency_target: LatencyTarget | None
    limits: JobLimits | None
    log: LogPlan | None
    loops: int
    name: str
    number_ios: int | None
    offset_bytes: int
    ramp_ns: int
    random_map: bool
    random_percent: PerDirection[float] | None
    rate_bytes_per_second: PerDirection[int | None] | None
    rate_iops: PerDirection[int | None] | None
    rate_leaves_think_time: bool
    rate_process: RateProcess
    read_percent: float
    refill_at: int | None
    runs: Runs | None
    runtime_ns: int | None
    seed: int
    sequential: bool
    size_bytes: int
    skip_bytes: int | None
    stage: int
    start_delay_ns: int
    steady_state: JobSteadyState | None
    stream_id: int | None
    sync_writes: bool
    think_time_after_ns: int
    think_time_blocks: int
    think_time_counts_issued: bool
    think_time_ns: int
    think_time_spin_ns: int
    time_based: bool
    wait_for: str | None
    zoned: ZonedJob | None
    zones: StridedZones | None


class JobOutcome(TypedDict):
    name: str
    clone: int
    stage: int
    read: Requests
    write: Requests
    trim: Requests
    flush: Requests
    """Their bytes are 0."""
    ledger: Ledger
    """What the drive did while it served this job; garbage collection counts for the job whose write set it off."""
    timing: JobTiming | None
    """Nothing without a clock."""


class Timing(TypedDict):
    simulated_ns: int
    die_utilization: float
    """The share of the time in which the dies were at work, on average."""
    series: TimeColumns
    intervals: NotRequired[list[Interval] | None]
    """Nothing unless the run was to count in intervals."""


class Outcome(TypedDict):
    jobs: list[JobOutcome]
    ledger: Ledger
    capacity: Capacity
    wear: Wear
    stages: list[StageOutcome]
    steady_state: SteadyStateOutcome | None
    """Nothing unless the run was to go on until the steady state."""
    series: Columns
    timing: Timing | None
    """Nothing without a clock."""
    failure: str | None
    """Why the drive stopped taking writes, if it did."""
    namespaces: NotRequired[list[NamespaceOutcome] | None]
    """In their order; nothing for a drive without namespaces."""
    zones: NotRequired[ZoneCounts | None]
    """Nothing for a drive without zones."""
    trace: NotRequired[TraceCounts]
    """Of `_engine.replay` only."""


class Specification(TypedDict):
    """One run."""

    seed: int
    drive: Drive
    timed: bool
    """Whether the drive has a clock. Without one there is write amplification only, found much faster."""
    until: Until
    series_points_max: int
    """The most points that the time series may hold; it is thinned by halves when it would grow past this."""
    jobs: list[Job]
    """Ordered by stage: all jobs of a stage run side by side, and a stage starts when the one before it has ended."""
    interval_ns: NotRequired[int | None]
    """What the drive did is counted in intervals of simulated time of this length too. Null: it is not."""
