//! One job of a run with a clock: its source of requests, its times, its counts.

use super::depth_search::DepthSearch;
use super::job_limits::{JobFailure, LimitedJob};
use super::job_log::JobLog;
use super::job_steady_state::JobRounds;
use super::outcome::{JobBreakdown, JobTiming};
use super::source::{Arrival, RequestSource};
use super::zoned_jobs::shares_zones;
use super::{JobOutcome, source_of};
use crate::error::SpecificationError;
use crate::request::Operation;
use crate::specification::job::EndsOthers;
use crate::specification::{Job, Specification};
use crate::timing::breakdown::{Breakdown, Parts};
use crate::timing::histogram::Histogram;
use crate::timing::host::{Pacing, Plan};
use crate::workload::host_zones::SharedZones;

pub struct RunningJob {
    pub source: Box<dyn RequestSource>,
    pub stage: u32,
    /// Requests drawn, and how many more may be, if the job is ended early.
    pub drawn: u64,
    pub left: u64,
    /// How often it has restarted.
    pub restarts: u32,
    pub plan: Plan,
    pub runtime_ns: Option<u64>,
    pub time_based: bool,
    pub ends_others: EndsOthers,
    pub ramp_ns: u64,
    /// Whether completions are not yet counted.
    pub is_ramping: bool,
    /// Whether it issues nothing more: its rate is steady, or it has failed.
    pub is_done: bool,
    /// When counting began. None before.
    pub start_ns: Option<u64>,
    /// When its runtime ends.
    pub over_ns: u64,
    pub end_ns: Option<u64>,
    /// By operation.
    pub latencies: [Histogram; Operation::COUNT],
    /// Of the writes among given requests that are through; None for a job of a specification.
    pub through: Option<Box<Histogram>>,
    /// By operation, except flushes.
    pub breakdowns: [Breakdown; 3],
    /// Boxed, because few jobs have one.
    pub log: Option<Box<JobLog>>,
    pub rounds: Option<Box<JobRounds>>,
    pub limits: Option<Box<LimitedJob>>,
    pub search: Option<Box<DepthSearch>>,
    /// A request that was too late although it was the only one outstanding.
    pub too_late: Option<JobFailure>,
    /// For observers: its counts before they were reset.
    pub before: Option<Box<Counted>>,
    pub outcome: JobOutcome,
}

/// Completed requests.
#[derive(Clone)]
pub struct Counted {
    pub latencies: [Histogram; Operation::COUNT],
    /// By direction: read, write, trim.
    pub ios: [u64; 3],
}

impl RunningJob {
    pub fn new(job: &Job, specification: &Specification, zones: &SharedZones) -> Result<Self, SpecificationError> {
        let source = source_of(job, specification, zones)?;
        let outcome = JobOutcome::new(&job.name, job.clone, job.stage);
        Ok(Self {
            runtime_ns: job.runtime_ns,
            time_based: job.time_based && job.runtime_ns.is_some(),
            ends_others: job.ends_others,
            ramp_ns: job.ramp_ns,
            is_ramping: job.ramp_ns > 0,
            log: job.log.map(|plan| Box::new(JobLog::new(plan))),
            rounds: job.steady_state.map(|rule| Box::new(JobRounds::new(rule))),
            limits: job.limits.clone().map(|limits| Box::new(LimitedJob::new(limits))),
            search: job.latency_target.map(|target| Box::new(DepthSearch::new(target, job.iodepth.max(1)))),
            ..Self::plain(source, job.stage, plan_of(job, specification), outcome)
        })
    }

    pub fn given(name: &str, stage: u32, source: Box<dyn RequestSource>, arrival: Arrival) -> Self {
        let plan = Plan { depth: arrival.depth, has_arrivals: arrival.has_times, ..Plan::default() };
        Self { through: Some(Box::default()), ..Self::plain(source, stage, plan, JobOutcome::new(name, 0, stage)) }
    }

    fn plain(source: Box<dyn RequestSource>, stage: u32, plan: Plan, outcome: JobOutcome) -> Self {
        Self {
            source,
            stage,
            drawn: 0,
            left: u64::MAX,
            restarts: 0,
            plan,
            runtime_ns: None,
            time_based: false,
            ends_others: EndsOthers::None,
            ramp_ns: 0,
            is_ramping: false,
            is_done: false,
            start_ns: None,
            over_ns: u64::MAX,
            end_ns: None,
            latencies: Default::default(),
            through: None,
            breakdowns: Default::default(),
            log: None,
            rounds: None,
            limits: None,
            search: None,
            too_late: None,
            before: None,
            outcome,
        }
    }

    #[inline]
    pub fn add_latency(&mut self, operation: Operation, latency_ns: u64, parts: &Parts) {
        self.latencies[operation as usize].add(latency_ns);
        if let Some(breakdown) = self.breakdowns.get_mut(operation as usize) {
            breakdown.add(latency_ns, parts);
        }
    }

    /// Whether its ramp time has ended by now, and only now.
    #[inline]
    pub fn ramp_ends(&self, now_ns: u64) -> bool {
        self.is_ramping && self.start_ns.is_some_and(|start_ns| now_ns >= start_ns)
    }

    pub fn is_over(&self, now_ns: u64) -> bool {
        self.is_done || now_ns >= self.over_ns
    }

    /// The job begins.
    pub fn start(&mut self, now_ns: u64) {
        let start_ns = now_ns + self.ramp_ns;
        self.start_ns = Some(start_ns);
        self.over_ns = self.runtime_ns.map_or(u64::MAX, |runtime_ns| start_ns + runtime_ns);
        if let Some(search) = &mut self.search {
            search.start(start_ns);
        }
    }

    /// Resets the counts, which begin now; the runtime continues.
    pub fn count_anew(&mut self, now_ns: u64) {
        self.start_ns = Some(now_ns);
        let outcome = JobOutcome::new(&self.outcome.name, self.outcome.clone, self.outcome.stage);
        let JobOutcome { read, write, trim, .. } = std::mem::replace(&mut self.outcome, outcome);
        let latencies = std::mem::take(&mut self.latencies);
        self.through = self.through.take().map(|_| Box::default());
        self.before = Some(Box::new(Counted { latencies, ios: [read.ios, write.ios, trim.ios] }));
        self.breakdowns = Default::default();
        self.log = self.log.take().map(|log| Box::new(log.restarted()));
        self.rounds = self.rounds.take().map(|rounds| Box::new(rounds.restarted()));
        self.limits = self.limits.take().map(|limits| Box::new(limits.restarted()));
    }

    pub fn failure(&self) -> Option<JobFailure> {
        self.too_late.or(self.limits.as_ref().and_then(|limits| limits.failure()))
    }

    /// Which other jobs end with it, now that it ends.
    pub fn ends_others(&self) -> EndsOthers {
        let failed = self.limits.as_ref().filter(|_| self.failure().is_some());
        failed.map_or(self.ends_others, |limits| self.ends_others.max(limits.ends_others()))
    }

    pub fn progress(&self, now_ns: u64) -> f64 {
        let of_time = self.runtime_ns.map(|runtime_ns| match self.start_ns {
            Some(_) => (now_ns + runtime_ns).saturating_sub(self.over_ns) as f64 / runtime_ns.max(1) as f64,
            None => 0.0,
        });
        match of_time {
            Some(of_time) if self.time_based => of_time.min(1.0),
            Some(of_time) => of_time.max(self.source.progress()).min(1.0),
            None => self.source.progress(),
        }
    }

    /// A job cut short by the end of the run lasts until then; one that never began takes no time.
    pub fn into_outcome(mut self, end_of_run_ns: u64) -> JobOutcome {
        let (log, rounds) = (self.log.take(), self.rounds.take());
        let timing = Some(self.timing(end_of_run_ns, log, rounds));
        JobOutcome { timing, store: self.source.store_counts(), ..self.outcome }
    }

    /// The same for a job that continues.
    pub fn outcome_at(&self, now_ns: u64) -> JobOutcome {
        let timing = Some(self.timing(now_ns, self.log.clone(), self.rounds.clone()));
        JobOutcome { timing, store: self.source.store_counts(), ..self.outcome.clone() }
    }

    fn timing(&self, end_of_run_ns: u64, log: Option<Box<JobLog>>, rounds: Option<Box<JobRounds>>) -> JobTiming {
        let latency = |operation: Operation| self.latencies[operation as usize].latency();
        let breakdown = |operation: Operation| {
            let latencies = &self.latencies[operation as usize];
            self.breakdowns[operation as usize].columns(|bin| latencies.holds(bin))
        };
        let start_ns = self.start_ns.unwrap_or(end_of_run_ns);
        let end_ns = self.end_ns.unwrap_or(end_of_run_ns).max(start_ns);
        JobTiming {
            start_ns,
            end_ns,
            read: latency(Operation::Read),
            write: latency(Operation::Write),
            trim: latency(Operation::Trim),
            flush: latency(Operation::Flush),
            through: self.through.as_ref().map(|through| through.latency()).filter(|latency| latency.count > 0),
            breakdown: Some(JobBreakdown {
                read: breakdown(Operation::Read),
                write: breakdown(Operation::Write),
                trim: breakdown(Operation::Trim),
            }),
            log: log.map(|log| log.into_columns(end_ns - start_ns)),
            steady_state: rounds.map(|rounds| rounds.into_outcome()),
            failure: self.failure(),
            depth: self.search.as_ref().map(|search| search.found()),
        }
    }
}

/// How the host executes the job. Jobs of earlier stages must be done first.
fn plan_of(job: &Job, specification: &Specification) -> Plan {
    let jobs = &specification.jobs;
    let is_waited_for = |other: &Job| other.stage == job.stage && Some(&other.name) == job.wait_for.as_ref();
    let waits_for = jobs.iter().enumerate().filter(|(_, other)| is_waited_for(other)).map(|(index, _)| index as u32);
    Plan {
        depth: job.iodepth.max(1),
        start_delay_ns: job.start_delay_ns,
        waits_for: waits_for.collect(),
        has_sync_writes: job.sync_writes,
        flushes_at_end: job.flush_at_end,
        host_ns: job.host_ns,
        has_arrivals: false,
        seeks_depth: job.latency_target.is_some(),
        has_trims_alone: job.zoned.is_some(),
        shares_zones: shares_zones(job, specification),
        pacing: Pacing::of(job),
    }
}
