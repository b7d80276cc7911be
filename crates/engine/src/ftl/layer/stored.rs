//! How a unit is stored, moved and released. The defaults are those of a plain drive: each unit occupies one slot, and
//! the whole map is in memory.

use crate::error::SpecificationError;
use crate::ftl::found::FoundUnit;
use crate::ftl::map::Map;
use crate::ftl::media::{Destination, Media};
use crate::ftl::space::{Layout, Space};
use crate::ledger::Cause;
use crate::nand::Geometry;
use crate::nand::occupancy::State;
use crate::specification::drive::Drive;
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};

/// The part of a layer that garbage collection needs.
pub trait Stored: Sized {
    /// Whether a unit occupies as many slots as it needs, and counts as live from its write on; other units occupy one
    /// slot, which counts as live from the opening of its erase unit on.
    const IS_PACKED: bool = false;
    /// Whether the host fills and resets erase units zone by zone, without garbage collection.
    const IS_ZONED: bool = false;

    /// Slots in a mapping unit of such a drive.
    fn slots_per_unit(_drive: &Drive) -> Result<u32, SpecificationError> {
        Ok(1)
    }

    /// The layout of data and parity in an erase unit. Errors name the key of the drive file.
    fn layout(drive: &Drive, geometry: &Geometry) -> Result<Layout, SpecificationError> {
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
        let slots_per_unit = Self::slots_per_unit(drive)?;
        if geometry.physical_units() * u64::from(slots_per_unit) >= u64::from(u32::MAX) {
            let allowed = "so large that all of the flash has fewer than 2^32 of them";
            let value = drive.data_reduction.packing_bytes;
            return Err(SpecificationError::new("data_reduction.packing_bytes", value, allowed));
        }
        Ok(Layout::new(geometry.units_per_erase_unit(), stripe, slots_per_unit))
    }

    /// The most slots that this many units, map pages included, can occupy.
    fn slots_of_all(&self, units: u32) -> u64 {
        u64::from(units)
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

    /// Slots of erase units that were erased before they were programmed.
    fn unprogrammed_slots(&self) -> u64 {
        0
    }

    /// Live units were moved.
    #[inline(always)]
    fn relocated(&mut self, _units: &[(Lpn, Ppn)], _cause: Cause) {}

    /// An erase unit was erased.
    fn erased(&mut self) {}

    /// Reads the contents of an address for a partial write.
    fn read_to_modify<C: Clock>(&self, media: &mut Media<C>, _lpn: Lpn, old: Ppn) {
        let takes_flash = media.clock.read(old, Cause::ReadModifyWrite);
        media.accounts.read(Cause::ReadModifyWrite, u64::from(takes_flash));
    }

    /// The address no longer maps to `old`.
    fn release<C: Clock>(&mut self, media: &mut Media<C>, _lpn: Lpn, old: Ppn) {
        media.lose(old);
    }

    /// Moves units to the stream's frontier, and opens erase units as it fills up. Counts the reads only where units
    /// are packed.
    #[inline(always)]
    fn move_units<C: Clock>(&mut self, media: &mut Media<C>, units: &[(Lpn, Ppn)], to: Destination) {
        media.copy_units(units, to);
    }

    /// The address of a unit gathered at a slot and the slots it occupies, if the host has not overwritten or trimmed
    /// it since.
    fn still_at(&self, map: &Map, lpn: Lpn, from: Ppn) -> Option<(Lpn, u32)> {
        (map.physical(lpn) == from).then_some((lpn, 1))
    }

    /// Whether the open and free erase units have space to move this many live slots of a victim.
    fn has_room_to_move(&self, space: &Space, stream: StreamId, slots: u64) -> bool {
        space.free.len() > 0 || slots <= u64::from(space.slots_left(stream))
    }

    /// Additional slots that moving this many may need.
    fn overhead_to_move(&self, _space: &Space, _live_slots: u32) -> u64 {
        0
    }

    /// Pads this many slots, all before the frontier's next stop.
    fn pad<C: Clock>(&mut self, media: &mut Media<C>, stream: StreamId, slots: u32) {
        let erase_unit = media.space.frontier(stream).erase_unit.expect("the frontier is open");
        for _ in 0..slots {
            let ppn = media.space.frontier(stream).take();
            media.map.mark_stale(ppn);
            media.space.occupancy.lose_one(erase_unit);
            media.accounts.padded(1);
            media.clock.program(ppn, Cause::Padding);
        }
    }

    /// Pads an open erase unit to its end, which closes it.
    fn fill_up<C: Clock>(&mut self, media: &mut Media<C>, erase_unit: EraseUnit) {
        let Some(stream) = media.space.bring_to_front(erase_unit) else { return };
        // A full group does not end the die's turn here.
        while media.space.frontier(stream).erase_unit == Some(erase_unit) && media.go_on_in_block(stream) {
            let slots = media.space.frontier(stream).run_length();
            self.pad(media, stream, slots);
        }
    }

    /// Restores the units found by a scan, in the order of their logical numbers: links them, and counts the live units
    /// of the erase units, all of which are open.
    fn take_up_units<C: Clock>(&mut self, media: &mut Media<C>, units: &[FoundUnit]) {
        for unit in units {
            media.map.link(unit.lpn, unit.ppn);
        }
        media.accounts.take_up_mapped(units.len() as u64);
        count_live_units(media);
    }

    /// Free slots in partly filled mapping units.
    fn slots_left_in_begun_units(&self, _space: &Space) -> u64 {
        0
    }

    /// Checks every map entry against the reverse map; the error names one that does not match.
    fn check_map<C: Clock>(&self, media: &Media<C>) -> Result<(), String> {
        check_links(media, self.map_pages_in_flash())
    }
}

/// Marks everything as stale to which no address is mapped. Unwritten slots count as live, as after the opening of an
/// erase unit.
pub fn count_live_units<C: Clock>(media: &mut Media<C>) {
    for erase_unit in media.space.each_erase_unit() {
        if media.space.occupancy.state(erase_unit) != State::Open {
            continue;
        }
        let layout = *media.space.layout_of(erase_unit);
        let first = media.space.layout.first(erase_unit);
        let slots = first..first + layout.units_per_erase_unit();
        for ppn in slots.map(Ppn).filter(|ppn| !layout.is_parity(ppn.0 - first)) {
            let lpn = media.map.logical(ppn);
            let is_live = lpn.0 < media.map.units() && media.map.physical(lpn) == ppn;
            if is_live {
                media.accounts.found(media.space.stream_of(erase_unit), 1);
            } else {
                media.map.mark_stale(ppn);
                media.space.occupancy.lose_one(erase_unit);
            }
        }
    }
}

/// The two directions of the map against each other, where each unit occupies one slot.
pub fn check_links<C: Clock>(media: &Media<C>, map_pages_in_flash: u64) -> Result<(), String> {
    let map = &media.map;
    let mut mapped = 0;
    for lpn in (0..map.units()).map(Lpn) {
        let ppn = map.physical(lpn);
        if ppn == Ppn::UNMAPPED {
            continue;
        }
        mapped += 1;
        if map.logical(ppn) != lpn {
            return Err(format!("{lpn:?} is mapped to {ppn:?}, which belongs to {:?}", map.logical(ppn)));
        }
        if !map.is_live(ppn) {
            return Err(format!("{lpn:?} is mapped to {ppn:?}, which is stale"));
        }
    }
    let counted = media.accounts.mapped_units() + map_pages_in_flash;
    if mapped != counted {
        return Err(format!("{mapped} addresses are mapped, but {counted} were counted"));
    }
    Ok(())
}
