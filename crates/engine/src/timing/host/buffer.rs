//! The drive's memory for writes that are not yet in flash, and what a flush of it waits for.
//!
//! What is buffered belongs to an epoch, which a flush ends; the flush is complete when nothing of that epoch or of one
//! before it is left. Memory that outlives a loss of power has one epoch, and a flush waits for nothing.

use std::collections::VecDeque;

/// Where a slot is named, this number and those after it stand for the buffer: no request waits for these units. The
/// rest of the number is that of the epoch.
pub const BUFFERED_FIRST: u32 = 1 << 31;
/// More than there are slots, and so more than there are flushes at a time.
const EPOCHS: u64 = 1 << 30;

#[derive(Clone, Debug)]
pub struct Buffer {
    units_max: u64,
    units: u64,
    /// Those of them that somebody waits for to be in flash.
    through_units: u64,
    is_volatile: bool,
    /// Slots whose writes found it full, in order.
    pub waiting: VecDeque<u32>,
    /// The number of the oldest epoch that holds anything or that a flush waits for, and units by epoch from there.
    first_epoch: u64,
    epochs: VecDeque<u64>,
    /// Slots of the flushes that ended an epoch, all but the last, in order.
    flushes: VecDeque<u32>,
}

impl Buffer {
    /// A buffer of 0 units is none.
    pub fn new(units_max: u64, is_volatile: bool) -> Self {
        Self {
            units_max,
            units: 0,
            through_units: 0,
            is_volatile: is_volatile && units_max > 0,
            waiting: VecDeque::new(),
            first_epoch: 0,
            epochs: VecDeque::from([0]),
            flushes: VecDeque::new(),
        }
    }

    pub fn exists(&self) -> bool {
        self.units_max > 0
    }

    /// Whether what it holds is lost with the power.
    pub fn is_volatile(&self) -> bool {
        self.is_volatile
    }

    pub fn units(&self) -> u64 {
        self.units
    }

    /// A write larger than the whole buffer is taken when the buffer is empty.
    #[inline]
    pub fn has_room(&self, units: u64) -> bool {
        self.units + units <= self.units_max || self.units == 0
    }

    /// Keeps room for units that are on their way to it.
    pub fn reserve(&mut self, units: u64) {
        self.units += units;
    }

    pub fn give_back(&mut self, units: u64) {
        self.units -= units;
    }

    /// What stands for it where a slot is named.
    #[inline]
    pub fn tag(&self) -> u32 {
        BUFFERED_FIRST | ((self.first_epoch + self.epochs.len() as u64 - 1) % EPOCHS) as u32
    }

    /// Takes units that were handed on under the tag.
    #[inline]
    pub fn take(&mut self, units: u64) {
        self.units += units;
        *self.epochs.back_mut().expect("one epoch is open") += units;
    }

    /// Takes units of a write that is complete only when they are in flash.
    pub fn take_through(&mut self, units: u64) {
        self.units += units;
        self.through_units += units;
    }

    /// One of those is in flash.
    #[inline]
    pub fn finish_through(&mut self) {
        self.units -= 1;
        self.through_units -= 1;
    }

    /// A unit that it held under the tag is in flash.
    #[inline]
    pub fn finish(&mut self, tag: u32) {
        self.units -= 1;
        let epoch = (u64::from(tag - BUFFERED_FIRST) + EPOCHS - self.first_epoch % EPOCHS) % EPOCHS;
        self.epochs[epoch as usize] -= 1;
    }

    /// Begins a flush of all that it holds. Returns whether there is nothing to wait for.
    pub fn flush(&mut self, slot: u32) -> bool {
        if !self.is_volatile || self.epochs.iter().all(|&units| units == 0) {
            return true;
        }
        self.flushes.push_back(slot);
        self.epochs.push_back(0);
        false
    }

    /// Whether a flush waits, or a write past it.
    #[inline]
    pub fn is_awaited(&self) -> bool {
        !self.flushes.is_empty() || self.through_units > 0
    }

    /// The next flush that is complete.
    #[inline]
    pub fn next_flushed(&mut self) -> Option<u32> {
        if self.flushes.is_empty() || self.epochs[0] > 0 {
            return None;
        }
        self.epochs.pop_front();
        self.first_epoch += 1;
        self.flushes.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_waits_for_what_was_there_before_it_and_for_nothing_after() {
        let mut buffer = Buffer::new(100, true);
        assert!(buffer.flush(7), "an empty buffer has nothing to flush");
        let before = buffer.tag();
        buffer.take(2);
        assert!(!buffer.flush(1));
        let after = buffer.tag();
        buffer.take(1);
        assert!(!buffer.flush(2));
        buffer.finish(after);
        assert_eq!(buffer.next_flushed(), None, "the second flush waits for all before it");
        buffer.finish(before);
        assert_eq!(buffer.next_flushed(), None);
        buffer.finish(before);
        assert_eq!((buffer.next_flushed(), buffer.next_flushed(), buffer.next_flushed()), (Some(1), Some(2), None));
        assert_eq!(buffer.units(), 0);
    }

    #[test]
    fn what_outlives_a_loss_of_power_is_flushed_at_once() {
        let mut buffer = Buffer::new(100, false);
        buffer.take(5);
        assert!(buffer.flush(1));
        let mut none = Buffer::new(0, true);
        assert!(none.flush(1) && !none.is_volatile());
    }
}
