//! What a scan of the flash finds after a loss of power.

use crate::units::{Lpn, Ppn, StreamId};

/// The result of a scan of the flash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order of their logical numbers.
    pub units: Vec<FoundUnit>,
    /// By erase unit.
    pub erase_units: Vec<FoundEraseUnit>,
    /// Slots skipped because power was lost while their group was programmed; for reduced data, slots of whole mapping
    /// units.
    pub padding_units: u64,
}

/// A unit of the host, or a map page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundUnit {
    /// The logical unit.
    pub lpn: Lpn,
    /// Its slot.
    pub ppn: Ppn,
    /// Slots that it occupies: 1 without data reduction.
    pub slots: u32,
    /// Increases with the time of its write; moves do not change it.
    pub version: u64,
}

/// An erase unit as found by a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundEraseUnit {
    /// Its contents.
    pub contents: FoundContents,
    /// The number of its erases.
    pub erase_count: u32,
    /// Its erase was counted, but power was lost before it was performed.
    pub is_erase_undone: bool,
}

/// The contents of an erase unit found by a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundContents {
    /// Erased, and not programmed since.
    Erased,
    /// Out of use.
    Retired,
    /// The first `slots` are written. `order` increases with the time of the last program; `opened_at` is the number of
    /// units that the host had written before.
    Written {
        /// The stream for which it was opened.
        stream: StreamId,
        /// Written slots, from the first.
        slots: u32,
        /// The time of its last program, as an ordinal number.
        order: u64,
        /// Units written by the host before it was opened.
        opened_at: u64,
        /// Whether it was programmed in SLC mode.
        is_slc: bool,
    },
}
