//! The table `[zones]`: a drive written zone by zone. Field names are the keys of the drive file.

use super::{Drive, EraseUnitKind};
use crate::error::SpecificationError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most zones that may be active at a time: each has an open erase unit, and these are numbered in a byte.
pub const ACTIVE_ZONES_MAX: u32 = 255;

/// A reset is a trim of a whole zone, and the length of a trim has 32 bits.
const ZONE_BYTES_MAX: u64 = u32::MAX as u64;

/// Zones as in NVMe's zoned namespaces: each is written in order, at its write pointer, and is emptied only by a reset.
/// `ftl.user_bytes` are the addresses of all of them. Each occupies erase units of its own, so that there is no garbage
/// collection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Zones {
    /// distance between the starts of two zones; 0: the drive has no zones
    #[schemars(example = 268_435_456_u64, extend("unit" = "B"))]
    pub zone_bytes: u64,
    /// writable part of a zone, from its start; 0: the whole zone
    #[schemars(example = 201_326_592_u64, extend("unit" = "B", "acts" = "with zones.zone_bytes above 0"))]
    pub capacity_bytes: u64,
    /// zones that may be open, and so accept writes; 0: as many as may be active
    #[schemars(range(max = 255), example = 14, extend("unit" = "zones", "acts" = "with zones.zone_bytes above 0"))]
    pub open_max: u32,
    /// zones that may be open or closed, and so partly written; 0: all, up to 255
    #[schemars(range(max = 255), example = 14, extend("unit" = "zones", "acts" = "with zones.zone_bytes above 0"))]
    pub active_max: u32,
    /// zone random write area (NVMe TP4076): from the write pointer on so many bytes may be written in any order and again,
    /// and are programmed when the pointer passes them. Every zone has one while it is active, in memory that survives a
    /// loss of power; 0: none
    #[schemars(example = 1_048_576_u64, extend("unit" = "B", "acts" = "with zones.zone_bytes above 0"))]
    pub random_write_area_bytes: u64,
    /// steps in which the write pointer passes the random write area; 0: one mapping unit
    #[schemars(example = 16_384_u64, extend("unit" = "B", "acts" = "with zones.random_write_area_bytes above 0"))]
    pub flush_granularity_bytes: u64,
}

/// The same with every value filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonesOfDrive {
    /// The number of zones.
    pub count: u32,
    /// The distance between the starts of two zones.
    pub zone_bytes: u64,
    /// The writable part of a zone.
    pub capacity_bytes: u64,
    /// The most open zones.
    pub open_max: u32,
    /// The most active zones.
    pub active_max: u32,
    /// The random write area of an active zone; 0: none.
    pub random_write_area_bytes: u64,
    /// Steps in which the write pointer passes the area.
    pub flush_granularity_bytes: u64,
}

impl ZonesOfDrive {
    /// Their total capacity.
    pub fn usable_bytes(&self) -> u64 {
        u64::from(self.count) * self.capacity_bytes
    }
}

impl Zones {
    /// Whether the drive has zones.
    pub fn is_on(&self) -> bool {
        self.zone_bytes > 0
    }
}

/// The zones of a drive; None if it has none. Errors name the key.
pub fn zones_of(drive: &Drive) -> Result<Option<ZonesOfDrive>, SpecificationError> {
    let Zones { zone_bytes, capacity_bytes, open_max, active_max, .. } = drive.zones;
    if zone_bytes == 0 {
        return Ok(None);
    }
    let unit = u64::from(drive.ftl.mapping_unit_bytes.max(1));
    if !zone_bytes.is_multiple_of(unit) || zone_bytes > ZONE_BYTES_MAX {
        let allowed = format!("a multiple of ftl.mapping_unit_bytes, {unit}, below 4 GiB");
        return Err(SpecificationError::new("zones.zone_bytes", zone_bytes, allowed));
    }
    if capacity_bytes > zone_bytes || !capacity_bytes.is_multiple_of(unit) {
        let allowed =
            format!("0, or a multiple of ftl.mapping_unit_bytes, {unit}, up to zones.zone_bytes, {zone_bytes}");
        return Err(SpecificationError::new("zones.capacity_bytes", capacity_bytes, allowed));
    }
    let user_bytes = drive.ftl.user_bytes;
    let count = u32::try_from(user_bytes / zone_bytes).unwrap_or(0);
    if count == 0 || !user_bytes.is_multiple_of(zone_bytes) {
        let allowed = format!("a multiple of zones.zone_bytes, {zone_bytes}, with fewer than 2^32 zones");
        return Err(SpecificationError::new("ftl.user_bytes", user_bytes, allowed));
    }
    if active_max > ACTIVE_ZONES_MAX {
        let allowed = format!("at most {ACTIVE_ZONES_MAX}");
        return Err(SpecificationError::new("zones.active_max", active_max, allowed));
    }
    let active_max = if active_max == 0 { ACTIVE_ZONES_MAX } else { active_max }.min(count);
    if open_max > active_max {
        let allowed = format!("at most {active_max}, the zones that may be active");
        return Err(SpecificationError::new("zones.open_max", open_max, allowed));
    }
    let capacity_bytes = if capacity_bytes == 0 { zone_bytes } else { capacity_bytes };
    let open_max = if open_max == 0 { active_max } else { open_max };
    let (random_write_area_bytes, flush_granularity_bytes) = random_write_area(&drive.zones, unit, capacity_bytes)?;
    Ok(Some(ZonesOfDrive {
        count,
        zone_bytes,
        capacity_bytes,
        open_max,
        active_max,
        random_write_area_bytes,
        flush_granularity_bytes,
    }))
}

/// The size of a zone's random write area and the granularity of its flushes; `unit` is the mapping unit.
fn random_write_area(zones: &Zones, unit: u64, capacity_bytes: u64) -> Result<(u64, u64), SpecificationError> {
    let (area, granularity) = (zones.random_write_area_bytes, zones.flush_granularity_bytes);
    let refuse =
        |key: &str, value: u64, allowed: String| Err(SpecificationError::new(format!("zones.{key}"), value, allowed));
    if area == 0 {
        let allowed = "0 without zones.random_write_area_bytes";
        return if granularity == 0 {
            Ok((0, unit))
        } else {
            refuse("flush_granularity_bytes", granularity, allowed.into())
        };
    }
    let granularity = if granularity == 0 { unit } else { granularity };
    if !granularity.is_multiple_of(unit) || !capacity_bytes.is_multiple_of(granularity) {
        let allowed = format!(
            "a multiple of ftl.mapping_unit_bytes, {unit}, that divides zones.random_write_area_bytes and the capacity of a \
             zone, {capacity_bytes}"
        );
        return refuse("flush_granularity_bytes", granularity, allowed);
    }
    if !area.is_multiple_of(granularity) || area > capacity_bytes {
        let allowed = format!(
            "a multiple of zones.flush_granularity_bytes, {granularity}, up to the capacity of a zone, {capacity_bytes}"
        );
        return refuse("random_write_area_bytes", area, allowed);
    }
    Ok((area, granularity))
}

/// Refuses properties of zones on a drive without any.
fn check_without_zones(zones: &Zones) -> Result<(), SpecificationError> {
    let properties = [
        ("zones.capacity_bytes", zones.capacity_bytes),
        ("zones.open_max", u64::from(zones.open_max)),
        ("zones.active_max", u64::from(zones.active_max)),
        ("zones.random_write_area_bytes", zones.random_write_area_bytes),
        ("zones.flush_granularity_bytes", zones.flush_granularity_bytes),
    ];
    match properties.into_iter().find(|&(_, value)| value > 0) {
        Some((key, value)) => Err(SpecificationError::new(key, value, "0 without zones.zone_bytes")),
        None => Ok(()),
    }
}

/// Refuses features that move data, which a drive with zones does not do, and properties of zones on another drive.
/// Errors name the key.
pub fn check_goes_with_zones(drive: &Drive) -> Result<(), SpecificationError> {
    if !drive.zones.is_on() {
        return check_without_zones(&drive.zones);
    }
    let background = &drive.background;
    let refused = |key: &str, value: String, allowed: &str| {
        let allowed = format!("{allowed} on a drive with [zones], which moves no data of its own accord");
        Err(SpecificationError::new(key, value, allowed))
    };
    if drive.ftl.erase_unit != EraseUnitKind::Superblock && drive.nand.channels * drive.nand.dies_per_channel > 1 {
        return refused("ftl.erase_unit", "block".into(), "superblock");
    }
    for (key, choice, allowed) in
        [("ftl.placement", &drive.ftl.placement, "single"), ("ftl.victim", &drive.ftl.victim, "greedy")]
    {
        if choice.name != allowed {
            return refused(key, choice.name.clone(), allowed);
        }
    }
    if drive.ftl.wear_leveling.name == "static" {
        return refused("ftl.wear_leveling", "static".into(), "none or dynamic");
    }
    let features = [
        ("slc_cache", drive.slc_cache.is_on()),
        ("map_cache.bytes", drive.map_cache.bytes > 0),
        ("data_reduction", drive.data_reduction.is_on()),
        ("background.erased_pool_bytes", background.erased_pool_bytes > 0),
        ("background.defragment", background.defragment),
        ("background.wear_leveling", background.wear_leveling),
        ("background.read_disturb_reads", background.read_disturb_reads > 0),
        ("background.retention_days", background.retention_days > 0.0),
        ("stripe.devices", drive.stripe.is_on()),
    ];
    match features.into_iter().find(|(_, is_on)| *is_on) {
        Some((key, _)) => refused(key, "on".into(), "off"),
        None => Ok(()),
    }
}
