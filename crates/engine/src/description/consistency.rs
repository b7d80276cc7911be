//! Rules between the values of a drive: sizes are multiples of each other, policies exist, features are compatible,
//! garbage collection can work. Each rule is one function that returns all violations.

use super::capacity::DriveCapacity;
use super::{Part, Problem, ProblemKind};
use crate::error::SpecificationError;
use crate::nand::Geometry;
use crate::policies::die_choice::DieChoice;
use crate::specification::drive::{
    Cell, Drive, EraseUnitKind, MapForm, ZonesOfDrive, check_goes_with_groups, check_goes_with_zones, devices_of,
    handles_of, namespace_ends, zones_of,
};
use serde_json::json;

/// The engine stores the run of a segment in 15 bits.
const SEGMENT_UNITS_MAX: u32 = (1 << 15) - 1;
/// It stores the size of reduced data in a byte.
const SLOTS_PER_UNIT_MAX: u32 = 128;

pub fn check(drive: &Drive, part: Part) -> Vec<Problem> {
    let mut problems = super::policy_choices::problems(&drive.ftl);
    problems.extend(times(drive));
    let geometry = match Geometry::of(drive) {
        Ok(geometry) => geometry,
        Err(error) => return with(problems, [error.into()]),
    };
    let rules = [erase_units, die_choice, slc_cache, background, data_reduction, parity];
    problems.extend(rules.iter().flat_map(|rule| rule(drive, &geometry)));
    if part == Part::All {
        let rules = [user_bytes, stripe, map_cache, read_ahead, zones, namespaces, reclaim_groups];
        problems.extend(rules.iter().flat_map(|rule| rule(drive, &geometry)));
    }
    if part == Part::All && problems.is_empty() {
        problems.extend(spare_area(drive));
    }
    problems
}

fn with(mut problems: Vec<Problem>, more: impl IntoIterator<Item = Problem>) -> Vec<Problem> {
    problems.extend(more);
    problems
}

/// None if the rule holds, otherwise the problem.
fn unless(holds: bool, problem: impl FnOnce() -> Problem) -> Option<Problem> {
    (!holds).then(problem)
}

impl From<SpecificationError> for Problem {
    fn from(error: SpecificationError) -> Self {
        let value = serde_json::from_str(&error.value).unwrap_or_else(|_| json!(error.value));
        Self::value(error.key, value, error.allowed)
    }
}

fn times(drive: &Drive) -> Vec<Problem> {
    let limits = [drive.read_retries.check(), drive.power.check()];
    let checks = [drive.nand.check_times(), drive.host_link.rate().map(drop)].into_iter().chain(limits);
    checks.filter_map(Result::err).map(Problem::from).collect()
}

fn erase_units(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let pages = drive.nand.pages_per_block;
    let two = unless(geometry.units_per_erase_unit() >= 2, || {
        Problem::value("nand.pages_per_block", pages, "2 or more: an erase unit holds two mapping units or more")
    });
    let bytes = u64::from(geometry.units_per_erase_unit()) * u64::from(geometry.mapping_unit_bytes);
    let erase_units = u64::from(geometry.erase_units_nominal());
    let reserved = drive.ftl.reserved_bytes;
    let left = unless(reserved.div_ceil(bytes) < erase_units, || {
        let allowed = format!("so small that one or more of the {erase_units} erase units of {bytes} B are left");
        Problem::value("ftl.reserved_bytes", reserved, allowed)
    });
    two.into_iter().chain(left).collect()
}

fn die_choice(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let choice = &drive.ftl.die_choice;
    let Ok(policy) = DieChoice::new(choice) else { return Vec::new() };
    if geometry.erase_unit == EraseUnitKind::Superblock {
        let in_turn = unless(choice.name == "round-robin", || {
            let allowed = "'round-robin' with ftl.erase_unit = 'superblock', whose blocks are filled in turn; with 'block' \
                           each die has an open block of its own";
            Problem::value("ftl.die_choice", &*choice.name, allowed)
        });
        return in_turn.into_iter().collect();
    }
    let has_one_frontier = drive.slc_cache.is_on() || drive.data_reduction.is_on();
    let is_one = !has_one_frontier || geometry.dies() == 1 || policy.keeps_one_block();
    let one = unless(is_one, || {
        let allowed = "'one-block' for a drive of single blocks on several dies with an [slc_cache] or data reduction";
        Problem::value("ftl.die_choice", &*choice.name, allowed)
    });
    one.into_iter().collect()
}

fn slc_cache(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let cache = &drive.slc_cache;
    if !cache.is_on() {
        return Vec::new();
    }
    if drive.nand.cell == Cell::Slc {
        let allowed = "of more than one bit for a drive with an [slc_cache]";
        return vec![Problem::value("nand.cell", "slc", allowed)];
    }
    let bits = drive.nand.cell.bits();
    let pages = unless(drive.nand.pages_per_block >= 2 * bits, || {
        let allowed = format!("at least {}: in SLC mode a block holds 1/{bits} of its pages", 2 * bits);
        Problem::value("nand.pages_per_block", drive.nand.pages_per_block, allowed)
    });
    let placement = unless(drive.ftl.placement.name == "host-gc-split", || {
        let allowed = "'host-gc-split' for a drive with an [slc_cache]: what is moved must not go to the cache";
        Problem::value("ftl.placement", &*drive.ftl.placement.name, allowed)
    });
    let fits = DriveCapacity::of(drive, None).ok().and_then(|capacity| {
        unless(capacity.erase_units > 0, || {
            let flash_bytes = u64::from(geometry.erase_units_nominal()) * capacity.slc_bytes_per_erase_unit;
            let allowed =
                format!("less than the {flash_bytes} B that the flash holds in SLC mode, with ftl.reserved_bytes");
            Problem::value("slc_cache.static_bytes", cache.static_bytes, allowed)
        })
    });
    [pages, placement, fits].into_iter().flatten().collect()
}

fn background(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let background = &drive.background;
    let leveling = unless(!background.wear_leveling || drive.ftl.wear_leveling.name == "static", || {
        let allowed = "false, or true with ftl.wear_leveling = 'static': no other has work for idle time";
        Problem::value("background.wear_leveling", true, allowed)
    });
    let unit_bytes = u64::from(geometry.mapping_unit_bytes);
    let erase_unit_bytes = u64::from(geometry.units_per_erase_unit()) * unit_bytes;
    let pool = DriveCapacity::of(drive, None).ok().and_then(|capacity| {
        let of_device = capacity.erase_units / capacity.devices.max(1);
        unless(background.erased_pool_bytes.div_ceil(erase_unit_bytes) < of_device.max(1), || {
            let allowed = format!("less than the {} B of flash", capacity.physical_bytes);
            Problem::value("background.erased_pool_bytes", background.erased_pool_bytes, allowed)
        })
    });
    leveling.into_iter().chain(pool).collect()
}

fn data_reduction(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let reduction = &drive.data_reduction;
    if !reduction.is_on() {
        return Vec::new();
    }
    let (unit, packing) = (geometry.mapping_unit_bytes, reduction.packing_bytes);
    let least = (unit / SLOTS_PER_UNIT_MAX).max(1);
    let is_packing = packing.is_power_of_two() && (least..=unit).contains(&packing);
    let power = unless(is_packing, || {
        let allowed = format!("a power of two from {least} to ftl.mapping_unit_bytes = {unit}");
        Problem::value("data_reduction.packing_bytes", packing, allowed)
    });
    let pieces = u128::from(geometry.physical_units()) * u128::from(unit / packing.max(1));
    let map = unless(!is_packing || pieces < u128::from(u32::MAX), || {
        let most = u32::MAX - 1;
        let allowed = format!("larger: it makes more pieces of the flash than the {most} of a map of 32 bits an entry");
        Problem::value("data_reduction.packing_bytes", packing, allowed)
    });
    let index = unless(reduction.index_bytes_per_unit <= packing / 4, || {
        let allowed = format!("at most a quarter of data_reduction.packing_bytes, {}", packing / 4);
        Problem::value("data_reduction.index_bytes_per_unit", reduction.index_bytes_per_unit, allowed)
    });
    let reserve = unless(drive.ftl.reserve_erase_units >= 2, || {
        let allowed = "2 or more with data reduction: what is moved may be packed less tightly than it was";
        Problem::value("ftl.reserve_erase_units", drive.ftl.reserve_erase_units, allowed)
    });
    let map_cache = unless(drive.map_cache.bytes == 0, || {
        Problem::value("map_cache.bytes", drive.map_cache.bytes, "0 with data_reduction; one of them should be off")
    });
    let ahead = unless(drive.read_ahead.window_bytes == 0, || {
        let value = drive.read_ahead.window_bytes;
        Problem::value("read_ahead.window_bytes", value, "0 with data_reduction; one of them should be off")
    });
    let slc = unless(!drive.slc_cache.is_on(), || {
        let allowed = "off with data_reduction; one of them should be off";
        Problem::value("slc_cache", "on", allowed)
    });
    let order = unless(!drive.background.defragment, || {
        let allowed = "false with data reduction: units of different sizes are not put in order";
        Problem::value("background.defragment", true, allowed)
    });
    [power, map, index, reserve, map_cache, ahead, slc, order].into_iter().flatten().collect()
}

fn parity(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let (stripe, units) = (drive.parity.units_per_stripe, geometry.units_per_erase_unit());
    let fits = unless(stripe != 1 && stripe <= units, || {
        let allowed = format!(
            "0 (none), or at least 2 (with 1 every unit would hold parity) and at most the {units} mapping units of an \
             erase unit"
        );
        Problem::value("parity.units_per_stripe", stripe, allowed)
    });
    fits.into_iter().collect()
}

fn user_bytes(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let (bytes, unit) = (drive.ftl.user_bytes, u64::from(geometry.mapping_unit_bytes));
    let whole = unless(bytes.is_multiple_of(unit), || {
        let allowed =
            format!("a whole number of mapping units of {unit} B; the next below is {}", bytes - bytes % unit);
        Problem::value("ftl.user_bytes", bytes, allowed)
    });
    whole.into_iter().collect()
}

fn stripe(drive: &Drive, _: &Geometry) -> Vec<Problem> {
    if !drive.stripe.is_on() {
        return Vec::new();
    }
    devices_of(drive).err().map(Problem::from).into_iter().collect()
}

fn map_cache(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let cache = &drive.map_cache;
    if cache.bytes == 0 {
        return Vec::new();
    }
    let unit = u64::from(geometry.mapping_unit_bytes);
    let map_page_bytes = u64::from(cache.entries_per_map_page) * u64::from(cache.entry_bytes);
    let entries = "map_cache.entries_per_map_page";
    let is_page = unless(map_page_bytes <= unit, || {
        let allowed = format!(
            "such that with {} B each they are at most a mapping unit of {unit} B: a map page is one",
            cache.entry_bytes
        );
        Problem::value(entries, cache.entries_per_map_page, allowed)
    });
    let is_segment = unless(cache.form != MapForm::Extent || cache.entries_per_map_page <= SEGMENT_UNITS_MAX, || {
        let allowed = format!("at most {SEGMENT_UNITS_MAX} for a map of extents");
        Problem::value(entries, cache.entries_per_map_page, allowed)
    });
    let holds_one = unless(cache.bytes >= map_page_bytes, || {
        let allowed = format!("0 (the whole map in memory) or at least a map page of {map_page_bytes} B");
        Problem::value("map_cache.bytes", cache.bytes, allowed)
    });
    [is_page, is_segment, holds_one].into_iter().flatten().collect()
}

fn read_ahead(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let (ahead, unit) = (&drive.read_ahead, u64::from(geometry.mapping_unit_bytes));
    let is_whole = ahead.segment_bytes.is_multiple_of(unit) && ahead.segment_bytes <= ahead.window_bytes;
    let fits = unless(ahead.window_bytes == 0 || is_whole, || {
        let allowed = format!(
            "a multiple of a mapping unit of {unit} B, and at most read_ahead.window_bytes = {}",
            ahead.window_bytes
        );
        Problem::value("read_ahead.segment_bytes", ahead.segment_bytes, allowed)
    });
    fits.into_iter().collect()
}

fn zones(drive: &Drive, _: &Geometry) -> Vec<Problem> {
    [zones_of(drive).map(drop), check_goes_with_zones(drive)]
        .into_iter()
        .filter_map(Result::err)
        .map(Problem::from)
        .collect()
}

fn namespaces(drive: &Drive, _: &Geometry) -> Vec<Problem> {
    namespace_ends(drive).err().map(Problem::from).into_iter().collect()
}

fn reclaim_groups(drive: &Drive, geometry: &Geometry) -> Vec<Problem> {
    let groups = check_goes_with_groups(drive).err().map(Problem::from);
    groups.into_iter().chain(reclaim_units(drive, geometry)).collect()
}

fn reclaim_units(drive: &Drive, geometry: &Geometry) -> Option<Problem> {
    let handles = handles_of(&drive.ftl.placement)?;
    handles.check_reclaim_unit(geometry.erase_units_nominal()).err().map(Problem::from)
}

/// Each zone has erase units of its own.
fn room_for_zones(drive: &Drive, capacity: &DriveCapacity, zones: &ZonesOfDrive) -> Option<Problem> {
    let unit_bytes = u64::from(capacity.mapping_unit_bytes);
    let data_bytes = capacity.data_units_per_erase_unit * unit_bytes;
    let per_zone = zones.capacity_bytes.div_ceil(data_bytes);
    let good = u64::try_from(capacity.data_units).unwrap_or(0) / capacity.data_units_per_erase_unit;
    let most = good.saturating_sub(capacity.reserve_erase_units) / per_zone;
    unless(u64::from(zones.count) <= most, || {
        let allowed = format!(
            "at most {} B, {most} zones: each takes {per_zone} erase units of {data_bytes} B for data, and of {good} good \
             ones {} are the free reserve",
            most * zones.zone_bytes,
            capacity.reserve_erase_units
        );
        let problem = Problem::value("ftl.user_bytes", drive.ftl.user_bytes, allowed);
        Problem { kind: ProblemKind::SpareArea, ..problem }
    })
}

/// Garbage collection must be able to free space, and the host must have capacity.
fn spare_area(drive: &Drive) -> Option<Problem> {
    let capacity = match DriveCapacity::of(drive, None) {
        Ok(capacity) => capacity,
        Err(error) => return Some(error.into()),
    };
    if let Ok(Some(zones)) = zones_of(drive) {
        return room_for_zones(drive, &capacity, &zones);
    }
    if capacity.user_units < 1 {
        let allowed = format!("at least one mapping unit ({} B)", capacity.mapping_unit_bytes);
        return Some(Problem::value("ftl.user_bytes", drive.ftl.user_bytes, allowed));
    }
    if i64::try_from(capacity.user_units).is_ok_and(|user_units| user_units <= capacity.user_units_max) {
        return None;
    }
    let held_back = format!(
        "{} erase units, of which {} are the free reserve, {} are open and {} must be left for garbage collection",
        capacity.erase_units, capacity.reserve_erase_units, capacity.open_erase_units, capacity.devices
    );
    let allowed = match capacity.over_provisioning_min {
        None => format!("no over-provisioning makes this drive work: it has {held_back}"),
        Some(least) => format!(
            "the least over-provisioning for this drive is {} %, that is {} B for the host (it has {held_back})",
            percent(least),
            capacity.user_units_max * i64::from(capacity.mapping_unit_bytes)
        ),
    };
    let problem = Problem::value("ftl.user_bytes", drive.ftl.user_bytes, allowed);
    Some(Problem { kind: ProblemKind::SpareArea, ..problem })
}

/// With up to two decimals.
fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
