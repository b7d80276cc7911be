//! The map cache after a loss of power: a scan has found the units, and the newest copies of map pages.
//!
//! The cache is empty, and the changes that it held are in no map page. Which map pages in flash lack changes is known
//! only when they are fetched, so every non-empty one counts as outdated: it becomes dirty when it is fetched. Those
//! never written are known from the scan alone. A segment of a map of extents is one run if its units were written in
//! order.

use super::{MapCached, Page};
use crate::ftl::found::FoundUnit;
use crate::units::Lpn;

impl MapCached {
    /// Restores the host's units found by the scan, in the order of their numbers. Only for a new cache.
    pub fn take_up_units(&mut self, units: &[FoundUnit]) {
        let entries = self.entries_per_page;
        for units in units.chunk_by(|one, next| one.lpn.0 / entries == next.lpn.0 / entries) {
            let page: Page = units[0].lpn.0 / entries;
            if let Some(extents) = &mut self.extents {
                let is_first_units = (page * entries..).zip(units).all(|(number, unit)| unit.lpn == Lpn(number));
                let is_in_order = units.is_sorted_by(|one, next| one.version < next.version);
                let run = if is_first_units && is_in_order { Some(units.len() as u32) } else { None };
                extents.take_up(page, run);
                if run.is_some() {
                    continue;
                }
            }
            self.is_behind[page as usize] = true;
        }
    }

    /// Restores a copy of a map page found in flash. False if it is no longer needed.
    pub fn take_up_page(&mut self, lpn: Lpn) -> bool {
        let is_needed = self.is_behind[(lpn.0 - self.user_units) as usize];
        self.pages_in_flash += u64::from(is_needed);
        is_needed
    }
}
