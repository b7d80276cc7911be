//! Program groups on their way to flash: those that still take units, and those whose program may be under way.

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    group: u32,
    taken: u32,
    /// How many units had been programmed on the whole drive when it took its first.
    since: u64,
}

pub struct Groups {
    units: u32,
    /// One a stream, so few that looking through them is quickest.
    open: Vec<Open>,
    /// Full ones whose program the power may still interrupt: as many as there are dies.
    under_way: VecDeque<u32>,
    under_way_max: usize,
    /// Groups that were programmed before they were full: what is in them is safe, whatever becomes of the rest.
    early: Vec<u32>,
}

impl Groups {
    pub fn new(units: u32, under_way_max: u32) -> Self {
        Self {
            units,
            open: Vec::new(),
            under_way: VecDeque::new(),
            under_way_max: under_way_max as usize,
            early: Vec::new(),
        }
    }

    /// A unit is begun, the drive's `program`-th, that is counted when it is full. Returns whether it opens its group.
    pub fn touch(&mut self, ppn: u32, program: u64) -> bool {
        let open_before = self.open.len();
        self.place_of(ppn, program);
        self.open.len() > open_before
    }

    /// Where the group of a unit stands in `open`; opened if it is not yet.
    fn place_of(&mut self, ppn: u32, program: u64) -> usize {
        let group = ppn / self.units;
        self.open.iter().position(|open| open.group == group).unwrap_or_else(|| {
            self.open.push(Open { group, taken: ppn % self.units, since: program });
            self.open.len() - 1
        })
    }

    /// Counts a unit, the drive's `program`-th. Gives the group when it is full.
    pub fn take(&mut self, ppn: u32, program: u64) -> Option<u32> {
        let group = ppn / self.units;
        let position = self.place_of(ppn, program);
        self.open[position].taken += 1;
        if self.open[position].taken < self.units {
            return None;
        }
        self.open.swap_remove(position);
        if let Some(early) = self.early.iter().position(|&early| early == group) {
            self.early.swap_remove(early);
            return Some(group);
        }
        if self.under_way.len() == self.under_way_max {
            self.under_way.pop_front();
        }
        self.under_way.push_back(group);
        Some(group)
    }

    pub fn open(&self) -> impl Iterator<Item = u32> + '_ {
        self.open.iter().map(|open| open.group)
    }

    pub fn under_way(&self) -> impl Iterator<Item = u32> + '_ {
        self.under_way.iter().copied()
    }

    /// Whether every group that holds one of the drive's first `programs` units is full.
    pub fn are_full_up_to(&self, programs: u64) -> bool {
        self.open.iter().all(|open| open.since > programs)
    }

    pub fn finish_full(&mut self) {
        self.under_way.clear();
    }

    /// Closes all, and gives those that were not full. They take the rest of their units later.
    pub fn finish_early(&mut self) -> Vec<u32> {
        self.under_way.clear();
        let open: Vec<u32> = self.open.drain(..).map(|open| open.group).collect();
        // Those of before, which may have taken nothing since, are safe still.
        self.early.retain(|early| !open.contains(early));
        self.early.extend(&open);
        open
    }

    /// A group goes on, after a loss of power, behind what was programmed of it before it was full.
    pub fn go_on_behind_early(&mut self, group: u32) {
        if !self.early.contains(&group) {
            self.early.push(group);
        }
    }

    /// Forgets all, and gives those that were not full.
    pub fn clear(&mut self) -> Vec<u32> {
        self.under_way.clear();
        self.early.clear();
        self.open.drain(..).map(|open| open.group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_fill_side_by_side_and_only_the_last_few_are_under_way() {
        let mut groups = Groups::new(2, 2);
        assert_eq!(groups.take(0, 1), None);
        assert_eq!(groups.take(8, 2), None);
        assert!(groups.are_full_up_to(0) && !groups.are_full_up_to(1));
        assert_eq!(groups.take(1, 3), Some(0));
        assert!(groups.are_full_up_to(1) && !groups.are_full_up_to(2));
        assert_eq!(groups.take(9, 4), Some(4));
        assert_eq!((groups.take(2, 5), groups.take(3, 6)), (None, Some(1)));
        assert_eq!(groups.under_way().collect::<Vec<_>>(), [4, 1]);
        groups.take(6, 7);
        assert_eq!(groups.finish_early(), [3]);
        groups.take(7, 8);
        assert_eq!(groups.take(0, 9), None);
        assert_eq!(groups.under_way().count(), 0);
    }

    #[test]
    fn a_unit_that_is_begun_holds_its_group_open_and_is_not_counted() {
        let mut groups = Groups::new(2, 2);
        assert!(groups.touch(4, 1) && !groups.touch(4, 2));
        assert!(groups.are_full_up_to(0) && !groups.are_full_up_to(1));
        assert_eq!(groups.take(4, 2), None);
        groups.touch(5, 3);
        assert_eq!(groups.open().collect::<Vec<_>>(), [2]);
        assert_eq!(groups.take(5, 3), Some(2));
        // One that goes on after it was programmed early.
        groups.touch(9, 4);
        assert_eq!(groups.finish_early(), [4]);
        assert!(groups.touch(9, 5));
        assert_eq!((groups.take(9, 6), groups.under_way().count()), (Some(4), 0));
    }

    /// A drive whose SLC cache is folded while its host writes programs early so often that a group lay still meanwhile.
    /// It was taken for one under way when it was full at last, and torn with what had been safe in it.
    #[test]
    fn what_was_programmed_early_twice_over_is_not_under_way_when_it_is_full() {
        let mut groups = Groups::new(2, 2);
        groups.take(0, 1);
        assert_eq!(groups.finish_early(), [0]);
        groups.take(4, 2);
        assert_eq!(groups.finish_early(), [2]);
        assert_eq!((groups.take(1, 3), groups.take(5, 4)), (Some(0), Some(2)));
        assert_eq!(groups.under_way().count(), 0);
        assert!(groups.early.is_empty());
    }

    /// The same happened to one that lay still when the power went, and went on where it stood.
    #[test]
    fn what_goes_on_behind_a_loss_of_power_is_not_under_way_when_it_is_full() {
        let mut groups = Groups::new(2, 2);
        groups.take(0, 1);
        groups.finish_early();
        assert!(groups.clear().is_empty());
        groups.go_on_behind_early(0);
        assert_eq!(groups.take(1, 2), Some(0));
        assert_eq!(groups.under_way().count(), 0);
    }
}
