//! What a front asks of the drive below it: a translation layer that writes down what it decides.

use super::in_memory::InMemory;
use super::recorder::Decision;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::request::Request;
use std::ops::Range;

pub trait TimedDrive {
    /// Brings near what `decide` will look at first, and, once that is near, what it points at.
    fn prefetch(&self, request: &Request);
    fn prefetch_old(&self, request: &Request);
    /// Decides what becomes of a request; `tag` is the one that it was submitted under.
    fn decide(&mut self, tag: u32, request: &Request) -> Result<(), ReadOnly>;
    /// Fills program groups, which are given by their places, up with padding.
    fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly>;
    /// Does a little of the work that can wait for idle time; asked for when nothing is outstanding, no request is due
    /// and the flash has nothing left to do. The last request was complete at `idle_since_ns`.
    fn run_background(&mut self, _now_ns: u64, _idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        Ok(Idle::NothingBefore(u64::MAX))
    }
    /// Reads a range that the host has not asked for yet; its units count as read, the request will when it comes.
    fn read_ahead(&mut self, _offset_bytes: u64, _length_bytes: u32) {}
    /// Counts a request whose units were or are read ahead.
    fn count_read(&mut self, _request: &Request) {}
    /// By erase unit of a single block, the die that it lies on; nothing: as where no block is bad.
    fn dies_of_erase_units(&self) -> Vec<u16> {
        Vec::new()
    }
    /// Whether its decisions depend on what the dies have queued; then `load_by_die` is filled in before every request.
    fn depends_on_load(&self) -> bool {
        false
    }
    /// When each die would have done what is queued for it.
    fn load_by_die(&mut self) -> &mut [u64] {
        &mut []
    }
    /// Exchanges what the drive knows of the controller's memory. It is lent for the time of a decision, which then
    /// reads nothing from flash that is still there.
    fn exchange_memory(&mut self, _memory: &mut InMemory) {}
    /// Whether all units of a write are in the controller's memory and can be replaced there, which is then done and
    /// counted: nothing is decided, and nothing programmed for it. A drive that stores contents writes again.
    fn replace(&mut self, _request: &Request, _memory: &InMemory) -> bool {
        false
    }
    fn ledger(&self) -> &Ledger;
    /// Exchanges the decisions since the last call for an empty list.
    fn take_decisions(&mut self, into: &mut Vec<Decision>);
}

/// What came of asking a drive to do what can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// It decided on something; ask again when the flash has done it.
    Decided,
    /// It has nothing to do before this time.
    NothingBefore(u64),
}
