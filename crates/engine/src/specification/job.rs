//! One job as the host sees it: a resolved section of a fio job file. One clone of `numjobs` is one job here.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Share of the new places that are random, 0 to 100; the others follow the last request of their direction. Null:
    /// all.
    pub random_percent: Option<PerDirection<f64>>,
    /// The files, when there are several; they lie between `offset_bytes` and `offset_bytes + size_bytes`. Null: one,
    /// which is the whole of that.
    pub files: Option<Files>,
    pub seed: u64,
    /// Requests outstanding at a time; without a clock, the job's share of the turns beside the other jobs of its stage.
    pub iodepth: u32,
    /// The job ends after so much simulated time, if it has not ended before.
    #[serde(default)]
    pub runtime_ns: Option<u64>,
    /// Whether the job starts over until its time is up.
    #[serde(default)]
    pub time_based: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Read,
    Write,
    Trim,
    ReadWrite,
    /// Each block is trimmed, then written.
    TrimWrite,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerDirection<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

/// One entry of a distribution of sizes; the percentages of a list add up to 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockSize {
    pub bytes: u32,
    pub percent: f64,
}

/// So many requests share one random place (fio's `rw=randread:8`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    pub ios: u32,
    pub then: Sequencer,
}

/// What the requests of a run after its first do (fio's `rw_sequencer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sequencer {
    /// Each follows the last request of its direction.
    Sequential,
    /// Each starts where the last request of its direction started.
    Identical,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    pub ranges: Vec<FileRange>,
    pub service: FileService,
}

/// The part of one file that the job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRange {
    pub offset_bytes: u64,
    pub size_bytes: u64,
}

/// Which file comes next (fio's `file_service_type`). A file whose blocks have all been visited waits for the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
/// Skewed ones draw a rank, and the ranks are scattered over all blocks by a permutation. A `center`, 0 to 1, says where
/// in the part the most frequent block lies; null: anywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Distribution {
    Random,
    /// Rank r is drawn in proportion to r^-theta.
    Zipf {
        theta: f64,
        center: Option<f64>,
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

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FioLaw {
    Zipf { theta: f64 },
    Pareto { h: f64 },
    Normal { deviation_percent: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    pub access_percent: f64,
    pub span_percent: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsoluteZone {
    pub access_percent: f64,
    pub span_bytes: u64,
}
