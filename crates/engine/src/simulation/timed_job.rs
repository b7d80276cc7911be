//! One job of a run with a clock: its source of requests, its times, its counts.

use super::depth_search::{DepthSearch, Verdict};
use super::job_limits::{JobFailure, Limit, LimitedJob};
use super::job_log::JobLog;
use super::job_steady_state::JobRounds;
use super::outcome::{JobBreakdown, JobTiming};
use super::source::{Arrival, RequestSource, SourceError, Supply};
use super::zoned_jobs::shares_zones;
use super::{JobOutcome, source_of};
use crate::error::SpecificationError;
use crate::request::Operation;
use crate::specification::job::EndsOthers;
use crate::specification::{Job, Specification};
use crate::timing::breakdown::{Breakdown, Parts};
use crate::timing::front::Completion;
use crate::timing::histogram::{Histogram, Latency};
use crate::timing::host::{Pacing, Plan};
use crate::workload::host_zones::SharedZones;

pub struct RunningJob {
    pub supply: Supply,
    pub stage: u32,
    pub plan: Plan,
    time: JobTime,
    ends_others: EndsOthers,
    /// Whether it issues nothing more: its rate is steady, or it has failed.
    is_done: bool,
    latencies: Latencies,
    /// Boxed, because few jobs have one.
    log: Option<Box<JobLog>>,
    rounds: Option<Box<JobRounds>>,
    limits: Option<Box<LimitedJob>>,
    search: Option<Box<DepthSearch>>,
    /// A request that was too late although it was the only one outstanding.
    too_late: Option<JobFailure>,
    /// For observers: its latencies and its reads, writes and trims before they were reset.
    before: Option<Box<([Histogram; Operation::COUNT], [u64; 3])>>,
    pub outcome: JobOutcome,
}

/// When a job begins, counts and ends.
struct JobTime {
    runtime_ns: Option<u64>,
    /// Whether it repeats its requests until its runtime ends.
    is_time_based: bool,
    ramp_ns: u64,
    /// Whether completions are not yet counted.
    is_ramping: bool,
    /// When counting began. None before.
    start_ns: Option<u64>,
    /// When its runtime ends.
    over_ns: u64,
    end_ns: Option<u64>,
}

impl JobTime {
    fn new(runtime_ns: Option<u64>, is_time_based: bool, ramp_ns: u64) -> Self {
        let is_ramping = ramp_ns > 0;
        Self { runtime_ns, is_time_based, ramp_ns, is_ramping, start_ns: None, over_ns: u64::MAX, end_ns: None }
    }

    /// The job begins. Returns when counting begins.
    fn start(&mut self, now_ns: u64) -> u64 {
        let start_ns = now_ns + self.ramp_ns;
        self.start_ns = Some(start_ns);
        self.over_ns = self.runtime_ns.map_or(u64::MAX, |runtime_ns| start_ns + runtime_ns);
        start_ns
    }

    /// The completed share of a job whose source has this progress.
    fn progress(&self, now_ns: u64, of_source: f64) -> f64 {
        let of_time = self.runtime_ns.map(|runtime_ns| match self.start_ns {
            Some(_) => (now_ns + runtime_ns).saturating_sub(self.over_ns) as f64 / runtime_ns.max(1) as f64,
            None => 0.0,
        });
        match of_time {
            Some(of_time) if self.is_time_based => of_time.min(1.0),
            Some(of_time) => of_time.max(of_source).min(1.0),
            None => of_source,
        }
    }

    /// When counting began and when it ended. A job cut short by the end of the run lasts until then; one that never
    /// began takes no time.
    fn counted_ns(&self, end_of_run_ns: u64) -> (u64, u64) {
        let start_ns = self.start_ns.unwrap_or(end_of_run_ns);
        (start_ns, self.end_ns.unwrap_or(end_of_run_ns).max(start_ns))
    }
}

/// The latencies of a job's requests, and what they consist of.
#[derive(Default)]
struct Latencies {
    by_operation: [Histogram; Operation::COUNT],
    /// Of the writes among given requests that are through; None for a job of a specification.
    through: Option<Box<Histogram>>,
    /// By operation, except flushes.
    breakdowns: [Breakdown; 3],
}

impl Latencies {
    #[inline]
    fn add(&mut self, completion: &Completion, parts: &Parts) {
        let (operation, latency_ns) = (completion.operation as usize, completion.latency_ns());
        self.by_operation[operation].add(latency_ns);
        if let Some(breakdown) = self.breakdowns.get_mut(operation) {
            breakdown.add(latency_ns, parts);
        }
        if completion.is_through
            && let Some(through) = &mut self.through
        {
            through.add(latency_ns);
        }
    }

    /// Begins anew. Returns the latencies by operation so far.
    fn restart(&mut self) -> [Histogram; Operation::COUNT] {
        let anew = Self { through: self.through.as_ref().map(|_| Box::default()), ..Self::default() };
        std::mem::replace(self, anew).by_operation
    }

    fn latency(&self, operation: Operation) -> Latency {
        self.by_operation[operation as usize].latency()
    }

    fn through(&self) -> Option<Latency> {
        self.through.as_ref().map(|through| through.latency()).filter(|latency| latency.count > 0)
    }

    fn breakdown(&self) -> JobBreakdown {
        let columns = |operation: Operation| {
            let latencies = &self.by_operation[operation as usize];
            self.breakdowns[operation as usize].columns(|bin| latencies.holds(bin))
        };
        JobBreakdown {
            read: columns(Operation::Read),
            write: columns(Operation::Write),
            trim: columns(Operation::Trim),
        }
    }
}

impl RunningJob {
    pub fn new(job: &Job, specification: &Specification, zones: &SharedZones) -> Result<Self, SpecificationError> {
        let source = source_of(job, specification, zones)?;
        let outcome = JobOutcome::new(&job.name, job.clone, job.stage);
        Ok(Self {
            time: JobTime::new(job.runtime_ns, job.time_based && job.runtime_ns.is_some(), job.ramp_ns),
            ends_others: job.ends_others,
            log: job.log.map(|plan| Box::new(JobLog::new(plan))),
            rounds: job.steady_state.map(|rule| Box::new(JobRounds::new(rule))),
            limits: job.limits.clone().map(|limits| Box::new(LimitedJob::new(limits))),
            search: job.latency_target.map(|target| Box::new(DepthSearch::new(target, job.iodepth.max(1)))),
            ..Self::plain(source, job.stage, plan_of(job, specification), outcome)
        })
    }

    pub fn given(name: &str, stage: u32, source: Box<dyn RequestSource>, arrival: Arrival) -> Self {
        let plan = Plan { depth: arrival.depth, has_arrivals: arrival.has_times, ..Plan::default() };
        let latencies = Latencies { through: Some(Box::default()), ..Latencies::default() };
        Self { latencies, ..Self::plain(source, stage, plan, JobOutcome::new(name, 0, stage)) }
    }

    fn plain(source: Box<dyn RequestSource>, stage: u32, plan: Plan, outcome: JobOutcome) -> Self {
        Self {
            supply: Supply::new(source),
            stage,
            plan,
            time: JobTime::new(None, false, 0),
            ends_others: EndsOthers::None,
            is_done: false,
            latencies: Latencies::default(),
            log: None,
            rounds: None,
            limits: None,
            search: None,
            too_late: None,
            before: None,
            outcome,
        }
    }

    /// Draws requests; the source also restarts if the job is limited by time.
    pub fn draw(
        &mut self,
        count_max: usize,
        repeats: bool,
        draw: impl FnMut(&mut dyn RequestSource, usize) -> Result<usize, SourceError>,
    ) -> Result<usize, SourceError> {
        self.supply.draw(count_max, repeats || self.time.is_time_based, draw)
    }

    /// Whether it may issue another request, and whether its counts are to be reset now: the search for its depth goes
    /// on with another depth.
    pub fn may_issue(&mut self, outstanding: u32, now_ns: u64) -> (bool, bool) {
        let Some(search) = &mut self.search else { return (true, false) };
        let counts_anew = outstanding == 0 && search.rest(now_ns);
        (search.may_issue(outstanding), counts_anew)
    }

    /// A request has completed; it counts, unless the job is in its ramp time.
    #[inline]
    pub fn completed(&mut self, completion: &Completion, parts: &Parts) {
        let &Completion { operation, length_bytes, completed_ns, .. } = completion;
        if let Some(limits) = &mut self.limits {
            let time_ns = self.time.start_ns.and_then(|start_ns| completed_ns.checked_sub(start_ns));
            self.is_done |= limits.add(completion, time_ns);
        }
        if self.time.is_ramping {
            return;
        }
        let requests = self.outcome.requests_mut(operation);
        requests.ios += 1;
        requests.bytes += u64::from(length_bytes);
        self.latencies.add(completion, parts);
        if let Some(search) = self.search.as_mut().filter(|_| operation != Operation::Flush) {
            match search.add(completion.latency_ns(), completed_ns) {
                Verdict::GoesOn => {}
                Verdict::Done => self.is_done = true,
                Verdict::TooLate { allowed_ns, found_ns } => {
                    let failure = JobFailure::at(Limit::LatencyNsMax, operation, allowed_ns, found_ns, completion);
                    self.too_late.get_or_insert(failure);
                    self.is_done = true;
                }
            }
        }
        let start_ns = self.time.start_ns.unwrap_or(0);
        if let Some(log) = &mut self.log {
            log.add(completion, start_ns);
        }
        if let Some(rounds) = self.rounds.as_mut().filter(|_| operation != Operation::Flush) {
            rounds.add(completed_ns - start_ns, length_bytes);
            self.is_done |= rounds.attained();
        }
    }

    pub fn is_ramping(&self) -> bool {
        self.time.is_ramping
    }

    /// Whether its ramp time has ended by now, and only now.
    #[inline]
    pub fn ramp_ends(&self, now_ns: u64) -> bool {
        self.time.is_ramping && self.time.start_ns.is_some_and(|start_ns| now_ns >= start_ns)
    }

    pub fn end_ramp(&mut self) {
        self.time.is_ramping = false;
    }

    pub fn is_over(&self, now_ns: u64) -> bool {
        self.is_done || now_ns >= self.time.over_ns
    }

    /// The job begins.
    pub fn start(&mut self, now_ns: u64) {
        let start_ns = self.time.start(now_ns);
        if let Some(search) = &mut self.search {
            search.start(start_ns);
        }
    }

    /// The job ends.
    pub fn end(&mut self, now_ns: u64) {
        self.time.end_ns = Some(now_ns);
    }

    pub fn has_ended(&self) -> bool {
        self.time.end_ns.is_some()
    }

    /// Resets the counts, which begin now; the runtime continues.
    pub fn count_anew(&mut self, now_ns: u64) {
        self.time.start_ns = Some(now_ns);
        let ios = self.ios();
        self.outcome = JobOutcome::new(&self.outcome.name, self.outcome.clone, self.outcome.stage);
        self.before = Some(Box::new((self.latencies.restart(), ios)));
        self.log = self.log.take().map(|log| Box::new(log.restarted()));
        self.rounds = self.rounds.take().map(|rounds| Box::new(rounds.restarted()));
        self.limits = self.limits.take().map(|limits| Box::new(limits.restarted()));
    }

    fn ios(&self) -> [u64; 3] {
        let JobOutcome { read, write, trim, .. } = &self.outcome;
        [read.ios, write.ios, trim.ios]
    }

    /// For observers: what it has counted, and what it had counted before its counts were reset, if they were.
    pub fn counted(&self) -> impl Iterator<Item = (&[Histogram; Operation::COUNT], [u64; 3])> {
        let before = self.before.as_ref().map(|before| (&before.0, before.1));
        std::iter::once((&self.latencies.by_operation, self.ios())).chain(before)
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
        self.time.progress(now_ns, self.supply.progress())
    }

    pub fn into_outcome(mut self, end_of_run_ns: u64) -> JobOutcome {
        let (log, rounds) = (self.log.take(), self.rounds.take());
        let timing = Some(self.timing(end_of_run_ns, log, rounds));
        JobOutcome { timing, store: self.supply.store_counts(), ..self.outcome }
    }

    /// The same for a job that continues.
    pub fn outcome_at(&self, now_ns: u64) -> JobOutcome {
        let timing = Some(self.timing(now_ns, self.log.clone(), self.rounds.clone()));
        JobOutcome { timing, store: self.supply.store_counts(), ..self.outcome.clone() }
    }

    fn timing(&self, end_of_run_ns: u64, log: Option<Box<JobLog>>, rounds: Option<Box<JobRounds>>) -> JobTiming {
        let (start_ns, end_ns) = self.time.counted_ns(end_of_run_ns);
        JobTiming {
            start_ns,
            end_ns,
            read: self.latencies.latency(Operation::Read),
            write: self.latencies.latency(Operation::Write),
            trim: self.latencies.latency(Operation::Trim),
            flush: self.latencies.latency(Operation::Flush),
            through: self.latencies.through(),
            breakdown: Some(self.latencies.breakdown()),
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
