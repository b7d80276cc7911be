//! The flash translation layer: a page-level map, frontiers, cleaning, trim, wear levelling.
//!
//! It decides and counts; what it costs in time is the clock's business. It never allocates in its loops.

mod beside;
mod cleaning;
mod free_pool;
mod frontier;
mod housekeeping;
mod inspect;
mod lanes;
mod layout;
mod map;
mod map_cache;
pub mod numbers;
mod observed;
pub mod occupancy;
mod order;
mod pacing;
pub mod picture;
pub mod recovery;
mod reduction;
mod refresh;
mod slc_cache;
mod slc_fold;
mod state;
mod timed;
mod write;

use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Ledger;
use crate::nand::{Array, Geometry};
use crate::policies::pacing::Pacing;
use crate::policies::placement::{PlacementPolicy, PoolState, Resident};
use crate::policies::victim::Victim;
use crate::policies::wear::WearLeveling;
use crate::specification::drive::{Drive, SpareArea};
use crate::timing::Clock;
use free_pool::FreePool;
use frontier::Frontier;
use housekeeping::Upkeep;
pub use inspect::{Capacity, Spread, Wear, WearBin};
use lanes::Lanes;
use layout::Layout;
use map::Map;
use map_cache::MapCache;
use numbers::{EraseUnit, Lpn, Ppn, StreamId};
use observed::Observed;
use occupancy::Occupancy;
use pacing::InProgress;
use reduction::Reduction;
pub use reduction::contents;
use slc_cache::SlcCache;
pub use state::StateError;

/// Live units of a victim that are moved at a time: enough to overlap their cache misses, few enough to stay in the
/// innermost cache until they are written.
const MOVED_AT_ONCE: usize = 256;

pub struct Ftl<P: PlacementPolicy, C: Clock> {
    mapping_unit_shift: u32,
    layout: Layout,
    geometry: Geometry,
    /// Not part of T: the drive's own, and the SLC cache's.
    held_out_erase_units: u32,
    /// How many may stand open at a time.
    open_erase_units: u32,
    array: Array,
    map: Map,
    /// Only for a drive that does not hold the whole map in memory.
    map_cache: Option<Box<MapCache>>,
    /// Only for a drive that reduces data; its places are then smaller than a mapping unit.
    reduction: Option<Box<Reduction>>,
    occupancy: Occupancy,
    frontiers: Vec<Frontier>,
    /// Only for a drive whose streams have a block open on every die.
    lanes: Option<Box<Lanes>>,
    free: FreePool,
    reserve_erase_units: u32,
    /// Erased erase units beyond the reserve below which cleaning runs; only with a clock.
    in_hand_erase_units: u32,
    spare_area: SpareArea,
    placement: P,
    victim: Victim,
    wear_leveling: WearLeveling,
    pacing: Pacing,
    clock: C,
    ledger: Ledger,
    /// Units that the host has written and not trimmed.
    mapped_units: u64,
    erase_units_left: u32,
    erase_count_max: u32,
    closings: u64,
    read_only: Option<ReadOnly>,
    /// Programs that the ledger does not know of, because the process that made them was killed.
    unexplained_programs: i64,
    // By erase unit.
    streams: Vec<StreamId>,
    /// When the host wrote what it holds, on average.
    born_at: Vec<u64>,
    closed_at: Vec<u64>,
    erase_counts: Vec<u32>,
    /// By stream; kept only for pooled placements.
    pools: Vec<PoolState>,
    /// Live units of the victim that are on their way.
    moving: Vec<(Lpn, Ppn)>,
    /// The victim that is being emptied while the host goes on; never any without a clock.
    in_progress: Option<InProgress>,
    /// What idle time is used for, if for anything; never without a clock.
    upkeep: Option<Box<Upkeep>>,
    slc_cache: Option<Box<SlcCache>>,
    /// Only for a drive that someone watches.
    observed: Option<Box<Observed>>,
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Errors name the key of the drive file. Memory for the whole map is taken here and never grows.
    pub fn new(drive: &Drive, placement: P, clock: C, seed: u64) -> Result<Self, SpecificationError> {
        let ftl = &drive.ftl;
        let geometry = Geometry::new(&drive.nand, ftl.mapping_unit_bytes, ftl.erase_unit)?;
        let mut array = Array::new(geometry, &drive.faults, drive.nand.endurance_cycles, seed);
        if geometry.units_per_erase_unit() < 2 {
            let allowed = "so many that an erase unit holds at least two mapping units";
            return Err(SpecificationError::new("nand.pages_per_block", drive.nand.pages_per_block, allowed));
        }
        let stripe = drive.parity.units_per_stripe;
        if stripe == 1 || stripe > geometry.units_per_erase_unit() {
            let allowed =
                format!("0 for none, or from 2 to the {} units of an erase unit", geometry.units_per_erase_unit());
            return Err(SpecificationError::new("parity.units_per_stripe", stripe, allowed));
        }
        reduction::check(drive)?;
        let places_per_unit = reduction::places_per_unit(drive);
        if geometry.physical_units() * u64::from(places_per_unit) >= u64::from(u32::MAX) {
            let allowed = "so large that all of the flash has fewer than 2^32 of them";
            let value = drive.data_reduction.packing_bytes;
            return Err(SpecificationError::new("data_reduction.packing_bytes", value, allowed));
        }
        let layout = Layout::new(geometry.units_per_erase_unit(), stripe, places_per_unit);
        let reserved_erase_units = reserved_erase_units(ftl.reserved_bytes, &geometry)?;
        array.hold_out(reserved_erase_units);
        let (static_erase_units, slc_units) = slc_cache::static_erase_units(drive, &geometry)?;
        array.keep_apart(static_erase_units);
        let user_units = user_units(ftl.user_bytes, ftl.mapping_unit_bytes)?;
        if ftl.reserve_erase_units == 0 {
            let allowed = "1 or more: cleaning needs an erased unit to move live data to";
            return Err(SpecificationError::new("ftl.reserve_erase_units", 0, allowed));
        }
        let reduction = Reduction::new(drive, user_units, placement.streams(), seed)?;
        // A host may write what cannot be reduced to all of its addresses, and every unit has its index entry.
        let user_places = reduction.as_ref().map_or(u64::from(user_units), |reduction| reduction.places_of_all());
        // Those of T, and with those of the SLC cache.
        let erase_units = array.erase_units();
        let all_erase_units = erase_units + static_erase_units;
        let map_cache = MapCache::new(&drive.map_cache, ftl.mapping_unit_bytes, user_units)?;
        let map_pages = map_cache.as_ref().map_or(0, MapCache::pages);
        if user_units.checked_add(map_pages).is_none() {
            let allowed = "fewer than 2^32 mapping units with the map pages";
            return Err(SpecificationError::new("ftl.user_bytes", ftl.user_bytes, allowed));
        }
        let places = user_places + u64::from(map_pages);
        let open_blocks = lanes::open_blocks_per_stream(drive, &geometry)?;
        let open_erase_units = u32::from(placement.streams()) * open_blocks + slc_cache::open_erase_units(drive);
        let needed = erase_units_needed(places, &layout, ftl.reserve_erase_units, open_erase_units);
        if u64::from(erase_units) < needed {
            let units_max = u64::from(layout.data_units_per_erase_unit())
                * u64::from(erase_units).saturating_sub(needed - data_erase_units(places, &layout))
                / u64::from(places_per_unit);
            let allowed = format!(
                "at most {} bytes: {erase_units} good erase units, less the reserve of {} and {} open ones, must hold it all",
                units_max.saturating_sub(u64::from(map_pages)) * u64::from(ftl.mapping_unit_bytes),
                ftl.reserve_erase_units,
                open_erase_units
            );
            return Err(SpecificationError::new("ftl.user_bytes", ftl.user_bytes, allowed));
        }
        let wear_leveling = WearLeveling::new(&ftl.wear_leveling)?;
        let die_of = if open_blocks > 1 { array.dies_of_erase_units() } else { Vec::new() };
        let lanes = (open_blocks > 1).then(|| Lanes::new(drive, &geometry, placement.streams(), &die_of, seed));
        let mut free = FreePool::new(wear_leveling.prefers_least_worn(), open_blocks, die_of);
        (0..erase_units).for_each(|erase_unit| free.put(EraseUnit(erase_unit), 0));
        let map = Map::new(layout, all_erase_units, user_units, map_pages).map_err(|error| {
            SpecificationError::new("ftl.user_bytes", ftl.user_bytes, format!("what fits into memory ({error})"))
        })?;
        Ok(Self {
            mapping_unit_shift: ftl.mapping_unit_bytes.trailing_zeros(),
            layout,
            geometry,
            held_out_erase_units: reserved_erase_units + static_erase_units,
            open_erase_units,
            map,
            map_cache: map_cache.map(Box::new),
            reduction: reduction.map(Box::new),
            occupancy: Occupancy::new(all_erase_units),
            frontiers: vec![Frontier::shut(); usize::from(placement.streams()) + usize::from(drive.slc_cache.is_on())],
            lanes,
            free,
            reserve_erase_units: ftl.reserve_erase_units,
            in_hand_erase_units: pacing::in_hand(open_blocks, u64::from(erase_units) - needed),
            spare_area: ftl.spare_area,
            victim: Victim::new(&ftl.victim, all_erase_units, seed)?,
            wear_leveling,
            pacing: Pacing::new(&ftl.pacing)?,
            clock,
            ledger: Ledger::default(),
            mapped_units: 0,
            erase_units_left: erase_units,
            erase_count_max: 0,
            closings: 0,
            read_only: None,
            unexplained_programs: 0,
            streams: vec![StreamId(0); all_erase_units as usize],
            born_at: vec![0; all_erase_units as usize],
            closed_at: vec![0; all_erase_units as usize],
            erase_counts: vec![0; all_erase_units as usize],
            pools: vec![PoolState::default(); usize::from(placement.streams())],
            moving: Vec::with_capacity(MOVED_AT_ONCE + 64),
            in_progress: None,
            upkeep: if C::PACED { Upkeep::new(drive, &geometry, all_erase_units, open_blocks)? } else { None },
            slc_cache: drive
                .slc_cache
                .is_on()
                .then(|| SlcCache::new(drive, slc_units, all_erase_units, static_erase_units)),
            observed: None,
            array,
            placement,
        })
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub fn read_only(&self) -> Option<ReadOnly> {
        self.read_only
    }

    pub fn user_bytes(&self) -> u64 {
        u64::from(self.map.user_units()) << self.mapping_unit_shift
    }

    pub fn clock_mut(&mut self) -> &mut C {
        &mut self.clock
    }

    /// Host units written since the drive was new: the time that placement and ages go by.
    fn now(&self) -> u64 {
        self.reduction.as_ref().map_or(self.ledger.programmed_units.host, |reduction| reduction.host_units())
    }

    fn resident(&self, erase_unit: EraseUnit) -> Resident {
        let age = self.now().saturating_sub(self.born_at[erase_unit.index()]);
        Resident { stream: self.streams[erase_unit.index()], age }
    }
}

fn user_units(user_bytes: u64, mapping_unit_bytes: u32) -> Result<u32, SpecificationError> {
    let unit = u64::from(mapping_unit_bytes);
    if user_bytes == 0 || !user_bytes.is_multiple_of(unit) {
        let allowed = format!("a multiple of ftl.mapping_unit_bytes, {unit}, above 0");
        return Err(SpecificationError::new("ftl.user_bytes", user_bytes, allowed));
    }
    u32::try_from(user_bytes / unit).map_err(|_| {
        SpecificationError::new("ftl.user_bytes", user_bytes, format!("fewer than 2^32 mapping units of {unit} bytes"))
    })
}

/// Of the drive's own, in whole erase units.
fn reserved_erase_units(reserved_bytes: u64, geometry: &Geometry) -> Result<u32, SpecificationError> {
    let bytes = u64::from(geometry.units_per_erase_unit()) * u64::from(geometry.mapping_unit_bytes);
    let erase_units = geometry.erase_units_nominal();
    let reserved = u32::try_from(reserved_bytes.div_ceil(bytes)).unwrap_or(u32::MAX);
    if reserved < erase_units {
        return Ok(reserved);
    }
    let allowed = format!("less than the {erase_units} erase units of {bytes} bytes that the flash makes");
    Err(SpecificationError::new("ftl.reserved_bytes", reserved_bytes, allowed))
}

fn data_erase_units(user_places: u64, layout: &Layout) -> u64 {
    user_places.div_ceil(u64::from(layout.data_units_per_erase_unit()))
}

/// Erase units without which a drive whose every address is live cannot clean: the data, the reserve, the open ones.
fn erase_units_needed(user_places: u64, layout: &Layout, reserve: u32, open: u32) -> u64 {
    data_erase_units(user_places, layout) + u64::from(reserve) + u64::from(open)
}
