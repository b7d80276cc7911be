//! The drive's counters: the ledger, and the live units of each stream. Every counter is written here and nowhere else.
//!
//! All numbers of units are slots: mapping units, or the parts of them in which reduced data is packed.

use crate::ledger::{Cause, Ledger};
use crate::policies::placement::{Placement, PoolState};
use crate::units::StreamId;

pub struct Accounts {
    ledger: Ledger,
    /// Units written by the host, where the ledger counts the slots in which they were packed.
    packed_host_units: Option<u64>,
    /// Addresses that the host has written and not trimmed.
    mapped_units: u64,
    pools: Vec<PoolState>,
    /// Whether the live units of each stream are counted, for a placement policy that goes by them.
    is_pooled: bool,
    /// Programs that the ledger does not contain, because the process that counted them was killed.
    unexplained_programs: i64,
}

impl Accounts {
    pub fn new(placement: &Placement, is_packed: bool) -> Self {
        Self {
            ledger: Ledger::default(),
            packed_host_units: is_packed.then_some(0),
            mapped_units: 0,
            pools: vec![PoolState::default(); usize::from(placement.streams())],
            unexplained_programs: 0,
            is_pooled: placement.is_pooled(),
        }
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Units written by the host.
    pub fn host_units(&self) -> u64 {
        self.packed_host_units.unwrap_or(self.ledger.programmed_units.host)
    }

    pub fn mapped_units(&self) -> u64 {
        self.mapped_units
    }

    pub fn pools(&self) -> &[PoolState] {
        &self.pools
    }

    pub fn unexplained_programs(&self) -> i64 {
        self.unexplained_programs
    }

    #[inline(always)]
    pub fn host_wrote(&mut self, bytes: u64) {
        self.ledger.host_written_bytes += bytes;
    }

    pub fn host_read(&mut self, bytes: u64) {
        self.ledger.host_read_bytes += bytes;
    }

    pub fn host_trimmed(&mut self, bytes: u64) {
        self.ledger.host_trimmed_bytes += bytes;
    }

    /// A unit written by the host was programmed into `slots` slots.
    #[inline(always)]
    pub fn host(&mut self, stream: StreamId, slots: u32) {
        self.ledger.programmed_units.host += u64::from(slots);
        if self.is_pooled {
            let pool = &mut self.pools[stream.index()];
            pool.live_units += u64::from(slots);
            pool.recent_units += 1;
        }
    }

    /// A unit of the host was packed, or found to be stored already.
    pub fn packed(&mut self) {
        self.packed_host_units = self.packed_host_units.map(|units| units + 1);
    }

    /// An unmapped address was mapped.
    #[inline(always)]
    pub fn mapped(&mut self) {
        self.mapped_units += 1;
    }

    /// A mapped address was trimmed.
    pub fn trimmed(&mut self) {
        self.mapped_units -= 1;
        self.ledger.trimmed_units += 1;
    }

    /// Slots of a stream were invalidated. The stream is determined only for policies that need it.
    #[inline(always)]
    pub fn lost(&mut self, stream: impl FnOnce() -> StreamId, slots: u32) {
        if self.is_pooled {
            self.pools[stream().index()].live_units -= u64::from(slots);
        }
    }

    /// Live units were read and programmed elsewhere.
    pub fn moved(&mut self, cause: Cause, from: StreamId, to: StreamId, programmed: u64, read: u64) {
        let (programs, reads) = (&mut self.ledger.programmed_units, &mut self.ledger.read_units);
        let (programs, reads) = match cause {
            Cause::WearLeveling => (&mut programs.wear_leveling, &mut reads.wear_leveling),
            Cause::SlcFold => (&mut programs.slc_fold, &mut reads.slc_fold),
            _ => (&mut programs.gc, &mut reads.gc),
        };
        *programs += programmed;
        *reads += read;
        if self.is_pooled {
            self.pools[from.index()].live_units -= programmed;
            self.pools[to.index()].live_units += programmed;
        }
    }

    /// Units were read from flash; none where the controller still holds them in its memory.
    #[inline(always)]
    pub fn read(&mut self, cause: Cause, units: u64) {
        let reads = &mut self.ledger.read_units;
        let counter = match cause {
            Cause::Host => &mut reads.host,
            Cause::ReadModifyWrite => &mut reads.read_modify_write,
            Cause::Metadata => &mut reads.metadata,
            Cause::WearLeveling => &mut reads.wear_leveling,
            Cause::SlcFold => &mut reads.slc_fold,
            Cause::Gc | Cause::Parity | Cause::Padding => &mut reads.gc,
        };
        *counter += units;
    }

    /// The host wrote a part of a unit.
    pub fn modified(&mut self) {
        self.ledger.read_modify_write_units += 1;
    }

    pub fn parity(&mut self, slots: u32) {
        self.ledger.programmed_units.parity += u64::from(slots);
    }

    pub fn padded(&mut self, slots: u64) {
        self.ledger.programmed_units.padding += slots;
    }

    /// Data of the drive itself was programmed; it never counts as live.
    pub fn index(&mut self, slots: u32) {
        self.ledger.programmed_units.metadata += u64::from(slots);
    }

    /// A map page was programmed; it is live in the same sense as the host's units.
    pub fn map_page(&mut self, stream: StreamId) {
        self.ledger.programmed_units.metadata += 1;
        self.found(stream, 1);
    }

    /// A unit of the map's journal was programmed.
    pub fn journaled(&mut self, slots: u64) {
        self.ledger.programmed_units.journal += slots;
    }

    pub fn looked_up_map_page(&mut self) {
        self.ledger.map_page_lookups += 1;
    }

    pub fn deduplicated(&mut self) {
        self.ledger.deduplicated_units += 1;
    }

    pub fn opened(&mut self, stream: StreamId) {
        self.pools[stream.index()].erase_units += 1;
    }

    pub fn erased(&mut self, stream: StreamId) {
        self.pools[stream.index()].erase_units -= 1;
        self.ledger.erased_erase_units += 1;
    }

    /// Reduces the weight of earlier writes, so that the shares of the streams follow a changing workload.
    pub fn fade(&mut self, user_units: u32) {
        let recent: u64 = self.pools.iter().map(|pool| pool.recent_units).sum();
        if recent > 4 * u64::from(user_units) {
            self.pools.iter_mut().for_each(|pool| pool.recent_units /= 2);
        }
    }
}

/// Restoring counters: from a saved state, or from what survives a loss of power.
impl Accounts {
    pub fn take_up_ledger(&mut self, ledger: Ledger) {
        self.ledger = ledger;
    }

    /// Restores the number of units written by the host, where the ledger does not have it.
    pub fn take_up_host_units(&mut self, host_units: u64) {
        self.packed_host_units = self.packed_host_units.map(|_| host_units);
    }

    /// Restores the live units of each stream from a saved state; without, they are counted by `found`.
    pub fn take_up_pools(&mut self, pools: Vec<PoolState>) {
        self.pools = pools;
    }

    pub fn take_up_mapped(&mut self, mapped_units: u64) {
        self.mapped_units = mapped_units;
    }

    /// A scan found live slots of a stream.
    pub fn found(&mut self, stream: StreamId, slots: u32) {
        if self.is_pooled {
            self.pools[stream.index()].live_units += u64::from(slots);
        }
    }

    /// An erase was counted, but power was lost before it was performed.
    pub fn erase_undone(&mut self) {
        self.ledger.erased_erase_units -= 1;
    }

    /// Compares the ledger with the programs found in flash, and records the difference separately.
    pub fn explain(&mut self, programmed: u64) {
        self.unexplained_programs = programmed as i64 - self.ledger.programmed_units.in_erase_units() as i64;
    }
}
