//! A run with a clock: all jobs of a stage issue requests concurrently; a stage begins when all requests of the
//! previous one have completed.

mod client;
mod machine;
mod stillness;

use super::checks::{check_before_tables, check_there_is_one, check_times};
use super::intervals::Intervals;
use super::outcome::Timing;
use super::rounds::Rounds;
use super::source::{Arrival, RequestSource, SourceError};
use super::stages::{Stages, rounds_of};
use super::time_series::{Sample, TimeSeries};
use super::timed_job::RunningJob;
use super::timed_rounds::RoundTimes;
use super::undirected::in_groups;
use super::{InitialState, JobOutcome, Outcome, Progress, refuse_state};
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Ledger;
use crate::specification::Specification;
use crate::timing::host::Halt;
use crate::workload::host_zones::SharedZones;
pub(super) use machine::Machine;
use stillness::Stillness;

/// Events between two samples of the drive for series and rounds.
const EVENTS_AT_ONCE: u64 = 512;

/// See the file's description.
pub struct TimedSimulation {
    pub(super) machine: Machine,
    pub(super) jobs: Jobs,
    stages: Stages,
    /// The jobs of the current stage, as a range of `jobs`.
    pub(super) active: std::ops::Range<usize>,
    /// Events until the next sample of the drive; independent of the steps in which the run is advanced.
    events_to_look: u64,
    pub(super) failure: Option<ReadOnly>,
    stillness: Stillness,
    /// The state of the zones, shared by jobs that write zone by zone.
    pub(super) zones: SharedZones,
}

/// The jobs as the client of the host.
pub(super) struct Jobs {
    pub(super) jobs: Vec<RunningJob>,
    /// The last stage, while it repeats until the steady state; when it is settled it issues nothing more.
    repeats_stage: Option<u32>,
    is_settled: bool,
    /// Jobs before this one have ended, because a job ended that ends the others.
    over_before: u32,
    source_error: Option<SourceError>,
    /// Only of the stage that repeats.
    round: RoundTimes,
    account: Account,
    time_series: TimeSeries,
    /// None unless the run is to count in intervals.
    intervals: Option<Intervals>,
}

/// What the drive has counted for requests of one job in succession, and for itself in between; not yet added to the
/// job, since the difference of two ledgers for each request would cost more than the request's own counts.
#[derive(Default)]
struct Account {
    job: u32,
    begin: Ledger,
    /// At the last request: changes since then belong to the job that issues the next.
    end: Ledger,
}

impl TimedSimulation {
    /// Errors name the key of the drive or the job, its value and what is allowed.
    pub fn new(specification: &Specification) -> Result<Self, SpecificationError> {
        check_there_is_one(specification)?;
        Self::with_last(specification, None, None)
    }

    /// The jobs of the specification, which may have none, and then the requests of `source`, as a separate stage.
    pub fn replaying(
        specification: &Specification,
        name: &str,
        source: Box<dyn RequestSource>,
        arrival: Arrival,
        state: Option<InitialState<'_>>,
    ) -> Result<Self, SpecificationError> {
        let stage = specification.jobs.last().map_or(0, |job| job.stage + 1);
        let source = in_groups(source, &specification.drive);
        Self::with_last(specification, Some(RunningJob::given(name, stage, source, arrival)), state)
    }

    pub(super) fn with_last(
        specification: &Specification,
        given: Option<RunningJob>,
        state: Option<InitialState<'_>>,
    ) -> Result<Self, SpecificationError> {
        let drive_specification = &specification.drive;
        check_times(specification)?;
        check_before_tables(specification)?;
        let zones = SharedZones::default();
        let jobs = specification.jobs.iter().map(|job| RunningJob::new(job, specification, &zones));
        let is_given = given.is_some();
        let jobs: Vec<RunningJob> = jobs.chain(given.map(Ok)).collect::<Result<_, _>>()?;
        let last_stage = jobs.last().map_or(0, |job| job.stage);
        let rounds = rounds_of(specification, is_given)?.map(Rounds::with_clock);
        let mut machine = Machine::new(drive_specification, specification.seed)?;
        if let Some(state) = state {
            machine.drive_mut().load_state(state.input, state.times).map_err(refuse_state)?;
        }
        let repeats_stage = rounds.is_some().then_some(last_stage);
        Ok(Self {
            stages: Stages::new(specification, last_stage, rounds, machine.drive()),
            machine,
            jobs: Jobs {
                jobs,
                repeats_stage,
                is_settled: false,
                over_before: 0,
                source_error: None,
                round: RoundTimes::default(),
                account: Account::default(),
                time_series: TimeSeries::default(),
                intervals: specification.interval_ns.map(Intervals::new),
            },
            active: 0..0,
            events_to_look: EVENTS_AT_ONCE,
            failure: None,
            stillness: Stillness::default(),
            zones,
        })
    }

    /// Processes this many further events, unless the run ends earlier. The error is that of a source; of the
    /// specification's own jobs only one that can open no zone has one.
    pub fn advance(&mut self, events: u64) -> Result<Progress, SourceError> {
        let mut left = events;
        while left > 0 && !self.is_finished() {
            left -= self.go_on(left)?;
        }
        Ok(self.progress())
    }

    /// Whether nothing is left to do.
    pub fn is_finished(&self) -> bool {
        (self.active.is_empty() && self.active.end == self.jobs.jobs.len()) || self.failure.is_some()
    }

    /// The outcome; see `Stages::into_outcome`.
    pub fn finish(mut self) -> Outcome {
        if !self.active.is_empty() {
            self.note_end_of_stage();
        }
        self.jobs.settle_account();
        let (machine, now_ns) = (&self.machine, self.machine.now_ns());
        let timing = timing_of(machine, self.jobs.time_series, self.jobs.intervals);
        let jobs = self.jobs.jobs.into_iter().map(|job| job.into_outcome(now_ns)).collect();
        self.stages.into_outcome(machine.drive(), jobs, Some(timing), self.failure)
    }

    /// The outcome if the run ended now.
    pub(super) fn outcome(&self) -> Outcome {
        let mut stages = self.stages.clone();
        if !self.active.is_empty() {
            stages.end(self.stage(), self.machine.drive(), self.machine.read_counts());
        }
        let timing = timing_of(&self.machine, self.jobs.time_series.clone(), self.jobs.intervals.clone());
        let jobs = self.jobs.outcomes_at(self.machine.now_ns());
        stages.into_outcome(self.machine.drive(), jobs, Some(timing), self.failure)
    }

    pub(super) fn ledger(&self) -> &Ledger {
        self.machine.drive().ledger()
    }

    fn stage(&self) -> u32 {
        self.jobs.jobs[self.active.start].stage
    }

    /// Processes at most this many events, up to the next sample of the drive. Returns how many.
    pub(super) fn go_on(&mut self, events_max: u64) -> Result<u64, SourceError> {
        if self.active.is_empty() {
            self.start_stage(self.active.end)?;
        }
        let events = events_max.min(self.events_to_look);
        if self.failure.is_none() {
            let goes_on = match self.machine.advance(events, &mut self.jobs) {
                Ok(goes_on) => Ok(goes_on),
                Err(halt) => Err(halt.refusal()?),
            };
            self.events_to_look -= events;
            if self.events_to_look == 0 || !matches!(goes_on, Ok(true)) {
                self.events_to_look = EVENTS_AT_ONCE;
                self.look(goes_on);
                let (machine, now_ns) = (&self.machine, self.machine.now_ns());
                let seen = (*machine.drive().ledger(), || machine.die_utilization() * now_ns as f64);
                self.stillness.note(EVENTS_AT_ONCE, now_ns, seen)?;
            }
        }
        self.jobs.source_error.take().map_or(Ok(events), Err)
    }

    fn look(&mut self, goes_on: Result<bool, ReadOnly>) {
        let stage = self.stage();
        let ledger = *self.ledger();
        self.stages.note(stage, self.machine.drive());
        if let Some(intervals) = &mut self.jobs.intervals {
            intervals.note(self.machine.now_ns(), &ledger);
        }
        self.jobs.time_series.sample(Sample {
            stage,
            host_written_bytes: ledger.host_written_bytes,
            programmed_units_total: ledger.programmed_units.total(),
            free_erase_units: self.machine.drive().free_erase_units(),
        });
        if !self.jobs.is_settled {
            let clock = Some((self.machine.now_ns(), &mut self.jobs.round));
            self.jobs.is_settled = self.stages.is_settled(stage, self.machine.drive(), clock);
        }
        match goes_on {
            Ok(true) => {}
            Ok(false) => {
                self.note_end_of_stage();
                self.machine.end_stage();
                self.active = self.active.end..self.active.end;
            }
            Err(reason) => self.failure = Some(reason),
        }
    }

    fn note_end_of_stage(&mut self) {
        let read_ahead = self.machine.take_read_counts();
        self.stages.end(self.stage(), self.machine.drive(), read_ahead);
    }

    fn start_stage(&mut self, first: usize) -> Result<(), Halt> {
        let Some(stage) = self.jobs.jobs.get(first).map(|job| job.stage) else {
            self.active = first..first;
            return Ok(());
        };
        let end = first + self.jobs.jobs[first..].iter().take_while(|job| job.stage == stage).count();
        self.active = first..end;
        self.stages.begin(stage, self.machine.drive());
        let ledger = *self.ledger();
        self.jobs.settle_account();
        self.jobs.account = Account { job: first as u32, begin: ledger, end: ledger };
        let plans = self.jobs.jobs[self.active.clone()].iter_mut().map(|job| std::mem::take(&mut job.plan)).collect();
        if let Err(reason) = self.machine.start_all(first as u32, plans, &mut self.jobs) {
            self.failure = Some(Halt::from(reason).refusal()?);
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let (is_finished, now_ns) = (self.is_finished(), self.machine.now_ns());
        let stage = (!self.active.is_empty()).then(|| self.stage());
        let jobs = self.jobs.jobs.iter().map(|job| (job.stage, job.progress(now_ns)));
        let done = if is_finished { 1.0 } else { self.stages.progress(stage, self.machine.drive(), jobs) };
        Progress { done, host_written_bytes: self.ledger().host_written_bytes, is_finished }
    }
}

fn timing_of(machine: &Machine, time_series: TimeSeries, intervals: Option<Intervals>) -> Timing {
    let simulated_ns = machine.now_ns();
    Timing {
        simulated_ns,
        die_utilization: machine.die_utilization(),
        series: time_series.into_columns(simulated_ns),
        intervals: intervals.map(|intervals| intervals.into_rows(simulated_ns, machine.drive().ledger())),
    }
}

impl Jobs {
    /// Adds the open account to its job, unless that is in its ramp time.
    fn settle_account(&mut self) {
        let Account { job, begin, end } = &mut self.account;
        if let Some(job) = self.jobs.get_mut(*job as usize).filter(|job| !job.is_ramping()) {
            job.outcome.ledger += *end - *begin;
        }
        *begin = *end;
    }

    /// The outcomes of jobs that continue.
    fn outcomes_at(&self, now_ns: u64) -> Vec<JobOutcome> {
        let mut outcomes: Vec<_> = self.jobs.iter().map(|job| job.outcome_at(now_ns)).collect();
        let Account { job, begin, end } = self.account;
        let counts = self.jobs.get(job as usize).is_some_and(|job| !job.is_ramping());
        if let Some(outcome) = outcomes.get_mut(job as usize).filter(|_| counts) {
            outcome.ledger += end - begin;
        }
        outcomes
    }

    /// Draws requests of a job; it restarts if it is limited by time, or runs until the steady state.
    fn draw_by(
        &mut self,
        job: u32,
        count_max: usize,
        draw: impl FnMut(&mut dyn RequestSource, usize) -> Result<usize, SourceError>,
    ) {
        let job = &mut self.jobs[job as usize];
        if let Err(error) = job.draw(count_max, self.repeats_stage == Some(job.stage), draw) {
            self.source_error = Some(error);
        }
    }
}
