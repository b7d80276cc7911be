//! A map of extents: for each segment of as many units as a map page has entries, whether it is one run of units
//! written in order.
//!
//! A run needs one entry, which is always in memory. A segment breaks when one of its units is written out of order,
//! and is whole again when all of its units have been written in order, by one request or by many. A short run at the
//! start of a segment without other data is also a run.

use serde::{Deserialize, Serialize};

/// The number of a map page, which has the entries of the host's units `page * entries..`.
pub type Page = u32;

const BROKEN: u16 = 1 << 15;

/// The effect of a write on its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was and is one run.
    Whole,
    /// It was one run, and is no longer.
    Breaks,
    /// It was broken, and still is.
    Broken,
    /// It was broken, and is one run again.
    Mended,
}

/// By segment: the length of the run from its start that was written last, and whether it is broken.
#[derive(Clone, Serialize, Deserialize)]
pub struct Extents {
    state: Vec<u16>,
}

impl Extents {
    /// The most units of a segment for which the length of the run can be stored.
    pub const UNITS_MAX: u32 = BROKEN as u32 - 1;

    pub fn new(pages: u32) -> Self {
        Self { state: vec![0; pages as usize] }
    }

    pub fn pages(&self) -> usize {
        self.state.len()
    }

    pub fn is_broken(&self, page: Page) -> bool {
        self.state[page as usize] & BROKEN != 0
    }

    /// The host writes the units `first..first + units` of a segment with `segment_units` units.
    pub fn write(&mut self, page: Page, first: u32, units: u32, segment_units: u32) -> Change {
        let was_broken = self.is_broken(page);
        let run = u32::from(self.state[page as usize] & !BROKEN);
        let (run, is_broken) = if first == run {
            (run + units, was_broken)
        } else if first == 0 {
            (units, true)
        } else {
            (0, true)
        };
        let is_broken = is_broken && run < segment_units;
        self.state[page as usize] = run as u16 | if is_broken { BROKEN } else { 0 };
        match (was_broken, is_broken) {
            (false, false) => Change::Whole,
            (false, true) => Change::Breaks,
            (true, true) => Change::Broken,
            (true, false) => Change::Mended,
        }
    }

    /// Sets a segment to one run of this many units from its start, or to broken.
    pub fn take_up(&mut self, page: Page, run: Option<u32>) {
        self.state[page as usize] = run.map_or(BROKEN, |run| run as u16);
    }

    /// Nothing in the segment is mapped any longer.
    pub fn forget(&mut self, page: Page) {
        self.state[page as usize] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_breaks_and_is_mended() {
        let mut extents = Extents::new(2);
        assert_eq!(extents.write(0, 0, 3, 8), Change::Whole);
        assert_eq!(extents.write(0, 3, 5, 8), Change::Whole);
        assert_eq!(extents.write(0, 4, 1, 8), Change::Breaks);
        assert_eq!(extents.write(0, 5, 1, 8), Change::Broken);
        assert!(extents.is_broken(0) && !extents.is_broken(1));
        // Rewritten in order, in pieces.
        assert_eq!(extents.write(0, 0, 4, 8), Change::Broken);
        assert_eq!(extents.write(0, 4, 4, 8), Change::Mended);
        // And in one write.
        assert_eq!(extents.write(0, 0, 8, 8), Change::Whole);
        assert_eq!(extents.write(0, 0, 1, 8), Change::Breaks);
        extents.forget(0);
        assert_eq!(extents.write(0, 0, 1, 8), Change::Whole);
        assert_eq!(extents.write(1, 2, 1, 8), Change::Breaks);
    }
}
