//! The flash translation layer: a page-level map, frontiers, cleaning, trim, wear levelling.
//!
//! It decides and counts; what it costs in time is the clock's business. It never allocates in its loops.

mod cleaning;
mod free_pool;
mod frontier;
mod inspect;
mod layout;
mod map;
pub mod numbers;
pub mod occupancy;
mod pacing;
mod timed;
mod write;

use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Ledger;
use crate::nand::{Array, Geometry};
use crate::policies::placement::{PlacementPolicy, PoolState, Resident};
use crate::policies::victim::Victim;
use crate::policies::wear::WearLeveling;
use crate::specification::drive::{Drive, SpareArea};
use crate::timing::Clock;
use free_pool::FreePool;
use frontier::Frontier;
pub use inspect::{Capacity, Wear, WearBin};
use layout::Layout;
use map::Map;
use numbers::{EraseUnit, Lpn, Ppn, StreamId};
use occupancy::Occupancy;
use pacing::InProgress;

/// Live units of a victim that are moved at a time: enough to overlap their cache misses, few enough to stay in the
/// innermost cache until they are written.
const MOVED_AT_ONCE: usize = 256;

pub struct Ftl<P: PlacementPolicy, C: Clock> {
    mapping_unit_shift: u32,
    layout: Layout,
    geometry: Geometry,
    array: Array,
    map: Map,
    occupancy: Occupancy,
    frontiers: Vec<Frontier>,
    free: FreePool,
    reserve_erase_units: u32,
    spare_area: SpareArea,
    placement: P,
    victim: Victim,
    wear_leveling: WearLeveling,
    clock: C,
    ledger: Ledger,
    /// Units that the host has written and not trimmed.
    mapped_units: u64,
    erase_units_left: u32,
    erase_count_max: u32,
    closings: u64,
    read_only: Option<ReadOnly>,
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
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Errors name the key of the drive file. Memory for the whole map is taken here and never grows.
    pub fn new(drive: &Drive, placement: P, clock: C, seed: u64) -> Result<Self, SpecificationError> {
        let ftl = &drive.ftl;
        let geometry = Geometry::new(&drive.nand, ftl.mapping_unit_bytes, ftl.erase_unit)?;
        let array = Array::new(geometry, &drive.faults, drive.nand.endurance_cycles, seed);
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
        let layout = Layout::new(geometry.units_per_erase_unit(), stripe);
        let user_units = user_units(ftl.user_bytes, ftl.mapping_unit_bytes)?;
        if ftl.reserve_erase_units == 0 {
            let allowed = "1 or more: cleaning needs an erased unit to move live data to";
            return Err(SpecificationError::new("ftl.reserve_erase_units", 0, allowed));
        }
        let erase_units = array.erase_units();
        let needed = erase_units_needed(user_units, &layout, ftl.reserve_erase_units, placement.streams());
        if u64::from(erase_units) < needed {
            let units_max = u64::from(layout.data_units_per_erase_unit())
                * u64::from(erase_units).saturating_sub(needed - data_erase_units(user_units, &layout));
            let allowed = format!(
                "at most {} bytes: {erase_units} good erase units, less the reserve of {} and {} open ones, must hold it all",
                units_max * u64::from(ftl.mapping_unit_bytes),
                ftl.reserve_erase_units,
                placement.streams()
            );
            return Err(SpecificationError::new("ftl.user_bytes", ftl.user_bytes, allowed));
        }
        let wear_leveling = WearLeveling::new(&ftl.wear_leveling)?;
        let mut free = FreePool::new(wear_leveling.prefers_least_worn());
        (0..erase_units).for_each(|erase_unit| free.put(EraseUnit(erase_unit), 0));
        let map = Map::new(layout, erase_units, user_units).map_err(|error| {
            SpecificationError::new("ftl.user_bytes", ftl.user_bytes, format!("what fits into memory ({error})"))
        })?;
        Ok(Self {
            mapping_unit_shift: ftl.mapping_unit_bytes.trailing_zeros(),
            layout,
            geometry,
            map,
            occupancy: Occupancy::new(erase_units),
            frontiers: vec![Frontier::shut(); usize::from(placement.streams())],
            free,
            reserve_erase_units: ftl.reserve_erase_units,
            spare_area: ftl.spare_area,
            victim: Victim::new(&ftl.victim, erase_units, seed)?,
            wear_leveling,
            clock,
            ledger: Ledger::default(),
            mapped_units: 0,
            erase_units_left: erase_units,
            erase_count_max: 0,
            closings: 0,
            read_only: None,
            streams: vec![StreamId(0); erase_units as usize],
            born_at: vec![0; erase_units as usize],
            closed_at: vec![0; erase_units as usize],
            erase_counts: vec![0; erase_units as usize],
            pools: vec![PoolState::default(); usize::from(placement.streams())],
            moving: Vec::with_capacity(MOVED_AT_ONCE + 64),
            in_progress: None,
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
        self.ledger.programmed_units.host
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

fn data_erase_units(user_units: u32, layout: &Layout) -> u64 {
    u64::from(user_units.div_ceil(layout.data_units_per_erase_unit()))
}

/// Erase units without which a drive whose every address is live cannot clean: the data, the reserve, the open ones.
fn erase_units_needed(user_units: u32, layout: &Layout, reserve: u32, streams: u8) -> u64 {
    data_erase_units(user_units, layout) + u64::from(reserve) + u64::from(streams)
}
