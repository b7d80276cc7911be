//! A run with a clock: all jobs of a stage issue requests concurrently; a stage begins when all requests of the
//! previous one have completed.

mod client;
mod machine;
mod stillness;

use super::checks::{check_before_tables, check_there_is_one, check_times};
use super::intervals::Intervals;
use super::outcome::Timing;
use super::patience::Patience;
use super::rounds::Rounds;
use super::series::Series;
use super::source::{Arrival, RequestSource, SourceError};
use super::time_series::{Sample, TimeSeries};
use super::timed_job::RunningJob;
use super::timed_rounds::RoundTimes;
use super::undirected::in_groups;
use super::{
    InitialState, JobOutcome, NamespaceOutcome, Outcome, Progress, StageOutcome, SteadyStateOutcome, patience_for,
    refuse_state, rounds_of,
};
use crate::error::{ReadOnly, SpecificationError};
use crate::ftl::NamespaceCounts;
use crate::ledger::Ledger;
use crate::specification::{Specification, Until};
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
    stages: Vec<StageOutcome>,
    /// The jobs of the current stage, as a range of `jobs`.
    pub(super) active: std::ops::Range<usize>,
    rounds: Option<Rounds>,
    until: Until,
    /// With the rounds of the last stage.
    patience: Patience,
    last_stage: u32,
    counted_unit_bytes: u32,
    series: Series,
    /// Events until the next sample of the drive; independent of the steps in which the run is advanced.
    events_to_look: u64,
    pub(super) failure: Option<ReadOnly>,
    stillness: Stillness,
    /// The state of the zones, shared by jobs that write zone by zone.
    pub(super) zones: SharedZones,
    /// The counters by namespace when the stage began.
    namespaces_before: Vec<NamespaceCounts>,
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
        let counted_unit_bytes = machine.drive().capacity().counted_unit_bytes;
        Ok(Self {
            namespaces_before: machine.drive().namespaces().to_vec(),
            machine,
            jobs: Jobs {
                jobs,
                repeats_stage: rounds.is_some().then_some(last_stage),
                is_settled: false,
                over_before: 0,
                source_error: None,
                round: RoundTimes::default(),
                account: Account::default(),
                time_series: TimeSeries::default(),
                intervals: specification.interval_ns.map(Intervals::new),
            },
            stages: Vec::new(),
            active: 0..0,
            rounds,
            until: specification.until.clone(),
            patience: Patience::default(),
            last_stage,
            counted_unit_bytes,
            series: Series::new(specification.series_points_max, drive_specification.ftl.user_bytes),
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

    /// Panics if an identity of the ledger does not hold: then the engine is wrong, and every figure of the run with
    /// it.
    pub fn finish(mut self) -> Outcome {
        if !self.active.is_empty() {
            self.note_end_of_stage();
        }
        if let Err(broken) = self.machine.drive().check_accounts() {
            panic!("the ledger does not add up: {broken}");
        }
        self.jobs.settle_account();
        let simulated_ns = self.machine.now_ns();
        let (stages, series, time_series, intervals) =
            (self.stages, self.series, self.jobs.time_series, self.jobs.intervals);
        let jobs = self.jobs.jobs.into_iter().map(|job| job.into_outcome(simulated_ns)).collect();
        let steady_state = self.rounds.map(Rounds::into_outcome);
        let (namespaces_before, failure) = (self.namespaces_before, self.failure);
        let records =
            Records { stages, series, time_series, intervals, namespaces_before, jobs, steady_state, failure };
        records.close(&self.machine)
    }

    /// The outcome if the run ended now.
    pub(super) fn outcome(&self) -> Outcome {
        let simulated_ns = self.machine.now_ns();
        let (mut stages, mut series) = (self.stages.clone(), self.series.clone());
        if let (false, Some(stage)) = (self.active.is_empty(), stages.last_mut()) {
            series.end_stage(stage.stage, self.machine.drive());
            stage.host_written_bytes_end = self.ledger().host_written_bytes;
            stage.read_ahead = self.machine.read_counts();
        }
        if let Err(broken) = self.machine.drive().check_accounts() {
            panic!("the ledger does not add up: {broken}");
        }
        let records = Records {
            stages,
            series,
            time_series: self.jobs.time_series.clone(),
            intervals: self.jobs.intervals.clone(),
            namespaces_before: self.namespaces_before.clone(),
            jobs: self.jobs.outcomes_at(simulated_ns),
            steady_state: self.rounds.clone().map(Rounds::into_outcome),
            failure: self.failure,
        };
        records.close(&self.machine)
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
            self.start_stage(self.active.end);
        }
        let events = events_max.min(self.events_to_look);
        if self.failure.is_none() {
            let goes_on = match self.machine.advance(events, &mut self.jobs) {
                Ok(goes_on) => Ok(goes_on),
                Err(Halt::Refused(reason)) => Err(reason),
                Err(halt) => return Err(halt.into()),
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
        self.series.note(stage, self.machine.drive());
        if let Some(intervals) = &mut self.jobs.intervals {
            intervals.note(self.machine.now_ns(), &ledger);
        }
        self.jobs.time_series.sample(Sample {
            stage,
            host_written_bytes: ledger.host_written_bytes,
            programmed_units_total: ledger.programmed_units.total(),
            free_erase_units: self.machine.drive().free_erase_units(),
        });
        if let Some(rounds) = self.rounds.as_mut().filter(|_| stage == self.last_stage && !self.jobs.is_settled) {
            self.jobs.is_settled =
                rounds.note(&ledger, self.counted_unit_bytes, Some((self.machine.now_ns(), &mut self.jobs.round)))
                    || self.patience.is_over(&ledger);
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
        let stage = self.stage();
        self.series.end_stage(stage, self.machine.drive());
        let host_written_bytes_end = self.ledger().host_written_bytes;
        let read_ahead = self.machine.take_read_counts();
        let stage = self.stages.last_mut().expect("a stage has started");
        stage.host_written_bytes_end = host_written_bytes_end;
        stage.read_ahead = read_ahead;
    }

    fn start_stage(&mut self, first: usize) {
        let Some(stage) = self.jobs.jobs.get(first).map(|job| job.stage) else {
            self.active = first..first;
            return;
        };
        let end = first + self.jobs.jobs[first..].iter().take_while(|job| job.stage == stage).count();
        self.active = first..end;
        let host_written_bytes_start = self.ledger().host_written_bytes;
        self.namespaces_before.copy_from_slice(self.machine.drive().namespaces());
        let host_written_bytes_end = host_written_bytes_start;
        self.stages.push(StageOutcome { stage, host_written_bytes_start, host_written_bytes_end, read_ahead: None });
        self.series.note(stage, self.machine.drive());
        let ledger = *self.ledger();
        if let Some(rounds) = self.rounds.as_mut().filter(|_| stage == self.last_stage) {
            let capacity = self.machine.drive().capacity();
            let erased_units =
                u64::from(self.machine.drive().free_erase_units()) * u64::from(capacity.data_units_per_erase_unit);
            rounds.start(&ledger, erased_units * u64::from(capacity.mapping_unit_bytes / capacity.counted_unit_bytes));
        }
        self.patience = patience_for(&self.until, self.machine.drive());
        self.jobs.settle_account();
        self.jobs.account = Account { job: first as u32, begin: ledger, end: ledger };
        let plans = self.jobs.jobs[self.active.clone()].iter_mut().map(|job| std::mem::take(&mut job.plan)).collect();
        if let Err(reason) = self.machine.start_all(first as u32, plans, &mut self.jobs) {
            self.failure = Some(reason);
        }
    }

    fn progress(&self) -> Progress {
        let host_written_bytes = self.ledger().host_written_bytes;
        let is_finished = self.is_finished();
        let now_ns = self.machine.now_ns();
        let is_settling = |job: &RunningJob| self.jobs.repeats_stage == Some(job.stage);
        let done = match &self.rounds {
            _ if is_finished => 1.0,
            Some(rounds) if !self.active.is_empty() && self.stage() == self.last_stage => {
                rounds.progress(host_written_bytes)
            }
            _ => {
                let counted = self.jobs.jobs.iter().filter(|job| !is_settling(job)).map(|job| job.progress(now_ns));
                let (sum, count) = counted.fold((0.0, 0), |(sum, count), progress| (sum + progress, count + 1));
                let share = if self.rounds.is_some() { Rounds::SHARE_BEFORE } else { 1.0 };
                share * sum / f64::from(count.max(1))
            }
        };
        Progress { done, host_written_bytes, is_finished }
    }
}

/// The records of a run.
struct Records {
    stages: Vec<StageOutcome>,
    series: Series,
    time_series: TimeSeries,
    intervals: Option<Intervals>,
    namespaces_before: Vec<NamespaceCounts>,
    jobs: Vec<JobOutcome>,
    steady_state: Option<SteadyStateOutcome>,
    failure: Option<ReadOnly>,
}

impl Records {
    fn close(self, machine: &Machine) -> Outcome {
        let (simulated_ns, drive) = (machine.now_ns(), machine.drive());
        Outcome {
            ledger: *drive.ledger(),
            capacity: drive.capacity(),
            wear: drive.wear(),
            zones: drive.zones(),
            namespaces: NamespaceOutcome::all(drive.namespaces(), &self.namespaces_before),
            reclaim_groups: Some(drive.group_counts()).filter(|groups| !groups.is_empty()),
            placement: drive.placement_report(),
            stages: self.stages,
            steady_state: self.steady_state,
            series: self.series.into_columns(),
            timing: Some(Timing {
                simulated_ns,
                die_utilization: machine.die_utilization(),
                series: self.time_series.into_columns(simulated_ns),
                intervals: self.intervals.map(|intervals| intervals.into_rows(simulated_ns, drive.ledger())),
            }),
            failure: self.failure.map(|reason| reason.to_string()),
            jobs: self.jobs,
        }
    }
}

impl Jobs {
    /// Adds the open account to its job, unless that is in its ramp time.
    fn settle_account(&mut self) {
        let Account { job, begin, end } = &mut self.account;
        if let Some(job) = self.jobs.get_mut(*job as usize).filter(|job| !job.is_ramping) {
            job.outcome.ledger += *end - *begin;
        }
        *begin = *end;
    }

    /// The outcomes of jobs that continue.
    fn outcomes_at(&self, now_ns: u64) -> Vec<JobOutcome> {
        let mut outcomes: Vec<_> = self.jobs.iter().map(|job| job.outcome_at(now_ns)).collect();
        let Account { job, begin, end } = self.account;
        let counts = self.jobs.get(job as usize).is_some_and(|job| !job.is_ramping);
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
        mut draw: impl FnMut(&mut dyn RequestSource, usize) -> Result<usize, SourceError>,
    ) {
        let job = &mut self.jobs[job as usize];
        let count_max = count_max.min(usize::try_from(job.left).unwrap_or(usize::MAX));
        if count_max == 0 {
            return;
        }
        let mut drawn = draw(&mut *job.source, count_max);
        if matches!(drawn, Ok(0)) && (job.time_based || self.repeats_stage == Some(job.stage)) {
            job.source.restart();
            job.restarts += 1;
            drawn = draw(&mut *job.source, count_max);
        }
        let count = *drawn.as_ref().unwrap_or(&0) as u64;
        job.drawn += count;
        job.left -= count;
        self.note_error(drawn);
    }

    fn note_error(&mut self, drawn: Result<usize, SourceError>) {
        if let Err(error) = drawn {
            self.source_error = Some(error);
        }
    }
}
