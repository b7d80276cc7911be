//! The effects of a loss of power on the flash, and the recovery of the map from a checkpoint and a scan.

use super::groups::Places;
use super::journal::Mark;
use super::medium::{EraseUnitRecord, Medium, NO_LPN, PageState, Shape, Spare};
use super::{Nand, WaitingErase};
use serde::Serialize;
use ssdlab_engine::ftl::recovery::{Found, FoundContents, FoundEraseUnit, FoundUnit};
use ssdlab_engine::random::Random;
use ssdlab_engine::units::{Lpn, Ppn, StreamId};

/// The result of a recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// Units that were being programmed, or still in memory, when power was lost.
    pub torn_units: u64,
    /// Live units in the checkpoint.
    pub checkpoint_units: u64,
    /// Pages whose spare bytes were read.
    pub scanned_pages: u64,
    /// The duration on a real drive, over all its dies and channels; for a stripe that of its slowest device.
    pub duration_ns: u64,
}

impl Recovery {
    /// Combined with another device's, performed at the same time.
    pub fn in_parallel_with(self, other: Self) -> Self {
        Self {
            torn_units: self.torn_units + other.torn_units,
            checkpoint_units: self.checkpoint_units + other.checkpoint_units,
            scanned_pages: self.scanned_pages + other.scanned_pages,
            duration_ns: self.duration_ns.max(other.duration_ns),
        }
    }
}

/// The state of an address during the search.
#[derive(Clone, Copy)]
struct Winner {
    ppn: u32,
    version: u64,
    is_readable: bool,
}

const NOWHERE: Winner = Winner { ppn: u32::MAX, version: 0, is_readable: false };

impl Nand {
    /// A loss of power. With power-loss protection the memory is saved; without, it is lost, and programs in progress
    /// leave torn pages, some of them at random.
    pub fn lose_power(&mut self, random: &mut Random) -> (u64, Vec<u32>) {
        self.opened_in_slc_mode.clear();
        let undone = self.waiting_erases.drain(..).map(|WaitingErase { erase_unit, .. }| erase_unit).collect();
        if self.power_loss_protection {
            self.end_begun_units();
            return (0, undone);
        }
        self.forget_begun_units();
        let mut torn_units = 0;
        // Half of the programs in progress had completed.
        for group in self.groups.under_way().cloned().collect::<Vec<_>>() {
            if random.below(2) == 0 {
                torn_units += self.tear(group, true);
            }
        }
        (torn_units + self.tear_open_groups(), undone)
    }

    /// The memory of a killed process is lost as with a loss of power.
    pub fn tear_what_was_buffered(&mut self) -> u64 {
        let buffered = (0..self.medium.shape().physical_units())
            .filter(|&ppn| self.medium.spare(ppn).state == PageState::Buffered);
        let mut groups: Vec<Places> = buffered.map(|ppn| self.group_of(ppn)).collect();
        groups.dedup();
        groups.into_iter().map(|group| self.tear(group, false)).sum()
    }

    fn tear_open_groups(&mut self) -> u64 {
        self.groups.clear().into_iter().map(|group| self.tear(group, false)).sum()
    }

    /// The group is unusable until it is erased, except for what was in flash before, unless the group's own program
    /// was in progress.
    fn tear(&mut self, group: Places, is_under_way: bool) -> u64 {
        let shape = *self.medium.shape();
        let mut torn_units = 0;
        for ppn in group {
            let spare = self.medium.spare(ppn);
            if !is_under_way && matches!(spare.state, PageState::Programmed | PageState::Lost) {
                continue;
            }
            if !is_under_way && self.keep_what_is_safe(ppn) {
                continue;
            }
            let was_empty = spare.state == PageState::Erased;
            if !was_empty {
                torn_units += u64::from(spare.lpn != NO_LPN) + self.entries_in(ppn);
            }
            match self.medium.replace_data(ppn) {
                Ok(programmed) => programmed[shape.unit_bytes as usize / 2..].fill(0x5a),
                Err(_) => self.medium.drop_data(ppn),
            }
            self.padding_units += u64::from(was_empty);
            self.medium.set_spare(ppn, Spare { state: PageState::Torn, ..spare });
        }
        torn_units
    }

    /// Recovers the data. `undone` are erase units whose erase was decided on and not performed.
    pub fn recover(&mut self, undone: &[u32], torn_units: u64) -> (Found, Recovery) {
        if self.is_packed() {
            return self.recover_packed(undone, torn_units);
        }
        let shape = *self.medium.shape();
        let mut recovery = Recovery { torn_units, ..Recovery::default() };
        let mut winners = vec![NOWHERE; shape.logical_units as usize];
        self.version = self.journal.checkpoint_version(&self.medium);
        for (lpn, ppn) in self.journal.checkpoint_map(&self.medium).enumerate() {
            if ppn < shape.physical_units() {
                recovery.checkpoint_units += 1;
                consider(&mut winners, &self.medium.spare(ppn), ppn, Some(lpn as u32));
            }
        }
        let mut version = self.version;
        let erase_units = self.scan_all(undone, &mut recovery, |_, ppn, spare| {
            version = version.max(spare.version);
            consider(&mut winners, spare, ppn, None);
        });
        self.version = version;
        let trims = self.journal.trims(&self.medium);
        for trim in &trims {
            self.version = self.version.max(trim.version);
            for winner in &mut winners[trim.first as usize..(trim.first + trim.units) as usize] {
                if winner.version < trim.version {
                    *winner = NOWHERE;
                }
            }
        }
        let placed = (0..).map(Lpn).zip(&winners).filter(|(_, winner)| winner.ppn != u32::MAX);
        let found = Found {
            units: placed
                .map(|(lpn, winner)| FoundUnit { lpn, ppn: Ppn(winner.ppn), slots: 1, version: winner.version })
                .collect(),
            erase_units,
            padding_units: std::mem::take(&mut self.padding_units),
        };
        (found, recovery)
    }

    /// Examines all erase units, and considers every unit programmed since the checkpoint.
    pub(super) fn scan_all(
        &mut self,
        undone: &[u32],
        recovery: &mut Recovery,
        mut consider: impl FnMut(&Medium, u32, &Spare),
    ) -> Vec<FoundEraseUnit> {
        let shape = *self.medium.shape();
        let slots_per_unit = shape.slots_per_unit.max(1);
        let mut erase_units = Vec::with_capacity(shape.erase_units as usize);
        for erase_unit in 0..shape.erase_units {
            let record = self.medium.record(erase_unit);
            self.programs = self.programs.max(record.programmed_at);
            let mark = self.journal.checkpoint_mark(&self.medium, erase_unit);
            let known = if mark.epoch == record.epoch { mark.slots } else { 0 };
            let slots = self.scan(erase_unit, known, &mut consider, recovery);
            if slots < shape.units_per_erase_unit {
                let next = erase_unit * shape.units_per_erase_unit + slots;
                let group = self.group_of(next);
                if next > group.start {
                    self.groups.go_on_behind_early(group);
                }
            }
            let contents = match slots {
                _ if record.is_retired => FoundContents::Retired,
                0 => FoundContents::Erased,
                slots => FoundContents::Written {
                    stream: StreamId(record.stream as u8),
                    slots: slots * slots_per_unit,
                    order: record.programmed_at,
                    opened_at: record.opened_at,
                    is_slc: record.is_slc,
                },
            };
            let is_erase_undone = !record.is_retired && undone.contains(&erase_unit);
            erase_units.push(FoundEraseUnit { contents, erase_count: record.epoch, is_erase_undone });
        }
        erase_units
    }

    /// Examines the slots of an erase unit from `known` on, up to the first erased one. Returns their number.
    fn scan(
        &self,
        erase_unit: u32,
        known: u32,
        consider: &mut impl FnMut(&Medium, u32, &Spare),
        recovery: &mut Recovery,
    ) -> u32 {
        let Shape { units_per_erase_unit, .. } = *self.medium.shape();
        // A unit of packed data may have been continued since.
        let known = if self.is_packed() { known.saturating_sub(1) } else { known };
        let first = erase_unit * units_per_erase_unit;
        let mut slot = known;
        while slot < units_per_erase_unit {
            let ppn = first + slot;
            let spare = self.medium.spare(ppn);
            if spare.state == PageState::Erased {
                break;
            }
            consider(&self.medium, ppn, &spare);
            slot += 1;
        }
        let units_per_page = self.units_per_page.max(1);
        // At least one page, to see that nothing was programmed since.
        recovery.scanned_pages += u64::from((slot - known).div_ceil(units_per_page)).max(1);
        slot
    }

    /// The rest of an erase unit counts as padding from now on.
    pub fn fill_up(&mut self, erase_unit: u32) {
        let Shape { units_per_erase_unit, units_in_slc_mode, .. } = *self.medium.shape();
        let is_slc = self.medium.record(erase_unit).is_slc;
        let first = erase_unit * units_per_erase_unit;
        for ppn in first..first + if is_slc { units_in_slc_mode } else { units_per_erase_unit } {
            if self.medium.spare(ppn).state == PageState::Erased {
                self.medium.set_spare(ppn, Spare { state: PageState::Torn, ..Spare::ERASED });
            }
        }
    }

    /// Writes a checkpoint, so that less must be scanned. Unprotected memory must have been flushed.
    pub fn checkpoint(&mut self, map: impl Iterator<Item = u32>) {
        let shape = *self.medium.shape();
        let marks: Vec<Mark> = (0..shape.erase_units)
            .map(|erase_unit| {
                let EraseUnitRecord { epoch, .. } = self.medium.record(erase_unit);
                Mark { epoch, slots: self.slots(erase_unit) }
            })
            .collect();
        let contents = self.packing.as_ref().map_or(&[][..], |packing| packing.contents());
        self.journal.write_checkpoint(&mut self.medium, self.version, map, &marks, contents);
        self.programs_at_checkpoint = self.programs;
    }

    /// The number of written slots of an erase unit: they are filled in order.
    fn slots(&self, erase_unit: u32) -> u32 {
        let units = self.medium.shape().units_per_erase_unit;
        let first = erase_unit * units;
        let (mut low, mut high) = (0, units);
        while low < high {
            let middle = u32::midpoint(low, high);
            if self.medium.spare(first + middle).state == PageState::Erased { high = middle } else { low = middle + 1 }
        }
        low
    }
}

/// Of two copies the one with the higher number wins; of equals, a readable one.
fn consider(winners: &mut [Winner], spare: &Spare, ppn: u32, expected: Option<u32>) {
    if expected.is_some_and(|lpn| lpn != spare.lpn) {
        return;
    }
    let is_readable = match spare.state {
        PageState::Buffered | PageState::Programmed => true,
        PageState::Lost => false,
        PageState::Erased | PageState::Torn => return,
    };
    let Some(winner) = winners.get_mut(spare.lpn as usize) else { return };
    if (spare.version, is_readable) >= (winner.version, winner.is_readable) || winner.ppn == u32::MAX {
        *winner = Winner { ppn, version: spare.version, is_readable };
    }
}
