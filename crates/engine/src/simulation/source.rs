//! Sources of requests: a job's own stream, or anything else that can fill a batch, such as a recording.
//!
//! The form of requests is in `request`, their generation in `workload`.

use crate::request::{Operation, Request};
use crate::workload::Stream;
use crate::workload::host_zones::ZonedStream;
use crate::workload::store::{StoreCounts, StoreStream};
use std::error::Error;

/// Why a source cannot provide further requests. The engine only passes it on.
pub type SourceError = Box<dyn Error + Send + Sync>;

/// The requests of one job, in order, independent of the sizes of the batches. Called once a batch, so that a `dyn`
/// costs nothing.
pub trait RequestSource: Send {
    /// Appends the next requests, at most `count_max`, and returns their number; 0 at the end. None is empty or beyond
    /// the drive. An error ends the run.
    fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, SourceError>;

    /// The same for one request of this direction, from a source that mixes reads and writes.
    fn fill_one(&mut self, _direction: Operation, out: &mut Vec<Request>) -> Result<usize, SourceError> {
        self.fill(out, 1)
    }

    /// The same with the arrival time of each request, in nanoseconds since the source began, which never decreases and
    /// continues through `restart`. The requests of a source without times arrive together at its start.
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

    /// Starts again. A source that is empty even then is at its end permanently.
    fn restart(&mut self);

    /// The completed share, from 0 to 1.
    fn progress(&self) -> f64;

    /// The counts of a database or cache; None for any other source.
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

/// How the requests of a given source arrive at the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The most requests outstanding at a time.
    pub depth: u32,
    /// Whether they have arrival times; otherwise each completion admits another.
    pub has_times: bool,
}
