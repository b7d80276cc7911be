//! The KV cache of a language model server, after LMCache (docs.lmcache.ai, "Configuring LMCache", and
//! `lmcache/v1/storage_backend/local_disk_backend.py`).
//!
//! The space is divided into slots of one chunk. Sessions take turns, by popularity. A turn asks for the whole history
//! of its session: chunks in the cache are read; from the first missing one on all are computed again and written,
//! followed by those that the turn adds. A session that would exceed its context ends, and a new one takes its place;
//! nobody tells the cache, so its chunks stay until they are evicted. The least recently used chunk is evicted, and its
//! slot is written again at once. As in LMCache a turn uses its chunks from the last to the first, so that a history
//! loses its end first, and what is left of it is of use.
//!
//! Layerwise, the keys and values of a layer are written and read for all chunks of a turn, then those of the next
//! layer. Not modelled: chunks that sessions share (system prompts, documents), memory above the drive, compression.

use super::planned::{BLOCK_BYTES, Cause, Interval, Planned, Requests};
use super::popularity::Popularity;
use super::space::Piece;
use crate::random::Random;
use crate::recency::Recency;
use crate::request::Operation;
use crate::specification::Job;
use crate::specification::drive::Eviction;
use crate::specification::store::{Store, Tree};
use crate::workload::error::StreamError;
use std::ops::Range;

/// The owner of a slot whose session has ended.
const NOBODY: u32 = u32::MAX;
/// The most chunks of all sessions; owners of slots have 32 bits.
const CHUNKS_MAX: u64 = 1 << 28;

#[derive(Clone, Debug)]
pub struct KvCache {
    requests: Requests,
    random: Random,
    popularity: Popularity,
    places: Places,
    turn_chunks: u32,
    context_chunks: u32,
    sessions: Vec<Session>,
    /// The slot of each cached chunk: `context_chunks` entries a session.
    slots: Vec<u32>,
    /// The index in `slots` of the chunk in each slot that has been filled.
    owners: Vec<u32>,
    recency: Recency,
}

#[derive(Clone, Copy, Debug, Default)]
struct Session {
    /// Chunks of its history.
    chunks: u32,
    /// How many of them, from the first on, are in the cache.
    cached: u32,
}

/// Where the pieces of a chunk are: a region for each layer, with a piece for each slot.
#[derive(Clone, Debug)]
struct Places {
    offset_bytes: u64,
    piece_bytes: u64,
    layers: u32,
    slots: u32,
}

impl Places {
    fn piece(&self, layer: u32, slot: u32) -> Piece {
        let index = u64::from(layer) * u64::from(self.slots) + u64::from(slot);
        Piece { offset_bytes: self.offset_bytes + index * self.piece_bytes, length_bytes: self.piece_bytes }
    }
}

impl KvCache {
    /// An empty cache, and sessions without a history.
    pub fn new(job: &Job, store: &Store) -> Result<Self, StreamError> {
        let &Tree::KvCache { chunk_bytes, layers, sessions, turn_chunks, context_chunks, zipf_theta } = &store.tree
        else {
            unreachable!("the caller has chosen by the kind")
        };
        check(store)?;
        let slots = (store.data_bytes / chunk_bytes) as u32;
        let mut random = Random::new(job.seed);
        Ok(Self {
            requests: Requests { bytes_max: u64::from(store.request_bytes), identifiers: store.identifiers.clone() },
            popularity: Popularity::new(zipf_theta, u64::from(sessions), &mut random),
            random,
            places: Places {
                offset_bytes: job.offset_bytes,
                piece_bytes: chunk_bytes / u64::from(layers),
                layers,
                slots,
            },
            turn_chunks,
            context_chunks,
            sessions: vec![Session::default(); sessions as usize],
            slots: vec![0; sessions as usize * context_chunks as usize],
            owners: Vec::with_capacity(slots as usize),
            recency: Recency::new(Eviction::Lru, slots),
        })
    }

    /// The requests of the next turn of a session: what it reads, what it evicts, what it writes.
    pub fn turn(&mut self) -> Interval {
        let index = self.popularity.draw(&mut self.random) as usize;
        let added = 1 + self.random.below(u64::from(2 * self.turn_chunks - 1)) as u32;
        let added = added.min(self.context_chunks);
        if self.sessions[index].chunks + added > self.context_chunks {
            self.end(index);
        }
        let Session { chunks: old, cached } = self.sessions[index];
        let all = old + added;
        let first = index * self.context_chunks as usize;
        let identifier = self.requests.identifier(usize::from(old > 0));
        let mut out = Vec::new();
        // What is read is not evicted for what is written.
        self.use_chunks(first, cached);
        self.read(&mut out, first, cached);
        for chunk in cached..all {
            self.slots[first + chunk as usize] = self.take_slot((first + chunk as usize) as u32, &mut out);
        }
        self.sessions[index] = Session { chunks: all, cached: all };
        self.use_chunks(first, all);
        self.write(&mut out, first, cached..all, old, identifier);
        Interval { lists: vec![out], spread: vec![1.0] }
    }

    /// The session leaves; its chunks stay as they are.
    fn end(&mut self, index: usize) {
        let first = index * self.context_chunks as usize;
        for &slot in &self.slots[first..first + self.sessions[index].cached as usize] {
            self.owners[slot as usize] = NOBODY;
        }
        self.sessions[index] = Session::default();
    }

    /// Uses the first chunks of a session, from the last to the first.
    fn use_chunks(&mut self, first: usize, count: u32) {
        for &slot in self.slots[first..first + count as usize].iter().rev() {
            self.recency.used(slot);
        }
    }

    /// A slot for a chunk: one that was never filled, or that of the chunk that is evicted.
    fn take_slot(&mut self, owner: u32, out: &mut Vec<Planned>) -> u32 {
        if (self.owners.len() as u32) < self.places.slots {
            let slot = self.owners.len() as u32;
            self.owners.push(owner);
            self.recency.inserted(slot);
            return slot;
        }
        let slot = self.recency.evict();
        self.recency.inserted(slot);
        let evicted = std::mem::replace(&mut self.owners[slot as usize], owner);
        if evicted != NOBODY {
            // What comes behind it in the history is of no use without it.
            self.sessions[(evicted / self.context_chunks) as usize].cached = evicted % self.context_chunks;
        }
        for layer in 0..self.places.layers {
            self.requests.delete(out, &[self.places.piece(layer, slot)]);
        }
        slot
    }

    /// Reads the first chunks of a session, layer by layer.
    fn read(&self, out: &mut Vec<Planned>, first: usize, count: u32) {
        for layer in 0..self.places.layers {
            for &slot in &self.slots[first..first + count as usize] {
                self.requests.split(out, self.places.piece(layer, slot), Operation::Read, Cause::Read, 0);
            }
        }
    }

    /// Writes chunks of a session, layer by layer; those before `old` are computed again.
    fn write(&self, out: &mut Vec<Planned>, first: usize, chunks: Range<u32>, old: u32, identifier: u8) {
        for layer in 0..self.places.layers {
            for chunk in chunks.clone() {
                let piece = self.places.piece(layer, self.slots[first + chunk as usize]);
                let is_new = chunk >= old;
                let cause = if is_new { Cause::Level(0) } else { Cause::Rebuilt };
                let start = out.len();
                self.requests.split(out, piece, Operation::Write, cause, identifier);
                for planned in out[start..].iter_mut().filter(|_| is_new) {
                    planned.user_bytes = planned.request.length_bytes;
                }
            }
        }
    }
}

fn check(store: &Store) -> Result<(), StreamError> {
    let &Tree::KvCache { chunk_bytes, layers, sessions, turn_chunks, context_chunks, zipf_theta } = &store.tree else {
        unreachable!("the caller has chosen by the kind")
    };
    let refuse =
        |key: &str, value: u64, allowed: String| Err(StreamError::new(&format!("store.tree.{key}"), value, allowed));
    if layers == 0 {
        return refuse("layers", 0, "1 or more".into());
    }
    let unit = BLOCK_BYTES * u64::from(layers);
    if chunk_bytes == 0 || !chunk_bytes.is_multiple_of(unit) || chunk_bytes > store.data_bytes {
        let allowed = format!("a multiple of {unit}, 4096 a layer, above 0, no more than the cache");
        return refuse("chunk_bytes", chunk_bytes, allowed);
    }
    let slots = store.data_bytes / chunk_bytes;
    if slots >= u64::from(NOBODY) {
        return refuse("chunk_bytes", chunk_bytes, "larger: the cache has fewer than 2^32 - 1 chunks".into());
    }
    if context_chunks == 0 || u64::from(context_chunks) > slots {
        let allowed = format!("1 to {slots}, the chunks that the cache holds");
        return refuse("context_chunks", u64::from(context_chunks), allowed);
    }
    if turn_chunks == 0 || turn_chunks > context_chunks {
        return refuse("turn_chunks", u64::from(turn_chunks), format!("1 to {context_chunks}, the context"));
    }
    let sessions_max = CHUNKS_MAX / u64::from(context_chunks);
    if sessions == 0 || u64::from(sessions) > sessions_max {
        let allowed = format!("1 to {sessions_max}, with up to 2^28 chunks in all");
        return refuse("sessions", u64::from(sessions), allowed);
    }
    match zipf_theta.filter(|&theta| !(theta > 0.0 && theta <= 100.0)) {
        Some(theta) => Err(StreamError::new("store.tree.zipf_theta", theta, "above 0, up to 100, or null")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
