//! The contents of a drive with data reduction. Written data is compressed, and packed back to back into mapping units
//! of flash; duplicates only refer to stored data.
//!
//! The translation layer numbers slots, several to a mapping unit, and assigns them to stored units; flash is
//! programmed, torn, lost and rebuilt from parity by whole mapping units as on other drives. A stored unit is within
//! one of them or spans two, and is readable while both are. The directory of a mapping unit (`directory`) says what
//! begins in it. A mapping unit that is not full yet is in the drive's memory; if it must be programmed early because a
//! waiting erase needs the slot, its contents up to there are safe.

mod codec;
pub(super) mod directory;
mod known;
mod recovery;

use super::medium::{NO_LPN, PageState, Shape, Spare};
use super::{Nand, Transfer};
use crate::device::DeviceError;
use codec::Codec;
use directory::Entry;
use known::Known;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::specification::drive::DataReduction;
use ssdlab_engine::timing::decision::{Decision, Packed};
use std::ops::Range;

pub(super) struct Packing {
    shift: u32,
    codec: Codec,
    /// By address, the number of the write whose data it has. A read that finds another number is an error.
    contents: Vec<u64>,
    /// Only for a drive with deduplication.
    known: Option<Known>,
    /// Mapping units that are partly filled, each with the number of filled slots: one a stream.
    begun: Vec<(u32, u32)>,
    /// A unit of the host, and the stored bytes of what is read or moved.
    unit: Vec<u8>,
    stored: Vec<u8>,
    /// The stored form of the prepared unit.
    prepared: Vec<u8>,
    is_prepared_lost: bool,
}

/// How a unit of the host will be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Slots that the unit will occupy.
    pub slots: u32,
    /// Where the same bytes are stored, if they still are.
    pub same_at: Option<u32>,
}

impl Packing {
    pub fn new(shape: &Shape, settings: &DataReduction) -> Self {
        Self {
            shift: shape.slots_per_unit.trailing_zeros(),
            codec: Codec::new(shape.unit_bytes, shape.slots_per_unit, settings.compression),
            contents: vec![0; shape.logical_units as usize],
            known: settings.deduplication.then(|| Known::new(shape.logical_units)),
            begun: Vec::new(),
            unit: vec![0; shape.unit_bytes as usize],
            stored: Vec::new(),
            prepared: Vec::new(),
            is_prepared_lost: false,
        }
    }

    pub fn contents(&self) -> &[u64] {
        &self.contents
    }

    /// The mapping units that contain the slots.
    fn units(&self, slots: &Range<u32>) -> Range<u32> {
        slots.start >> self.shift..((slots.end - 1) >> self.shift) + 1
    }

    fn slots_of_unit(&self, unit: u32) -> Range<u32> {
        unit << self.shift..(unit + 1) << self.shift
    }
}

impl Nand {
    /// Whether the drive reduces data.
    pub fn is_packed(&self) -> bool {
        self.packing.is_some()
    }

    fn packing(&mut self) -> &mut Packing {
        self.packing.as_mut().expect("only a drive that reduces data comes here")
    }

    /// Prepares a unit of the host for storing: for a partial write completes it with the old contents at `old_slot`,
    /// compresses it, and looks for a duplicate. What cannot be completed is stored as lost.
    pub fn prepare_unit(
        &mut self,
        lpn: u32,
        old_slot: Option<u32>,
        transfer: &Transfer<'_>,
    ) -> (Prepared, Result<(), DeviceError>) {
        let unit_bytes = self.medium.shape().unit_bytes;
        let part = transfer.part(u64::from(lpn), unit_bytes).expect("the host writes to its units");
        let is_whole = part.to - part.from == unit_bytes as usize;
        let mut answer = Ok(());
        match old_slot.filter(|_| !is_whole) {
            Some(slot) => answer = self.load_unit(lpn, slot),
            None => self.packing().unit.fill(0),
        }
        let packing = self.packing.as_mut().expect("it was there");
        packing.is_prepared_lost = answer.is_err();
        if packing.is_prepared_lost {
            packing.prepared.clear();
            packing.prepared.push(0);
            return (Prepared { slots: 1, same_at: None }, answer);
        }
        let into = &mut packing.unit[part.from..part.to];
        match transfer {
            Transfer::Write { data, .. } => into.copy_from_slice(&data[part.at..part.at + into.len()]),
            _ => into.fill(0),
        }
        packing.prepared.clear();
        packing.prepared.extend_from_slice(packing.codec.encode(&packing.unit));
        let slots = packing.codec.slots(packing.prepared.len());
        let same_at = packing.known.as_ref().and_then(|known| known.find(&packing.prepared));
        (Prepared { slots, same_at: same_at.filter(|&slot| self.holds_prepared(slot)) }, answer)
    }

    /// Whether the bytes at a slot equal the prepared unit.
    fn holds_prepared(&self, slot: u32) -> bool {
        let packing = self.packing.as_ref().expect("only a drive that reduces data comes here");
        let Some(entry) = self.medium.entry(slot).filter(|entry| !entry.is_lost) else { return false };
        if entry.length_bytes as usize != packing.prepared.len() || !self.is_there(slot, &entry) {
            return false;
        }
        let mut rest = &packing.prepared[..];
        self.pieces(slot, entry.length_bytes).all(|(unit, bytes)| {
            let (piece, later) = rest.split_at(bytes.len());
            rest = later;
            let state = self.medium.spare(unit).state;
            matches!(state, PageState::Buffered | PageState::Programmed) && self.medium.data(unit)[bytes] == *piece
        })
    }

    /// Transfers the contents of an address, stored at a slot, to the host.
    pub fn read_packed(&mut self, lpn: u32, slot: u32, transfer: &mut Transfer<'_>) -> Result<(), DeviceError> {
        let unit_bytes = self.medium.shape().unit_bytes;
        let part = transfer.part(u64::from(lpn), unit_bytes).expect("the host reads its units");
        self.load_unit(lpn, slot)?;
        if let Transfer::Read { into, .. } = transfer {
            let unit = &self.packing().unit[part.from..part.to];
            into[part.at..part.at + unit.len()].copy_from_slice(unit);
        }
        Ok(())
    }

    /// Loads the contents of an address, stored at a slot, into `unit`.
    fn load_unit(&mut self, lpn: u32, slot: u32) -> Result<(), DeviceError> {
        let offset_bytes = u64::from(lpn) * u64::from(self.medium.shape().unit_bytes);
        let contents = self.packing().contents[lpn as usize];
        let entry = self.medium.entry(slot).filter(|entry| entry.version == contents);
        let Some(entry) = entry.filter(|entry| self.is_there(slot, entry)) else {
            return Err(DeviceError::Misplaced { offset_bytes });
        };
        if !self.load_stored(slot, &entry) {
            return Err(DeviceError::Unreadable { offset_bytes });
        }
        let packing = self.packing.as_mut().expect("it was there");
        let is_unit = packing.codec.decode(&packing.stored, &mut packing.unit);
        if is_unit { Ok(()) } else { Err(DeviceError::Misplaced { offset_bytes }) }
    }

    /// Loads the stored bytes of an entry into `stored`. False if they cannot be read.
    fn load_stored(&mut self, slot: u32, entry: &Entry) -> bool {
        self.packing().stored.clear();
        let pieces: Vec<_> = self.pieces(slot, entry.length_bytes).collect();
        // Of two mapping units both are read, and rebuilt if necessary.
        let is_readable = pieces.iter().fold(!entry.is_lost, |before, &(unit, _)| self.make_readable(unit) && before);
        if is_readable {
            let packing = self.packing.as_mut().expect("it was there");
            for (unit, bytes) in pieces {
                packing.stored.extend_from_slice(&self.medium.data(unit)[bytes]);
            }
        }
        is_readable
    }

    /// The mapping units that contain this many bytes from a slot on, and the position in each.
    fn pieces(&self, slot: u32, length_bytes: u32) -> impl Iterator<Item = (u32, Range<usize>)> + use<> {
        let Shape { unit_bytes, slots_per_unit, .. } = *self.medium.shape();
        let packing_bytes = u64::from(unit_bytes / slots_per_unit);
        let unit_bytes = u64::from(unit_bytes);
        let start = u64::from(slot) * packing_bytes;
        let end = start + u64::from(length_bytes);
        (start / unit_bytes..end.div_ceil(unit_bytes)).map(move |unit| {
            let first = unit * unit_bytes;
            let (from, to) = (start.max(first) - first, end.min(first + unit_bytes) - first);
            (unit as u32, from as usize..to as usize)
        })
    }

    /// Whether all of an entry was programmed, or is pending; it may have been lost since.
    fn is_there(&self, slot: u32, entry: &Entry) -> bool {
        let state = |unit| self.medium.spare(unit).state;
        self.pieces(slot, entry.length_bytes)
            .all(|(unit, _)| !matches!(state(unit), PageState::Erased | PageState::Torn))
    }

    /// Like `carry_out`, with what is packed where, each after a number of decisions.
    pub fn carry_out_packed(&mut self, decisions: &[Decision], packed: &[(u32, Packed)]) -> Result<(), DeviceError> {
        let mut answer = Ok(());
        let mut packed = packed.iter().peekable();
        for at in 0..=decisions.len() {
            while let Some(&(_, what)) = packed.next_if(|(before, _)| *before as usize <= at) {
                let done = self.pack(what);
                answer = answer.and(done);
            }
            let done = match decisions.get(at) {
                Some(&Decision::Program(unit, cause)) => self.program_packed(unit.0, cause),
                Some(&Decision::Erase(erase_unit)) => {
                    self.decide_erase(erase_unit.0);
                    Ok(())
                }
                // Reads were performed when they were requested or moved.
                _ => Ok(()),
            };
            answer = answer.and(done);
        }
        self.erase_what_waited();
        answer
    }

    fn pack(&mut self, packed: Packed) -> Result<(), DeviceError> {
        match packed {
            Packed::Written { lpn, slot, slots } => self.store_prepared(lpn.0, slot.0..slot.0 + slots),
            Packed::Moved { from, slot, slots, .. } => self.move_stored(from.0, slot.0..slot.0 + slots),
            Packed::Nothing { slot, slots } => self.begin(slot.0..slot.0 + slots),
            Packed::Shared { lpn, original } => {
                let contents = self.packing().contents[original.0 as usize];
                self.packing().contents[lpn.0 as usize] = contents;
                let version = self.next_version();
                self.journal.note_share(&mut self.medium, super::journal::Share { lpn: lpn.0, version, contents });
                Ok(())
            }
        }
    }

    fn store_prepared(&mut self, lpn: u32, slots: Range<u32>) -> Result<(), DeviceError> {
        let begun = self.begin(slots.clone());
        let prepared = std::mem::take(&mut self.packing().prepared);
        let version = self.next_version();
        let packing = self.packing();
        packing.contents[lpn as usize] = version;
        let entry = Entry { lpn, length_bytes: prepared.len() as u32, is_lost: packing.is_prepared_lost, version };
        let put = begun.and_then(|()| self.put(slots.start, entry, &prepared));
        if put.is_err() {
            self.medium.set_entry(slots.start, Entry { is_lost: true, ..entry });
        }
        let packing = self.packing.as_mut().expect("it was there");
        if let (Some(known), false) = (&mut packing.known, entry.is_lost || put.is_err()) {
            let (medium, contents) = (&self.medium, &packing.contents);
            known.note(&prepared, slots.start, |slot| {
                medium.entry(slot).is_some_and(|entry| contents[entry.lpn as usize] == entry.version)
            });
        }
        packing.prepared = prepared;
        put
    }

    fn move_stored(&mut self, from: u32, slots: Range<u32>) -> Result<(), DeviceError> {
        let entry = self.medium.entry(from).expect("what is moved was stored");
        let was_lost = entry.is_lost;
        let is_readable = self.load_stored(from, &entry);
        let begun = self.begin(slots.clone());
        let stored = std::mem::take(&mut self.packing().stored);
        let put = begun.and_then(|()| self.put(slots.start, Entry { is_lost: !is_readable, ..entry }, &stored));
        if put.is_err() {
            self.medium.set_entry(slots.start, Entry { is_lost: true, ..entry });
        }
        let is_lost = !is_readable || put.is_err();
        self.events.lost_units += u64::from(is_lost && !was_lost);
        let packing = self.packing.as_mut().expect("it was there");
        if let (Some(known), false) = (&mut packing.known, is_lost) {
            known.moved(&stored, from, slots.start);
        }
        packing.stored = stored;
        put
    }

    /// Stores bytes, and then their entry.
    fn put(&mut self, slot: u32, entry: Entry, mut rest: &[u8]) -> Result<(), DeviceError> {
        if !entry.is_lost {
            for (unit, bytes) in self.pieces(slot, entry.length_bytes) {
                let (piece, later) = rest.split_at(bytes.len());
                let into = self.medium.replace_data(unit).map_err(DeviceError::Store)?;
                into[bytes].copy_from_slice(piece);
                rest = later;
            }
        }
        self.medium.set_entry(slot, entry);
        Ok(())
    }

    /// The slots are about to be filled.
    fn begin(&mut self, slots: Range<u32>) -> Result<(), DeviceError> {
        let mut answer = Ok(());
        let packing = self.packing();
        let (shift, units) = (packing.shift, packing.units(&slots));
        for unit in units {
            if unit << shift >= slots.start {
                let done = self.begin_unit(unit);
                answer = answer.and(done);
            } else if self.groups.touch(unit, self.group_of(unit), self.programs + 1) {
                self.programs += 1;
            }
        }
        let packing = self.packing();
        let (last, filled) = (slots.end >> shift, slots.end & ((1 << shift) - 1));
        packing.begun.retain(|&(unit, _)| unit != last);
        if filled > 0 {
            packing.begun.push((last, filled));
        }
        answer
    }

    fn begin_unit(&mut self, unit: u32) -> Result<(), DeviceError> {
        self.prepare(unit);
        let answer = self.medium.replace_data(unit).map(|data| data.fill(0)).map_err(DeviceError::Store);
        let slots = self.packing().slots_of_unit(unit);
        self.medium.clear_entries(slots);
        self.medium.set_spare(unit, Spare { lpn: NO_LPN, state: PageState::Buffered, version: 0 });
        self.programs += 1;
        self.medium.note_program(self.medium.shape().erase_unit_of(unit), self.programs);
        self.groups.touch(unit, self.group_of(unit), self.programs);
        answer
    }

    /// A mapping unit is full.
    fn program_packed(&mut self, unit: u32, cause: Cause) -> Result<(), DeviceError> {
        let mut answer = Ok(());
        if cause == Cause::Parity {
            answer = self.begin_unit(unit).and_then(|()| self.write_parity(unit));
            if answer.is_err() {
                self.medium.set_state(unit, PageState::Lost);
            }
        }
        self.fill(unit);
        answer
    }

    fn fill(&mut self, unit: u32) {
        self.packing().begun.retain(|&(begun, _)| begun != unit);
        self.take_into_group(unit);
    }

    /// A loss of power after which the drive's memory was saved: partly filled mapping units are not continued.
    pub(super) fn end_begun_units(&mut self) {
        let Some(packing) = &mut self.packing else { return };
        for (unit, _) in std::mem::take(&mut packing.begun) {
            self.fill(unit);
        }
    }

    /// The same, and nothing was saved.
    pub(super) fn forget_begun_units(&mut self) {
        if let Some(packing) = &mut self.packing {
            packing.begun.clear();
        }
    }

    /// Groups were programmed before they were full: the contents of a continued mapping unit are safe up to here.
    pub(super) fn note_what_is_safe(&mut self) {
        let Some(packing) = &self.packing else { return };
        for &(unit, filled) in &packing.begun {
            let spare = self.medium.spare(unit);
            if spare.state == PageState::Programmed {
                let version = u64::from(filled);
                self.medium.set_spare(unit, Spare { state: PageState::Buffered, version, ..spare });
            }
        }
    }

    /// Of a mapping unit that was programmed early only what was added later is lost. False for others.
    pub(super) fn keep_what_is_safe(&mut self, unit: u32) -> bool {
        let spare = self.medium.spare(unit);
        let Some(packing) = &self.packing else { return false };
        if spare.state != PageState::Buffered || spare.version == 0 {
            return false;
        }
        let slots = packing.slots_of_unit(unit);
        self.medium.clear_entries(slots.start + spare.version as u32..slots.end);
        self.medium.set_spare(unit, Spare { state: PageState::Programmed, version: 0, ..spare });
        true
    }

    /// Units of the host that begin in a mapping unit.
    pub(super) fn entries_in(&self, unit: u32) -> u64 {
        let Some(packing) = &self.packing else { return 0 };
        packing.slots_of_unit(unit).filter(|&slot| self.medium.entry(slot).is_some()).count() as u64
    }
}
