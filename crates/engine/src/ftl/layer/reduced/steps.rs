//! The steps of the translation layer that differ with data self.

use super::contents::StoredAs;
use super::{Kept, Reduced, check};
use crate::error::SpecificationError;
use crate::ftl::accounts::Accounts;
use crate::ftl::found::FoundUnit;
use crate::ftl::gc::Gc;
use crate::ftl::host;
use crate::ftl::layer::{Layer, Stored};
use crate::ftl::map::Map;
use crate::ftl::media::{Destination, Done, Media};
use crate::ftl::space::Space;
use crate::ledger::Cause;
use crate::nand::occupancy::State;
use crate::request::{Operation, Request};
use crate::specification::Drive;
use crate::table::TableBytes;
use crate::timing::Clock;
use crate::timing::decision::Packed;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
use std::ops::RangeInclusive;

impl Stored for Reduced {
    const IS_PACKED: bool = true;

    fn slots_per_unit(drive: &Drive) -> Result<u32, SpecificationError> {
        check(drive)?;
        Ok(drive.ftl.mapping_unit_bytes / drive.data_reduction.packing_bytes)
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

    fn erased(&mut self) {
        self.last_read_to_move = u32::MAX;
    }

    fn read_to_modify<C: Clock>(&self, media: &mut Media<C>, lpn: Lpn, old: Ppn) {
        let slots_per_unit = u64::from(self.slots_per_unit());
        for unit in self.units_of(old, lpn) {
            let takes_flash = media.clock.read(Ppn(unit), Cause::ReadModifyWrite);
            media.accounts.read(Cause::ReadModifyWrite, slots_per_unit * u64::from(takes_flash));
        }
    }

    /// Other addresses with the same data still map to `old`.
    fn release<C: Clock>(&mut self, media: &mut Media<C>, lpn: Lpn, old: Ppn) {
        if let Some(heir) = self.sharing.as_mut().and_then(|sharing| sharing.leave(lpn)) {
            media.map.link(heir, old);
            return;
        }
        let slots = self.stored_slots_of(lpn);
        self.live_slots -= u64::from(slots);
        let erase_unit = media.space.layout.erase_unit_of(old);
        media.map.mark_stale(old);
        media.space.occupancy.lose(erase_unit, slots);
        media.accounts.lost(|| media.space.stream_of(erase_unit), slots);
    }

    fn move_units<C: Clock>(&mut self, media: &mut Media<C>, units: &[(Lpn, Ppn)], destination: Destination) {
        let Destination { stream, born_at, cause } = destination;
        for &(lpn, from) in units {
            self.read_to_move(media, lpn, from, cause);
            let slots = self.stored_slots_of(lpn);
            self.make_room_to_move(media, stream, slots);
            let to = self.take_slots(media, stream, slots, cause, |slot| Packed::Moved { lpn, from, slot, slots });
            media.map.link(lpn, to);
            media.map.mark_live(to);
            self.point_sharers(media, lpn, to);
            media.space.frontier(stream).note_moved(u64::from(slots), born_at);
            media.observe_move(&[(lpn, from)], stream);
            if self.index_is_due(stream) {
                let slots = self.slots_per_unit();
                self.make_room_to_move(media, stream, slots);
                self.take_index_unit(media, stream);
            }
        }
    }

    fn still_at(&self, map: &Map, _lpn: Lpn, from: Ppn) -> Option<(Lpn, u32)> {
        // Another address may share the data and still refer to it.
        map.is_live(from).then(|| {
            let owner = map.logical(from);
            (owner, self.stored_slots_of(owner))
        })
    }

    /// It may be packed less densely than before.
    fn has_room_to_move(&self, space: &Space, stream: StreamId, slots: u64) -> bool {
        let free = u64::from(space.free.len()) * u64::from(space.layout.data_units_per_erase_unit());
        let runs = u64::from(space.layout.runs_per_erase_unit());
        u64::from(space.slots_left(stream)) + free >= slots + self.overhead_slots(slots, runs)
    }

    /// For padding and index.
    fn overhead_to_move(&self, space: &Space, live_slots: u32) -> u64 {
        self.overhead_slots(u64::from(live_slots), u64::from(space.layout.runs_per_erase_unit()))
    }

    fn pad<C: Clock>(&mut self, media: &mut Media<C>, stream: StreamId, slots: u32) {
        self.take_stale_slots(media, stream, slots, Cause::Padding);
        media.accounts.padded(u64::from(slots));
    }

    /// Addresses found in one slot share it.
    fn take_up_units<C: Clock>(&mut self, media: &mut Media<C>, units: &[FoundUnit]) {
        self.link_stored(media, units);
        count_live_slots(media, units);
    }

    fn slots_left_in_begun_units(&self, space: &Space) -> u64 {
        let mask = self.slots_per_unit() - 1;
        let open = space.frontiers.iter().filter(|frontier| frontier.erase_unit.is_some());
        open.map(|frontier| u64::from(frontier.next().0.wrapping_neg() & mask)).sum()
    }

    fn check_map<C: Clock>(&self, media: &Media<C>) -> Result<(), String> {
        self.check_stored(media)
    }
}

impl Layer for Reduced {
    type Kept = Kept;

    fn new(drive: &Drive, user_units: u32, streams: u8, seed: u64) -> Result<Self, SpecificationError> {
        Self::of(drive, user_units, streams, seed)
    }

    fn table_bytes(&self) -> usize {
        self.stored_slots.bytes() + self.sharing.as_ref().map_or(0, super::sharing::Sharing::bytes)
    }

    fn execute_one<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, request: &Request) -> Done {
        match request.operation {
            Operation::Write => self.write(media, gc, request),
            Operation::Read => {
                self.read_stored(media, request);
                Ok(())
            }
            Operation::Trim => host::trim(media, self, request),
            Operation::Flush => Ok(()),
        }
    }

    fn write_as<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, request: &Request, stored: StoredAs) -> Done {
        let lpn = media.map.lpn_of(request.offset_bytes);
        if u64::from(request.length_bytes) < media.map.unit_bytes() {
            host::read_modify(media, self, lpn);
        }
        let identifier = request.content.identifier;
        match stored {
            StoredAs::Places(slots) => self.write_slots(media, gc, lpn, slots, identifier)?,
            StoredAs::SameAs(original) => self.share(media, gc, lpn, original, identifier)?,
        }
        media.accounts.host_wrote(u64::from(request.length_bytes));
        Ok(())
    }

    fn kept(&self, accounts: &Accounts) -> Kept {
        Kept {
            last_new: self.last_new.clone(),
            random: self.random.clone(),
            index_bytes_waiting: self.index_bytes_waiting.clone(),
            host_units: accounts.host_units(),
            live_slots: self.live_slots,
            last_read_to_move: self.last_read_to_move,
        }
    }

    fn take_up(&mut self, kept: Kept, accounts: &mut Accounts) -> bool {
        let known = |lpn: &Lpn| lpn.index() < self.stored_slots.len();
        if kept.index_bytes_waiting.len() != self.index_bytes_waiting.len() || !kept.last_new.iter().all(known) {
            return false;
        }
        self.last_new = kept.last_new;
        self.random = kept.random;
        self.index_bytes_waiting = kept.index_bytes_waiting;
        accounts.take_up_host_units(kept.host_units);
        self.live_slots = kept.live_slots;
        self.last_read_to_move = kept.last_read_to_move;
        true
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
impl Reduced {
    fn write<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, request: &Request) -> Done {
        let unit_bytes = media.map.unit_bytes();
        let end = request.offset_bytes + u64::from(request.length_bytes);
        let repeats = self.draw_repetition(request.content);
        let slots = self.slots_for(request.content);
        let mut at = request.offset_bytes;
        let mut nth = 0;
        while at < end {
            let part_end = end.min((at & !(unit_bytes - 1)) + unit_bytes);
            let lpn = media.map.lpn_of(at);
            let is_whole = part_end - at == unit_bytes;
            if !is_whole {
                host::read_modify(media, self, lpn);
            }
            let original = if repeats && is_whole { self.original(nth) } else { None };
            match original.filter(|&original| media.map.physical(original) != Ppn::UNMAPPED) {
                Some(original) => self.share(media, gc, lpn, original, request.content.identifier)?,
                None => {
                    self.write_slots(media, gc, lpn, slots, request.content.identifier)?;
                    if is_whole && !repeats {
                        self.remember(lpn, request.content);
                    }
                }
            }
            media.accounts.host_wrote(part_end - at);
            at = part_end;
            nth += 1;
        }
        Ok(())
    }

    fn write_slots<C: Clock>(
        &mut self,
        media: &mut Media<C>,
        gc: &mut Gc,
        lpn: Lpn,
        slots: u32,
        identifier: u8,
    ) -> Done {
        let mut stream = media.host_stream(lpn, identifier);
        if !Self::has_room(&media.space, stream, slots) {
            self.make_room_for_slots(media, gc, stream, slots)?;
            // Garbage collection may have moved the old copy, which the policy decides by.
            stream = media.host_stream(lpn, identifier);
            if !Self::has_room(&media.space, stream, slots) {
                self.make_room_for_slots(media, gc, stream, slots)?;
            }
        }
        let ppn = self.take_slots(media, stream, slots, Cause::Host, |slot| Packed::Written { lpn, slot, slots });
        let old = media.map.physical(lpn);
        if old == Ppn::UNMAPPED {
            media.accounts.mapped();
        } else {
            self.release(media, lpn, old);
        }
        media.map.link(lpn, ppn);
        media.map.mark_live(ppn);
        self.store(lpn, slots);
        media.accounts.host(stream, slots);
        self.note_host_unit(media, gc, stream)?;
        if C::PACED { gc.pace_gc(media, self, stream, slots) } else { Ok(()) }
    }

    /// The data is stored already, at `original`: the address is mapped to it. Nothing is compared or read: the
    /// controller is assumed to recognise duplicates by a hash.
    fn share<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, lpn: Lpn, original: Lpn, identifier: u8) -> Done {
        media.still_writable()?;
        let stream = media.host_stream(lpn, identifier);
        let (old, shared) = (media.map.physical(lpn), media.map.physical(original));
        media.accounts.deduplicated();
        if old != shared {
            media.clock.pack(Packed::Shared { lpn, original });
            if old == Ppn::UNMAPPED {
                media.accounts.mapped();
            } else {
                self.release(media, lpn, old);
            }
            self.point_at(media, lpn, original);
        }
        self.note_host_unit(media, gc, stream)
    }

    /// Maps an unmapped address to the stored unit of another.
    fn point_at<C: Clock>(&mut self, media: &mut Media<C>, lpn: Lpn, original: Lpn) {
        media.map.point(lpn, media.map.physical(original));
        let slots = self.stored_slots.get(original.index());
        self.stored_slots.set(lpn.index(), slots);
        self.sharing.as_mut().expect("repetitions are found by deduplication").join(lpn, original);
    }

    /// Counts a unit written by the host, and programs the index when a mapping unit of it is full.
    fn note_host_unit<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, stream: StreamId) -> Done {
        media.accounts.packed();
        if self.index_is_due(stream) {
            let slots = self.slots_per_unit();
            if !Self::has_room(&media.space, stream, slots) {
                self.make_room_for_slots(media, gc, stream, slots)?;
            }
            self.take_index_unit(media, stream);
        }
        Ok(())
    }

    fn has_room(space: &Space, stream: StreamId, slots: u32) -> bool {
        space.frontiers[stream.index()].run_length() >= slots
    }

    fn make_room_for_slots<C: Clock>(
        &mut self,
        media: &mut Media<C>,
        gc: &mut Gc,
        stream: StreamId,
        slots: u32,
    ) -> Done {
        // Garbage collection into the same frontier may leave a run that is too short again, but not this often.
        for _ in 0..=2 * media.space.occupancy.erase_units() {
            self.pad_run(media, stream);
            gc.make_room_for_host(media, self, stream)?;
            if Self::has_room(&media.space, stream, slots) {
                return Ok(());
            }
        }
        Err(media.find_nothing_to_reclaim())
    }

    /// Takes free slots of the frontier. Mapping units of flash that become full are programmed.
    #[inline(always)]
    fn take_slots<C: Clock>(
        &mut self,
        media: &mut Media<C>,
        stream: StreamId,
        slots: u32,
        cause: Cause,
        packed: impl FnOnce(Ppn) -> Packed,
    ) -> Ppn {
        let shift = self.slots_per_unit_shift;
        let ppn = media.space.frontiers[stream.index()].take_many(slots);
        media.clock.pack(packed(ppn));
        for unit in ppn.0 >> shift..(ppn.0 + slots) >> shift {
            media.clock.program(Ppn(unit), cause);
        }
        ppn
    }

    /// Takes a mapping unit for index entries. Garbage collection does not move it: moved data gets new entries.
    fn take_index_unit<C: Clock>(&mut self, media: &mut Media<C>, stream: StreamId) {
        let slots = self.slots_per_unit();
        self.take_stale_slots(media, stream, slots, Cause::Metadata);
        media.accounts.index(slots);
    }

    /// Pads the rest of the run, so that the next unit does not cross its end.
    fn pad_run<C: Clock>(&mut self, media: &mut Media<C>, stream: StreamId) {
        let slots = media.space.frontiers[stream.index()].run_length();
        if slots > 0 {
            self.take_stale_slots(media, stream, slots, Cause::Padding);
            media.accounts.padded(u64::from(slots));
        }
    }

    fn take_stale_slots<C: Clock>(&mut self, media: &mut Media<C>, stream: StreamId, slots: u32, cause: Cause) {
        let erase_unit = media.space.frontiers[stream.index()].erase_unit.expect("there is room in an open erase unit");
        self.take_slots(media, stream, slots, cause, |slot| Packed::Nothing { slot, slots });
        media.space.occupancy.lose(erase_unit, slots);
    }

    fn read_stored<C: Clock>(&mut self, media: &mut Media<C>, request: &Request) {
        media.accounts.host_read(u64::from(request.length_bytes));
        let mut last_unit = u32::MAX;
        let mut read_units = 0;
        for lpn in media.map.touched(request.offset_bytes, request.length_bytes) {
            let ppn = media.map.physical(lpn);
            // Unwritten addresses read as zeroes, without a flash operation.
            if ppn == Ppn::UNMAPPED {
                continue;
            }
            for unit in self.units_of(ppn, lpn) {
                // Small units share a mapping unit of flash, which is read once.
                if std::mem::replace(&mut last_unit, unit) != unit {
                    read_units += u64::from(media.clock.read(Ppn(unit), Cause::Host));
                }
            }
        }
        let slots_per_unit = u64::from(self.slots_per_unit());
        media.accounts.read(Cause::Host, read_units * slots_per_unit);
    }

    /// The mapping units of flash that the unit stored at `ppn` touches.
    fn units_of(&self, ppn: Ppn, lpn: Lpn) -> RangeInclusive<u32> {
        let shift = self.slots_per_unit_shift;
        ppn.0 >> shift..=(ppn.0 + self.stored_slots_of(lpn) - 1) >> shift
    }
}

/// Moving units of variable size.
impl Reduced {
    /// A mapping unit of flash may hold several units, and a unit may span two: consecutive reads of one are counted
    /// once.
    fn read_to_move<C: Clock>(&mut self, media: &mut Media<C>, lpn: Lpn, from: Ppn, cause: Cause) {
        let slots_per_unit = u64::from(self.slots_per_unit());
        for unit in self.units_of(from, lpn) {
            if std::mem::replace(&mut self.last_read_to_move, unit) != unit {
                media.clock.read(Ppn(unit), cause);
                let counted_as = if cause == Cause::WearLeveling { cause } else { Cause::Gc };
                media.accounts.read(counted_as, slots_per_unit);
            }
        }
    }

    fn make_room_to_move<C: Clock>(&mut self, media: &mut Media<C>, stream: StreamId, slots: u32) {
        while !Self::has_room(&media.space, stream, slots) {
            self.pad_run(media, stream);
            if !media.go_on(stream) {
                media.open(stream);
            }
        }
    }

    /// Maps all addresses with the same data to the new slot.
    fn point_sharers<C: Clock>(&mut self, media: &mut Media<C>, lpn: Lpn, to: Ppn) {
        let Some(sharing) = &self.sharing else { return };
        let mut member = sharing.next(lpn);
        while let Some(sharer) = member.filter(|&sharer| sharer != lpn) {
            media.map.point(sharer, to);
            member = sharing.next(sharer);
        }
    }

    /// Checks that every stored unit is live, has an address mapped to it, and overlaps no other.
    fn check_stored<C: Clock>(&self, media: &Media<C>) -> Result<(), String> {
        if self.sharing.as_ref().is_some_and(|sharing| !sharing.is_closed()) {
            return Err("what addresses share does not go round".into());
        }
        let mut stored: Vec<(Ppn, u32)> = Vec::new();
        let mut mapped = 0;
        for lpn in (0..media.map.user_units()).map(Lpn) {
            let ppn = media.map.physical(lpn);
            if ppn == Ppn::UNMAPPED {
                continue;
            }
            mapped += 1;
            let owner = media.map.logical(ppn);
            if media.map.physical(owner) != ppn || self.stored_slots_of(owner) != self.stored_slots_of(lpn) {
                return Err(format!("{lpn:?} is mapped to {ppn:?}, which belongs to {owner:?}"));
            }
            if !media.map.is_live(ppn) {
                return Err(format!("{lpn:?} is mapped to {ppn:?}, which is stale"));
            }
            if owner == lpn {
                stored.push((ppn, self.stored_slots_of(lpn)));
            }
        }
        if mapped != media.accounts.mapped_units() {
            return Err(format!("{mapped} addresses are mapped, but {} were counted", media.accounts.mapped_units()));
        }
        stored.sort_unstable();
        if let Some(pair) = stored.windows(2).find(|pair| pair[0].0.0 + pair[0].1 > pair[1].0.0) {
            return Err(format!("what is stored at {:?} and {:?} overlaps", pair[0].0, pair[1].0));
        }
        let slots: u64 = stored.iter().map(|&(_, slots)| u64::from(slots)).sum();
        if slots != self.live_slots {
            return Err(format!("{slots} slots are live, but {} were counted", self.live_slots));
        }
        Ok(())
    }
}

/// After a loss of power.
impl Reduced {
    /// Restores the result of a scan. Addresses found in one slot share it.
    fn link_stored<C: Clock>(&mut self, media: &mut Media<C>, units: &[FoundUnit]) {
        media.accounts.take_up_mapped(units.len() as u64);
        for unit in units {
            if media.map.is_live(unit.ppn) {
                self.point_at(media, unit.lpn, media.map.logical(unit.ppn));
            } else {
                media.map.link(unit.lpn, unit.ppn);
                media.map.mark_live(unit.ppn);
                self.store(unit.lpn, unit.slots);
            }
        }
    }
}

/// Subtracts what is not live from the written erase units; unwritten slots are not live here.
fn count_live_slots<C: Clock>(media: &mut Media<C>, units: &[FoundUnit]) {
    let mut live_slots = vec![0; media.space.erase_units() as usize];
    for unit in units.iter().filter(|unit| media.map.logical(unit.ppn) == unit.lpn) {
        live_slots[media.space.layout.erase_unit_of(unit.ppn).index()] += unit.slots;
    }
    for (erase_unit, live_slots) in (0..).map(EraseUnit).zip(live_slots) {
        if media.space.occupancy.state(erase_unit) != State::Open {
            continue;
        }
        media.space.occupancy.lose(erase_unit, media.space.layout.data_units_per_erase_unit() - live_slots);
        media.accounts.found(media.space.stream_of(erase_unit), live_slots);
    }
}
