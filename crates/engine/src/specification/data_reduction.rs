//! The table `[data_reduction]`: a drive that writes less than the host does.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataReduction {
    /// Whether data is compressed before it is programmed.
    pub compression: bool,
    /// Whether data that repeats what is stored is not stored again.
    pub deduplication: bool,
    /// Compressed data takes a whole number of these. A power of two, at most the mapping unit.
    pub packing_bytes: u32,
    /// What each stored unit adds to the index beside the data; programmed a mapping unit at a time, as metadata.
    pub index_bytes_per_unit: u32,
}

impl Default for DataReduction {
    fn default() -> Self {
        Self { compression: false, deduplication: false, packing_bytes: 512, index_bytes_per_unit: 0 }
    }
}

impl DataReduction {
    pub fn is_on(&self) -> bool {
        self.compression || self.deduplication
    }
}
