//! One job as the host sees it: a resolved section of a fio job file. One clone of `numjobs` is one job here.

use super::store::Store;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub name: String,
    /// Which of fio's `numjobs` clones this is, from 0.
    pub clone: u32,
    /// Index of the stage (what stands between two `stonewall`s), from 0, never falling along the list of jobs.
    pub stage: u32,
    pub direction: Direction,
    pub sequential: bool,
    /// Share of reads among the requests of a `read-write` job, 0 to 100.
    pub read_percent: f64,
    /// The part of the drive that the job works on.
    pub offset_bytes: u64,
    pub size_bytes: u64,
    /// The job ends after so many bytes of requests.
    pub io_bytes: u64,
    /// Or after so many requests, if that comes first.
    pub number_ios: Option<u64>,
    /// How often the whole is repeated.
    pub loops: u32,
    pub block_sizes: PerDirection<Vec<BlockSize>>,
    /// Offsets of random requests are multiples of this.
    pub block_align_bytes: PerDirection<u64>,
    pub distribution: Distribution,
    /// Whether a uniform random job visits every block once before any a second time (fio without `norandommap`). With
    /// several sizes a block is the smallest, and a request ends where it would meet a visited one.
    pub random_map: bool,
    /// Between the end of a sequential request and the start of the next; below zero it goes backwards. Null: none.
    pub skip_bytes: Option<i64>,
    /// How long a random job stays with a place. Null: every request takes a new one.
    pub runs: Option<Runs>,
    /// The lengths of random jobs' requests that are not at a random place (fio's `bs_is_seq_rand`). Null:
    /// `block_sizes`.
    #[serde(default)]
    pub following_block_sizes: Option<PerDirection<Vec<BlockSize>>>,
    /// The job goes from zone to zone of its part (fio's `zonemode=strided`). Null: it is all one.
    #[serde(default)]
    pub zones: Option<StridedZones>,
    /// The job writes at the write pointers of zones (fio's `zonemode=zbd`). Null: it writes anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zoned: Option<ZonedJob>,
    /// Share of the new places that are random, 0 to 100; the others follow the last request of their direction. Null:
    /// all.
    pub random_percent: Option<PerDirection<f64>>,
    /// The files, when there are several; they lie between `offset_bytes` and `offset_bytes + size_bytes`. Null: one,
    /// which is the whole of that.
    pub files: Option<Files>,
    pub seed: u64,
    /// Requests outstanding at a time; without a clock, the job's share of the turns among the jobs of its stage.
    pub iodepth: u32,
    /// The job ends after so much simulated time, if it has not ended before.
    #[serde(default)]
    pub runtime_ns: Option<u64>,
    /// Whether the job starts over until its time is up.
    #[serde(default)]
    pub time_based: bool,
    /// What completes before so much of the job's time is over is not counted (fio's `ramp_time`); the runtime begins
    /// after it.
    #[serde(default)]
    pub ramp_ns: u64,
    /// The job's time begins so long after its stage's.
    #[serde(default)]
    pub start_delay_ns: u64,
    /// An earlier job of the list, all clones of which must be done before this one starts.
    #[serde(default)]
    pub wait_for: Option<String>,
    /// Whenever `think_time_blocks` requests are complete the job lets what is outstanding end, and then issues nothing
    /// for so long. 0: it never pauses.
    #[serde(default)]
    pub think_time_ns: u64,
    #[serde(default = "one")]
    pub think_time_blocks: u32,
    /// Whether issued requests are counted for that, not complete ones.
    #[serde(default)]
    pub think_time_counts_issued: bool,
    /// It pauses whenever it has worked for so long, too; 0: only by requests.
    #[serde(default)]
    pub think_time_after_ns: u64,
    /// The part of the think time that fio spends busy on the processor. It makes no difference to the drive.
    #[serde(default)]
    pub think_time_spin_ns: u64,
    /// The most that the job asks for in each direction. Null: as much as it can.
    #[serde(default)]
    pub rate_bytes_per_second: Option<PerDirection<Option<u64>>>,
    /// The same in requests of the least size of the direction, as fio counts them.
    #[serde(default)]
    pub rate_iops: Option<PerDirection<Option<u64>>>,
    #[serde(default)]
    pub rate_process: RateProcess,
    /// Whether a linear rate leaves out what it could not ask for while the job thought, and does not make up for it.
    #[serde(default)]
    pub rate_leaves_think_time: bool,
    /// A full queue is filled up again only when so few requests are outstanding (fio's `iodepth_low`,
    /// `iodepth_batch_complete_min`). Null: with each that is complete.
    #[serde(default)]
    pub refill_at: Option<u32>,
    /// Which others end when this job ends (fio's `exitall`).
    #[serde(default)]
    pub ends_others: EndsOthers,
    /// A flush follows every so many writes (fio's `fsync`); the job issues nothing more until it is complete. 0:
    /// never.
    #[serde(default)]
    pub flush_every_writes: u32,
    /// Whether a write is complete only when it is in memory that outlives a loss of power (fio's `sync`, NVMe's FUA).
    #[serde(default)]
    pub sync_writes: bool,
    /// How much of what is written compression takes away, 0 to 100 (fio's `buffer_compress_percentage`).
    #[serde(default)]
    pub compress_percent: f64,
    /// The chance that a write repeats the data of the write before it, 0 to 100 (fio's `dedupe_percentage`).
    #[serde(default)]
    pub dedupe_percent: f64,
    /// The placement identifier that the job's writes carry. Null: none.
    #[serde(default)]
    pub stream_id: Option<u32>,
    /// Several of them, and which write carries which. Null: `stream_id` is all.
    #[serde(default)]
    pub identifiers: Option<Identifiers>,
    /// What is logged of the job while it runs (fio's `write_bw_log` and its like). Null: nothing.
    #[serde(default)]
    pub log: Option<LogPlan>,
    /// The job ends when its rate is steady by a rule (`steadystate`). Null: it does not look.
    #[serde(default)]
    pub steady_state: Option<JobSteadyState>,
    /// What the job fails by (fio's `rate_min`, `max_latency`). Null: nothing.
    #[serde(default)]
    pub limits: Option<JobLimits>,
    /// The job looks for the depth that suits a latency (fio's `latency_target`). Null: it keeps to `iodepth`.
    #[serde(default)]
    pub latency_target: Option<LatencyTarget>,
    /// The job is the updates of a database, which decides where and in what sizes it writes; then `direction`,
    /// `block_sizes` and all else that says where requests fall have no effect. Null: it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Store>,
}

/// How a job is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogPlan {
    /// Averages over so long (fio's `log_avg_msec`). Null: every request is an entry.
    pub average_ns: Option<u64>,
    /// Histograms of latency over so long (fio's `log_hist_msec`). Null: none.
    pub histogram_ns: Option<u64>,
}

impl Job {
    /// Whether it may wait although it has a place in the queue: for its rate, its pauses or its flushes.
    pub fn holds_back(&self) -> bool {
        let thinks = self.think_time_ns.max(self.think_time_spin_ns) > 0;
        let is_paced = thinks || self.flush_every_writes > 0 || self.refill_at.is_some();
        is_paced || self.rate_bytes_per_second.is_some() || self.rate_iops.is_some()
    }
}

impl Default for Job {
    /// One uniform random 4 KiB write at the beginning of the drive; made to be changed by those who build jobs by
    /// hand.
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
            sync_writes: false,
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

fn is_false(flag: &bool) -> bool {
    !flag
}

/// How the requests of a limited rate are spread (fio's `rate_process`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateProcess {
    /// Evenly; what is late is made up for.
    #[default]
    Linear,
    /// As the arrivals of a Poisson process.
    Poisson,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndsOthers {
    #[default]
    None,
    /// Those of its stage.
    Stage,
    /// Those of all stages to come too.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Read,
    Write,
    Trim,
    ReadWrite,
    /// Each block is trimmed, then written.
    TrimWrite,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerDirection<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

/// One entry of a distribution of sizes; the percentages of a list add up to 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockSize {
    pub bytes: u32,
    pub percent: f64,
}

/// So many requests share one random place (fio's `rw=randread:8`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    pub ios: u32,
    pub then: Sequencer,
}

/// What the requests of a run after its first do (fio's `rw_sequencer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sequencer {
    /// Each follows the last request of its direction.
    Sequential,
    /// Each starts where the last request of its direction started.
    Identical,
}

/// Zones of equal extent with equal gaps between, one after the other and then the first again. The end of the job's
/// part may cut the last short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StridedZones {
    /// What is transferred in a zone before the job goes on to the next; it may be more than a zone has.
    pub transfer_bytes: u64,
    pub range_bytes: u64,
    pub skip_bytes: u64,
}

/// How a job writes zone by zone. Jobs of a run that do so have the same zones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZonedJob {
    /// The drive's, or 0 for these, where it has zones; else those that the host keeps on it.
    pub zone_bytes: u64,
    /// What the host writes of a zone, on a drive without zones; 0: all.
    pub capacity_bytes: u64,
    /// The most zones that all jobs have open together; 0: as many as the drive allows.
    pub open_max: u32,
    /// The most that this job has opened; 0: no limit of its own.
    pub job_open_max: u32,
    /// Once this share of the job's part is written, zones are reset before they are full, 0 to 1.
    pub reset_threshold: f64,
    /// At so many of the writes from then on, 0 to 1; 0: never.
    pub reset_frequency: f64,
    /// Whether reads go anywhere, and not only where something was written.
    pub read_beyond_pointer: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Files {
    pub ranges: Vec<FileRange>,
    pub service: FileService,
}

/// The part of one file that the job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRange {
    pub offset_bytes: u64,
    pub size_bytes: u64,
}

/// Which file comes next (fio's `file_service_type`). A file whose blocks have all been visited waits for the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FileService {
    /// In turn, so many requests at a time.
    RoundRobin { ios: u32 },
    /// One file to its end, then the next. Files that never end (random ones without a map) keep the job at the first.
    Sequential,
    /// At random, so many requests at a time.
    Random { ios: u32 },
    /// At random with these chances, one a file; no file waits for another.
    Weighted { weights: Vec<f64> },
}

/// Where random requests fall, over the blocks of the job's part of the drive.
///
/// Skewed ones draw a rank, and the ranks are scattered over all blocks by a permutation. A `center`, 0 to 1, says
/// where in the part the most frequent block lies; null: anywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Distribution {
    Random,
    /// Rank r is drawn in proportion to r^-theta.
    Zipf {
        theta: f64,
        center: Option<f64>,
        /// So many ranks in a row fall on one block: a part of a drive made smaller keeps the skew of the whole.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        ranks_per_block: u32,
    },
    /// fio's pareto: rank = blocks x u^(log h / log (1 - h)) for uniform u.
    Pareto {
        h: f64,
        center: Option<f64>,
    },
    /// fio's normal: the mean of twelve uniform ranks, and a uniform deviation of so many percent of the blocks.
    Normal {
        deviation_percent: f64,
        center: Option<f64>,
    },
    /// So many percent of the accesses to so many percent of the range, in order; uniform within each zone.
    Zoned {
        zones: Vec<Zone>,
        /// Whether the blocks of a zone lie scattered over the range instead of one behind another.
        #[serde(default, skip_serializing_if = "is_false")]
        scattered: bool,
    },
    /// The same with zones for each direction.
    ZonedByDirection {
        zones: PerDirection<Vec<Zone>>,
    },
    /// So many percent of the accesses to the next so many bytes of the range; what lies behind them is never accessed.
    ZonedAbsolute {
        zones: PerDirection<Vec<AbsoluteZone>>,
    },
    /// fio's own generator, rounding and scatter, bit by bit: see `workload/distribution/like_fio.rs`.
    LikeFio {
        law: FioLaw,
        center: Option<f64>,
        seed: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FioLaw {
    Zipf { theta: f64 },
    Pareto { h: f64 },
    Normal { deviation_percent: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    pub access_percent: f64,
    pub span_percent: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AbsoluteZone {
    pub access_percent: f64,
    pub span_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "choose", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Identifiers {
    /// In turn, one a write. An empty list stands for all that the drive has.
    RoundRobin { among: Vec<u8> },
    /// At random; the same of an empty list.
    Random { among: Vec<u8> },
    /// By where a write begins, in bytes of the drive: the first range that holds it, or identifier 0.
    ByOffset { ranges: Vec<IdentifierRange> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentifierRange {
    pub start_bytes: u64,
    pub end_bytes: u64,
    pub identifier: u8,
}

impl Identifiers {
    /// The largest that is named; `None` where none is.
    pub fn largest(&self) -> Option<u8> {
        match self {
            Self::RoundRobin { among } | Self::Random { among } => among.iter().copied().max(),
            Self::ByOffset { ranges } => ranges.iter().map(|range| range.identifier).max(),
        }
    }

    /// With an empty list filled: all of a drive that has so many.
    pub fn on_drive(&self, identifiers: u8) -> Self {
        let all = || (0..identifiers.max(1)).collect();
        match self {
            Self::RoundRobin { among } if among.is_empty() => Self::RoundRobin { among: all() },
            Self::Random { among } if among.is_empty() => Self::Random { among: all() },
            other => other.clone(),
        }
    }
}

/// The job fails when its rate falls below the least that is asked of it, or when a request takes longer than it may;
/// see `simulation/job_limits.rs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobLimits {
    /// The least rate over a window (fio's `rate_min`, `rate_iops_min`). Null: any. Bytes go before requests, as in
    /// fio.
    pub bytes_per_second_min: PerDirection<Option<u64>>,
    pub iops_min: PerDirection<Option<u64>>,
    /// The least length of a window (fio's `rate_cycle`).
    pub window_ns: u64,
    /// The longest that a request may take (fio's `max_latency`). Null: as long as it likes.
    pub latency_ns_max: PerDirection<Option<u64>>,
    /// Which others end when the job fails.
    pub ends_others: EndsOthers,
}

/// A rule for a job's steady state, fio's or SNIA's; see `simulation/job_steady_state.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobSteadyState {
    pub criterion: SteadyCriterion,
    /// In requests or bytes a second, or in percent of the mean. SNIA's rule has its own limits.
    pub limit: f64,
    pub is_percent: bool,
    /// Seconds over which the rule looks.
    pub duration_seconds: u32,
    /// Before it begins to look.
    pub ramp_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyCriterion {
    Iops,
    IopsSlope,
    Bw,
    BwSlope,
    /// SNIA's rule over five rounds, each a fifth of the duration.
    SniaPtsIops,
    SniaPtsBw,
}

impl SteadyCriterion {
    pub fn is_snia(self) -> bool {
        matches!(self, Self::SniaPtsIops | Self::SniaPtsBw)
    }
}

/// The job looks for the most requests outstanding at which it keeps to a latency (fio's `latency_target`), up to its
/// `iodepth`; see `simulation/depth_search.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    pub latency_ns: u64,
    /// How long a depth is tried.
    pub window_ns: u64,
    /// So many of the requests must be in time, above 0 to 100.
    pub percent: f64,
    /// Whether the job goes on looking to its end, and does not end at the depth that it found.
    pub goes_on: bool,
}
