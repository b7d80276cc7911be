//! The timed translation layer, as the host uses it.

use super::Ftl;
use super::layer::Layer;
use super::layer::reduced::contents::{Packs, StoredAs};
use super::media::Media;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::request::Request;
use crate::timing::decision::{Decision, Packed};
use crate::timing::drive::{Idle, TimedDrive};
use crate::timing::in_memory::InMemory;
use crate::timing::recorder::Recorder;
use crate::units::{Lpn, Ppn};
use std::ops::Range;

impl<L: Layer> TimedDrive for Ftl<L, Recorder> {
    fn prefetch(&self, request: &Request) {
        self.media.prefetch_map(request);
    }

    fn prefetch_old(&self, request: &Request) {
        self.media.prefetch_old(request);
    }

    fn decide(&mut self, _tag: u32, request: &Request) -> Result<(), ReadOnly> {
        self.execute_one(request)
    }

    fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly> {
        self.pad(groups)
    }

    /// Before the host's request, which `count_read` counts.
    fn read_ahead(&mut self, offset_bytes: u64, length_bytes: u32) {
        self.layer.read(&mut self.media, &mut self.gc, offset_bytes, length_bytes);
    }

    fn count_read(&mut self, request: &Request) {
        let read_bytes = u64::from(request.length_bytes);
        let count = |_: &mut L, media: &mut Media<_>| media.accounts.host_read(read_bytes);
        self.layer.count_by_namespace(&mut self.media, request.offset_bytes, count);
    }

    fn run_background(&mut self, now_ns: u64, idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        self.run_background(now_ns, idle_since_ns)
    }

    fn dies_of_erase_units(&self) -> Vec<u16> {
        self.media.space.array.dies_of_erase_units()
    }

    fn depends_on_load(&self) -> bool {
        self.media.space.open_blocks.as_ref().is_some_and(|open_blocks| open_blocks.uses_load())
    }

    fn load_by_die(&mut self) -> &mut [u64] {
        self.media.space.open_blocks.as_mut().map_or(&mut [], |open_blocks| open_blocks.free_at_ns())
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
        let map = &self.media.map;
        let mut slots = map.touched(request.offset_bytes, request.length_bytes).map(|lpn| map.physical(lpn));
        let are_there = slots.all(|ppn| ppn != Ppn::UNMAPPED && memory.can_replace(ppn));
        if are_there {
            let written_bytes = u64::from(request.length_bytes);
            let count = |_: &mut L, media: &mut Media<_>| media.accounts.host_wrote(written_bytes);
            self.layer.count_by_namespace(&mut self.media, request.offset_bytes, count);
        }
        are_there
    }

    fn note_journal(&mut self, units: u32) {
        self.media.accounts.journaled(u64::from(units) * u64::from(self.media.space.layout.slots_per_unit()));
    }

    fn ledger(&self) -> &Ledger {
        self.ledger()
    }

    fn take_decisions(&mut self, into: &mut Vec<Decision>) {
        into.clear();
        std::mem::swap(into, &mut self.clock_mut().decisions);
    }
}

impl<L: Layer> Packs for Ftl<L, Recorder> {
    fn note_packing(&mut self) {
        self.media.clock.packed.get_or_insert_default();
    }

    fn take_packed(&mut self, into: &mut Vec<(u32, Packed)>) {
        into.clear();
        std::mem::swap(into, self.media.clock.packed.as_mut().expect("packing is noted"));
    }

    fn write_as(&mut self, request: &Request, stored: StoredAs) -> Result<(), ReadOnly> {
        self.layer.write_as(&mut self.media, &mut self.gc, request, stored)
    }

    fn owner_of(&self, slot: Ppn) -> Option<Lpn> {
        self.media.map.is_live(slot).then(|| self.media.map.logical(slot))
    }

    fn slots_per_unit(&self) -> u32 {
        if L::IS_PACKED { self.media.space.layout.slots_per_unit() } else { 0 }
    }
}
