//! A whole run: jobs, stage by stage, on a drive, until they are done or the drive is in its steady state.

pub mod addresses;
mod checks;
mod depth_search;
mod drive;
mod intervals;
mod job_limits;
mod job_log;
mod job_steady_state;
pub mod live;
mod memory;
mod outcome;
mod patience;
mod requests;
mod rounds;
mod series;
mod source;
mod stages;
mod stripe;
#[cfg(test)]
mod tests;
mod time_series;
mod timed;
mod timed_job;
mod timed_rounds;
mod undirected;
mod untimed;
mod zoned_jobs;

use crate::error::SpecificationError;
pub use crate::ftl::StateError;
use crate::ledger::{Ledger, NamespaceLedger};
use crate::specification::drive::{allocated_bytes, identifiers_for};
use crate::specification::{Job, Specification};
use crate::workload::host_zones::{SharedZones, ZonedStream};
use crate::workload::store::StoreStream;
use crate::workload::{Stream, StreamError};
use checks::check_there_is_one;
pub use depth_search::DepthFound;
pub use drive::{SimulatedDrive, TimedSimulatedDrive, build, build_timed};
pub use intervals::Interval;
pub use job_limits::{JobFailure, Limit};
pub use memory::{Memory, memory_of, memory_of_drive};
pub use outcome::{
    JobBreakdown, JobOutcome, JobTiming, NamespaceOutcome, Outcome, StageOutcome, SteadyStateOutcome, Timing,
};
pub use requests::Requests;
use serde::Serialize;
pub use source::{Arrival, RequestSource, SourceError};
use std::io::{Read, Write};
pub use stripe::{Stripe, StripeDevice, TimedStripeDevice, seed_of};
pub use timed::TimedSimulation;
use undirected::{in_groups, is_undirected};
pub use untimed::Simulation;
use zoned_jobs::{check_needs_no_zones, share_zones};

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// 0 to 1. For a run until the steady state, the share of the most that it may write.
    pub done: f64,
    /// Bytes written by the host so far.
    pub host_written_bytes: u64,
    /// Whether nothing is left to do.
    pub is_finished: bool,
}

/// The requests of a job, which must be within the drive. Jobs that write zone by zone share the state of the zones.
fn source_of(
    job: &Job,
    specification: &Specification,
    zones: &SharedZones,
) -> Result<Box<dyn RequestSource>, SpecificationError> {
    let source = own_source_of(job, specification, zones)?;
    Ok(if is_undirected(job) { in_groups(source, &specification.drive) } else { source })
}

fn own_source_of(
    job: &Job,
    specification: &Specification,
    zones: &SharedZones,
) -> Result<Box<dyn RequestSource>, SpecificationError> {
    check_range(job, specification)?;
    if let Some(store) = &job.store {
        check_needs_no_zones(job, specification)?;
        return Ok(Box::new(StoreStream::new(job, store).map_err(|error| of_job(job, error))?));
    }
    let stream = stream_of(job, specification)?;
    let Some(rules) = job.zoned else {
        check_needs_no_zones(job, specification)?;
        return Ok(Box::new(stream));
    };
    share_zones(job, rules, specification, zones)?;
    let zoned = ZonedStream::new(job, rules, stream, zones, specification.timed).map_err(|error| of_job(job, error))?;
    Ok(Box::new(zoned))
}

fn of_job(job: &Job, error: StreamError) -> SpecificationError {
    SpecificationError::new(format!("jobs.{}.{}", job.name, error.key), error.value, error.allowed)
}

fn check_range(job: &Job, specification: &Specification) -> Result<(), SpecificationError> {
    let user_bytes = allocated_bytes(&specification.drive);
    if job.offset_bytes.checked_add(job.size_bytes).is_none_or(|end| end > user_bytes) {
        let value = format!("{} at offset {}", job.size_bytes, job.offset_bytes);
        let allowed = format!("a range that ends within the {user_bytes} bytes of the drive");
        return Err(SpecificationError::new(format!("jobs.{}.size_bytes", job.name), value, allowed));
    }
    Ok(())
}

fn stream_of(job: &Job, specification: &Specification) -> Result<Stream, SpecificationError> {
    let identifiers = identifiers_for(&specification.drive, job.addresses_bytes()).unwrap_or(1);
    let chosen = job.identifiers.as_ref().map(|chosen| chosen.on_drive(identifiers));
    Stream::new(&Job { identifiers: chosen, ..job.clone() }).map_err(|error| of_job(job, error))
}

/// A run with or without a clock.
pub trait Run: Send {
    /// Advances by about this many requests or events.
    fn advance(&mut self, steps: u64) -> Result<Progress, SourceError>;
    /// The outcome; panics if an identity of the ledger does not hold.
    fn finish(self: Box<Self>) -> Outcome;
    /// Saves the state of the drive, which must be at rest.
    fn save_state(&mut self, out: &mut dyn Write) -> Result<(), StateError>;
    /// What the drive has counted so far, with what the saved state that it began with had counted.
    fn counted(&self) -> Counted;
}

/// The counters of a drive since it was new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// The drive's own.
    pub ledger: Ledger,
    /// By namespace; empty for a drive without any.
    pub namespaces: Vec<NamespaceLedger>,
}

impl Counted {
    fn by(drive: &dyn SimulatedDrive) -> Self {
        let namespaces = drive.namespaces().iter().map(|counts| counts.ledger).collect();
        Self { ledger: *drive.ledger(), namespaces }
    }
}

/// The state of a drive when a run begins: as saved by `save_state`, from a drive whose erase units are smaller by a
/// whole factor.
pub struct InitialState<'a> {
    /// The saved state.
    pub input: &'a mut dyn Read,
    /// The factor by which its erase units are smaller.
    pub times: u32,
}

fn refuse_state(error: StateError) -> SpecificationError {
    SpecificationError::new("state", error, "what the same version saved of the same drive")
}

impl Run for Simulation {
    fn advance(&mut self, steps: u64) -> Result<Progress, SourceError> {
        self.advance(steps)
    }

    fn finish(self: Box<Self>) -> Outcome {
        (*self).finish()
    }

    fn save_state(&mut self, out: &mut dyn Write) -> Result<(), StateError> {
        self.drive.save_state(out)
    }

    fn counted(&self) -> Counted {
        Counted::by(&*self.drive)
    }
}

impl Run for TimedSimulation {
    fn advance(&mut self, steps: u64) -> Result<Progress, SourceError> {
        self.advance(steps)
    }

    fn finish(self: Box<Self>) -> Outcome {
        (*self).finish()
    }

    /// Operations still pending on the clock at the end of a run are decided, and count as done; see `ftl/state.rs`.
    fn save_state(&mut self, out: &mut dyn Write) -> Result<(), StateError> {
        if self.machine.has_read_retries() {
            return Err(StateError::Unsaved("read_retries.retry_us"));
        }
        self.machine.drive_mut().save_state(out)
    }

    fn counted(&self) -> Counted {
        Counted::by(self.machine.drive())
    }
}

/// Begins the run that a specification describes.
pub fn start(specification: &Specification) -> Result<Box<dyn Run>, SpecificationError> {
    start_from(specification, None)
}

/// The same on a drive with a saved state.
pub fn start_from(
    specification: &Specification,
    state: Option<InitialState<'_>>,
) -> Result<Box<dyn Run>, SpecificationError> {
    check_there_is_one(specification)?;
    if specification.timed {
        Ok(Box::new(TimedSimulation::with_last(specification, None, state)?))
    } else {
        Ok(Box::new(Simulation::with_last(specification, None, state)?))
    }
}
