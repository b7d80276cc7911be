//! The numbers of units. Each has a type of its own, so that none can be taken for another.

use serde::{Deserialize, Serialize};

/// Logical number of a mapping unit: what the host addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lpn(pub u32);

/// Physical number of a mapping unit: erase unit times units per erase unit, plus the place in the erase unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ppn(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EraseUnit(pub u32);

/// A stream of writes that go to one open erase unit. Pools of spare area are numbered alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StreamId(pub u8);

impl Lpn {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Ppn {
    /// Stands in the map for "nowhere"; geometry keeps it from being a real number.
    pub const UNMAPPED: Self = Self(u32::MAX);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EraseUnit {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl StreamId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
