//! How a unit is stored, read, written and moved. A drive has one of four layers, chosen when it is built and from then
//! on a type, so that nothing is tested for each unit.
//!
//! A layer has its own state and implements the steps of the translation layer in which it differs. The defaults here
//! are those of a plain drive: each unit occupies one slot, and the whole map is in memory.

mod map_cached;
mod namespaces;
mod plain;
pub mod reduced;
pub mod zoned;

use super::Ftl;
use super::found::FoundUnit;
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::{Cause, Ledger, NamespaceLedger};
use crate::nand::occupancy::State;
use crate::request::Request;
use crate::specification::drive::Drive;
use crate::table::TableBytes;
use crate::timing::Clock;
use crate::units::{Lpn, Ppn, StreamId};
pub use map_cached::MapCached;
pub use namespaces::NamespaceCounts;
pub use plain::Plain;
pub use reduced::Reduced;
use reduced::contents::StoredAs;
use serde::Serialize;
use serde::de::DeserializeOwned;
pub use zoned::Zoned;
use zoned::{KeptZones, ZoneChange, ZoneTable};

/// Whether a drive stores less data than it receives.
pub fn is_reduced(drive: &Drive) -> bool {
    drive.data_reduction.is_on()
}

/// Whether a drive's memory holds only a part of its map.
pub fn is_map_cached(drive: &Drive) -> bool {
    drive.map_cache.bytes > 0
}

/// The interface of a layer.
pub trait Layer: Sized {
    /// Whether a unit occupies as many slots as it needs, and counts as live from its write on; other units occupy one
    /// slot, which counts as live from the opening of its erase unit on.
    const IS_PACKED: bool = false;
    /// Whether the host fills and resets erase units zone by zone, without garbage collection.
    const IS_ZONED: bool = false;
    /// State in addition to the drive file and the tables, for saving.
    type Kept: Serialize + DeserializeOwned;

    /// Errors name the key of the drive file.
    fn new(drive: &Drive, user_units: u32, streams: u8, seed: u64) -> Result<Self, SpecificationError>;
    /// Slots in a mapping unit of such a drive.
    fn slots_per_unit(_drive: &Drive) -> Result<u32, SpecificationError> {
        Ok(1)
    }

    /// Host units written since the drive was new.
    #[inline(always)]
    fn host_units(&self, ledger: &Ledger) -> u64 {
        ledger.programmed_units.host
    }

    /// The most slots that this many units, map pages included, can occupy.
    fn slots_of_all(&self, units: u32) -> u64 {
        u64::from(units)
    }

    /// Of this many addresses, those that can be mapped.
    fn usable_units(&self, user_units: u32) -> u32 {
        user_units
    }

    /// The zones; None without any.
    fn zones(&self) -> Option<&ZoneTable> {
        None
    }

    /// What is kept of the zones besides their data.
    fn kept_zones(&self) -> KeptZones {
        KeptZones::default()
    }

    /// Changes the state of a zone, as the host commands.
    fn change_zone<C: Clock>(_ftl: &mut Ftl<Self, C>, _zone: u32, _change: ZoneChange) -> Result<(), ReadOnly> {
        panic!("only a drive with zones is told to change one");
    }

    /// Restores the zones, after the units and the open erase units.
    fn take_up_zones<C: Clock>(_ftl: &mut Ftl<Self, C>, _kept: &KeptZones) {}

    /// Counters by namespace, on a drive that has them.
    fn namespaces(&self) -> &[NamespaceCounts] {
        &[]
    }

    /// Restores the counters by namespace, and counts the units that a scan has found.
    fn take_up_namespaces(&mut self, _kept: &[NamespaceCounts], _units: &[FoundUnit]) {}

    /// Adds the counts of a request to the namespace of this address, and the change in its mapped units.
    fn count(&mut self, _lpn: Lpn, _counted: NamespaceLedger, _mapped_units: i64) {}

    /// Live units were moved.
    #[inline(always)]
    fn relocated(&mut self, _units: &[(Lpn, Ppn)], _cause: Cause) {}

    /// Slots of erase units that were erased before they were programmed.
    fn unprogrammed_slots(&self) -> u64 {
        0
    }

    /// Slots occupied by this many mapped host units.
    fn live_slots(&self, mapped_units: u64) -> u64 {
        mapped_units
    }

    /// Slots that a mapped unit occupies.
    fn slots_of(&self, _lpn: Lpn) -> u32 {
        1
    }

    /// Mapping units after those of the host, and how many of them are in flash.
    fn map_pages(&self) -> u32 {
        0
    }
    /// Map pages with a copy in flash.
    fn map_pages_in_flash(&self) -> u64 {
        0
    }

    /// The map pages written back by the last request, in order.
    fn map_pages_written_back(&self) -> &[Lpn] {
        &[]
    }

    /// Bytes of its tables whose size depends on the capacity.
    fn table_bytes(&self) -> usize {
        0
    }

    /// An erase unit was erased.
    fn erased(&mut self) {}

    /// Executes one request.
    fn execute_one<C: Clock>(ftl: &mut Ftl<Self, C>, request: &Request) -> Result<(), ReadOnly>;

    /// Reads units, before the host's request.
    fn read<C: Clock>(ftl: &mut Ftl<Self, C>, offset_bytes: u64, length_bytes: u32) {
        ftl.read_units(offset_bytes, length_bytes);
    }

    /// Reads the contents of an address for a partial write.
    fn read_to_modify<C: Clock>(ftl: &mut Ftl<Self, C>, _lpn: Lpn, old: Ppn) {
        let takes_flash = ftl.clock.read(old, Cause::ReadModifyWrite);
        ftl.accounts.read(Cause::ReadModifyWrite, u64::from(takes_flash));
    }

    /// The address no longer maps to `old`.
    fn release<C: Clock>(ftl: &mut Ftl<Self, C>, _lpn: Lpn, old: Ppn) {
        ftl.lose(old);
    }

    /// Moves units to the stream's frontier, and opens erase units as it fills up. Counts the reads only where units
    /// are packed.
    #[inline(always)]
    fn move_units<C: Clock>(
        ftl: &mut Ftl<Self, C>,
        units: &[(Lpn, Ppn)],
        stream: StreamId,
        born_at: u64,
        cause: Cause,
    ) {
        ftl.copy_units(units, stream, born_at, cause);
    }

    /// The address of a unit gathered at a slot and the slots it occupies, if the host has not overwritten or trimmed
    /// it since.
    fn still_at<C: Clock>(ftl: &Ftl<Self, C>, lpn: Lpn, from: Ppn) -> Option<(Lpn, u32)> {
        (ftl.map.physical(lpn) == from).then_some((lpn, 1))
    }

    /// Whether the open and free erase units have space to move this many live slots of a victim.
    fn has_room_to_move<C: Clock>(ftl: &Ftl<Self, C>, stream: StreamId, slots: u64) -> bool {
        ftl.space.free.len() > 0 || slots <= u64::from(ftl.space.slots_left(stream))
    }

    /// Additional slots that moving this many may need.
    fn overhead_to_move<C: Clock>(_ftl: &Ftl<Self, C>, _live_places: u32) -> u64 {
        0
    }

    /// Pads this many slots, all before the frontier's next stop.
    fn pad<C: Clock>(ftl: &mut Ftl<Self, C>, stream: StreamId, slots: u32) {
        let erase_unit = ftl.space.frontier(stream).erase_unit.expect("the frontier is open");
        for _ in 0..slots {
            let ppn = ftl.space.frontier(stream).take();
            ftl.map.mark_stale(ppn);
            ftl.space.occupancy.lose_one(erase_unit);
            ftl.accounts.padded(1);
            ftl.clock.program(ppn, Cause::Padding);
        }
    }

    /// Restores the units found by a scan, in the order of their logical numbers: links them, and counts the live units
    /// of the erase units, all of which are open.
    fn take_up_units<C: Clock>(ftl: &mut Ftl<Self, C>, units: &[FoundUnit]) {
        for unit in units {
            ftl.map.link(unit.lpn, unit.ppn);
        }
        ftl.accounts.take_up_mapped(units.len() as u64);
        count_live_units(ftl);
    }

    /// Restores the number of units written by the host, where the ledger does not have it.
    fn take_up_host_units(&mut self, _host_units: u64) {}

    /// Free slots in partly filled mapping units.
    fn slots_left_in_begun_units<C: Clock>(_ftl: &Ftl<Self, C>) -> u64 {
        0
    }

    /// Writes a unit with known contents to a drive with data reduction.
    fn write_as<C: Clock>(_ftl: &mut Ftl<Self, C>, _request: &Request, _stored: StoredAs) -> Result<(), ReadOnly> {
        panic!("only a drive that reduces data knows how a unit is stored");
    }

    /// Checks every map entry against the reverse map; the error names one that does not match.
    fn check_map<C: Clock>(ftl: &Ftl<Self, C>) -> Result<(), String> {
        ftl.check_links()
    }

    /// The state to be saved.
    fn kept(&self) -> Self::Kept;
    /// Restores the saved state of a layer of the same drive. False if it is of another drive.
    fn take_up(&mut self, kept: Self::Kept) -> bool;
    /// Its tables, each with the largest word valid in a drive of this many units.
    fn tables(&mut self, _units: u32) -> Vec<(&mut dyn TableBytes, u64)> {
        Vec::new()
    }
}

/// Marks everything as stale to which no address is mapped. Unwritten slots count as live, as after the opening of an
/// erase unit.
fn count_live_units<L: Layer, C: Clock>(ftl: &mut Ftl<L, C>) {
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
