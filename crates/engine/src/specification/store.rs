//! The files of a database or the chunks of a cache, as a job writes and deletes them: the parameters of
//! `workload/store/`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A database on the job's part of the drive. It starts loaded, with its data in sequence from `offset_bytes` on; the
/// job consists of the updates that follow. A cache starts empty. `io_bytes` is the amount it writes to the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// The structure of its files, which determines what is written and deleted.
    pub tree: Tree,
    /// Live data in bytes: the last level of an LSM tree, the pages of a B+ tree, the space of a cache.
    pub data_bytes: u64,
    /// The largest request with which files and logs are written, in bytes.
    pub request_bytes: u32,
    /// Whether the space of a deleted file or an evicted chunk is trimmed.
    pub trims: bool,
    /// Placement identifiers: of the write-ahead log, then of each level, or of the pages. Further levels have the last
    /// one. For a KV cache: of the first turns of sessions, then of later turns. Empty: none.
    pub identifiers: Vec<u8>,
    /// Bytes the database has written before the job starts. That part of its life is not simulated on the drive.
    pub begins_after_bytes: u64,
}

/// The structure of a database's files, or a cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Tree {
    /// Levelled compaction, as in RocksDB. Keys are overwritten uniformly at random, so that each level holds a random
    /// sample of them, evenly spread over the key range.
    LsmTree {
        /// Size of a memtable, which becomes a file of level 0.
        write_buffer_bytes: u64,
        /// Number of files in level 0 that starts their compaction into level 1.
        level0_files: u32,
        /// Maximum size of level 1.
        level1_bytes: u64,
        /// Maximum ratio of the size of a level to that of the level before. All levels between `level1_bytes` and the
        /// data have the same ratio.
        multiplier: f64,
        /// Maximum size of a file written by a compaction.
        file_bytes: u64,
        /// Whether updates are written to a log first, one log file per memtable.
        has_log: bool,
    },
    /// Pages updated in place, with a write-ahead log that contains the whole page at its first update after a
    /// checkpoint, as in PostgreSQL. All dirty pages fit into memory.
    BPlusTree {
        /// Size of a page.
        page_bytes: u32,
        /// Size of an update in the log, without the image of the page.
        record_bytes: u32,
        /// Bytes of the log between the starts of two checkpoints.
        checkpoint_bytes: u64,
        /// Share of the interval between checkpoints over which the pages are written, above 0 to 1.
        completion_target: f64,
        /// Whether the first update of a page after a checkpoint writes its image to the log.
        has_page_images: bool,
        /// Whether log files are overwritten in place; otherwise they are deleted and new ones written.
        recycles_log: bool,
        /// Exponent of the Zipf distribution of the updated pages. Null: uniform.
        zipf_theta: Option<f64>,
        /// Number of checkpoints after which the next table or index is rebuilt into a new file, one after the other.
        /// 0: never.
        rebuilds_every_checkpoints: u32,
        /// Size of a rebuilt table or index.
        rebuilt_bytes: u64,
    },
    /// The KV cache of a language model server, in slots of one chunk, as LMCache's. Sessions take turns; a turn reads
    /// the cached part of the session's history, and writes the rest, which is computed again, and what the turn adds.
    /// The least recently used chunk is evicted.
    KvCache {
        /// Size of a chunk: its tokens times the bytes of a token's keys and values.
        chunk_bytes: u64,
        /// Number of pieces of a chunk, one for each layer, which are written to the layer's region. 1: whole chunks.
        layers: u32,
        /// Number of sessions that are open at a time.
        sessions: u32,
        /// Mean number of chunks that a turn adds; it adds 1 to twice as many less 1, all equally likely.
        turn_chunks: u32,
        /// Maximum length of a session. A new session takes the place of one that would exceed it.
        context_chunks: u32,
        /// Exponent of the Zipf distribution of the session that takes the next turn. Null: uniform.
        zipf_theta: Option<f64>,
    },
}

impl Store {
    /// The largest placement identifier in use; `None` without identifiers.
    pub fn largest_identifier(&self) -> Option<u8> {
        self.identifiers.iter().copied().max()
    }
}
