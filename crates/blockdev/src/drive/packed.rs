//! Requests to a drive with data reduction: the contents of each written unit are examined before the translation layer
//! places it.

use super::stored::Stored;
use crate::device::DeviceError;
use crate::nand::Transfer;
use ssdlab_engine::ftl::contents::StoredAs;
use ssdlab_engine::request::Request;
use ssdlab_engine::timing::decision::Packed;
use ssdlab_engine::units::{Lpn, Ppn};

impl Stored {
    /// The error is the first that the host must be informed of.
    pub(super) fn write_packed(&mut self, request: &Request, transfer: &Transfer<'_>) -> Result<(), DeviceError> {
        self.make_room_for_shares(request)?;
        let mut answer = Ok(());
        for unit in self.units_of(request.offset_bytes, u64::from(request.length_bytes)) {
            let old_slot = self.ftl.slot_of(Lpn(unit)).map(|slot| slot.0);
            let (prepared, completed) = self.nand.prepare_unit(unit, old_slot, transfer);
            // A duplicate that cannot be recorded is stored once more.
            let same_at = prepared.same_at.filter(|_| self.nand.shares_left() > 0);
            let owner = same_at.and_then(|slot| self.ftl.owner_of(Ppn(slot)));
            let stored = owner.map_or(StoredAs::Places(prepared.slots), StoredAs::SameAs);
            let executed = self.ftl.write_as(&self.part_of(request, unit), stored);
            let done = self.carry_out_decisions(&Transfer::Nothing);
            answer = answer.and(completed).and(done);
            if let Err(reason) = executed {
                return Err(self.refuse(reason));
            }
        }
        answer
    }

    /// Duplicates are recorded in the system blocks until the next checkpoint, which cannot be made within a request.
    fn make_room_for_shares(&mut self, request: &Request) -> Result<(), DeviceError> {
        let units = self.units_of(request.offset_bytes, u64::from(request.length_bytes));
        let wanted = units.len().min(self.nand.shares_max());
        if !self.drive.data_reduction.deduplication
            || self.nand.shares_left() >= wanted
            || self.ftl.read_only().is_some()
        {
            return Ok(());
        }
        self.checkpoint()
    }

    /// Applies the last decisions of the translation layer to the data.
    pub(super) fn carry_out_packed(&mut self) -> Result<(), DeviceError> {
        self.ftl.take_packed(&mut self.packed);
        let answer = self.nand.carry_out_packed(&self.decisions, &self.packed);
        self.spoil_packed_map();
        answer
    }

    fn part_of(&self, request: &Request, unit: u32) -> Request {
        let unit_bytes = u64::from(self.capacity.mapping_unit_bytes);
        let first = u64::from(unit) * unit_bytes;
        let from = request.offset_bytes.max(first);
        let to = (request.offset_bytes + u64::from(request.length_bytes)).min(first + unit_bytes);
        Request { offset_bytes: from, length_bytes: (to - from) as u32, ..*request }
    }

    fn spoil_packed_map(&mut self) {
        let Some(mut left) = self.forgets_after.take() else { return };
        for &(_, packed) in &self.packed {
            let Packed::Moved { lpn, from, slot, .. } = packed else { continue };
            left = left.saturating_sub(1);
            if left == 0 && self.ftl.slot_of(lpn) == Some(slot) {
                self.ftl.misplace(lpn, from);
                return;
            }
        }
        self.forgets_after = Some(left.max(1));
    }
}
