//! A limit of mean power: commands wait while the drive makes up for what those before them spent.
//!
//! The energy is that of the ledger's counters, as results compute it (`python/ssdlab/simulator/results/energy.py`):
//! operations of the drive itself count like those of the host. They are spent when they are decided on, so that a limit
//! is kept on average, not at each moment. Which requests were expensive does not matter: all commands wait, as with the
//! power states of NVMe, whose limits are means over 10 s.

use crate::error::SpecificationError;
use crate::ledger::Ledger;
use crate::nand::Geometry;
use crate::specification::Drive;

/// Energy that was not used for longer than this cannot be spent later.
const SAVED_NS_MAX: f64 = 1e8;

#[derive(Clone, Debug)]
pub(super) struct PowerLimit {
    /// Beyond the power at rest: nanojoules per nanosecond.
    watts: f64,
    read_unit_nj: f64,
    program_unit_nj: f64,
    erase_nj: f64,
    byte_nj: f64,
    command_nj: f64,
    /// Of the ledger when it was last looked at.
    counted_nj: f64,
    /// How long the drive has to rest, or has rested.
    owed_ns: f64,
    at_ns: u64,
}

impl PowerLimit {
    /// None without a limit. Errors name the key.
    pub fn new(drive: &Drive) -> Result<Option<Box<Self>>, SpecificationError> {
        let power = &drive.power;
        power.check()?;
        let Some(limit_watts) = power.limit_watts else { return Ok(None) };
        let known = |value: Option<f64>| value.expect("checked with the limit");
        let reduction = &drive.data_reduction;
        let counted_unit_bytes = if reduction.is_on() { reduction.packing_bytes } else { drive.ftl.mapping_unit_bytes };
        let share_of_page = f64::from(counted_unit_bytes) / f64::from(drive.nand.page_bytes);
        Ok(Some(Box::new(Self {
            watts: limit_watts - known(power.idle_watts),
            read_unit_nj: known(power.read_uj) * 1e3 * share_of_page,
            program_unit_nj: known(power.program_uj) * 1e3 * share_of_page,
            erase_nj: power.erase_uj * 1e3 * f64::from(Geometry::of(drive)?.blocks_per_erase_unit()),
            byte_nj: power.transfer_nj_per_byte,
            command_nj: power.command_uj * 1e3,
            counted_nj: 0.0,
            owed_ns: 0.0,
            at_ns: 0,
        })))
    }

    /// When a command that comes now may enter the drive. It is counted.
    pub fn admit(&mut self, now: u64, ledger: &Ledger) -> u64 {
        let counted_nj = self.counted_nj(ledger);
        let spent_nj = counted_nj - self.counted_nj + self.command_nj;
        let rested_ns = (now - self.at_ns) as f64;
        self.owed_ns = (self.owed_ns - rested_ns).max(-SAVED_NS_MAX) + spent_nj / self.watts;
        (self.counted_nj, self.at_ns) = (counted_nj, now);
        now + self.owed_ns.max(0.0).round() as u64
    }

    fn counted_nj(&self, ledger: &Ledger) -> f64 {
        ledger.read_units.total() as f64 * self.read_unit_nj
            + ledger.programmed_units.total() as f64 * self.program_unit_nj
            + ledger.erased_erase_units as f64 * self.erase_nj
            + (ledger.host_written_bytes + ledger.host_read_bytes) as f64 * self.byte_nj
    }
}
