//! The timed host: jobs that draw requests and submit them to the front of a drive, each when its last one completes,
//! or when its pacing allows.

mod contract;
mod halt;
mod issuing;
mod job;
mod pacing;
mod zone_turn;

use super::flash::Flash;
use super::front::{Front, FrontEnd, Intake, Stepped};
use crate::error::ReadOnly;
use crate::specification::drive::{Controller, WriteBuffer};
pub use contract::Client;
pub use halt::{Halt, Stuck};
use issuing::{Issuing, Schedule};
pub use pacing::{Pacing, Plan};

/// Events of the flash must come before 2^48 ns (`flash/winner_tree.rs`); what is queued at this time ends before.
const LATEST_NS: u64 = (1 << 48) - (1 << 44);

/// The host of a drive.
pub struct Host<F: Intake> {
    front: F,
    schedule: Schedule,
}

impl Host<Front> {
    /// For a drive without link and limit. A buffer of 0 units stands for none.
    pub fn new(flash: Flash, command_ns: u64, buffer_units: u32) -> Self {
        let controller = Controller { command_us: command_ns as f64 / 1000.0, ..Controller::default() };
        let bytes = u64::from(buffer_units) * flash.mapping_unit_bytes();
        let buffer = WriteBuffer { bytes, ..WriteBuffer::default() };
        let front_end = FrontEnd { controller, buffer, ..FrontEnd::default() };
        Self::before(Front::new(flash, &front_end))
    }
}

impl<F: Intake> Host<F> {
    /// In front of a drive.
    pub fn before(front: F) -> Self {
        Self { front, schedule: Schedule::default() }
    }

    /// The current time.
    pub fn now_ns(&self) -> u64 {
        self.front.now_ns()
    }

    /// The front of the drive.
    pub fn front(&self) -> &F {
        &self.front
    }

    /// The front of the drive, to be changed.
    pub fn front_mut(&mut self) -> &mut F {
        &mut self.front
    }

    /// Starts a job with `depth` outstanding requests.
    pub fn start(
        &mut self,
        job: u32,
        depth: u32,
        drives: &mut F::Drives<'_>,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        self.start_all(job, vec![Plan { depth, ..Plan::default() }], drives, client)
    }

    /// Starts the jobs of a stage; `first` is the client's number of the first.
    pub fn start_all(
        &mut self,
        first: u32,
        plans: Vec<Plan>,
        drives: &mut F::Drives<'_>,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        self.front.begin_stage(drives);
        let end = first + plans.len() as u32;
        self.schedule.add(first, plans, self.front.now_ns());
        let mut issuing = Issuing { schedule: &mut self.schedule, client };
        for number in first..end {
            issuing.begin_if_due(number, &mut self.front, drives)?;
        }
        self.front.settle(drives, &mut issuing)
    }

    /// Removes the jobs of a stage whose requests have all completed.
    pub fn end_stage(&mut self) {
        assert_eq!(self.front.outstanding(), 0, "a stage ends when nothing is outstanding");
        self.schedule.clear();
    }

    /// Processes about `events` events. Returns false when nothing is outstanding and nothing will be.
    pub fn advance(&mut self, events: u64, drives: &mut F::Drives<'_>, client: &mut dyn Client) -> Result<bool, Halt> {
        let mut left = events;
        while left > 0 {
            if !self.goes_on() {
                return Ok(false);
            }
            let until_ns = self.schedule.next_ns();
            let mut issuing = Issuing { schedule: &mut self.schedule, client };
            match self.front.step(until_ns.min(LATEST_NS), left, drives, &mut issuing)? {
                Stepped::Events(events) => left -= events,
                Stepped::ToTheEnd(events) => {
                    left -= events + 1;
                    if until_ns > LATEST_NS {
                        let is_later = until_ns < u64::MAX || self.front.next_event_ns().is_some();
                        let stuck = || Halt::Stuck(Stuck::without_event(&self.front));
                        return Err(if is_later { Halt::TooLate } else { stuck() });
                    }
                    issuing.wake_next(&mut self.front, drives)?;
                    self.front.settle(drives, &mut issuing)?;
                }
            }
        }
        Ok(self.goes_on())
    }

    fn goes_on(&self) -> bool {
        self.front.outstanding() > 0 || self.front.next_ns().min(self.schedule.next_ns()) < u64::MAX
    }

    /// Requests that a job has drawn and not yet issued.
    pub fn upcoming(&self, job: u32) -> u64 {
        self.schedule.job(job).map_or(0, |job| job.upcoming.count())
    }

    /// Discards all but the first `count_max` of a job's drawn requests. Returns how many remain, and how many there
    /// were.
    pub fn keep_upcoming(&mut self, job: u32, count_max: u64) -> (u64, u64) {
        self.schedule.job_mut(job).map_or((0, 0), |job| job.upcoming.keep(count_max))
    }
}
