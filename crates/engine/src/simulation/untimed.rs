//! A run without a clock: the jobs of a stage take turns, and a turn is a batch of requests.
//!
//! A turn may be interrupted anywhere and continued later; the drive is sampled at its end. So the outcome does not
//! depend on the steps in which a run is advanced.

use super::checks::{check_before_tables, check_there_is_one};
use super::drive::{SimulatedDrive, build};
use super::source::{RequestSource, SourceError, Supply};
use super::stages::{Stages, rounds_of};
use super::stripe::Stripe;
use super::undirected::in_groups;
use super::{InitialState, JobOutcome, Outcome, Progress, refuse_state, source_of};
use crate::error::{ReadOnly, SpecificationError};
use crate::request::Request;
use crate::specification::job::EndsOthers;
use crate::specification::{Drive, Job, Specification};
use crate::workload::host_zones::SharedZones;

/// The most requests that a job issues before another has its turn: enough for prefetching.
const TURN_REQUESTS_MAX: u64 = 256;

/// See the file's description.
pub struct Simulation {
    pub(super) drive: Box<dyn SimulatedDrive>,
    pub(super) jobs: Vec<RunningJob>,
    stages: Stages,
    /// The jobs of the current stage, as a range of `jobs`.
    pub(super) active: std::ops::Range<usize>,
    /// The job whose turn it is.
    pub(super) turn: usize,
    /// The requests of the current turn, and how many are executed.
    pub(super) batch: Vec<Request>,
    pub(super) executed: usize,
    pub(super) failure: Option<ReadOnly>,
    /// The state of the zones, shared by jobs that write zone by zone.
    pub(super) zones: SharedZones,
}

pub(super) struct RunningJob {
    pub(super) supply: Supply,
    pub(super) stage: u32,
    turn_requests: usize,
    pub(super) is_done: bool,
    ends_others: EndsOthers,
    pub(super) outcome: JobOutcome,
}

impl Simulation {
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
        state: Option<InitialState<'_>>,
    ) -> Result<Self, SpecificationError> {
        let stage = specification.jobs.last().map_or(0, |job| job.stage + 1);
        let source = in_groups(source, &specification.drive);
        Self::with_last(specification, Some(RunningJob::given(name, stage, source)), state)
    }

    pub(super) fn with_last(
        specification: &Specification,
        given: Option<RunningJob>,
        state: Option<InitialState<'_>>,
    ) -> Result<Self, SpecificationError> {
        check_before_tables(specification)?;
        let is_given = given.is_some();
        let zones = SharedZones::default();
        let own_jobs = specification.jobs.iter().map(|job| RunningJob::new(job, specification, &zones));
        let jobs = own_jobs.chain(given.map(Ok)).collect::<Result<Vec<_>, _>>()?;
        let last_stage = jobs.last().map_or(0, |job| job.stage);
        let rounds = rounds_of(specification, is_given)?;
        let mut drive = drive_of(&specification.drive, specification.seed)?;
        if let Some(state) = state {
            drive.load_state(state.input, state.times).map_err(refuse_state)?;
        }
        Ok(Self {
            stages: Stages::new(specification, last_stage, rounds, &*drive),
            drive,
            jobs,
            active: 0..0,
            turn: 0,
            batch: Vec::with_capacity(TURN_REQUESTS_MAX as usize),
            executed: 0,
            failure: None,
            zones,
        })
    }

    /// Executes this many further requests, unless the run ends earlier; the next call continues an interrupted turn.
    /// The error is that of a source; of the specification's own jobs only one that can open no zone has one.
    pub fn advance(&mut self, requests: u64) -> Result<Progress, SourceError> {
        let mut left = requests;
        while left > 0 && !self.is_finished() {
            left -= self.go_on_with_turn(left)?;
        }
        Ok(self.progress())
    }

    /// Whether nothing is left to do.
    pub fn is_finished(&self) -> bool {
        (self.active.is_empty() && self.active.end == self.jobs.len()) || self.failure.is_some()
    }

    /// The drive.
    pub fn drive(&self) -> &dyn SimulatedDrive {
        &*self.drive
    }

    /// The outcome; see `Stages::into_outcome`.
    pub fn finish(self) -> Outcome {
        self.outcome()
    }

    /// The outcome if the run ended now.
    pub(super) fn outcome(&self) -> Outcome {
        let mut stages = self.stages.clone();
        if let Some(stage) = self.stage() {
            stages.end(stage, &*self.drive, None);
        }
        let jobs = self.jobs.iter().map(RunningJob::outcome_now).collect();
        stages.into_outcome(&*self.drive, jobs, None, self.failure)
    }

    /// The current stage, if one has begun.
    fn stage(&self) -> Option<u32> {
        (!self.active.is_empty()).then(|| self.jobs[self.active.start].stage)
    }

    /// Executes at most this many of the turn's remaining requests, and first draws a turn if there is none. Returns
    /// how many.
    pub(super) fn go_on_with_turn(&mut self, requests_max: u64) -> Result<u64, SourceError> {
        if self.active.is_empty() {
            self.start_stage(self.active.end);
        }
        if self.executed == self.batch.len() {
            self.draw_turn()?;
        }
        let part = &self.batch[self.executed..];
        let part = &part[..part.len().min(usize::try_from(requests_max).unwrap_or(usize::MAX))];
        let job = &mut self.jobs[self.turn];
        let before = *self.drive.ledger();
        let mut executed = part.len();
        if let Err(refused) = self.drive.execute(part) {
            executed = refused.executed;
            self.failure = Some(refused.reason);
        }
        job.outcome.ledger += *self.drive.ledger() - before;
        for request in &part[..executed] {
            let requests = job.outcome.requests_mut(request.operation);
            requests.ios += 1;
            requests.bytes += u64::from(request.length_bytes);
        }
        self.executed += executed;
        if self.executed == self.batch.len() || self.failure.is_some() {
            self.end_turn();
        }
        Ok(executed as u64)
    }

    /// Whether the next turn is known to be empty, so that no request is needed to find out what follows.
    pub(super) fn has_turn_without_requests(&self) -> bool {
        let is_between_turns = self.executed == self.batch.len() && !self.active.is_empty();
        is_between_turns && !self.stages.has_rounds() && self.jobs[self.turn].supply.is_over()
    }

    fn draw_turn(&mut self) -> Result<(), SourceError> {
        let job = &mut self.jobs[self.turn];
        self.batch.clear();
        self.executed = 0;
        // Until the steady state a job of the last stage restarts; a source that is empty even then is at its end.
        let (wanted, repeats) = (job.turn_requests, self.stages.repeats(job.stage));
        let issued = job.supply.draw(wanted, repeats, |source, count_max| source.fill(&mut self.batch, count_max))?;
        job.is_done = issued == 0;
        Ok(())
    }

    pub(super) fn end_turn(&mut self) {
        let stage = self.jobs[self.turn].stage;
        self.stages.note(stage, &*self.drive);
        let is_settled = self.stages.is_settled(stage, &*self.drive, None);
        self.pass_on_the_turn(is_settled);
    }

    /// Passes the turn to the next job of the stage that is not done; if there is none, or the drive is settled, starts
    /// the next stage.
    fn pass_on_the_turn(&mut self, is_settled: bool) {
        let job = &self.jobs[self.turn];
        if job.is_done && job.ends_others > EndsOthers::None {
            let last = if job.ends_others == EndsOthers::All { self.jobs.len() } else { self.active.end };
            self.jobs[self.active.start..last].iter_mut().for_each(|other| other.supply.end_after(0, 0));
        }
        let jobs = self.active.len();
        let first = self.active.start;
        let after = |turn: usize, steps: usize| first + (turn - first + steps) % jobs;
        let next = (1..=jobs).map(|steps| after(self.turn, steps)).find(|&turn| !self.jobs[turn].is_done);
        match next {
            Some(turn) if !is_settled => self.turn = turn,
            _ => {
                self.stages.end(self.jobs[first].stage, &*self.drive, None);
                self.active = self.active.end..self.active.end;
            }
        }
    }

    fn start_stage(&mut self, first: usize) {
        let Some(stage) = self.jobs.get(first).map(|job| job.stage) else {
            self.active = first..first;
            return;
        };
        let end = first + self.jobs[first..].iter().take_while(|job| job.stage == stage).count();
        self.active = first..end;
        self.turn = first;
        self.stages.begin(stage, &*self.drive);
        share_turns(&mut self.jobs[first..end], self.drive.capacity().user_units);
    }

    fn progress(&self) -> Progress {
        let is_finished = self.is_finished();
        let jobs = self.jobs.iter().map(|job| (job.stage, job.supply.progress()));
        let done = if is_finished { 1.0 } else { self.stages.progress(self.stage(), &*self.drive, jobs) };
        Progress { done, host_written_bytes: self.drive.ledger().host_written_bytes, is_finished }
    }
}

impl RunningJob {
    fn outcome_now(&self) -> JobOutcome {
        JobOutcome { store: self.supply.store_counts(), ..self.outcome.clone() }
    }

    pub(super) fn new(
        job: &Job,
        specification: &Specification,
        zones: &SharedZones,
    ) -> Result<Self, SpecificationError> {
        // Until its stage starts, the number of requests is the job's depth.
        let turn_requests = job.iodepth as usize;
        let outcome = JobOutcome::new(&job.name, job.clone, job.stage);
        let supply = Supply::new(source_of(job, specification, zones)?);
        let ends_others = job.ends_others;
        Ok(Self { supply, stage: job.stage, turn_requests, is_done: false, ends_others, outcome })
    }

    fn given(name: &str, stage: u32, source: Box<dyn RequestSource>) -> Self {
        let outcome = JobOutcome::new(name, 0, stage);
        let supply = Supply::new(source);
        Self { supply, stage, turn_requests: 1, is_done: false, ends_others: EndsOthers::None, outcome }
    }
}

fn drive_of(drive: &Drive, seed: u64) -> Result<Box<dyn SimulatedDrive>, SpecificationError> {
    if drive.stripe.is_on() { Ok(Box::new(Stripe::build(drive, seed)?)) } else { build(drive, seed) }
}

/// Without a clock, concurrent jobs take turns in proportion to their queue depths. On a small drive turns are short,
/// so that points and rounds are at the intended positions.
fn share_turns(jobs: &mut [RunningJob], user_units: u64) {
    let deepest = jobs.iter().map(|job| job.turn_requests).max().unwrap_or(1).max(1);
    let most = TURN_REQUESTS_MAX.min(user_units / 256) as usize;
    for job in jobs {
        // A whole multiple makes the proportion exact.
        job.turn_requests = match deepest {
            shallow if shallow <= TURN_REQUESTS_MAX as usize => job.turn_requests * (most / shallow).max(1),
            deep => (job.turn_requests * TURN_REQUESTS_MAX as usize / deep).max(1),
        };
    }
}
