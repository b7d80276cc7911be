//! A run without a clock: the jobs of a stage take turns, and a turn is a batch of requests.
//!
//! A turn may be interrupted anywhere and continued later; the drive is sampled at its end. So the outcome does not
//! depend on the steps in which a run is advanced.

use super::checks::{check_before_tables, check_there_is_one};
use super::drive::{SimulatedDrive, build};
use super::patience::Patience;
use super::rounds::Rounds;
use super::series::Series;
use super::source::{RequestSource, SourceError};
use super::stripe::Stripe;
use super::undirected::in_groups;
use super::{
    InitialState, JobOutcome, NamespaceOutcome, Outcome, Progress, StageOutcome, patience_for, refuse_state, rounds_of,
    source_of,
};
use crate::error::{ReadOnly, SpecificationError};
use crate::ftl::NamespaceCounts;
use crate::request::Request;
use crate::specification::job::EndsOthers;
use crate::specification::{Drive, Job, Specification, Until};
use crate::workload::host_zones::SharedZones;

/// The most requests that a job issues before another has its turn: enough for prefetching.
const TURN_REQUESTS_MAX: u64 = 256;

/// See the file's description.
pub struct Simulation {
    pub(super) drive: Box<dyn SimulatedDrive>,
    pub(super) jobs: Vec<RunningJob>,
    stages: Vec<StageOutcome>,
    /// The jobs of the current stage, as a range of `jobs`.
    pub(super) active: std::ops::Range<usize>,
    /// The job whose turn it is.
    pub(super) turn: usize,
    rounds: Option<Rounds>,
    until: Until,
    /// With the rounds of the last stage.
    patience: Patience,
    last_stage: u32,
    counted_unit_bytes: u32,
    series: Series,
    /// The requests of the current turn, and how many are executed.
    pub(super) batch: Vec<Request>,
    pub(super) executed: usize,
    pub(super) failure: Option<ReadOnly>,
    /// The state of the zones, shared by jobs that write zone by zone.
    pub(super) zones: SharedZones,
    /// The counters by namespace when the stage began.
    namespaces_before: Vec<NamespaceCounts>,
}

pub(super) struct RunningJob {
    pub(super) source: Box<dyn RequestSource>,
    pub(super) stage: u32,
    turn_requests: usize,
    pub(super) is_done: bool,
    ends_others: EndsOthers,
    /// Requests that it may still draw, if the job is ended early.
    pub(super) left: u64,
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
        let user_bytes = specification.drive.ftl.user_bytes;
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
        let counted_unit_bytes = drive.capacity().counted_unit_bytes;
        Ok(Self {
            namespaces_before: drive.namespaces().to_vec(),
            drive,
            jobs,
            stages: Vec::new(),
            active: 0..0,
            turn: 0,
            rounds,
            until: specification.until.clone(),
            patience: Patience::default(),
            last_stage,
            counted_unit_bytes,
            series: Series::new(specification.series_points_max, user_bytes),
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

    /// Panics if an identity of the ledger does not hold: then the engine is wrong, and every figure of the run with
    /// it.
    pub fn finish(self) -> Outcome {
        self.outcome()
    }

    /// The outcome if the run ended now.
    pub(super) fn outcome(&self) -> Outcome {
        let (mut series, mut stages) = (self.series.clone(), self.stages.clone());
        if let Some(first) = self.jobs.get(self.active.start).filter(|_| !self.active.is_empty()) {
            series.end_stage(first.stage, &*self.drive);
            stages.last_mut().expect("a stage has started").host_written_bytes_end = self.host_written_bytes();
        }
        if let Err(broken) = self.drive.check_accounts() {
            panic!("the ledger does not add up: {broken}");
        }
        Outcome {
            ledger: *self.drive.ledger(),
            capacity: self.drive.capacity(),
            wear: self.drive.wear(),
            zones: self.drive.zones(),
            namespaces: NamespaceOutcome::all(self.drive.namespaces(), &self.namespaces_before),
            reclaim_groups: Some(self.drive.group_counts()).filter(|groups| !groups.is_empty()),
            placement: self.drive.placement_report(),
            stages,
            steady_state: self.rounds.clone().map(Rounds::into_outcome),
            series: series.into_columns(),
            timing: None,
            failure: self.failure.map(|reason| reason.to_string()),
            jobs: self.jobs.iter().map(RunningJob::outcome_now).collect(),
        }
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
        is_between_turns && {
            let job = &self.jobs[self.turn];
            self.rounds.is_none() && (job.left == 0 || job.source.progress() >= 1.0)
        }
    }

    fn draw_turn(&mut self) -> Result<(), SourceError> {
        let job = &mut self.jobs[self.turn];
        self.batch.clear();
        self.executed = 0;
        let wanted = job.turn_requests.min(usize::try_from(job.left).unwrap_or(usize::MAX));
        let mut issued = job.source.fill(&mut self.batch, wanted)?;
        if issued == 0 {
            // Until the steady state a job of the last stage restarts; a source that is empty even then is at its end.
            if self.rounds.is_some() && job.stage == self.last_stage {
                job.source.restart();
                issued = job.source.fill(&mut self.batch, wanted)?;
            }
            job.is_done = issued == 0;
        }
        job.left -= issued as u64;
        Ok(())
    }

    pub(super) fn end_turn(&mut self) {
        let stage = self.jobs[self.turn].stage;
        self.series.note(stage, &*self.drive);
        let is_settled = match &mut self.rounds {
            Some(rounds) if stage == self.last_stage => {
                rounds.note(self.drive.ledger(), self.counted_unit_bytes, None)
                    || self.patience.is_over(self.drive.ledger())
            }
            _ => false,
        };
        self.pass_on_the_turn(is_settled);
    }

    /// Passes the turn to the next job of the stage that is not done; if there is none, or the drive is settled, starts
    /// the next stage.
    fn pass_on_the_turn(&mut self, is_settled: bool) {
        let job = &self.jobs[self.turn];
        if job.is_done && job.ends_others > EndsOthers::None {
            let last = if job.ends_others == EndsOthers::All { self.jobs.len() } else { self.active.end };
            self.jobs[self.active.start..last].iter_mut().for_each(|other| other.left = 0);
        }
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
        let host_written_bytes_start = self.host_written_bytes();
        self.namespaces_before.copy_from_slice(self.drive.namespaces());
        self.stages.push(StageOutcome {
            stage,
            host_written_bytes_start,
            host_written_bytes_end: host_written_bytes_start,
            read_ahead: None,
        });
        self.series.note(stage, &*self.drive);
        if let Some(rounds) = self.rounds.as_mut().filter(|_| stage == self.last_stage) {
            let capacity = self.drive.capacity();
            let erased_units = u64::from(self.drive.free_erase_units()) * u64::from(capacity.data_units_per_erase_unit);
            rounds.start(
                self.drive.ledger(),
                erased_units * u64::from(capacity.mapping_unit_bytes / capacity.counted_unit_bytes),
            );
        }
        self.patience = patience_for(&self.until, &*self.drive);
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
    fn outcome_now(&self) -> JobOutcome {
        JobOutcome { store: self.source.store_counts(), ..self.outcome.clone() }
    }

    pub(super) fn new(
        job: &Job,
        specification: &Specification,
        zones: &SharedZones,
    ) -> Result<Self, SpecificationError> {
        // Until its stage starts, the number of requests is the job's depth.
        let turn_requests = job.iodepth as usize;
        let outcome = JobOutcome::new(&job.name, job.clone, job.stage);
        let source = source_of(job, specification, zones)?;
        Ok(Self {
            source,
            stage: job.stage,
            turn_requests,
            is_done: false,
            ends_others: job.ends_others,
            left: u64::MAX,
            outcome,
        })
    }

    fn given(name: &str, stage: u32, source: Box<dyn RequestSource>) -> Self {
        let outcome = JobOutcome::new(name, 0, stage);
        Self { source, stage, turn_requests: 1, is_done: false, ends_others: EndsOthers::None, left: u64::MAX, outcome }
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
