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

/// What a job draws from its source.
pub struct Supply {
    source: Box<dyn RequestSource>,
    drawn: u64,
    /// How many more requests may be drawn, if the job is ended early.
    left: u64,
    restarts: u32,
}

impl Supply {
    /// All requests of the source.
    pub fn new(source: Box<dyn RequestSource>) -> Self {
        Self { source, drawn: 0, left: u64::MAX, restarts: 0 }
    }

    /// Draws at most this many requests; at its end the source restarts, if it `repeats`. Returns their number; 0 at the
    /// end.
    pub fn draw(
        &mut self,
        count_max: usize,
        repeats: bool,
        mut draw: impl FnMut(&mut dyn RequestSource, usize) -> Result<usize, SourceError>,
    ) -> Result<usize, SourceError> {
        let count_max = count_max.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if count_max == 0 {
            return Ok(0);
        }
        let mut count = draw(&mut *self.source, count_max)?;
        if count == 0 && repeats {
            self.source.restart();
            self.restarts += 1;
            count = draw(&mut *self.source, count_max)?;
        }
        self.drawn += count as u64;
        self.left -= count as u64;
        Ok(count)
    }

    /// The number of requests drawn.
    pub fn drawn(&self) -> u64 {
        self.drawn
    }

    /// How often the source has restarted.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Ends the job after this many further requests; so many of those drawn were put back.
    pub fn end_after(&mut self, requests: u64, put_back: u64) {
        self.drawn -= put_back;
        self.left = requests;
    }

    /// Whether nothing is left to draw, unless the source restarts.
    pub fn is_over(&self) -> bool {
        self.left == 0 || self.progress() >= 1.0
    }

    /// The completed share of the source, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.source.progress()
    }

    /// See `RequestSource::store_counts`.
    pub fn store_counts(&self) -> Option<StoreCounts> {
        self.source.store_counts()
    }
}
