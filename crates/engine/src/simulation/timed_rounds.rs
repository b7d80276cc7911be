//! The rounds of the steady state with a clock: requests a second, and the latencies of the rounds that count.

use super::requests::Requests;
use crate::request::Operation;
use crate::steady_state::{SteadyState, Verdict};
use crate::timing::front::Completion;
use crate::timing::histogram::{Histogram, Latency};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::VecDeque;

/// Completions in the current round, except flushes.
#[derive(Clone, Debug, Default)]
pub struct RoundTimes {
    length_ns: u64,
    requests: [Requests; 3],
    latencies: [Histogram; 3],
}

impl RoundTimes {
    #[inline]
    pub fn add(&mut self, completion: &Completion) {
        if completion.operation == Operation::Flush {
            return;
        }
        let operation = completion.operation as usize;
        self.requests[operation].ios += 1;
        self.requests[operation].bytes += u64::from(completion.length_bytes);
        self.latencies[operation].add(completion.completed_ns - completion.issued_ns);
    }

    fn merge(&mut self, other: &Self) {
        self.length_ns += other.length_ns;
        for operation in 0..3 {
            self.requests[operation].ios += other.requests[operation].ios;
            self.requests[operation].bytes += other.requests[operation].bytes;
            self.latencies[operation].merge(&other.latencies[operation]);
        }
    }
}

/// SNIA's rule applied to requests a second; used together with the one on write amplification, which real drives do
/// not report.
#[derive(Clone, Default)]
pub struct TimedRounds {
    rule: SteadyState,
    verdict: Option<Verdict>,
    start_ns: u64,
    window: VecDeque<RoundTimes>,
    round_iops: Vec<f64>,
}

/// Requests a second in each round, and the requests of the rounds that are reported.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SteadyTiming {
    pub round_iops: Vec<f64>,
    pub range_share: Option<f64>,
    pub slope_share: Option<f64>,
    pub window_ns: u64,
    pub read: Requests,
    pub write: Requests,
    pub trim: Requests,
    pub read_latency: Latency,
    pub write_latency: Latency,
    pub trim_latency: Latency,
}

impl TimedRounds {
    /// Starts the round now, without any counts.
    pub fn begin_round(&mut self, now_ns: u64, current: &mut RoundTimes) {
        self.start_ns = now_ns;
        if current.requests.iter().any(|requests| requests.ios > 0) {
            *current = RoundTimes::default();
        }
    }

    /// Ends the round and starts another; `kept` rounds are kept. Returns whether the requests a second are steady.
    pub fn end_round(&mut self, now_ns: u64, current: &mut RoundTimes, kept: usize) -> bool {
        let mut ended = std::mem::take(current);
        ended.length_ns = now_ns - self.start_ns;
        self.start_ns = now_ns;
        let ios: u64 = ended.requests.iter().map(|requests| requests.ios).sum();
        let iops = ios as f64 * 1e9 / ended.length_ns.max(1) as f64;
        self.round_iops.push(iops);
        if self.window.len() == kept {
            self.window.pop_front();
        }
        self.window.push_back(ended);
        let verdict = self.rule.push(iops);
        self.verdict = Some(verdict);
        verdict.reached
    }

    /// Requests a second in each round.
    pub fn round_iops(&self) -> &[f64] {
        &self.round_iops
    }

    /// The last `rounds` are reported together.
    pub fn into_outcome(self, rounds: usize) -> SteadyTiming {
        let mut window = RoundTimes::default();
        self.window.iter().rev().take(rounds).for_each(|round| window.merge(round));
        let [read, write, trim] = window.requests;
        let [read_latency, write_latency, trim_latency] = window.latencies.map(|latency| latency.latency());
        SteadyTiming {
            round_iops: self.round_iops,
            range_share: self.verdict.and_then(|verdict| verdict.range_share),
            slope_share: self.verdict.and_then(|verdict| verdict.slope_share),
            window_ns: window.length_ns,
            read,
            write,
            trim,
            read_latency,
            write_latency,
            trim_latency,
        }
    }
}
