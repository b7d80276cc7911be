//! Closed erase units in the order in which they were closed, a queue for each stream.

use super::{Pool, View};
use crate::units::{EraseUnit, StreamId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Entry {
    erase_unit: EraseUnit,
    closing: u64,
}

#[derive(Default, Serialize, Deserialize)]
pub struct ClosedQueue {
    /// By stream, in the order of closing.
    queues: Vec<VecDeque<Entry>>,
    /// By erase unit: the number of its last closing.
    last_closing: Vec<u64>,
}

impl ClosedQueue {
    pub fn new(erase_units: u32) -> Self {
        Self { queues: Vec::new(), last_closing: vec![0; erase_units as usize] }
    }

    /// Restores the saved queue of the same drive.
    pub fn restore(&mut self, state: serde_json::Value) -> Result<(), serde_json::Error> {
        let saved: Self = serde_json::from_value(state)?;
        let erase_units = self.last_closing.len();
        let is_in_order = |queue: &VecDeque<Entry>| queue.iter().is_sorted_by(|one, next| one.closing < next.closing);
        let mut entries = saved.queues.iter().flatten();
        let fits = saved.last_closing.len() == erase_units
            && entries.all(|entry| entry.erase_unit.index() < erase_units)
            && saved.queues.iter().all(is_in_order);
        if !fits {
            return Err(serde::de::Error::custom("erase units that the drive does not have"));
        }
        *self = saved;
        Ok(())
    }

    pub fn push(&mut self, erase_unit: EraseUnit, stream: StreamId, closing: u64) {
        if self.queues.len() <= stream.index() {
            self.queues.resize_with(stream.index() + 1, VecDeque::new);
        }
        self.last_closing[erase_unit.index()] = closing;
        self.queues[stream.index()].push_back(Entry { erase_unit, closing });
    }

    /// Removes an erase unit that is no longer closed. The oldest and the youngest are removed in constant time.
    pub fn remove(&mut self, erase_unit: EraseUnit, stream: StreamId) {
        let closing = self.last_closing[erase_unit.index()];
        let Some(queue) = self.queues.get_mut(stream.index()) else { return };
        if let Ok(slot) = queue.binary_search_by_key(&closing, |entry| entry.closing) {
            queue.remove(slot);
        }
    }

    pub fn oldest(&self, view: &View<'_>, pool: Pool) -> Option<EraseUnit> {
        let (queue, slot) = self.slot_of_oldest(view, pool)?;
        Some(self.queues[queue][slot].erase_unit)
    }

    /// Of the oldest `window` entries of one queue, the one with the fewest live units.
    pub fn least_of_oldest(&self, view: &View<'_>, pool: Pool, window: usize) -> Option<EraseUnit> {
        let (queue, first) = self.slot_of_oldest(view, pool)?;
        self.queues[queue]
            .iter()
            .skip(first)
            .map(|entry| entry.erase_unit)
            .filter(|&erase_unit| view.may_collect(erase_unit, Pool::All))
            .take(window)
            .min_by_key(|&erase_unit| view.occupancy.live_units(erase_unit))
    }

    /// The queue of the pool with the oldest entry that may be collected, and the entry's index in it.
    fn slot_of_oldest(&self, view: &View<'_>, pool: Pool) -> Option<(usize, usize)> {
        let in_pool = |stream: usize| match pool {
            Pool::All => true,
            Pool::Only(only) => only.index() == stream,
        };
        let queues = self.queues.iter().enumerate().filter(|&(stream, _)| in_pool(stream));
        let oldest = queues.filter_map(|(stream, queue)| {
            // If any die is allowed, this is the first.
            let slot = queue.iter().position(|entry| view.may_collect(entry.erase_unit, Pool::All))?;
            Some((queue[slot].closing, stream, slot))
        });
        oldest.min().map(|(_, stream, slot)| (stream, slot))
    }
}
