//! Which units of a range are mapped: looked up in the map, without a request to the drive, after pending writes to the
//! range have been applied.

use super::core::Core;
use crate::device::Extent;

/// Units looked up in one call, so that other requests do not wait long for the drive.
const UNITS_MAX: u64 = 1 << 16;

/// The extents of a range within the drive. The list ends early after `extents_max` or `UNITS_MAX`.
pub(super) fn of(core: &mut Core, offset_bytes: u64, length_bytes: u64, extents_max: usize) -> Vec<Extent> {
    let unit_bytes = u64::from(core.capabilities().unit_bytes);
    let end_bytes = offset_bytes + length_bytes;
    let first_unit = offset_bytes / unit_bytes;
    let units = first_unit..end_bytes.div_ceil(unit_bytes).min(first_unit + UNITS_MAX);
    let range = offset_bytes..end_bytes;
    core.bring_in(|core| core.is_arriving(&range));
    let mut extents: Vec<Extent> = Vec::new();
    for unit in units {
        let from_bytes = offset_bytes.max(unit * unit_bytes);
        let length_bytes = end_bytes.min((unit + 1) * unit_bytes) - from_bytes;
        let is_hole = core.is_hole(from_bytes..from_bytes + length_bytes);
        let are_enough = extents.len() == extents_max;
        match extents.last_mut() {
            Some(last) if last.is_hole == is_hole => last.length_bytes += length_bytes,
            _ if are_enough => break,
            _ => extents.push(Extent { length_bytes, is_hole }),
        }
    }
    extents
}
