//! The drive's memory for writes that are not yet in flash, and what a flush of it waits for.
//!
//! Buffered data belongs to an epoch, which a flush ends; the flush completes when nothing of that epoch or an earlier
//! one is left. Memory that survives a loss of power has a single epoch, and a flush waits for nothing.

use std::collections::VecDeque;

/// As the slot of a unit, this number and those above it stand for the buffer: no request waits for these units. The
/// rest of the number is the epoch.
pub const BUFFERED_FIRST: u32 = 1 << 31;
/// More than the number of slots, and so of simultaneous flushes.
const EPOCHS: u64 = 1 << 30;

#[derive(Clone, Debug)]
pub struct Buffer {
    units_max: u64,
    /// A write that would fill it beyond this closes it.
    close_units: u64,
    /// Once closed it admits nothing until it holds no more than this.
    resume_units: u64,
    is_closed: bool,
    /// The interval between writes admitted while it is closed; 0: none.
    closed_interval_ns: u64,
    /// When it last admitted such a write, or will admit the next.
    trickled_ns: u64,
    trickle_is_due: bool,
    units: u64,
    /// Those of the units whose request completes only when they are in flash.
    through_units: u64,
    is_volatile: bool,
    /// The number of the oldest epoch with data or a waiting flush, and the units of each epoch from there.
    first_epoch: u64,
    epochs: VecDeque<u64>,
    /// Slots of the flushes that ended each epoch but the last, in order.
    flushes: VecDeque<u32>,
}

impl Buffer {
    /// A buffer with 0 units stands for none.
    pub fn new(units_max: u64, is_volatile: bool) -> Self {
        Self {
            units_max,
            close_units: units_max,
            resume_units: units_max,
            is_closed: false,
            closed_interval_ns: 0,
            trickled_ns: 0,
            trickle_is_due: false,
            units: 0,
            through_units: 0,
            is_volatile: is_volatile && units_max > 0,
            first_epoch: 0,
            epochs: VecDeque::from([0]),
            flushes: VecDeque::new(),
        }
    }

    /// After a write found it full it remains closed until it holds no more than this many units; 0: never closed.
    pub fn resuming_at(self, units: u64) -> Self {
        Self { resume_units: if units > 0 { units.min(self.units_max) } else { self.units_max }, ..self }
    }

    /// Closed by a write that would fill it beyond this; 0: only by one that finds no space.
    pub fn closing_at(self, units: u64) -> Self {
        Self { close_units: if units > 0 { units.min(self.units_max) } else { self.units_max }, ..self }
    }

    /// Admits this many writes a second while it is closed; 0: none.
    pub fn trickling(self, per_second: u64) -> Self {
        Self { closed_interval_ns: 1_000_000_000u64.checked_div(per_second).unwrap_or(0), ..self }
    }

    /// When it admits the next write, of this many units, although it is closed, unless that was already reported.
    /// None as long as it has no room for them: asked again when it has.
    pub fn next_trickle_ns(&mut self, now: u64, units: u64, freed_units: u64) -> Option<u64> {
        let trickles = self.closed_interval_ns > 0 && self.is_closed;
        if !trickles || self.trickle_is_due || !self.has_room(units, freed_units) {
            return None;
        }
        self.trickle_is_due = true;
        self.trickled_ns = now.max(self.trickled_ns + self.closed_interval_ns);
        Some(self.trickled_ns)
    }

    /// Called at that time. Whether a write of this many units is admitted.
    pub fn trickle(&mut self, units: u64, freed_units: u64) -> bool {
        self.trickle_is_due = false;
        self.has_room(units, freed_units)
    }

    /// Whether a waiting write of this many units will be admitted at that time.
    pub fn will_trickle(&self, units: u64, freed_units: u64) -> bool {
        self.trickle_is_due && self.has_room(units, freed_units)
    }

    fn has_room(&self, units: u64, freed_units: u64) -> bool {
        self.units - freed_units + units <= self.units_max
    }

    pub fn units_until_closed(&self) -> u64 {
        self.close_units
    }

    pub fn exists(&self) -> bool {
        self.units_max > 0
    }

    /// Whether its contents are lost with the power.
    pub fn is_volatile(&self) -> bool {
        self.is_volatile
    }

    /// The filled share of its space.
    pub fn filled_share(&self) -> f64 {
        self.units as f64 / self.units_max as f64
    }

    pub fn units(&self) -> u64 {
        self.units
    }

    /// Whether a write of this many units is admitted now; otherwise it waits. An empty buffer is open and admits any
    /// write, also one larger than itself. `freed_units` of its units have already released their space.
    #[inline]
    pub fn takes(&mut self, units: u64, freed_units: u64) -> bool {
        let held_units = self.units - freed_units;
        self.is_closed &= held_units > self.resume_units;
        let has_room = held_units + units <= self.close_units || held_units == 0;
        self.is_closed |= !has_room && self.resume_units < self.close_units;
        has_room && !self.is_closed
    }

    /// Reserves space for units in transfer.
    pub fn reserve(&mut self, units: u64) {
        self.units += units;
    }

    pub fn give_back(&mut self, units: u64) {
        self.units -= units;
    }

    /// The tag that stands for the buffer as a slot.
    #[inline]
    pub fn tag(&self) -> u32 {
        BUFFERED_FIRST | ((self.first_epoch + self.epochs.len() as u64 - 1) % EPOCHS) as u32
    }

    /// Adds units with the current tag.
    #[inline]
    pub fn take(&mut self, units: u64) {
        self.units += units;
        *self.epochs.back_mut().expect("one epoch is open") += units;
    }

    /// Adds units of a write that completes only when they are in flash.
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

    /// A unit with this tag is in flash.
    #[inline]
    pub fn finish(&mut self, tag: u32) {
        self.units -= 1;
        let epoch = (u64::from(tag - BUFFERED_FIRST) + EPOCHS - self.first_epoch % EPOCHS) % EPOCHS;
        self.epochs[epoch as usize] -= 1;
    }

    /// Starts a flush of its contents. Returns whether there is nothing to wait for.
    pub fn flush(&mut self, slot: u32) -> bool {
        if !self.is_volatile || self.epochs.iter().all(|&units| units == 0) {
            return true;
        }
        self.flushes.push_back(slot);
        self.epochs.push_back(0);
        false
    }

    /// Whether a flush, or a write that must reach flash, waits.
    #[inline]
    pub fn is_awaited(&self) -> bool {
        !self.flushes.is_empty() || self.through_units > 0
    }

    /// The next completed flush.
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
    fn a_buffer_that_was_full_takes_nothing_until_its_low_mark() {
        let mut buffer = Buffer::new(10, false).resuming_at(4);
        assert!(buffer.takes(10, 0));
        buffer.take(10);
        assert!(!buffer.takes(1, 0));
        let tag = buffer.tag();
        for left in (5..10).rev() {
            buffer.finish(tag);
            assert_eq!((buffer.units(), buffer.takes(1, 0)), (left, false));
        }
        buffer.finish(tag);
        assert!(buffer.takes(6, 0), "at the low mark it is open again");
        buffer.take(1);
        assert!(buffer.takes(1, 0), "and stays open until it is full");
        let mut plain = Buffer::new(10, false);
        plain.take(10);
        assert!(!plain.takes(1, 0));
        plain.finish(plain.tag());
        assert!(plain.takes(1, 0), "without a low mark room is enough");
    }

    #[test]
    fn a_closed_buffer_takes_so_many_writes_a_second_while_it_has_room() {
        // Closes at 6 of 8, opens again at 2; one write a millisecond in between.
        let mut buffer = Buffer::new(8, false).closing_at(6).resuming_at(2).trickling(1000);
        assert_eq!(buffer.next_trickle_ns(5, 2, 0), None, "it is open");
        buffer.take(6);
        assert!(!buffer.takes(1, 0));
        assert_eq!(buffer.next_trickle_ns(5_000_000, 1, 0), Some(5_000_000));
        assert_eq!(buffer.next_trickle_ns(5_000_000, 1, 0), None, "one at a time");
        assert!(buffer.will_trickle(2, 0) && !buffer.will_trickle(3, 0) && buffer.will_trickle(3, 1));
        assert!(buffer.trickle(1, 0));
        buffer.take(1);
        assert_eq!(buffer.next_trickle_ns(5_000_000, 1, 0), Some(6_000_000));
        assert!(buffer.trickle(1, 0) && !buffer.takes(1, 0));
        buffer.take(1);
        assert_eq!(buffer.next_trickle_ns(6_000_000, 1, 0), None, "it is full");
        assert_eq!(buffer.next_trickle_ns(6_000_000, 3, 2), None, "it has no room for three");
        assert_eq!(buffer.next_trickle_ns(6_000_000, 2, 2), Some(7_000_000));
        (0..6).for_each(|_| buffer.finish(buffer.tag()));
        assert!(buffer.takes(4, 0));
    }

    #[test]
    fn what_is_being_programmed_may_have_given_back_its_room() {
        let mut buffer = Buffer::new(8, false).closing_at(6).resuming_at(2);
        buffer.take(6);
        assert!(buffer.takes(2, 2), "six, two of which have given back their room");
        assert!(!buffer.takes(3, 2) && !buffer.takes(1, 3), "closed, and three are more than the low mark");
        assert!(buffer.takes(4, 4), "two are the low mark");
        assert!(!buffer.takes(5, 4));
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
