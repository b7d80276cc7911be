//! What the host asks of the drive below it, and what it tells the client above it.

use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::request::{Operation, Request};
use crate::timing::breakdown::Parts;
use crate::timing::flash::Flash;
use crate::timing::recorder::Decision;
use std::ops::Range;

/// A translation layer that writes down what it decides.
pub trait TimedDrive {
    /// Brings near what `execute_one` will look at first, and, once that is near, what it points at.
    fn prefetch(&self, request: &Request);
    fn prefetch_old(&self, request: &Request);
    fn execute_one(&mut self, request: &Request) -> Result<(), ReadOnly>;
    /// Fills program groups, which are given by their places, up with padding.
    fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly>;
    /// Does a little of the work that can wait for idle time; asked for when nothing is outstanding, no request is due and
    /// the flash has nothing left to do. The last request was complete at `idle_since_ns`.
    fn housekeep(&mut self, _now_ns: u64, _idle_since_ns: u64) -> Result<Idle, ReadOnly> {
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
    /// Whether its decisions go by what the dies have queued; then `note_load` comes before every request.
    fn heeds_load(&self) -> bool {
        false
    }
    fn note_load(&mut self, _flash: &Flash, _now_ns: u64) {}
    /// Strikes reads for the host of what the controller still has in its memory out of what was decided for a request, and
    /// out of the books. Asked for only where there is anything in memory.
    fn strike_reads(&mut self, _decisions: &mut Vec<Decision>, _flash: &mut Flash) {}
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

/// Who asks for requests, and hears of their end.
pub trait Client {
    /// Appends at most `count_max` of a job's next requests; none when the job has no more. They are drawn ahead of their
    /// time and may never be issued.
    fn draw(&mut self, job: u32, out: &mut Vec<Request>, count_max: usize);
    /// The same for a job whose requests arrive at times of their own, which never fall: a time in nanoseconds since the
    /// job began for each request.
    fn draw_arrivals(&mut self, _job: u32, _out: &mut Vec<Request>, _arrivals_ns: &mut Vec<u64>, _count_max: usize) {
        unreachable!("this client has no requests with arrival times");
    }
    /// Whether the job's time is up, so that it issues nothing more.
    fn is_over(&self, job: u32, now_ns: u64) -> bool;
    /// Whether a job that looks for its depth may have one more outstanding; asked of no other job, again after each of
    /// its completions.
    fn may_issue(&mut self, _job: u32, _outstanding: u32, _now_ns: u64) -> bool {
        true
    }
    /// The drive has carried out a request of the job, in its books; its end in time comes later.
    fn executed(&mut self, _job: u32, _ledger: &Ledger) {}
    /// The parts of its time add up to it; nothing is said of a flush.
    fn completed(&mut self, completion: Completion, parts: &Parts);
    /// The job begins, after its delay and those that it waits for.
    fn started(&mut self, _job: u32, _now_ns: u64) {}
    /// The job issues nothing more, and all that it issued is complete.
    fn ended(&mut self, _job: u32, _now_ns: u64) {}
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub job: u32,
    pub operation: Operation,
    pub length_bytes: u32,
    pub offset_bytes: u64,
    pub issued_ns: u64,
    pub completed_ns: u64,
}
