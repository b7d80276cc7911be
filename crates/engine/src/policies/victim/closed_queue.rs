//! Closed erase units in the order of their closing, a queue for each stream.
//!
//! An erase unit that was cleaned out of order (by wear levelling, say) leaves its entry behind; the number of its
//! closing tells that the entry is dead.

use super::{Pool, View};
use crate::ftl::numbers::{EraseUnit, StreamId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Entry {
    erase_unit: EraseUnit,
    closing: u64,
}

#[derive(Default, Serialize, Deserialize)]
pub struct ClosedQueue {
    queues: Vec<VecDeque<Entry>>,
    /// By erase unit: the number of its last closing.
    last_closing: Vec<u64>,
}

impl ClosedQueue {
    pub fn new(erase_units: u32) -> Self {
        Self { queues: Vec::new(), last_closing: vec![0; erase_units as usize] }
    }

    pub fn push(&mut self, erase_unit: EraseUnit, stream: StreamId, closing: u64) {
        if self.queues.len() <= stream.index() {
            self.queues.resize_with(stream.index() + 1, VecDeque::new);
        }
        self.last_closing[erase_unit.index()] = closing;
        self.queues[stream.index()].push_back(Entry { erase_unit, closing });
    }

    pub fn pop_oldest(&mut self, view: &View<'_>, pool: Pool) -> Option<EraseUnit> {
        let (queue, place) = self.place_of_oldest(view, pool)?;
        self.queues[queue].remove(place).map(|entry| entry.erase_unit)
    }

    /// Takes, of the oldest `window` entries of one queue, the one with the fewest live units.
    pub fn pop_least_of_oldest(&mut self, view: &View<'_>, pool: Pool, window: usize) -> Option<EraseUnit> {
        let (queue, first) = self.place_of_oldest(view, pool)?;
        let last_closing = &self.last_closing;
        let queue = &mut self.queues[queue];
        let place = queue
            .iter()
            .enumerate()
            .skip(first)
            .filter(|(_, entry)| is_alive(last_closing, view, entry) && view.is_on_die(entry.erase_unit))
            .take(window)
            .min_by_key(|(_, entry)| view.occupancy.live_units(entry.erase_unit))
            .map(|(place, _)| place)?;
        queue.remove(place).map(|entry| entry.erase_unit)
    }

    /// The queue of the pool with the oldest entry that may be cleaned, and the entry's place in it.
    fn place_of_oldest(&mut self, view: &View<'_>, pool: Pool) -> Option<(usize, usize)> {
        let last_closing = &self.last_closing;
        let mut oldest: Option<(u64, usize, usize)> = None;
        for (stream, queue) in self.queues.iter_mut().enumerate() {
            while queue.front().is_some_and(|entry| !is_alive(last_closing, view, entry)) {
                queue.pop_front();
            }
            let wanted = match pool {
                Pool::All => true,
                Pool::Only(only) => only.index() == stream,
            };
            let may_clean = |entry: &Entry| is_alive(last_closing, view, entry) && view.is_on_die(entry.erase_unit);
            // Without a die that is asked for this is the first.
            let place = if wanted { queue.iter().position(may_clean) } else { None };
            if let Some(place) = place
                && oldest.is_none_or(|(closing, _, _)| queue[place].closing < closing)
            {
                oldest = Some((queue[place].closing, stream, place));
            }
        }
        oldest.map(|(_, stream, place)| (stream, place))
    }
}

fn is_alive(last_closing: &[u64], view: &View<'_>, entry: &Entry) -> bool {
    last_closing[entry.erase_unit.index()] == entry.closing && view.is_closed_in(entry.erase_unit, Pool::All)
}
