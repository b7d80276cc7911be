//! Data reduction: mapping units are compressed to individual sizes and packed back to back; the address of a duplicate
//! is mapped to the existing copy instead of storing another.
//!
//! The flash then has finer numbers: a slot of the layout, of a PPN and of every count of live or programmed units
//! holds `packing_bytes` instead of a mapping unit. A unit occupies as many consecutive slots as it needs, within one
//! run of data slots; the rest of a run that is too short is padded. A mapping unit of flash is programmed when its
//! last slot is filled; until then the controller buffers it, as it buffers index entries that do not yet fill a unit.
//! The live bit of a unit is that of its first slot.
//!
//! This file records what is stored; `steps.rs` executes the host's requests and moves data, `contents.rs` is for
//! drives that store the written data.

pub mod contents;
mod sharing;
mod steps;

use crate::error::SpecificationError;
use crate::random::Random;
use crate::request::Content;
use crate::specification::drive::{DataReduction, Drive};
use crate::table::Table;
use crate::units::{Lpn, StreamId};
use serde::{Deserialize, Serialize};
use sharing::Sharing;

/// The most slots in a mapping unit: their number is stored in a byte.
const SLOTS_PER_UNIT_MAX: u32 = 128;

/// Units of the last request with new data that a duplicate may refer to.
const REMEMBERED_MAX: usize = 4096;

/// The layer of drives with data reduction.
pub struct Reduced {
    settings: DataReduction,
    unit_bytes: u64,
    slots_per_unit_shift: u32,
    /// By address: the slots that its unit occupies, while it is mapped.
    stored_slots: Table<u8>,
    /// Addresses with the same data; only with deduplication.
    sharing: Option<Sharing>,
    /// The units of the last request with new data.
    last_new: Vec<Lpn>,
    random: Random,
    /// By stream: bytes of index entries that are not yet in flash.
    index_bytes_waiting: Vec<u64>,
    live_slots: u64,
    /// The mapping unit of flash that garbage collection read last and need not read again.
    last_read_to_move: u32,
}

/// State in addition to the drive file and the tables.
#[derive(Clone, Serialize, Deserialize)]
pub struct Kept {
    last_new: Vec<Lpn>,
    random: Random,
    index_bytes_waiting: Vec<u64>,
    host_units: u64,
    #[serde(alias = "live_places")]
    live_slots: u64,
    last_read_to_move: u32,
}

impl Reduced {
    /// Errors name the key of the drive file.
    fn of(drive: &Drive, user_units: u32, streams: u8, seed: u64) -> Result<Self, SpecificationError> {
        check(drive)?;
        let settings = drive.data_reduction.clone();
        let slots_per_unit = drive.ftl.mapping_unit_bytes / settings.packing_bytes;
        let tables = Table::zeroed(user_units as usize)
            .and_then(|slots| Ok((slots, settings.deduplication.then(|| Sharing::new(user_units)).transpose()?)));
        let (stored_slots, sharing) = tables.map_err(|error| {
            SpecificationError::new("ftl.user_bytes", drive.ftl.user_bytes, format!("what fits into memory ({error})"))
        })?;
        Ok(Self {
            settings,
            unit_bytes: u64::from(drive.ftl.mapping_unit_bytes),
            slots_per_unit_shift: slots_per_unit.trailing_zeros(),
            stored_slots,
            sharing,
            last_new: Vec::new(),
            random: Random::new(seed ^ 0x6475_7065),
            index_bytes_waiting: vec![0; usize::from(streams)],
            live_slots: 0,
            last_read_to_move: u32::MAX,
        })
    }

    fn slots_per_unit(&self) -> u32 {
        1 << self.slots_per_unit_shift
    }

    /// Slots occupied by all addresses with incompressible, unique data.
    fn slots_of_all_units(&self) -> u64 {
        let units = self.stored_slots.len() as u64;
        let index_bytes = units * u64::from(self.settings.index_bytes_per_unit);
        (units << self.slots_per_unit_shift) + index_bytes.div_ceil(u64::from(self.settings.packing_bytes))
    }

    fn stored_slots_of(&self, lpn: Lpn) -> u32 {
        u32::from(self.stored_slots.get(lpn.index()))
    }

    /// The most slots needed for the index of the stored units in `slots` slots, and for padding when they are moved
    /// through `runs` runs of slots. Incompressible units always end where a run does.
    fn overhead_slots(&self, slots: u64, runs: u64) -> u64 {
        let unit_slots = u64::from(self.slots_per_unit());
        let (units, padding) =
            if self.settings.compression { (slots, (runs + 1) * (unit_slots - 1)) } else { (slots / unit_slots, 0) };
        let index_bytes = units * u64::from(self.settings.index_bytes_per_unit);
        let index_units = index_bytes / self.unit_bytes + u64::from(index_bytes > 0);
        index_units * unit_slots + padding
    }

    /// The slots of a unit with this content; at least one, since even a unit of zeroes needs an entry.
    fn slots_for(&self, content: Content) -> u32 {
        if !self.settings.compression {
            return self.slots_per_unit();
        }
        let stored_bytes = (self.unit_bytes * u64::from(100 - content.compress_percent.min(100))).div_ceil(100);
        (stored_bytes.div_ceil(u64::from(self.settings.packing_bytes)) as u32).max(1)
    }

    /// Draws whether a request duplicates the last one with new data, as fio does: a buffer repeats the previous one or
    /// is new.
    fn draw_repetition(&mut self, content: Content) -> bool {
        if self.sharing.is_none() || content.dedupe_percent == 0 {
            return false;
        }
        let repeats = self.random.below(100) < u64::from(content.dedupe_percent) && !self.last_new.is_empty();
        if !repeats {
            self.last_new.clear();
        }
        repeats
    }

    fn remember(&mut self, lpn: Lpn, content: Content) {
        if self.sharing.is_some() && content.dedupe_percent > 0 && self.last_new.len() < REMEMBERED_MAX {
            self.last_new.push(lpn);
        }
    }

    /// The address that the `nth` unit of a duplicate refers to.
    fn original(&self, nth: usize) -> Option<Lpn> {
        self.last_new.get(nth % self.last_new.len().max(1)).copied()
    }

    fn store(&mut self, lpn: Lpn, slots: u32) {
        self.stored_slots.set(lpn.index(), slots as u8);
        self.live_slots += u64::from(slots);
    }

    /// Adds an entry to the stream's index. Returns whether a mapping unit of entries must be programmed.
    fn index_is_due(&mut self, stream: StreamId) -> bool {
        let waiting = &mut self.index_bytes_waiting[stream.index()];
        *waiting += u64::from(self.settings.index_bytes_per_unit);
        let is_due = *waiting >= self.unit_bytes;
        *waiting -= if is_due { self.unit_bytes } else { 0 };
        is_due
    }
}

/// Checks the keys of the table before anything is computed from them.
fn check(drive: &Drive) -> Result<(), SpecificationError> {
    let settings = &drive.data_reduction;
    let unit_bytes = drive.ftl.mapping_unit_bytes;
    let packing_bytes_min = (unit_bytes / SLOTS_PER_UNIT_MAX).max(1);
    if !settings.packing_bytes.is_power_of_two() || !(packing_bytes_min..=unit_bytes).contains(&settings.packing_bytes)
    {
        let allowed = format!("a power of two from {packing_bytes_min} to ftl.mapping_unit_bytes, {unit_bytes}");
        return Err(SpecificationError::new("data_reduction.packing_bytes", settings.packing_bytes, allowed));
    }
    if settings.index_bytes_per_unit > settings.packing_bytes / 4 {
        let allowed = format!("at most a quarter of data_reduction.packing_bytes, {}", settings.packing_bytes / 4);
        let value = settings.index_bytes_per_unit;
        return Err(SpecificationError::new("data_reduction.index_bytes_per_unit", value, allowed));
    }
    if drive.map_cache.bytes > 0 || drive.read_ahead.window_bytes > 0 {
        let allowed = "off where map_cache or read_ahead is on: they do not go together";
        return Err(SpecificationError::new("data_reduction", "on", allowed));
    }
    if drive.background.defragment {
        let allowed = "false with data reduction: units of different sizes are not put in order";
        return Err(SpecificationError::new("background.defragment", true, allowed));
    }
    if drive.ftl.reserve_erase_units < 2 {
        let allowed = "2 or more with data reduction: what is moved may be packed less tightly than it was";
        return Err(SpecificationError::new("ftl.reserve_erase_units", drive.ftl.reserve_erase_units, allowed));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
