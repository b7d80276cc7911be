//! A whole run with a clock: all jobs of a stage keep their queues full side by side; a stage begins when all requests
//! of the one before it are complete.

use super::drive::{TimedSimulatedDrive, build_timed};
use super::outcome::{JobTiming, Timing};
use super::rounds::Rounds;
use super::series::Series;
use super::time_series::{Sample, TimeSeries};
use super::{JobOutcome, Outcome, Progress, StageOutcome, check_stages, rounds_of, stream_of};
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Ledger;
use crate::request::{Operation, Request};
use crate::specification::{Job, Specification};
use crate::timing::flash::Flash;
use crate::timing::histogram::Histogram;
use crate::timing::host::{Client, Completion, Host};
use crate::workload::Stream;

/// Events between two looks at the drive for series and rounds.
const EVENTS_AT_ONCE: u64 = 512;

pub struct TimedSimulation {
    drive: Box<dyn TimedSimulatedDrive>,
    host: Host,
    jobs: Jobs,
    stages: Vec<StageOutcome>,
    /// The jobs of the stage that is running, as a range of `jobs`.
    active: std::ops::Range<usize>,
    rounds: Option<Rounds>,
    last_stage: u32,
    mapping_unit_bytes: u32,
    series: Series,
    failure: Option<ReadOnly>,
}

/// The jobs as the host's client.
struct Jobs {
    jobs: Vec<RunningJob>,
    /// The last stage goes on until the steady state, or is settled and issues nothing more.
    repeats_stage: Option<u32>,
    is_settled: bool,
    /// The ledger at the last request: what came since belongs to the job that issued the next.
    ledger: Ledger,
    time_series: TimeSeries,
}

struct RunningJob {
    stream: Stream,
    stage: u32,
    iodepth: u32,
    runtime_ns: Option<u64>,
    time_based: bool,
    start_ns: u64,
    end_ns: u64,
    /// By operation.
    latencies: [Histogram; 3],
    outcome: JobOutcome,
}

impl TimedSimulation {
    /// Errors name the key of the drive or the job, its value and what is allowed.
    pub fn new(specification: &Specification) -> Result<Self, SpecificationError> {
        let drive_specification = &specification.drive;
        check_times(specification)?;
        let drive = build_timed(drive_specification, specification.seed)?;
        check_stages(&specification.jobs)?;
        let jobs =
            specification.jobs.iter().map(|job| RunningJob::new(job, specification)).collect::<Result<_, _>>()?;
        let Some(last_stage) = specification.jobs.last().map(|job| job.stage) else {
            return Err(SpecificationError::new("jobs", "[]", "one job or more"));
        };
        let rounds = rounds_of(specification, false)?;
        let mapping_unit_bytes = drive_specification.ftl.mapping_unit_bytes;
        let flash = Flash::new(&drive_specification.nand, mapping_unit_bytes, drive_specification.ftl.erase_unit);
        let command_ns = (drive_specification.controller.command_us * 1000.0).round() as u64;
        let buffer_units = drive_specification.write_buffer.bytes / u64::from(mapping_unit_bytes);
        let mut simulation = Self {
            drive,
            host: Host::new(flash, command_ns, buffer_units.min(u64::from(u32::MAX)) as u32),
            jobs: Jobs {
                jobs,
                repeats_stage: rounds.is_some().then_some(last_stage),
                is_settled: false,
                ledger: Ledger::default(),
                time_series: TimeSeries::default(),
            },
            stages: Vec::new(),
            active: 0..0,
            rounds,
            last_stage,
            mapping_unit_bytes,
            series: Series::new(specification.series_points_max, drive_specification.ftl.user_bytes),
            failure: None,
        };
        simulation.start_stage(0);
        Ok(simulation)
    }

    /// Runs at least so many more events, unless the run ends before.
    pub fn advance(&mut self, events: u64) -> Progress {
        let mut left = events;
        while left > 0 && !self.is_finished() {
            self.look_and_go_on();
            left = left.saturating_sub(EVENTS_AT_ONCE);
        }
        self.progress()
    }

    pub fn is_finished(&self) -> bool {
        self.active.is_empty() || self.failure.is_some()
    }

    /// Panics when the ledger's identities do not hold: then the engine is wrong, and so is every figure of the run.
    pub fn finish(mut self) -> Outcome {
        if !self.active.is_empty() {
            self.note_end_of_stage();
        }
        if let Err(broken) = self.drive.check_accounts() {
            panic!("the ledger does not add up: {broken}");
        }
        let simulated_ns = self.host.now_ns();
        Outcome {
            ledger: *self.ledger(),
            capacity: self.drive.capacity(),
            wear: self.drive.wear(),
            stages: self.stages,
            steady_state: self.rounds.map(Rounds::into_outcome),
            series: self.series.into_columns(),
            timing: Some(Timing {
                simulated_ns,
                die_utilization: self.host.flash().utilization(simulated_ns),
                series: self.jobs.time_series.into_columns(simulated_ns),
            }),
            failure: self.failure.map(|reason| reason.to_string()),
            jobs: self.jobs.jobs.into_iter().map(RunningJob::into_outcome).collect(),
        }
    }

    fn ledger(&self) -> &Ledger {
        super::SimulatedDrive::ledger(&*self.drive)
    }

    fn stage(&self) -> u32 {
        self.jobs.jobs[self.active.start].stage
    }

    fn look_and_go_on(&mut self) {
        let goes_on = self.host.advance(EVENTS_AT_ONCE, &mut *self.drive, &mut self.jobs);
        let stage = self.stage();
        let ledger = *self.ledger();
        self.series.note(stage, &*self.drive);
        self.jobs.time_series.sample(Sample {
            stage,
            host_written_bytes: ledger.host_written_bytes,
            programmed_units_total: ledger.programmed_units.total(),
            free_erase_units: self.drive.free_erase_units(),
        });
        if let Some(rounds) = self.rounds.as_mut().filter(|_| stage == self.last_stage && !self.jobs.is_settled) {
            self.jobs.is_settled = rounds.note(&ledger, self.mapping_unit_bytes);
        }
        match goes_on {
            Ok(true) => {}
            Ok(false) => {
                self.note_end_of_stage();
                self.host.end_stage();
                self.start_stage(self.active.end);
            }
            Err(reason) => self.failure = Some(reason),
        }
    }

    fn note_end_of_stage(&mut self) {
        let stage = self.stage();
        self.series.end_stage(stage, &*self.drive);
        let host_written_bytes_end = self.ledger().host_written_bytes;
        self.stages.last_mut().expect("a stage has started").host_written_bytes_end = host_written_bytes_end;
        let now_ns = self.host.now_ns();
        self.jobs.jobs[self.active.clone()].iter_mut().for_each(|job| job.end_ns = now_ns.max(job.start_ns));
    }

    fn start_stage(&mut self, first: usize) {
        let Some(stage) = self.jobs.jobs.get(first).map(|job| job.stage) else {
            self.active = first..first;
            return;
        };
        let end = first + self.jobs.jobs[first..].iter().take_while(|job| job.stage == stage).count();
        self.active = first..end;
        let host_written_bytes_start = self.ledger().host_written_bytes;
        let host_written_bytes_end = host_written_bytes_start;
        self.stages.push(StageOutcome { stage, host_written_bytes_start, host_written_bytes_end });
        self.series.note(stage, &*self.drive);
        let ledger = *self.ledger();
        if let Some(rounds) = self.rounds.as_mut().filter(|_| stage == self.last_stage) {
            let capacity = self.drive.capacity();
            let erased_units = u64::from(self.drive.free_erase_units()) * u64::from(capacity.data_units_per_erase_unit);
            rounds.start(&ledger, erased_units * u64::from(capacity.mapping_unit_bytes));
        }
        self.jobs.ledger = ledger;
        for index in first..end {
            let job = &mut self.jobs.jobs[index];
            job.start_ns = self.host.now_ns();
            let iodepth = job.iodepth;
            if let Err(reason) = self.host.start(index as u32, iodepth, &mut *self.drive, &mut self.jobs) {
                self.failure = Some(reason);
            }
        }
    }

    fn progress(&self) -> Progress {
        let host_written_bytes = self.ledger().host_written_bytes;
        let is_finished = self.is_finished();
        let now_ns = self.host.now_ns();
        let is_settling = |job: &RunningJob| self.jobs.repeats_stage == Some(job.stage);
        let done = match &self.rounds {
            _ if is_finished => 1.0,
            Some(rounds) if self.stage() == self.last_stage => rounds.progress(host_written_bytes),
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

impl Client for Jobs {
    fn draw(&mut self, job: u32, out: &mut Vec<Request>, count_max: usize) {
        let job = &mut self.jobs[job as usize];
        let drawn = job.stream.fill(out, count_max);
        if drawn == 0 && (job.time_based || self.repeats_stage == Some(job.stage)) {
            job.stream.restart();
            job.stream.fill(out, count_max);
        }
    }

    fn is_over(&self, job: u32, now_ns: u64) -> bool {
        let job = &self.jobs[job as usize];
        let is_settled = self.is_settled && self.repeats_stage == Some(job.stage);
        is_settled || job.runtime_ns.is_some_and(|runtime_ns| now_ns - job.start_ns >= runtime_ns)
    }

    #[inline]
    fn executed(&mut self, job: u32, ledger: &Ledger) {
        self.jobs[job as usize].outcome.ledger += *ledger - self.ledger;
        self.ledger = *ledger;
    }

    fn completed(&mut self, completion: Completion) {
        let job = &mut self.jobs[completion.job as usize];
        let requests = job.outcome.requests_mut(completion.operation);
        requests.ios += 1;
        requests.bytes += u64::from(completion.length_bytes);
        job.latencies[completion.operation as usize].add(completion.completed_ns - completion.issued_ns);
        self.time_series.add(&completion);
    }
}

impl RunningJob {
    fn new(job: &Job, specification: &Specification) -> Result<Self, SpecificationError> {
        Ok(Self {
            stream: stream_of(job, specification)?,
            stage: job.stage,
            iodepth: job.iodepth.max(1),
            runtime_ns: job.runtime_ns,
            time_based: job.time_based && job.runtime_ns.is_some(),
            start_ns: 0,
            end_ns: 0,
            latencies: Default::default(),
            outcome: JobOutcome::new(&job.name, job.clone, job.stage),
        })
    }

    fn progress(&self, now_ns: u64) -> f64 {
        let of_time = self.runtime_ns.map(|runtime_ns| {
            let started = now_ns.saturating_sub(self.start_ns);
            if self.start_ns == 0 && self.stage > 0 { 0.0 } else { started as f64 / runtime_ns.max(1) as f64 }
        });
        match of_time {
            Some(of_time) if self.time_based => of_time.min(1.0),
            Some(of_time) => of_time.max(self.stream.progress()).min(1.0),
            None => self.stream.progress(),
        }
    }

    fn into_outcome(self) -> JobOutcome {
        let latency = |operation: Operation| self.latencies[operation as usize].latency();
        let timing = JobTiming {
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            read: latency(Operation::Read),
            write: latency(Operation::Write),
            trim: latency(Operation::Trim),
        };
        JobOutcome { timing: Some(timing), ..self.outcome }
    }
}

/// What only a clock needs to be sensible.
fn check_times(specification: &Specification) -> Result<(), SpecificationError> {
    let nand = &specification.drive.nand;
    let times = [
        ("nand.read_us", nand.read_us, 0.0),
        ("nand.program_us", nand.program_us, 0.0),
        ("nand.erase_us", nand.erase_us, 0.0),
        ("controller.command_us", specification.drive.controller.command_us, 0.0),
    ];
    for (key, value, least) in times {
        if !(value >= least && value <= 1e9) {
            return Err(SpecificationError::new(key, value, "microseconds from 0 to 10^9"));
        }
    }
    if !(nand.channel_mb_s > 0.0 && nand.channel_mb_s <= 1e6) {
        return Err(SpecificationError::new("nand.channel_mb_s", nand.channel_mb_s, "above 0 to 10^6 MB/s"));
    }
    Ok(())
}
