//! Program groups on their way to flash: those that still take units, and those whose program may be in progress.
//!
//! A group is identified by its slots, whose number depends on the mode of its erase unit.

use std::collections::VecDeque;
use std::ops::Range;

/// The slots of a group.
pub type Places = Range<u32>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    group: Places,
    taken: u32,
    /// The drive's count of programmed units when it took its first.
    since: u64,
}

pub struct Groups {
    /// One a stream, so few that a linear search is fastest.
    open: Vec<Open>,
    /// Full groups whose program a loss of power may still interrupt: as many as there are dies.
    under_way: VecDeque<Places>,
    under_way_max: usize,
    /// Groups programmed before they were full: their contents so far are safe.
    early: Vec<Places>,
}

impl Groups {
    pub fn new(under_way_max: u32) -> Self {
        Self { open: Vec::new(), under_way: VecDeque::new(), under_way_max: under_way_max as usize, early: Vec::new() }
    }

    /// A unit of a group is started, the drive's `program`-th; it is counted when it is complete. Returns whether it
    /// opens its group.
    pub fn touch(&mut self, ppn: u32, group: Places, program: u64) -> bool {
        let open_before = self.open.len();
        self.slot_of(ppn, &group, program);
        self.open.len() > open_before
    }

    /// The index of a unit's group in `open`; opened if necessary.
    fn slot_of(&mut self, ppn: u32, group: &Places, program: u64) -> usize {
        self.open.iter().position(|open| open.group == *group).unwrap_or_else(|| {
            self.open.push(Open { group: group.clone(), taken: ppn - group.start, since: program });
            self.open.len() - 1
        })
    }

    /// Counts a unit of a group, the drive's `program`-th. Returns whether the group is full.
    pub fn take(&mut self, ppn: u32, group: Places, program: u64) -> bool {
        let position = self.slot_of(ppn, &group, program);
        self.open[position].taken += 1;
        if self.open[position].taken < group.len() as u32 {
            return false;
        }
        self.open.swap_remove(position);
        if let Some(early) = self.early.iter().position(|early| *early == group) {
            self.early.swap_remove(early);
            return true;
        }
        if self.under_way.len() == self.under_way_max {
            self.under_way.pop_front();
        }
        self.under_way.push_back(group);
        true
    }

    pub fn open(&self) -> impl Iterator<Item = &Places> + '_ {
        self.open.iter().map(|open| &open.group)
    }

    pub fn under_way(&self) -> impl Iterator<Item = &Places> + '_ {
        self.under_way.iter()
    }

    /// Whether every group with one of the drive's first `programs` units is full.
    pub fn are_full_up_to(&self, programs: u64) -> bool {
        self.open.iter().all(|open| open.since > programs)
    }

    pub fn finish_full(&mut self) {
        self.under_way.clear();
    }

    /// Closes all, and returns those that were not full. They take the rest of their units later.
    pub fn finish_early(&mut self) -> Vec<Places> {
        self.under_way.clear();
        let open: Vec<Places> = self.open.drain(..).map(|open| open.group).collect();
        // Earlier ones, which may have taken nothing since, are still safe.
        self.early.retain(|early| !open.contains(early));
        self.early.extend(open.iter().cloned());
        open
    }

    /// A group continues, after a loss of power, after the part that was programmed early.
    pub fn go_on_behind_early(&mut self, group: Places) {
        if !self.early.contains(&group) {
            self.early.push(group);
        }
    }

    /// Removes all, and returns those that were not full.
    pub fn clear(&mut self) -> Vec<Places> {
        self.under_way.clear();
        self.early.clear();
        self.open.drain(..).map(|open| open.group).collect()
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "these are lists of groups, each of which is a range")]
mod tests {
    use super::*;

    /// For groups of two: the group that the unit fills.
    fn take(groups: &mut Groups, ppn: u32, program: u64) -> Option<Places> {
        let group = ppn / 2 * 2..ppn / 2 * 2 + 2;
        groups.take(ppn, group.clone(), program).then_some(group)
    }

    #[test]
    fn groups_fill_side_by_side_and_only_the_last_few_are_under_way() {
        let mut groups = Groups::new(2);
        assert_eq!(take(&mut groups, 0, 1), None);
        assert_eq!(take(&mut groups, 8, 2), None);
        assert!(groups.are_full_up_to(0) && !groups.are_full_up_to(1));
        assert_eq!(take(&mut groups, 1, 3), Some(0..2));
        assert!(groups.are_full_up_to(1) && !groups.are_full_up_to(2));
        assert_eq!(take(&mut groups, 9, 4), Some(8..10));
        assert_eq!((take(&mut groups, 2, 5), take(&mut groups, 3, 6)), (None, Some(2..4)));
        assert_eq!(groups.under_way().cloned().collect::<Vec<_>>(), [8..10, 2..4]);
        take(&mut groups, 6, 7);
        assert_eq!(groups.finish_early(), [6..8]);
        take(&mut groups, 7, 8);
        assert_eq!(take(&mut groups, 0, 9), None);
        assert_eq!(groups.under_way().count(), 0);
    }

    #[test]
    fn a_unit_that_is_begun_holds_its_group_open_and_is_not_counted() {
        let mut groups = Groups::new(2);
        let touch = |groups: &mut Groups, ppn: u32, program| groups.touch(ppn, ppn / 2 * 2..ppn / 2 * 2 + 2, program);
        assert!(touch(&mut groups, 4, 1) && !touch(&mut groups, 4, 2));
        assert!(groups.are_full_up_to(0) && !groups.are_full_up_to(1));
        assert_eq!(take(&mut groups, 4, 2), None);
        touch(&mut groups, 5, 3);
        assert_eq!(groups.open().cloned().collect::<Vec<_>>(), [4..6]);
        assert_eq!(take(&mut groups, 5, 3), Some(4..6));
        // One that continues after it was programmed early.
        touch(&mut groups, 9, 4);
        assert_eq!(groups.finish_early(), [8..10]);
        assert!(touch(&mut groups, 9, 5));
        assert_eq!((take(&mut groups, 9, 6), groups.under_way().count()), (Some(8..10), 0));
    }

    #[test]
    fn groups_may_be_of_several_sizes() {
        let mut groups = Groups::new(2);
        let (large, small) = (0..6, 12..14);
        assert!((0..5).all(|ppn| !groups.take(ppn, large.clone(), u64::from(ppn) + 1)));
        assert!(!groups.take(12, small.clone(), 6) && groups.take(13, small.clone(), 7));
        assert!(groups.take(5, large.clone(), 8));
        assert_eq!(groups.under_way().cloned().collect::<Vec<_>>(), [small, large]);
    }

    /// On a drive whose SLC cache is folded while its host writes, groups are often programmed early, and one received
    /// no unit in between. When it was finally full it counted as in progress, and was torn together with the part that
    /// had been safe.
    #[test]
    fn what_was_programmed_early_twice_over_is_not_under_way_when_it_is_full() {
        let mut groups = Groups::new(2);
        take(&mut groups, 0, 1);
        assert_eq!(groups.finish_early(), [0..2]);
        take(&mut groups, 4, 2);
        assert_eq!(groups.finish_early(), [4..6]);
        assert_eq!((take(&mut groups, 1, 3), take(&mut groups, 5, 4)), (Some(0..2), Some(4..6)));
        assert_eq!(groups.under_way().count(), 0);
        assert!(groups.early.is_empty());
    }

    /// The same happened to one that was continued after a loss of power.
    #[test]
    fn what_goes_on_behind_a_loss_of_power_is_not_under_way_when_it_is_full() {
        let mut groups = Groups::new(2);
        take(&mut groups, 0, 1);
        groups.finish_early();
        assert!(groups.clear().is_empty());
        groups.go_on_behind_early(0..2);
        assert_eq!(take(&mut groups, 1, 2), Some(0..2));
        assert_eq!(groups.under_way().count(), 0);
    }
}
