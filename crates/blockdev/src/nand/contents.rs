//! Operations on a unit's contents: reading and writing for the host, moving, rebuilding from parity.

use super::medium::{NO_LPN, PageState, Shape, Spare};
use super::{Nand, Transfer};
use crate::device::DeviceError;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::units::Lpn;

/// The old contents of a partly written unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Old {
    Nothing,
    Loaded,
    Unreadable,
}

impl Nand {
    /// Transfers the contents of a slot to the host.
    pub fn read_for_host(&mut self, ppn: u32, transfer: &mut Transfer<'_>) -> Result<(), DeviceError> {
        let unit_bytes = self.medium.shape().unit_bytes;
        let lpn = self.medium.spare(ppn).lpn;
        let part = if lpn == NO_LPN { None } else { transfer.part(u64::from(lpn), unit_bytes) };
        let Some(part) = part else {
            return Err(DeviceError::Misplaced { offset_bytes: transfer.offset_bytes() });
        };
        if !self.make_readable(ppn) {
            return Err(DeviceError::Unreadable { offset_bytes: u64::from(lpn) * u64::from(unit_bytes) });
        }
        if let Transfer::Read { into, .. } = transfer {
            into[part.at..part.at + part.to - part.from].copy_from_slice(&self.medium.data(ppn)[part.from..part.to]);
        }
        Ok(())
    }

    pub(super) fn load_old(&mut self, ppn: u32) -> Result<(), DeviceError> {
        if !self.make_readable(ppn) {
            self.old_is = Old::Unreadable;
            let offset_bytes = u64::from(self.medium.spare(ppn).lpn) * u64::from(self.medium.shape().unit_bytes);
            return Err(DeviceError::Unreadable { offset_bytes });
        }
        self.old.copy_from_slice(self.medium.data(ppn));
        self.old_is = Old::Loaded;
        Ok(())
    }

    pub(super) fn write_for_host(&mut self, ppn: u32, unit: u64, transfer: &Transfer<'_>) -> Result<(), DeviceError> {
        let unit_bytes = self.medium.shape().unit_bytes;
        let part = transfer.part(unit, unit_bytes).expect("the host's programs follow its units");
        let is_whole = part.to - part.from == unit_bytes as usize;
        let mut state = PageState::Buffered;
        let version = self.next_version();
        if is_whole && matches!(transfer, Transfer::Zero { .. }) {
            self.medium.drop_data(ppn);
            self.medium.set_spare(ppn, Spare { lpn: unit as u32, state, version });
            return Ok(());
        }
        let into = match self.medium.replace_data(ppn) {
            Ok(into) => into,
            Err(error) => {
                // A slot left erased would end a scan before all slots after it.
                self.medium.set_spare(ppn, Spare { lpn: unit as u32, state: PageState::Lost, version });
                return Err(DeviceError::Store(error));
            }
        };
        if !is_whole {
            match std::mem::replace(&mut self.old_is, Old::Nothing) {
                Old::Nothing => into.fill(0),
                Old::Loaded => into.copy_from_slice(&self.old),
                Old::Unreadable => state = PageState::Lost,
            }
        }
        let into = &mut into[part.from..part.to];
        match transfer {
            Transfer::Write { data, .. } => into.copy_from_slice(&data[part.at..part.at + into.len()]),
            _ => into.fill(0),
        }
        self.medium.set_spare(ppn, Spare { lpn: unit as u32, state, version });
        Ok(())
    }

    pub(super) fn copy(&mut self, from: u32, to: u32) {
        let spare = self.medium.spare(from);
        let state = if self.make_readable(from) {
            self.medium.copy_data(from, to);
            PageState::Buffered
        } else {
            self.events.lost_units += u64::from(spare.state != PageState::Lost);
            PageState::Lost
        };
        self.medium.set_spare(to, Spare { state, ..spare });
    }

    /// Writes the parity of the earlier slots of its stripe.
    pub(super) fn write_parity(&mut self, ppn: u32) -> Result<(), DeviceError> {
        self.medium.replace_data(ppn).map_err(DeviceError::Store)?.fill(0);
        for other in self.stripe_of(ppn).filter(|&other| other != ppn) {
            self.medium.xor_data(other, ppn);
        }
        Ok(())
    }

    /// Writes what is not host data: parity, a map page, padding.
    pub(super) fn write_own<'a>(
        &mut self,
        ppn: u32,
        cause: Cause,
        map_pages: &mut impl Iterator<Item = &'a Lpn>,
    ) -> Result<(), DeviceError> {
        let mut spare = Spare { lpn: NO_LPN, state: PageState::Buffered, version: 0 };
        let mut done = Ok(());
        match cause {
            Cause::Parity => done = self.write_parity(ppn),
            Cause::Metadata => {
                spare.lpn = map_pages.next().expect("every map page that is written back is named").0;
                spare.version = self.next_version();
            }
            _ => {}
        }
        if done.is_err() {
            spare.state = PageState::Lost;
        }
        self.medium.set_spare(ppn, spare);
        done
    }

    fn stripe_of(&self, ppn: u32) -> std::ops::Range<u32> {
        let Shape { units_per_erase_unit, units_in_slc_mode, units_per_stripe, .. } = *self.medium.shape();
        let erase_unit = ppn / units_per_erase_unit;
        let first = erase_unit * units_per_erase_unit;
        let units = if self.medium.record(erase_unit).is_slc { units_in_slc_mode } else { units_per_erase_unit };
        let start = (ppn - first) / units_per_stripe * units_per_stripe;
        first + start..first + (start + units_per_stripe).min(units)
    }

    /// Whether the contents of a slot can be read, directly or after rebuilding them from parity.
    pub(super) fn make_readable(&mut self, ppn: u32) -> bool {
        match self.medium.spare(ppn).state {
            PageState::Buffered => return true,
            PageState::Erased | PageState::Torn | PageState::Lost => return false,
            PageState::Programmed => {}
        }
        if !self.faults.read_fails() {
            return true;
        }
        self.events.uncorrectable_reads += 1;
        // Unreadable data must only be obtained from parity.
        self.medium.drop_data(ppn);
        if self.rebuild(ppn) {
            self.events.reads_rebuilt_from_parity += 1;
            return true;
        }
        self.events.lost_units += 1;
        self.medium.set_state(ppn, PageState::Lost);
        false
    }

    fn rebuild(&mut self, ppn: u32) -> bool {
        if self.medium.shape().units_per_stripe == 0 {
            return false;
        }
        let stripe = self.stripe_of(ppn);
        let is_whole = stripe
            .clone()
            .all(|other| matches!(self.medium.spare(other).state, PageState::Buffered | PageState::Programmed));
        // The parity of all other slots of the stripe is what it held.
        is_whole && self.write_parity(ppn).is_ok()
    }
}
