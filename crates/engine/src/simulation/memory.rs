//! The memory of a run, computed from its specification before any table is allocated.
//!
//! Tables count in full: those for which the system provides memory on access are full once the whole drive has been
//! written. Small items are covered by an allowance.

use crate::error::SpecificationError;
use crate::nand::Geometry;
use crate::specification::drive::{MapForm, devices_of};
use crate::specification::job::Distribution;
use crate::specification::{Drive, Job, Specification};
use schemars::JsonSchema;
use serde::Serialize;

/// Bytes of memory of a run, in two parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Memory {
    /// Tables by mapping unit: a drive of half the size needs half of them.
    pub of_units_bytes: u64,
    /// Everything else; the same at every scale.
    pub other_bytes: u64,
}

// Bytes of all tables for a unit of each kind.
const MAP_ENTRY_BYTES: u64 = 4;
const STORED_PLACES_BYTES: u64 = 1;
const SHARING_BYTES: u64 = 8;
/// A map page: its slot in the cache, and whether it is outdated.
const MAP_PAGE_BYTES: u64 = 5;
const EXTENT_BYTES: u64 = 2;
/// A slot of the map cache: its map page, its neighbours in age, the list of free ones.
const MAP_CACHE_PLACE_BYTES: u64 = 20;
/// An erase unit: its key for victim selection, stream, ages, erases, its position among the free ones.
const ERASE_UNIT_BYTES: u64 = 48;
/// A block: erases, endurance, its erase unit.
const BLOCK_BYTES: u64 = 16;
const READ_COUNT_BYTES: u64 = 8;
/// With read retries: of a block its reads, of an erase unit its age and its erases.
const RETRY_BLOCK_BYTES: u64 = 4;
const RETRY_ERASE_UNIT_BYTES: u64 = 12;
/// A job with a clock: a histogram for each operation, and the parts of its latencies.
const TIMED_JOB_BYTES: u64 = 160 << 10;
const JOB_BYTES: u64 = 4 << 10;
/// Series, queues and buffers, without a clock and with one, as measured.
const RUN_BYTES: u64 = 1 << 20;
const TIMED_RUN_BYTES: u64 = 2 << 20;

/// The memory that a run of this specification takes. Errors name the key of the drive file.
pub fn memory_of(specification: &Specification) -> Result<Memory, SpecificationError> {
    let mut memory = memory_of_drive(&specification.drive)?;
    memory.other_bytes += if specification.timed { TIMED_RUN_BYTES } else { RUN_BYTES };
    for job in &specification.jobs {
        memory.of_units_bytes += visited_blocks_bytes(job);
        memory.other_bytes += if specification.timed { TIMED_JOB_BYTES } else { JOB_BYTES };
    }
    Ok(memory)
}

/// The memory of a new drive. Errors name the key of the drive file.
pub fn memory_of_drive(drive: &Drive) -> Result<Memory, SpecificationError> {
    let mut memory = Memory::default();
    devices_of(drive)?.iter().try_for_each(|device| memory.add_device(device))?;
    Ok(memory)
}

impl Memory {
    fn add_device(&mut self, drive: &Drive) -> Result<(), SpecificationError> {
        let ftl = &drive.ftl;
        let geometry = Geometry::of(drive)?;
        let user_units = ftl.user_bytes / u64::from(ftl.mapping_unit_bytes);
        let reduction = &drive.data_reduction;
        let slots_per_unit =
            if reduction.is_on() { ftl.mapping_unit_bytes / reduction.packing_bytes.max(1) } else { 1 };
        let held_out_units = ftl.reserved_bytes / u64::from(ftl.mapping_unit_bytes);
        let places = geometry.physical_units().saturating_sub(held_out_units) * u64::from(slots_per_unit);
        let map_pages = map_pages(drive, user_units);

        self.of_units_bytes += MAP_ENTRY_BYTES * (user_units + map_pages + places) + places / 8;
        if reduction.is_on() {
            self.of_units_bytes += STORED_PLACES_BYTES * user_units;
        }
        if reduction.deduplication {
            self.of_units_bytes += SHARING_BYTES * user_units;
        }
        self.of_units_bytes += map_cache_bytes(drive, map_pages);

        let blocks = u64::from(geometry.blocks());
        self.other_bytes += ERASE_UNIT_BYTES * u64::from(geometry.erase_units_nominal()) + BLOCK_BYTES * blocks;
        if drive.background.read_disturb_reads > 0 {
            self.other_bytes += READ_COUNT_BYTES * blocks;
        }
        if drive.read_retries.is_on() {
            self.other_bytes += RETRY_BLOCK_BYTES * blocks;
            self.other_bytes += RETRY_ERASE_UNIT_BYTES * u64::from(geometry.erase_units_nominal());
        }
        Ok(())
    }
}

/// 0 if the drive's memory holds its whole map.
fn map_pages(drive: &Drive, user_units: u64) -> u64 {
    if drive.map_cache.bytes == 0 {
        0
    } else {
        user_units.div_ceil(u64::from(drive.map_cache.entries_per_map_page.max(1)))
    }
}

fn map_cache_bytes(drive: &Drive, map_pages: u64) -> u64 {
    let cache = &drive.map_cache;
    let page_bytes = u64::from(cache.entries_per_map_page) * u64::from(cache.entry_bytes);
    let places = (cache.bytes / page_bytes.max(1)).min(map_pages);
    let extent_bytes = if cache.form == MapForm::Extent { EXTENT_BYTES } else { 0 };
    (MAP_PAGE_BYTES + extent_bytes) * map_pages + MAP_CACHE_PLACE_BYTES * places
}

/// A bit for each block that random requests of several sizes visit once; one size needs none.
fn visited_blocks_bytes(job: &Job) -> u64 {
    let is_mapped = !job.sequential && job.random_map && job.distribution == Distribution::Random;
    let sizes = [&job.block_sizes.read, &job.block_sizes.write, &job.block_sizes.trim];
    let aligns = [job.block_align_bytes.read, job.block_align_bytes.write, job.block_align_bytes.trim];
    if !is_mapped || (sizes.iter().all(|sizes| sizes.len() <= 1) && job.following_block_sizes.is_none()) {
        return 0;
    }
    job.size_bytes / aligns.into_iter().min().unwrap_or(1).max(1) / 8
}
