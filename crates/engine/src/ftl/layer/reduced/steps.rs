//! The steps of the translation layer that differ with data reduction.

use super::contents::StoredAs;
use super::{Kept, Reduced, check};
use crate::error::{ReadOnly, SpecificationError};
use crate::ftl::Ftl;
use crate::ftl::found::FoundUnit;
use crate::ftl::layer::Layer;
use crate::ledger::{Cause, Ledger};
use crate::nand::occupancy::State;
use crate::request::{Operation, Request};
use crate::specification::Drive;
use crate::table::TableBytes;
use crate::timing::Clock;
use crate::timing::decision::Packed;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
use std::ops::RangeInclusive;

impl Layer for Reduced {
    const IS_PACKED: bool = true;
    type Kept = Kept;

    fn new(drive: &Drive, user_units: u32, streams: u8, seed: u64) -> Result<Self, SpecificationError> {
        Self::of(drive, user_units, streams, seed)
    }

    fn slots_per_unit(drive: &Drive) -> Result<u32, SpecificationError> {
        check(drive)?;
        Ok(drive.ftl.mapping_unit_bytes / drive.data_reduction.packing_bytes)
    }

    fn host_units(&self, _ledger: &Ledger) -> u64 {
        self.host_units
    }

    fn slots_of_all(&self, _units: u32) -> u64 {
        self.slots_of_all_units()
    }

    fn live_slots(&self, _mapped_units: u64) -> u64 {
        self.live_slots
    }

    fn slots_of(&self, lpn: Lpn) -> u32 {
        self.stored_slots_of(lpn)
    }

    fn table_bytes(&self) -> usize {
        self.stored_slots.bytes() + self.sharing.as_ref().map_or(0, super::sharing::Sharing::bytes)
    }

    fn erased(&mut self) {
        self.last_read_to_move = u32::MAX;
    }

    fn execute_one<C: Clock>(ftl: &mut Ftl<Self, C>, request: &Request) -> Result<(), ReadOnly> {
        match request.operation {
            Operation::Write => ftl.write_reduced(request),
            Operation::Read => {
                ftl.read_reduced(request);
                Ok(())
            }
            Operation::Trim => ftl.trim_range(request.offset_bytes, request.length_bytes),
            Operation::Flush => Ok(()),
        }
    }

    fn read_to_modify<C: Clock>(ftl: &mut Ftl<Self, C>, lpn: Lpn, old: Ppn) {
        let slots_per_unit = u64::from(ftl.layer.slots_per_unit());
        for unit in ftl.units_of(old, lpn) {
            let takes_flash = ftl.clock.read(Ppn(unit), Cause::ReadModifyWrite);
            ftl.accounts.read(Cause::ReadModifyWrite, slots_per_unit * u64::from(takes_flash));
        }
    }

    fn release<C: Clock>(ftl: &mut Ftl<Self, C>, lpn: Lpn, old: Ppn) {
        ftl.release(lpn, old);
    }

    fn move_units<C: Clock>(
        ftl: &mut Ftl<Self, C>,
        units: &[(Lpn, Ppn)],
        stream: StreamId,
        born_at: u64,
        cause: Cause,
    ) {
        for &(lpn, from) in units {
            ftl.read_to_move(lpn, from, cause);
            let slots = ftl.layer.stored_slots_of(lpn);
            ftl.make_room_to_move(stream, slots);
            let to = ftl.take_slots(stream, slots, cause, |slot| Packed::Moved { lpn, from, slot, slots });
            ftl.map.link(lpn, to);
            ftl.map.mark_live(to);
            ftl.point_sharers(lpn, to);
            ftl.space.frontier(stream).note_moved(u64::from(slots), born_at);
            ftl.observe_move(&[(lpn, from)], stream);
            if ftl.layer.index_is_due(stream) {
                let slots = ftl.layer.slots_per_unit();
                ftl.make_room_to_move(stream, slots);
                ftl.take_index_unit(stream);
            }
        }
    }

    fn still_at<C: Clock>(ftl: &Ftl<Self, C>, _lpn: Lpn, from: Ppn) -> Option<(Lpn, u32)> {
        // Another address may share the data and still refer to it.
        ftl.map.is_live(from).then(|| {
            let owner = ftl.map.logical(from);
            (owner, ftl.layer.stored_slots_of(owner))
        })
    }

    /// It may be packed less densely than before.
    fn has_room_to_move<C: Clock>(ftl: &Ftl<Self, C>, stream: StreamId, slots: u64) -> bool {
        let space = &ftl.space;
        let free = u64::from(space.free.len()) * u64::from(space.layout.data_units_per_erase_unit());
        let runs = u64::from(space.layout.runs_per_erase_unit());
        u64::from(space.slots_left(stream)) + free >= slots + ftl.layer.overhead_slots(slots, runs)
    }

    /// For padding and index.
    fn overhead_to_move<C: Clock>(ftl: &Ftl<Self, C>, live_slots: u32) -> u64 {
        let runs = u64::from(ftl.space.layout.runs_per_erase_unit());
        ftl.layer.overhead_slots(u64::from(live_slots), runs)
    }

    fn pad<C: Clock>(ftl: &mut Ftl<Self, C>, stream: StreamId, slots: u32) {
        ftl.take_stale_slots(stream, slots, Cause::Padding);
        ftl.accounts.padded(u64::from(slots));
    }

    /// Addresses found in one slot share it.
    fn take_up_units<C: Clock>(ftl: &mut Ftl<Self, C>, units: &[FoundUnit]) {
        ftl.link_stored(units);
        ftl.count_live_slots(units);
    }

    fn take_up_host_units(&mut self, host_units: u64) {
        self.host_units = host_units;
    }

    fn slots_left_in_begun_units<C: Clock>(ftl: &Ftl<Self, C>) -> u64 {
        let mask = ftl.layer.slots_per_unit() - 1;
        let open = ftl.space.frontiers.iter().filter(|frontier| frontier.erase_unit.is_some());
        open.map(|frontier| u64::from(frontier.next().0.wrapping_neg() & mask)).sum()
    }

    fn write_as<C: Clock>(ftl: &mut Ftl<Self, C>, request: &Request, stored: StoredAs) -> Result<(), ReadOnly> {
        let lpn = ftl.lpn_of(request.offset_bytes);
        if u64::from(request.length_bytes) < 1 << ftl.mapping_unit_shift {
            ftl.read_modify(lpn);
        }
        let identifier = request.content.identifier;
        match stored {
            StoredAs::Places(slots) => ftl.write_slots(lpn, slots, identifier)?,
            StoredAs::SameAs(original) => ftl.share(lpn, original, identifier)?,
        }
        ftl.accounts.host_wrote(u64::from(request.length_bytes));
        Ok(())
    }

    fn check_map<C: Clock>(ftl: &Ftl<Self, C>) -> Result<(), String> {
        ftl.check_stored()
    }

    fn kept(&self) -> Kept {
        self.kept()
    }

    fn take_up(&mut self, kept: Kept) -> bool {
        self.take_up(kept)
    }

    fn tables(&mut self, units: u32) -> Vec<(&mut dyn TableBytes, u64)> {
        let slots_max = u64::from(self.slots_per_unit());
        let mut tables: Vec<(&mut dyn TableBytes, u64)> = vec![(&mut self.stored_slots, slots_max)];
        for table in self.sharing.iter_mut().flat_map(super::sharing::Sharing::tables) {
            tables.push((table, u64::from(units)));
        }
        tables
    }
}

/// Requests of the host.
impl<C: Clock> Ftl<Reduced, C> {
    fn write_reduced(&mut self, request: &Request) -> Result<(), ReadOnly> {
        let unit_bytes = 1u64 << self.mapping_unit_shift;
        let end = request.offset_bytes + u64::from(request.length_bytes);
        let repeats = self.layer.draw_repetition(request.content);
        let slots = self.layer.slots_for(request.content);
        let mut at = request.offset_bytes;
        let mut nth = 0;
        while at < end {
            let part_end = end.min((at & !(unit_bytes - 1)) + unit_bytes);
            let lpn = self.lpn_of(at);
            let is_whole = part_end - at == unit_bytes;
            if !is_whole {
                self.read_modify(lpn);
            }
            let original = if repeats && is_whole { self.layer.original(nth) } else { None };
            match original.filter(|&original| self.map.physical(original) != Ppn::UNMAPPED) {
                Some(original) => self.share(lpn, original, request.content.identifier)?,
                None => {
                    self.write_slots(lpn, slots, request.content.identifier)?;
                    if is_whole && !repeats {
                        self.layer.remember(lpn, request.content);
                    }
                }
            }
            self.accounts.host_wrote(part_end - at);
            at = part_end;
            nth += 1;
        }
        Ok(())
    }

    pub(super) fn write_slots(&mut self, lpn: Lpn, slots: u32, identifier: u8) -> Result<(), ReadOnly> {
        let mut stream = self.placement.host_stream(lpn, identifier, || self.overwritten(lpn));
        if !self.has_room(stream, slots) {
            self.make_room_for_slots(stream, slots)?;
            // Garbage collection may have moved the old copy, which the policy decides by.
            stream = self.placement.host_stream(lpn, identifier, || self.overwritten(lpn));
            if !self.has_room(stream, slots) {
                self.make_room_for_slots(stream, slots)?;
            }
        }
        let ppn = self.take_slots(stream, slots, Cause::Host, |slot| Packed::Written { lpn, slot, slots });
        let old = self.map.physical(lpn);
        if old == Ppn::UNMAPPED {
            self.accounts.mapped();
        } else {
            self.release(lpn, old);
        }
        self.map.link(lpn, ppn);
        self.map.mark_live(ppn);
        self.layer.store(lpn, slots);
        self.accounts.host(stream, slots);
        self.note_host_unit(stream)?;
        if C::PACED { self.pace_gc(stream, slots) } else { Ok(()) }
    }

    /// The data is stored already, at `original`: the address is mapped to it. Nothing is compared or read: the
    /// controller is assumed to recognise duplicates by a hash.
    pub(super) fn share(&mut self, lpn: Lpn, original: Lpn, identifier: u8) -> Result<(), ReadOnly> {
        if let Some(reason) = self.read_only {
            return Err(reason);
        }
        let stream = self.placement.host_stream(lpn, identifier, || self.overwritten(lpn));
        let (old, shared) = (self.map.physical(lpn), self.map.physical(original));
        self.accounts.deduplicated();
        if old != shared {
            self.clock.pack(Packed::Shared { lpn, original });
            if old == Ppn::UNMAPPED {
                self.accounts.mapped();
            } else {
                self.release(lpn, old);
            }
            self.point_at(lpn, original);
        }
        self.note_host_unit(stream)
    }

    /// Maps an unmapped address to the stored unit of another.
    fn point_at(&mut self, lpn: Lpn, original: Lpn) {
        self.map.point(lpn, self.map.physical(original));
        let reduction = &mut self.layer;
        let slots = reduction.stored_slots.get(original.index());
        reduction.stored_slots.set(lpn.index(), slots);
        reduction.sharing.as_mut().expect("repetitions are found by deduplication").join(lpn, original);
    }

    /// The address no longer maps to `old`; other addresses with the same data still do.
    fn release(&mut self, lpn: Lpn, old: Ppn) {
        let reduction = &mut self.layer;
        if let Some(heir) = reduction.sharing.as_mut().and_then(|sharing| sharing.leave(lpn)) {
            self.map.link(heir, old);
            return;
        }
        let slots = reduction.stored_slots_of(lpn);
        reduction.live_slots -= u64::from(slots);
        let erase_unit = self.space.layout.erase_unit_of(old);
        self.map.mark_stale(old);
        self.space.occupancy.lose(erase_unit, slots);
        self.accounts.lost(|| self.space.stream_of(erase_unit), slots);
    }

    /// Counts a unit written by the host, and programs the index when a mapping unit of it is full.
    fn note_host_unit(&mut self, stream: StreamId) -> Result<(), ReadOnly> {
        let reduction = &mut self.layer;
        reduction.host_units += 1;
        if reduction.index_is_due(stream) {
            let slots = reduction.slots_per_unit();
            if !self.has_room(stream, slots) {
                self.make_room_for_slots(stream, slots)?;
            }
            self.take_index_unit(stream);
        }
        Ok(())
    }

    fn has_room(&self, stream: StreamId, slots: u32) -> bool {
        self.space.frontiers[stream.index()].run_length() >= slots
    }

    fn make_room_for_slots(&mut self, stream: StreamId, slots: u32) -> Result<(), ReadOnly> {
        // Garbage collection into the same frontier may leave a run that is too short again, but not this often.
        for _ in 0..=2 * self.space.occupancy.erase_units() {
            self.pad_run(stream);
            self.make_room_for_host(stream)?;
            if self.has_room(stream, slots) {
                return Ok(());
            }
        }
        Err(self.find_nothing_to_reclaim())
    }

    /// Takes free slots of the frontier. Mapping units of flash that become full are programmed.
    #[inline(always)]
    fn take_slots(&mut self, stream: StreamId, slots: u32, cause: Cause, packed: impl FnOnce(Ppn) -> Packed) -> Ppn {
        let shift = self.layer.slots_per_unit_shift;
        let ppn = self.space.frontiers[stream.index()].take_many(slots);
        self.clock.pack(packed(ppn));
        for unit in ppn.0 >> shift..(ppn.0 + slots) >> shift {
            self.clock.program(Ppn(unit), cause);
        }
        ppn
    }

    /// Takes a mapping unit for index entries. Garbage collection does not move it: moved data gets new entries.
    fn take_index_unit(&mut self, stream: StreamId) {
        let slots = self.layer.slots_per_unit();
        self.take_stale_slots(stream, slots, Cause::Metadata);
        self.accounts.index(slots);
    }

    /// Pads the rest of the run, so that the next unit does not cross its end.
    fn pad_run(&mut self, stream: StreamId) {
        let slots = self.space.frontiers[stream.index()].run_length();
        if slots > 0 {
            self.take_stale_slots(stream, slots, Cause::Padding);
            self.accounts.padded(u64::from(slots));
        }
    }

    fn take_stale_slots(&mut self, stream: StreamId, slots: u32, cause: Cause) {
        let erase_unit = self.space.frontiers[stream.index()].erase_unit.expect("there is room in an open erase unit");
        self.take_slots(stream, slots, cause, |slot| Packed::Nothing { slot, slots });
        self.space.occupancy.lose(erase_unit, slots);
    }

    fn read_reduced(&mut self, request: &Request) {
        self.count_read(request);
        let (first, last) = (
            self.lpn_of(request.offset_bytes),
            self.lpn_of(request.offset_bytes + u64::from(request.length_bytes) - 1),
        );
        let mut last_unit = u32::MAX;
        let mut read_units = 0;
        for lpn in (first.0..=last.0).map(Lpn) {
            let ppn = self.map.physical(lpn);
            // Unwritten addresses read as zeroes, without a flash operation.
            if ppn == Ppn::UNMAPPED {
                continue;
            }
            for unit in self.units_of(ppn, lpn) {
                // Small units share a mapping unit of flash, which is read once.
                if std::mem::replace(&mut last_unit, unit) != unit {
                    read_units += u64::from(self.clock.read(Ppn(unit), Cause::Host));
                }
            }
        }
        let slots_per_unit = u64::from(self.layer.slots_per_unit());
        self.accounts.read(Cause::Host, read_units * slots_per_unit);
    }

    /// The mapping units of flash that the unit stored at `ppn` touches.
    fn units_of(&self, ppn: Ppn, lpn: Lpn) -> RangeInclusive<u32> {
        let shift = self.layer.slots_per_unit_shift;
        ppn.0 >> shift..=(ppn.0 + self.layer.stored_slots_of(lpn) - 1) >> shift
    }
}

/// Moving units of variable size.
impl<C: Clock> Ftl<Reduced, C> {
    /// A mapping unit of flash may hold several units, and a unit may span two: consecutive reads of one are counted
    /// once.
    fn read_to_move(&mut self, lpn: Lpn, from: Ppn, cause: Cause) {
        let slots_per_unit = u64::from(self.layer.slots_per_unit());
        for unit in self.units_of(from, lpn) {
            if std::mem::replace(&mut self.layer.last_read_to_move, unit) != unit {
                self.clock.read(Ppn(unit), cause);
                let counted_as = if cause == Cause::WearLeveling { cause } else { Cause::Gc };
                self.accounts.read(counted_as, slots_per_unit);
            }
        }
    }

    fn make_room_to_move(&mut self, stream: StreamId, slots: u32) {
        while !self.has_room(stream, slots) {
            self.pad_run(stream);
            if !self.go_on(stream) {
                self.open(stream);
            }
        }
    }

    /// Maps all addresses with the same data to the new slot.
    fn point_sharers(&mut self, lpn: Lpn, to: Ppn) {
        let Some(sharing) = &self.layer.sharing else { return };
        let mut member = sharing.next(lpn);
        while let Some(sharer) = member.filter(|&sharer| sharer != lpn) {
            self.map.point(sharer, to);
            member = sharing.next(sharer);
        }
    }

    /// Checks that every stored unit is live, has an address mapped to it, and overlaps no other.
    fn check_stored(&self) -> Result<(), String> {
        let reduction = &self.layer;
        if reduction.sharing.as_ref().is_some_and(|sharing| !sharing.is_closed()) {
            return Err("what addresses share does not go round".into());
        }
        let mut stored: Vec<(Ppn, u32)> = Vec::new();
        let mut mapped = 0;
        for lpn in (0..self.map.user_units()).map(Lpn) {
            let ppn = self.map.physical(lpn);
            if ppn == Ppn::UNMAPPED {
                continue;
            }
            mapped += 1;
            let owner = self.map.logical(ppn);
            if self.map.physical(owner) != ppn || reduction.stored_slots_of(owner) != reduction.stored_slots_of(lpn) {
                return Err(format!("{lpn:?} is mapped to {ppn:?}, which belongs to {owner:?}"));
            }
            if !self.map.is_live(ppn) {
                return Err(format!("{lpn:?} is mapped to {ppn:?}, which is stale"));
            }
            if owner == lpn {
                stored.push((ppn, reduction.stored_slots_of(lpn)));
            }
        }
        if mapped != self.accounts.mapped_units() {
            return Err(format!("{mapped} addresses are mapped, but {} were counted", self.accounts.mapped_units()));
        }
        stored.sort_unstable();
        if let Some(pair) = stored.windows(2).find(|pair| pair[0].0.0 + pair[0].1 > pair[1].0.0) {
            return Err(format!("what is stored at {:?} and {:?} overlaps", pair[0].0, pair[1].0));
        }
        let slots: u64 = stored.iter().map(|&(_, slots)| u64::from(slots)).sum();
        if slots != reduction.live_slots {
            return Err(format!("{slots} slots are live, but {} were counted", reduction.live_slots));
        }
        Ok(())
    }
}

/// After a loss of power.
impl<C: Clock> Ftl<Reduced, C> {
    /// Restores the result of a scan. Addresses found in one slot share it.
    fn link_stored(&mut self, units: &[FoundUnit]) {
        self.accounts.take_up_mapped(units.len() as u64);
        for unit in units {
            if self.map.is_live(unit.ppn) {
                self.point_at(unit.lpn, self.map.logical(unit.ppn));
            } else {
                self.map.link(unit.lpn, unit.ppn);
                self.map.mark_live(unit.ppn);
                self.layer.store(unit.lpn, unit.slots);
            }
        }
    }

    /// Subtracts what is not live from the written erase units; unwritten slots are not live here.
    fn count_live_slots(&mut self, units: &[FoundUnit]) {
        let mut live_slots = vec![0; self.space.erase_units() as usize];
        for unit in units.iter().filter(|unit| self.map.logical(unit.ppn) == unit.lpn) {
            live_slots[self.space.layout.erase_unit_of(unit.ppn).index()] += unit.slots;
        }
        for (erase_unit, live_slots) in (0..).map(EraseUnit).zip(live_slots) {
            if self.space.occupancy.state(erase_unit) != State::Open {
                continue;
            }
            self.space.occupancy.lose(erase_unit, self.space.layout.data_units_per_erase_unit() - live_slots);
            self.accounts.found(self.space.stream_of(erase_unit), live_slots);
        }
    }
}
