"""What the engine is given and what it gives back, as JSON objects: specifications and outcomes.

Written by `make docs` from `_engine.schema()`; changes belong into the Rust types. Units are in the names. A key that
need not be given has a default in the engine. Drives are in `types.py`.
"""

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")

Drive = dict[str, Any]
"""A drive with all values: its `name`, and the tables of a drive file that `types.py` describes."""


class PerDirection(TypedDict, Generic[T]):
    read: T
    write: T
    trim: T


class Began(TypedDict):
    """What a saved state had counted: `Counted` in `crates/engine/src/simulation/mod.rs`."""

    ledger: "Ledger"
    namespaces: "list[NamespaceLedger]"
    """Empty for a drive without any."""


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
    """A zone of a distribution, in bytes."""

    access_percent: float
    """Its share of the accesses."""
    span_bytes: int
    """Its size."""


class AreaCounts(TypedDict):
    """Counts of all random write areas since the drive was new, in mapping units."""

    overwritten_units: int
    """Units that the host wrote again before they were programmed: so many programs were saved."""
    gap_units: int
    """Units that the write pointer passed although the host had not written them, and that were padded."""
    explicit_flushes: int
    """Flushes by command."""


class BlockSize(TypedDict):
    """One entry of a distribution of sizes; the percentages of a list add up to 100."""

    bytes: int
    """The size."""
    percent: float
    """Its share of the requests."""


class BreakdownColumns(TypedDict):
    """The exported form: for each non-empty bin of latency, the total nanoseconds of its requests."""

    queueing: list[int]
    """Of `Part::Queueing`."""
    controller: list[int]
    """Of `Part::Controller`."""
    link: list[int]
    """Of `Part::Link`."""
    map: list[int]
    """Of `Part::Map`."""
    channel: list[int]
    """Of `Part::Channel`."""
    flash: list[int]
    """Of `Part::Flash`."""
    host_operations: list[int]
    """Of `Part::HostOperations`."""
    gc: list[int]
    """Of `Part::Gc`."""


class Capacity(TypedDict):
    """Capacities, in mapping units unless the name says otherwise."""

    mapping_unit_bytes: int
    """The unit of the map."""
    physical_units: int
    """T: all flash except what is held out of it."""
    user_units: int
    """U: the units addressable by the host."""
    erase_units: int
    """Erase units of T, including retired ones."""
    units_per_erase_unit: int
    """Slots of an erase unit."""
    data_units_per_erase_unit: int
    """Slots of an erase unit without parity."""
    counted_unit_bytes: int
    """The unit of the ledger's counters: a mapping unit, or the part of one in which reduced data is packed."""
    live_units: int
    """Mapped units of the host."""
    effective_over_provisioning: float | None
    """The spare area effective for garbage collection, divided by the live units: spare, trimmed and never-written
    space minus the reserve, half of each open erase unit, parity and bad blocks. None when nothing is live."""


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
    programmed_units_journal: NotRequired[list[int]]
    """Absent for a run without any."""


class DepthFound(TypedDict):
    """The result of the search."""

    depth: int
    """The depth found."""
    is_final: bool
    """Whether the last window was at this depth and met the target."""


Direction = Literal["read", "write", "trim", "read-write", "trim-write"]


EndsOthers = Literal["none", "stage", "all"]


class FileRange(TypedDict):
    """The part of one file that the job uses."""

    offset_bytes: int
    """Start of the part, on the drive."""
    size_bytes: int
    """Size of the part."""


class FileServiceRoundRobin(TypedDict):
    """In turn, this many requests at a time."""

    kind: Literal["round-robin"]
    ios: int


class FileServiceSequential(TypedDict):
    """One file to its end, then the next. Files without an end (random ones without a map) keep the job at the
    first."""

    kind: Literal["sequential"]


class FileServiceRandom(TypedDict):
    """At random, this many requests at a time."""

    kind: Literal["random"]
    ios: int


class FileServiceWeighted(TypedDict):
    """At random with these weights, one a file; no file waits for another."""

    kind: Literal["weighted"]
    weights: list[float]


FileService = FileServiceRoundRobin | FileServiceSequential | FileServiceRandom | FileServiceWeighted
"""Which file is next (fio's `file_service_type`). A file whose blocks have all been visited waits for the others."""


class FioLawZipf(TypedDict):
    """Fio's zipf."""

    name: Literal["zipf"]
    theta: float


class FioLawPareto(TypedDict):
    """Fio's pareto."""

    name: Literal["pareto"]
    h: float


class FioLawNormal(TypedDict):
    """Fio's normal."""

    name: Literal["normal"]
    deviation_percent: float


FioLaw = FioLawZipf | FioLawPareto | FioLawNormal
"""The distributions of fio."""


class GroupCounts(TypedDict):
    """Counts of a reclaim group since the drive was new."""

    erase_units: int
    """Erase units of the group that are not retired."""
    live_units: int
    """Live units in them at the end."""
    opened_for_host: int
    """Erase units opened for writes of the host."""
    opened_for_other_groups: int
    """Those among them that were opened because the group of the placement identifier was full."""
    opened_for_gc: int
    """Erase units opened for data that garbage collection moves."""
    erased: int
    """Erases of erase units."""


class HandleStatus(TypedDict):
    """A handle in a reclaim group."""

    handle: int
    """The handle."""
    reclaim_group: int
    """The reclaim group."""
    reclaim_units: int
    """Reclaim units that it has referred to."""
    available_units: int
    """Units that can still be written to the one that it refers to."""


class HistogramRow(TypedDict):
    time_ns: int
    direction: int
    length_bytes: int
    """The length of the last request in it."""
    bins: list[list[int]]
    """Pairs of fio's bin and its count, ascending."""


class IdentifierRange(TypedDict):
    """A range of the drive and its placement identifier."""

    start_bytes: int
    """The first byte."""
    end_bytes: int
    """The byte after the last."""
    identifier: int
    """The placement identifier."""


class JobSteadyStateOutcome(TypedDict):
    attained: bool
    at_ns: int | None
    """Since the start of the job; null if it was not attained."""
    criterion: float | None
    """The last value compared with the limit: a deviation or a slope. Null if the window was never full."""
    slope: float | None
    max_deviation: float | None
    iops: list[float]
    """The rates of the window, one a second, oldest first."""
    bytes_per_second: list[float]


class Latency(TypedDict):
    """The exported form: moments, and the non-empty bins."""

    count: int
    """The number of latencies."""
    min_ns: int | None
    """The least; None without any."""
    max_ns: int | None
    """The largest; None without any."""
    mean_ns: float | None
    """The mean; None without any."""
    stddev_ns: float | None
    """The standard deviation; None without any."""
    bins: list[list[int]]
    """Pairs of a bin's middle in nanoseconds and its count, ascending."""


class LatencyTarget(TypedDict):
    """The job searches for the largest number of outstanding requests with which it meets a latency (fio's
    `latency_target`), up to its `iodepth`; see `simulation/depth_search.rs`."""

    latency_ns: int
    """The latency to be met."""
    window_ns: int
    """How long a depth is tried."""
    percent: float
    """The percentage of requests that must be in time, above 0 to 100."""
    goes_on: bool
    """Whether the job continues the search to its end, instead of ending at the depth found."""


Limit = Literal["bytes-per-second-min", "iops-min", "latency-ns-max"]


class LogPlan(TypedDict):
    """How a job is logged."""

    average_ns: NotRequired[int | None]
    """Averages over this long (fio's `log_avg_msec`). Null: every request is an entry."""
    histogram_ns: NotRequired[int | None]
    """Histograms of latency over this long (fio's `log_hist_msec`). Null: none."""


class NamespacePrograms(TypedDict):
    """Mapping units of a namespace programmed into flash, by cause."""

    host: int
    gc: int
    wear_leveling: int
    slc_fold: int


class NamespaceReads(TypedDict):
    """Mapping units of a namespace read from flash for its host, by cause."""

    host: int
    read_modify_write: int


PlacementEventKind = Literal["media-reallocated", "implicitly-modified-handle"]


class ProgrammedUnits(TypedDict):
    """Mapping units programmed into flash, by cause."""

    host: int
    gc: int
    wear_leveling: int
    metadata: int
    parity: int
    padding: int
    slc_fold: int
    journal: NotRequired[int]
    """The map's journal, written by flushes of a drive without power-loss protection; absent without any. It is in
    blocks of its own, whose erases are not simulated."""


RateProcess = Literal["linear", "poisson"]


class ReadCounts(TypedDict):
    """Sums over segments."""

    segments: int
    """Segments read ahead."""
    pages: int
    """Pages with units of a segment."""
    dies: int
    """Dies with these pages."""
    busiest_die_pages: int
    """Pages of a segment on the die with most of them, which reads these one after another."""
    map_pages: int
    """Map pages fetched first."""


class ReadUnits(TypedDict):
    """Mapping units read from flash, by cause."""

    host: int
    gc: int
    wear_leveling: int
    slc_fold: int
    read_modify_write: int
    """Reads of a unit's old data for a write to a part of it."""
    metadata: int
    """Map pages read because they were not in memory."""


class Requests(TypedDict):
    """Counts of requests."""

    ios: int
    """Requests."""
    bytes: int
    """Their bytes."""


Sequencer = Literal["sequential", "identical"]


class SettledOutcome(TypedDict):
    """How exactly the mean of the reported rounds is known."""

    rounds: int
    """The number of rounds that are reported."""
    is_precise: bool
    """Whether the intervals are as narrow as the precision asks."""
    waf_half_width: float | None
    """Half the width of the 95 % interval of write amplification; None with fewer than five rounds."""
    iops_half_width: float | None
    """That of requests a second; None also without a clock."""


class Spread(TypedDict):
    """Statistics of a set of counts."""

    min: int
    """The least count."""
    mean: float
    """The mean."""
    max: int
    """The largest count."""
    stddev: float
    """The standard deviation."""


SteadyCriterion = Literal["iops", "iops-slope", "bw", "bw-slope", "snia-pts-iops", "snia-pts-bw"]


class StoreCounts(TypedDict):
    """Bytes written, read and deleted by a database or a cache since the job started."""

    user_bytes: int
    """Written by its users: keys and values, rows as recorded in the log, or chunks that are new."""
    log_bytes: int
    """Written to the write-ahead log."""
    level_bytes: list[int]
    """Written per level, 0 for flushed memtables; for a B+ tree only its pages, for a KV cache only new chunks."""
    rebuilt_bytes: int
    """Written by rebuilding tables and indexes, or chunks that were no longer in the cache (misses)."""
    deleted_bytes: int
    """The space of deleted files or evicted chunks, trimmed or not."""
    read_bytes: int
    """Read by a KV cache (hits); databases do not read."""


class StridedZones(TypedDict):
    """Zones of equal size with equal gaps in between, used one after the other and then again from the first. The end
    of the job's part may cut the last short."""

    transfer_bytes: int
    """Bytes transferred in a zone before the job moves to the next; they may exceed the zone."""
    range_bytes: int
    """The size of a zone."""
    skip_bytes: int
    """The gap after a zone."""


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


class TreeLsmTree(TypedDict):
    """Levelled compaction, as in RocksDB. Keys are overwritten uniformly at random, so that each level holds a random
    sample of them, evenly spread over the key range."""

    kind: Literal["lsm-tree"]
    write_buffer_bytes: int
    """Size of a memtable, which becomes a file of level 0."""
    level0_files: int
    """Number of files in level 0 that starts their compaction into level 1."""
    level1_bytes: int
    """Maximum size of level 1."""
    multiplier: float
    """Maximum ratio of the size of a level to that of the level before. All levels between `level1_bytes` and the data
    have the same ratio."""
    file_bytes: int
    """Maximum size of a file written by a compaction."""
    has_log: bool
    """Whether updates are written to a log first, one log file per memtable."""


class TreeBPlusTree(TypedDict):
    """Pages updated in place, with a write-ahead log that contains the whole page at its first update after a
    checkpoint, as in PostgreSQL. All dirty pages fit into memory."""

    kind: Literal["b-plus-tree"]
    page_bytes: int
    """Size of a page."""
    record_bytes: int
    """Size of an update in the log, without the image of the page."""
    checkpoint_bytes: int
    """Bytes of the log between the starts of two checkpoints."""
    completion_target: float
    """Share of the interval between checkpoints over which the pages are written, above 0 to 1."""
    has_page_images: bool
    """Whether the first update of a page after a checkpoint writes its image to the log."""
    recycles_log: bool
    """Whether log files are overwritten in place; otherwise they are deleted and new ones written."""
    zipf_theta: NotRequired[float | None]
    """Exponent of the Zipf distribution of the updated pages. Null: uniform."""
    rebuilds_every_checkpoints: int
    """Number of checkpoints after which the next table or index is rebuilt into a new file, one after the other. 0:
    never."""
    rebuilt_bytes: int
    """Size of a rebuilt table or index."""


class TreeKvCache(TypedDict):
    """The KV cache of a language model server, in slots of one chunk, as LMCache's. Sessions take turns; a turn reads
    the cached part of the session's history, and writes the rest, which is computed again, and what the turn adds. The
    least recently used chunk is evicted."""

    kind: Literal["kv-cache"]
    chunk_bytes: int
    """Size of a chunk: its tokens times the bytes of a token's keys and values."""
    layers: int
    """Number of pieces of a chunk, one for each layer, which are written to the layer's region. 1: whole chunks."""
    sessions: int
    """Number of sessions that are open at a time."""
    turn_chunks: int
    """Mean number of chunks that a turn adds; it adds 1 to twice as many less 1, all equally likely."""
    context_chunks: int
    """Maximum length of a session. A new session takes the place of one that would exceed it."""
    zipf_theta: NotRequired[float | None]
    """Exponent of the Zipf distribution of the session that takes the next turn. Null: uniform."""


Tree = TreeLsmTree | TreeBPlusTree | TreeKvCache
"""The structure of a database's files, or a cache."""


class UntilJob(TypedDict):
    """When its jobs are complete."""

    kind: Literal["job"]


class UntilSteadyState(TypedDict):
    """Its jobs restart until write amplification is steady by SNIA's rule, or `host_bytes_max` have been written in the
    stage. With a `precision`, a share, it goes on until the mean of the rounds behind the last change of trend is known
    that exactly; what is reported are these rounds, else the five of the rule."""

    kind: Literal["steady-state"]
    round_bytes: int
    host_bytes_max: int
    precision: NotRequired[float | None]


Until = UntilJob | UntilSteadyState
"""When the last stage ends."""


class WearBin(TypedDict):
    """Blocks with an erase count in a range, both ends included."""

    erase_count_min: int
    """The least erase count of the bin."""
    erase_count_max: int
    """The largest erase count of the bin."""
    blocks: int
    """The number of blocks."""


class Zone(TypedDict):
    """A zone of a distribution."""

    access_percent: float
    """Its share of the accesses."""
    span_percent: float
    """Its share of the blocks."""


class ZonedJob(TypedDict):
    """How a job writes zone by zone. All such jobs of a run have the same zones."""

    zone_bytes: int
    """On a drive with zones, the drive's or 0; otherwise the size of the zones that the host manages on it."""
    capacity_bytes: int
    """The part of a zone that the host writes, on a drive without zones; 0: all."""
    open_max: int
    """The most zones that all jobs may have open together; 0: as many as the drive allows."""
    job_open_max: int
    """The most zones that this job may have open; 0: no limit of its own."""
    reset_threshold: float
    """The share of the job's part that must be written before zones are reset early, 0 to 1."""
    reset_frequency: float
    """The share of the writes from then on at which a zone is reset, 0 to 1; 0: never."""
    read_beyond_pointer: bool
    """Whether reads may be anywhere, and not only where data was written."""
    overwrite_percent: NotRequired[float]
    """The percentage of the writes that do not append to a zone but write again, at a random place, what the drive
    holds in the zone's random write area."""


class Files(TypedDict):
    """The files of a job."""

    ranges: list[FileRange]
    """The part of each file, in order."""
    service: FileService
    """Which file is next."""


class IdentifiersRoundRobin(TypedDict):
    """In turn, one a write. An empty list stands for all that the drive has."""

    choose: Literal["round-robin"]
    among: list[int]


class IdentifiersRandom(TypedDict):
    """At random; the same of an empty list."""

    choose: Literal["random"]
    among: list[int]


class IdentifiersByOffset(TypedDict):
    """By the start of a write, in bytes of the drive: the first range that contains it; otherwise identifier 0."""

    choose: Literal["by-offset"]
    ranges: list[IdentifierRange]


Identifiers = IdentifiersRoundRobin | IdentifiersRandom | IdentifiersByOffset
"""Which write has which placement identifier."""


class JobBreakdown(TypedDict):
    """The parts of the time of the requests, one row for each bin of the direction's latency."""

    read: BreakdownColumns
    """Of reads."""
    write: BreakdownColumns
    """Of writes."""
    trim: BreakdownColumns
    """Of trims."""


class JobFailure(TypedDict):
    """The limit that a job violated, and by how much."""

    limit: Limit
    """The limit."""
    direction: int
    """As fio numbers them: 0 reads, 1 writes, 2 trims."""
    allowed: int
    """In bytes or requests a second, or nanoseconds."""
    found: int
    """The rate or latency found."""
    offset_bytes: int
    """The request that completed at that moment."""
    length_bytes: int
    """Length of that request."""


class JobLimits(TypedDict):
    """The job fails when its rate falls below a minimum, or when a request takes longer than a maximum; see
    `simulation/job_limits.rs`."""

    bytes_per_second_min: PerDirection[int | None]
    """The minimum rate over a window (fio's `rate_min`, `rate_iops_min`). Null: none. Bytes take precedence over
    requests, as in fio."""
    iops_min: PerDirection[int | None]
    """The same in requests."""
    window_ns: int
    """The minimum length of a window (fio's `rate_cycle`)."""
    latency_ns_max: PerDirection[int | None]
    """The longest duration of a request (fio's `max_latency`). Null: no limit."""
    ends_others: EndsOthers
    """Which other jobs end when the job fails."""


class JobSteadyState(TypedDict):
    """A rule for a job's steady state, fio's or SNIA's; see `simulation/job_steady_state.rs`."""

    criterion: SteadyCriterion
    """The rule."""
    limit: float
    """In requests or bytes a second, or in percent of the mean. SNIA's rule has its own limits."""
    is_percent: bool
    """Whether the limit is in percent of the mean."""
    duration_seconds: int
    """The window of the rule in seconds."""
    ramp_ns: int
    """The time before the rule begins."""


class Ledger(TypedDict):
    """Counters since the drive was new, or between two points in time."""

    host_written_bytes: int
    host_read_bytes: int
    host_trimmed_bytes: int
    programmed_units: ProgrammedUnits
    read_units: ReadUnits
    read_modify_write_units: int
    """Units of which the host wrote only a part; each is programmed whole."""
    trimmed_units: int
    """Live units invalidated by a trim."""
    erased_erase_units: int
    map_page_lookups: int
    """Look-ups of map pages, on drives whose memory does not hold the whole map."""
    deduplicated_units: int
    """Units written by the host whose contents the drive already stored, in mapping units."""


class LogColumns(TypedDict):
    """One row an entry: a request, or all requests of a direction within a window."""

    time_ns: list[int]
    """When the request completed or the window ended."""
    direction: list[int]
    """As fio numbers them: 0 reads, 1 writes, 2 trims."""
    ios: list[int]
    bytes: list[int]
    latency_ns: list[int]
    """For a window, the mean."""
    offset_bytes: list[int]
    """0 for a window."""
    lost: int
    """Requests omitted because the log was full."""
    histograms: list[HistogramRow]


class NamespaceLedger(TypedDict):
    """The counters of one of several namespaces: those of a ledger that belong to an address. Parity, padding and
    erases belong to no namespace."""

    host_written_bytes: int
    host_read_bytes: int
    host_trimmed_bytes: int
    programmed_units: NamespacePrograms
    read_units: NamespaceReads
    read_modify_write_units: int
    """Units of which the host wrote only a part; each is programmed whole."""
    trimmed_units: int
    """Live units invalidated by a trim."""


class PlacementEvent(TypedDict):
    """An event of the controller."""

    kind: PlacementEventKind
    """What happened."""
    handle: int | None
    """The handle through which the data was written; None for data that was moved before, of any handle."""
    reclaim_group: int
    """The reclaim group of the handle."""
    moved_units: int
    """Mapping units of the host that were moved; 0 for other events."""
    host_written_bytes: int
    """What the host had written since the drive was new."""


class Runs(TypedDict):
    """This many requests share one random position (fio's `rw=randread:8`)."""

    ios: int
    """Requests that share a position."""
    then: Sequencer
    """The positions of the requests after the first."""


class SlcModeWear(TypedDict):
    """The erases of blocks after use in SLC mode."""

    blocks: int
    """Blocks with such an erase."""
    erase_count: Spread
    """Statistics of these blocks' erase counts in SLC mode."""


class StageOutcome(TypedDict):
    """The boundaries of a stage."""

    stage: int
    """The index of the stage."""
    host_written_bytes_start: int
    """Bytes written by the host before it."""
    host_written_bytes_end: int
    """Bytes written by the host at its end."""
    read_ahead: ReadCounts | None
    """Read-ahead in the window; None for a drive, or a run, without it."""


class SteadyTiming(TypedDict):
    """Requests a second in each round, and the requests of the rounds that are reported."""

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


class Store(TypedDict):
    """A database on the job's part of the drive. It starts loaded, with its data in sequence from `offset_bytes` on;
    the job consists of the updates that follow. A cache starts empty. `io_bytes` is the amount it writes to the
    drive."""

    tree: Tree
    """The structure of its files, which determines what is written and deleted."""
    data_bytes: int
    """Live data in bytes: the last level of an LSM tree, the pages of a B+ tree, the space of a cache."""
    request_bytes: int
    """The largest request with which files and logs are written, in bytes."""
    trims: bool
    """Whether the space of a deleted file or an evicted chunk is trimmed."""
    identifiers: list[int]
    """Placement identifiers: of the write-ahead log, then of each level, or of the pages. Further levels have the last
    one. For a KV cache: of the first turns of sessions, then of later turns. Empty: none."""
    begins_after_bytes: int
    """Bytes the database has written before the job starts. That part of its life is not simulated on the drive."""


class ZoneCounts(TypedDict):
    """How many zones are in each state, and counts of commands since the drive was new."""

    empty: int
    """Empty zones."""
    implicitly_open: int
    """Zones opened by a write."""
    explicitly_open: int
    """Zones opened by command."""
    closed: int
    """Closed zones."""
    full: int
    """Full zones."""
    resets: int
    """Resets of non-empty zones."""
    finishes: int
    """Zones finished by command."""
    refused: int
    """Refused writes."""
    random_write_areas: NotRequired[AreaCounts | None]
    """None for a drive without random write areas."""


class DistributionRandom(TypedDict):
    """Uniform."""

    name: Literal["random"]


class DistributionZipf(TypedDict):
    """Rank r is drawn with a probability proportional to r^-theta."""

    name: Literal["zipf"]
    theta: float
    """The exponent."""
    center: NotRequired[float | None]
    """The position of the most frequent block."""
    ranks_per_block: NotRequired[int]
    """Number of consecutive ranks that share a block, so that a part of a scaled drive has the skew of the whole."""


class DistributionPareto(TypedDict):
    """Fio's pareto: rank = blocks x u^(log h / log (1 - h)) for uniform u."""

    name: Literal["pareto"]
    h: float
    """The parameter h, between 0 and 1."""
    center: NotRequired[float | None]
    """The position of the most frequent block."""


class DistributionNormal(TypedDict):
    """Fio's normal: the mean of twelve uniform ranks, with a deviation in percent of the blocks."""

    name: Literal["normal"]
    deviation_percent: float
    """The width of the deviation."""
    center: NotRequired[float | None]
    """The position of the most frequent block."""


class DistributionZoned(TypedDict):
    """In order, a percentage of the accesses for a percentage of the range; uniform within each zone."""

    name: Literal["zoned"]
    zones: list[Zone]
    """The zones, in order."""
    scattered: NotRequired[bool]
    """Whether the blocks of a zone are scattered over the range instead of consecutive."""


class DistributionZonedByDirection(TypedDict):
    """The same with zones for each direction."""

    name: Literal["zoned-by-direction"]
    zones: PerDirection[list[Zone]]
    """The zones, in order."""


class DistributionZonedAbsolute(TypedDict):
    """A percentage of the accesses for each next number of bytes of the range; the rest of the range is never
    accessed."""

    name: Literal["zoned-absolute"]
    zones: PerDirection[list[AbsoluteZone]]
    """The zones, in order."""


class DistributionLikeFio(TypedDict):
    """Fio's own generator, rounding and scatter, bit by bit: see `workload/distribution/like_fio.rs`."""

    name: Literal["like-fio"]
    law: FioLaw
    """The distribution."""
    center: NotRequired[float | None]
    """The position of the most frequent block."""
    seed: int
    """The seed of fio's generator."""


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
"""The distribution of random requests over the blocks of the job's part of the drive. Skewed ones draw a rank, and a
permutation scatters the ranks over all blocks. `center`, 0 to 1, is the position of the most frequent block in the
part; null: anywhere."""


class Interval(TypedDict):
    """Counts are those of the interval alone."""

    end_ns: int
    """The end of the interval in simulated time."""
    ledger: Ledger
    """The drive's counters."""


class JobTiming(TypedDict):
    """The times of a job."""

    start_ns: int
    """When the counts began."""
    end_ns: int
    """When its last request completed."""
    read: Latency
    """Latencies of reads."""
    write: Latency
    """Latencies of writes."""
    trim: Latency
    """Latencies of trims."""
    flush: Latency
    """Latencies of flushes."""
    breakdown: JobBreakdown | None
    """None where requests come from outside."""
    log: LogColumns | None
    """None unless the job requests a log."""
    steady_state: JobSteadyStateOutcome | None
    """None unless the job is to end in its steady state."""
    failure: JobFailure | None
    """None if the job met its limits, or has none."""
    depth: DepthFound | None
    """None unless the job searches for a depth."""
    through: NotRequired[Latency | None]
    """Latencies of the writes of a recording that survive a loss of power when they complete (FUA), which are among its
    writes. None without any."""


class NamespaceOutcome(TypedDict):
    """The outcome of a namespace."""

    live_units: int
    """Addresses that the host has written and not trimmed."""
    ledger: NamespaceLedger
    """Since the drive was new."""
    last_stage: NamespaceLedger
    """In the last stage."""


class PlacementReport(TypedDict):
    """What a drive with placement handles reports besides its counters."""

    reclaim_unit_units: int
    """Units of the host in a reclaim unit."""
    handles: list[HandleStatus]
    """All groups of the first handle, then those of the second."""
    events: list[PlacementEvent]
    """The latest events since the run began, the oldest first."""
    lost_events: int
    """Older events, of which nothing else is known."""


class SteadyStateOutcome(TypedDict):
    """The outcome of the search for the steady state."""

    reached: bool
    """Whether the rule held within the limit of writes."""
    at_host_bytes: int | None
    """Host bytes since the start of the run."""
    round_bytes: int
    """Host bytes of a round."""
    range_share: float | None
    """The range of the last rounds as a share of their mean."""
    slope_share: float | None
    """The change of the least-squares line as a share of the mean."""
    round_waf: list[float]
    """Write amplification of each round of the last stage; None where the host wrote nothing."""
    timing: SteadyTiming | None
    """None without a clock."""
    window: Ledger
    """The drive's counters in the rounds that are reported: the last five, or all of them if they were fewer; with a
    precision those behind the last change of trend."""
    settled: NotRequired[SettledOutcome | None]
    """Only with a precision."""


class Wear(TypedDict):
    """The distribution of erases over the blocks. Erases after use in SLC mode are apart, because the rated endurance
    is not for them."""

    erase_count: Spread
    """Statistics of the erase counts."""
    histogram: list[WearBin]
    """Blocks by erase count."""
    bad_blocks_factory: int
    """Blocks that were bad when the drive was new."""
    bad_blocks_grown: int
    """Blocks that failed since."""
    slc_mode: NotRequired[SlcModeWear | None]
    """Of the blocks erased after use in SLC mode; None if there was none."""


class Job(TypedDict):
    """One job."""

    name: str
    """The section's name."""
    clone: int
    """The index of this clone among fio's `numjobs`, from 0."""
    stage: int
    """Index of the stage (the jobs between two `stonewall`s), from 0, ascending along the list of jobs."""
    direction: Direction
    """The operations of the requests."""
    sequential: bool
    """Whether positions are sequential rather than random."""
    read_percent: float
    """Share of reads among the requests of a `read-write` job, 0 to 100."""
    offset_bytes: int
    """The part of the drive that the job uses."""
    size_bytes: int
    """The size of that part."""
    io_bytes: int
    """The job ends after this many bytes of requests."""
    number_ios: NotRequired[int | None]
    """Or after this many requests, if that comes first."""
    loops: int
    """How often the whole job is repeated."""
    block_sizes: PerDirection[list[BlockSize]]
    """The sizes of the requests, by direction."""
    block_align_bytes: PerDirection[int]
    """Offsets of random requests are multiples of this."""
    distribution: Distribution
    """The distribution of random requests."""
    random_map: bool
    """Whether a uniform random job visits every block once before any a second time (fio without `norandommap`). With
    several sizes a block is the smallest, and a request is shortened before a visited block."""
    skip_bytes: NotRequired[int | None]
    """The gap between the end of a sequential request and the start of the next; negative: backwards. Null: none."""
    runs: NotRequired[Runs | None]
    """How many requests of a random job share a random position. Null: every request has its own."""
    following_block_sizes: NotRequired[PerDirection[list[BlockSize]] | None]
    """The lengths of random jobs' requests that are not at a random position (fio's `bs_is_seq_rand`). Null:
    `block_sizes`."""
    zones: NotRequired[StridedZones | None]
    """The job moves from zone to zone of its part (fio's `zonemode=strided`). Null: its part is not divided."""
    random_percent: NotRequired[PerDirection[float] | None]
    """Share of the positions that are random, 0 to 100; the others follow the last request of their direction. Null:
    all."""
    files: NotRequired[Files | None]
    """The files, if there are several; they are between `offset_bytes` and `offset_bytes + size_bytes`. Null: one, of
    that size."""
    seed: int
    """The seed of the job's random numbers."""
    iodepth: int
    """Requests outstanding at a time; without a clock, the job's share of the turns among the jobs of its stage."""
    runtime_ns: NotRequired[int | None]
    """The job ends after this much simulated time, unless it ended before."""
    time_based: NotRequired[bool]
    """Whether the job restarts until its time is up."""
    ramp_ns: NotRequired[int]
    """Completions in this first part of the job's time are not counted (fio's `ramp_time`); the runtime begins after
    it."""
    start_delay_ns: NotRequired[int]
    """The job starts this long after its stage."""
    wait_for: NotRequired[str | None]
    """An earlier job of the list; this one starts when all its clones are done."""
    think_time_ns: NotRequired[int]
    """After every `think_time_blocks` completed requests the job waits until nothing is outstanding, and then issues
    nothing for this long. 0: no pauses."""
    think_time_blocks: NotRequired[int]
    """The number of requests between two pauses."""
    think_time_counts_issued: NotRequired[bool]
    """Whether issued instead of completed requests are counted for that."""
    think_time_after_ns: NotRequired[int]
    """The job also pauses after working for this long; 0: only after requests."""
    think_time_spin_ns: NotRequired[int]
    """The part of the think time during which fio occupies the processor. It has no effect on the drive."""
    rate_bytes_per_second: NotRequired[PerDirection[int | None] | None]
    """The maximum rate of each direction. Null: no limit."""
    rate_iops: NotRequired[PerDirection[int | None] | None]
    """The same in requests of the smallest size of the direction, as fio counts them."""
    rate_process: NotRequired[RateProcess]
    """How the requests of a limited rate are spaced."""
    rate_leaves_think_time: NotRequired[bool]
    """Whether a linear rate does not catch up on what it could not issue during think time."""
    refill_at: NotRequired[int | None]
    """A full queue is refilled only when this few requests are outstanding (fio's `iodepth_low`,
    `iodepth_batch_complete_min`). Null: at each completion."""
    ends_others: NotRequired[EndsOthers]
    """Which other jobs end when this job ends (fio's `exitall`)."""
    flush_every_writes: NotRequired[int]
    """A flush follows after this many writes (fio's `fsync`); the job issues nothing until it has completed. 0:
    never."""
    sync_writes: NotRequired[bool]
    """Whether a write completes only when its data would survive a loss of power (fio's `sync`): by NVMe's FUA, or, on
    SATA, by a flush after the write."""
    compress_percent: NotRequired[float]
    """The share of the written data that compression removes, 0 to 100 (fio's `buffer_compress_percentage`)."""
    dedupe_percent: NotRequired[float]
    """The probability that a write repeats the data of the previous one, 0 to 100 (fio's `dedupe_percentage`)."""
    stream_id: NotRequired[int | None]
    """The placement identifier of the job's writes. Null: none."""
    identifiers: NotRequired[Identifiers | None]
    """Several placement identifiers, and which write has which. Null: `stream_id` alone."""
    log: NotRequired[LogPlan | None]
    """What is logged while the job runs (fio's `write_bw_log` and similar). Null: nothing."""
    steady_state: NotRequired[JobSteadyState | None]
    """The job ends when its rate is steady by a rule (`steadystate`). Null: no such rule."""
    limits: NotRequired[JobLimits | None]
    """Limits under which the job fails (fio's `rate_min`, `max_latency`). Null: none."""
    latency_target: NotRequired[LatencyTarget | None]
    """The job searches for the depth that meets a latency (fio's `latency_target`). Null: `iodepth` is fixed."""
    flush_at_end: NotRequired[bool]
    """A flush follows after the last request (fio's `end_fsync`)."""
    host_ns: NotRequired[int]
    """The host's own time for a command, which is a part of its latency."""
    store: NotRequired[Store | None]
    """The database or cache whose updates are the job. It determines addresses and sizes of the requests; `direction`,
    `block_sizes` and all keys for addresses then have no effect. Null: none."""
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
    flush_at_end: bool
    flush_every_writes: int
    following_block_sizes: PerDirection[list[BlockSize]] | None
    host_ns: int
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
    store: Store | None
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
    """The outcome of a job."""

    name: str
    """The job's name."""
    clone: int
    """The index of the clone."""
    stage: int
    """The index of the stage."""
    read: Requests
    """Completed reads."""
    write: Requests
    """Completed writes."""
    trim: Requests
    """Completed trims."""
    flush: Requests
    """Flushes have 0 bytes."""
    ledger: Ledger
    """The drive's counters for this job; garbage collection counts for the job whose write triggered it."""
    timing: JobTiming | None
    """None without a clock."""
    store: NotRequired[StoreCounts | None]
    """Bytes written by a database, by cause; absent for other jobs."""


class Timing(TypedDict):
    """The outcome on the clock."""

    simulated_ns: int
    """The simulated duration."""
    die_utilization: float
    """The mean share of the time in which the dies were busy."""
    series: TimeColumns
    """The time series over simulated time."""
    intervals: NotRequired[list[Interval] | None]
    """None unless the run was to report intervals."""


class Outcome(TypedDict):
    """The outcome of a run."""

    jobs: list[JobOutcome]
    """By job, in order."""
    ledger: Ledger
    """The drive's counters over the whole run."""
    capacity: Capacity
    """The drive's capacities at the end."""
    wear: Wear
    """The wear of all blocks at the end."""
    stages: list[StageOutcome]
    """By stage, in order."""
    steady_state: SteadyStateOutcome | None
    """None unless the run was to continue until the steady state."""
    series: Columns
    """The time series over host bytes."""
    timing: Timing | None
    """None without a clock."""
    failure: str | None
    """Why the drive refused writes, if it did."""
    namespaces: NotRequired[list[NamespaceOutcome] | None]
    """In order; None for a drive without namespaces."""
    placement: NotRequired[PlacementReport | None]
    """None for a drive without placement handles."""
    reclaim_groups: NotRequired[list[GroupCounts] | None]
    """In order; None for a drive without reclaim groups."""
    zones: NotRequired[ZoneCounts | None]
    """None for a drive without zones."""
    trace: NotRequired[TraceCounts]
    """Of `_engine.replay` only."""
    began: NotRequired[Began]
    """What a saved state had counted; absent for a new drive."""


class Specification(TypedDict):
    """One run."""

    seed: int
    """The seed of everything random but the jobs' requests."""
    drive: Drive
    """The drive."""
    timed: bool
    """Whether the drive has a clock. Without one only write amplification is computed, much faster."""
    until: Until
    """When the run ends."""
    series_points_max: int
    """The maximum number of points of the time series; it is thinned by half when it would exceed this."""
    jobs: list[Job]
    """Ordered by stage: all jobs of a stage run concurrently, and a stage starts when the previous one has ended."""
    interval_ns: NotRequired[int | None]
    """The drive's counters are also reported in intervals of simulated time of this length. Null: they are not."""
