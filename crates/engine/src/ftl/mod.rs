//! The flash translation layer: page-level mapping, open erase units, garbage collection, trim, wear levelling.
//!
//! It takes decisions and counts; the clock assigns times to them. Its loops allocate no memory.
//!
//! `Ftl` defines the order of steps, and its parts perform them: `space` assigns erase units to streams, `accounts`
//! counts, `gc` moves units and erases, and the layer defines where a unit is stored and how it is read, written and
//! moved.

mod accounts;
mod background;
mod found;
mod gc;
mod inspect;
mod layer;
mod map;
mod observed;
mod order;
pub mod picture;
mod placement_log;
mod reclaim_groups;
pub mod recovery;
mod refresh;
mod slc_cache;
mod space;
mod state;
mod timed;

use crate::error::{ReadOnly, Refused, SpecificationError};
use crate::ledger::{Cause, Ledger};
use crate::nand::occupancy::Occupancy;
use crate::nand::{Array, Geometry};
use crate::policies::placement::{Placement, Resident};
use crate::policies::victim::Closing;
use crate::request::{Operation, Request};
use crate::specification::drive::{Drive, SpareArea};
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
use accounts::Accounts;
use background::Background;
use gc::Gc;
pub use inspect::{Capacity, EraseCounts, SlcModeWear, Spread, Wear, WearBin};
pub use layer::reduced::contents;
pub use layer::{Layer, MapCached, NamespaceCounts, Plain, Reduced, Zoned, is_map_cached, is_reduced, zoned};
use map::Map;
use observed::Observed;
use placement_log::PlacementLog;
pub use placement_log::{HandleStatus, PlacementEvent, PlacementEventKind, PlacementReport};
use slc_cache::SlcCache;
pub use space::GroupCounts;
use space::{Filled, FreePool, Frontier, Layout, Margins, OpenBlocks, Space};
pub use state::StateError;
use std::ops::Range;

/// How many requests ahead the validity bits of old copies are prefetched; map entries are prefetched twice as far
/// ahead.
const AHEAD: usize = 24;

/// A translation layer with layer `L` and clock `C`.
pub struct Ftl<L, C> {
    mapping_unit_shift: u32,
    map: Map,
    space: Space,
    accounts: Accounts,
    placement: Placement,
    layer: L,
    gc: Gc,
    /// Only on a drive with an SLC cache.
    slc_cache: Option<Box<SlcCache>>,
    /// Background operations in idle time, if the drive has any; never without a clock.
    background: Option<Box<Background>>,
    /// Only on a drive that is observed.
    observed: Option<Box<Observed>>,
    /// Only on a drive with placement handles.
    placement_log: Option<Box<PlacementLog>>,
    clock: C,
    read_only: Option<ReadOnly>,
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
        let layout = layout_of::<L>(drive, &geometry)?;
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
            spare_area: ftl.spare_area,
        };
        // The host may write incompressible data to all addresses, and every unit has an index entry.
        let slots = layer.slots_of_all(user_units + map_pages);
        let needed = space::erase_units_needed(slots, &layout, &margins);
        if u64::from(erase_units) < needed {
            return Err(too_little_space(ftl, &layout, &margins, erase_units, needed, slots, map_pages));
        }
        margins.in_hand_erase_units = space::in_hand(blocks_open_per_stream, u64::from(erase_units) - needed);
        let mut gc = Gc::new(ftl, all_erase_units, seed)?;
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
        let map = Map::new(layout, all_erase_units, user_units, map_pages).map_err(|error| {
            SpecificationError::new("ftl.user_bytes", ftl.user_bytes, format!("what fits into memory ({error})"))
        })?;
        let has_slc_cache = drive.slc_cache.is_on();
        let slc_mode = has_slc_cache.then(|| Box::new(slc_cache::slc_mode(drive, slc_units, all_erase_units)));
        let slc_cache =
            slc_mode.as_ref().map(|mode| SlcCache::new(drive, &mode.layout, all_erase_units, static_erase_units));
        let placement_log = match placement.handles() {
            Some(handles) => Some(Box::new(PlacementLog::new(handles, erase_units)?)),
            None => None,
        };
        Ok(Self {
            mapping_unit_shift: ftl.mapping_unit_bytes.trailing_zeros(),
            map,
            space: Space {
                layout,
                margins,
                occupancy,
                free,
                frontiers: vec![Frontier::shut(); usize::from(placement.streams()) + usize::from(has_slc_cache)],
                open_blocks,
                reclaim_groups,
                slc_mode,
                filled: Filled::new(all_erase_units),
                wear: space::Wear::new(all_erase_units, erase_units),
                array,
            },
            accounts: Accounts::new(&placement),
            placement,
            layer,
            gc,
            slc_cache,
            background: if C::PACED {
                Background::new(drive, &geometry, all_erase_units, blocks_open_per_stream)?
            } else {
                None
            },
            observed: None,
            placement_log,
            clock,
            read_only: None,
        })
    }

    /// The counters since the drive was new.
    pub fn ledger(&self) -> &Ledger {
        self.accounts.ledger()
    }

    /// Why the drive is read-only; None if it is not.
    pub fn read_only(&self) -> Option<ReadOnly> {
        self.read_only
    }

    /// The capacity for the host.
    pub fn user_bytes(&self) -> u64 {
        u64::from(self.map.user_units()) << self.mapping_unit_shift
    }

    /// The clock, to be read out by the front end.
    pub fn clock_mut(&mut self) -> &mut C {
        &mut self.clock
    }

    /// Host units written since the drive was new: the clock of placement policies and of ages.
    fn now(&self) -> u64 {
        self.layer.host_units(self.accounts.ledger())
    }

    fn resident(&self, erase_unit: EraseUnit) -> Resident {
        let age = self.now().saturating_sub(self.space.filled.born_at[erase_unit.index()]);
        Resident { stream: self.space.stream_of(erase_unit), age }
    }
}

/// The host's requests, split into mapping units.
impl<L: Layer, C: Clock> Ftl<L, C> {
    /// Executes requests in order; each must lie within the drive. Stops when the drive becomes read-only: the request
    /// that caused it may be executed in part, later ones are not executed.
    pub fn execute(&mut self, requests: &[Request]) -> Result<(), Refused> {
        // The map is far larger than the processor's caches, so entries are prefetched: first map entries, then the
        // validity bits of the old copies that they point to.
        for request in &requests[..requests.len().min(2 * AHEAD)] {
            self.prefetch_map(request);
        }
        for request in &requests[..requests.len().min(AHEAD)] {
            self.prefetch_old(request);
        }
        for (index, request) in requests.iter().enumerate() {
            if let Some(far) = requests.get(index + 2 * AHEAD) {
                self.prefetch_map(far);
            }
            if let Some(near) = requests.get(index + AHEAD) {
                self.prefetch_old(near);
            }
            if let Err(reason) = L::execute_one(self, request) {
                return Err(Refused { executed: index, reason });
            }
        }
        Ok(())
    }

    /// Executes one request.
    #[inline(always)]
    pub fn execute_one(&mut self, request: &Request) -> Result<(), ReadOnly> {
        L::execute_one(self, request)
    }

    /// A request to a drive whose units all have one size. In a workload that is bound by this loop nearly all requests
    /// are writes of one unit; everything else is a call, which leaves the registers to the loop.
    #[inline(always)]
    fn execute_units(&mut self, request: &Request) -> Result<(), ReadOnly> {
        let unit_bytes = 1u64 << self.mapping_unit_shift;
        let is_unit = request.offset_bytes & (unit_bytes - 1) == 0 && u64::from(request.length_bytes) == unit_bytes;
        if request.operation != Operation::Write || !is_unit {
            return self.execute_parts(request);
        }
        self.write_unit(self.lpn_of(request.offset_bytes), request.content.identifier)?;
        self.accounts.host_wrote(unit_bytes);
        Ok(())
    }

    #[inline(never)]
    fn execute_parts(&mut self, request: &Request) -> Result<(), ReadOnly> {
        match request.operation {
            Operation::Write => {
                self.write_range(request.offset_bytes, request.length_bytes, request.content.identifier)
            }
            Operation::Read => {
                self.count_read(request);
                self.read_units(request.offset_bytes, request.length_bytes);
                Ok(())
            }
            Operation::Trim => self.trim_range(request.offset_bytes, request.length_bytes),
            // Buffered data is part of the timed front end.
            Operation::Flush => Ok(()),
        }
    }

    #[inline(always)]
    fn prefetch_map(&self, request: &Request) {
        self.map.prefetch_physical(self.lpn_of(request.offset_bytes));
    }

    #[inline(always)]
    fn prefetch_old(&self, request: &Request) {
        let old = self.map.physical(self.lpn_of(request.offset_bytes));
        self.map.prefetch_live(old);
        self.space.occupancy.prefetch(self.space.layout.erase_unit_of(old));
    }

    #[inline(always)]
    fn lpn_of(&self, offset_bytes: u64) -> Lpn {
        Lpn((offset_bytes >> self.mapping_unit_shift) as u32)
    }

    #[inline(always)]
    fn write_unit(&mut self, lpn: Lpn, identifier: u8) -> Result<(), ReadOnly> {
        let mut stream = self.placement.host_stream(lpn, identifier, || self.overwritten(lpn));
        if self.space.is_stopped(stream) && !self.passes_turn(stream, lpn) {
            self.make_room_for_host(stream)?;
            // Garbage collection may have moved the old copy, which the policy decides by.
            stream = self.placement.host_stream(lpn, identifier, || self.overwritten(lpn));
            if self.space.is_stopped(stream) {
                self.space.head_for(stream, lpn);
                self.make_room_for_host(stream)?;
            }
        }
        let ppn = self.space.frontier(stream).take();
        let old = self.map.relink(lpn, ppn);
        self.accounts.host(stream, 1);
        self.clock.program(ppn, Cause::Host);
        if old == Ppn::UNMAPPED {
            self.accounts.mapped();
        } else {
            self.lose(old);
        }
        if C::PACED { self.pace_gc(stream, 1) } else { Ok(()) }
    }

    /// Passes the stream's turn to the next die where that needs no decision, which is most of what
    /// `make_room_for_host` does on a drive of single blocks.
    #[inline(always)]
    fn passes_turn(&mut self, stream: StreamId, lpn: Lpn) -> bool {
        self.space.head_for(stream, lpn);
        self.read_only.is_none() && !self.lacks_reserve() && self.space.pass_turn(stream, C::PACED)
    }

    /// The old copy that a write to `lpn` invalidates.
    fn overwritten(&self, lpn: Lpn) -> Option<Resident> {
        let old = self.map.physical(lpn);
        (old != Ppn::UNMAPPED).then(|| self.resident(self.space.layout.erase_unit_of(old)))
    }

    /// Invalidates a unit of the usual size.
    #[inline(always)]
    fn lose(&mut self, ppn: Ppn) {
        let erase_unit = self.space.layout.erase_unit_of(ppn);
        self.map.mark_stale(ppn);
        self.space.occupancy.lose_one(erase_unit);
        self.accounts.lost(|| self.space.stream_of(erase_unit), 1);
    }

    fn write_range(&mut self, offset_bytes: u64, length_bytes: u32, identifier: u8) -> Result<(), ReadOnly> {
        let unit_bytes = 1u64 << self.mapping_unit_shift;
        let end = offset_bytes + u64::from(length_bytes);
        let mut at = offset_bytes;
        while at < end {
            let unit_start = at & !(unit_bytes - 1);
            let part_end = end.min(unit_start + unit_bytes);
            let lpn = self.lpn_of(at);
            if part_end - at < unit_bytes {
                self.read_modify(lpn);
            }
            self.write_unit(lpn, identifier)?;
            self.accounts.host_wrote(part_end - at);
            at = part_end;
        }
        Ok(())
    }

    /// For a partial write: reads the unit's old data, if there is any; the unit is then programmed whole.
    fn read_modify(&mut self, lpn: Lpn) {
        self.accounts.modified();
        let old = self.map.physical(lpn);
        if old != Ppn::UNMAPPED {
            L::read_to_modify(self, lpn, old);
        }
    }

    /// Before the host's request, which `count_read` counts.
    fn read_ahead(&mut self, offset_bytes: u64, length_bytes: u32) {
        L::read(self, offset_bytes, length_bytes);
    }

    fn count_read(&mut self, request: &Request) {
        self.accounts.host_read(u64::from(request.length_bytes));
    }

    fn read_units(&mut self, offset_bytes: u64, length_bytes: u32) {
        let last = self.lpn_of(offset_bytes + u64::from(length_bytes) - 1);
        for lpn in (self.lpn_of(offset_bytes).0..=last.0).map(Lpn) {
            let ppn = self.map.physical(lpn);
            // Unwritten addresses read as zeroes, without a flash operation.
            if ppn != Ppn::UNMAPPED {
                let takes_flash = self.clock.read(ppn, Cause::Host);
                self.accounts.read(Cause::Host, u64::from(takes_flash));
                if let Some(background) = &mut self.background {
                    background.refresh.read(ppn.0, takes_flash);
                }
            }
        }
        if let Some(background) = &mut self.background {
            background.refresh.end_request();
        }
    }

    /// Trims whole units only; partly covered units at both ends remain mapped.
    fn trim_range(&mut self, offset_bytes: u64, length_bytes: u32) -> Result<(), ReadOnly> {
        if let Some(reason) = self.read_only {
            return Err(reason);
        }
        self.accounts.host_trimmed(u64::from(length_bytes));
        let unit_bytes = 1u64 << self.mapping_unit_shift;
        let first = offset_bytes.div_ceil(unit_bytes);
        let end = (offset_bytes + u64::from(length_bytes)) / unit_bytes;
        for lpn in (first..end).map(|unit| Lpn(unit as u32)) {
            let old = self.map.physical(lpn);
            if old != Ppn::UNMAPPED {
                L::release(self, lpn, old);
                self.map.unmap(lpn);
                self.accounts.trimmed();
            }
        }
        Ok(())
    }
}

/// Space in open erase units.
impl<L: Layer, C: Clock> Ftl<L, C> {
    /// Ensures that the stream's open erase unit has space for a unit. Collects garbage first if opening an erase unit
    /// for the host would leave fewer free erase units than the reserve.
    #[cold]
    #[inline(never)]
    fn make_room_for_host(&mut self, stream: StreamId) -> Result<(), ReadOnly> {
        if let Some(reason) = self.read_only {
            return Err(reason);
        }
        if self.space.open_blocks.is_some() {
            return self.make_room_on_dies(stream);
        }
        if self.space.reclaim_groups.is_some() {
            self.turn_to_group_with_room(stream);
        }
        loop {
            let has_room = self.go_on(stream);
            if has_room && !self.lacks_reserve() {
                return Ok(());
            }
            if !has_room && self.slc_cache.is_some() && self.make_room_in_cache()? {
                continue;
            }
            self.make_space(Some(stream))?;
            // Garbage collection may have opened it, if the host shares the stream, or freed space in the cache.
            let goes_past_cache = self.slc_cache.as_ref().is_none_or(|cache| !cache.takes_host());
            if goes_past_cache && self.space.frontier(stream).erase_unit.is_none() {
                self.open(stream);
            }
        }
    }

    /// The same on a drive with an open block on each die.
    fn make_room_on_dies(&mut self, stream: StreamId) -> Result<(), ReadOnly> {
        loop {
            let has_room = self.go_on(stream);
            if has_room && !self.lacks_reserve() {
                return Ok(());
            }
            if has_room || !self.host_may_open() {
                self.make_space(Some(stream))?;
            } else if !self.open_on_its_die(stream) {
                self.turn_to_one_with_room(stream);
            }
        }
    }

    /// Whether a lost erase unit has left fewer free erase units than the reserve. Where host and garbage collection
    /// share a stream this is the only check: garbage collection leaves space in the open erase unit, and each loss
    /// would permanently reduce the reserve.
    fn lacks_reserve(&self) -> bool {
        self.space.free.len() < self.space.margins.reserve_erase_units && self.gc.under_way.is_none()
    }

    fn host_may_open(&self) -> bool {
        self.space.free.len() > self.space.margins.reserve_erase_units + self.set_aside_erase_units()
    }

    /// With a static spare area, space for unwritten addresses remains set aside.
    fn set_aside_erase_units(&self) -> u32 {
        match self.space.margins.spare_area {
            SpareArea::Dynamic => 0,
            SpareArea::Static => {
                let layout = &self.space.layout;
                let empty_units = u64::from(self.map.user_units()) - self.accounts.mapped_units();
                let empty = empty_units * u64::from(layout.slots_per_unit());
                (empty / u64::from(layout.data_units_per_erase_unit())) as u32
            }
        }
    }

    /// Advances the stream to the next free run of pages: past parity, and to another die when a program group is full.
    /// Returns whether there is space.
    #[inline]
    fn go_on(&mut self, stream: StreamId) -> bool {
        self.space.pass_turn(stream, C::PACED) || self.go_on_in_turn(stream, false)
    }

    fn go_on_in_turn(&mut self, stream: StreamId, mut has_turn_begun: bool) -> bool {
        loop {
            match self.space.step(stream, has_turn_begun) {
                space::Step::Room => return true,
                space::Step::Shut => return false,
                space::Step::Parity(unit) => {
                    self.program_parity(unit);
                    has_turn_begun = false;
                    continue;
                }
                space::Step::Full(erase_unit) => self.close(stream, erase_unit),
                space::Step::TurnOver => {}
            }
            if self.space.open_blocks.is_none() {
                return false;
            }
            let may_open = self.host_may_open();
            self.space.turn(stream, may_open, C::PACED);
            has_turn_begun = true;
        }
    }

    /// The same within the open erase unit, without a change of the die.
    fn go_on_in_block(&mut self, stream: StreamId) -> bool {
        loop {
            match self.space.step(stream, true) {
                space::Step::Room => return true,
                space::Step::Shut | space::Step::TurnOver => return false,
                space::Step::Parity(unit) => self.program_parity(unit),
                space::Step::Full(erase_unit) => {
                    self.close(stream, erase_unit);
                    return false;
                }
            }
        }
    }

    fn program_parity(&mut self, unit: Ppn) {
        self.clock.program(unit, Cause::Parity);
        self.accounts.parity(self.space.layout.slots_per_unit());
    }

    /// The stream has filled its erase unit, which becomes a candidate for garbage collection or folding.
    fn close(&mut self, frontier: StreamId, erase_unit: EraseUnit) {
        let now = self.now();
        self.space.close(frontier, erase_unit, now);
        if self.space.is_slc(erase_unit) {
            if let Some(cache) = &mut self.slc_cache {
                cache.closed(erase_unit);
            }
            return;
        }
        if let Some(background) = &mut self.background {
            background.refresh.closed(erase_unit);
        }
        let number = self.space.filled.closings;
        let (stream, occupancy) = (self.space.stream_of(erase_unit), &self.space.occupancy);
        self.gc.victim.closed(&Closing { erase_unit, stream, number, now, occupancy });
    }

    /// Opens an erased erase unit for a stream; on a drive with an open block on each die, on the die whose turn it is,
    /// or the next with space.
    fn open(&mut self, frontier: StreamId) {
        const KEPT: &str = "the reserve keeps an erase unit free for garbage collection";
        if self.space.open_blocks.is_some() {
            if !self.open_on_its_die(frontier) {
                assert!(self.turn_to_one_with_room(frontier), "{KEPT}");
                if self.space.frontier(frontier).erase_unit.is_none() {
                    self.open_on_its_die(frontier);
                }
            }
            return;
        }
        let erase_unit = self.space.free.take().expect(KEPT);
        if self.space.reclaim_groups.is_some() {
            return self.open_in_group(frontier, erase_unit);
        }
        // The stream after those of the placement policy belongs to the SLC cache, and takes host data.
        let is_of_placement = frontier.index() < usize::from(self.placement.streams());
        self.open_as(frontier, if is_of_placement { frontier } else { StreamId(0) }, erase_unit);
    }

    /// Opens an erased block on the die whose turn it is. False if it has none.
    fn open_on_its_die(&mut self, stream: StreamId) -> bool {
        let die = self.space.open_blocks.as_ref().expect("there are open_blocks").active(stream);
        let Some(erase_unit) = self.space.free.take_on(die) else { return false };
        self.open_as(stream, stream, erase_unit);
        true
    }

    /// Passes the turn to the next die with an open or an erased block. Returns whether there is one.
    fn turn_to_one_with_room(&mut self, stream: StreamId) -> bool {
        let has_turned = self.space.turn_to_one_with_room(stream);
        if has_turned {
            // A new turn, even if the previous group was full.
            self.go_on_in_turn(stream, true);
        }
        has_turned
    }

    /// Opens an erased erase unit in place `frontier`, for the data of `stream`.
    fn open_as(&mut self, frontier: StreamId, stream: StreamId, erase_unit: EraseUnit) {
        let now = self.now();
        if self.slc_cache.is_some() {
            self.clock.open(erase_unit, self.space.is_slc(erase_unit));
        }
        self.space.open(frontier, stream, erase_unit, now);
        if !L::IS_PACKED {
            self.map.mark_all_live(erase_unit, self.space.layout_of(erase_unit));
        }
        if let Some(background) = &mut self.background {
            background.opened(erase_unit);
        }
        self.accounts.opened(stream);
        self.note_opened(frontier);
    }

    /// Reads units and programs them into the stream's open erase unit; updates the map, and opens erase units as
    /// needed.
    #[inline(always)]
    fn copy_units(&mut self, mut units: &[(Lpn, Ppn)], stream: StreamId, born_at: u64, cause: Cause) {
        loop {
            units = &units[self.deal_out(units, stream, born_at, cause)..];
            if units.is_empty() {
                return;
            }
            self.space.head_for(stream, units[0].0);
            if self.space.is_stopped(stream) && !self.go_on(stream) {
                self.open(stream);
                continue;
            }
            let frontier = &mut self.space.frontiers[stream.index()];
            let (now, later) = units.split_at(units.len().min(frontier.run_length() as usize));
            let first = frontier.take_many(now.len() as u32);
            self.map.link_run(now, first);
            self.clock.copy(now.iter().zip(first.0..).map(|(&(_, from), to)| (from, Ppn(to))), cause);
            frontier.note_moved(now.len() as u64, born_at);
            self.observe_move(now, stream);
            units = later;
        }
    }

    /// The same for as many of the first units as the dies take in turn without a decision. Returns their number.
    #[inline(always)]
    fn deal_out(&mut self, units: &[(Lpn, Ppn)], stream: StreamId, born_at: u64, cause: Cause) -> usize {
        // The observer is notified of each destination erase unit.
        if self.observed.is_some() {
            return 0;
        }
        let Some(mut turns) = self.space.deal_out(stream, units.len(), born_at) else { return 0 };
        let dealt = turns.count();
        let copies = units[..dealt].iter().map(|&(lpn, from)| {
            let to = turns.take();
            self.map.link(lpn, to);
            (from, to)
        });
        self.clock.copy(copies, cause);
        dealt
    }

    /// All units come from one erase unit.
    #[inline]
    fn observe_move(&mut self, moved: &[(Lpn, Ppn)], stream: StreamId) {
        if let (Some(observed), Some(&(_, from)), Some(to)) =
            (&mut self.observed, moved.first(), self.space.frontiers[stream.index()].erase_unit)
        {
            observed.moved(self.space.layout.erase_unit_of(from), to, moved.len() as u32);
        }
    }

    /// Fills program groups, given by their mapping units, with padding, so that their waiting data can be programmed.
    pub fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly> {
        for stream in (0..self.space.frontiers.len()).map(|stream| StreamId(stream as u8)) {
            while self.space.go_within(stream, groups) && self.go_on(stream) {
                // The rest of the group may be parity.
                if self.space.stands_within(stream, groups) {
                    L::pad(self, stream, 1);
                    // As after each unit of the host: later there would be no room for the rest of the victim.
                    self.in_each_group(Self::keep_room_for_victim)?;
                }
            }
        }
        Ok(())
    }
}

/// The end of a drive's life.
impl<L: Layer, C: Clock> Ftl<L, C> {
    /// A drive that can no longer guarantee space for all of its addresses becomes read-only before it runs out of
    /// space.
    fn check_spare_blocks(&mut self) -> Result<(), ReadOnly> {
        let enough = u64::from(self.space.wear.erase_units_left) >= self.erase_units_needed();
        if enough && self.has_each_group_enough() { Ok(()) } else { Err(self.turn_read_only()) }
    }

    fn turn_read_only(&mut self) -> ReadOnly {
        let reason = ReadOnly::OutOfSpareBlocks {
            erase_units_left: self.space.wear.erase_units_left,
            erase_units_needed: self.erase_units_needed() as u32,
        };
        self.read_only = Some(reason);
        reason
    }

    fn find_nothing_to_reclaim(&mut self) -> ReadOnly {
        self.read_only = Some(ReadOnly::NothingToReclaim);
        ReadOnly::NothingToReclaim
    }

    fn erase_units_needed(&self) -> u64 {
        let slots = self.layer.slots_of_all(self.map.units());
        space::erase_units_needed(slots, &self.space.layout, &self.space.margins)
    }
}

/// The layout of data and parity in an erase unit.
fn layout_of<L: Layer>(drive: &Drive, geometry: &Geometry) -> Result<Layout, SpecificationError> {
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
    let slots_per_unit = L::slots_per_unit(drive)?;
    if geometry.physical_units() * u64::from(slots_per_unit) >= u64::from(u32::MAX) {
        let allowed = "so large that all of the flash has fewer than 2^32 of them";
        let value = drive.data_reduction.packing_bytes;
        return Err(SpecificationError::new("data_reduction.packing_bytes", value, allowed));
    }
    Ok(Layout::new(geometry.units_per_erase_unit(), stripe, slots_per_unit))
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
