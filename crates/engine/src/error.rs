//! What a caller may do wrong, and what a drive may run into.

use crate::ftl::zoned::ZoneStatus;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A key of the specification whose value cannot be: says which, what it was and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecificationError {
    pub key: String,
    pub value: String,
    pub allowed: String,
}

impl SpecificationError {
    pub fn new(key: impl Into<String>, value: impl ToString, allowed: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.to_string(), allowed: allowed.into() }
    }
}

impl fmt::Display for SpecificationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: allowed is {}", self.key, self.value, self.allowed)
    }
}

impl std::error::Error for SpecificationError {}

/// Why a drive does not take a write, and but for a command refused by a zone none after it. What it holds can still be
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadOnly {
    /// So many erase units are left, fewer than the host's data and the frontiers need.
    OutOfSpareBlocks { erase_units_left: u32, erase_units_needed: u32 },
    /// Garbage collection found nothing to gain: every unit that it may use holds live data.
    NothingToReclaim,
    /// A zone's rules forbid the command, which changed nothing; the drive takes others.
    ZoneCommandRefused { status: ZoneStatus, offset_bytes: u64 },
}

impl fmt::Display for ReadOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfSpareBlocks { erase_units_left, erase_units_needed } => write!(
                f,
                "the drive is read-only: it is out of spare blocks ({erase_units_left} erase units are left and it needs {erase_units_needed})"
            ),
            Self::NothingToReclaim => {
                write!(
                    f,
                    "the drive is read-only: garbage collection cannot reclaim any space, every unit it may use is live"
                )
            }
            Self::ZoneCommandRefused { status, offset_bytes } => {
                write!(f, "the drive refuses a command at byte {offset_bytes}: {status}")
            }
        }
    }
}

impl std::error::Error for ReadOnly {}

/// How far a drive came with a batch of requests before it refused one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    pub executed: usize,
    pub reason: ReadOnly,
}
