//! The timed translation layer, as the host uses it.

use super::Ftl;
use super::layer::Layer;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::request::Request;
use crate::timing::decision::Decision;
use crate::timing::drive::{Idle, TimedDrive};
use crate::timing::in_memory::InMemory;
use crate::timing::recorder::Recorder;
use crate::units::{Lpn, Ppn};
use std::ops::Range;

impl<L: Layer> TimedDrive for Ftl<L, Recorder> {
    fn prefetch(&self, request: &Request) {
        self.prefetch_map(request);
    }

    fn prefetch_old(&self, request: &Request) {
        self.prefetch_old(request);
    }

    fn decide(&mut self, _tag: u32, request: &Request) -> Result<(), ReadOnly> {
        L::execute_one(self, request)
    }

    fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly> {
        self.pad(groups)
    }

    fn read_ahead(&mut self, offset_bytes: u64, length_bytes: u32) {
        self.read_ahead(offset_bytes, length_bytes);
    }

    fn count_read(&mut self, request: &Request) {
        self.count_by_namespace(request.offset_bytes, |ftl| ftl.count_read(request));
    }

    fn run_background(&mut self, now_ns: u64, idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        self.run_background(now_ns, idle_since_ns)
    }

    fn dies_of_erase_units(&self) -> Vec<u16> {
        self.space.array.dies_of_erase_units()
    }

    fn depends_on_load(&self) -> bool {
        self.space.open_blocks.as_ref().is_some_and(|open_blocks| open_blocks.uses_load())
    }

    fn load_by_die(&mut self) -> &mut [u64] {
        self.space.open_blocks.as_mut().map_or(&mut [], |open_blocks| open_blocks.free_at_ns())
    }

    fn note_backlog(&mut self, has_backlog: bool) {
        self.gc.note_backlog(has_backlog);
    }

    fn exchange_memory(&mut self, memory: &mut InMemory) {
        std::mem::swap(memory, &mut self.clock_mut().memory);
    }

    fn replace(&mut self, request: &Request, memory: &InMemory) -> bool {
        if L::IS_PACKED || self.read_only().is_some() {
            return false;
        }
        let last = self.lpn_of(request.offset_bytes + u64::from(request.length_bytes) - 1);
        let mut slots = (self.lpn_of(request.offset_bytes).0..=last.0).map(|lpn| self.map.physical(Lpn(lpn)));
        let are_there = slots.all(|ppn| ppn != Ppn::UNMAPPED && memory.can_replace(ppn));
        if are_there {
            let written_bytes = u64::from(request.length_bytes);
            self.count_by_namespace(request.offset_bytes, |ftl| ftl.accounts.host_wrote(written_bytes));
        }
        are_there
    }

    fn note_journal(&mut self, units: u32) {
        self.accounts.journaled(u64::from(units) * u64::from(self.space.layout.slots_per_unit()));
    }

    fn ledger(&self) -> &Ledger {
        self.ledger()
    }

    fn take_decisions(&mut self, into: &mut Vec<Decision>) {
        into.clear();
        std::mem::swap(into, &mut self.clock_mut().decisions);
    }
}
