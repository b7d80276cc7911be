//! The capacity of a drive, in every definition in use. Computed from its description alone; exact until the last
//! division.

use crate::error::SpecificationError;
use crate::nand::Geometry;
use crate::policies::die_choice::DieChoice;
use crate::policies::placement;
use crate::specification::drive::{Drive, EraseUnitKind, handles_of, zones_of};
use schemars::JsonSchema;
use serde::Serialize;

/// Sizes of a drive, all devices of a stripe together. T is `physical_units`, U is `user_units`; a unit is a mapping
/// unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriveCapacity {
    /// The unit of the map.
    pub mapping_unit_bytes: u32,
    /// T and what is excluded from it: all of the flash.
    pub flash_units: u64,
    /// All of the flash, in bytes.
    pub flash_bytes: u64,
    /// T in mapping units.
    pub physical_units: u64,
    /// T in bytes.
    pub physical_bytes: u64,
    /// U in mapping units.
    pub user_units: u64,
    /// U in bytes.
    pub user_bytes: u64,
    /// Flash excluded from T, in bytes.
    pub held_out_bytes: u64,
    /// T - U; negative where the host would use more than there is.
    pub spare_bytes: i64,
    /// The capacity on the label of the drive, whatever part of it the host uses now.
    pub sold_bytes: u64,
    /// (T - U) / U
    pub over_provisioning: f64,
    /// (T - U) / T
    pub spare_factor: f64,
    /// (T - S) / S for the capacity S on the label: 7.37 % for GiB of flash sold as GB.
    pub hidden_over_provisioning: f64,
    /// The least (T - U) / U with which garbage collection can free space, rounded up to a hundredth of a percent;
    /// null: none.
    pub over_provisioning_min: Option<f64>,
    /// The largest U with which garbage collection can still free one whole erase unit; 0 or less: none.
    pub user_units_max: i64,
    /// Planes of all devices.
    pub planes: u64,
    /// Blocks of all devices.
    pub blocks: u64,
    /// Erase units of all devices.
    pub erase_units: u64,
    /// 1, or the number of planes of a device.
    pub blocks_per_erase_unit: u64,
    /// Mapping units of an erase unit, including parity.
    pub units_per_erase_unit: u64,
    /// The part of an erase unit without parity.
    pub data_units_per_erase_unit: u64,
    /// The capacity of an erase unit in SLC mode, without parity.
    pub slc_bytes_per_erase_unit: u64,
    /// Not available to garbage collection: the reserve and the open erase units.
    pub reserve_erase_units: u64,
    /// Erase units that are open at a time.
    pub open_erase_units: u64,
    /// The number of open erase units of each stream: a single block on every die, unless one is filled at a time.
    pub open_blocks_per_stream: u64,
    /// Units for data, without parity and factory bad blocks.
    pub data_units: i64,
    /// Devices of the stripe.
    pub devices: u64,
}

impl DriveCapacity {
    /// The capacity of a drive whose geometry is possible; see `consistency.rs`.
    pub fn of(drive: &Drive, sold_bytes: Option<u64>) -> Result<Self, SpecificationError> {
        let geometry = Geometry::of(drive)?;
        let unit_bytes = u64::from(geometry.mapping_unit_bytes);
        let devices = u64::from(drive.stripe.devices);
        let units_per_erase_unit = u64::from(geometry.units_per_erase_unit());
        let data_units_per_erase_unit = without_parity(units_per_erase_unit, drive);
        let flash_erase_units = u64::from(geometry.erase_units_nominal());
        let slc_bytes_per_erase_unit = slc_bytes_per_erase_unit(drive, &geometry);
        let held_out = drive.ftl.reserved_bytes.div_ceil(units_per_erase_unit * unit_bytes)
            + drive.slc_cache.static_bytes.div_ceil(slc_bytes_per_erase_unit);
        let erase_units = flash_erase_units.saturating_sub(held_out);
        let open_blocks_per_stream = open_blocks_per_stream(drive, &geometry)?;
        let open_for_cache = u64::from(drive.slc_cache.is_on()) + u64::from(drive.slc_cache.dynamic_bytes_max > 0);
        // An open zone's erase units are counted by the zone.
        let streams = if drive.zones.is_on() { 0 } else { u64::from(placement::streams(&drive.ftl.placement)?) };
        let open = streams * open_blocks_per_stream + open_for_cache;
        let data_units = Decimal::of(drive.faults.factory_bad_blocks).rest_of(
            erase_units,
            flash_erase_units,
            data_units_per_erase_unit,
        );
        let flash_units = devices * geometry.physical_units();
        let physical_units = devices * erase_units * units_per_erase_unit;
        let usable_bytes = zones_of(drive)?.map_or(drive.ftl.user_bytes, |zones| zones.usable_bytes());
        let user_units = usable_bytes / unit_bytes;
        let user_units_max = user_units_max(drive, open, data_units, data_units_per_erase_unit);
        let (physical_bytes, user_bytes) = (physical_units * unit_bytes, user_units * unit_bytes);
        let sold_bytes = sold_bytes.unwrap_or(usable_bytes);
        let part = |of: u64| (physical_units as f64 - user_units as f64) / of as f64;
        Ok(Self {
            mapping_unit_bytes: geometry.mapping_unit_bytes,
            flash_units,
            flash_bytes: flash_units * unit_bytes,
            physical_units,
            physical_bytes,
            user_units,
            user_bytes,
            held_out_bytes: flash_units * unit_bytes - physical_bytes,
            spare_bytes: physical_bytes as i64 - user_bytes as i64,
            sold_bytes,
            over_provisioning: part(user_units.max(1)),
            spare_factor: part(physical_units.max(1)),
            hidden_over_provisioning: (physical_bytes as f64 - sold_bytes as f64) / sold_bytes as f64,
            over_provisioning_min: over_provisioning_min(physical_units, user_units_max),
            user_units_max,
            planes: devices * u64::from(geometry.planes),
            blocks: devices * u64::from(geometry.blocks()),
            erase_units: devices * erase_units,
            blocks_per_erase_unit: u64::from(geometry.blocks_per_erase_unit()),
            units_per_erase_unit,
            data_units_per_erase_unit,
            slc_bytes_per_erase_unit,
            reserve_erase_units: devices
                * u64::from(geometry.reclaim_groups)
                * u64::from(drive.ftl.reserve_erase_units),
            open_erase_units: devices * open,
            open_blocks_per_stream,
            data_units: data_units * devices as i64,
            devices,
        })
    }
}

fn without_parity(units: u64, drive: &Drive) -> u64 {
    match u64::from(drive.parity.units_per_stripe) {
        0 => units,
        stripe => units - units.div_ceil(stripe),
    }
}

/// 1 for values that are refused elsewhere.
fn slc_bytes_per_erase_unit(drive: &Drive, geometry: &Geometry) -> u64 {
    let pages = u64::from(geometry.pages_per_block / drive.nand.cell.bits());
    let units = pages * u64::from(geometry.units_per_page) * u64::from(geometry.blocks_per_erase_unit());
    (without_parity(units, drive) * u64::from(geometry.mapping_unit_bytes)).max(1)
}

fn open_blocks_per_stream(drive: &Drive, geometry: &Geometry) -> Result<u64, SpecificationError> {
    let keeps_one = DieChoice::new(&drive.ftl.die_choice)?.keeps_one_block();
    let is_one = geometry.erase_unit == EraseUnitKind::Superblock || keeps_one;
    Ok(if is_one { 1 } else { u64::from(geometry.dies()) })
}

fn user_units_max(drive: &Drive, open: u64, data_units: i64, data_units_per_erase_unit: u64) -> i64 {
    let reserve = u64::from(drive.ftl.reserve_erase_units);
    let held_back = match handles_of(&drive.ftl.placement).filter(|handles| handles.reclaim_groups > 1) {
        // Each group has whole erase units for its share, and may have one less than the others.
        Some(handles) => u64::from(handles.reclaim_groups) * (reserve + u64::from(handles.held_back_erase_units()) + 2),
        None => reserve + open + 1,
    };
    let units = data_units - (held_back * data_units_per_erase_unit) as i64;
    let unit_bytes = i64::from(drive.ftl.mapping_unit_bytes);
    let index_bytes =
        if drive.data_reduction.is_on() { i64::from(drive.data_reduction.index_bytes_per_unit) } else { 0 };
    let units = (units * unit_bytes).div_euclid(unit_bytes + index_bytes);
    let entries = i64::from(drive.map_cache.entries_per_map_page);
    // Each map page in flash occupies a unit, in addition to those that it maps.
    let units = if drive.map_cache.bytes > 0 { (units * entries).div_euclid(entries + 1) } else { units };
    let devices = i64::from(drive.stripe.devices);
    if devices == 1 {
        return units;
    }
    // The first device is the first to be full, with a part of a chunk.
    let chunk_units = (drive.stripe.chunk_bytes as i64 / unit_bytes).max(1);
    devices * units.div_euclid(chunk_units) * chunk_units + units.rem_euclid(chunk_units)
}

fn over_provisioning_min(physical_units: u64, user_units_max: i64) -> Option<f64> {
    let most = u64::try_from(user_units_max).ok().filter(|&most| most > 0)?;
    let spare = u128::from(physical_units.saturating_sub(most));
    Some((spare * 10_000).div_ceil(u128::from(most)) as f64 / 10_000.0)
}

/// A share as its shortest decimal text, so that 0.02 is 2/100 and the result is what a reader computes by hand.
struct Decimal {
    numerator: i128,
    denominator: i128,
}

impl Decimal {
    const DIGITS_MAX: usize = 18;

    fn of(share: f64) -> Self {
        let text = format!("{share:.*}", Self::DIGITS_MAX.min(digits(share)));
        let decimals = text.split_once('.').map_or("", |(_, decimals)| decimals);
        let numerator = format!("0{decimals}").parse().unwrap_or(0);
        Self { numerator, denominator: 10_i128.pow(decimals.len() as u32) }
    }

    /// Units for data in this many erase units, where this share of all is bad.
    fn rest_of(&self, erase_units: u64, all_erase_units: u64, units_per_erase_unit: u64) -> i64 {
        let good = i128::from(erase_units) * self.denominator - i128::from(all_erase_units) * self.numerator;
        (good * i128::from(units_per_erase_unit) / self.denominator) as i64
    }
}

/// The number of decimals of the shortest text that parses to the number.
fn digits(share: f64) -> usize {
    format!("{share}").split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_decimals() {
        let rest = |share| Decimal::of(share).rest_of(1000, 1000, 100);
        assert_eq!([rest(0.0), rest(0.02), rest(0.3), rest(0.07)], [100_000, 98_000, 70_000, 93_000]);
        assert_eq!(rest(1e-300), 100_000);
    }

    #[test]
    fn the_textbook_drive_by_hand() {
        let capacity = DriveCapacity::of(&Drive::textbook(), None).unwrap();
        assert_eq!((capacity.physical_units, capacity.user_units, capacity.open_erase_units), (1024, 768, 1));
        // 64 erase units minus a reserve of one, one open, and one to free.
        assert_eq!(capacity.user_units_max, 61 * 16);
        // 1024 / 976 - 1 = 4.918 %, in hundredths of a percent.
        assert_eq!(capacity.over_provisioning_min, Some(0.0492));
        assert_eq!((capacity.over_provisioning, capacity.spare_factor), (256.0 / 768.0, 0.25));
    }
}
