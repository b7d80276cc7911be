//! What a drive needs to find and fetch data: the part of the map that it keeps in memory, and reading ahead. Field names
//! are the keys of the drive file; both are off unless said otherwise.

use serde::{Deserialize, Serialize};

/// Memory for a part of the map; the whole of it lies in flash, in map pages of one mapping unit each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapCache {
    /// Memory for map pages. 0: the drive has room for its whole map, and nothing of this happens.
    pub bytes: u64,
    /// Map entries that are fetched and written back together.
    pub entries_per_map_page: u32,
    /// What one entry takes, in the cache and in flash.
    pub entry_bytes: u32,
    pub eviction: Eviction,
    pub form: MapForm,
    /// The firmware's own time for a miss, beside the flash read.
    pub miss_us: f64,
}

impl Default for MapCache {
    fn default() -> Self {
        Self {
            bytes: 0,
            entries_per_map_page: 1024,
            entry_bytes: 4,
            eviction: Eviction::Lru,
            form: MapForm::Page,
            miss_us: 0.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Eviction {
    /// The map page that was not used for the longest time.
    Lru,
    /// The next one round the clock that was not used since the hand last passed.
    Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MapForm {
    /// An entry for each mapping unit.
    Page,
    /// A segment that was written in order is one entry, always in memory; only one with a rewritten unit needs its page.
    Extent,
}

/// Reading ahead of sequential reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadAhead {
    /// The most of a sequential stream that is in flight or in the controller's read buffer. 0: none, each read goes to
    /// flash at once and as a whole.
    pub window_bytes: u64,
    /// What is translated and fetched at a time.
    pub segment_bytes: u64,
}
