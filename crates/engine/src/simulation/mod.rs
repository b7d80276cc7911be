//! A whole run: jobs, stage by stage, on a drive, until they are done or the drive is in its steady state.

pub mod addresses;
mod drive;
mod outcome;
mod rounds;
mod series;
mod source;
#[cfg(test)]
mod tests;
mod time_series;
mod timed;

use crate::error::{ReadOnly, SpecificationError};
use crate::request::Request;
use crate::specification::job::Direction;
use crate::specification::{Job, Specification, Until};
use crate::workload::Stream;
pub use drive::{SimulatedDrive, build};
pub use outcome::{JobOutcome, Outcome, Requests, StageOutcome, SteadyStateOutcome};
use rounds::Rounds;
use series::Series;
pub use source::{RequestSource, SourceError};
pub use timed::TimedSimulation;

/// The most requests that a job issues before another has its turn: enough for prefetching to work ahead.
const TURN_REQUESTS_MAX: u64 = 256;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// 0 to 1. For a run until the steady state this is the share of the most that it may write.
    pub done: f64,
    pub host_written_bytes: u64,
    pub is_finished: bool,
}

pub struct Simulation {
    drive: Box<dyn SimulatedDrive>,
    jobs: Vec<RunningJob>,
    stages: Vec<StageOutcome>,
    /// The jobs of the stage that is running, as a range of `jobs`.
    active: std::ops::Range<usize>,
    /// Whose turn it is.
    turn: usize,
    rounds: Option<Rounds>,
    last_stage: u32,
    mapping_unit_bytes: u32,
    series: Series,
    batch: Vec<Request>,
    failure: Option<ReadOnly>,
}

struct RunningJob {
    source: Box<dyn RequestSource>,
    stage: u32,
    turn_requests: usize,
    is_done: bool,
    outcome: JobOutcome,
}

impl Simulation {
    /// Errors name the key of the drive or the job, its value and what is allowed.
    pub fn new(specification: &Specification) -> Result<Self, SpecificationError> {
        Self::with_last(specification, None)
    }

    /// The jobs of the specification, of which there may be none, and then what `source` gives, as a stage of its own.
    pub fn replaying(
        specification: &Specification,
        name: &str,
        source: Box<dyn RequestSource>,
    ) -> Result<Self, SpecificationError> {
        let stage = specification.jobs.last().map_or(0, |job| job.stage + 1);
        Self::with_last(specification, Some(RunningJob::given(name, stage, source)))
    }

    fn with_last(specification: &Specification, given: Option<RunningJob>) -> Result<Self, SpecificationError> {
        let drive = build(&specification.drive, specification.seed)?;
        let user_bytes = specification.drive.ftl.user_bytes;
        check_stages(&specification.jobs)?;
        let is_given = given.is_some();
        let own_jobs = specification.jobs.iter().map(|job| RunningJob::new(job, specification));
        let jobs = own_jobs.chain(given.map(Ok)).collect::<Result<Vec<_>, _>>()?;
        let Some(last_stage) = jobs.last().map(|job| job.stage) else {
            return Err(SpecificationError::new("jobs", "[]", "one job or more"));
        };
        let rounds = rounds_of(specification, is_given)?;
        let mut simulation = Self {
            drive,
            jobs,
            stages: Vec::new(),
            active: 0..0,
            turn: 0,
            rounds,
            last_stage,
            mapping_unit_bytes: specification.drive.ftl.mapping_unit_bytes,
            series: Series::new(specification.series_points_max, user_bytes),
            batch: Vec::with_capacity(TURN_REQUESTS_MAX as usize),
            failure: None,
        };
        simulation.start_stage(0);
        Ok(simulation)
    }

    /// Runs at least so many more requests, unless the run ends before. The error is that of a source; no stream of the
    /// specification's own jobs has one.
    pub fn advance(&mut self, requests: u64) -> Result<Progress, SourceError> {
        let mut issued = 0;
        while issued < requests && !self.is_finished() {
            issued += self.take_turn()?;
        }
        Ok(self.progress())
    }

    pub fn is_finished(&self) -> bool {
        self.active.is_empty() || self.failure.is_some()
    }

    pub fn drive(&self) -> &dyn SimulatedDrive {
        &*self.drive
    }

    /// Panics when the ledger's identities do not hold: then the engine is wrong, and so is every figure of the run.
    pub fn finish(mut self) -> Outcome {
        if let Some(first) = self.jobs.get(self.active.start).filter(|_| !self.active.is_empty()) {
            self.series.end_stage(first.stage, &*self.drive);
            self.stages.last_mut().expect("a stage has started").host_written_bytes_end = self.host_written_bytes();
        }
        if let Err(broken) = self.drive.check_accounts() {
            panic!("the ledger does not add up: {broken}");
        }
        Outcome {
            ledger: *self.drive.ledger(),
            capacity: self.drive.capacity(),
            wear: self.drive.wear(),
            stages: self.stages,
            steady_state: self.rounds.map(Rounds::into_outcome),
            series: self.series.into_columns(),
            timing: None,
            failure: self.failure.map(|reason| reason.to_string()),
            jobs: self.jobs.into_iter().map(|job| job.outcome).collect(),
        }
    }

    fn take_turn(&mut self) -> Result<u64, SourceError> {
        let job = &mut self.jobs[self.turn];
        self.batch.clear();
        let mut issued = job.source.fill(&mut self.batch, job.turn_requests)?;
        if issued == 0 {
            // Until the steady state a job of the last stage starts over; a source that is empty even then is at its end.
            if self.rounds.is_some() && job.stage == self.last_stage {
                job.source.restart();
                issued = job.source.fill(&mut self.batch, job.turn_requests)?;
            }
            job.is_done = issued == 0;
        }
        let before = *self.drive.ledger();
        let mut executed = issued;
        if let Err(refused) = self.drive.execute(&self.batch) {
            executed = refused.executed;
            self.failure = Some(refused.reason);
        }
        job.outcome.ledger += *self.drive.ledger() - before;
        for request in &self.batch[..executed] {
            let requests = job.outcome.requests_mut(request.operation);
            requests.ios += 1;
            requests.bytes += u64::from(request.length_bytes);
        }
        let stage = job.stage;
        self.series.note(stage, &*self.drive);
        let is_settled = match &mut self.rounds {
            Some(rounds) if stage == self.last_stage => rounds.note(self.drive.ledger(), self.mapping_unit_bytes),
            _ => false,
        };
        self.pass_on_the_turn(is_settled);
        Ok(issued as u64)
    }

    /// The next job of the stage that is not done; if there is none, or the drive is settled, the next stage.
    fn pass_on_the_turn(&mut self, is_settled: bool) {
        let jobs = self.active.len();
        let first = self.active.start;
        let after = |turn: usize, steps: usize| first + (turn - first + steps) % jobs;
        let next = (1..=jobs).map(|steps| after(self.turn, steps)).find(|&turn| !self.jobs[turn].is_done);
        match next {
            Some(turn) if !is_settled => self.turn = turn,
            _ => {
                let stage = self.jobs[first].stage;
                self.series.end_stage(stage, &*self.drive);
                self.stages.last_mut().expect("a stage has started").host_written_bytes_end = self.host_written_bytes();
                self.start_stage(self.active.end);
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
        let host_written_bytes_start = self.host_written_bytes();
        self.stages.push(StageOutcome {
            stage,
            host_written_bytes_start,
            host_written_bytes_end: host_written_bytes_start,
        });
        self.series.note(stage, &*self.drive);
        if let Some(rounds) = self.rounds.as_mut().filter(|_| stage == self.last_stage) {
            let capacity = self.drive.capacity();
            let erased_units = u64::from(self.drive.free_erase_units()) * u64::from(capacity.data_units_per_erase_unit);
            rounds.start(self.drive.ledger(), erased_units * u64::from(capacity.mapping_unit_bytes));
        }
        share_turns(&mut self.jobs[first..end], self.drive.capacity().user_units);
    }

    fn host_written_bytes(&self) -> u64 {
        self.drive.ledger().host_written_bytes
    }

    fn progress(&self) -> Progress {
        let host_written_bytes = self.host_written_bytes();
        let is_finished = self.is_finished();
        let settles = |job: &RunningJob| self.rounds.is_some() && job.stage == self.last_stage;
        let done = match &self.rounds {
            _ if is_finished => 1.0,
            Some(rounds) if !self.active.is_empty() && settles(&self.jobs[self.active.start]) => {
                rounds.progress(host_written_bytes)
            }
            _ => {
                let counted = self.jobs.iter().filter(|job| !settles(job)).map(|job| job.source.progress());
                let (sum, count) = counted.fold((0.0, 0), |(sum, count), progress| (sum + progress, count + 1));
                let share = if self.rounds.is_some() { Rounds::SHARE_BEFORE } else { 1.0 };
                share * sum / f64::from(count.max(1))
            }
        };
        Progress { done, host_written_bytes, is_finished }
    }
}

impl RunningJob {
    fn new(job: &Job, specification: &Specification) -> Result<Self, SpecificationError> {
        // Until its stage starts, the number of requests is the job's depth.
        let turn_requests = job.iodepth as usize;
        let outcome = JobOutcome::new(&job.name, job.clone, job.stage);
        let source = Box::new(stream_of(job, specification)?);
        Ok(Self { source, stage: job.stage, turn_requests, is_done: false, outcome })
    }

    fn given(name: &str, stage: u32, source: Box<dyn RequestSource>) -> Self {
        Self { source, stage, turn_requests: 1, is_done: false, outcome: JobOutcome::new(name, 0, stage) }
    }
}

fn check_stages(jobs: &[Job]) -> Result<(), SpecificationError> {
    if !jobs.is_sorted_by_key(|job| job.stage) {
        return Err(SpecificationError::new("jobs", "stages out of order", "jobs ordered by stage"));
    }
    Ok(())
}

/// The requests of a job, which must lie within the drive.
fn stream_of(job: &Job, specification: &Specification) -> Result<Stream, SpecificationError> {
    let user_bytes = specification.drive.ftl.user_bytes;
    if job.offset_bytes.checked_add(job.size_bytes).is_none_or(|end| end > user_bytes) {
        let value = format!("{} at offset {}", job.size_bytes, job.offset_bytes);
        let allowed = format!("a range that ends within the {user_bytes} bytes of the drive");
        return Err(SpecificationError::new(format!("jobs.{}.size_bytes", job.name), value, allowed));
    }
    Stream::new(job).map_err(|error| {
        SpecificationError::new(format!("jobs.{}.{}", job.name, error.key), error.value, error.allowed)
    })
}

/// The rounds of the last stage, if the run goes on until the steady state. A stage that writes nothing would never end;
/// what is given sees to that itself, when it starts over.
fn rounds_of(specification: &Specification, is_given: bool) -> Result<Option<Rounds>, SpecificationError> {
    let Until::SteadyState { round_bytes, host_bytes_max } = specification.until else { return Ok(None) };
    if round_bytes == 0 {
        return Err(SpecificationError::new("until.round_bytes", round_bytes, "1 or more"));
    }
    let writes = |job: &Job| match job.direction {
        Direction::Write | Direction::TrimWrite => true,
        Direction::ReadWrite => job.read_percent < 100.0,
        Direction::Read | Direction::Trim => false,
    };
    let last_stage = specification.jobs.last().map(|job| job.stage);
    let can_settle = is_given || specification.jobs.iter().any(|job| Some(job.stage) == last_stage && writes(job));
    Ok(can_settle.then(|| Rounds::new(round_bytes, host_bytes_max)))
}

/// Without a clock, jobs side by side take turns in proportion to their queue depths. On a small drive turns are short,
/// so that points and rounds fall where they should.
fn share_turns(jobs: &mut [RunningJob], user_units: u64) {
    let deepest = jobs.iter().map(|job| job.turn_requests).max().unwrap_or(1).max(1);
    let most = TURN_REQUESTS_MAX.min(user_units / 256) as usize;
    for job in jobs {
        // A whole multiple keeps the proportion exact.
        job.turn_requests = match deepest {
            shallow if shallow <= TURN_REQUESTS_MAX as usize => job.turn_requests * (most / shallow).max(1),
            deep => (job.turn_requests * TURN_REQUESTS_MAX as usize / deep).max(1),
        };
    }
}

/// A run with or without a clock.
pub trait Run: Send {
    /// Goes on for about so many requests or events.
    fn advance(&mut self, steps: u64) -> Result<Progress, SourceError>;
    fn finish(self: Box<Self>) -> Outcome;
}

impl Run for Simulation {
    fn advance(&mut self, steps: u64) -> Result<Progress, SourceError> {
        self.advance(steps)
    }

    fn finish(self: Box<Self>) -> Outcome {
        (*self).finish()
    }
}

impl Run for TimedSimulation {
    fn advance(&mut self, steps: u64) -> Result<Progress, SourceError> {
        Ok(self.advance(steps))
    }

    fn finish(self: Box<Self>) -> Outcome {
        (*self).finish()
    }
}

/// Begins the run that a specification describes.
pub fn start(specification: &Specification) -> Result<Box<dyn Run>, SpecificationError> {
    if specification.timed {
        Ok(Box::new(TimedSimulation::new(specification)?))
    } else {
        Ok(Box::new(Simulation::new(specification)?))
    }
}
