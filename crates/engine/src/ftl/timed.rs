//! The translation layer of a drive with a clock, as the host sees it.

use super::Ftl;
use super::numbers::Ppn;
use crate::error::ReadOnly;
use crate::ledger::{Cause, Ledger};
use crate::policies::placement::PlacementPolicy;
use crate::request::Request;
use crate::timing::flash::Flash;
use crate::timing::host::{Idle, TimedDrive};
use crate::timing::recorder::{Decision, Recorder};
use std::ops::Range;

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

    fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly> {
        if self.reduction.is_some() { self.pad_stored(groups) } else { self.pad(groups) }
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

    fn strike_reads(&mut self, decisions: &mut Vec<Decision>, flash: &mut Flash) {
        self.strike_reads(decisions, |ppn| flash.is_in_memory(ppn));
    }

    fn ledger(&self) -> &Ledger {
        self.ledger()
    }

    fn take_decisions(&mut self, into: &mut Vec<Decision>) {
        into.clear();
        std::mem::swap(into, &mut self.clock_mut().decisions);
    }
}

impl<P: PlacementPolicy> Ftl<P, Recorder> {
    fn strike_reads(&mut self, decisions: &mut Vec<Decision>, mut is_in_memory: impl FnMut(Ppn) -> bool) {
        let counted_units = self.reduction.as_ref().map_or(1, |reduction| u64::from(reduction.places_per_unit()));
        let mut last_page = None;
        decisions.retain(|&decision| {
            let Decision::Read(ppn, cause) = decision else { return true };
            let read_units = &mut self.ledger.read_units;
            let counter = match cause {
                Cause::Host => &mut read_units.host,
                Cause::ReadModifyWrite => &mut read_units.read_modify_write,
                Cause::Metadata => &mut read_units.metadata,
                // What cleaning moves it reads as usual.
                _ => return true,
            };
            let page = ppn.0 / self.geometry.units_per_page;
            let begins_page = cause == Cause::Host && last_page.replace(page) != Some(page);
            if !is_in_memory(ppn) {
                return true;
            }
            *counter -= counted_units;
            if begins_page && let Some(upkeep) = &mut self.upkeep {
                upkeep.refresh.unread(ppn.0);
            }
            false
        });
    }
}
