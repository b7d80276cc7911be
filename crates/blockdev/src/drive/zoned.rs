//! A drive with zones, as its host sees them.
//!
//! A request is allowed or refused when it is submitted, and an append gets its address then: a table of the zones here
//! is ahead of the translation layer's by what is on its way to it. The front has the translation layer decide on writes
//! in the order of their submission, so that its table comes to the same states.

use super::SimulatedDevice;
use super::core::{Core, first_error};
use crate::device::DeviceError;
use crate::zones::{Zone, ZoneChange, Zones, ZonesOfDrive};
use ssdlab_engine::error::{SpecificationError, ZoneStatus};
use ssdlab_engine::ftl::zoned::{ZoneCounts, ZoneTable};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::zones_of;
use std::ops::Range;
use std::sync::Arc;

/// Finished zones are kept in the room of the drive's counters, a bit each.
const ZONES_MAX: u32 = 1 << 16;

/// The zones of a served drive, ahead of those of its translation layer.
pub struct HostZones {
    layout: ZonesOfDrive,
    table: ZoneTable,
    unit_bytes: u64,
    /// Writes refused since the drive was opened: the translation layer never sees them.
    refused: u64,
}

impl HostZones {
    fn units(&self, bytes: u64) -> Result<u32, ZoneStatus> {
        if bytes.is_multiple_of(self.unit_bytes) {
            Ok((bytes / self.unit_bytes) as u32)
        } else {
            Err(ZoneStatus::InvalidFieldInCommand)
        }
    }

    fn zone_at(&self, offset_bytes: u64) -> Result<u32, ZoneStatus> {
        let is_start = offset_bytes.is_multiple_of(self.layout.zone_bytes);
        let zone = (offset_bytes / self.layout.zone_bytes) as u32;
        if is_start && zone < self.layout.count { Ok(zone) } else { Err(ZoneStatus::InvalidFieldInCommand) }
    }

    /// Allows a write, or says why not.
    pub fn write(&mut self, range: &Range<u64>) -> Result<(), ZoneStatus> {
        let allowed = match (self.units(range.start), self.units(range.end - range.start)) {
            (Ok(first), Ok(units)) => self.table.write(first, units).map(|_| ()),
            (Err(status), _) | (_, Err(status)) => Err(status),
        };
        self.refused += u64::from(allowed.is_err());
        allowed
    }

    /// Allows an append to the zone that begins at `zone_bytes`. Returns the address of its data.
    fn append(&mut self, zone_bytes: u64, length_bytes: u64) -> Result<u64, ZoneStatus> {
        let (zone, units) = (self.zone_at(zone_bytes)?, self.units(length_bytes)?);
        let appended = self.table.append(zone, units);
        self.refused += u64::from(appended.is_err());
        let (_, first) = appended?;
        Ok(u64::from(first) * self.unit_bytes)
    }
}

/// Refuses what a drive with zones cannot have when it stores data. Errors name the key.
pub fn check(drive: &Drive, has_power_loss_protection: bool, fails: bool) -> Result<(), SpecificationError> {
    let Some(zones) = zones_of(drive)? else { return Ok(()) };
    if zones.count > ZONES_MAX {
        let allowed = format!(
            "at least {} for a drive that is served, so that it has at most {ZONES_MAX} zones",
            drive.ftl.user_bytes.div_ceil(u64::from(ZONES_MAX))
        );
        return Err(SpecificationError::new("zones.zone_bytes", zones.zone_bytes, allowed));
    }
    if zones.random_write_area_bytes > 0 {
        let allowed = "0 for a drive that is served: only runs of jobs know random write areas";
        return Err(SpecificationError::new("zones.random_write_area_bytes", zones.random_write_area_bytes, allowed));
    }
    if !has_power_loss_protection {
        let allowed = "true, and write_buffer.bytes above 0, for a drive with zones that is served: what a zone holds has no gaps";
        return Err(SpecificationError::new("write_buffer.power_loss_protection", false, allowed));
    }
    if fails {
        let allowed = "none on a drive with zones, which moves no data off a failed block";
        return Err(SpecificationError::new("program and erase failures", "some", allowed));
    }
    Ok(())
}

impl Core {
    /// The zones as the translation layer has them now, for a host that has submitted nothing since.
    pub(super) fn take_up_zones(&mut self) {
        let [device] = self.devices.devices() else { return };
        let Some(table) = device.ftl.zone_table() else { return };
        let layout = zones_of(&device.drive).ok().flatten().expect("a drive with zones was built");
        let unit_bytes = u64::from(device.drive.ftl.mapping_unit_bytes);
        let refused = self.zones.as_ref().map_or(0, |zones| zones.refused);
        self.zones = Some(HostZones { layout, table: table.clone(), unit_bytes, refused });
    }

    /// The zones of the drive; None for a drive without.
    pub fn zones(&self) -> Option<ZonesOfDrive> {
        self.zones.as_ref().map(|zones| zones.layout)
    }

    /// Zones by state, and what was done to them.
    pub(super) fn zone_counts(&self) -> Option<ZoneCounts> {
        self.zones.as_ref().map(|zones| ZoneCounts { refused: zones.refused, ..zones.table.counts() })
    }

    /// Whether the translation layer has come to the states that were promised. Only when nothing is on its way.
    pub fn check_zones(&self) -> Result<(), String> {
        let Some(promised) = &self.zones else { return Ok(()) };
        let found = self.devices.devices()[0].ftl.zone_table();
        // Only the host's table counts what was refused.
        let differs = |zone: u32| found.is_none_or(|found| found.zone(zone) != promised.table.zone(zone));
        match (0..promised.layout.count).find(|&zone| differs(zone)) {
            Some(zone) => Err(format!(
                "zone {zone}: {:?}, and {:?} was promised",
                found.map(|found| found.zone(zone)),
                promised.table.zone(zone)
            )),
            None => Ok(()),
        }
    }

    /// Allows an append: the address of its data, to be written as granted.
    pub(super) fn grant_append(&mut self, zone_bytes: u64, length_bytes: u64) -> Result<u64, DeviceError> {
        self.refuse_writes()?;
        let zones = self.zones.as_mut().ok_or(ZoneStatus::InvalidZoneOperationRequest);
        zones.and_then(|zones| zones.append(zone_bytes, length_bytes)).map_err(DeviceError::Zone)
    }

    /// Allows a reset. Returns the range of the zone, to be trimmed as granted.
    pub(super) fn grant_reset(&mut self, zone: u32) -> Result<Range<u64>, DeviceError> {
        self.refuse_writes()?;
        self.bring_in_everything();
        let Some(zones) = self.zones.as_mut().filter(|zones| zone < zones.layout.count) else {
            return Err(DeviceError::Zone(ZoneStatus::InvalidFieldInCommand));
        };
        zones.table.reset(zone);
        let zone_bytes = zones.layout.zone_bytes;
        Ok(u64::from(zone) * zone_bytes..u64::from(zone + 1) * zone_bytes)
    }

    fn change_zone(&mut self, zone: u32, change: ZoneChange) -> Result<(), DeviceError> {
        self.refuse_writes()?;
        self.bring_in_everything();
        let zones = self.zones.as_mut().expect("only a drive with zones is asked");
        zones.table.change(zone, change).map_err(DeviceError::Zone)?;
        let done = first_error(self.each_mut().map(|device| {
            let changed = device.ftl.change_zone(zone, change);
            let padded = device.carry_out_decided(changed);
            device.note_zones();
            padded.and(device.attend_to_flash())
        }));
        let devices = self.devices.devices_mut().iter_mut();
        devices.enumerate().for_each(|(index, device)| self.front.carry_out(index, device));
        done
    }

    /// What is on its way was allowed in the states before.
    fn bring_in_everything(&mut self) {
        self.bring_in(|core| core.devices.devices().iter().any(|device| !device.arriving.is_empty()));
    }
}

impl Zones for Arc<SimulatedDevice> {
    fn layout(&self) -> ZonesOfDrive {
        self.core().zones().expect("only a drive with zones is asked")
    }

    fn zone(&self, zone: u32) -> Zone {
        self.core().zones.as_ref().expect("only a drive with zones is asked").table.zone(zone)
    }

    fn change(&self, zone: u32, change: ZoneChange) -> Result<(), DeviceError> {
        let mut core = self.core();
        if let Some(real_pace) = &self.real_pace {
            core.advance_to(real_pace.now_ns());
        }
        core.change_zone(zone, change)
    }
}
