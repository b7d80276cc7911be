//! Flash that is written with one bit a cell, to be fast. Field names are the keys of the drive file's table.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlcCache {
    /// What blocks of its own hold, in SLC mode; they are no part of T. 0: none.
    pub static_bytes: u64,
    /// The most that erased blocks of T may hold in SLC mode. 0: none.
    pub dynamic_bytes_max: u64,
    /// That as a share of the addresses that hold nothing, where it is less; 0: the same however full the drive is.
    pub dynamic_free_share: f64,
    pub when_full: WhenFull,
    pub read_us: f64,
    pub program_us: f64,
    pub erase_us: f64,
}

/// What the host's writes do that find the cache full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenFull {
    /// They go past it, until idle time has made room.
    #[default]
    Direct,
    /// They wait for room: as much is folded as they write.
    Fold,
}

impl SlcCache {
    pub fn is_on(&self) -> bool {
        self.static_bytes > 0 || self.dynamic_bytes_max > 0
    }
}

impl Default for SlcCache {
    fn default() -> Self {
        Self {
            static_bytes: 0,
            dynamic_bytes_max: 0,
            dynamic_free_share: 0.0,
            when_full: WhenFull::Direct,
            read_us: 25.0,
            program_us: 200.0,
            erase_us: 3000.0,
        }
    }
}
