//! The random write area of an active zone, as in NVMe TP4076 (ZRWA): the units from the write pointer on, of which each
//! may be written in any order and again. What is in it is not in flash yet.
//!
//! A write that ends beyond the area, in the implicit commit region of the same size, moves the write pointer by as many
//! steps as let the area end behind it. The host can move it too, by an explicit flush. Units that the pointer passes are
//! programmed in order; those that were never written leave a gap, which is padded. At the end of a zone there is no
//! region that commits: a write of the zone's last unit counts as followed by the host's flush of all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Area {
    units: u32,
    granularity_units: u32,
    /// From the write pointer on, area and implicit commit region: whether each unit was written.
    is_written: VecDeque<bool>,
}

/// Counts of all random write areas since the drive was new, in mapping units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AreaCounts {
    /// Units that the host wrote again before they were programmed: so many programs were saved.
    pub overwritten_units: u64,
    /// Units that the write pointer passed although the host had not written them, and that were padded.
    pub gap_units: u64,
    /// Flushes by command.
    pub explicit_flushes: u64,
}

impl Area {
    pub fn new(units: u32, granularity_units: u32) -> Self {
        Self { units, granularity_units, is_written: vec![false; 2 * units as usize].into() }
    }

    pub fn units(&self) -> u32 {
        self.units
    }

    pub fn granularity_units(&self) -> u32 {
        self.granularity_units
    }

    /// Whether a write at unit `at` of a zone with this write pointer lies in area and implicit commit region.
    pub fn takes(&self, at: u32, pointer: u32, units: u32) -> bool {
        at >= pointer && u64::from(at) + u64::from(units) <= u64::from(pointer) + 2 * u64::from(self.units)
    }

    /// Writes units, `ahead` of the write pointer. Returns how many had been written before.
    pub fn write(&mut self, ahead: u32, units: u32) -> u32 {
        let mut overwritten = 0;
        for is_written in self.is_written.range_mut(ahead as usize..(ahead + units) as usize) {
            overwritten += u32::from(std::mem::replace(is_written, true));
        }
        overwritten
    }

    /// Units by which the write pointer moves after a write that ends `end` units ahead of it, in a zone with `left` units
    /// from the pointer on.
    pub fn commits_implicitly(&self, end: u32, left: u32) -> u32 {
        if end == left { left } else { end.saturating_sub(self.units).next_multiple_of(self.granularity_units) }
    }

    /// The unit at the write pointer, which moves past it.
    pub fn take(&mut self) -> bool {
        self.is_written.push_back(false);
        self.is_written.pop_front().expect("an area has units")
    }

    /// Units up to the last written one.
    pub fn pending_units(&self) -> u32 {
        self.is_written.iter().rposition(|&is_written| is_written).map_or(0, |last| last as u32 + 1)
    }

    pub fn clear(&mut self) {
        self.is_written.iter_mut().for_each(|is_written| *is_written = false);
    }
}
