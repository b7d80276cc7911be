//! The files of a database, as a job writes and deletes them: the parameters of `workload/store/`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A database on the job's part of the drive. It begins loaded, its data in sequence from `offset_bytes` on; the job is
/// the updates that come then. `io_bytes` is what it writes to the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Store {
    pub tree: Tree,
    /// Live data: the last level of an LSM tree, the pages of a B+ tree.
    pub data_bytes: u64,
    /// Files and logs are written in requests of at most so many bytes.
    pub request_bytes: u32,
    /// Whether the space of a deleted file is trimmed.
    pub trims: bool,
    /// The placement identifiers of what is written: the write-ahead log's first, then by level, or the pages'. Further
    /// levels have the last. Empty: none.
    pub identifiers: Vec<u8>,
    /// What the database wrote to the drive before the job begins: so much of its life is not asked of the drive again.
    pub begins_after_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Tree {
    /// Levelled compaction as RocksDB's. The keys are overwritten uniformly at random, so that a level is a random part
    /// of them, evenly dense between two files' ends.
    LsmTree {
        /// A memtable, which becomes a file of level 0.
        write_buffer_bytes: u64,
        /// So many files of level 0 are merged into level 1.
        level0_files: u32,
        /// What level 1 may hold.
        level1_bytes: u64,
        /// The most by which a level is larger than the one before it. The levels share the step from `level1_bytes` to
        /// the data evenly.
        multiplier: f64,
        /// The largest file that a compaction writes.
        file_bytes: u64,
        /// Whether what goes to the memtable is written to a log first, a file a memtable.
        has_log: bool,
    },
    /// Pages updated in place, and a write-ahead log with the whole page at its first update after a checkpoint, as
    /// PostgreSQL's. All dirty pages fit into memory.
    BPlusTree {
        page_bytes: u32,
        /// The log's part of an update, without the image of the page.
        record_bytes: u32,
        /// A checkpoint begins when so much of the log has been written since the last.
        checkpoint_bytes: u64,
        /// The share of the interval over which a checkpoint's pages are written, above 0 to 1.
        completion_target: f64,
        /// Whether the first update of a page after a checkpoint writes its image to the log.
        has_page_images: bool,
        /// Whether the log's files are written again in place; else they are deleted and new ones written.
        recycles_log: bool,
        /// Exponent of the law by which pages are chosen (Zipf). Null: uniformly.
        zipf_theta: Option<f64>,
        /// Tables and indexes are rebuilt one after the other, each into a new file, one every so many checkpoints. 0:
        /// none.
        rebuilds_every_checkpoints: u32,
        /// The size of what is rebuilt at a time.
        rebuilt_bytes: u64,
    },
}

impl Store {
    /// The largest placement identifier that is named; `None` where none is.
    pub fn largest_identifier(&self) -> Option<u8> {
        self.identifiers.iter().copied().max()
    }
}
