//! The interface between the host and its client, which owns the jobs.

use crate::ledger::Ledger;
use crate::request::{Operation, Request};
use crate::timing::breakdown::Parts;
use crate::timing::front::Completion;

/// Provides requests, and is informed of their completion. The tag of a completion is the number of its job.
pub trait Client {
    /// Appends at most `count_max` of a job's next requests; none when the job has no more. They are drawn in advance
    /// and may never be issued.
    fn draw(&mut self, job: u32, out: &mut Vec<Request>, count_max: usize);
    /// Appends the next request, of this direction, of a job that reads and writes at rates.
    fn draw_one(&mut self, _job: u32, _direction: Operation, _out: &mut Vec<Request>) {
        unreachable!("this client has no rates");
    }
    /// The same as `draw` for a job with arrival times, which never decrease: a time in nanoseconds since the job began
    /// for each request.
    fn draw_arrivals(&mut self, _job: u32, _out: &mut Vec<Request>, _arrivals_ns: &mut Vec<u64>, _count_max: usize) {
        unreachable!("this client has no requests with arrival times");
    }
    /// Whether the job's time is up, so that it issues no further request.
    fn is_over(&self, job: u32, now_ns: u64) -> bool;
    /// Whether a job that searches for its depth may have one more request outstanding; called for such jobs only,
    /// again after each completion.
    fn may_issue(&mut self, _job: u32, _outstanding: u32, _now_ns: u64) -> bool {
        true
    }
    /// The drive has executed a request of the job and counted it in its ledger; it completes later.
    fn executed(&mut self, _job: u32, _now_ns: u64, _ledger: &Ledger) {}
    /// The parts of its time add up to it; a flush has no parts.
    fn completed(&mut self, completion: Completion, parts: &Parts);
    /// The job begins, after its delay and the jobs that it waits for.
    fn started(&mut self, _job: u32, _now_ns: u64) {}
    /// The job issues no further request, and all of its requests have completed.
    fn ended(&mut self, _job: u32, _now_ns: u64) {}
}
