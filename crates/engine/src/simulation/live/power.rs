//! The effect that a loss of power would have at a moment: lost data, and the duration of the recovery.
//!
//! The drive is not changed. Contents are not simulated here, so no data can really be missed, and a run with a loss of
//! power cannot be expressed as jobs. The rule is that of drives with contents (`crates/blockdev`): a checkpoint of the
//! map whenever a quarter of the flash has been programmed, and after the loss a scan of the spare bytes of every page
//! programmed since, and of at least one page of each erase unit, over all dies in parallel.

use crate::ftl::Capacity;
use crate::ledger::Ledger;
use crate::specification::Drive;
use serde::Serialize;

/// A checkpoint follows after this part of the flash is programmed.
const CHECKPOINT_PART: u64 = 4;
const MAP_ENTRY_BYTES: u64 = 4;

/// The effect of a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PowerLoss {
    /// Whether data in memory is saved.
    pub power_loss_protection: bool,
    /// Units of the host that were in memory, and are lost without protection.
    pub torn_units: u64,
    /// Live units in the checkpoint; 0 before the first.
    pub checkpoint_units: u64,
    /// Pages whose spare bytes would be read.
    pub scanned_pages: u64,
    /// The time to read the checkpoint and to scan.
    pub duration_ns: u64,
}

impl PowerLoss {
    /// For a drive with these counters.
    pub fn of(drive: &Drive, capacity: &Capacity, ledger: &Ledger, units_in_memory: u64) -> Self {
        let nand = &drive.nand;
        let slots_per_unit = u64::from(capacity.mapping_unit_bytes / capacity.counted_unit_bytes);
        let programmed_units = ledger.programmed_units.total() / slots_per_unit;
        let interval_units = (capacity.physical_units / CHECKPOINT_PART).max(1);
        let since_units = programmed_units % interval_units;
        let has_checkpoint = programmed_units >= interval_units;
        let units_per_page = u64::from(nand.page_bytes / capacity.mapping_unit_bytes);
        let touched = since_units.div_ceil(u64::from(capacity.units_per_erase_unit));
        let scanned_pages =
            since_units.div_ceil(units_per_page) + u64::from(capacity.erase_units).saturating_sub(touched);
        let dies = f64::from(drive.stripe.devices * nand.channels * nand.dies_per_channel);
        let pages_ns = scanned_pages as f64 * nand.read_us_mean() * 1000.0 / dies;
        let map_bytes = if has_checkpoint { MAP_ENTRY_BYTES * capacity.user_units } else { 0 };
        let map_ns = map_bytes as f64 / (nand.channel_mb_s * f64::from(drive.stripe.devices * nand.channels)) * 1000.0;
        let power_loss_protection = drive.write_buffer.bytes > 0 && drive.write_buffer.power_loss_protection;
        Self {
            power_loss_protection,
            torn_units: if power_loss_protection { 0 } else { units_in_memory },
            checkpoint_units: if has_checkpoint { capacity.live_units } else { 0 },
            scanned_pages,
            duration_ns: (pages_ns + map_ns).round() as u64,
        }
    }
}
