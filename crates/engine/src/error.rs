//! Errors in a caller's input, and conditions that end a drive's writes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A key of the specification with an impossible value: the key, the value, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecificationError {
    /// The key, as in a drive file or a job.
    pub key: String,
    /// Its value, as text.
    pub value: String,
    /// What is allowed; completes "should be".
    pub allowed: String,
}

impl SpecificationError {
    /// An error of a key.
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

/// Why a zoned drive refuses a command: a status code of NVMe's zoned namespace command set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneStatus {
    /// The command crosses the end of a zone, or of its capacity.
    ZoneBoundaryError,
    /// A write to a full zone.
    ZoneIsFull,
    /// A write that does not begin at the write pointer.
    ZoneInvalidWrite,
    /// The limit of active zones is reached.
    TooManyActiveZones,
    /// The limit of open zones is reached.
    TooManyOpenZones,
    /// The zone's state does not allow the command.
    InvalidZoneStateTransition,
    /// The generic code: a range that is not a multiple of units, or a reset of a part of a zone.
    InvalidFieldInCommand,
    /// An append to a zone with a random write area.
    InvalidZoneOperationRequest,
}

impl fmt::Display for ZoneStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZoneBoundaryError => "Zone Boundary Error",
            Self::ZoneIsFull => "Zone Is Full",
            Self::ZoneInvalidWrite => "Zone Invalid Write",
            Self::TooManyActiveZones => "Too Many Active Zones",
            Self::TooManyOpenZones => "Too Many Open Zones",
            Self::InvalidZoneStateTransition => "Invalid Zone State Transition",
            Self::InvalidFieldInCommand => "Invalid Field in Command",
            Self::InvalidZoneOperationRequest => "Invalid Zone Operation Request",
        })
    }
}

/// Why a drive refuses a write. After one of the first two it is read-only: it accepts no further
/// writes, and its data can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum ReadOnly {
    /// Fewer erase units are left than the host's data and the open erase units need.
    OutOfSpareBlocks { erase_units_left: u32, erase_units_needed: u32 },
    /// Garbage collection finds no victim that frees space: every erase unit that it may use is full of live data.
    NothingToReclaim,
    /// A zone's rules forbid the command. Nothing was changed, and the drive accepts other commands.
    ZoneCommandRefused { status: ZoneStatus, offset_bytes: u64 },
    /// So many programs wait for the dies that the engine has no memory for more. It ends a run with an error.
    QueuesTooLong { programs_max: u32 },
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
            Self::QueuesTooLong { programs_max } => write!(
                f,
                "more than {programs_max} programs wait for the dies at once: ask for less at a time, or give the drive a write buffer or more spare area"
            ),
        }
    }
}

impl std::error::Error for ReadOnly {}

/// The number of requests of a batch that a drive executed before it refused one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Requests of the batch executed completely.
    pub executed: usize,
    /// Why the next one was refused.
    pub reason: ReadOnly,
}
