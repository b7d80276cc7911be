//! Which slots hold host data that is not yet in flash. The controller has it in its memory until then, so that reading
//! it needs no flash operation.
//!
//! Slots are found by their program groups. There are few such groups, with consecutive numbers: the lowest bits of a
//! number index a hash table of groups.

use crate::divisor::Divisor;
use crate::units::Ppn;

/// The index of a program group in the list of them; reused when the group is done.
pub type GroupId = u32;

const NONE: GroupId = GroupId::MAX;

/// The mapping of slots to numbers of groups, where those in SLC mode may be smaller: all are numbered in units of the
/// smaller ones, a larger one by its first.
#[derive(Clone, Debug)]
pub struct Numbering {
    /// Units of the smaller groups.
    pub units: Divisor,
    /// Smaller groups in a larger one.
    pub smaller_per_group: Divisor,
}

impl Default for Numbering {
    fn default() -> Self {
        Self { units: Divisor::new(1), smaller_per_group: Divisor::new(1) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Known {
    number: u32,
    is_large: bool,
    /// Whether it is being programmed, as far as that is known.
    is_begun: bool,
    /// Those before and behind it with the same lowest bits: a queue that is deep enough for the drive to be written
    /// many times has many groups of one number.
    before: GroupId,
    next: GroupId,
}

const UNKNOWN: Known = Known { number: 0, is_large: true, is_begun: false, before: NONE, next: NONE };

/// See the file's description.
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    numbering: Numbering,
    /// By the lowest bits of a number: the first of its groups; a power of two of entries.
    first: Vec<GroupId>,
    groups: Vec<Known>,
    count: u32,
}

impl InMemory {
    pub(super) fn new(numbering: Numbering) -> Self {
        Self { numbering, ..Self::default() }
    }

    /// Makes room for one more group.
    pub(super) fn grow(&mut self) {
        self.groups.push(UNKNOWN);
        if self.groups.len() <= self.first.len() {
            return;
        }
        let known: Vec<(GroupId, Known)> = self.all().collect();
        self.first = vec![NONE; self.groups.len().next_power_of_two()];
        self.count = 0;
        // The first of a chain again becomes the first.
        for (group, Known { number, is_large, is_begun, .. }) in known.into_iter().rev() {
            self.add(group, number, is_large);
            self.groups[group as usize].is_begun = is_begun;
        }
    }

    fn all(&self) -> impl Iterator<Item = (GroupId, Known)> {
        self.first.iter().flat_map(|&first| self.behind(first))
    }

    /// A group and those after it in its chain.
    fn behind(&self, first: GroupId) -> impl Iterator<Item = (GroupId, Known)> {
        let known = |group: GroupId| (group != NONE).then_some(group);
        let next = move |&group: &GroupId| known(self.groups[group as usize].next);
        std::iter::successors(known(first), next).map(|group| (group, self.groups[group as usize]))
    }

    #[inline(always)]
    fn slot(&self, number: u32) -> usize {
        number as usize & (self.first.len() - 1)
    }

    #[cold]
    pub(super) fn add(&mut self, group: GroupId, number: u32, is_large: bool) {
        let slot = self.slot(number);
        let next = std::mem::replace(&mut self.first[slot], group);
        self.groups[group as usize] = Known { number, is_large, is_begun: false, before: NONE, next };
        if next != NONE {
            self.groups[next as usize].before = group;
        }
        self.count += 1;
    }

    #[cold]
    pub(super) fn remove(&mut self, group: GroupId) {
        let Known { number, before, next, .. } = self.groups[group as usize];
        let slot = self.slot(number);
        self.count -= 1;
        if next != NONE {
            self.groups[next as usize].before = before;
        }
        match before {
            NONE => self.first[slot] = next,
            before => self.groups[before as usize].next = next,
        }
    }

    /// The program of a group has begun.
    #[cold]
    pub(super) fn begin(&mut self, group: GroupId) {
        self.groups[group as usize].is_begun = true;
    }

    /// Whether no group is in memory.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a slot is in a group that was added and not removed.
    pub fn holds(&self, ppn: Ppn) -> bool {
        self.group_of(ppn).is_some()
    }

    /// Whether it is, and that group is not yet being programmed.
    pub fn can_replace(&self, ppn: Ppn) -> bool {
        self.group_of(ppn).is_some_and(|group| !group.is_begun)
    }

    fn group_of(&self, ppn: Ppn) -> Option<Known> {
        if self.is_empty() {
            return None;
        }
        let number = self.numbering.units.quotient(ppn.0);
        let of_large = number - self.numbering.smaller_per_group.remainder(number);
        let small = || if self.numbering.smaller_per_group.get() > 1 { self.known(number, false) } else { None };
        self.known(of_large, true).or_else(small)
    }

    fn known(&self, number: u32, is_large: bool) -> Option<Known> {
        let mut known = self.behind(self.first[self.slot(number)]).map(|(_, known)| known);
        known.find(|other| other.number == number && other.is_large == is_large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_being_programmed_is_there_and_cannot_be_replaced() {
        let numbering = Numbering { units: Divisor::new(2), ..Numbering::default() };
        let mut memory = InMemory::new(numbering);
        (0..2).for_each(|_| memory.grow());
        memory.add(0, 5, true);
        memory.add(1, 6, true);
        memory.begin(0);
        let found = |memory: &InMemory, ppn| (memory.holds(Ppn(ppn)), memory.can_replace(Ppn(ppn)));
        for _ in 0..20 {
            let slots = [9, 10, 11, 12, 13, 14].map(|ppn| found(&memory, ppn));
            let [nothing, programming, waiting] = [(false, false), (true, false), (true, true)];
            assert_eq!(slots, [nothing, programming, programming, waiting, waiting, nothing]);
            // After the table has grown, too.
            memory.grow();
        }
        memory.remove(0);
        memory.add(0, 5, true);
        assert_eq!(found(&memory, 10), (true, true), "the next group of that name waits again");
    }

    /// The newest group of a number is found, also after the table has grown.
    #[test]
    fn of_groups_of_one_number_the_newest_is_found() {
        let mut memory = InMemory::new(Numbering::default());
        (0..3).for_each(|_| memory.grow());
        memory.add(0, 5, true);
        memory.begin(0);
        memory.add(1, 5, true);
        for _ in 0..20 {
            assert!(memory.can_replace(Ppn(5)));
            memory.grow();
        }
        memory.remove(1);
        assert!(memory.holds(Ppn(5)) && !memory.can_replace(Ppn(5)));
    }

    /// A regression: removing the oldest of many groups of one number walked past all others, for hours on a small
    /// drive below a deep queue.
    #[test]
    fn many_groups_of_one_number_are_removed_without_a_search() {
        const GROUPS: GroupId = 200_000;
        let mut memory = InMemory::new(Numbering::default());
        (0..GROUPS).for_each(|_| memory.grow());
        (0..GROUPS).for_each(|group| memory.add(group, 5, true));
        let began = std::time::Instant::now();
        (0..GROUPS).for_each(|group| memory.remove(group));
        assert!(memory.is_empty());
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }

    proptest! {
        /// Compared with a list that is searched. Groups of two units, or of six.
        #[test]
        fn groups_are_found_by_their_slots(
            steps in proptest::collection::vec((0u32..3, 0u32..40, any::<bool>()), 1..200),
        ) {
            let numbering = Numbering { units: Divisor::new(2), smaller_per_group: Divisor::new(3) };
            let mut clever = InMemory::new(numbering);
            let mut obvious: Vec<Option<std::ops::Range<u32>>> = Vec::new();
            for (kind, number, is_large) in steps {
                if kind < 2 {
                    let spare = obvious.iter().position(Option::is_none).unwrap_or(obvious.len());
                    if spare == obvious.len() {
                        clever.grow();
                        obvious.push(None);
                    }
                    let (first, count) = if is_large { (number / 3 * 3, 3) } else { (number, 1) };
                    clever.add(spare as GroupId, first, is_large);
                    obvious[spare] = Some(2 * first..2 * (first + count));
                } else if let Some(group) = obvious.iter().position(|other| other.as_ref().is_some_and(|other| other.end >= number)) {
                    clever.remove(group as GroupId);
                    obvious[group] = None;
                }
                for ppn in 0..84 {
                    let holds = obvious.iter().flatten().any(|slots| slots.contains(&ppn));
                    prop_assert_eq!(clever.holds(Ppn(ppn)), holds);
                }
            }
        }
    }
}
