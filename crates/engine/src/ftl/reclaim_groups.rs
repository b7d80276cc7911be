//! The reclaim groups of a drive file. `space/reclaim_groups.rs` says what a group is.

use super::space::{self, Layout, Margins, ReclaimGroups};
use crate::error::SpecificationError;
use crate::policies::wear::WearLeveling;
use crate::specification::drive::{Drive, Handles, check_goes_with_groups, handles_of};

/// The groups of a drive; None if all of it is one. Errors name the key.
pub fn of_drive(
    drive: &Drive,
    erase_units: u32,
    user_units: u32,
    layout: &Layout,
    margins: &Margins,
) -> Result<Option<Box<ReclaimGroups>>, SpecificationError> {
    let Some(handles) = handles_of(&drive.ftl.placement).filter(|handles| handles.reclaim_groups > 1) else {
        return Ok(None);
    };
    check_goes_with_groups(drive)?;
    let groups = u32::from(handles.reclaim_groups);
    let share_units = u64::from(user_units.div_ceil(groups));
    let needed = erase_units_needed(handles, share_units, layout, margins);
    let least = erase_units / groups;
    if least < needed {
        let data = u64::from(least.saturating_sub(handles.held_back_erase_units() + margins.reserve_erase_units))
            * u64::from(layout.data_units_per_erase_unit());
        let allowed = format!(
            "at most {} bytes: each of {groups} reclaim groups has {least} erase units, and needs the reserve of {} and \
             {} more besides its share of the data",
            data * u64::from(groups) * u64::from(drive.ftl.mapping_unit_bytes),
            margins.reserve_erase_units,
            handles.held_back_erase_units(),
        );
        return Err(SpecificationError::new("ftl.user_bytes", drive.ftl.user_bytes, allowed));
    }
    let in_hand = space::in_hand(1, u64::from(least - needed));
    let prefers_least_worn = WearLeveling::new(&drive.ftl.wear_leveling)?.prefers_least_worn();
    let sizes = (share_units, layout.data_units_per_erase_unit());
    let groups = ReclaimGroups::new(handles, erase_units, sizes, prefers_least_worn, (in_hand, needed));
    Ok(Some(Box::new(groups)))
}

/// The erase units without which a group could not collect garbage when it holds its share of the data.
fn erase_units_needed(handles: Handles, share_units: u64, layout: &Layout, margins: &Margins) -> u32 {
    let data = space::data_erase_units(share_units, layout) as u32;
    data + margins.reserve_erase_units + handles.held_back_erase_units()
}
