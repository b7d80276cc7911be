//! The stages of a run, with a clock or without one: what the drive had counted when each began and ended, the series
//! over the host's bytes, and the rounds of the last stage of a run until the steady state.

use super::drive::SimulatedDrive;
use super::outcome::{JobOutcome, NamespaceOutcome, Outcome, StageOutcome, Timing};
use super::patience::Patience;
use super::rounds::Rounds;
use super::series::Series;
use super::timed_rounds::RoundTimes;
use crate::error::{ReadOnly, SpecificationError};
use crate::ftl::NamespaceCounts;
use crate::specification::job::Direction;
use crate::specification::{Job, Specification, Until};
use crate::timing::front::read_counts::ReadCounts;

#[derive(Clone)]
pub(super) struct Stages {
    outcomes: Vec<StageOutcome>,
    series: Series,
    rounds: Option<Rounds>,
    until: Until,
    /// With the rounds of the last stage.
    patience: Patience,
    last: u32,
    counted_unit_bytes: u32,
    /// The counters by namespace when the stage began.
    namespaces_before: Vec<NamespaceCounts>,
}

impl Stages {
    /// `last`: the last stage; `rounds`: of it, if the run continues until the steady state.
    pub fn new(specification: &Specification, last: u32, rounds: Option<Rounds>, drive: &dyn SimulatedDrive) -> Self {
        Self {
            outcomes: Vec::new(),
            series: Series::new(specification.series_points_max, specification.drive.ftl.user_bytes),
            rounds,
            until: specification.until.clone(),
            patience: Patience::default(),
            last,
            counted_unit_bytes: drive.capacity().counted_unit_bytes,
            namespaces_before: drive.namespaces().to_vec(),
        }
    }

    /// Whether the run continues until the steady state.
    pub fn has_rounds(&self) -> bool {
        self.rounds.is_some()
    }

    /// Whether the stage repeats until the steady state.
    pub fn repeats(&self, stage: u32) -> bool {
        self.rounds.is_some() && stage == self.last
    }

    pub fn begin(&mut self, stage: u32, drive: &dyn SimulatedDrive) {
        let host_written_bytes_start = drive.ledger().host_written_bytes;
        self.namespaces_before.copy_from_slice(drive.namespaces());
        self.outcomes.push(StageOutcome {
            stage,
            host_written_bytes_start,
            host_written_bytes_end: host_written_bytes_start,
            read_ahead: None,
        });
        self.series.note(stage, drive);
        let capacity = drive.capacity();
        let erased_units = u64::from(drive.free_erase_units()) * u64::from(capacity.data_units_per_erase_unit);
        if let Some(rounds) = self.rounds.as_mut().filter(|_| stage == self.last) {
            let counted_per_unit = u64::from(capacity.mapping_unit_bytes / capacity.counted_unit_bytes);
            rounds.start(drive.ledger(), erased_units * counted_per_unit);
        }
        self.patience = match self.until {
            Until::SteadyState { round_bytes, host_bytes_max, .. } => {
                let erased_bytes = erased_units * u64::from(capacity.mapping_unit_bytes);
                Patience::new(drive.ledger(), erased_bytes, round_bytes, host_bytes_max)
            }
            Until::Job => Patience::default(),
        };
    }

    /// A sample of the drive.
    pub fn note(&mut self, stage: u32, drive: &dyn SimulatedDrive) {
        self.series.note(stage, drive);
    }

    /// Whether a stage that repeats is over. `clock` has the time and the completions of the round.
    pub fn is_settled(
        &mut self,
        stage: u32,
        drive: &dyn SimulatedDrive,
        clock: Option<(u64, &mut RoundTimes)>,
    ) -> bool {
        let Some(rounds) = self.rounds.as_mut().filter(|_| stage == self.last) else { return false };
        rounds.note(drive.ledger(), self.counted_unit_bytes, clock) || self.patience.is_over(drive.ledger())
    }

    pub fn end(&mut self, stage: u32, drive: &dyn SimulatedDrive, read_ahead: Option<ReadCounts>) {
        self.series.end_stage(stage, drive);
        let outcome = self.outcomes.last_mut().expect("a stage has started");
        outcome.host_written_bytes_end = drive.ledger().host_written_bytes;
        outcome.read_ahead = read_ahead;
    }

    /// The progress of a run in this stage, if one has begun, with the stage and the progress of each job.
    pub fn progress(
        &self,
        stage: Option<u32>,
        drive: &dyn SimulatedDrive,
        jobs: impl Iterator<Item = (u32, f64)>,
    ) -> f64 {
        match &self.rounds {
            Some(rounds) if stage == Some(self.last) => rounds.progress(drive.ledger().host_written_bytes),
            rounds => {
                let counted = jobs.filter(|&(stage, _)| !self.repeats(stage)).map(|(_, progress)| progress);
                let (sum, count) = counted.fold((0.0, 0), |(sum, count), progress| (sum + progress, count + 1));
                let share = if rounds.is_some() { Rounds::SHARE_BEFORE } else { 1.0 };
                share * sum / f64::from(count.max(1))
            }
        }
    }

    /// Panics if an identity of the ledger does not hold: then the engine is wrong, and every figure of the run with
    /// it.
    pub fn into_outcome(
        self,
        drive: &dyn SimulatedDrive,
        jobs: Vec<JobOutcome>,
        timing: Option<Timing>,
        failure: Option<ReadOnly>,
    ) -> Outcome {
        if let Err(broken) = drive.check_accounts() {
            panic!("the ledger does not add up: {broken}");
        }
        Outcome {
            ledger: *drive.ledger(),
            capacity: drive.capacity(),
            wear: drive.wear(),
            zones: drive.zones(),
            namespaces: NamespaceOutcome::all(drive.namespaces(), &self.namespaces_before),
            reclaim_groups: Some(drive.group_counts()).filter(|groups| !groups.is_empty()),
            placement: drive.placement_report(),
            stages: self.outcomes,
            steady_state: self.rounds.map(Rounds::into_outcome),
            series: self.series.into_columns(),
            timing,
            failure: failure.map(|reason| reason.to_string()),
            jobs,
        }
    }
}

/// The rounds of the last stage, if the run continues until the steady state. A stage without writes would never
/// settle, so it has none; a given source, such as a trace, checks that itself when it restarts.
pub(super) fn rounds_of(specification: &Specification, is_given: bool) -> Result<Option<Rounds>, SpecificationError> {
    let Until::SteadyState { round_bytes, host_bytes_max, precision } = specification.until else { return Ok(None) };
    if round_bytes == 0 {
        return Err(SpecificationError::new("until.round_bytes", round_bytes, "1 or more"));
    }
    if let Some(precision) = precision.filter(|&precision| !(precision > 0.0 && precision < 1.0)) {
        return Err(SpecificationError::new("until.precision", precision, "above 0 and below 1"));
    }
    let writes = |job: &Job| match job.direction {
        Direction::Write | Direction::TrimWrite => true,
        Direction::ReadWrite => job.read_percent < 100.0,
        Direction::Read | Direction::Trim => false,
    };
    let last_stage = specification.jobs.last().map(|job| job.stage);
    let can_settle = is_given || specification.jobs.iter().any(|job| Some(job.stage) == last_stage && writes(job));
    Ok(can_settle.then(|| Rounds::new(round_bytes, host_bytes_max, precision)))
}
