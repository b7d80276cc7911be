//! The twin with reclaim groups: each erase unit belongs to a group, and only those of the group in turn are opened and
//! collected.

use super::every_policy::{IDENTIFIERS, agree, choices};
use super::model::{Slot, State, Twin};
use super::{UNIT, data_units, tiny};
use proptest::prelude::*;
use serde_json::json;
use ssdlab_engine::policies::victim;
use ssdlab_engine::simulation::SimulatedDrive;
use ssdlab_engine::specification::drive::*;

#[derive(Default)]
pub struct TwinGroups {
    turn: usize,
    /// By group: erase units opened for the host, and those that belonged to another group.
    opened_for_host: [u64; 8],
    opened_for_other_groups: [u64; 8],
}

impl Twin {
    fn count(&self) -> usize {
        self.policies.reclaim_groups()
    }

    pub fn is_in_turn(&self, erase_unit: usize) -> bool {
        erase_unit % self.count() == self.groups.turn
    }

    pub fn free_in_turn(&self) -> usize {
        self.free.iter().filter(|&&free| self.is_in_turn(free)).count()
    }

    /// The same handle in the group in turn.
    pub fn stream_in_turn(&self, stream: usize) -> usize {
        if self.count() == 1 { stream } else { stream / self.count() * self.count() + self.groups.turn }
    }

    pub fn note_opened_in_group(&mut self, stream: usize) {
        let is_of_host = stream < usize::from(IDENTIFIERS) * self.count();
        if self.count() > 1 && is_of_host {
            self.groups.opened_for_host[self.groups.turn] += 1;
            self.groups.opened_for_other_groups[self.groups.turn] +=
                u64::from(stream % self.count() != self.groups.turn);
        }
    }

    /// Data of the group, with what its open erase units can still take.
    fn data_in(&self, group: usize) -> usize {
        let of_group = (group..self.state.len()).step_by(self.count());
        let unwritten = |erase_unit: usize| {
            let is_room =
                |&slot: &usize| self.slots[erase_unit][slot] == Slot::Empty && !self.is_parity(erase_unit, slot);
            (0..self.units()).filter(is_room).count()
        };
        let data = |erase_unit: usize| match self.state[erase_unit] {
            State::Free => 0,
            State::Closed => self.live(erase_unit),
            State::Open => self.live(erase_unit) + unwritten(erase_unit),
        };
        of_group.map(data).sum()
    }

    pub fn turn_to_group_for(&mut self, stream: usize) {
        if self.count() == 1 {
            return;
        }
        if let Some(open) = self.open[stream] {
            self.groups.turn = open % self.count();
            if self.slot(stream).is_some() {
                return;
            }
        }
        let own = stream % self.count();
        let share = (self.user_units as usize).div_ceil(self.count());
        let open_each = self.policies.streams() / self.count();
        let is_full = self.data_in(own) > share + open_each * self.data_units();
        let least = (0..self.count()).min_by_key(|&group| self.data_in(group)).unwrap();
        self.groups.turn = if is_full { least } else { own };
    }

    /// Whether the engine counts the same by group.
    pub fn agrees_on_groups(&self, engine: &dyn SimulatedDrive) -> bool {
        let counts = engine.group_counts();
        counts.len() == if self.count() == 1 { 0 } else { self.count() }
            && counts.iter().enumerate().all(|(group, counts)| {
                let of_group = (group..self.state.len()).step_by(self.count());
                let live: usize = of_group.clone().map(|erase_unit| self.live(erase_unit)).sum();
                let erased: u32 = of_group.clone().map(|erase_unit| self.erase_counts[erase_unit]).sum();
                counts.live_units == live as u64
                    && counts.erased == u64::from(erased)
                    && counts.opened_for_host == self.groups.opened_for_host[group]
                    && counts.opened_for_other_groups == self.groups.opened_for_other_groups[group]
                    && counts.erase_units as usize == of_group.count()
            })
    }
}

fn drive_with(victim: PolicyChoice, groups: u32, is_persistent: bool, stripe: u32, reserve: u32, spare: u32) -> Drive {
    let mut drive = tiny("greedy", "single", EraseUnitKind::Superblock, SpareArea::Dynamic, stripe, reserve);
    drive.nand.dies_per_channel = 4;
    drive.nand.blocks_per_plane = 20;
    drive.ftl.victim = victim;
    drive.ftl.placement = serde_json::from_value(json!({
        "name": "host-streams", "identifiers": IDENTIFIERS, "persistently_isolated": is_persistent,
        "reclaim_groups": groups,
    }))
    .unwrap();
    let for_gc = if is_persistent { u32::from(IDENTIFIERS) } else { 1 };
    let held_back = reserve + u32::from(IDENTIFIERS) + 2 * for_gc + 2 + spare;
    let data = data_units(4 / groups as usize * 8, stripe as usize) as u64;
    drive.ftl.user_bytes = u64::from(groups * (20 - held_back)) * data * UNIT;
    drive
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn a_drive_with_reclaim_groups_agrees_after_every_operation(
        seed in any::<u64>(),
        victim in choices(victim::descriptions()),
        is_dynamic in any::<bool>(),
        groups in prop_oneof![Just(2u32), Just(4)],
        is_persistent in any::<bool>(),
        stripe in prop_oneof![Just(0u32), 3u32..8],
        reserve in 1u32..3,
        spare in 0u32..4,
        // One group alone gets more than its share.
        all_to_one in any::<bool>(),
    ) {
        let mut drive = drive_with(victim, groups, is_persistent, stripe, reserve, spare);
        drive.ftl.wear_leveling = PolicyChoice::named(if is_dynamic { "dynamic" } else { "none" });
        let identifiers = u8::try_from(groups).unwrap() * IDENTIFIERS;
        agree(&drive, seed, 2500, |drawn| if all_to_one { drawn % 3 * groups as u8 } else { drawn % identifiers })?;
    }
}

/// A group that gets all of the writes keeps its share, and the rest of them goes to the others.
#[test]
fn what_a_full_group_cannot_hold_goes_to_the_group_with_the_least() {
    let drive = drive_with(PolicyChoice::named("greedy"), 4, false, 0, 1, 0);
    let mut engine = ssdlab_engine::simulation::build(&drive, 1).unwrap();
    let units = drive.ftl.user_bytes / UNIT;
    for round in 0..4 {
        for unit in 0..units {
            let mut write = ssdlab_engine::request::Request::new(
                ssdlab_engine::request::Operation::Write,
                (unit * 7 + round) % units * UNIT,
                UNIT as u32,
            );
            write.content.identifier = 2;
            engine.execute(&[write]).unwrap();
        }
    }
    let counts = engine.group_counts();
    let share = units.div_ceil(4);
    assert!(counts[2].live_units >= share && counts[2].live_units <= share + 6 * 8, "{counts:?}");
    for group in [0, 1, 3] {
        assert_eq!(counts[group].opened_for_host, counts[group].opened_for_other_groups);
        assert!(counts[group].live_units.abs_diff(share) < 6 * 8, "{counts:?}");
    }
    assert_eq!(counts[2].opened_for_other_groups, 0);
}
