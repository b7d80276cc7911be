//! The translation layer of a drive with a clock, as the host sees it.

use super::Ftl;
use super::numbers::Ppn;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::policies::placement::PlacementPolicy;
use crate::request::Request;
use crate::timing::flash::Flash;
use crate::timing::host::{Idle, TimedDrive};
use crate::timing::recorder::{Decision, Recorder};

impl<P: PlacementPolicy> TimedDrive for Ftl<P, Recorder> {
    fn prefetch(&self, request: &Request) {
        self.prefetch_map(request);
    }

    fn prefetch_old(&self, request: &Request) {
        self.prefetch_old(request);
    }

    fn execute_one(&mut self, request: &Request) -> Result<(), ReadOnly> {
        self.heed(request);
        if self.map_cache.is_some() {
            self.execute_one_by_map_pages(request)
        } else if self.reduction.is_some() {
            self.execute_one_reduced(request)
        } else {
            self.execute_one(request)
        }
    }

    fn pad(&mut self, groups: &[Ppn], group_units: u32) -> Result<(), ReadOnly> {
        if self.reduction.is_some() { self.pad_stored(groups, group_units) } else { self.pad(groups, group_units) }
    }

    fn read_ahead(&mut self, offset_bytes: u64, length_bytes: u32) {
        self.read_ahead(offset_bytes, length_bytes);
    }

    fn count_read(&mut self, request: &Request) {
        self.count_read(request);
    }

    fn housekeep(&mut self, now_ns: u64, idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        self.housekeep(now_ns, idle_since_ns)
    }

    fn dies_of_erase_units(&self) -> Vec<u16> {
        self.array.dies_of_erase_units()
    }

    fn heeds_load(&self) -> bool {
        self.lanes.as_ref().is_some_and(|lanes| lanes.heeds_load())
    }

    fn note_load(&mut self, flash: &Flash, now_ns: u64) {
        if let Some(lanes) = &mut self.lanes {
            flash.tell_load(now_ns, lanes.free_at_ns());
        }
    }

    fn ledger(&self) -> &Ledger {
        self.ledger()
    }

    fn take_decisions(&mut self, into: &mut Vec<Decision>) {
        into.clear();
        std::mem::swap(into, &mut self.clock_mut().decisions);
    }
}
