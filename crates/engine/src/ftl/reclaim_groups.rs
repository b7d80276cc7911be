//! Reclaim groups in the translation layer: whose turn it is. `space/reclaim_groups.rs` says what a group is.
//!
//! The turn passes when the host needs space for a placement identifier, and with a clock at every unit that it writes,
//! since garbage collection is paced by the writes of the group.

use super::Ftl;
use super::layer::Layer;
use super::space::{self, Layout, Margins, ReclaimGroups};
use crate::error::{ReadOnly, SpecificationError};
use crate::policies::wear::WearLeveling;
use crate::specification::drive::{Drive, Handles, check_goes_with_groups, handles_of};
use crate::timing::Clock;
use crate::units::{EraseUnit, StreamId};

/// The groups of a drive; None if all of it is one. Errors name the key.
pub fn of_drive(
    drive: &Drive,
    erase_units: u32,
    user_units: u32,
    layout: &Layout,
    margins: &Margins,
) -> Result<Option<Box<ReclaimGroups>>, SpecificationError> {
    let Some(handles) = handles_of(&drive.ftl.placement).filter(|handles| handles.reclaim_groups > 1) else {
        return Ok(None);
    };
    check_goes_with_groups(drive)?;
    let groups = u32::from(handles.reclaim_groups);
    let share_units = u64::from(user_units.div_ceil(groups));
    let needed = erase_units_needed(handles, share_units, layout, margins);
    let least = erase_units / groups;
    if least < needed {
        let data = u64::from(least.saturating_sub(handles.held_back_erase_units() + margins.reserve_erase_units))
            * u64::from(layout.data_units_per_erase_unit());
        let allowed = format!(
            "at most {} bytes: each of {groups} reclaim groups has {least} erase units, and needs the reserve of {} and \
             {} more besides its share of the data",
            data * u64::from(groups) * u64::from(drive.ftl.mapping_unit_bytes),
            margins.reserve_erase_units,
            handles.held_back_erase_units(),
        );
        return Err(SpecificationError::new("ftl.user_bytes", drive.ftl.user_bytes, allowed));
    }
    let in_hand = space::in_hand(1, u64::from(least - needed));
    let prefers_least_worn = WearLeveling::new(&drive.ftl.wear_leveling)?.prefers_least_worn();
    let sizes = (share_units, layout.data_units_per_erase_unit());
    let groups = ReclaimGroups::new(handles, erase_units, sizes, prefers_least_worn, (in_hand, needed));
    Ok(Some(Box::new(groups)))
}

/// The erase units without which a group could not collect garbage when it holds its share of the data.
fn erase_units_needed(handles: Handles, share_units: u64, layout: &Layout, margins: &Margins) -> u32 {
    let data = space::data_erase_units(share_units, layout) as u32;
    data + margins.reserve_erase_units + handles.held_back_erase_units()
}

impl<L: Layer, C: Clock> Ftl<L, C> {
    fn turn_to_group(&mut self, group: u32) {
        let Some(groups) = &mut self.space.reclaim_groups else { return };
        let before = groups.in_turn;
        if group != before {
            groups.turn_to(group, &mut self.space.free);
            self.gc.pass_turn(before, group);
        }
    }

    /// Passes the turn to the group in which the stream's open erase unit has space, or else to that in which its next one
    /// is opened.
    pub(super) fn turn_to_group_with_room(&mut self, stream: StreamId) {
        if let Some(group) = self.group_of_open(stream) {
            self.turn_to_group(group);
            if self.go_on(stream) {
                return;
            }
        }
        if let Some(groups) = &self.space.reclaim_groups {
            let group = groups.group_for(&self.space.occupancy, stream);
            self.turn_to_group(group);
        }
    }

    fn group_of_open(&self, stream: StreamId) -> Option<u32> {
        let groups = self.space.reclaim_groups.as_ref()?;
        self.space.frontiers[stream.index()].erase_unit.map(|open| groups.group_of(open))
    }

    /// Passes the turn to the group that the host has just written to, and returns the number of free erase units below
    /// which its garbage is collected.
    pub(super) fn turn_to_group_written(&mut self, stream: StreamId) -> u32 {
        if let Some(group) = self.group_of_open(stream) {
            self.turn_to_group(group);
        }
        let in_hand = self.space.reclaim_groups.as_ref().map_or(0, |groups| groups.in_hand_erase_units);
        self.space.margins.reserve_erase_units + in_hand
    }

    /// Opens an erased erase unit of the group in turn. Its data belongs to the same handle there.
    pub(super) fn open_in_group(&mut self, frontier: StreamId, erase_unit: EraseUnit) {
        let groups = self.space.reclaim_groups.as_mut().expect("there are groups");
        let stream = groups.in_turn_for(frontier);
        groups.note_opened(frontier);
        self.open_as(frontier, stream, erase_unit);
    }

    /// Does it in the turn of each group; on a drive without groups, once.
    pub(super) fn in_each_group(&mut self, act: impl Fn(&mut Self) -> Result<(), ReadOnly>) -> Result<(), ReadOnly> {
        let Some(groups) = &self.space.reclaim_groups else { return act(self) };
        let groups = groups.groups();
        for group in 0..groups {
            self.turn_to_group(group);
            act(self)?;
        }
        Ok(())
    }

    /// Whether no group has lost so many erase units that it could not hold its share.
    pub(super) fn has_each_group_enough(&self) -> bool {
        let Some(groups) = &self.space.reclaim_groups else { return true };
        groups.usable_min() >= groups.needed_erase_units
    }
}
