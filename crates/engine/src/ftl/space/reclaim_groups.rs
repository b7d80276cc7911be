//! Reclaim groups, as in NVMe's flexible data placement: sets of dies, each with erase units of its own.
//!
//! Erase units belong to the groups in turn. A placement identifier names a handle and a group; what it writes goes to
//! erase units of the group, and garbage collection moves nothing from one group to another. So each group is a drive
//! of its own, with its free erase units, its reserve and its victim; they share addresses, victim policy and
//! counters. One group at a time has its *turn*: `Space::free` and `Gc::under_way` are those of that group.
//!
//! A group has a share of the drive's capacity, the same for all. When it holds that much data, the next erase unit for
//! its identifiers is opened in the group that holds the least, which the specification leaves to the controller. Only
//! the number of these is reported.

use super::FreePool;
use crate::nand::occupancy::{Occupancy, State};
use crate::specification::drive::Handles;
use crate::units::{EraseUnit, StreamId};
use schemars::JsonSchema;
use serde::Serialize;

pub struct ReclaimGroups {
    pub in_turn: u32,
    /// By group: its erase units, in order.
    erase_units: Vec<Vec<EraseUnit>>,
    /// By group, while another has its turn; the place of the group in turn is empty.
    waiting_free: Vec<FreePool>,
    /// By group: erase units that are not retired.
    usable: Vec<u32>,
    /// A group with more data is full. Unwritten slots of open erase units count as data, so that it has its share when
    /// all of them are written.
    full_from_units: u64,
    /// Free erase units beyond the reserve, as `Margins::in_hand_erase_units`.
    pub in_hand_erase_units: u32,
    /// Those without which a group could not collect garbage when it holds its share of the data.
    pub needed_erase_units: u32,
    /// Streams with a lower number belong to the host.
    identifiers: u8,
    counts: Vec<GroupCounts>,
}

/// Counts of a reclaim group since the drive was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GroupCounts {
    /// Erase units of the group that are not retired.
    pub erase_units: u32,
    /// Live units in them at the end.
    pub live_units: u64,
    /// Erase units opened for writes of the host.
    pub opened_for_host: u64,
    /// Those among them that were opened because the group of the placement identifier was full.
    pub opened_for_other_groups: u64,
    /// Erase units opened for data that garbage collection moves.
    pub opened_for_gc: u64,
    /// Erases of erase units.
    pub erased: u64,
}

impl ReclaimGroups {
    /// `share_units` is each group's share of the capacity, in data slots; `in_hand_erase_units` as in `Margins`.
    pub fn new(
        handles: Handles,
        erase_units: u32,
        (share_units, data_units): (u64, u32),
        prefers_least_worn: bool,
        (in_hand_erase_units, needed_erase_units): (u32, u32),
    ) -> Self {
        let groups = u32::from(handles.reclaim_groups);
        let of_group = |group: u32| (group..erase_units).step_by(groups as usize).map(EraseUnit).collect::<Vec<_>>();
        let erase_units: Vec<_> = (0..groups).map(of_group).collect();
        let pool = || FreePool::new(prefers_least_worn, 1, Vec::new());
        let mut waiting_free: Vec<_> = erase_units.iter().map(|_| pool()).collect();
        for (free, erase_units) in waiting_free.iter_mut().zip(&erase_units) {
            erase_units.iter().for_each(|&erase_unit| free.put(erase_unit, 0));
        }
        Self {
            in_turn: 0,
            usable: erase_units.iter().map(|units| units.len() as u32).collect(),
            counts: vec![GroupCounts::default(); erase_units.len()],
            erase_units,
            waiting_free,
            full_from_units: share_units + u64::from(handles.streams_each()) * u64::from(data_units),
            in_hand_erase_units,
            needed_erase_units,
            identifiers: handles.identifiers(),
        }
    }

    /// Begins the turn of the first group, and returns its free erase units.
    pub fn begin(&mut self) -> FreePool {
        std::mem::replace(&mut self.waiting_free[0], FreePool::new(false, 1, Vec::new()))
    }

    pub fn groups(&self) -> u32 {
        self.erase_units.len() as u32
    }

    /// By erase unit: its group.
    pub fn group_of_each(&self, erase_units: u32) -> Vec<u16> {
        (0..erase_units).map(|erase_unit| self.group_of(EraseUnit(erase_unit)) as u16).collect()
    }

    pub fn group_of(&self, erase_unit: EraseUnit) -> u32 {
        erase_unit.0 % self.groups()
    }

    pub fn group_of_stream(&self, stream: StreamId) -> u32 {
        u32::from(stream.0) % self.groups()
    }

    /// The stream of the same handle in the group in turn.
    pub fn in_turn_for(&self, stream: StreamId) -> StreamId {
        StreamId((u32::from(stream.0) - self.group_of_stream(stream) + self.in_turn) as u8)
    }

    /// The erase units of the group in turn, in order.
    pub fn in_group(&self) -> &[EraseUnit] {
        &self.erase_units[self.in_turn as usize]
    }

    /// Passes the turn to another group, and exchanges `free`, the pool of the group in turn.
    pub fn turn_to(&mut self, group: u32, free: &mut FreePool) {
        assert_ne!(group, self.in_turn, "another group");
        std::mem::swap(&mut self.waiting_free[self.in_turn as usize], free);
        std::mem::swap(&mut self.waiting_free[group as usize], free);
        self.in_turn = group;
    }

    /// Free erase units of the groups that do not have their turn.
    pub fn waiting_free(&self) -> u32 {
        self.waiting_free.iter().map(FreePool::len).sum()
    }

    pub fn usable_min(&self) -> u32 {
        self.usable.iter().copied().min().unwrap_or(0)
    }

    pub fn note_retired(&mut self, erase_unit: EraseUnit) {
        let group = self.group_of(erase_unit);
        self.usable[group as usize] -= 1;
    }

    fn live_units(&self, occupancy: &Occupancy, group: usize) -> u64 {
        let is_written = |&&erase_unit: &&EraseUnit| matches!(occupancy.state(erase_unit), State::Open | State::Closed);
        let written = self.erase_units[group].iter().filter(is_written);
        written.map(|&erase_unit| u64::from(occupancy.live_units(erase_unit))).sum()
    }

    /// The group in which the next erase unit for the host's data of a stream is opened: the stream's, unless it is
    /// full, and then the one with the least data.
    pub fn group_for(&self, occupancy: &Occupancy, stream: StreamId) -> u32 {
        let own = self.group_of_stream(stream);
        if self.live_units(occupancy, own as usize) <= self.full_from_units {
            return own;
        }
        (0..self.groups()).min_by_key(|&group| self.live_units(occupancy, group as usize)).unwrap_or(own)
    }

    /// The frontier of a stream opens an erase unit of the group in turn.
    pub fn note_opened(&mut self, frontier: StreamId) {
        let is_of_other_group = self.group_of_stream(frontier) != self.in_turn;
        let counts = &mut self.counts[self.in_turn as usize];
        if frontier.0 < self.identifiers {
            counts.opened_for_host += 1;
            counts.opened_for_other_groups += u64::from(is_of_other_group);
        } else {
            counts.opened_for_gc += 1;
        }
    }

    pub fn note_erased(&mut self, erase_unit: EraseUnit) {
        let group = self.group_of(erase_unit) as usize;
        self.counts[group].erased += 1;
    }

    /// The counts of each group; `unwritten_units` are the unwritten data slots of its open erase units.
    pub fn counts(&self, occupancy: &Occupancy, unwritten_units: &[u64]) -> Vec<GroupCounts> {
        let of_group = |group: usize| GroupCounts {
            erase_units: self.usable[group],
            live_units: self.live_units(occupancy, group) - unwritten_units[group],
            ..self.counts[group]
        };
        (0..self.erase_units.len()).map(of_group).collect()
    }
}
