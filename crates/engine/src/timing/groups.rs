//! Program groups: the units that one multi-plane program takes, the page of every plane of a die.
//!
//! A group takes units until it is full; it can be programmed when all of them have arrived, the host's at once, those
//! that are moved when they have been read.

use crate::ftl::numbers::Ppn;

/// The place of a group in its list; reused when the group is done.
pub type GroupId = u32;

#[derive(Clone, Debug, Default)]
struct Group {
    number: u32,
    issued: u32,
    arrived: u32,
    /// The host's slots that wait for it, one entry a unit.
    slots: Vec<u32>,
}

pub struct Groups {
    units: u32,
    groups: Vec<Group>,
    spare: Vec<GroupId>,
    /// Groups that still take units: one a stream, so few that looking through them is quickest.
    open: Vec<GroupId>,
    units_waiting: u64,
}

impl Groups {
    pub fn new(units: u32) -> Self {
        Self { units, groups: Vec::new(), spare: Vec::new(), open: Vec::new(), units_waiting: 0 }
    }

    /// Units a group.
    pub fn units(&self) -> u32 {
        self.units
    }

    /// Units of the host in groups that are not full.
    pub fn units_waiting(&self) -> u64 {
        self.units_waiting
    }

    /// The first places of those groups.
    pub fn waited_for(&self) -> Vec<Ppn> {
        let open = self.open.iter().filter(|&&group| !self.groups[group as usize].slots.is_empty());
        open.map(|&group| self.first(group)).collect()
    }

    /// The group of a unit that is about to be programmed; opened if it is the group's first.
    pub fn of(&mut self, ppn: Ppn) -> GroupId {
        let number = ppn.0 / self.units;
        if let Some(&open) = self.open.iter().find(|&&group| self.groups[group as usize].number == number) {
            return open;
        }
        let group = self.spare.pop().unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() as GroupId - 1
        });
        let fresh = &mut self.groups[group as usize];
        // Places before the first were programmed before the clock was started.
        let before = ppn.0 % self.units;
        (fresh.number, fresh.issued, fresh.arrived) = (number, before, before);
        self.open.push(group);
        group
    }

    pub fn first(&self, group: GroupId) -> Ppn {
        Ppn(self.groups[group as usize].number * self.units)
    }

    /// A slot of the host waits for a unit of the group.
    pub fn wait(&mut self, group: GroupId, slot: u32) {
        self.groups[group as usize].slots.push(slot);
        self.units_waiting += 1;
    }

    pub fn arrive(&mut self, group: GroupId, units: u32) {
        self.groups[group as usize].arrived += units;
    }

    /// Counts a unit that the group has taken; a full group takes no more.
    pub fn issue(&mut self, group: GroupId) {
        let issued_to = &mut self.groups[group as usize];
        issued_to.issued += 1;
        if issued_to.issued == self.units {
            self.units_waiting -= issued_to.slots.len() as u64;
            self.open.retain(|&open| open != group);
        }
    }

    /// Whether it is full and all has arrived.
    pub fn is_complete(&self, group: GroupId) -> bool {
        let Group { issued, arrived, .. } = self.groups[group as usize];
        issued == self.units && arrived == issued
    }

    /// The slots that waited for a group which is now in flash; the group's place is free for another.
    pub fn finish(&mut self, group: GroupId) -> impl Iterator<Item = u32> + '_ {
        self.spare.push(group);
        self.groups[group as usize].slots.drain(..)
    }
}
