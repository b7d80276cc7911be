//! A run with a clock, advanced event by event for small numbers of requests.

use super::Steps;
use super::figures::{ClockLook, Look};
use crate::error::{ReadOnly, SpecificationError};
use crate::request::Operation;
use crate::simulation::timed_job::RunningJob;
use crate::simulation::{Outcome, SimulatedDrive, SourceError, TimedSimulation};
use crate::specification::{Job, Specification};
use crate::timing::histogram::Histogram;
use std::ops::Range;

/// An event may end a program with this many requests, each of which admits another.
const REQUESTS_PER_EVENT: u64 = 32;

impl TimedSimulation {
    fn issued_requests(&self) -> u64 {
        (0..self.active.end).map(|job| Steps::issued(self, job)).sum()
    }
}

impl Steps for TimedSimulation {
    fn step(&mut self, requests: u64) -> Result<(), SourceError> {
        let before = self.issued_requests();
        loop {
            let left = requests.saturating_sub(self.issued_requests() - before);
            if left == 0 || self.is_finished() {
                return Ok(());
            }
            self.go_on((left / REQUESTS_PER_EVENT).max(1))?;
        }
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
        let upcoming = if self.active.contains(&job) { self.machine.upcoming(job as u32) } else { 0 };
        self.jobs.jobs[job].supply.drawn() - upcoming
    }

    fn is_over(&self, job: usize) -> bool {
        self.jobs.jobs[job].has_ended()
    }

    fn drawn(&self, job: usize) -> (f64, u32) {
        let supply = &self.jobs.jobs[job].supply;
        (supply.progress(), supply.restarts())
    }

    fn limit(&mut self, job: usize, requests: u64) {
        let (kept, drawn) = self.machine.keep_upcoming(job as u32, requests);
        self.jobs.jobs[job].supply.end_after(requests - kept, drawn - kept);
    }

    fn append(&mut self, job: &Job, specification: &Specification) -> Result<(), SpecificationError> {
        self.jobs.jobs.push(RunningJob::new(job, specification, &self.zones)?);
        Ok(())
    }

    fn truncate(&mut self, jobs: usize) {
        self.jobs.jobs.truncate(jobs);
    }

    fn outcome(&self) -> Outcome {
        self.outcome()
    }

    fn look(&self) -> Look {
        let mut look = Look::default();
        let now_ns = self.machine.now_ns();
        let die_utilization = self.machine.die_utilization();
        let (mut reads, mut writes) = (Histogram::default(), Histogram::default());
        for job in &self.jobs.jobs[..self.active.end] {
            // The observed totals do not decrease when a job resets its counts.
            for (latencies, ios) in job.counted() {
                reads.merge(&latencies[Operation::Read as usize]);
                writes.merge(&latencies[Operation::Write as usize]);
                look.completed.iter_mut().zip(ios).for_each(|(sum, ios)| *sum += ios);
            }
        }
        Look { clock: Some(ClockLook { now_ns, die_utilization, reads, writes }), ..look }
    }

    fn units_in_memory(&self) -> u64 {
        self.machine.units_in_memory()
    }

    fn drive(&self) -> &dyn SimulatedDrive {
        self.machine.drive()
    }

    fn drive_mut(&mut self) -> &mut dyn SimulatedDrive {
        self.machine.drive_mut()
    }
}
