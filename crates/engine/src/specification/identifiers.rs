//! Which placement identifiers the writes of a job carry, where they carry several (fio's `plids`, `plid_select`,
//! `dp_scheme`).

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "choose", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Identifiers {
    /// In turn, one a write. An empty list stands for all that the drive has.
    RoundRobin { among: Vec<u8> },
    /// At random; the same of an empty list.
    Random { among: Vec<u8> },
    /// By where a write begins, in bytes of the drive: the first range that holds it, or identifier 0.
    ByOffset { ranges: Vec<IdentifierRange> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
