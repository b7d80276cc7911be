//! The pages and dies accessed by read-ahead, which explain the cost of fragmentation; a real drive does not report
//! them.

use schemars::JsonSchema;
use serde::Serialize;

/// Sums over segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadCounts {
    /// Segments read ahead.
    pub segments: u64,
    /// Pages with units of a segment.
    pub pages: u64,
    /// Dies with these pages.
    pub dies: u64,
    /// Pages of a segment on the die with most of them, which reads these one after another.
    pub busiest_die_pages: u64,
    /// Map pages fetched first.
    pub map_pages: u64,
}

/// Counts segment by segment.
#[derive(Clone, Debug)]
pub struct ReadCounter {
    /// The counts so far.
    pub counts: ReadCounts,
    units_per_page: u32,
    /// By die: pages of the current segment.
    pages_of_die: Vec<u32>,
}

impl ReadCounter {
    /// For flash with these dimensions.
    pub fn new(units_per_page: u32, dies: usize) -> Self {
        Self { counts: ReadCounts::default(), units_per_page, pages_of_die: vec![0; dies] }
    }

    /// Units of a page.
    pub fn units_per_page(&self) -> u32 {
        self.units_per_page
    }

    /// A page of the current segment is on this die.
    pub fn page(&mut self, die: usize) {
        self.pages_of_die[die] += 1;
    }

    /// Ends the current segment, which needed this many map pages.
    pub fn end_segment(&mut self, map_pages: u64) {
        self.counts.segments += 1;
        self.counts.map_pages += map_pages;
        for pages in &mut self.pages_of_die {
            self.counts.pages += u64::from(*pages);
            self.counts.dies += u64::from(*pages > 0);
        }
        self.counts.busiest_die_pages += u64::from(self.pages_of_die.iter().copied().max().unwrap_or(0));
        self.pages_of_die.fill(0);
    }
}
