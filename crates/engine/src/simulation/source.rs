//! Where the requests of a job come from: its own stream, or anything else that can fill a batch, such as a recording.
//!
//! Not for what requests look like (`request`), nor for making them (`workload`).

use crate::request::{Operation, Request};
use crate::workload::Stream;
use crate::workload::host_zones::ZonedStream;
use crate::workload::store::{StoreCounts, StoreStream};
use std::error::Error;

/// Why a source has no more requests though it should. The engine only hands it on.
pub type SourceError = Box<dyn Error + Send + Sync>;

/// The requests of one job, in order, the same whatever the sizes of the batches. Called once a batch, so that it may
/// stand behind a `dyn`.
pub trait RequestSource: Send {
    /// Appends the next requests, at most `count_max`, and says how many; 0 when there are no more. None is empty or
    /// leaves the drive. An error ends the run.
    fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, SourceError>;

    /// The same for one request of this direction, of a source that mixes reads and writes.
    fn fill_one(&mut self, _direction: Operation, out: &mut Vec<Request>) -> Result<usize, SourceError> {
        self.fill(out, 1)
    }

    /// The same with the time at which each request arrives, in nanoseconds since the source began, never falling and
    /// going on through `restart`. The requests of a source without times arrive together at its beginning.
    fn fill_arrivals(
        &mut self,
        out: &mut Vec<Request>,
        arrivals_ns: &mut Vec<u64>,
        count_max: usize,
    ) -> Result<usize, SourceError> {
        let count = self.fill(out, count_max)?;
        arrivals_ns.resize(arrivals_ns.len() + count, 0);
        Ok(count)
    }

    /// Begins again. A source that is empty even then is at its end for good.
    fn restart(&mut self);

    /// The share that is done, from 0 to 1.
    fn progress(&self) -> f64;

    /// What a database has asked for; nothing of any other source.
    fn store_counts(&self) -> Option<StoreCounts> {
        None
    }
}

impl RequestSource for ZonedStream {
    fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, SourceError> {
        Ok(self.fill(out, count_max)?)
    }

    fn fill_one(&mut self, direction: Operation, out: &mut Vec<Request>) -> Result<usize, SourceError> {
        Ok(self.fill_one(direction, out)?)
    }

    fn restart(&mut self) {
        self.restart();
    }

    fn progress(&self) -> f64 {
        self.progress()
    }
}

impl RequestSource for Stream {
    fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, SourceError> {
        Ok(self.fill(out, count_max))
    }

    fn fill_one(&mut self, direction: Operation, out: &mut Vec<Request>) -> Result<usize, SourceError> {
        Ok(self.fill_one(direction, out))
    }

    fn restart(&mut self) {
        self.restart();
    }

    fn progress(&self) -> f64 {
        self.progress()
    }
}

impl RequestSource for StoreStream {
    fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, SourceError> {
        Ok(self.fill(out, count_max)?)
    }

    fn restart(&mut self) {
        self.restart();
    }

    fn progress(&self) -> f64 {
        self.progress()
    }

    fn store_counts(&self) -> Option<StoreCounts> {
        Some(self.counts().clone())
    }
}

/// How the requests of a source that is given come to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The most that are outstanding at a time.
    pub depth: u32,
    /// Whether they arrive at times of their own; else each that completes makes room for the next.
    pub has_times: bool,
}
