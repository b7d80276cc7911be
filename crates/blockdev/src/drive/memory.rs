//! The memory of a drive with contents, computed before it is opened; without the written data, whose amount is
//! unknown.

use super::contents::Contents;
use ssdlab_engine::error::SpecificationError;
use ssdlab_engine::nand::Geometry;
use ssdlab_engine::simulation::{Memory, memory_of_drive};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::devices_of;

/// A slot of a mapping unit: the reference count of its frame, and the list of free frames.
const FRAME_BYTES: u64 = 8;
/// Kept with the data, in the file of the contents where there is one: the spare bytes, and which frame it is.
const SPARE_DATA_BYTES: u64 = 20;
/// A slot of packed data: the entry of the unit that begins there.
const DIRECTORY_ENTRY_BYTES: u64 = 16;
/// An address of a drive with data reduction: the number of the write whose data it has.
const WRITE_NUMBER_BYTES: u64 = 8;
/// An address of a drive with deduplication: hashes of what is stored and of what was.
const HASH_BYTES: u64 = 40;

/// The memory of a drive's tables. Errors name the key of the drive file.
pub fn memory_of(drive: &Drive, contents: &Contents) -> Result<Memory, SpecificationError> {
    let mut memory = memory_of_drive(drive)?;
    for device in devices_of(drive)? {
        memory.of_units_bytes += tables_bytes(&device, contents)?;
    }
    Ok(memory)
}

/// The additional memory of a device with contents.
fn tables_bytes(drive: &Drive, contents: &Contents) -> Result<u64, SpecificationError> {
    let unit_bytes = drive.ftl.mapping_unit_bytes;
    let units = Geometry::of(drive)?.physical_units();
    let user_units = drive.ftl.user_bytes / u64::from(unit_bytes);
    let reduction = &drive.data_reduction;
    let mut bytes = FRAME_BYTES * units;
    if *contents == Contents::Memory {
        bytes += SPARE_DATA_BYTES * units;
        if reduction.is_on() {
            bytes += DIRECTORY_ENTRY_BYTES * units * u64::from(unit_bytes / reduction.packing_bytes.max(1));
        }
    }
    if reduction.is_on() {
        bytes += WRITE_NUMBER_BYTES * user_units;
    }
    if reduction.deduplication {
        bytes += HASH_BYTES * user_units;
    }
    Ok(bytes)
}
