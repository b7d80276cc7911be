//! A zoned drive: each zone is written to erase units of its own, in the order of its addresses, and a reset erases
//! them. So no live unit is ever moved.
//!
//! Where a zone becomes full inside an erase unit, because its capacity is no multiple of erase units or because it is
//! finished, the rest of that erase unit is padded. A command that the table refuses changes nothing.

mod area;
mod table;

use super::Layer;
use crate::error::{ReadOnly, SpecificationError, ZoneStatus};
use crate::ftl::Ftl;
use crate::ledger::Cause;
use crate::nand::Geometry;
use crate::request::{Operation, Request};
use crate::specification::drive::{Drive, zones_of};
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
pub use area::AreaCounts;
pub use table::{Granted, KeptZones, Zone, ZoneChange, ZoneCounts, ZoneState, ZoneTable};

/// The layer of zoned drives.
pub struct Zoned {
    table: ZoneTable,
    /// Whether active zones have random write areas.
    has_areas: bool,
    /// By zone, in the order in which they were filled.
    erase_units: Vec<Vec<EraseUnit>>,
    /// The slots of all zones when each is full.
    places: u64,
    /// Slots of a program group, which a die programs at once.
    group_units: u32,
    /// Slots of erase units that were erased before they were programmed.
    unprogrammed: u64,
}

impl Layer for Zoned {
    const IS_ZONED: bool = true;
    type Kept = ();

    fn new(drive: &Drive, _user_units: u32, streams: u8, _seed: u64) -> Result<Self, SpecificationError> {
        let zones = zones_of(drive)?.expect("the drive has zones");
        let unit = u64::from(drive.ftl.mapping_unit_bytes);
        let geometry = Geometry::of(drive)?;
        let data_units = super::super::layout_of::<Self>(drive, &geometry)?.data_units_per_erase_unit();
        let capacity_units = (zones.capacity_bytes / unit) as u32;
        let erase_units_per_zone = capacity_units.div_ceil(data_units);
        Ok(Self {
            table: ZoneTable::new(
                zones.count,
                (zones.zone_bytes / unit) as u32,
                capacity_units,
                zones.open_max,
                streams,
            )
            .with_random_write_areas(
                (zones.random_write_area_bytes / unit) as u32,
                (zones.flush_granularity_bytes / unit) as u32,
            ),
            has_areas: zones.random_write_area_bytes > 0,
            erase_units: vec![Vec::new(); zones.count as usize],
            places: u64::from(zones.count) * u64::from(erase_units_per_zone) * u64::from(data_units),
            group_units: geometry.units_per_page * geometry.planes_per_die * drive.nand.pages_per_program,
            unprogrammed: 0,
        })
    }

    fn slots_of_all(&self, _units: u32) -> u64 {
        self.places
    }

    fn usable_units(&self, _user_units: u32) -> u32 {
        self.table.zones() * self.table.capacity_units()
    }

    fn zones(&self) -> Option<&ZoneTable> {
        Some(&self.table)
    }

    fn unprogrammed_slots(&self) -> u64 {
        self.unprogrammed
    }

    fn execute_one<C: Clock>(ftl: &mut Ftl<Self, C>, request: &Request) -> Result<(), ReadOnly> {
        match request.operation {
            Operation::Write => ftl.write_to_zone(request.offset_bytes, request.length_bytes),
            Operation::Trim => ftl.reset_zones(request.offset_bytes, request.length_bytes),
            Operation::Read | Operation::Flush => ftl.execute_parts(request),
        }
    }

    fn kept_zones(&self) -> KeptZones {
        KeptZones { unprogrammed: self.unprogrammed, ..self.table.kept() }
    }

    fn change_zone<C: Clock>(ftl: &mut Ftl<Self, C>, zone: u32, change: ZoneChange) -> Result<(), ReadOnly> {
        let offset_bytes = u64::from(zone * ftl.layer.table.zone_units()) << ftl.mapping_unit_shift;
        let refuse = |status| ReadOnly::ZoneCommandRefused { status, offset_bytes };
        match change {
            ZoneChange::Open => ftl.open_zone(zone).map_err(refuse),
            ZoneChange::Close => ftl.close_zone(zone).map_err(refuse),
            ZoneChange::Finish => ftl.finish_zone(zone),
        }
    }

    fn take_up_zones<C: Clock>(ftl: &mut Ftl<Self, C>, kept: &KeptZones) {
        ftl.layer.unprogrammed = kept.unprogrammed;
        ftl.find_zones(kept);
        ftl.erase_what_no_zone_has();
    }

    fn kept(&self) {}

    fn take_up(&mut self, (): ()) -> bool {
        false
    }
}

/// Commands of a zoned drive. Zones count from 0.
impl<C: Clock> Ftl<Zoned, C> {
    /// Writes units at the zone's write pointer, and returns their address in bytes.
    pub fn append_to_zone(&mut self, zone: u32, units: u32) -> Result<u64, ReadOnly> {
        let offset_bytes = u64::from(zone * self.layer.table.zone_units()) << self.mapping_unit_shift;
        self.still_writable()?;
        let appended = self.layer.table.append(zone, units);
        let (granted, first) = appended.map_err(|status| ReadOnly::ZoneCommandRefused { status, offset_bytes })?;
        self.fill_zone(granted, Lpn(first), units)?;
        Ok(u64::from(first) << self.mapping_unit_shift)
    }

    /// Opens a zone explicitly.
    pub fn open_zone(&mut self, zone: u32) -> Result<(), ZoneStatus> {
        self.layer.table.open(zone)
    }

    /// Closes an open zone.
    pub fn close_zone(&mut self, zone: u32) -> Result<(), ZoneStatus> {
        self.layer.table.close(zone)
    }

    /// Makes a zone full; the rest of its open erase unit is padded.
    pub fn finish_zone(&mut self, zone: u32) -> Result<(), ReadOnly> {
        self.still_writable()?;
        let (pointer, pending) = (self.layer.table.zone(zone).written, self.layer.table.pending_units(zone));
        if let Some(slot) = self.layer.table.finish(zone) {
            let first = Lpn(zone * self.layer.table.zone_units() + pointer);
            self.program_committed(zone, slot, first, pending)?;
            self.pad_rest(StreamId(slot));
        }
        Ok(())
    }

    /// Moves the write pointer to unit `end` of the zone, inside its random write area.
    pub fn commit_zone(&mut self, zone: u32, end: u32) -> Result<(), ReadOnly> {
        let offset_bytes = u64::from(zone * self.layer.table.zone_units()) << self.mapping_unit_shift;
        self.still_writable()?;
        let committed = self.layer.table.commit(zone, end);
        let (granted, pointer) = committed.map_err(|status| ReadOnly::ZoneCommandRefused { status, offset_bytes })?;
        self.fill_from_area(granted, pointer)
    }

    /// Makes a zone empty: its data is lost, and its erase units are erased.
    pub fn reset_zone(&mut self, zone: u32) -> Result<(), ReadOnly> {
        self.still_writable()?;
        let first = zone * self.layer.table.zone_units();
        let (written, slot) = self.layer.table.reset(zone);
        for lpn in (first..first + written).map(Lpn) {
            let old = self.map.physical(lpn);
            // A gap that a random write area left.
            if old == Ppn::UNMAPPED {
                continue;
            }
            self.lose(old);
            self.map.unmap(lpn);
            self.accounts.trimmed();
        }
        if let Some(slot) = slot {
            self.abandon(StreamId(slot));
        }
        for erase_unit in std::mem::take(&mut self.layer.erase_units[zone as usize]) {
            if self.space.is_closed(erase_unit) {
                self.gc.victim.taken(erase_unit, self.space.stream_of(erase_unit));
            }
            self.erase(erase_unit)?;
        }
        Ok(())
    }

    /// The states of the zones.
    pub fn zone_table(&self) -> &ZoneTable {
        &self.layer.table
    }

    /// Restores the zones from the map. What a zone holds is contiguous: it is written in order, and a drive with zones
    /// that stores data keeps its memory through a loss of power.
    fn find_zones(&mut self, kept: &KeptZones) {
        let (zone_units, capacity_units) = (self.layer.table.zone_units(), self.layer.table.capacity_units());
        let mut found = Vec::with_capacity(self.layer.erase_units.len());
        for zone in 0..self.layer.table.zones() {
            let first = zone * zone_units;
            let places = (first..first + capacity_units).map(|lpn| self.map.physical(Lpn(lpn)));
            let mut written = 0;
            let mut erase_units: Vec<EraseUnit> = Vec::new();
            for place in places.take_while(|&place| place != Ppn::UNMAPPED) {
                let erase_unit = self.space.layout.erase_unit_of(place);
                written += 1;
                if erase_units.last() != Some(&erase_unit) {
                    erase_units.push(erase_unit);
                }
            }
            let open = erase_units.last().filter(|&&last| self.space.frontier_at(last).is_some());
            found.push((written, open.map(|&open| self.space.stream_of(open).0)));
            self.layer.erase_units[zone as usize] = erase_units;
        }
        self.layer.table.take_up(kept, found.into_iter());
    }

    /// Erases what a reset had begun to erase when the process was killed.
    fn erase_what_no_zone_has(&mut self) {
        let mut is_kept = vec![false; self.space.erase_units() as usize];
        self.layer.erase_units.iter().flatten().for_each(|erase_unit| is_kept[erase_unit.index()] = true);
        for erase_unit in self.space.each_erase_unit().filter(|erase_unit| !is_kept[erase_unit.index()]) {
            if self.space.frontier_at(erase_unit).is_some() {
                self.abandon(self.space.stream_of(erase_unit));
            } else if self.space.is_closed(erase_unit) {
                self.gc.victim.taken(erase_unit, self.space.stream_of(erase_unit));
            } else {
                continue;
            }
            // Without spare blocks the drive is read-only, which its next write reports.
            let _ = self.erase(erase_unit);
        }
    }

    fn still_writable(&self) -> Result<(), ReadOnly> {
        self.read_only.map_or(Ok(()), Err)
    }

    fn write_to_zone(&mut self, offset_bytes: u64, length_bytes: u32) -> Result<(), ReadOnly> {
        self.still_writable()?;
        let refuse = |status| ReadOnly::ZoneCommandRefused { status, offset_bytes };
        let unit_bytes = 1u64 << self.mapping_unit_shift;
        if (offset_bytes | u64::from(length_bytes)) & (unit_bytes - 1) != 0 || length_bytes == 0 {
            return Err(refuse(ZoneStatus::InvalidFieldInCommand));
        }
        let (first, units) = (self.lpn_of(offset_bytes), length_bytes >> self.mapping_unit_shift);
        if self.layer.has_areas {
            return self.write_to_area(offset_bytes, first, units);
        }
        let granted = self.layer.table.write(first.0, units).map_err(refuse)?;
        self.fill_zone(granted, first, units)
    }

    fn write_to_area(&mut self, offset_bytes: u64, first: Lpn, units: u32) -> Result<(), ReadOnly> {
        let zone = first.0 / self.layer.table.zone_units();
        let pointer = self.layer.table.zone(zone).written;
        let refuse = |status| ReadOnly::ZoneCommandRefused { status, offset_bytes };
        let granted = self.layer.table.write(first.0, units).map_err(refuse)?;
        self.accounts.host_wrote(u64::from(units) << self.mapping_unit_shift);
        self.fill_from_area(granted, pointer)
    }

    /// Programs what the write pointer of a zone has passed, from `pointer` on.
    fn fill_from_area(&mut self, granted: Granted, pointer: u32) -> Result<(), ReadOnly> {
        let first = Lpn(granted.zone * self.layer.table.zone_units() + pointer);
        self.program_committed(granted.zone, granted.slot, first, granted.committed)?;
        if granted.is_full {
            self.pad_rest(StreamId(granted.slot));
        }
        Ok(())
    }

    /// Programs the first units of a slot's random write area.
    fn program_committed(&mut self, zone: u32, slot: u8, first: Lpn, units: u32) -> Result<(), ReadOnly> {
        let stream = StreamId(slot);
        for lpn in (first.0..first.0 + units).map(Lpn) {
            while self.space.is_stopped(stream) && !self.go_on(stream) {
                self.open_for_zone(zone, stream)?;
            }
            if self.layer.table.take_committed(slot) {
                let place = self.space.frontier(stream).take();
                self.program_unit(lpn, place, stream);
            } else {
                Zoned::pad(self, stream, 1);
            }
        }
        Ok(())
    }

    fn program_unit(&mut self, lpn: Lpn, place: Ppn, stream: StreamId) {
        let old = self.map.relink(lpn, place);
        debug_assert_eq!(old, Ppn::UNMAPPED, "a zone is written once");
        self.accounts.host(stream, 1);
        self.accounts.mapped();
        self.clock.program(place, Cause::Host);
    }

    /// Programs units at the frontier of the zone's slot.
    fn fill_zone(&mut self, granted: Granted, first: Lpn, units: u32) -> Result<(), ReadOnly> {
        let stream = StreamId(granted.slot);
        let mut lpn = first.0;
        let end = first.0 + units;
        while lpn < end {
            if self.space.is_stopped(stream) && !self.go_on(stream) {
                self.open_for_zone(granted.zone, stream)?;
                continue;
            }
            let now = (end - lpn).min(self.space.frontier(stream).run_length());
            let place = self.space.frontier(stream).take_many(now);
            for step in 0..now {
                self.program_unit(Lpn(lpn + step), Ppn(place.0 + step), stream);
            }
            lpn += now;
        }
        self.accounts.host_wrote(u64::from(units) << self.mapping_unit_shift);
        if granted.is_full {
            self.pad_rest(stream);
        }
        Ok(())
    }

    fn open_for_zone(&mut self, zone: u32, stream: StreamId) -> Result<(), ReadOnly> {
        if self.space.free.len() == 0 {
            return Err(self.turn_read_only());
        }
        self.open(stream);
        let opened = self.space.frontier(stream).erase_unit.expect("an erase unit was opened");
        self.layer.erase_units[zone as usize].push(opened);
        Ok(())
    }

    /// Pads a slot's open erase unit, and closes it.
    fn pad_rest(&mut self, stream: StreamId) {
        while self.space.frontier(stream).erase_unit.is_some() {
            if self.space.is_stopped(stream) && !self.go_on(stream) {
                continue;
            }
            let places = self.space.frontier(stream).run_length();
            Zoned::pad(self, stream, places);
        }
    }

    /// Erases a slot's open erase unit before it is full. Its last program group is padded first, since a request may
    /// wait for data in it.
    fn abandon(&mut self, stream: StreamId) {
        let Some(erase_unit) = self.space.frontier(stream).erase_unit else { return };
        while !self.space.written_slots(erase_unit).is_multiple_of(self.layer.group_units)
            && self.space.frontier(stream).erase_unit.is_some()
        {
            if !self.space.is_stopped(stream) || self.go_on(stream) {
                // Parity may have filled the group.
                if !self.space.written_slots(erase_unit).is_multiple_of(self.layer.group_units) {
                    Zoned::pad(self, stream, 1);
                }
            }
        }
        if self.space.frontier(stream).erase_unit == Some(erase_unit) {
            let units = self.space.layout.units_per_erase_unit();
            self.layer.unprogrammed += u64::from(units - self.space.written_slots(erase_unit));
            self.space.shut(stream);
        }
    }

    /// Trims whole zones.
    fn reset_zones(&mut self, offset_bytes: u64, length_bytes: u32) -> Result<(), ReadOnly> {
        let zone_bytes = u64::from(self.layer.table.zone_units()) << self.mapping_unit_shift;
        let length_bytes = u64::from(length_bytes);
        if !offset_bytes.is_multiple_of(zone_bytes) || !length_bytes.is_multiple_of(zone_bytes) {
            let status = ZoneStatus::InvalidFieldInCommand;
            return Err(ReadOnly::ZoneCommandRefused { status, offset_bytes });
        }
        self.accounts.host_trimmed(length_bytes);
        let zones = offset_bytes / zone_bytes..(offset_bytes + length_bytes) / zone_bytes;
        zones.map(|zone| zone as u32).try_for_each(|zone| self.reset_zone(zone))
    }
}
