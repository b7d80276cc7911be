//! Inspection of a drive: capacity, wear, and the identities that must always hold.

use super::gc::Gc;
use super::layer::{Layer, check_namespaces};
use super::media::Media;
use crate::nand::occupancy::State;
use crate::specification::drive::SpareArea;
use crate::timing::Clock;
use schemars::JsonSchema;
use serde::Serialize;

/// Capacities, in mapping units unless the name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Capacity {
    /// The unit of the map.
    pub mapping_unit_bytes: u32,
    /// T: all flash except what is held out of it.
    pub physical_units: u64,
    /// U: the units addressable by the host.
    pub user_units: u64,
    /// Erase units of T, including retired ones.
    pub erase_units: u32,
    /// Slots of an erase unit.
    pub units_per_erase_unit: u32,
    /// Slots of an erase unit without parity.
    pub data_units_per_erase_unit: u32,
    /// The unit of the ledger's counters: a mapping unit, or the part of one in which reduced data is packed.
    pub counted_unit_bytes: u32,
    /// Mapped units of the host.
    pub live_units: u64,
    /// The spare area effective for garbage collection, divided by the live units: spare, trimmed and never-written
    /// space minus the reserve, half of each open erase unit, parity and bad blocks. None when nothing is live.
    pub effective_over_provisioning: Option<f64>,
}

/// The distribution of erases over the blocks. Erases after use in SLC mode are apart, because the rated endurance is
/// not for them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Wear {
    /// Statistics of the erase counts.
    pub erase_count: Spread,
    /// Blocks by erase count.
    pub histogram: Vec<WearBin>,
    /// Of the blocks erased after use in SLC mode; None if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_mode: Option<SlcModeWear>,
    /// Blocks that were bad when the drive was new.
    pub bad_blocks_factory: u32,
    /// Blocks that failed since.
    pub bad_blocks_grown: u32,
}

/// The erases of blocks after use in SLC mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlcModeWear {
    /// Blocks with such an erase.
    pub blocks: u32,
    /// Statistics of these blocks' erase counts in SLC mode.
    pub erase_count: Spread,
}

/// The erase counts of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EraseCounts {
    /// Of each block, without erases in SLC mode.
    pub rated: Vec<u32>,
    /// In SLC mode, of each block that was erased in it.
    pub slc_mode: Vec<u32>,
}

/// Statistics of a set of counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// The least count.
    pub min: u32,
    /// The mean.
    pub mean: f64,
    /// The largest count.
    pub max: u32,
    /// The standard deviation.
    pub stddev: f64,
}

/// Blocks with an erase count in a range, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WearBin {
    /// The least erase count of the bin.
    pub erase_count_min: u32,
    /// The largest erase count of the bin.
    pub erase_count_max: u32,
    /// The number of blocks.
    pub blocks: u32,
}

const WEAR_BINS_MAX: u32 = 40;

impl Spread {
    fn of(counts: &[u32]) -> Self {
        let blocks = counts.len() as f64;
        let (min, max) = (counts.iter().copied().min().unwrap_or(0), counts.iter().copied().max().unwrap_or(0));
        let mean = counts.iter().map(|&count| f64::from(count)).sum::<f64>() / blocks;
        let variance = counts.iter().map(|&count| (f64::from(count) - mean).powi(2)).sum::<f64>() / blocks;
        Self { min, mean, max, stddev: variance.sqrt() }
    }
}

impl Wear {
    /// The wear of blocks with these erase counts.
    pub fn of(counts: &EraseCounts, bad_blocks_factory: u32, bad_blocks_grown: u32) -> Self {
        let EraseCounts { rated, slc_mode } = counts;
        let erase_count = Spread::of(rated);
        let Spread { min, max, .. } = erase_count;
        let width = (max - min + 1).div_ceil(WEAR_BINS_MAX);
        let bins = (max - min + 1).div_ceil(width);
        let mut histogram: Vec<WearBin> = (0..bins)
            .map(|bin| {
                let erase_count_min = min + bin * width;
                WearBin { erase_count_min, erase_count_max: erase_count_min + width - 1, blocks: 0 }
            })
            .collect();
        rated.iter().for_each(|&count| histogram[((count - min) / width) as usize].blocks += 1);
        let slc_mode = (!slc_mode.is_empty())
            .then(|| SlcModeWear { blocks: slc_mode.len() as u32, erase_count: Spread::of(slc_mode) });
        Self { erase_count, histogram, slc_mode, bad_blocks_factory, bad_blocks_grown }
    }
}

/// The drive's capacities now.
pub fn capacity<L: Layer, C: Clock>(media: &Media<C>, layer: &L, gc: &Gc) -> Capacity {
    let layout = &media.space.layout;
    let slots_per_unit = layout.slots_per_unit();
    let units_per_erase_unit = layout.units_per_erase_unit() / slots_per_unit;
    let held_out_units = u64::from(media.space.margins.held_out_erase_units) * u64::from(units_per_erase_unit);
    Capacity {
        mapping_unit_bytes: media.map.unit_bytes() as u32,
        physical_units: media.space.array.geometry().physical_units() - held_out_units,
        user_units: u64::from(layer.usable_units(media.map.user_units())),
        erase_units: media.space.wear.erase_units_left,
        units_per_erase_unit,
        data_units_per_erase_unit: layout.data_units_per_erase_unit() / slots_per_unit,
        counted_unit_bytes: media.map.unit_bytes() as u32 / slots_per_unit,
        live_units: media.accounts.mapped_units(),
        effective_over_provisioning: effective_over_provisioning(media, layer, gc),
    }
}

/// See `Capacity::effective_over_provisioning`.
pub fn effective_over_provisioning<L: Layer, C: Clock>(media: &Media<C>, layer: &L, gc: &Gc) -> Option<f64> {
    let (room, live) = room_and_live(media, layer, gc);
    (live > 0.0).then(|| room / live)
}

/// The space effective for garbage collection and the live units, in slots; 0 for a drive without garbage
/// collection.
pub fn room_and_live<L: Layer, C: Clock>(media: &Media<C>, layer: &L, gc: &Gc) -> (f64, f64) {
    if L::IS_ZONED {
        return (0.0, 0.0);
    }
    let (margins, layout) = (&media.space.margins, &media.space.layout);
    let data_units = f64::from(layout.data_units_per_erase_unit());
    let (groups, in_hand) = match &media.space.reclaim_groups {
        Some(groups) => (groups.groups(), groups.in_hand_erase_units),
        None => (1, margins.in_hand_erase_units),
    };
    let mut of_each_group = f64::from(margins.reserve_erase_units);
    if C::PACED {
        // The erase units kept erased, and half of the victim: until its erase its units occupy two slots each.
        of_each_group += f64::from(in_hand) + 0.5;
    }
    let held_back = f64::from(groups) * of_each_group + 0.5 * f64::from(margins.open_erase_units);
    let mut usable = (f64::from(media.space.wear.erase_units_left) - held_back) * data_units;
    if margins.spare_area == SpareArea::Static {
        let empty = f64::from(media.map.user_units()) - media.accounts.mapped_units() as f64;
        usable -= empty * f64::from(media.space.layout.slots_per_unit());
    }
    usable -= layer.map_pages_in_flash() as f64;
    let live = layer.live_slots(media.accounts.mapped_units()) as f64;
    let mut in_t = live;
    if let Some(cache) = &media.space.slc_cache {
        // In SLC mode an erase unit of T holds less; data in the cache's own blocks occupies nothing in T.
        let lost = layout.data_units_per_erase_unit() - media.space.data_units_in_slc_mode();
        usable -= f64::from(cache.dynamic_in_use()) * f64::from(lost);
        in_t -= live_units_kept_apart(media, gc) as f64;
    }
    (usable - in_t, live)
}

/// The cheap identities, checked at the end of every run: each is a sum over erase units.
pub fn check_accounts<L: Layer, C: Clock>(media: &Media<C>, layer: &L, gc: &Gc) -> Result<(), String> {
    let cache = media.space.slc_cache.as_ref();
    let mut live = 0u64;
    let mut programmed_slots = 0u64;
    let units = u64::from(media.space.layout.units_per_erase_unit());
    for erase_unit in media.space.each_erase_unit() {
        match media.space.occupancy.state(erase_unit) {
            State::Closed => {
                programmed_slots += units;
                live += u64::from(media.space.occupancy.live_units(erase_unit));
            }
            State::Open if gc.is_emptying(erase_unit) => {
                programmed_slots += units;
                live += u64::from(media.space.occupancy.live_units(erase_unit));
            }
            State::Open if gc.is_folding(erase_unit) || cache.is_some_and(|cache| cache.holds(erase_unit)) => {
                programmed_slots += u64::from(media.space.layout_of(erase_unit).units_per_erase_unit());
                live += u64::from(media.space.occupancy.live_units(erase_unit));
            }
            State::Open => {
                let written = media.space.written_slots(erase_unit);
                programmed_slots += u64::from(written);
                let unwritten = media.space.layout_of(erase_unit).data_units_from(written);
                live += u64::from(media.space.occupancy.live_units(erase_unit) - unwritten);
            }
            State::Free | State::Retired => {}
        }
    }
    let ledger = media.accounts.ledger();
    let programs = ledger.programmed_units;
    let erased_in_slc_mode = cache.map_or(0, |cache| cache.erased_erase_units());
    let slc_units = cache.map_or(0, |cache| u64::from(cache.layout.units_per_erase_unit()));
    let free = media.space.each_erase_unit().filter(|&unit| media.space.occupancy.state(unit) == State::Free);
    // With data reduction a mapping unit is read for all or for a part of its contents.
    let gc_reads = if L::IS_PACKED { programs.gc } else { ledger.read_units.gc };
    let identities = [
        (
            "live units of all erase units",
            live,
            "mapped units as they are stored and map pages",
            layer.live_slots(media.accounts.mapped_units()) + layer.map_pages_in_flash(),
        ),
        (
            "programs without those of the journal",
            programs.in_erase_units().wrapping_add_signed(media.accounts.unexplained_programs()),
            "erases x units + places programmed since",
            (ledger.erased_erase_units.wrapping_sub(erased_in_slc_mode).wrapping_mul(units)
                + erased_in_slc_mode * slc_units
                + programmed_slots)
                .wrapping_sub(layer.unprogrammed_slots()),
        ),
        ("gc programs", programs.gc, "gc reads", gc_reads),
        ("folded programs", programs.slc_fold, "folding's reads", ledger.read_units.slc_fold),
        (
            "free erase units by state",
            free.count() as u64,
            "free erase units in the pool",
            u64::from(media.space.free_erase_units() + cache.map_or(0, |cache| cache.static_free())),
        ),
    ];
    for (left, left_value, right, right_value) in identities {
        if left_value != right_value {
            return Err(format!("{left} = {left_value}, but {right} = {right_value}"));
        }
    }
    check_namespaces(layer.namespaces(), &media.accounts)
}

fn live_units_kept_apart<C: Clock>(media: &Media<C>, gc: &Gc) -> u64 {
    let Some(cache) = &media.space.slc_cache else { return 0 };
    let space = &media.space;
    let own = space.each_erase_unit().filter(|&erase_unit| cache.is_static(erase_unit));
    own.filter(|&erase_unit| space.occupancy.state(erase_unit) == State::Open)
        .map(|erase_unit| {
            let unwritten = if cache.holds(erase_unit) || gc.is_folding(erase_unit) {
                0
            } else {
                space.unwritten_data_units(erase_unit)
            };
            u64::from(space.occupancy.live_units(erase_unit) - unwritten)
        })
        .sum()
}
