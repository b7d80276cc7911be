//! The interface of a front end to the drive below it: a translation layer that records its decisions.

use super::decision::Decision;
use super::in_memory::InMemory;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::request::Request;
use std::ops::Range;

/// A drive with a clock, as a front end uses it.
pub trait TimedDrive {
    /// Prefetches what `decide` will access first, and, once that is cached, what it points to.
    fn prefetch(&self, request: &Request);
    /// Prefetches the old copies of the request's units, after `prefetch`.
    fn prefetch_old(&self, request: &Request);
    /// Decides how to execute a request, submitted under `tag`.
    fn decide(&mut self, tag: u32, request: &Request) -> Result<(), ReadOnly>;
    /// Fills program groups, given by their slots, with padding.
    fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly>;
    /// Performs a small amount of background work; called when nothing is outstanding, no request is due and the flash
    /// is idle. The last request completed at `idle_since_ns`.
    fn run_background(&mut self, _now_ns: u64, _idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        Ok(Idle::NothingBefore(u64::MAX))
    }
    /// Reads a range that the host has not requested yet; its units count as read now, the request when it comes.
    fn read_ahead(&mut self, _offset_bytes: u64, _length_bytes: u32) {}
    /// Counts a request whose units are or were read ahead.
    fn count_read(&mut self, _request: &Request) {}
    /// By erase unit of a single block: its die; empty: as without bad blocks.
    fn dies_of_erase_units(&self) -> Vec<u16> {
        Vec::new()
    }
    /// Whether its decisions depend on the queued work of the dies; `load_by_die` is then updated before every request.
    fn depends_on_load(&self) -> bool {
        false
    }
    /// When the queued work of each die ends.
    fn load_by_die(&mut self) -> &mut [u64] {
        &mut []
    }
    /// Whether the dies have yet to perform operations of the drive itself, more than there are dies; called before a
    /// write is decided on, if the front was made so.
    fn note_backlog(&mut self, _has_backlog: bool) {}
    /// Exchanges the record of the controller's memory. It is lent for the duration of a decision, which then reads
    /// nothing from flash that is still in memory.
    fn exchange_memory(&mut self, _memory: &mut InMemory) {}
    /// Whether all units of a write are in the controller's memory and can be replaced there. They are then replaced
    /// and counted; no decision and no program follow. A drive that stores contents replaces them too.
    fn replace(&mut self, _request: &Request, _memory: &InMemory) -> bool {
        false
    }
    /// A unit of the map's journal is programmed, apart from the erase units; with its padding it takes so many mapping
    /// units.
    fn note_journal(&mut self, _units: u32) {}
    /// The drive's counters.
    fn ledger(&self) -> &Ledger;
    /// Exchanges the decisions since the last call for an empty list.
    fn take_decisions(&mut self, into: &mut Vec<Decision>);
}

/// The result of a request for background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// It has decided on operations; ask again when the flash has performed them.
    Decided,
    /// It has nothing to do before this time.
    NothingBefore(u64),
}
