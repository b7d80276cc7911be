//! Erases that wait until everything decided before them is in flash, so that a loss of power finds the older copy of a
//! unit or the newer one. Drives whose memory outlives a loss of power need none of it.
//!
//! First the program groups are waited for that had begun and were not full; when the last of them is queued, a marker
//! follows in the queue of every die, and when the last marker has come, the erase is queued. What is to be programmed
//! into the erase unit meanwhile is held back. Should it come while a group still waits to be filled, perhaps by this very
//! write, the erase goes ahead: such a drive programs the group early, which the model does not.

use super::flash::Flash;
use super::groups::GroupId;
use super::kind::Kind;
use super::operation::{Array, Operation, Work};

#[derive(Clone, Debug)]
struct Waiting {
    number: u32,
    erase_unit: u32,
    /// The erase, as its dies are to be told.
    operation: u64,
    /// Groups opened before it that are not yet queued.
    groups: u32,
    markers: u32,
    /// Dies, and programs for them.
    held: Vec<(usize, u64)>,
}

/// An erase that waits no longer, and what was held back for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    pub erase_unit: u32,
    pub operation: u64,
    pub held: Vec<(usize, u64)>,
}

#[derive(Clone, Debug, Default)]
pub struct WaitingErases {
    /// In the order of their decision; few.
    waiting: Vec<Waiting>,
}

impl WaitingErases {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// An erase is decided on while so many groups have begun and are not queued. Returns whether markers can go out.
    pub fn add(&mut self, number: u32, erase_unit: u32, operation: u64, groups: u32, dies: u32) -> bool {
        self.waiting.push(Waiting { number, erase_unit, operation, groups, markers: dies, held: Vec::new() });
        groups == 0
    }

    /// A group is queued that was opened after so many erases had been decided on. Calls `then` with the number of each
    /// erase that waited for it last.
    pub fn group_is_queued(&mut self, opened_after: u32, mut then: impl FnMut(u32)) {
        for waiting in &mut self.waiting {
            // Numbers may wrap.
            let is_waited_for = (waiting.number.wrapping_sub(opened_after) as i32) > 0;
            if is_waited_for && waiting.groups > 0 {
                waiting.groups -= 1;
                if waiting.groups == 0 {
                    then(waiting.number);
                }
            }
        }
    }

    /// A marker of an erase has come; that of one that went ahead is of no matter.
    pub fn marker_came(&mut self, number: u32) -> Option<Released> {
        let place = self.waiting.iter().position(|waiting| waiting.number == number)?;
        self.waiting[place].markers -= 1;
        if self.waiting[place].markers == 0 { Some(self.release(place)) } else { None }
    }

    /// Whether an erase waits with its markers out, so that a program into the erase unit is to be held back.
    pub fn hold(&mut self, erase_unit: u32, die: usize, program: u64) -> bool {
        let waiting = self.waiting.iter_mut().find(|waiting| waiting.erase_unit == erase_unit);
        match waiting.filter(|waiting| waiting.groups == 0) {
            Some(waiting) => {
                waiting.held.push((die, program));
                true
            }
            None => false,
        }
    }

    /// The erase of this erase unit goes ahead, if one waits.
    pub fn go_ahead(&mut self, erase_unit: u32) -> Option<Released> {
        let place = self.waiting.iter().position(|waiting| waiting.erase_unit == erase_unit)?;
        Some(self.release(place))
    }

    fn release(&mut self, place: usize) -> Released {
        let Waiting { erase_unit, operation, held, .. } = self.waiting.remove(place);
        Released { erase_unit, operation, held }
    }
}

impl Flash {
    pub(super) fn decide_erase<K: Kind>(&mut self, now: u64, erase_unit: u32) {
        let is_slc = !self.is_slc.is_empty() && self.is_slc[erase_unit as usize];
        let erase = Operation::new(Array::Erase, Work::Quiet, 0, 0).in_mode(is_slc);
        let Some(erases) = &mut self.waiting_erases else { return self.queue_erase::<K>(now, erase_unit, erase) };
        if let Some(before) = erases.go_ahead(erase_unit) {
            self.release::<K>(now, before);
        }
        let (number, groups) = self.groups.note_erase();
        let erases = self.waiting_erases.as_mut().expect("erases wait");
        if erases.add(number, erase_unit, erase.word(), groups, self.dies_count) {
            self.queue_markers::<K>(now, number);
        }
    }

    fn queue_markers<K: Kind>(&mut self, now: u64, number: u32) {
        let marker = Operation::new(Array::Nothing, Work::Marker, 0, number);
        (0..self.dies_count as usize).for_each(|die| self.dies.queue::<K>(now, die, marker));
    }

    #[cold]
    pub(super) fn marker_came<K: Kind>(&mut self, now: u64, number: u32) {
        if let Some(released) = self.waiting_erases.as_mut().and_then(|erases| erases.marker_came(number)) {
            self.release::<K>(now, released);
        }
    }

    fn release<K: Kind>(&mut self, now: u64, Released { erase_unit, operation, held }: Released) {
        self.queue_erase::<K>(now, erase_unit, Operation::from_word(operation));
        for (die, word) in held {
            self.dies.queue::<K>(now, die, Operation::from_word(word));
        }
    }

    /// Queues a program behind the erase of its erase unit, should that wait, and notes that the group is queued.
    #[cold]
    pub(super) fn queue_among_waiting_erases<K: Kind>(
        &mut self,
        now: u64,
        die: usize,
        program: Operation,
        group: GroupId,
        first: u32,
    ) {
        let erase_unit = self.units_per_erase_unit.quotient(first);
        let erases = self.waiting_erases.as_mut().expect("erases wait");
        if !erases.hold(erase_unit, die, program.word()) {
            if let Some(released) = erases.go_ahead(erase_unit) {
                self.release::<K>(now, released);
            }
            self.dies.queue::<K>(now, die, program);
        }
        let mut ready = Vec::new();
        let erases = self.waiting_erases.as_mut().expect("erases wait");
        erases.group_is_queued(self.groups.opened_after(group), |number| ready.push(number));
        ready.into_iter().for_each(|number| self.queue_markers::<K>(now, number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erase_waits_for_groups_then_for_markers() {
        let mut erases = WaitingErases::default();
        assert!(!erases.add(u32::MAX, 7, 70, 2, 2));
        assert!(erases.add(0, 8, 80, 0, 1));
        assert!(!erases.hold(7, 0, 99), "its groups are not queued");
        let mut ready = Vec::new();
        erases.group_is_queued(u32::MAX - 1, |number| ready.push(number));
        erases.group_is_queued(u32::MAX, |number| ready.push(number));
        erases.group_is_queued(0, |number| ready.push(number));
        assert!(ready.is_empty(), "the last two were opened after it");
        erases.group_is_queued(u32::MAX - 7, |number| ready.push(number));
        assert_eq!(ready.len(), 1);
        assert!(erases.hold(7, 3, 99));
        assert_eq!(erases.marker_came(ready[0]), None);
        let held = vec![(3, 99)];
        assert_eq!(erases.marker_came(ready[0]), Some(Released { erase_unit: 7, operation: 70, held }));
        let ahead = Released { erase_unit: 8, operation: 80, held: Vec::new() };
        assert_eq!(erases.go_ahead(8), Some(ahead));
        assert_eq!(erases.marker_came(0), None);
        assert!(erases.is_empty());
    }
}
