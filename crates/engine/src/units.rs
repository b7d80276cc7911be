//! Numbers of units, each a type of its own so that the compiler rejects confusions.

use serde::{Deserialize, Serialize};

/// Logical number of a mapping unit: what the host addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lpn(pub u32);

/// Physical number of a mapping unit: erase unit x units per erase unit + the unit's index in the erase unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ppn(pub u32);

/// Number of an erase unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EraseUnit(pub u32);

/// A stream of writes with its own open erase unit. Pools of spare area have the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StreamId(pub u8);

impl Lpn {
    /// As an index of tables by address.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Ppn {
    /// Marks an unmapped address; no geometry has so many units.
    pub const UNMAPPED: Self = Self(u32::MAX);

    /// As an index of tables by slot.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EraseUnit {
    /// As an index of tables by erase unit.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl StreamId {
    /// As an index of tables by stream.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
