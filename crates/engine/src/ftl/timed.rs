//! The translation layer of a drive with a clock, as the host sees it.

use super::Ftl;
use super::numbers::Ppn;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::policies::placement::PlacementPolicy;
use crate::request::Request;
use crate::timing::host::TimedDrive;
use crate::timing::recorder::{Decision, Recorder};

impl<P: PlacementPolicy> TimedDrive for Ftl<P, Recorder> {
    fn prefetch(&self, request: &Request) {
        self.prefetch_map(request);
    }

    fn prefetch_old(&self, request: &Request) {
        self.prefetch_old(request);
    }

    fn execute_one(&mut self, request: &Request) -> Result<(), ReadOnly> {
        self.execute_one(request)
    }

    fn pad(&mut self, groups: &[Ppn], group_units: u32) -> Result<(), ReadOnly> {
        self.pad(groups, group_units)
    }

    fn ledger(&self) -> &Ledger {
        self.ledger()
    }

    fn take_decisions(&mut self, into: &mut Vec<Decision>) {
        into.clear();
        std::mem::swap(into, &mut self.clock_mut().decisions);
    }
}
