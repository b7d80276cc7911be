//! The simulated flash array with contents: decisions of the translation layer are applied to real data.
//!
//! Data is stored by physical slot and copied when the translation layer moves it, so that only a correct map finds it
//! again. As on a real drive the units of a program group wait in the drive's memory until the group is full, and each
//! has spare bytes with its address; a read from a slot with another address is an error, and the data is not returned.
//!
//! Without power-loss protection an erase waits until everything decided before it is in flash. So an older copy of a
//! unit exists until the newer one is safe, and after a loss of power one of the two remains.

mod contents;
mod faults;
mod frames;
mod groups;
mod journal;
mod medium;
mod packing;
mod payload;
mod recovery;
mod transfer;

pub use faults::{FlashFaults, Injected};
pub use journal::{Journal, Trim};
pub use medium::{EraseUnitRecord, Medium, NO_LPN, PageState, Shape, Spare};
pub use packing::Prepared;
pub use recovery::Recovery;
pub use transfer::Transfer;

use crate::device::DeviceError;
use groups::{Groups, Places};
use packing::Packing;
use serde::Serialize;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::specification::drive::DataReduction;
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::units::Lpn;
use std::collections::VecDeque;
use std::ops::AddAssign;

/// Events of the flash that the ledger of the translation layer does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Events {
    /// Programs that failed.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Reads that error correction could not correct, and those of them that parity corrected.
    pub uncorrectable_reads: u64,
    /// Of these, reads corrected by parity.
    pub reads_rebuilt_from_parity: u64,
    /// Units whose contents are permanently lost.
    pub lost_units: u64,
    /// Groups programmed before they were full, because a waiting erase needed the slot.
    pub early_programs: u64,
}

impl AddAssign for Events {
    fn add_assign(&mut self, other: Self) {
        self.program_failures += other.program_failures;
        self.erase_failures += other.erase_failures;
        self.uncorrectable_reads += other.uncorrectable_reads;
        self.reads_rebuilt_from_parity += other.reads_rebuilt_from_parity;
        self.lost_units += other.lost_units;
        self.early_programs += other.early_programs;
    }
}

/// An erase that waits for programs, and how many had been decided on before it.
struct WaitingErase {
    erase_unit: u32,
    programs_before: u64,
}

/// The flash array of one device, with the drive's memory.
pub struct Nand {
    medium: Medium,
    /// Whether the drive's memory survives a loss of power.
    power_loss_protection: bool,
    groups: Groups,
    waiting_erases: VecDeque<WaitingErase>,
    faults: Injected,
    events: Events,
    journal: Journal,
    units_per_page: u32,
    /// Units programmed so far, and at the last checkpoint.
    programs: u64,
    programs_at_checkpoint: u64,
    /// Slots skipped because of a loss of power, until they are reported.
    padding_units: u64,
    /// Erase units opened since the last call for them.
    opened: Vec<u32>,
    /// Erase units to be programmed in SLC mode, without a program yet.
    opened_in_slc_mode: Vec<u32>,
    /// The number of writes and trims of units so far.
    version: u64,
    /// Old contents of a partly written unit.
    old: Vec<u8>,
    old_is: contents::Old,
    /// Failed erase units, to be retired by the translation layer.
    failed_erase_units: Vec<u32>,
    /// Only for a drive with data reduction.
    packing: Option<Box<Packing>>,
}

impl Nand {
    /// An array over a medium, which may contain data of an earlier process.
    pub fn new(
        medium: Medium,
        journal: Journal,
        units_per_page: u32,
        power_loss_protection: bool,
        faults: FlashFaults,
        seed: u64,
    ) -> Self {
        let shape = *medium.shape();
        Self {
            journal,
            units_per_page,
            programs_at_checkpoint: 0,
            padding_units: 0,
            opened: Vec::new(),
            opened_in_slc_mode: Vec::new(),
            power_loss_protection,
            groups: Groups::new(shape.dies),
            waiting_erases: VecDeque::new(),
            faults: Injected::new(faults, seed),
            events: Events::default(),
            programs: 0,
            version: 0,
            old: vec![0; shape.unit_bytes as usize],
            old_is: contents::Old::Nothing,
            failed_erase_units: Vec::new(),
            packing: None,
            medium,
        }
    }

    /// Adds data reduction.
    pub fn packed(mut self, settings: &DataReduction) -> Self {
        self.packing = settings.is_on().then(|| Box::new(Packing::new(self.medium.shape(), settings)));
        self
    }

    /// The storage of the contents.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// The storage of the contents, to be changed.
    pub fn medium_mut(&mut self) -> &mut Medium {
        &mut self.medium
    }

    /// Events so far.
    pub fn events(&self) -> Events {
        self.events
    }

    /// Whether the drive's memory survives a loss of power.
    pub fn has_power_loss_protection(&self) -> bool {
        self.power_loss_protection
    }

    /// The next number of a write or trim.
    pub fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// Applies the decisions of the translation layer for one request, in order and to the end. `map_pages` are the map
    /// pages that it writes back, in order. The error is the first that the host must be informed of.
    pub fn carry_out(
        &mut self,
        decisions: &[Decision],
        map_pages: &[Lpn],
        transfer: &Transfer<'_>,
    ) -> Result<(), DeviceError> {
        let mut answer = Ok(());
        let mut map_pages = map_pages.iter();
        let mut next_unit = transfer.first_unit(self.medium.shape().unit_bytes);
        self.old_is = contents::Old::Nothing;
        for &decision in decisions {
            let done = match decision {
                Decision::Read(ppn, Cause::ReadModifyWrite) | Decision::ReadFromMemory(ppn, Cause::ReadModifyWrite) => {
                    self.load_old(ppn.0)
                }
                // The host's data is read by slot elsewhere; reads of the drive's own pages transfer nothing.
                Decision::Read(..) | Decision::ReadFromMemory(..) => Ok(()),
                Decision::Program(ppn, Cause::Host) => {
                    self.prepare(ppn.0);
                    let done = self.write_for_host(ppn.0, next_unit, transfer);
                    next_unit += 1;
                    self.programmed(ppn.0);
                    done
                }
                Decision::Copy(from, to, _) => {
                    self.prepare(to.0);
                    self.copy(from.0, to.0);
                    self.programmed(to.0);
                    Ok(())
                }
                Decision::Program(ppn, cause @ (Cause::Parity | Cause::Padding | Cause::Metadata)) => {
                    self.prepare(ppn.0);
                    let done = self.write_own(ppn.0, cause, &mut map_pages);
                    self.programmed(ppn.0);
                    done
                }
                Decision::Program(_, cause) => unreachable!("a unit programmed for {cause:?} is a copy"),
                Decision::Erase(erase_unit) => {
                    self.decide_erase(erase_unit.0);
                    Ok(())
                }
                Decision::Open(erase_unit, is_slc) => {
                    self.opened_in_slc_mode.retain(|&opened| opened != erase_unit.0);
                    self.opened_in_slc_mode.extend(is_slc.then_some(erase_unit.0));
                    Ok(())
                }
            };
            if answer.is_ok() {
                answer = done;
            }
        }
        self.erase_what_waited();
        answer
    }

    /// Called before the first unit of an erase unit is programmed, whose erase may still wait.
    fn prepare(&mut self, ppn: u32) {
        let Shape { units_per_erase_unit, .. } = *self.medium.shape();
        if !ppn.is_multiple_of(units_per_erase_unit) {
            return;
        }
        let erase_unit = ppn / units_per_erase_unit;
        if self.waiting_erases.iter().any(|waiting| waiting.erase_unit == erase_unit) {
            self.events.early_programs += 1;
            self.finish_all_programs();
            self.erase_what_waited();
        }
        // Only now: until its erase is performed it may hold data in the other mode.
        let opened_in_slc_mode = self.opened_in_slc_mode.iter().position(|&opened| opened == erase_unit);
        let is_slc = opened_in_slc_mode.map(|slot| self.opened_in_slc_mode.swap_remove(slot)).is_some();
        let record = self.medium.record(erase_unit);
        self.medium.set_record(erase_unit, EraseUnitRecord { is_slc, ..record });
        self.opened.push(erase_unit);
    }

    fn programmed(&mut self, ppn: u32) {
        self.programs += 1;
        let erase_unit = self.medium.shape().erase_unit_of(ppn);
        self.medium.note_program(erase_unit, self.programs);
        self.take_into_group(ppn);
    }

    /// The unit is complete; it may be the last of its group.
    fn take_into_group(&mut self, ppn: u32) {
        let group = self.group_of(ppn);
        if self.groups.take(ppn, group.clone(), self.programs) {
            self.program_group(group);
        }
    }

    /// The slots that are programmed together with this one.
    fn group_of(&self, ppn: u32) -> Places {
        let shape = self.medium.shape();
        let is_slc = self.medium.record(shape.erase_unit_of(ppn)).is_slc;
        let units = if is_slc { shape.group_units_in_slc_mode } else { shape.group_units };
        let first = ppn / units * units;
        first..first + units
    }

    /// Programs a full group. If that fails, its contents remain in memory until the block is retired.
    fn program_group(&mut self, group: Places) {
        let erase_unit = self.medium.shape().erase_unit_of(group.start);
        if self.faults.program_fails() {
            self.events.program_failures += 1;
            self.failed_erase_units.push(erase_unit);
            return;
        }
        for ppn in group {
            if self.medium.spare(ppn).state == PageState::Buffered {
                self.medium.set_state(ppn, PageState::Programmed);
            }
        }
    }

    /// Everything decided on is in flash: full groups and, unlike on real flash, those that are not.
    fn finish_all_programs(&mut self) {
        for group in self.groups.finish_early() {
            self.program_group(group);
        }
        self.note_what_is_safe();
    }

    fn decide_erase(&mut self, erase_unit: u32) {
        if self.power_loss_protection {
            self.erase(erase_unit);
        } else {
            self.waiting_erases.push_back(WaitingErase { erase_unit, programs_before: self.programs });
        }
    }

    /// Performs the erases whose earlier programs are all in flash. Programs in progress are completed first.
    fn erase_what_waited(&mut self) {
        while let Some(waiting) = self.waiting_erases.front()
            && self.groups.are_full_up_to(waiting.programs_before)
        {
            let erase_unit = waiting.erase_unit;
            self.groups.finish_full();
            self.waiting_erases.pop_front();
            self.erase(erase_unit);
        }
    }

    fn erase(&mut self, erase_unit: u32) {
        self.medium.erase(erase_unit);
        if self.faults.erase_fails() {
            self.events.erase_failures += 1;
            self.failed_erase_units.push(erase_unit);
        }
    }

    /// Whether erase units failed that the translation layer must retire.
    pub fn has_failures(&self) -> bool {
        !self.failed_erase_units.is_empty()
    }

    /// A failed erase unit that the translation layer must retire.
    pub fn take_failed(&mut self) -> Option<u32> {
        self.failed_erase_units.pop()
    }

    /// Whether there is anything for `note_streams`.
    #[inline]
    pub fn has_opened(&self) -> bool {
        !self.opened.is_empty()
    }

    /// Records the streams of the erase units opened since the last call, and the number of units written by the host.
    pub fn note_streams(&mut self, host_units: u64, stream_of: impl Fn(u32) -> u8) {
        for erase_unit in self.opened.drain(..) {
            let record = self.medium.record(erase_unit);
            let stream = u32::from(stream_of(erase_unit));
            self.medium.set_record(erase_unit, EraseUnitRecord { stream, opened_at: host_units, ..record });
        }
    }

    /// Records a trim of whole units; the caller makes checkpoints before.
    pub fn note_trim(&mut self, first: u32, units: u32) {
        let version = self.next_version();
        self.journal.note_trim(&mut self.medium, Trim { first, units, version });
    }

    /// How many duplicates can be recorded before a checkpoint.
    pub fn shares_left(&self) -> usize {
        self.journal.shares_left(&self.medium)
    }

    /// The journal's capacity for duplicates.
    pub fn shares_max(&self) -> usize {
        self.journal.shares_max()
    }

    /// Whether a checkpoint is due: the journal is full, or much has been programmed.
    pub fn wants_checkpoint(&self) -> bool {
        let interval = u64::from(self.medium.shape().physical_units()) / 4;
        self.journal.is_full(&self.medium) || self.programs - self.programs_at_checkpoint > interval
    }

    /// Saves a text in the system blocks; see [`journal::Journal::save`].
    pub fn save(&mut self, text: &[u8]) {
        self.journal.save(&mut self.medium, text);
    }

    /// The text saved last.
    pub fn saved(&self) -> &[u8] {
        self.journal.saved(&self.medium)
    }

    /// The translation layer has retired an erase unit.
    pub fn retire(&mut self, erase_unit: u32) {
        let record = self.medium.record(erase_unit);
        self.medium.set_record(erase_unit, EraseUnitRecord { is_retired: true, ..record });
    }

    /// Erases that the translation layer considers done.
    pub fn waiting_erases(&self) -> u32 {
        self.waiting_erases.len() as u32
    }

    /// Whether an erase unit from this number on waits for its erase.
    pub fn waits_to_erase_from(&self, first: u32) -> bool {
        self.waiting_erases.iter().any(|waiting| waiting.erase_unit >= first)
    }

    /// The groups that are not full, whose contents are therefore not in flash.
    pub fn open_groups(&self) -> Vec<Places> {
        self.groups.open().cloned().collect()
    }

    /// Completes the programs in progress.
    pub fn finish_programs(&mut self) {
        self.groups.finish_full();
        self.erase_what_waited();
    }
}
