//! The flash translation layer: page-level mapping, open erase units, garbage collection, trim, wear levelling.
//!
//! It takes decisions and counts; the clock assigns times to them. Its loops allocate no memory.
//!
//! `Ftl` builds the parts and hands them on: `media` writes erase units, with `space` that assigns them to streams, the
//! map and `accounts`, which counts; `gc` moves units and makes space; the layer defines where a unit is stored and how
//! it is read, written and moved; `host` splits the host's requests.

mod accounts;
mod background;
mod found;
mod gc;
mod host;
mod inspect;
mod layer;
mod listeners;
mod map;
mod media;
mod moving;
mod observed;
mod order;
pub mod picture;
mod placement_log;
mod reclaim_groups;
pub mod recovery;
mod refresh;
mod space;
mod state;
mod timed;

use crate::error::{ReadOnly, Refused, SpecificationError, ZoneStatus};
use crate::ledger::Ledger;
use crate::nand::occupancy::Occupancy;
use crate::nand::{Array, Geometry};
use crate::policies::placement::Placement;
use crate::policies::victim::Victim;
use crate::request::Request;
use crate::specification::drive::Drive;
use crate::timing::Clock;
use crate::timing::drive::Idle;
use crate::units::{EraseUnit, StreamId};
use accounts::Accounts;
use background::Background;
use gc::Gc;
pub use inspect::{Capacity, EraseCounts, SlcModeWear, Spread, Wear, WearBin};
pub use layer::reduced::contents;
pub use layer::{Layer, MapCached, NamespaceCounts, Plain, Reduced, Zoned, is_map_cached, is_reduced, zoned};
use listeners::Listeners;
use map::Map;
use media::Media;
use placement_log::PlacementLog;
pub use placement_log::{HandleStatus, PlacementEvent, PlacementEventKind, PlacementReport};
pub use space::GroupCounts;
use space::slc_cache::{self, SlcCache};
use space::{Filled, FreePool, Frontier, Layout, Margins, OpenBlocks, Space};
use state::AtRest;
pub use state::StateError;
use std::io::{Read, Write};
use std::ops::Range;
use zoned::{ZoneCounts, ZoneTable};

/// How many requests ahead the validity bits of old copies are prefetched; map entries are prefetched twice as far
/// ahead.
const AHEAD: usize = 24;

/// A translation layer with layer `L` and clock `C`.
pub struct Ftl<L, C> {
    media: Media<C>,
    layer: L,
    gc: Gc,
    /// Background operations in idle time, if the drive has any; never without a clock.
    background: Option<Box<Background>>,
}

impl<C: Clock> Ftl<Plain, C> {
    /// A drive with its whole map in memory and without data reduction. Errors name the key of the drive file.
    pub fn new(drive: &Drive, clock: C, seed: u64) -> Result<Self, SpecificationError> {
        let is_other = is_reduced(drive) || is_map_cached(drive);
        assert!(!is_other, "such a drive has another layer");
        Self::with_layer(drive, clock, seed)
    }
}

impl<L: Layer, C: Clock> Ftl<L, C> {
    /// Errors name the key of the drive file. Allocates memory for the whole map, which never grows.
    pub fn with_layer(drive: &Drive, clock: C, seed: u64) -> Result<Self, SpecificationError> {
        let ftl = &drive.ftl;
        let geometry = Geometry::of(drive)?;
        let mut array = Array::new(geometry, &drive.faults, drive.nand.endurance_cycles, seed);
        let layout = L::layout(drive, &geometry)?;
        let reserved_erase_units = reserved_erase_units(ftl.reserved_bytes, &geometry)?;
        array.hold_out(reserved_erase_units);
        let (static_erase_units, slc_units) = slc_cache::static_erase_units(drive, &geometry)?;
        array.keep_apart(static_erase_units);
        let user_units = user_units(ftl.user_bytes, ftl.mapping_unit_bytes)?;
        if ftl.reserve_erase_units == 0 {
            let allowed = "1 or more: garbage collection needs an erased unit to move live data to";
            return Err(SpecificationError::new("ftl.reserve_erase_units", 0, allowed));
        }
        let placement = Placement::of(drive)?;
        let layer = L::new(drive, user_units, placement.streams(), seed)?;
        // Including the erase units of the SLC cache.
        let erase_units = array.erase_units();
        let all_erase_units = erase_units + static_erase_units;
        let map_pages = layer.map_pages();
        if user_units.checked_add(map_pages).is_none() {
            let allowed = "fewer than 2^32 mapping units with the map pages";
            return Err(SpecificationError::new("ftl.user_bytes", ftl.user_bytes, allowed));
        }
        let blocks_open_per_stream = space::open_blocks_per_stream(drive, &geometry)?;
        // An open zone's erase units are counted by the zone.
        let open_by_streams = if L::IS_ZONED { 0 } else { u32::from(placement.streams()) * blocks_open_per_stream };
        let mut margins = Margins {
            reserve_erase_units: ftl.reserve_erase_units,
            in_hand_erase_units: 0,
            open_erase_units: open_by_streams + slc_cache::open_erase_units(drive),
            held_out_erase_units: reserved_erase_units + static_erase_units,
            needed_erase_units: 0,
            spare_area: ftl.spare_area,
        };
        // The host may write incompressible data to all addresses, and every unit has an index entry.
        let slots = layer.slots_of_all(user_units + map_pages);
        let needed = space::erase_units_needed(slots, &layout, &margins);
        if u64::from(erase_units) < needed {
            return Err(too_little_space(ftl, &layout, &margins, erase_units, needed, slots, map_pages));
        }
        margins.needed_erase_units = needed as u32;
        margins.in_hand_erase_units = space::in_hand(blocks_open_per_stream, u64::from(erase_units) - needed);
        let victim = Victim::new(&ftl.victim, all_erase_units)?;
        let mut gc = Gc::new::<C>(drive, seed)?;
        let mut reclaim_groups = reclaim_groups::of_drive(drive, erase_units, user_units, &layout, &margins)?;
        let die_of = match &reclaim_groups {
            Some(groups) => groups.group_of_each(erase_units),
            None if blocks_open_per_stream > 1 => array.dies_of_erase_units(),
            None => Vec::new(),
        };
        let occupancy = Occupancy::new(all_erase_units).with_dies(&die_of);
        let open_blocks =
            (blocks_open_per_stream > 1).then(|| OpenBlocks::new(drive, &geometry, placement.streams(), &die_of, seed));
        let free = if let Some(groups) = &mut reclaim_groups {
            margins.in_hand_erase_units = erase_units;
            gc.wait_in_groups(groups.groups());
            groups.begin()
        } else {
            let mut free = FreePool::new(gc.wear_leveling.prefers_least_worn(), blocks_open_per_stream, die_of);
            (0..erase_units).for_each(|erase_unit| free.put(EraseUnit(erase_unit), 0));
            free
        };
        let map = Map::new(layout, all_erase_units, (user_units, map_pages), ftl.mapping_unit_bytes, L::IS_PACKED);
        let map = map.map_err(|error| {
            SpecificationError::new("ftl.user_bytes", ftl.user_bytes, format!("what fits into memory ({error})"))
        })?;
        let has_slc_cache = drive.slc_cache.is_on();
        let slc_cache = has_slc_cache.then(|| SlcCache::new(drive, slc_units, all_erase_units, static_erase_units));
        let mut listeners = Listeners::default();
        if let Some(handles) = placement.handles() {
            listeners.placement_log = Some(Box::new(PlacementLog::new(handles, erase_units)?));
        }
        let background = if C::PACED {
            Background::new(drive, &geometry, all_erase_units, blocks_open_per_stream, &mut listeners)?
        } else {
            None
        };
        let space = Space {
            layout,
            margins,
            occupancy,
            free,
            frontiers: vec![Frontier::shut(); usize::from(placement.streams()) + usize::from(has_slc_cache)],
            open_blocks,
            reclaim_groups,
            slc_cache,
            filled: Filled::new(all_erase_units),
            wear: space::Wear::new(all_erase_units, erase_units),
            array,
        };
        let accounts = Accounts::new(&placement, L::IS_PACKED);
        let read_only = None;
        let media = Media { map, space, accounts, placement, victim, listeners, clock, read_only };
        Ok(Self { media, layer, gc, background })
    }

    /// The counters since the drive was new.
    pub fn ledger(&self) -> &Ledger {
        self.media.accounts.ledger()
    }

    /// Why the drive is read-only; None if it is not.
    pub fn read_only(&self) -> Option<ReadOnly> {
        self.media.read_only
    }

    /// The clock, to be read out by the front end.
    pub fn clock_mut(&mut self) -> &mut C {
        &mut self.media.clock
    }

    /// Executes requests in order; each must lie within the drive. Stops when the drive becomes read-only: the request
    /// that caused it may be executed in part, later ones are not executed.
    pub fn execute(&mut self, requests: &[Request]) -> Result<(), Refused> {
        // The map is far larger than the processor's caches, so entries are prefetched: first map entries, then the
        // validity bits of the old copies that they point to.
        for request in &requests[..requests.len().min(2 * AHEAD)] {
            self.media.prefetch_map(request);
        }
        for request in &requests[..requests.len().min(AHEAD)] {
            self.media.prefetch_old(request);
        }
        for (index, request) in requests.iter().enumerate() {
            if let Some(far) = requests.get(index + 2 * AHEAD) {
                self.media.prefetch_map(far);
            }
            if let Some(near) = requests.get(index + AHEAD) {
                self.media.prefetch_old(near);
            }
            if let Err(reason) = self.execute_one(request) {
                return Err(Refused { executed: index, reason });
            }
        }
        Ok(())
    }

    /// Executes one request.
    #[inline(always)]
    pub fn execute_one(&mut self, request: &Request) -> Result<(), ReadOnly> {
        self.layer.execute_one(&mut self.media, &mut self.gc, request)
    }

    /// Fills program groups, given by their mapping units, with padding, so that their waiting data can be programmed.
    pub fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly> {
        let Self { media, layer, gc, .. } = self;
        for stream in (0..media.space.frontiers.len()).map(|stream| StreamId(stream as u8)) {
            while media.space.go_within(stream, groups) && media.go_on(stream) {
                // The rest of the group may be parity.
                if media.space.stands_within(stream, groups) {
                    layer.pad(media, stream, 1);
                    // As after each unit of the host: later there would be no room for the rest of the victim.
                    gc.keep_room_for_victims(media, layer)?;
                }
            }
        }
        Ok(())
    }

    /// Performs one batch of background operations. The host has sent no request since `idle_since_ns`.
    pub fn run_background(&mut self, now_ns: u64, idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        let Some(background) = &mut self.background else { return Ok(Idle::NothingBefore(u64::MAX)) };
        background.run(&mut self.media, &mut self.layer, &mut self.gc, now_ns, idle_since_ns)
    }

    fn at_rest(&mut self) -> AtRest<'_, L, C> {
        let Self { media, layer, gc, background } = self;
        AtRest { media, layer, gc, background: background.as_deref_mut() }
    }

    /// Writes the state. The drive must be at rest, without outstanding requests.
    pub fn save_state(&mut self, out: &mut dyn Write) -> Result<(), StateError> {
        self.at_rest().save(out)
    }

    /// Restores a state saved by a drive like this new one, or by one with erase units smaller by the factor `times`.
    /// After an error the drive must not be used.
    pub fn load_state(&mut self, input: &mut dyn Read, times: u32) -> Result<(), StateError> {
        self.at_rest().load(input, times)
    }
}

/// What a drive reports.
impl<L: Layer, C: Clock> Ftl<L, C> {
    /// The drive's capacities now.
    pub fn capacity(&self) -> Capacity {
        inspect::capacity(&self.media, &self.layer, &self.gc)
    }

    /// Including retired ones.
    pub fn erase_units(&self) -> u32 {
        self.media.space.erase_units()
    }

    /// Erased erase units.
    pub fn free_erase_units(&self) -> u32 {
        self.media.space.free_erase_units()
    }

    /// By reclaim group; empty for a drive without any.
    pub fn group_counts(&self) -> Vec<GroupCounts> {
        self.media.space.group_counts()
    }

    /// Counters by namespace, in order; empty for a drive without any.
    pub fn namespaces(&self) -> &[NamespaceCounts] {
        self.layer.namespaces()
    }

    /// What the drive reports of its placement handles; None for a drive without.
    pub fn placement_report(&self) -> Option<PlacementReport> {
        self.media.listeners.placement_log.as_ref().map(|log| log.report(&self.media.space))
    }

    /// See `Capacity::effective_over_provisioning`.
    pub fn effective_over_provisioning(&self) -> Option<f64> {
        inspect::effective_over_provisioning(&self.media, &self.layer, &self.gc)
    }

    /// The space effective for garbage collection and the live units, in slots; 0 for a drive without garbage
    /// collection.
    pub fn room_and_live(&self) -> (f64, f64) {
        inspect::room_and_live(&self.media, &self.layer, &self.gc)
    }

    /// Only for a drive with zones.
    pub fn zones(&self) -> Option<ZoneCounts> {
        self.layer.zones().map(ZoneTable::counts)
    }

    /// The wear of all blocks.
    pub fn wear(&self) -> Wear {
        let array = &self.media.space.array;
        Wear::of(&self.erase_counts(), array.bad_blocks_factory(), array.bad_blocks_grown())
    }

    /// By block.
    pub fn erase_counts(&self) -> EraseCounts {
        let array = &self.media.space.array;
        EraseCounts { rated: array.erase_counts(), slc_mode: array.slc_mode_erase_counts() }
    }

    /// Bytes of the tables whose size depends on the capacity.
    pub fn memory_bytes(&self) -> usize {
        self.media.map.bytes() + self.layer.table_bytes()
    }

    /// The cheap identities, checked at the end of every run: each is a sum over erase units.
    pub fn check_accounts(&self) -> Result<(), String> {
        inspect::check_accounts(&self.media, &self.layer, &self.gc)
    }

    /// The expensive identities: every map entry against the reverse map.
    pub fn check_map(&self) -> Result<(), String> {
        self.layer.check_map(&self.media)
    }
}

/// Commands of a zoned drive. Zones count from 0.
impl<C: Clock> Ftl<Zoned, C> {
    /// Writes units at the zone's write pointer, and returns their address in bytes.
    pub fn append_to_zone(&mut self, zone: u32, units: u32) -> Result<u64, ReadOnly> {
        self.layer.append_to_zone(&mut self.media, zone, units)
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
        self.layer.finish_zone(&mut self.media, zone)
    }

    /// Moves the write pointer to unit `end` of the zone, inside its random write area.
    pub fn commit_zone(&mut self, zone: u32, end: u32) -> Result<(), ReadOnly> {
        self.layer.commit_zone(&mut self.media, zone, end)
    }

    /// Makes a zone empty: its data is lost, and its erase units are erased.
    pub fn reset_zone(&mut self, zone: u32) -> Result<(), ReadOnly> {
        self.layer.reset_zone(&mut self.media, zone)
    }

    /// The states of the zones.
    pub fn zone_table(&self) -> &ZoneTable {
        &self.layer.table
    }
}

/// The good erase units are too few: `needed` of them for `places` and for what the host cannot use.
fn too_little_space(
    ftl: &crate::specification::drive::Ftl,
    layout: &Layout,
    margins: &Margins,
    erase_units: u32,
    needed: u64,
    slots: u64,
    map_pages: u32,
) -> SpecificationError {
    let units_max = u64::from(layout.data_units_per_erase_unit())
        * u64::from(erase_units).saturating_sub(needed - space::data_erase_units(slots, layout))
        / u64::from(layout.slots_per_unit());
    let allowed = format!(
        "at most {} bytes: {erase_units} good erase units, less the reserve of {} and {} open ones, must hold it all",
        units_max.saturating_sub(u64::from(map_pages)) * u64::from(ftl.mapping_unit_bytes),
        ftl.reserve_erase_units,
        margins.open_erase_units
    );
    SpecificationError::new("ftl.user_bytes", ftl.user_bytes, allowed)
}

pub(crate) fn user_units(user_bytes: u64, mapping_unit_bytes: u32) -> Result<u32, SpecificationError> {
    let unit = u64::from(mapping_unit_bytes);
    if user_bytes == 0 || !user_bytes.is_multiple_of(unit) {
        let allowed = format!("a multiple of ftl.mapping_unit_bytes, {unit}, above 0");
        return Err(SpecificationError::new("ftl.user_bytes", user_bytes, allowed));
    }
    u32::try_from(user_bytes / unit).map_err(|_| {
        SpecificationError::new("ftl.user_bytes", user_bytes, format!("fewer than 2^32 mapping units of {unit} bytes"))
    })
}

/// The drive's reserved space, in whole erase units.
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
