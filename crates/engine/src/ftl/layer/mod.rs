//! Where a unit lies and how it is read, written and moved. A drive has one of five layers, which is chosen when it is
//! built and then is a type: nothing is asked for a unit.
//!
//! A layer has its own state and a few steps of the translation layer that go otherwise with it. What is said here is
//! what a plain drive does: units take a place each, and the whole map is in memory.

mod map_cached;
mod namespaced;
pub mod reduced;
pub mod zoned;

use super::Ftl;
use super::recovery::FoundUnit;
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::{Cause, Ledger, NamespaceLedger};
use crate::nand::occupancy::State;
use crate::policies::placement::PlacementPolicy;
use crate::request::Request;
use crate::specification::drive::Drive;
use crate::table::TableBytes;
use crate::timing::Clock;
use crate::units::{Lpn, Ppn, StreamId};
pub use map_cached::MapCached;
pub use namespaced::{NamespaceCounts, Namespaced};
pub use reduced::Reduced;
use reduced::contents::StoredAs;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zoned::ZoneTable;
pub use zoned::Zoned;

/// Whether a drive stores less than it is given.
pub fn is_reduced(drive: &Drive) -> bool {
    drive.data_reduction.is_on()
}

/// Whether a drive does not hold its whole map in memory.
pub fn is_map_cached(drive: &Drive) -> bool {
    drive.map_cache.bytes > 0
}

/// Whether a drive's addresses belong to namespaces.
pub fn is_namespaced(drive: &Drive) -> bool {
    !drive.namespaces.is_empty()
}

pub trait Layer: Sized {
    /// Whether a unit takes as many places as it needs, and is known to be live when it is written; other units take
    /// one place, which counts as live from the opening of its erase unit on.
    const IS_PACKED: bool = false;
    /// Whether the host fills and empties erase units zone by zone, so that nothing is cleaned.
    const IS_ZONED: bool = false;
    /// Whether what is counted is counted by namespace too.
    const IS_NAMESPACED: bool = false;
    /// What of it is neither the drive file's nor in a table, for a saved state.
    type Kept: Serialize + DeserializeOwned;

    /// Errors name the key of the drive file.
    fn new(drive: &Drive, user_units: u32, streams: u8, seed: u64) -> Result<Self, SpecificationError>;
    /// Places in a mapping unit of such a drive.
    fn slots_per_unit(_drive: &Drive) -> Result<u32, SpecificationError> {
        Ok(1)
    }

    /// Host units written since the drive was new.
    #[inline(always)]
    fn host_units(&self, ledger: &Ledger) -> u64 {
        ledger.programmed_units.host
    }

    /// What so many units, the map pages among them, take at most.
    fn slots_of_all(&self, units: u32) -> u64 {
        u64::from(units)
    }

    /// Of so many addresses, those that can hold something.
    fn usable_units(&self, user_units: u32) -> u32 {
        user_units
    }

    fn zones(&self) -> Option<&ZoneTable> {
        None
    }

    /// By namespace, of a drive that counts by it.
    fn namespaces(&self) -> &[NamespaceCounts] {
        &[]
    }

    /// Adds what a request to the namespace of this address has counted, and how many more addresses hold something.
    fn count(&mut self, _lpn: Lpn, _counted: NamespaceLedger, _mapped_units: i64) {}

    /// Live units were programmed elsewhere.
    #[inline(always)]
    fn relocated(&mut self, _units: &[(Lpn, Ppn)], _cause: Cause) {}

    /// Places of erase units that were erased before they were programmed.
    fn unprogrammed_slots(&self) -> u64 {
        0
    }

    /// What so many units of the host take now.
    fn live_slots(&self, mapped_units: u64) -> u64 {
        mapped_units
    }

    /// Places that a mapped unit takes.
    fn slots_of(&self, _lpn: Lpn) -> u32 {
        1
    }

    /// Mapping units behind those of the host, and how many of them lie in flash.
    fn map_pages(&self) -> u32 {
        0
    }
    fn map_pages_in_flash(&self) -> u64 {
        0
    }

    /// The map pages that the last request has written back, in their order.
    fn map_pages_written_back(&self) -> &[Lpn] {
        &[]
    }

    /// Bytes of its tables that grow with the drive.
    fn table_bytes(&self) -> usize {
        0
    }

    /// An erase unit was erased.
    fn erased(&mut self) {}

    fn execute_one<P: PlacementPolicy, C: Clock>(ftl: &mut Ftl<P, Self, C>, request: &Request) -> Result<(), ReadOnly>;

    /// Reads units, ahead of the host's request.
    fn read<P: PlacementPolicy, C: Clock>(ftl: &mut Ftl<P, Self, C>, offset_bytes: u64, length_bytes: u32) {
        ftl.read_units(offset_bytes, length_bytes);
    }

    /// Reads what an address holds, to fill up a unit of which the host writes a part.
    fn read_to_modify<P: PlacementPolicy, C: Clock>(ftl: &mut Ftl<P, Self, C>, _lpn: Lpn, old: Ppn) {
        let takes_flash = ftl.clock.read(old, Cause::ReadModifyWrite);
        ftl.accounts.read(Cause::ReadModifyWrite, u64::from(takes_flash));
    }

    /// The address no longer holds what it held at `old`.
    fn release<P: PlacementPolicy, C: Clock>(ftl: &mut Ftl<P, Self, C>, _lpn: Lpn, old: Ppn) {
        ftl.lose(old);
    }

    /// Moves units to the stream's frontier and opens erase units as it fills up. Counts what it reads only where units
    /// are packed.
    #[inline]
    fn move_units<P: PlacementPolicy, C: Clock>(
        ftl: &mut Ftl<P, Self, C>,
        units: &[(Lpn, Ppn)],
        stream: StreamId,
        born_at: u64,
        cause: Cause,
    ) {
        ftl.copy_units(units, stream, born_at, cause);
    }

    /// What was gathered at a place, if the host has not overwritten or trimmed it since: its address, and the places
    /// that it takes.
    fn still_at<P: PlacementPolicy, C: Clock>(ftl: &Ftl<P, Self, C>, lpn: Lpn, from: Ppn) -> Option<(Lpn, u32)> {
        (ftl.map.physical(lpn) == from).then_some((lpn, 1))
    }

    /// Whether so many live places of a victim can be moved with what is open and free.
    fn has_room_to_move<P: PlacementPolicy, C: Clock>(ftl: &Ftl<P, Self, C>, stream: StreamId, slots: u64) -> bool {
        ftl.space.free.len() > 0 || slots <= u64::from(ftl.space.slots_left(stream))
    }

    /// Places that moving so many may take beyond them.
    fn overhead_to_move<P: PlacementPolicy, C: Clock>(_ftl: &Ftl<P, Self, C>, _live_places: u32) -> u64 {
        0
    }

    /// Writes padding to so many places, which the frontier has before its next stop.
    fn pad<P: PlacementPolicy, C: Clock>(ftl: &mut Ftl<P, Self, C>, stream: StreamId, slots: u32) {
        let erase_unit = ftl.space.frontier(stream).erase_unit.expect("the frontier is open");
        for _ in 0..slots {
            let ppn = ftl.space.frontier(stream).take();
            ftl.map.mark_stale(ppn);
            ftl.space.occupancy.lose_one(erase_unit);
            ftl.accounts.padded(1);
            ftl.clock.program(ppn, Cause::Padding);
        }
    }

    /// Takes up the units that a scan has found, in the order of their logical numbers: links them, and counts what is
    /// live in the erase units, all of which are open.
    fn take_up_units<P: PlacementPolicy, C: Clock>(ftl: &mut Ftl<P, Self, C>, units: &[FoundUnit]) {
        for unit in units {
            ftl.map.link(unit.lpn, unit.ppn);
        }
        ftl.accounts.take_up_mapped(units.len() as u64);
        count_live_units(ftl);
    }

    /// Goes on counting the host's units, where the ledger does not say how many they were.
    fn take_up_host_units(&mut self, _host_units: u64) {}

    /// Places that are left in mapping units that have been begun.
    fn slots_left_in_begun_units<P: PlacementPolicy, C: Clock>(_ftl: &Ftl<P, Self, C>) -> u64 {
        0
    }

    /// A write of a unit, whose contents are known, to a drive that reduces data.
    fn write_as<P: PlacementPolicy, C: Clock>(
        _ftl: &mut Ftl<P, Self, C>,
        _request: &Request,
        _stored: StoredAs,
    ) -> Result<(), ReadOnly> {
        panic!("only a drive that reduces data knows how a unit is stored");
    }

    /// Every entry of the map against its opposite; an error says which does not fit.
    fn check_map<P: PlacementPolicy, C: Clock>(ftl: &Ftl<P, Self, C>) -> Result<(), String> {
        ftl.check_links()
    }

    fn kept(&self) -> Self::Kept;
    /// Takes up what one of the same drive kept. False when it is not one of the same drive.
    fn take_up(&mut self, kept: Self::Kept) -> bool;
    /// Its tables, each with the largest word that it may hold in a drive of so many units.
    fn tables(&mut self, _units: u32) -> Vec<(&mut dyn TableBytes, u64)> {
        Vec::new()
    }
}

/// Units are stored as they are, and the whole map is in memory.
pub struct Plain;

impl Layer for Plain {
    type Kept = ();

    fn new(_drive: &Drive, _user_units: u32, _streams: u8, _seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    #[inline(always)]
    fn execute_one<P: PlacementPolicy, C: Clock>(ftl: &mut Ftl<P, Self, C>, request: &Request) -> Result<(), ReadOnly> {
        ftl.execute_units(request)
    }

    fn kept(&self) {}

    fn take_up(&mut self, (): ()) -> bool {
        true
    }
}

/// Marks everything stale that no address points at. A place that is not yet written counts as live, as it does when an
/// erase unit is opened.
fn count_live_units<P: PlacementPolicy, L: Layer, C: Clock>(ftl: &mut Ftl<P, L, C>) {
    for erase_unit in ftl.space.each_erase_unit() {
        if ftl.space.occupancy.state(erase_unit) != State::Open {
            continue;
        }
        let layout = *ftl.space.layout_of(erase_unit);
        let first = ftl.space.layout.first(erase_unit);
        let slots = first..first + layout.units_per_erase_unit();
        for ppn in slots.map(Ppn).filter(|ppn| !layout.is_parity(ppn.0 - first)) {
            let lpn = ftl.map.logical(ppn);
            let is_live = lpn.0 < ftl.map.units() && ftl.map.physical(lpn) == ppn;
            if is_live {
                ftl.accounts.found(ftl.space.stream_of(erase_unit), 1);
            } else {
                ftl.map.mark_stale(ppn);
                ftl.space.occupancy.lose_one(erase_unit);
            }
        }
    }
}
