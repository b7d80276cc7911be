//! The drive's statistics by phase, in the form of the outcome of a simulated run.
//!
//! A phase corresponds to a job of a run: it has its own counters, and begins with a mark.

use super::core::Core;
use super::served::Latencies;
use ssdlab_engine::ftl::NamespaceCounts;
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::request::Operation;
use ssdlab_engine::simulation::{JobOutcome, JobTiming, NamespaceOutcome, Outcome, Requests, StageOutcome, Timing};
use ssdlab_engine::timing::front::read_counts::ReadCounts;

struct Phase {
    name: String,
    start_ns: u64,
    ledger: Ledger,
    requests: [Requests; Operation::COUNT],
}

pub struct Phases {
    ended: Vec<(JobOutcome, StageOutcome)>,
    current: Phase,
    /// The counters at the last reset, and its time.
    reset_ledger: Ledger,
    reset_ns: u64,
    /// The counters by namespace at the last reset, and at the beginning of the phase; empty for a new drive.
    reset_namespaces: Vec<NamespaceCounts>,
    namespaces_before: Vec<NamespaceCounts>,
}

impl Phases {
    pub fn new(name: &str) -> Self {
        Self {
            ended: Vec::new(),
            current: Phase::new(name, 0, Ledger::default()),
            reset_ledger: Ledger::default(),
            reset_ns: 0,
            reset_namespaces: Vec::new(),
            namespaces_before: Vec::new(),
        }
    }

    #[inline]
    pub fn count(&mut self, operation: Operation, bytes: u64) {
        let requests = &mut self.current.requests[operation as usize];
        requests.ios += 1;
        requests.bytes += bytes;
    }

    /// Ends the phase and starts another.
    pub fn mark(
        &mut self,
        name: &str,
        ledger: &Ledger,
        now_ns: u64,
        latencies: &Latencies,
        read_ahead: Option<ReadCounts>,
    ) {
        let ended = self.outcome_of_current(ledger, now_ns, latencies, read_ahead);
        self.ended.push(ended);
        self.current = Phase::new(name, now_ns, *ledger);
    }

    /// Removes all phases; counters restart.
    pub fn reset(&mut self, name: &str, ledger: &Ledger, now_ns: u64) {
        self.ended.clear();
        self.current = Phase::new(name, now_ns, *ledger);
        self.reset_ledger = *ledger;
        self.reset_ns = now_ns;
    }

    /// Must be called with the counters by namespace at each mark, and at each reset.
    pub fn note_namespaces(&mut self, now: &[NamespaceCounts], is_reset: bool) {
        self.namespaces_before = now.to_vec();
        if is_reset {
            self.reset_namespaces = now.to_vec();
        }
    }

    /// Since the last reset, and in the current phase.
    fn namespaces(&self, now: &[NamespaceCounts]) -> Option<Vec<NamespaceOutcome>> {
        let at = |then: &[NamespaceCounts], index: usize| then.get(index).copied().unwrap_or_default().ledger;
        let outcome = |(index, now): (usize, &NamespaceCounts)| NamespaceOutcome {
            live_units: now.live_units,
            ledger: now.ledger - at(&self.reset_namespaces, index),
            last_stage: now.ledger - at(&self.namespaces_before, index),
        };
        (!now.is_empty()).then(|| now.iter().enumerate().map(outcome).collect())
    }

    fn outcome_of_current(
        &self,
        ledger: &Ledger,
        now_ns: u64,
        latencies: &Latencies,
        read_ahead: Option<ReadCounts>,
    ) -> (JobOutcome, StageOutcome) {
        let stage = self.ended.len() as u32;
        let mut job = JobOutcome::new(&self.current.name, 0, stage);
        job.ledger = *ledger - self.current.ledger;
        [job.read, job.write, job.trim] =
            [Operation::Read, Operation::Write, Operation::Trim].map(|one| self.current.requests[one as usize]);
        job.flush.ios = latencies.of(Operation::Flush).count();
        job.timing = Some(JobTiming {
            start_ns: self.current.start_ns - self.reset_ns,
            end_ns: now_ns - self.reset_ns,
            read: latencies.of(Operation::Read).latency(),
            write: latencies.of(Operation::Write).latency(),
            trim: latencies.of(Operation::Trim).latency(),
            flush: latencies.of(Operation::Flush).latency(),
            through: None,
            breakdown: Some(latencies.breakdown()),
            log: None,
            steady_state: None,
            failure: None,
            depth: None,
        });
        let stage = StageOutcome {
            stage,
            host_written_bytes_start: self.current.ledger.host_written_bytes - self.reset_ledger.host_written_bytes,
            host_written_bytes_end: ledger.host_written_bytes - self.reset_ledger.host_written_bytes,
            read_ahead,
        };
        (job, stage)
    }

    /// The outcome of a run that ended now.
    pub fn outcome(&self, core: &Core) -> Outcome {
        let (whole, now_ns) = (core.whole(), core.now_ns());
        let ledger = whole.ledger();
        let simulated_ns = now_ns - self.reset_ns;
        let read_ahead = core.front.read_counts();
        let current = self.outcome_of_current(ledger, now_ns, &core.served.latencies, read_ahead);
        let (jobs, stages) = self.ended.iter().cloned().chain([current]).unzip();
        Outcome {
            jobs,
            stages,
            ledger: *ledger - self.reset_ledger,
            capacity: whole.capacity(),
            wear: whole.wear(),
            zones: core.zone_counts(),
            reclaim_groups: None,
            placement: whole.placement_report(),
            namespaces: self.namespaces(whole.namespaces()),
            steady_state: None,
            series: Default::default(),
            timing: Some(Timing {
                simulated_ns,
                die_utilization: core.die_utilization(),
                series: Default::default(),
                intervals: None,
            }),
            failure: core.read_only_reason(),
        }
    }
}

impl Phase {
    fn new(name: &str, start_ns: u64, ledger: Ledger) -> Self {
        Self { name: name.to_owned(), start_ns, ledger, requests: Default::default() }
    }
}
