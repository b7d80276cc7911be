//! Which program groups hold data of the host that are not yet in flash. The controller has them in its memory until
//! then, so that a read of them takes no flash.
//!
//! Such groups are few, and their numbers follow one another: the lowest bits of a number find its groups.

use super::groups::GroupId;

const NONE: GroupId = GroupId::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    /// By the lowest bits of a number, one of its groups; a power of two of them.
    first: Vec<GroupId>,
    /// By group: its number, and the next one with the same lowest bits.
    groups: Vec<(u32, GroupId)>,
    count: u32,
}

impl InFlight {
    /// There is one more group.
    pub fn grow(&mut self) {
        self.groups.push((0, NONE));
        if self.groups.len() <= self.first.len() {
            return;
        }
        let known: Vec<(GroupId, u32)> = self.all().collect();
        self.first = vec![NONE; self.groups.len().next_power_of_two()];
        self.count = 0;
        known.into_iter().for_each(|(group, number)| self.add(group, number));
    }

    fn all(&self) -> impl Iterator<Item = (GroupId, u32)> {
        self.first.iter().flat_map(|&first| self.behind(first))
    }

    /// A group and those that its lowest bits find after it.
    fn behind(&self, first: GroupId) -> impl Iterator<Item = (GroupId, u32)> {
        let known = |group: GroupId| (group != NONE).then_some(group);
        let next = move |&group: &GroupId| known(self.groups[group as usize].1);
        std::iter::successors(known(first), next).map(|group| (group, self.groups[group as usize].0))
    }

    #[inline(always)]
    fn place(&self, number: u32) -> usize {
        number as usize & (self.first.len() - 1)
    }

    #[cold]
    pub fn add(&mut self, group: GroupId, number: u32) {
        let place = self.place(number);
        self.groups[group as usize] = (number, self.first[place]);
        self.first[place] = group;
        self.count += 1;
    }

    #[cold]
    pub fn remove(&mut self, group: GroupId) {
        let (number, next) = self.groups[group as usize];
        let place = self.place(number);
        self.count -= 1;
        if self.first[place] == group {
            self.first[place] = next;
            return;
        }
        let before = self.behind(self.first[place]).find(|&(before, _)| self.groups[before as usize].1 == group);
        let (before, _) = before.expect("the group was added");
        self.groups[before as usize].1 = next;
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a group of that number was added and not removed.
    pub fn holds(&self, number: u32) -> bool {
        !self.is_empty() && self.behind(self.first[self.place(number)]).any(|(_, other)| other == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list that is searched through.
        #[test]
        fn groups_are_found_by_their_numbers(steps in proptest::collection::vec((0u32..3, 0u32..40), 1..200)) {
            let mut clever = InFlight::default();
            let mut obvious: Vec<Option<u32>> = Vec::new();
            for (kind, number) in steps {
                if kind < 2 {
                    let spare = obvious.iter().position(Option::is_none).unwrap_or(obvious.len());
                    if spare == obvious.len() {
                        clever.grow();
                        obvious.push(None);
                    }
                    clever.add(spare as GroupId, number);
                    obvious[spare] = Some(number);
                } else if let Some(group) = obvious.iter().position(|&other| other.is_some_and(|other| other >= number)) {
                    clever.remove(group as GroupId);
                    obvious[group] = None;
                }
                for number in 0..41 {
                    prop_assert_eq!(clever.holds(number), obvious.contains(&Some(number)));
                }
            }
        }
    }
}
