//! The requests of a database or a cache: planned one interval at a time (a memtable, a checkpoint, a turn of a
//! session), then issued.
//!
//! A tree plans what is written and deleted. This module orders concurrent writes, counts bytes by cause, and ends the
//! job. Not modelled: reads of databases, flushes, metadata of the file system.

mod b_plus_tree;
mod kv_cache;
mod lsm_tree;
mod planned;
mod popularity;
mod space;

use super::error::StreamError;
use crate::request::{Content, Operation, Request};
use crate::specification::Job;
use crate::specification::store::{Store, Tree};
use b_plus_tree::BPlusTree;
use kv_cache::KvCache;
use lsm_tree::LsmTree;
use planned::{BLOCK_BYTES, Cause, Interval, Planned};
use schemars::JsonSchema;
use serde::Serialize;
pub use space::NoSpace;
use std::collections::VecDeque;
use std::fmt;

/// Bytes written, read and deleted by a database or a cache since the job started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoreCounts {
    /// Written by its users: keys and values, rows as recorded in the log, or chunks that are new.
    pub user_bytes: u64,
    /// Written to the write-ahead log.
    pub log_bytes: u64,
    /// Written per level, 0 for flushed memtables; for a B+ tree only its pages, for a KV cache only new chunks.
    pub level_bytes: Vec<u64>,
    /// Written by rebuilding tables and indexes, or chunks that were no longer in the cache (misses).
    pub rebuilt_bytes: u64,
    /// The space of deleted files or evicted chunks, trimmed or not.
    pub deleted_bytes: u64,
    /// Read by a KV cache (hits); databases do not read.
    pub read_bytes: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Lsm(LsmTree),
    BPlus(Box<BPlusTree>),
    Cache(Box<KvCache>),
}

/// The requests of one job, in order, independent of the sizes of the batches.
#[derive(Clone, Debug)]
pub struct StoreStream {
    kind: Kind,
    has_trims: bool,
    content: Content,
    planned: VecDeque<Planned>,
    counts: StoreCounts,
    written_bytes: u64,
    bytes_target: u64,
}

/// The files of the database no longer fit on the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreIsFull(NoSpace);

impl fmt::Display for StoreIsFull {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoSpace { wanted_bytes, free_bytes } = self.0;
        write!(
            formatter,
            "the volume is full: the database needs {wanted_bytes} bytes for new files and {free_bytes} are free; give \
             it less data"
        )
    }
}

impl std::error::Error for StoreIsFull {}

impl StoreStream {
    /// The stream of a loaded database; with `begins_after_bytes`, advanced by that amount. Errors: the key, its value
    /// and the allowed values.
    pub fn new(job: &Job, store: &Store) -> Result<Self, StreamError> {
        check(job, store)?;
        let kind = match &store.tree {
            Tree::LsmTree { .. } => Kind::Lsm(LsmTree::new(job, store)),
            Tree::BPlusTree { .. } => Kind::BPlus(Box::new(BPlusTree::new(job, store)?)),
            Tree::KvCache { .. } => Kind::Cache(Box::new(KvCache::new(job, store)?)),
        };
        let mut stream = Self {
            kind,
            has_trims: store.trims,
            content: super::content(job)?,
            planned: VecDeque::new(),
            counts: StoreCounts::default(),
            written_bytes: 0,
            bytes_target: store.begins_after_bytes,
        };
        let mut skipped = Vec::new();
        while stream.written_bytes < store.begins_after_bytes {
            skipped.clear();
            let space = |StoreIsFull(NoSpace { wanted_bytes, free_bytes })| {
                let allowed = format!("less: its files need {wanted_bytes} bytes more, and {free_bytes} are free");
                StreamError::new("store.data_bytes", store.data_bytes, allowed)
            };
            stream.fill(&mut skipped, 4096).map_err(space)?;
        }
        stream.counts = StoreCounts::default();
        stream.bytes_target = job.io_bytes;
        stream.restart();
        Ok(stream)
    }

    /// Appends the next requests of the job, at most `count_max`, and returns their number; 0 at the end.
    pub fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, StoreIsFull> {
        let start = out.len();
        while out.len() < start + count_max && self.written_bytes < self.bytes_target {
            let Some(Planned { mut request, cause, user_bytes }) = self.planned.pop_front() else {
                let interval = match &mut self.kind {
                    Kind::Lsm(tree) => tree.interval(),
                    Kind::BPlus(tree) => tree.interval(),
                    Kind::Cache(cache) => Ok(cache.turn()),
                };
                interval.map_err(StoreIsFull)?.side_by_side(&mut self.planned);
                continue;
            };
            self.counts.add(cause, request.length_bytes, user_bytes);
            if request.operation == Operation::Trim {
                if self.has_trims {
                    out.push(request);
                }
                continue;
            }
            if request.operation == Operation::Write {
                self.written_bytes += u64::from(request.length_bytes);
            }
            request.content = Content { identifier: request.content.identifier, ..self.content };
            out.push(request);
        }
        Ok(out.len() - start)
    }

    /// Starts the job again; the database continues in its present state.
    pub fn restart(&mut self) {
        self.written_bytes = 0;
    }

    /// The completed share of the job, from 0 to 1.
    pub fn progress(&self) -> f64 {
        if self.bytes_target == 0 { 1.0 } else { (self.written_bytes as f64 / self.bytes_target as f64).min(1.0) }
    }

    /// The counts since the job started.
    pub fn counts(&self) -> &StoreCounts {
        &self.counts
    }
}

impl StoreCounts {
    fn add(&mut self, cause: Cause, length_bytes: u32, user_bytes: u32) {
        self.user_bytes += u64::from(user_bytes);
        *match cause {
            Cause::Log => &mut self.log_bytes,
            Cause::Rebuilt => &mut self.rebuilt_bytes,
            Cause::Deleted => &mut self.deleted_bytes,
            Cause::Read => &mut self.read_bytes,
            Cause::Level(level) => {
                let level = usize::from(level);
                self.level_bytes.resize(self.level_bytes.len().max(level + 1), 0);
                &mut self.level_bytes[level]
            }
        } += u64::from(length_bytes);
    }
}

impl Interval {
    /// Merges the lists so that each is complete after its share of the interval. Deletions and reads write nothing and
    /// directly follow the request before them in their list.
    fn side_by_side(self, out: &mut VecDeque<Planned>) {
        let lengths = |list: &Vec<Planned>| list.iter().map(Planned::written_bytes).sum::<u64>();
        let sums: Vec<f64> = self.lists.iter().map(lengths).map(|sum| sum.max(1) as f64).collect();
        let mut lists: Vec<_> = self.lists.into_iter().map(|list| list.into_iter().peekable()).collect();
        let mut written = vec![0.0; lists.len()];
        loop {
            let progress = |index: usize| self.spread[index] * written[index] / sums[index];
            let open = (0..lists.len()).filter(|&index| lists[index].len() > 0);
            let Some(next) = open.min_by(|&one, &other| progress(one).total_cmp(&progress(other))) else { return };
            let planned = lists[next].next().expect("it is not over");
            written[next] += planned.written_bytes() as f64;
            out.push_back(planned);
            while let Some(deleted) = lists[next].next_if(|each| each.written_bytes() == 0) {
                out.push_back(deleted);
            }
        }
    }
}

impl Planned {
    fn written_bytes(&self) -> u64 {
        if self.request.operation == Operation::Write { u64::from(self.request.length_bytes) } else { 0 }
    }
}

fn check(job: &Job, store: &Store) -> Result<(), StreamError> {
    let refuse = |key: &str, value: &dyn fmt::Display, allowed: &str| {
        Err(StreamError::new(&format!("store.{key}"), value, allowed))
    };
    let block = |bytes: u64| bytes > 0 && bytes.is_multiple_of(BLOCK_BYTES);
    if !block(u64::from(store.request_bytes)) {
        return refuse("request_bytes", &store.request_bytes, "a multiple of 4096, above 0");
    }
    if !block(store.data_bytes) || store.data_bytes > job.size_bytes {
        let allowed = format!("a multiple of 4096, above 0, up to the job's {} bytes", job.size_bytes);
        return refuse("data_bytes", &store.data_bytes, &allowed);
    }
    match store.tree {
        Tree::LsmTree { write_buffer_bytes, level0_files, level1_bytes, multiplier, file_bytes, .. } => {
            for (key, bytes) in
                [("write_buffer_bytes", write_buffer_bytes), ("level1_bytes", level1_bytes), ("file_bytes", file_bytes)]
            {
                if !block(bytes) || bytes > store.data_bytes {
                    return refuse(key, &bytes, "a multiple of 4096, above 0, no more than the data");
                }
            }
            if level0_files == 0 {
                return refuse("level0_files", &level0_files, "1 or more");
            }
            if !(2.0..=1000.0).contains(&multiplier) {
                return refuse("multiplier", &multiplier, "2 to 1000");
            }
        }
        Tree::BPlusTree {
            page_bytes,
            record_bytes,
            checkpoint_bytes,
            completion_target,
            zipf_theta,
            rebuilt_bytes,
            ..
        } => {
            if !block(u64::from(page_bytes)) || u64::from(page_bytes) > store.data_bytes {
                return refuse("page_bytes", &page_bytes, "a multiple of 4096, above 0, no more than the data");
            }
            if record_bytes == 0 || record_bytes > page_bytes {
                return refuse("record_bytes", &record_bytes, "1 byte to a page");
            }
            if !block(checkpoint_bytes) {
                return refuse("checkpoint_bytes", &checkpoint_bytes, "a multiple of 4096, above 0");
            }
            if !(completion_target > 0.0 && completion_target <= 1.0) {
                return refuse("completion_target", &completion_target, "above 0 to 1");
            }
            if let Some(theta) = zipf_theta.filter(|&theta| !(theta > 0.0 && theta <= 100.0)) {
                return refuse("zipf_theta", &theta, "above 0, up to 100, or null");
            }
            if rebuilt_bytes == 0 || !rebuilt_bytes.is_multiple_of(u64::from(page_bytes)) {
                return refuse("rebuilt_bytes", &rebuilt_bytes, "a multiple of page_bytes, above 0");
            }
        }
        // Checked by the cache.
        Tree::KvCache { .. } => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests;
