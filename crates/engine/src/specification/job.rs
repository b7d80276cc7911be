//! A job of the host: a resolved section of a fio job file. One clone of `numjobs` is one job here.

use super::store::Store;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The section's name.
    pub name: String,
    /// The index of this clone among fio's `numjobs`, from 0.
    pub clone: u32,
    /// Index of the stage (the jobs between two `stonewall`s), from 0, ascending along the list of jobs.
    pub stage: u32,
    /// The operations of the requests.
    pub direction: Direction,
    /// Whether positions are sequential rather than random.
    pub sequential: bool,
    /// Share of reads among the requests of a `read-write` job, 0 to 100.
    pub read_percent: f64,
    /// The part of the drive that the job uses.
    pub offset_bytes: u64,
    /// The size of that part.
    pub size_bytes: u64,
    /// The job ends after this many bytes of requests.
    pub io_bytes: u64,
    /// Or after this many requests, if that comes first.
    pub number_ios: Option<u64>,
    /// How often the whole job is repeated.
    pub loops: u32,
    /// The sizes of the requests, by direction.
    pub block_sizes: PerDirection<Vec<BlockSize>>,
    /// Offsets of random requests are multiples of this.
    pub block_align_bytes: PerDirection<u64>,
    /// The distribution of random requests.
    pub distribution: Distribution,
    /// Whether a uniform random job visits every block once before any a second time (fio without `norandommap`). With
    /// several sizes a block is the smallest, and a request is shortened before a visited block.
    pub random_map: bool,
    /// The gap between the end of a sequential request and the start of the next; negative: backwards. Null: none.
    pub skip_bytes: Option<i64>,
    /// How many requests of a random job share a random position. Null: every request has its own.
    pub runs: Option<Runs>,
    /// The lengths of random jobs' requests that are not at a random position (fio's `bs_is_seq_rand`). Null:
    /// `block_sizes`.
    #[serde(default)]
    pub following_block_sizes: Option<PerDirection<Vec<BlockSize>>>,
    /// The job moves from zone to zone of its part (fio's `zonemode=strided`). Null: its part is not divided.
    #[serde(default)]
    pub zones: Option<StridedZones>,
    /// The job writes at the write pointers of zones (fio's `zonemode=zbd`). Null: it writes anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zoned: Option<ZonedJob>,
    /// Share of the positions that are random, 0 to 100; the others follow the last request of their direction. Null:
    /// all.
    pub random_percent: Option<PerDirection<f64>>,
    /// The files, if there are several; they are between `offset_bytes` and `offset_bytes + size_bytes`. Null: one, of
    /// that size.
    pub files: Option<Files>,
    /// The seed of the job's random numbers.
    pub seed: u64,
    /// Requests outstanding at a time; without a clock, the job's share of the turns among the jobs of its stage.
    pub iodepth: u32,
    /// The job ends after this much simulated time, unless it ended before.
    #[serde(default)]
    pub runtime_ns: Option<u64>,
    /// Whether the job restarts until its time is up.
    #[serde(default)]
    pub time_based: bool,
    /// Completions in this first part of the job's time are not counted (fio's `ramp_time`); the runtime begins after
    /// it.
    #[serde(default)]
    pub ramp_ns: u64,
    /// The job starts this long after its stage.
    #[serde(default)]
    pub start_delay_ns: u64,
    /// An earlier job of the list; this one starts when all its clones are done.
    #[serde(default)]
    pub wait_for: Option<String>,
    /// After every `think_time_blocks` completed requests the job waits until nothing is outstanding, and then issues
    /// nothing for this long. 0: no pauses.
    #[serde(default)]
    pub think_time_ns: u64,
    /// The number of requests between two pauses.
    #[serde(default = "one")]
    pub think_time_blocks: u32,
    /// Whether issued instead of completed requests are counted for that.
    #[serde(default)]
    pub think_time_counts_issued: bool,
    /// The job also pauses after working for this long; 0: only after requests.
    #[serde(default)]
    pub think_time_after_ns: u64,
    /// The part of the think time during which fio occupies the processor. It has no effect on the drive.
    #[serde(default)]
    pub think_time_spin_ns: u64,
    /// The maximum rate of each direction. Null: no limit.
    #[serde(default)]
    pub rate_bytes_per_second: Option<PerDirection<Option<u64>>>,
    /// The same in requests of the smallest size of the direction, as fio counts them.
    #[serde(default)]
    pub rate_iops: Option<PerDirection<Option<u64>>>,
    /// How the requests of a limited rate are spaced.
    #[serde(default)]
    pub rate_process: RateProcess,
    /// Whether a linear rate does not catch up on what it could not issue during think time.
    #[serde(default)]
    pub rate_leaves_think_time: bool,
    /// A full queue is refilled only when this few requests are outstanding (fio's `iodepth_low`,
    /// `iodepth_batch_complete_min`). Null: at each completion.
    #[serde(default)]
    pub refill_at: Option<u32>,
    /// Which other jobs end when this job ends (fio's `exitall`).
    #[serde(default)]
    pub ends_others: EndsOthers,
    /// A flush follows after this many writes (fio's `fsync`); the job issues nothing until it has completed. 0: never.
    #[serde(default)]
    pub flush_every_writes: u32,
    /// A flush follows after the last request (fio's `end_fsync`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub flush_at_end: bool,
    /// Whether a write completes only when its data would survive a loss of power (fio's `sync`): by NVMe's FUA, or, on
    /// SATA, by a flush after the write.
    #[serde(default)]
    pub sync_writes: bool,
    /// The host's own time for a command, which is a part of its latency.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub host_ns: u32,
    /// The share of the written data that compression removes, 0 to 100 (fio's `buffer_compress_percentage`).
    #[serde(default)]
    pub compress_percent: f64,
    /// The probability that a write repeats the data of the previous one, 0 to 100 (fio's `dedupe_percentage`).
    #[serde(default)]
    pub dedupe_percent: f64,
    /// The placement identifier of the job's writes. Null: none.
    #[serde(default)]
    pub stream_id: Option<u32>,
    /// Several placement identifiers, and which write has which. Null: `stream_id` alone.
    #[serde(default)]
    pub identifiers: Option<Identifiers>,
    /// What is logged while the job runs (fio's `write_bw_log` and similar). Null: nothing.
    #[serde(default)]
    pub log: Option<LogPlan>,
    /// The job ends when its rate is steady by a rule (`steadystate`). Null: no such rule.
    #[serde(default)]
    pub steady_state: Option<JobSteadyState>,
    /// Limits under which the job fails (fio's `rate_min`, `max_latency`). Null: none.
    #[serde(default)]
    pub limits: Option<JobLimits>,
    /// The job searches for the depth that meets a latency (fio's `latency_target`). Null: `iodepth` is fixed.
    #[serde(default)]
    pub latency_target: Option<LatencyTarget>,
    /// The database or cache whose updates are the job. It determines addresses and sizes of the requests; `direction`,
    /// `block_sizes` and all keys for addresses then have no effect. Null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Store>,
}

/// How a job is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogPlan {
    /// Averages over this long (fio's `log_avg_msec`). Null: every request is an entry.
    pub average_ns: Option<u64>,
    /// Histograms of latency over this long (fio's `log_hist_msec`). Null: none.
    pub histogram_ns: Option<u64>,
}

impl Job {
    /// The range of the drive that it accesses.
    pub fn addresses_bytes(&self) -> Range<u64> {
        self.offset_bytes..self.offset_bytes.saturating_add(self.size_bytes)
    }

    /// Whether it may wait although its queue has room: for its rate, its pauses or its flushes.
    pub fn holds_back(&self) -> bool {
        let thinks = self.think_time_ns.max(self.think_time_spin_ns) > 0;
        let is_paced = thinks || self.flush_every_writes > 0 || self.refill_at.is_some();
        is_paced || self.rate_bytes_per_second.is_some() || self.rate_iops.is_some()
    }
}

impl Default for Job {
    /// One uniform random 4 KiB write at the start of the drive; a base for jobs built by hand.
    fn default() -> Self {
        let sizes = || vec![BlockSize { bytes: 4096, percent: 100.0 }];
        Self {
            name: "job".into(),
            clone: 0,
            stage: 0,
            direction: Direction::Write,
            sequential: false,
            read_percent: 50.0,
            offset_bytes: 0,
            size_bytes: 4096,
            io_bytes: 4096,
            number_ios: None,
            loops: 1,
            block_sizes: PerDirection { read: sizes(), write: sizes(), trim: sizes() },
            block_align_bytes: PerDirection { read: 4096, write: 4096, trim: 4096 },
            distribution: Distribution::Random,
            random_map: false,
            skip_bytes: None,
            runs: None,
            following_block_sizes: None,
            zones: None,
            zoned: None,
            random_percent: None,
            files: None,
            seed: 1,
            iodepth: 1,
            runtime_ns: None,
            time_based: false,
            ramp_ns: 0,
            start_delay_ns: 0,
            wait_for: None,
            think_time_ns: 0,
            think_time_blocks: 1,
            think_time_counts_issued: false,
            think_time_after_ns: 0,
            think_time_spin_ns: 0,
            rate_bytes_per_second: None,
            rate_iops: None,
            rate_process: RateProcess::Linear,
            rate_leaves_think_time: false,
            refill_at: None,
            ends_others: EndsOthers::None,
            flush_every_writes: 0,
            flush_at_end: false,
            sync_writes: false,
            host_ns: 0,
            compress_percent: 0.0,
            dedupe_percent: 0.0,
            stream_id: None,
            identifiers: None,
            log: None,
            steady_state: None,
            limits: None,
            latency_target: None,
            store: None,
        }
    }
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn is_no_time(ns: &u32) -> bool {
    *ns == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// How the requests of a limited rate are spaced (fio's `rate_process`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateProcess {
    /// Evenly; delays are caught up.
    #[default]
    Linear,
    /// As a Poisson process.
    Poisson,
}

/// Which other jobs end with a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndsOthers {
    /// None.
    #[default]
    None,
    /// Those of its stage.
    Stage,
    /// Those of all later stages too.
    All,
}

/// The operations of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// Reads and writes, mixed.
    ReadWrite,
    /// Each block is trimmed, then written.
    TrimWrite,
}

/// A value for each direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

/// One entry of a distribution of sizes; the percentages of a list add up to 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockSize {
    /// The size.
    pub bytes: u32,
    /// Its share of the requests.
    pub percent: f64,
}

/// This many requests share one random position (fio's `rw=randread:8`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// Requests that share a position.
    pub ios: u32,
    /// The positions of the requests after the first.
    pub then: Sequencer,
}

/// The positions of a run's requests after the first (fio's `rw_sequencer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sequencer {
    /// Each follows the last request of its direction.
    Sequential,
    /// Each starts where the last request of its direction started.
    Identical,
}

/// Zones of equal size with equal gaps in between, used one after the other and then again from the first. The end of
/// the job's part may cut the last short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StridedZones {
    /// Bytes transferred in a zone before the job moves to the next; they may exceed the zone.
    pub transfer_bytes: u64,
    /// The size of a zone.
    pub range_bytes: u64,
    /// The gap after a zone.
    pub skip_bytes: u64,
}

/// How a job writes zone by zone. All such jobs of a run have the same zones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZonedJob {
    /// On a drive with zones, the drive's or 0; otherwise the size of the zones that the host manages on it.
    pub zone_bytes: u64,
    /// The part of a zone that the host writes, on a drive without zones; 0: all.
    pub capacity_bytes: u64,
    /// The most zones that all jobs may have open together; 0: as many as the drive allows.
    pub open_max: u32,
    /// The most zones that this job may have open; 0: no limit of its own.
    pub job_open_max: u32,
    /// The share of the job's part that must be written before zones are reset early, 0 to 1.
    pub reset_threshold: f64,
    /// The share of the writes from then on at which a zone is reset, 0 to 1; 0: never.
    pub reset_frequency: f64,
    /// Whether reads may be anywhere, and not only where data was written.
    pub read_beyond_pointer: bool,
    /// The percentage of the writes that do not append to a zone but write again, at a random place, what the drive holds
    /// in the zone's random write area.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overwrite_percent: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(percent: &f64) -> bool {
    *percent == 0.0
}

/// The files of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// The part of each file, in order.
    pub ranges: Vec<FileRange>,
    /// Which file is next.
    pub service: FileService,
}

/// The part of one file that the job uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRange {
    /// Start of the part, on the drive.
    pub offset_bytes: u64,
    /// Size of the part.
    pub size_bytes: u64,
}

/// Which file is next (fio's `file_service_type`). A file whose blocks have all been visited waits for the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum FileService {
    /// In turn, this many requests at a time.
    RoundRobin { ios: u32 },
    /// One file to its end, then the next. Files without an end (random ones without a map) keep the job at the first.
    Sequential,
    /// At random, this many requests at a time.
    Random { ios: u32 },
    /// At random with these weights, one a file; no file waits for another.
    Weighted { weights: Vec<f64> },
}

/// The distribution of random requests over the blocks of the job's part of the drive.
///
/// Skewed ones draw a rank, and a permutation scatters the ranks over all blocks. `center`, 0 to 1, is the position of
/// the most frequent block in the part; null: anywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Distribution {
    /// Uniform.
    Random,
    /// Rank r is drawn with a probability proportional to r^-theta.
    Zipf {
        /// The exponent.
        theta: f64,
        /// The position of the most frequent block.
        center: Option<f64>,
        /// Number of consecutive ranks that share a block, so that a part of a scaled drive has the skew of the whole.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        ranks_per_block: u32,
    },
    /// fio's pareto: rank = blocks x u^(log h / log (1 - h)) for uniform u.
    Pareto {
        /// The parameter h, between 0 and 1.
        h: f64,
        /// The position of the most frequent block.
        center: Option<f64>,
    },
    /// fio's normal: the mean of twelve uniform ranks, with a deviation in percent of the blocks.
    Normal {
        /// The width of the deviation.
        deviation_percent: f64,
        /// The position of the most frequent block.
        center: Option<f64>,
    },
    /// In order, a percentage of the accesses for a percentage of the range; uniform within each zone.
    Zoned {
        /// The zones, in order.
        zones: Vec<Zone>,
        /// Whether the blocks of a zone are scattered over the range instead of consecutive.
        #[serde(default, skip_serializing_if = "is_false")]
        scattered: bool,
    },
    /// The same with zones for each direction.
    ZonedByDirection {
        /// The zones, in order.
        zones: PerDirection<Vec<Zone>>,
    },
    /// A percentage of the accesses for each next number of bytes of the range; the rest of the range is never
    /// accessed.
    ZonedAbsolute {
        /// The zones, in order.
        zones: PerDirection<Vec<AbsoluteZone>>,
    },
    /// fio's own generator, rounding and scatter, bit by bit: see `workload/distribution/like_fio.rs`.
    LikeFio {
        /// The distribution.
        law: FioLaw,
        /// The position of the most frequent block.
        center: Option<f64>,
        /// The seed of fio's generator.
        seed: u32,
    },
}

/// The distributions of fio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum FioLaw {
    /// fio's zipf.
    Zipf { theta: f64 },
    /// fio's pareto.
    Pareto { h: f64 },
    /// fio's normal.
    Normal { deviation_percent: f64 },
}

/// A zone of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Its share of the accesses.
    pub access_percent: f64,
    /// Its share of the blocks.
    pub span_percent: f64,
}

/// A zone of a distribution, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AbsoluteZone {
    /// Its share of the accesses.
    pub access_percent: f64,
    /// Its size.
    pub span_bytes: u64,
}

/// Which write has which placement identifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "choose", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum Identifiers {
    /// In turn, one a write. An empty list stands for all that the drive has.
    RoundRobin { among: Vec<u8> },
    /// At random; the same of an empty list.
    Random { among: Vec<u8> },
    /// By the start of a write, in bytes of the drive: the first range that contains it; otherwise identifier 0.
    ByOffset { ranges: Vec<IdentifierRange> },
}

/// A range of the drive and its placement identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentifierRange {
    /// The first byte.
    pub start_bytes: u64,
    /// The byte after the last.
    pub end_bytes: u64,
    /// The placement identifier.
    pub identifier: u8,
}

impl Identifiers {
    /// The largest in use; None if there is none.
    pub fn largest(&self) -> Option<u8> {
        match self {
            Self::RoundRobin { among } | Self::Random { among } => among.iter().copied().max(),
            Self::ByOffset { ranges } => ranges.iter().map(|range| range.identifier).max(),
        }
    }

    /// Replaces an empty list by all of a drive with this many.
    pub fn on_drive(&self, identifiers: u8) -> Self {
        let all = || (0..identifiers.max(1)).collect();
        match self {
            Self::RoundRobin { among } if among.is_empty() => Self::RoundRobin { among: all() },
            Self::Random { among } if among.is_empty() => Self::Random { among: all() },
            other => other.clone(),
        }
    }
}

/// The job fails when its rate falls below a minimum, or when a request takes longer than a maximum; see
/// `simulation/job_limits.rs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobLimits {
    /// The minimum rate over a window (fio's `rate_min`, `rate_iops_min`). Null: none. Bytes take precedence over
    /// requests, as in fio.
    pub bytes_per_second_min: PerDirection<Option<u64>>,
    /// The same in requests.
    pub iops_min: PerDirection<Option<u64>>,
    /// The minimum length of a window (fio's `rate_cycle`).
    pub window_ns: u64,
    /// The longest duration of a request (fio's `max_latency`). Null: no limit.
    pub latency_ns_max: PerDirection<Option<u64>>,
    /// Which other jobs end when the job fails.
    pub ends_others: EndsOthers,
}

/// A rule for a job's steady state, fio's or SNIA's; see `simulation/job_steady_state.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobSteadyState {
    /// The rule.
    pub criterion: SteadyCriterion,
    /// In requests or bytes a second, or in percent of the mean. SNIA's rule has its own limits.
    pub limit: f64,
    /// Whether the limit is in percent of the mean.
    pub is_percent: bool,
    /// The window of the rule in seconds.
    pub duration_seconds: u32,
    /// The time before the rule begins.
    pub ramp_ns: u64,
}

/// What must be steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyCriterion {
    /// Requests a second, by their deviation.
    Iops,
    /// Requests a second, by their slope.
    IopsSlope,
    /// Bytes a second, by their deviation.
    Bw,
    /// Bytes a second, by their slope.
    BwSlope,
    /// SNIA's rule over five rounds, each a fifth of the duration.
    SniaPtsIops,
    /// SNIA's rule on bytes a second.
    SniaPtsBw,
}

impl SteadyCriterion {
    /// Whether it is SNIA's rule.
    pub fn is_snia(self) -> bool {
        matches!(self, Self::SniaPtsIops | Self::SniaPtsBw)
    }
}

/// The job searches for the largest number of outstanding requests with which it meets a latency (fio's
/// `latency_target`), up to its `iodepth`; see `simulation/depth_search.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// The latency to be met.
    pub latency_ns: u64,
    /// How long a depth is tried.
    pub window_ns: u64,
    /// The percentage of requests that must be in time, above 0 to 100.
    pub percent: f64,
    /// Whether the job continues the search to its end, instead of ending at the depth found.
    pub goes_on: bool,
}
