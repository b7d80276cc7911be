//! A run without a clock, advanced request by request.

use super::Steps;
use super::figures::Look;
use crate::error::{ReadOnly, SpecificationError};
use crate::simulation::untimed::RunningJob;
use crate::simulation::{Outcome, SimulatedDrive, Simulation, SourceError};
use crate::specification::{Job, Specification};
use std::ops::Range;

impl Steps for Simulation {
    fn step(&mut self, requests: u64) -> Result<(), SourceError> {
        self.advance(requests)?;
        // A job is known to be done only when it is asked for more requests.
        while !self.is_finished() && self.has_turn_without_requests() {
            self.go_on_with_turn(0)?;
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.is_finished()
    }

    fn read_only(&self) -> Option<ReadOnly> {
        self.failure
    }

    fn active(&self) -> Range<usize> {
        self.active.clone()
    }

    fn issued(&self, job: usize) -> u64 {
        let outcome = &self.jobs[job].outcome;
        outcome.read.ios + outcome.write.ios + outcome.trim.ios
    }

    fn is_over(&self, job: usize) -> bool {
        self.jobs[job].is_done
    }

    fn drawn(&self, job: usize) -> (f64, u32) {
        (self.jobs[job].supply.progress(), 0)
    }

    fn limit(&mut self, job: usize, requests: u64) {
        let of_turn = if job == self.turn { self.batch.len() - self.executed } else { 0 };
        let kept = requests.min(of_turn as u64);
        if of_turn > 0 {
            self.batch.truncate(self.executed + kept as usize);
        }
        self.jobs[job].supply.end_after(requests - kept, 0);
        if of_turn > 0 && kept == 0 {
            self.end_turn();
        }
    }

    fn append(&mut self, job: &Job, specification: &Specification) -> Result<(), SpecificationError> {
        self.jobs.push(RunningJob::new(job, specification, &self.zones)?);
        Ok(())
    }

    fn truncate(&mut self, jobs: usize) {
        self.jobs.truncate(jobs);
    }

    fn outcome(&self) -> Outcome {
        self.outcome()
    }

    fn look(&self) -> Look {
        let outcomes = || self.jobs.iter().map(|job| &job.outcome);
        let completed = [
            outcomes().map(|outcome| outcome.read.ios).sum(),
            outcomes().map(|outcome| outcome.write.ios).sum(),
            outcomes().map(|outcome| outcome.trim.ios).sum(),
        ];
        Look { completed, clock: None }
    }

    /// Without time a write is in flash at once.
    fn units_in_memory(&self) -> u64 {
        0
    }

    fn drive(&self) -> &dyn SimulatedDrive {
        &*self.drive
    }

    fn drive_mut(&mut self) -> &mut dyn SimulatedDrive {
        &mut *self.drive
    }
}
