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
    /// Whether a uniform random job visits every block once before any a second time (fio without `norandommap`).
    pub random_map: bool,
    pub seed: u64,
    /// Requests outstanding at a time; without a clock, the job's share of the turns beside the other jobs of its stage.
    pub iodepth: u32,
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

/// Where random requests fall, over the blocks of the job's part of the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Distribution {
    Random,
    /// Rank r is drawn in proportion to r^-theta; ranks are scattered by a permutation that reaches every block.
    Zipf {
        theta: f64,
    },
    /// fio's pareto: rank = blocks x u^(log h / log (1 - h)) for uniform u; scattered as zipf's.
    Pareto {
        h: f64,
    },
    /// Around the middle of the range, deviation as a percentage of the range.
    Normal {
        deviation_percent: f64,
    },
    /// So many percent of the accesses to so many percent of the range, in order; uniform within each zone.
    Zoned {
        zones: Vec<Zone>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    pub access_percent: f64,
    pub span_percent: f64,
}
