//! A write frontier: the open erase unit of a stream, and the next slot to write.

use super::Layout;
use crate::units::{EraseUnit, Ppn};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Frontier {
    /// The erase unit opened last; None before the first.
    pub erase_unit: Option<EraseUnit>,
    next: u32,
    /// Where consecutive writing stops: at a parity slot, at the end, or at once if nothing is open.
    stop: u32,
    /// Units moved here by garbage collection, and the sum of the times at which the host wrote them.
    moved_units: u64,
    moved_born_sum: u128,
    opened_at: u64,
}

impl Frontier {
    pub fn shut() -> Self {
        Self { erase_unit: None, next: 0, stop: 0, moved_units: 0, moved_born_sum: 0, opened_at: 0 }
    }

    pub fn open(erase_unit: EraseUnit, first: Ppn, now: u64) -> Self {
        Self { erase_unit: Some(erase_unit), next: first.0, stop: first.0, opened_at: now, ..Self::shut() }
    }

    #[inline(always)]
    pub fn is_stopped(&self) -> bool {
        self.next == self.stop
    }

    /// Gives up the slots before the next stop, for another frontier to take its turn.
    pub fn stop(&mut self) {
        self.stop = self.next;
    }

    /// Slots before the next stop.
    #[inline(always)]
    pub fn run_length(&self) -> u32 {
        self.stop - self.next
    }

    #[inline(always)]
    pub fn take(&mut self) -> Ppn {
        debug_assert!(!self.is_stopped());
        let ppn = Ppn(self.next);
        self.next += 1;
        ppn
    }

    /// Takes consecutive slots, all before the next stop.
    pub fn take_many(&mut self, slots: u32) -> Ppn {
        debug_assert!(slots <= self.run_length());
        let ppn = Ppn(self.next);
        self.next += slots;
        ppn
    }

    /// Takes the next slot, beyond the next stop, for a moved unit that was written at `born_at`, and stops after it.
    #[inline(always)]
    pub fn take_moved(&mut self, born_at: u64) -> Ppn {
        let ppn = Ppn(self.next);
        self.next += 1;
        self.stop = self.next;
        self.moved_units += 1;
        self.moved_born_sum += u128::from(born_at);
        ppn
    }

    pub fn opened_at(&self) -> u64 {
        self.opened_at
    }

    /// Whether its position and counts are possible in the erase unit that begins at `first`.
    pub fn is_within(&self, first: u32, units: u32) -> bool {
        let end = first + units;
        let (next, stop) = (self.next, self.stop);
        (first..=end).contains(&next) && (next..=end).contains(&stop) && self.moved_units <= u64::from(next - first)
    }

    pub fn next(&self) -> Ppn {
        Ppn(self.next)
    }

    pub fn run_to(&mut self, stop: Ppn) {
        self.stop = stop.0;
    }

    pub fn skip_parity(&mut self, slots: u32) {
        self.next += slots;
        self.stop = self.next;
    }

    /// The corresponding position in an erase unit larger by the factor `times`, in a time with `times` as many units.
    /// None if its position is not inside the smaller one.
    pub fn times(&self, times: u64, smaller: &Layout, larger: &Layout) -> Option<Self> {
        let Some(erase_unit) = self.erase_unit else { return Some(Self::shut()) };
        let (first, from) = (larger.first(erase_unit), smaller.first(erase_unit));
        if !self.is_within(from, smaller.units_per_erase_unit()) {
            return None;
        }
        if times == 1 {
            return Some(*self);
        }
        let slot = |slot: u32| larger.magnified(smaller, slot - from, times as u32);
        let next = slot(self.next);
        let stop = slot(self.stop).min(larger.next_parity(next)).max(next);
        Some(Self {
            erase_unit: self.erase_unit,
            next: first + next,
            stop: first + stop,
            moved_units: self.moved_units * times,
            moved_born_sum: self.moved_born_sum * u128::from(times) * u128::from(times),
            opened_at: self.opened_at * times,
        })
    }

    pub fn note_moved(&mut self, units: u64, born_at: u64) {
        self.moved_units += units;
        self.moved_born_sum += u128::from(units) * u128::from(born_at);
    }

    /// When the host wrote the contents of the filled erase unit, on average: units written directly count as written
    /// half-way between the opening and now.
    pub fn born_at(&self, data_units: u32, now: u64) -> u64 {
        let direct_units = u128::from(u64::from(data_units) - self.moved_units);
        let direct_born_at = u128::from(self.opened_at + (now - self.opened_at) / 2);
        ((self.moved_born_sum + direct_units * direct_born_at) / u128::from(data_units)) as u64
    }
}
