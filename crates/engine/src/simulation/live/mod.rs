//! A run that is observed step by step, and whose jobs may change while it runs.
//!
//! It is the run that `start` begins, advanced by the same code in shorter steps, to which jobs can be appended and
//! whose jobs can be ended. A job that was ended is recorded with its number of requests as `number_ios`, so that the
//! specification returned by `specification`, run from the start, has the same outcome, byte for byte.

pub mod figures;
pub mod power;
mod timed;
mod untimed;

use super::checks::{check_identifiers, check_jobs};
use super::{Outcome, SimulatedDrive, Simulation, SourceError, TimedSimulation};
use crate::error::{ReadOnly, SpecificationError};
use crate::ftl::picture::{CellsBy, Close, Marks};
use crate::specification::job::Direction;
use crate::specification::{Job, Specification, Until};
use figures::{Figures, Look, Seen};
use power::PowerLoss;
use serde::Serialize;

/// See the file's description.
pub struct LiveRun {
    specification: Specification,
    run: Box<dyn Steps>,
    /// By job: whether it was ended, and whether a specification can express it.
    ended: Vec<Ended>,
    seen: Seen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    No,
    AfterRequests,
    /// It had restarted, so that a number of requests does not express where it ended.
    Unsayable,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Issued since the run began; flushes are not counted.
    pub requests: u64,
    /// Whether there is nothing to do until a job is appended.
    pub is_finished: bool,
    /// The first job of the current stage.
    pub job: Option<usize>,
    /// Why the drive is read-only; None if it is not.
    pub read_only: Option<ReadOnly>,
}

/// A run that advances in steps. Jobs are numbered as in the specification.
trait Steps: Send {
    /// Advances until `requests` more requests are issued, or the run is finished. Without a clock it is never more;
    /// with one several may be issued at once.
    fn step(&mut self, requests: u64) -> Result<(), SourceError>;
    fn is_finished(&self) -> bool;
    fn read_only(&self) -> Option<ReadOnly>;
    /// The jobs of the current stage; between stages empty, at the first of the next.
    fn active(&self) -> std::ops::Range<usize>;
    fn issued(&self, job: usize) -> u64;
    fn is_over(&self, job: usize) -> bool;
    /// The share of its requests that a job has drawn, and how often it has restarted.
    fn drawn(&self, job: usize) -> (f64, u32);
    /// Limits the job to this many more requests.
    fn limit(&mut self, job: usize, requests: u64);
    fn append(&mut self, job: &Job, specification: &Specification) -> Result<(), SpecificationError>;
    /// Removes the jobs from this one on, which have not begun.
    fn truncate(&mut self, jobs: usize);
    fn outcome(&self) -> Outcome;
    fn look(&self) -> Look;
    /// Units written by the host that are not yet in flash.
    fn units_in_memory(&self) -> u64;
    fn drive(&self) -> &dyn SimulatedDrive;
    fn drive_mut(&mut self) -> &mut dyn SimulatedDrive;
}

impl LiveRun {
    /// A specification may have no jobs yet. Errors are those of `start`.
    pub fn new(specification: Specification) -> Result<Self, SpecificationError> {
        let mut run: Box<dyn Steps> = if specification.timed {
            Box::new(TimedSimulation::with_last(&specification, None, None)?)
        } else {
            Box::new(Simulation::with_last(&specification, None, None)?)
        };
        run.drive_mut().observe();
        let ended = vec![Ended::No; specification.jobs.len()];
        let seen = Seen::new(run.drive(), &run.look());
        Ok(Self { specification, run, ended, seen })
    }

    /// Advances until `requests` more requests are issued, or there is nothing to do.
    pub fn advance(&mut self, requests: u64) -> Result<Standing, SourceError> {
        self.run.step(requests)?;
        Ok(self.standing())
    }

    /// The progress so far.
    pub fn standing(&self) -> Standing {
        let active = self.run.active();
        Standing {
            requests: (0..active.end).map(|job| self.run.issued(job)).sum(),
            is_finished: self.run.is_finished(),
            job: (!active.is_empty()).then_some(active.start),
            read_only: self.run.read_only(),
        }
    }

    /// Appends a job, in a stage that has not begun.
    pub fn append_job(&mut self, job: Job) -> Result<(), SpecificationError> {
        self.check_may_change()?;
        let begun = self.run.active().end;
        let last_begun = begun.checked_sub(1).map(|last| self.specification.jobs[last].stage);
        if last_begun.is_some_and(|stage| job.stage <= stage) {
            let allowed = format!("above {}: a stage that has begun takes no more jobs", last_begun.unwrap_or(0));
            return Err(SpecificationError::new(format!("jobs.{}.stage", job.name), job.stage, allowed));
        }
        let mut changed = self.specification.clone();
        changed.jobs.push(job);
        check_jobs(&changed.jobs)?;
        check_identifiers(&changed)?;
        self.run.append(changed.jobs.last().expect("one was pushed"), &changed)?;
        self.specification = changed;
        self.ended.push(Ended::No);
        Ok(())
    }

    /// Ends the jobs of the current stage after the requests that they have issued, each after at least one; a job with
    /// a rate, pauses or flushes after one more, because its waiting before that request depends on it. Of a trim and
    /// write pair both are issued. `after_requests` gives a number of requests for each job of the specification, up to
    /// which it continues instead, unless it has issued more.
    pub fn end_job(&mut self, after_requests: Option<&[u64]>) -> Result<(), SpecificationError> {
        self.check_may_change()?;
        for index in self.run.active() {
            if self.run.is_over(index) {
                continue;
            }
            let job = &mut self.specification.jobs[index];
            let in_pairs = if job.direction == Direction::TrimWrite { 2 } else { 1 };
            let issued = self.run.issued(index);
            let holds_back = self.specification.timed && job.holds_back();
            let least = (issued.div_ceil(in_pairs) + u64::from(holds_back)).max(1);
            let after = after_requests.and_then(|after| after.get(index)).copied().unwrap_or(0);
            let mut requests = least.max(after.div_ceil(in_pairs));
            if self.ended[index] != Ended::No {
                // The job has not exceeded it, and issues no further request.
                requests = requests.min(job.number_ios.unwrap_or(u64::MAX));
            }
            self.run.limit(index, (requests * in_pairs).saturating_sub(issued));
            let (share, restarts) = self.run.drawn(index);
            let begins_again = job.loops > 1 || (self.specification.timed && job.time_based);
            let is_first_pass = restarts == 0 && share * f64::from(job.loops) < 1.0 && after_requests.is_none();
            self.ended[index] = if begins_again && !is_first_pass {
                Ended::Unsayable
            } else {
                (job.loops, job.time_based) = (1, false);
                Ended::AfterRequests
            };
            job.number_ios = Some(job.number_ios.map_or(requests, |said| said.min(requests)));
        }
        Ok(())
    }

    /// Removes the jobs that have not begun.
    pub fn drop_jobs_to_come(&mut self) -> Result<(), SpecificationError> {
        self.check_may_change()?;
        let begun = self.run.active().end;
        self.run.truncate(begun);
        self.specification.jobs.truncate(begun);
        self.ended.truncate(begun);
        Ok(())
    }

    /// A specification with the same outcome, once this run is finished. The error names a job whose end cannot be
    /// expressed.
    pub fn specification(&self) -> Result<&Specification, SpecificationError> {
        match self.ended.iter().position(|&ended| ended == Ended::Unsayable) {
            None => Ok(&self.specification),
            Some(index) => {
                let job = &self.specification.jobs[index];
                let key = format!("jobs.{}.{}", job.name, if job.time_based { "time_based" } else { "loops" });
                let allowed = "a job that had not begun again when it was ended: no job file says where it then ends";
                Err(SpecificationError::new(key, job.loops, allowed))
            }
        }
    }

    /// Requests issued by each job so far.
    pub fn issued(&self) -> Vec<u64> {
        let begun = self.run.active().end;
        let of_begun = (0..begun).map(|job| self.run.issued(job));
        of_begun.chain(vec![0; self.specification.jobs.len() - begun]).collect()
    }

    /// The outcome if the run ended now.
    pub fn outcome(&self) -> Outcome {
        self.run.outcome()
    }

    /// The figures of the drive, and the changes since the last call.
    pub fn figures(&mut self) -> Figures {
        self.seen.figures(self.run.drive(), self.run.look(), Some(self.standing().requests))
    }

    /// See [`crate::ftl::picture::Pictured::cells`].
    pub fn cells(&self, by: CellsBy, out: &mut Vec<u8>) {
        self.run.drive().cells(by, out);
    }

    /// See [`crate::ftl::picture::Pictured::marks`].
    pub fn marks(&mut self) -> Marks {
        self.run.drive_mut().marks()
    }

    /// See [`crate::ftl::picture::Pictured::close_up`].
    pub fn close_up(&self, erase_unit: u32) -> Option<Close> {
        self.run.drive().close_up(erase_unit)
    }

    /// The effect of a loss of power at this moment; the drive is not changed.
    pub fn power_loss(&self) -> PowerLoss {
        let drive = self.run.drive();
        PowerLoss::of(&self.specification.drive, &drive.capacity(), drive.ledger(), self.run.units_in_memory())
    }

    /// The rounds of a run until the steady state are those of its last stage, which must then be known.
    fn check_may_change(&self) -> Result<(), SpecificationError> {
        match self.specification.until {
            Until::Job => Ok(()),
            Until::SteadyState { .. } => {
                let allowed = "job, for a run whose jobs change while it goes on";
                Err(SpecificationError::new("until", "steady-state", allowed))
            }
        }
    }
}
