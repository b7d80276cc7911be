//! Pages that are updated in place, with a write-ahead log, after PostgreSQL (postgresql.org/docs/current,
//! "WAL Configuration" and "Write Ahead Log").
//!
//! Each update writes a record to the log; the first update of a page after the start of a checkpoint also writes the
//! image of the page (`full_page_writes`). When the log has grown by `checkpoint_bytes`, the pages updated since the
//! last checkpoint are written in the order of their numbers, once each, spread over `completion_target` of the time
//! until the next checkpoint; then the log before that checkpoint is deleted or recycled. Splits, new pages and hint
//! bits are not modelled, and pages are written by checkpoints only.

use super::planned::{BLOCK_BYTES, Cause, Interval, Planned, Requests};
use super::popularity::Popularity;
use super::space::{NoSpace, Piece, Space};
use crate::random::Random;
use crate::request::{Operation, Request};
use crate::specification::Job;
use crate::specification::store::{Store, Tree};
use crate::workload::error::StreamError;

#[derive(Clone, Debug)]
pub struct BPlusTree {
    space: Space,
    requests: Requests,
    random: Random,
    /// The distribution of updates over the pages.
    pages: Popularity,
    page_bytes: u64,
    record_bytes: u64,
    checkpoint_bytes: u64,
    completion_target: f64,
    has_page_images: bool,
    /// The interval in which each page was updated last, from 1.
    updated_in: Vec<u32>,
    interval: u32,
    /// The pages to be written by the checkpoint that has just started.
    dirty: Vec<u32>,
    tables: Tables,
    log: Log,
}

/// Tables and indexes of so many pages each, of which one after another is rebuilt.
#[derive(Clone, Debug)]
struct Tables {
    page_bytes: u64,
    pages_per_part: u64,
    /// Their pieces of the volume.
    parts: Vec<Vec<Piece>>,
    /// Intervals between two rebuilds; 0: none.
    rebuilds_every: u32,
    next_rebuilt: usize,
}

impl Tables {
    fn of_page(&self, page: u64) -> usize {
        (page / self.pages_per_part) as usize
    }

    fn place_of(&self, page: u64) -> u64 {
        let mut within = page % self.pages_per_part * self.page_bytes;
        for piece in &self.parts[self.of_page(page)] {
            if within < piece.length_bytes {
                return piece.offset_bytes + within;
            }
            within -= piece.length_bytes;
        }
        unreachable!("a part has room for its pages")
    }

    /// Moves the next table or index into a new file, if one is to be rebuilt in this interval. Returns its index, and
    /// the pieces of the old file and of the new one.
    fn rebuild(&mut self, interval: u32, space: &mut Space) -> Result<Option<Rebuilt>, NoSpace> {
        if self.rebuilds_every == 0 || !interval.is_multiple_of(self.rebuilds_every) {
            return Ok(None);
        }
        let part = self.next_rebuilt;
        self.next_rebuilt = (part + 1) % self.parts.len();
        let bytes = self.parts[part].iter().map(|piece| piece.length_bytes).sum();
        let pieces = space.allocate(bytes)?;
        Ok(Some((part, std::mem::replace(&mut self.parts[part], pieces.clone()), pieces)))
    }
}

type Rebuilt = (usize, Vec<Piece>, Vec<Piece>);

#[derive(Clone, Debug)]
enum Log {
    /// The same files in turn; the position in them.
    Recycled { pieces: Vec<Piece>, at_bytes: u64 },
    /// New files in each interval; those of the last interval.
    New { last: Vec<Piece> },
}

impl BPlusTree {
    pub fn new(job: &Job, store: &Store) -> Result<Self, StreamError> {
        let &Tree::BPlusTree {
            page_bytes,
            record_bytes,
            checkpoint_bytes,
            completion_target,
            has_page_images,
            recycles_log,
            zipf_theta,
            rebuilds_every_checkpoints,
            rebuilt_bytes,
        } = &store.tree
        else {
            unreachable!("the caller has chosen by the kind")
        };
        let mut random = Random::new(job.seed);
        let page_bytes = u64::from(page_bytes);
        // Each page is then in one piece.
        let mut space = Space::new(job.offset_bytes, job.size_bytes, page_bytes);
        let count = store.data_bytes / page_bytes;
        if count > 1 << 31 {
            return Err(StreamError::new("store.data_bytes", store.data_bytes, "2^31 pages at most"));
        }
        let pages_per_part = rebuilt_bytes / page_bytes;
        let parts = (0..count.div_ceil(pages_per_part))
            .map(|part| {
                let pages = pages_per_part.min(count - part * pages_per_part);
                space.allocate(pages * page_bytes).expect("the data fits: it was checked")
            })
            .collect();
        let log = if recycles_log {
            // The current interval, and the previous one, which the running checkpoint still needs.
            let full = |NoSpace { wanted_bytes, free_bytes }| {
                let allowed = format!("less: its log needs {wanted_bytes} bytes, and {free_bytes} are free");
                StreamError::new("store.data_bytes", store.data_bytes, allowed)
            };
            Log::Recycled { pieces: space.allocate(2 * checkpoint_bytes).map_err(full)?, at_bytes: 0 }
        } else {
            Log::New { last: Vec::new() }
        };
        Ok(Self {
            space,
            requests: Requests { bytes_max: u64::from(store.request_bytes), identifiers: store.identifiers.clone() },
            pages: Popularity::new(zipf_theta, count, &mut random),
            random,
            page_bytes,
            record_bytes: u64::from(record_bytes),
            checkpoint_bytes,
            completion_target,
            has_page_images,
            updated_in: vec![0; count as usize],
            interval: 0,
            dirty: Vec::new(),
            tables: Tables {
                page_bytes,
                pages_per_part,
                parts,
                rebuilds_every: rebuilds_every_checkpoints,
                next_rebuilt: 0,
            },
            log,
        })
    }

    /// The requests between the starts of two checkpoints: the log, the pages of the first checkpoint, and the rebuilt
    /// table or index.
    pub fn interval(&mut self) -> Result<Interval, NoSpace> {
        self.interval += 1;
        let dirty = std::mem::take(&mut self.dirty);
        let (log_bytes, updates) = self.update();
        let (mut log, mut pages, mut rebuilt) = (Vec::new(), Vec::new(), Vec::new());
        let no_longer_needed = self.write_log(log_bytes, &mut log)?;
        share_out(updates * self.record_bytes, &mut log);
        let moved = self.tables.rebuild(self.interval, &mut self.space)?;
        // Rebuilt pages are written as part of the new file.
        let gone = moved.as_ref().map(|&(part, ..)| part);
        for page in dirty.into_iter().map(u64::from).filter(|&page| Some(self.tables.of_page(page)) != gone) {
            let mut request = Request::new(Operation::Write, self.tables.place_of(page), self.page_bytes as u32);
            request.content.identifier = self.requests.identifier(1);
            pages.push(Planned { request, cause: Cause::Level(0), user_bytes: 0 });
        }
        if let Some((_, old, new)) = moved {
            self.requests.write(&mut rebuilt, &new, Cause::Rebuilt);
            self.requests.delete(&mut rebuilt, &old);
            self.space.free(&old);
        }
        // The log of the last interval is deleted when the checkpoint is complete; by then the log of this interval has
        // been written.
        self.requests.delete(&mut log, &no_longer_needed);
        self.space.free(&no_longer_needed);
        Ok(Interval { lists: vec![pages, rebuilt, log], spread: vec![self.completion_target, 1.0, 1.0] })
    }

    /// Draws updates until the log has grown enough. Returns its bytes and the number of updates.
    fn update(&mut self) -> (u64, u64) {
        let (mut bytes, mut updates) = (0, 0);
        while bytes < self.checkpoint_bytes {
            let page = self.pages.draw(&mut self.random) as usize;
            bytes += self.record_bytes;
            updates += 1;
            if self.updated_in[page] != self.interval {
                self.updated_in[page] = self.interval;
                self.dirty.push(page as u32);
                bytes += if self.has_page_images { self.page_bytes } else { 0 };
            }
        }
        self.dirty.sort_unstable();
        (bytes, updates)
    }

    /// Returns the files to delete at the end of the interval.
    fn write_log(&mut self, bytes: u64, out: &mut Vec<Planned>) -> Result<Vec<Piece>, NoSpace> {
        match &mut self.log {
            Log::New { last } => {
                let pieces = self.space.allocate(bytes)?;
                self.requests.write(out, &pieces, Cause::Log);
                Ok(std::mem::replace(last, pieces))
            }
            Log::Recycled { pieces, at_bytes } => {
                let mut left = bytes.next_multiple_of(BLOCK_BYTES);
                let whole: u64 = pieces.iter().map(|piece| piece.length_bytes).sum();
                while left > 0 {
                    let mut skip = *at_bytes;
                    let (piece, within) = pieces
                        .iter()
                        .find_map(|&piece| match skip.checked_sub(piece.length_bytes) {
                            None => Some((piece, skip)),
                            Some(rest) => {
                                skip = rest;
                                None
                            }
                        })
                        .expect("the place is within the log");
                    let length_bytes = left.min(piece.length_bytes - within);
                    let part = Piece { offset_bytes: piece.offset_bytes + within, length_bytes };
                    self.requests.write(out, &[part], Cause::Log);
                    left -= length_bytes;
                    *at_bytes = (*at_bytes + length_bytes) % whole;
                }
                Ok(Vec::new())
            }
        }
    }
}

/// Distributes a sum over requests in proportion to their lengths.
fn share_out(sum: u64, requests: &mut [Planned]) {
    let whole: u64 = requests.iter().map(|each| u64::from(each.request.length_bytes)).sum();
    let (mut length, mut given) = (0, 0);
    for each in requests {
        length += u64::from(each.request.length_bytes);
        let upto = (u128::from(sum) * u128::from(length) / u128::from(whole)) as u64;
        each.user_bytes = (upto - given) as u32;
        given = upto;
    }
}

#[cfg(test)]
pub(super) mod inspection {
    use super::*;

    impl BPlusTree {
        /// All pieces of tables, indexes and the log.
        pub fn pieces(&self) -> Vec<Piece> {
            let log = match &self.log {
                Log::Recycled { pieces, .. } => pieces,
                Log::New { last } => last,
            };
            self.tables.parts.iter().flatten().chain(log).copied().collect()
        }

        /// Number of pages to be written by the checkpoint that has just started.
        pub fn dirty_pages(&self) -> usize {
            self.dirty.len()
        }
    }
}
