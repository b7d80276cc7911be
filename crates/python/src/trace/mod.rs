//! Traces as Python requests them: files, volume, mapping of addresses, amount.

mod counted;
mod held;
mod recording;
mod sampled;
mod source;

pub use held::{Gathered, HeldTrace};
pub use recording::Recording;
pub use source::{Counts, source};

use serde::Deserialize;
use ssdlab_engine::simulation::addresses::AddressError;
use std::fmt;
use std::io;
use std::num::NonZeroU32;

/// The name of a trace among the jobs of the outcome. Not the file's: a result does not depend on names.
pub const JOB_NAME: &str = "replay";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Read one after the other, as one recording.
    pub files: Vec<TraceFile>,
    /// A name or another name of a format; without one, recognised by each file's first bytes.
    pub format: Option<String>,
    /// The names of the columns of a text of the user's own, instead of a format.
    #[serde(default)]
    pub columns: Option<String>,
    /// Malformed lines or records to skip, in all files together.
    pub skip_bad_max: u64,
    /// The volume whose requests are used; without one, all.
    pub volume: Option<String>,
    pub map: Map,
    /// Only these regions of the addresses, made contiguous; without it, all.
    #[serde(default)]
    pub sample: Option<Sample>,
    /// With it, passes after the first have the pieces of the recording in another order, if it is in memory.
    #[serde(default)]
    pub shuffle: Option<Shuffle>,
    /// Repeats until the host has written this much; without it, one pass.
    pub loop_until_written_bytes: Option<u64>,
    /// With a clock: when requests arrive.
    pub arrival: Arrival,
    /// Arrival times are multiplied by this.
    pub time_scale: f64,
    /// The most outstanding requests.
    pub iodepth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// At the times of the recording.
    Trace,
    /// Each when another completes.
    Closed,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    pub path: String,
    /// The name in messages: the path, or the user's name for it.
    pub name: String,
    /// Only these of its volumes, each at a given address; without it, all at their own addresses.
    #[serde(default)]
    pub placed: Option<Vec<Placed>>,
}

/// The start address of a volume among others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placed {
    pub volume: String,
    pub base_bytes: u64,
}

/// One region of this many neighbours, chosen by a hash.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub region_bytes: NonZeroU32,
    pub one_in: NonZeroU32,
    pub seed: u64,
    /// Regions that represent their groups: (group, index of the region in it, included share of its requests).
    pub hot: Vec<(u64, u64, f64)>,
}

/// How the order of a repeated recording is drawn.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shuffle {
    /// Bytes written by the requests of a piece, as the drive sees them.
    pub piece_bytes: u64,
    pub seed: u64,
}

/// The mapping of the recording's addresses to the drive's.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Map {
    Strict,
    Fold,
    Compact,
}

/// Why a trace cannot be read or replayed.
#[derive(Debug)]
pub enum Failure {
    Open { name: String, error: io::Error },
    Read { name: String, error: ssdlab_traces::TraceError },
    NoFiles,
    Address { name: String, pieces: u64, error: AddressError },
    WritesNothing,
}

impl Failure {
    /// One word for the caller, which may add advice.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Read { error: ssdlab_traces::TraceError::Malformed { .. }, .. } => "malformed",
            Self::Read { .. } => "read",
            Self::NoFiles => "no-files",
            Self::Address { error: AddressError::PastTheEnd { .. }, .. } => "past-the-end",
            Self::Address { error: AddressError::Full { .. }, .. } => "full",
            Self::WritesNothing => "writes-nothing",
        }
    }

    /// The name of the file, where there is one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Open { name, .. } | Self::Read { name, .. } | Self::Address { name, .. } => Some(name),
            Self::NoFiles | Self::WritesNothing => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { error, .. } => error.fmt(formatter),
            Self::Read { error, .. } => error.fmt(formatter),
            Self::NoFiles => formatter.write_str("a trace is one file or more"),
            Self::Address { pieces, error, .. } => write!(formatter, "at or before line or record {pieces}: {error}"),
            Self::WritesNothing => formatter.write_str("the trace writes nothing"),
        }
    }
}

impl std::error::Error for Failure {}
