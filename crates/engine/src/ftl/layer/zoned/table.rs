//! The zones of a drive: states, write pointers, and which commands are refused, in the order in which NVMe's zoned
//! command set checks them. The location of a zone in flash is not part of it.
//!
//! An active zone has a *slot*, the number of its open erase unit, and on drives with random write areas one of those
//! (`area.rs`). All sizes are mapping units.

use super::area::{Area, AreaCounts};
use crate::error::ZoneStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The states of the specification without read-only and offline: a simulated drive that runs out of spare blocks
/// becomes read-only as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneState {
    /// Empty: the write pointer is at the start.
    Empty,
    /// Opened by a write.
    ImplicitlyOpen,
    /// Opened by command: never closed to open another.
    ExplicitlyOpen,
    /// Partly written; must be opened before the next write.
    Closed,
    /// Full: written to its capacity, or finished.
    Full,
}

/// One zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// The zone's state.
    pub state: ZoneState,
    /// The write pointer, relative to the start of the zone. For a full zone, the number of written units.
    pub written: u32,
    /// Only of an active zone.
    slot: u8,
}

/// How an accepted write is to be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The zone to write to.
    pub zone: u32,
    /// The slot of its open erase unit.
    pub slot: u8,
    /// The zone has become full, and its slot is free.
    pub is_full: bool,
    /// Units from the old write pointer on that are to be programmed now; with a random write area not those of the write.
    pub committed: u32,
}

/// How many zones are in each state, and counts of commands since the drive was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneCounts {
    /// Empty zones.
    pub empty: u32,
    /// Zones opened by a write.
    pub implicitly_open: u32,
    /// Zones opened by command.
    pub explicitly_open: u32,
    /// Closed zones.
    pub closed: u32,
    /// Full zones.
    pub full: u32,
    /// Resets of non-empty zones.
    pub resets: u64,
    /// Zones finished by command.
    pub finishes: u64,
    /// Refused writes.
    pub refused: u64,
    /// None for a drive without random write areas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_write_areas: Option<AreaCounts>,
}

/// What is kept of zones when their drive is built again, besides their data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptZones {
    /// A bit for each zone, from the lowest: whether it was finished before it was written to its capacity.
    pub finished: Vec<u64>,
    /// Resets of non-empty zones.
    pub resets: u64,
    /// Zones finished by command.
    pub finishes: u64,
    /// Refused writes.
    pub refused: u64,
    /// Slots of erase units that were erased before they were programmed.
    pub unprogrammed: u64,
}

/// A command that changes the state of a zone and needs no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneChange {
    /// Open it explicitly.
    Open,
    /// Close it.
    Close,
    /// Make it full.
    Finish,
}

/// The zones of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZoneTable {
    zones: Vec<Zone>,
    zone_units: u32,
    capacity_units: u32,
    open_max: u32,
    /// Free slots, the next one last.
    free_slots: Vec<u8>,
    /// The implicitly open zones, in the order of their opening.
    implicitly_open: VecDeque<u32>,
    explicitly_open: u32,
    resets: u64,
    finishes: u64,
    refused: u64,
    /// By slot; empty for a drive without random write areas.
    areas: Vec<Area>,
    area_counts: AreaCounts,
}

impl ZoneTable {
    /// `open_max <= active_max`, both above 0.
    pub fn new(zones: u32, zone_units: u32, capacity_units: u32, open_max: u32, active_max: u8) -> Self {
        Self {
            zones: vec![Zone { state: ZoneState::Empty, written: 0, slot: 0 }; zones as usize],
            zone_units,
            capacity_units,
            open_max,
            free_slots: (0..active_max).rev().collect(),
            implicitly_open: VecDeque::new(),
            explicitly_open: 0,
            resets: 0,
            finishes: 0,
            refused: 0,
            areas: Vec::new(),
            area_counts: AreaCounts::default(),
        }
    }

    /// Adds a random write area of `units` to each active zone, which the write pointer passes in steps of
    /// `granularity_units`; both divide what they must. 0: none.
    pub fn with_random_write_areas(self, units: u32, granularity_units: u32) -> Self {
        let count = if units == 0 { 0 } else { self.free_slots.len() };
        Self { areas: vec![Area::new(units, granularity_units); count], ..self }
    }

    /// Removes the next committed unit of a slot's area. Returns whether it was written.
    pub fn take_committed(&mut self, slot: u8) -> bool {
        let is_written = self.areas[usize::from(slot)].take();
        self.area_counts.gap_units += u64::from(!is_written);
        is_written
    }

    /// The number of zones.
    pub fn zones(&self) -> u32 {
        self.zones.len() as u32
    }

    /// The state of a zone.
    pub fn zone(&self, zone: u32) -> Zone {
        self.zones[zone as usize]
    }

    /// The distance between the starts of two zones.
    pub fn zone_units(&self) -> u32 {
        self.zone_units
    }

    /// The writable units of a zone.
    pub fn capacity_units(&self) -> u32 {
        self.capacity_units
    }

    /// Counts of states and commands.
    pub fn counts(&self) -> ZoneCounts {
        let of = |state| self.zones.iter().filter(|zone| zone.state == state).count() as u32;
        ZoneCounts {
            empty: of(ZoneState::Empty),
            implicitly_open: of(ZoneState::ImplicitlyOpen),
            explicitly_open: of(ZoneState::ExplicitlyOpen),
            closed: of(ZoneState::Closed),
            full: of(ZoneState::Full),
            resets: self.resets,
            finishes: self.finishes,
            refused: self.refused,
            random_write_areas: (!self.areas.is_empty()).then_some(self.area_counts),
        }
    }

    /// A write of 1 or more units, starting at unit `first` of the drive.
    pub fn write(&mut self, first: u32, units: u32) -> Result<Granted, ZoneStatus> {
        let granted = self.write_at(first / self.zone_units, first % self.zone_units, units);
        self.refused += u64::from(granted.is_err());
        granted
    }

    /// A write of 1 or more units at the zone's write pointer. Also returns the first unit on the drive.
    pub fn append(&mut self, zone: u32, units: u32) -> Result<(Granted, u32), ZoneStatus> {
        let at = self.zone(zone).written;
        let granted = if self.areas.is_empty() {
            self.write_at(zone, at, units)
        } else {
            Err(ZoneStatus::InvalidZoneOperationRequest)
        };
        self.refused += u64::from(granted.is_err());
        Ok((granted?, zone * self.zone_units + at))
    }

    fn write_at(&mut self, zone: u32, at: u32, units: u32) -> Result<Granted, ZoneStatus> {
        let Zone { state, written, .. } = self.zone(zone);
        if state == ZoneState::Full {
            return Err(ZoneStatus::ZoneIsFull);
        }
        if u64::from(at) + u64::from(units) > u64::from(self.capacity_units) {
            return Err(ZoneStatus::ZoneBoundaryError);
        }
        let takes = match self.areas.first() {
            None => at == written,
            Some(area) => area.takes(at, written, units),
        };
        if !takes {
            return Err(ZoneStatus::ZoneInvalidWrite);
        }
        if !self.is_open(zone) {
            self.open_as(zone, ZoneState::ImplicitlyOpen)?;
        }
        let slot = self.zones[zone as usize].slot;
        let committed = match self.areas.get_mut(usize::from(slot)) {
            None => units,
            Some(area) => {
                let (ahead, left) = (at - written, self.capacity_units - written);
                self.area_counts.overwritten_units += u64::from(area.write(ahead, units));
                area.commits_implicitly(ahead + units, left)
            }
        };
        Ok(self.advance(zone, committed))
    }

    /// Moves the write pointer past units that are to be programmed.
    fn advance(&mut self, zone: u32, committed: u32) -> Granted {
        let Zone { written, slot, .. } = self.zones[zone as usize];
        let end = written + committed;
        self.zones[zone as usize].written = end;
        let is_full = end == self.capacity_units;
        if is_full {
            self.leave(zone, ZoneState::Full);
        }
        Granted { zone, slot, is_full, committed }
    }

    /// Moves the write pointer to unit `end` of the zone, inside its random write area (NVMe's Flush Explicit ZRWA Range).
    /// Also returns the old write pointer.
    pub fn commit(&mut self, zone: u32, end: u32) -> Result<(Granted, u32), ZoneStatus> {
        let (Some(slot), written) = (self.slot(zone), self.zone(zone).written) else {
            return Err(ZoneStatus::InvalidFieldInCommand);
        };
        let Some(area) = self.areas.get(usize::from(slot)) else { return Err(ZoneStatus::InvalidFieldInCommand) };
        if end <= written || end > (written + area.units()).min(self.capacity_units) {
            return Err(ZoneStatus::ZoneBoundaryError);
        }
        if !(end - written).is_multiple_of(area.granularity_units()) {
            return Err(ZoneStatus::InvalidFieldInCommand);
        }
        if !self.is_open(zone) {
            self.open_as(zone, ZoneState::ImplicitlyOpen)?;
        }
        self.area_counts.explicit_flushes += 1;
        Ok((self.advance(zone, end - written), written))
    }

    /// Units of an active zone's area up to the last written one, which a finish commits.
    pub fn pending_units(&self, zone: u32) -> u32 {
        let area = self.slot(zone).and_then(|slot| self.areas.get(usize::from(slot)));
        area.map_or(0, Area::pending_units)
    }

    /// Opens a zone by command.
    pub fn open(&mut self, zone: u32) -> Result<(), ZoneStatus> {
        match self.zone(zone).state {
            ZoneState::ExplicitlyOpen => Ok(()),
            ZoneState::Full => Err(ZoneStatus::InvalidZoneStateTransition),
            ZoneState::ImplicitlyOpen => {
                self.implicitly_open.retain(|&other| other != zone);
                self.explicitly_open += 1;
                self.zones[zone as usize].state = ZoneState::ExplicitlyOpen;
                Ok(())
            }
            ZoneState::Empty | ZoneState::Closed => self.open_as(zone, ZoneState::ExplicitlyOpen),
        }
    }

    /// Closes an open zone.
    pub fn close(&mut self, zone: u32) -> Result<(), ZoneStatus> {
        match self.zone(zone).state {
            ZoneState::Closed => Ok(()),
            ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen => {
                self.shut(zone);
                self.zones[zone as usize].state = ZoneState::Closed;
                Ok(())
            }
            ZoneState::Empty | ZoneState::Full => Err(ZoneStatus::InvalidZoneStateTransition),
        }
    }

    /// Carries out a change of a zone's state.
    pub fn change(&mut self, zone: u32, change: ZoneChange) -> Result<(), ZoneStatus> {
        match change {
            ZoneChange::Open => self.open(zone),
            ZoneChange::Close => self.close(zone),
            ZoneChange::Finish => {
                self.finish(zone);
                Ok(())
            }
        }
    }

    /// Makes a zone full, whatever it holds. Returns its slot.
    pub fn finish(&mut self, zone: u32) -> Option<u8> {
        let slot = self.slot(zone);
        self.zones[zone as usize].written += self.pending_units(zone);
        self.finishes += u64::from(self.zone(zone).state != ZoneState::Full);
        self.leave(zone, ZoneState::Full);
        slot
    }

    /// Makes a zone empty. Returns the number of written units, and its slot.
    pub fn reset(&mut self, zone: u32) -> (u32, Option<u8>) {
        let Zone { written, state, .. } = self.zone(zone);
        let slot = self.slot(zone);
        self.resets += u64::from(state != ZoneState::Empty);
        self.leave(zone, ZoneState::Empty);
        self.zones[zone as usize].written = 0;
        if let Some(area) = slot.and_then(|slot| self.areas.get_mut(usize::from(slot))) {
            area.clear();
        }
        (written, slot)
    }

    /// What is kept of the zones besides their data, so that a scan of the flash can restore them.
    pub fn kept(&self) -> KeptZones {
        let mut finished = Vec::new();
        let is_finished = |zone: &Zone| zone.state == ZoneState::Full && zone.written < self.capacity_units;
        for (index, _) in self.zones.iter().enumerate().filter(|(_, zone)| is_finished(zone)) {
            finished.resize((index / 64 + 1).max(finished.len()), 0);
            finished[index / 64] |= 1 << (index % 64);
        }
        let Self { resets, finishes, refused, .. } = *self;
        KeptZones { finished, resets, finishes, refused, unprogrammed: 0 }
    }

    /// Restores the counts of a new table, and its zones from what a scan has found: written units, and for a zone with
    /// an open erase unit the slot. Open zones are closed.
    pub fn take_up(&mut self, kept: &KeptZones, found: impl Iterator<Item = (u32, Option<u8>)>) {
        let KeptZones { ref finished, resets, finishes, refused, .. } = *kept;
        (self.resets, self.finishes, self.refused) = (resets, finishes, refused);
        let mut without_slot = Vec::new();
        for (index, (written, slot)) in found.enumerate() {
            let is_finished = finished.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1);
            let state = match written {
                _ if is_finished || written == self.capacity_units => ZoneState::Full,
                0 => ZoneState::Empty,
                _ => ZoneState::Closed,
            };
            self.zones[index] = Zone { state, written, slot: 0 };
            if state == ZoneState::Closed {
                match slot.and_then(|slot| self.free_slots.iter().position(|&free| free == slot)) {
                    Some(place) => self.zones[index].slot = self.free_slots.remove(place),
                    None => without_slot.push(index),
                }
            }
        }
        for index in without_slot {
            self.zones[index].slot = self.free_slots.pop().expect("no more zones are active than there are slots");
        }
    }

    /// The slot of an active zone.
    pub fn slot(&self, zone: u32) -> Option<u8> {
        let Zone { state, slot, .. } = self.zone(zone);
        (!matches!(state, ZoneState::Empty | ZoneState::Full)).then_some(slot)
    }

    fn is_open(&self, zone: u32) -> bool {
        matches!(self.zone(zone).state, ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen)
    }

    /// Opens an empty or a closed zone. At the limit of open zones, closes the implicitly open one that was opened
    /// first.
    fn open_as(&mut self, zone: u32, state: ZoneState) -> Result<(), ZoneStatus> {
        let is_active = self.zone(zone).state == ZoneState::Closed;
        if !is_active && self.free_slots.is_empty() {
            return Err(ZoneStatus::TooManyActiveZones);
        }
        if self.implicitly_open.len() as u32 + self.explicitly_open == self.open_max {
            let oldest = self.implicitly_open.pop_front().ok_or(ZoneStatus::TooManyOpenZones)?;
            self.zones[oldest as usize].state = ZoneState::Closed;
        }
        if !is_active {
            self.zones[zone as usize].slot = self.free_slots.pop().expect("a slot is free");
        }
        self.zones[zone as usize].state = state;
        match state {
            ZoneState::ImplicitlyOpen => self.implicitly_open.push_back(zone),
            _ => self.explicitly_open += 1,
        }
        Ok(())
    }

    /// The zone no longer counts as open.
    fn shut(&mut self, zone: u32) {
        match self.zone(zone).state {
            ZoneState::ImplicitlyOpen => self.implicitly_open.retain(|&other| other != zone),
            ZoneState::ExplicitlyOpen => self.explicitly_open -= 1,
            ZoneState::Empty | ZoneState::Closed | ZoneState::Full => {}
        }
    }

    /// The zone is no longer active.
    fn leave(&mut self, zone: u32, state: ZoneState) {
        self.free_slots.extend(self.slot(zone));
        self.shut(zone);
        self.zones[zone as usize].state = state;
    }
}
