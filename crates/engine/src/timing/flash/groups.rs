//! Program groups: the units of one multi-plane program, which fills a page of every plane of a die.
//!
//! A group takes units until it is full; it can be programmed when all of them have arrived: the host's at once, moved
//! ones when they have been read.
//!
//! Where several pages are programmed in one shot, those in SLC mode are still programmed singly. Such a group is
//! recorded as one whose other pages were taken long ago.

use super::in_memory::{GroupId, InMemory, Numbering};
use super::service::Queued;
use crate::divisor::Divisor;
use crate::error::ReadOnly;
use crate::units::Ppn;
use std::ops::Range;

/// Groups under way, with their operations: some 2 GB.
const GROUPS_MAX: u32 = 1 << 24;
/// In place of the number of a group that has no slots. No other group has it, since the last slot is `Ppn::UNMAPPED`.
const JOURNAL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Its first slot, in groups.
    number: u32,
    issued: u32,
    arrived: u32,
    /// Units whose slots of the host wait for the group.
    waiting: u32,
}

/// Groups are then numbered by pages (of all planes that are programmed together), those of several pages by their
/// first.
struct SlcGroups {
    units: Divisor,
    pages_per_program: Divisor,
    /// By group.
    is_slc: Vec<bool>,
}

pub struct Groups {
    /// A group outside SLC mode.
    units: Divisor,
    /// Only of a drive with smaller groups in SLC mode.
    in_slc_mode: Option<SlcGroups>,
    groups_max: u32,
    groups: Vec<Group>,
    /// The waiting slots of the host, one entry a unit, `units` entries for each group.
    slots: Vec<u32>,
    /// By group, only for those that are waited for.
    queued: Vec<Queued>,
    /// By group: the number of waiting erases decided on when it was opened. Only differences matter: it may wrap.
    opened_after: Vec<u32>,
    erases_decided: u32,
    spare: Vec<GroupId>,
    /// Numbers of the groups that still take units: one a stream, so few that a linear search is fastest.
    open: Vec<(u32, GroupId)>,
    units_waiting: u64,
    /// Those that are waited for; only after the first request for them.
    in_memory: Option<InMemory>,
}

impl Groups {
    pub fn new(units: u32) -> Self {
        Self {
            units: Divisor::new(units),
            in_slc_mode: None,
            groups_max: GROUPS_MAX,
            groups: Vec::new(),
            slots: Vec::new(),
            queued: Vec::new(),
            opened_after: Vec::new(),
            erases_decided: 0,
            spare: Vec::new(),
            open: Vec::new(),
            units_waiting: 0,
            in_memory: None,
        }
    }

    /// Adds groups in SLC mode, smaller by this factor.
    pub fn with_slc_mode(self, pages_per_program: u32) -> Self {
        let units = Divisor::new(self.units() / pages_per_program);
        let pages_per_program = Divisor::new(pages_per_program);
        Self { in_slc_mode: Some(SlcGroups { units, pages_per_program, is_slc: Vec::new() }), ..self }
    }

    /// An error if there is no memory for those of a further request.
    #[inline(always)]
    pub fn check_count(&self) -> Result<(), ReadOnly> {
        if self.groups.len() - self.spare.len() <= self.groups_max as usize {
            return Ok(());
        }
        Err(ReadOnly::QueuesTooLong { programs_max: self.groups_max })
    }

    /// Units in a group outside SLC mode.
    pub fn units(&self) -> u32 {
        self.units.get()
    }

    pub fn units_in_slc_mode(&self) -> u32 {
        self.in_slc_mode.as_ref().map_or(self.units(), |slc| slc.units.get())
    }

    /// Units of the host in groups that are not full.
    #[inline(always)]
    pub fn units_waiting(&self) -> u64 {
        self.units_waiting
    }

    /// The slots of those groups.
    pub fn waited_for(&self) -> Vec<Range<u32>> {
        let open = self.open.iter().filter(|&&(_, group)| self.groups[group as usize].waiting > 0);
        open.map(|&(_, group)| self.slots(group)).collect()
    }

    /// The slots of those groups that a slot of the host waits for.
    pub fn waited_for_by(&self, slot: u32) -> Vec<Range<u32>> {
        let open = self.open.iter().filter(|&&(_, group)| self.waiting(group).contains(&slot));
        open.map(|&(_, group)| self.slots(group)).collect()
    }

    /// The group of a unit that is about to be programmed; opened if it is the group's first.
    #[inline(always)]
    pub fn of(&mut self, ppn: Ppn, is_slc: bool) -> GroupId {
        let number = self.number_of(ppn, is_slc);
        match self.open.iter().find(|&&(open, _)| open == number) {
            Some(&(_, group)) => group,
            None => self.open_for(number, ppn, is_slc),
        }
    }

    #[inline(always)]
    fn open_for(&mut self, number: u32, ppn: Ppn, is_slc: bool) -> GroupId {
        let group = self.spare.pop().unwrap_or_else(|| self.add());
        if let Some(slc) = &mut self.in_slc_mode {
            slc.is_slc[group as usize] = is_slc;
        }
        // Slots before the first were programmed before the clock started.
        let (first, units) = self.first_and_units(number, is_slc);
        let before = ppn.0 - first + (self.units() - units);
        self.groups[group as usize] = Group { number, issued: before, arrived: before, waiting: 0 };
        self.opened_after[group as usize] = self.erases_decided;
        // A group of one unit is full when it is opened.
        if self.units() > 1 {
            self.open.push((number, group));
        }
        group
    }

    /// The same for a unit of the host that is a group by itself, which `slot` waits for from now on.
    #[inline(always)]
    pub fn of_unit(&mut self, ppn: Ppn, slot: u32, queued: Queued) -> GroupId {
        debug_assert_eq!(self.units(), 1);
        let group = self.spare.pop().unwrap_or_else(|| self.add());
        let index = group as usize;
        self.groups[index] = Group { number: ppn.0, issued: 1, arrived: 1, waiting: 1 };
        self.slots[index] = slot;
        self.queued[index] = queued;
        if self.in_memory.is_some() {
            self.note_in_memory(group);
        }
        group
    }

    /// A full group with a unit of the journal of the map, apart from all erase units, which `slot` waits for.
    pub fn of_journal(&mut self, slot: u32, is_slc: bool, queued: Queued) -> GroupId {
        let group = self.spare.pop().unwrap_or_else(|| self.add());
        let index = group as usize;
        if let Some(slc) = &mut self.in_slc_mode {
            slc.is_slc[index] = is_slc;
        }
        let units = self.units();
        self.groups[index] = Group { number: JOURNAL, issued: units, arrived: units, waiting: 1 };
        self.slots[index * units as usize] = slot;
        self.queued[index] = queued;
        if self.in_memory.is_some() {
            self.note_in_memory(group);
        }
        group
    }

    #[cold]
    fn add(&mut self) -> GroupId {
        self.groups.push(Group::default());
        self.slots.resize(self.groups.len() * self.units() as usize, 0);
        self.queued.push(Queued::default());
        self.opened_after.push(0);
        if let Some(slc) = &mut self.in_slc_mode {
            slc.is_slc.push(false);
        }
        if let Some(in_memory) = &mut self.in_memory {
            in_memory.grow();
        }
        self.groups.len() as GroupId - 1
    }

    /// Groups are numbered by their slots.
    #[inline(always)]
    pub fn number_of(&self, ppn: Ppn, is_slc: bool) -> u32 {
        match &self.in_slc_mode {
            Some(slc) => {
                let page = slc.units.quotient(ppn.0);
                if is_slc { page } else { page - slc.pages_per_program.remainder(page) }
            }
            _ => self.units.quotient(ppn.0),
        }
    }

    /// The group's index in the rotation over the dies.
    #[inline(always)]
    pub fn turn_of(&self, number: u32, is_slc: bool) -> u32 {
        match &self.in_slc_mode {
            Some(slc) if !is_slc => slc.pages_per_program.quotient(number),
            _ => number,
        }
    }

    /// Whether a group is in SLC mode, on a drive where such groups are smaller.
    #[inline(always)]
    pub fn is_slc(&self, group: GroupId) -> bool {
        self.in_slc_mode.as_ref().is_some_and(|slc| slc.is_slc[group as usize])
    }

    /// The first slot of a group, and their number.
    #[inline(always)]
    pub fn first_and_units(&self, number: u32, is_slc: bool) -> (u32, u32) {
        match &self.in_slc_mode {
            Some(slc) => (number * slc.units.get(), if is_slc { slc.units.get() } else { self.units() }),
            _ => (number * self.units(), self.units()),
        }
    }

    fn slots(&self, group: GroupId) -> Range<u32> {
        let (first, units) = self.first_and_units(self.number(group), self.is_slc(group));
        first..first + units
    }

    #[inline(always)]
    pub fn number(&self, group: GroupId) -> u32 {
        self.groups[group as usize].number
    }

    /// Whether a slot of the host waits for it.
    #[inline(always)]
    pub fn is_waited_for(&self, group: GroupId) -> bool {
        self.groups[group as usize].waiting > 0
    }

    /// A slot of the host waits for a unit of the group.
    #[inline(always)]
    pub fn wait(&mut self, group: GroupId, slot: u32) {
        let units = self.units() as usize;
        if self.in_memory.is_some() && self.groups[group as usize].waiting == 0 {
            self.note_in_memory(group);
        }
        let waited_for = &mut self.groups[group as usize];
        self.slots[group as usize * units + waited_for.waiting as usize] = slot;
        waited_for.waiting += 1;
        self.units_waiting += 1;
    }

    #[inline(always)]
    pub fn arrive(&mut self, group: GroupId, units: u32) {
        self.groups[group as usize].arrived += units;
    }

    /// How many more units it takes.
    #[inline(always)]
    pub fn room(&self, group: GroupId) -> u32 {
        self.units() - self.groups[group as usize].issued
    }

    /// Counts units taken by the group; a full group takes no more.
    #[inline(always)]
    pub fn issue(&mut self, group: GroupId, count: u32) {
        let units = self.units();
        let issued_to = &mut self.groups[group as usize];
        issued_to.issued += count;
        if issued_to.issued == units {
            self.units_waiting -= u64::from(issued_to.waiting);
            if units > 1 {
                let slot = self.open.iter().position(|&(_, open)| open == group).expect("it was open");
                self.open.swap_remove(slot);
            }
        }
    }

    /// Whether it is full and all units have arrived.
    #[inline(always)]
    pub fn is_complete(&self, group: GroupId) -> bool {
        let Group { issued, arrived, .. } = self.groups[group as usize];
        issued == self.units() && arrived == issued
    }

    /// Records that an erase was decided on that waits for all groups that have begun and are not complete. Returns its
    /// number, and the number of these groups.
    pub fn note_erase(&mut self) -> (u32, u32) {
        self.erases_decided = self.erases_decided.wrapping_add(1);
        let incomplete = (0..self.groups.len() as GroupId).filter(|&group| !self.is_complete(group));
        (self.erases_decided, incomplete.count() as u32)
    }

    /// The number of the last erase decided on before the group was opened.
    #[inline(always)]
    pub fn opened_after(&self, group: GroupId) -> u32 {
        self.opened_after[group as usize]
    }

    /// The host's slots that wait for a group, one a unit.
    #[inline(always)]
    pub fn waiting(&self, group: GroupId) -> &[u32] {
        let first = group as usize * self.units() as usize;
        &self.slots[first..first + self.groups[group as usize].waiting as usize]
    }

    /// Records when a group that is waited for was ready to be programmed.
    #[inline(always)]
    pub fn note_queued(&mut self, group: GroupId, queued: Queued) {
        self.queued[group as usize] = queued;
    }

    #[inline(always)]
    pub fn queued(&self, group: GroupId) -> Queued {
        self.queued[group as usize]
    }

    /// Groups that are waited for, and so are still in the controller's memory. Recorded from the first call on: most
    /// runs without reads never need it.
    #[inline]
    pub fn in_memory(&mut self) -> &mut InMemory {
        if self.in_memory.is_none() {
            self.note_all_in_memory();
        }
        self.in_memory.as_mut().expect("it was made")
    }

    #[cold]
    fn note_all_in_memory(&mut self) {
        let numbering = match &self.in_slc_mode {
            Some(slc) => Numbering { units: slc.units, smaller_per_group: slc.pages_per_program },
            None => Numbering { units: self.units, smaller_per_group: Divisor::new(1) },
        };
        let mut in_memory = InMemory::new(numbering);
        self.groups.iter().for_each(|_| in_memory.grow());
        self.in_memory = Some(in_memory);
        let mut is_spare = vec![false; self.groups.len()];
        self.spare.iter().for_each(|&spare| is_spare[spare as usize] = true);
        for group in 0..self.groups.len() as GroupId {
            if self.is_waited_for(group) && !is_spare[group as usize] {
                self.note_in_memory(group);
            }
        }
    }

    #[cold]
    fn note_in_memory(&mut self, group: GroupId) {
        let is_large = !self.is_slc(group);
        let number = self.number(group);
        self.in_memory().add(group, number, is_large);
    }

    /// The program of a group that is waited for has begun. Returns how many units wait for it.
    pub fn begin(&mut self, group: GroupId) -> u32 {
        if let Some(in_memory) = &mut self.in_memory {
            in_memory.begin(group);
        }
        self.groups[group as usize].waiting
    }

    /// A group that was waited for is in flash.
    #[inline(always)]
    pub fn end(&mut self, group: GroupId) {
        if let Some(in_memory) = &mut self.in_memory {
            in_memory.remove(group);
        }
        self.forget(group);
    }

    /// Frees the index of a group that is no longer needed.
    #[inline(always)]
    pub fn forget(&mut self, group: GroupId) {
        self.spare.push(group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_refused_while_there_are_too_many_groups() {
        let mut groups = Groups { groups_max: 2, ..Groups::new(1) };
        let opened: Vec<_> = (0..3).map(|slot| groups.of_unit(Ppn(slot), slot, Queued::default())).collect();
        assert_eq!(groups.check_count(), Err(ReadOnly::QueuesTooLong { programs_max: 2 }));
        groups.end(opened[1]);
        assert_eq!(groups.check_count(), Ok(()));
    }
}
