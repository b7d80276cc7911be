//! Reclaim groups, `ftl.placement.reclaim_groups`: which features go with them.

use super::{Drive, SpareArea, reclaim_groups_of};
use crate::error::SpecificationError;

/// Refuses features that move data without regard to the groups of a drive. Errors name the key.
pub fn check_goes_with_groups(drive: &Drive) -> Result<(), SpecificationError> {
    if reclaim_groups_of(&drive.ftl.placement) == 1 {
        return Ok(());
    }
    let background = &drive.background;
    let features = [
        ("ftl.spare_area", drive.ftl.spare_area == SpareArea::Static, "dynamic"),
        ("ftl.wear_leveling", drive.ftl.wear_leveling.name == "static", "none or dynamic"),
        ("nand.erase_by_plane", drive.nand.erase_by_plane, "false"),
        ("slc_cache", drive.slc_cache.is_on(), "no cache"),
        ("map_cache.bytes", drive.map_cache.bytes > 0, "0"),
        ("data_reduction", drive.data_reduction.is_on(), "none"),
        ("background.erased_pool_bytes", background.erased_pool_bytes > 0, "0"),
        ("background.defragment", background.defragment, "false"),
        ("background.read_disturb_reads", background.read_disturb_reads > 0, "0"),
        ("background.retention_days", background.retention_days > 0.0, "0"),
        ("stripe.devices", drive.stripe.is_on(), "1"),
    ];
    match features.into_iter().find(|(_, is_on, _)| *is_on) {
        Some((key, _, off)) => {
            let allowed = format!("{off} on a drive with several ftl.placement.reclaim_groups");
            Err(SpecificationError::new(key, "on", allowed))
        }
        None => Ok(()),
    }
}
