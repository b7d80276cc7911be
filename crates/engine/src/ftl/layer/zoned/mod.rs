//! A zoned drive: each zone is written to erase units of its own, in the order of its addresses, and a reset erases
//! them. So no live unit is ever moved.
//!
//! Where a zone becomes full inside an erase unit, because its capacity is no multiple of erase units or because it is
//! finished, the rest of that erase unit is padded. A command that the table refuses changes nothing.

mod area;
mod table;

use super::{Layer, Stored};
use crate::error::{ReadOnly, SpecificationError, ZoneStatus};
use crate::ftl::accounts::Accounts;
use crate::ftl::gc::Gc;
use crate::ftl::media::{Done, Media};
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
    /// The states of the zones.
    pub(in crate::ftl) table: ZoneTable,
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

impl Stored for Zoned {
    const IS_ZONED: bool = true;

    fn slots_of_all(&self, _units: u32) -> u64 {
        self.places
    }

    fn unprogrammed_slots(&self) -> u64 {
        self.unprogrammed
    }
}

impl Layer for Zoned {
    type Kept = ();

    fn new(drive: &Drive, _user_units: u32, streams: u8, _seed: u64) -> Result<Self, SpecificationError> {
        let zones = zones_of(drive)?.expect("the drive has zones");
        let unit = u64::from(drive.ftl.mapping_unit_bytes);
        let geometry = Geometry::of(drive)?;
        let data_units = Self::layout(drive, &geometry)?.data_units_per_erase_unit();
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

    fn usable_units(&self, _user_units: u32) -> u32 {
        self.table.zones() * self.table.capacity_units()
    }

    fn zones(&self) -> Option<&ZoneTable> {
        Some(&self.table)
    }

    fn execute_one<C: Clock>(&mut self, media: &mut Media<C>, _gc: &mut Gc, request: &Request) -> Done {
        match request.operation {
            Operation::Write => self.write(media, request.offset_bytes, request.length_bytes)?,
            Operation::Trim => self.reset_zones(media, request.offset_bytes, request.length_bytes)?,
            Operation::Read => {
                media.accounts.host_read(u64::from(request.length_bytes));
                media.read_units(request.offset_bytes, request.length_bytes);
            }
            Operation::Flush => {}
        }
        Ok(())
    }

    fn kept_zones(&self) -> KeptZones {
        KeptZones { unprogrammed: self.unprogrammed, ..self.table.kept() }
    }

    fn change_zone<C: Clock>(&mut self, media: &mut Media<C>, zone: u32, change: ZoneChange) -> Done {
        let offset_bytes = self.start_bytes(media, zone);
        let refuse = |status| ReadOnly::ZoneCommandRefused { status, offset_bytes };
        match change {
            ZoneChange::Open => self.table.open(zone).map_err(refuse),
            ZoneChange::Close => self.table.close(zone).map_err(refuse),
            ZoneChange::Finish => self.finish_zone(media, zone),
        }
    }

    fn take_up_zones<C: Clock>(&mut self, media: &mut Media<C>, kept: &KeptZones) {
        self.unprogrammed = kept.unprogrammed;
        self.find_zones(media, kept);
        self.erase_what_no_zone_has(media);
    }

    fn kept(&self, _accounts: &Accounts) {}

    fn take_up(&mut self, (): (), _accounts: &mut Accounts) -> bool {
        false
    }
}

/// Commands of a zoned drive. Zones count from 0.
impl Zoned {
    /// Writes units at the zone's write pointer, and returns their address in bytes.
    pub fn append_to_zone<C: Clock>(&mut self, media: &mut Media<C>, zone: u32, units: u32) -> Done<u64> {
        let offset_bytes = self.start_bytes(media, zone);
        media.still_writable()?;
        let appended = self.table.append(zone, units);
        let (granted, first) = appended.map_err(|status| ReadOnly::ZoneCommandRefused { status, offset_bytes })?;
        self.fill_zone(media, granted, Lpn(first), units)?;
        Ok(u64::from(first) * media.map.unit_bytes())
    }

    /// The address of a zone.
    fn start_bytes<C: Clock>(&self, media: &Media<C>, zone: u32) -> u64 {
        u64::from(zone * self.table.zone_units()) * media.map.unit_bytes()
    }

    /// Makes a zone full; the rest of its open erase unit is padded.
    pub fn finish_zone<C: Clock>(&mut self, media: &mut Media<C>, zone: u32) -> Done {
        media.still_writable()?;
        let (pointer, pending) = (self.table.zone(zone).written, self.table.pending_units(zone));
        if let Some(slot) = self.table.finish(zone) {
            let first = Lpn(zone * self.table.zone_units() + pointer);
            self.program_committed(media, zone, slot, first, pending)?;
            self.pad_rest(media, StreamId(slot));
        }
        Ok(())
    }

    /// Moves the write pointer to unit `end` of the zone, inside its random write area.
    pub fn commit_zone<C: Clock>(&mut self, media: &mut Media<C>, zone: u32, end: u32) -> Done {
        let offset_bytes = self.start_bytes(media, zone);
        media.still_writable()?;
        let committed = self.table.commit(zone, end);
        let (granted, pointer) = committed.map_err(|status| ReadOnly::ZoneCommandRefused { status, offset_bytes })?;
        self.fill_from_area(media, granted, pointer)
    }

    /// Makes a zone empty: its data is lost, and its erase units are erased.
    pub fn reset_zone<C: Clock>(&mut self, media: &mut Media<C>, zone: u32) -> Done {
        media.still_writable()?;
        let first = zone * self.table.zone_units();
        let (written, slot) = self.table.reset(zone);
        for lpn in (first..first + written).map(Lpn) {
            let old = media.map.physical(lpn);
            // A gap that a random write area left.
            if old == Ppn::UNMAPPED {
                continue;
            }
            media.lose(old);
            media.map.unmap(lpn);
            media.accounts.trimmed();
        }
        if let Some(slot) = slot {
            self.abandon(media, StreamId(slot));
        }
        for erase_unit in std::mem::take(&mut self.erase_units[zone as usize]) {
            if media.space.is_closed(erase_unit) {
                media.victim.taken(erase_unit, media.space.stream_of(erase_unit));
            }
            media.erase(erase_unit)?;
        }
        Ok(())
    }

    /// Restores the zones from the map. What a zone holds is contiguous: it is written in order, and a drive with zones
    /// that stores data keeps its memory through a loss of power.
    fn find_zones<C: Clock>(&mut self, media: &mut Media<C>, kept: &KeptZones) {
        let (zone_units, capacity_units) = (self.table.zone_units(), self.table.capacity_units());
        let mut found = Vec::with_capacity(self.erase_units.len());
        for zone in 0..self.table.zones() {
            let first = zone * zone_units;
            let places = (first..first + capacity_units).map(|lpn| media.map.physical(Lpn(lpn)));
            let mut written = 0;
            let mut erase_units: Vec<EraseUnit> = Vec::new();
            for place in places.take_while(|&place| place != Ppn::UNMAPPED) {
                let erase_unit = media.space.layout.erase_unit_of(place);
                written += 1;
                if erase_units.last() != Some(&erase_unit) {
                    erase_units.push(erase_unit);
                }
            }
            let open = erase_units.last().filter(|&&last| media.space.frontier_at(last).is_some());
            found.push((written, open.map(|&open| media.space.stream_of(open).0)));
            self.erase_units[zone as usize] = erase_units;
        }
        self.table.take_up(kept, found.into_iter());
    }

    /// Erases what a reset had begun to erase when the process was killed.
    fn erase_what_no_zone_has<C: Clock>(&mut self, media: &mut Media<C>) {
        let mut is_kept = vec![false; media.space.erase_units() as usize];
        self.erase_units.iter().flatten().for_each(|erase_unit| is_kept[erase_unit.index()] = true);
        for erase_unit in media.space.each_erase_unit().filter(|erase_unit| !is_kept[erase_unit.index()]) {
            if media.space.frontier_at(erase_unit).is_some() {
                self.abandon(media, media.space.stream_of(erase_unit));
            } else if media.space.is_closed(erase_unit) {
                media.victim.taken(erase_unit, media.space.stream_of(erase_unit));
            } else {
                continue;
            }
            // Without spare blocks the drive is read-only, which its next write reports.
            let _ = media.erase(erase_unit);
        }
    }

    fn write<C: Clock>(&mut self, media: &mut Media<C>, offset_bytes: u64, length_bytes: u32) -> Done {
        media.still_writable()?;
        let refuse = |status| ReadOnly::ZoneCommandRefused { status, offset_bytes };
        let unit_bytes = media.map.unit_bytes();
        if (offset_bytes | u64::from(length_bytes)) & (unit_bytes - 1) != 0 || length_bytes == 0 {
            return Err(refuse(ZoneStatus::InvalidFieldInCommand));
        }
        let (first, units) = (media.map.lpn_of(offset_bytes), length_bytes / unit_bytes as u32);
        if self.has_areas {
            return self.write_to_area(media, offset_bytes, first, units);
        }
        let granted = self.table.write(first.0, units).map_err(refuse)?;
        self.fill_zone(media, granted, first, units)
    }

    fn write_to_area<C: Clock>(&mut self, media: &mut Media<C>, offset_bytes: u64, first: Lpn, units: u32) -> Done {
        let zone = first.0 / self.table.zone_units();
        let pointer = self.table.zone(zone).written;
        let refuse = |status| ReadOnly::ZoneCommandRefused { status, offset_bytes };
        let granted = self.table.write(first.0, units).map_err(refuse)?;
        media.accounts.host_wrote(u64::from(units) * media.map.unit_bytes());
        self.fill_from_area(media, granted, pointer)
    }

    /// Programs what the write pointer of a zone has passed, from `pointer` on.
    fn fill_from_area<C: Clock>(&mut self, media: &mut Media<C>, granted: Granted, pointer: u32) -> Done {
        let first = Lpn(granted.zone * self.table.zone_units() + pointer);
        self.program_committed(media, granted.zone, granted.slot, first, granted.committed)?;
        if granted.is_full {
            self.pad_rest(media, StreamId(granted.slot));
        }
        Ok(())
    }

    /// Programs the first units of a slot's random write area.
    fn program_committed<C: Clock>(
        &mut self,
        media: &mut Media<C>,
        zone: u32,
        slot: u8,
        first: Lpn,
        units: u32,
    ) -> Done {
        let stream = StreamId(slot);
        for lpn in (first.0..first.0 + units).map(Lpn) {
            while media.space.is_stopped(stream) && !media.go_on(stream) {
                self.open_for_zone(media, zone, stream)?;
            }
            if self.table.take_committed(slot) {
                let place = media.space.frontier(stream).take();
                program_unit(media, lpn, place, stream);
            } else {
                self.pad(media, stream, 1);
            }
        }
        Ok(())
    }

    /// Programs units at the frontier of the zone's slot.
    fn fill_zone<C: Clock>(&mut self, media: &mut Media<C>, granted: Granted, first: Lpn, units: u32) -> Done {
        let stream = StreamId(granted.slot);
        let mut lpn = first.0;
        let end = first.0 + units;
        while lpn < end {
            if media.space.is_stopped(stream) && !media.go_on(stream) {
                self.open_for_zone(media, granted.zone, stream)?;
                continue;
            }
            let now = (end - lpn).min(media.space.frontier(stream).run_length());
            let place = media.space.frontier(stream).take_many(now);
            for step in 0..now {
                program_unit(media, Lpn(lpn + step), Ppn(place.0 + step), stream);
            }
            lpn += now;
        }
        media.accounts.host_wrote(u64::from(units) * media.map.unit_bytes());
        if granted.is_full {
            self.pad_rest(media, stream);
        }
        Ok(())
    }

    fn open_for_zone<C: Clock>(&mut self, media: &mut Media<C>, zone: u32, stream: StreamId) -> Done {
        if media.space.free.len() == 0 {
            return Err(media.turn_read_only());
        }
        media.open(stream);
        let opened = media.space.frontier(stream).erase_unit.expect("an erase unit was opened");
        self.erase_units[zone as usize].push(opened);
        Ok(())
    }

    /// Pads a slot's open erase unit, and closes it.
    fn pad_rest<C: Clock>(&mut self, media: &mut Media<C>, stream: StreamId) {
        while media.space.frontier(stream).erase_unit.is_some() {
            if media.space.is_stopped(stream) && !media.go_on(stream) {
                continue;
            }
            let places = media.space.frontier(stream).run_length();
            self.pad(media, stream, places);
        }
    }

    /// Erases a slot's open erase unit before it is full. Its last program group is padded first, since a request may
    /// wait for data in it.
    fn abandon<C: Clock>(&mut self, media: &mut Media<C>, stream: StreamId) {
        let Some(erase_unit) = media.space.frontier(stream).erase_unit else { return };
        while !media.space.written_slots(erase_unit).is_multiple_of(self.group_units)
            && media.space.frontier(stream).erase_unit.is_some()
        {
            if !media.space.is_stopped(stream) || media.go_on(stream) {
                // Parity may have filled the group.
                if !media.space.written_slots(erase_unit).is_multiple_of(self.group_units) {
                    self.pad(media, stream, 1);
                }
            }
        }
        if media.space.frontier(stream).erase_unit == Some(erase_unit) {
            let units = media.space.layout.units_per_erase_unit();
            self.unprogrammed += u64::from(units - media.space.written_slots(erase_unit));
            media.space.shut(stream);
        }
    }

    /// Trims whole zones.
    fn reset_zones<C: Clock>(&mut self, media: &mut Media<C>, offset_bytes: u64, length_bytes: u32) -> Done {
        let zone_bytes = u64::from(self.table.zone_units()) * media.map.unit_bytes();
        let length_bytes = u64::from(length_bytes);
        if !offset_bytes.is_multiple_of(zone_bytes) || !length_bytes.is_multiple_of(zone_bytes) {
            let status = ZoneStatus::InvalidFieldInCommand;
            return Err(ReadOnly::ZoneCommandRefused { status, offset_bytes });
        }
        media.accounts.host_trimmed(length_bytes);
        let zones = offset_bytes / zone_bytes..(offset_bytes + length_bytes) / zone_bytes;
        zones.map(|zone| zone as u32).try_for_each(|zone| self.reset_zone(media, zone))
    }
}

fn program_unit<C: Clock>(media: &mut Media<C>, lpn: Lpn, place: Ppn, stream: StreamId) {
    let old = media.map.relink(lpn, place);
    debug_assert_eq!(old, Ppn::UNMAPPED, "a zone is written once");
    media.accounts.host(stream, 1);
    media.accounts.mapped();
    media.clock.program(place, Cause::Host);
}
