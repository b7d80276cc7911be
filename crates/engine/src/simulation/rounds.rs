//! The last stage, divided into rounds of host bytes, until write amplification is steady, and with a clock the
//! requests a second as well.

use super::outcome::{SettledOutcome, SteadyStateOutcome};
use super::timed_rounds::{RoundTimes, TimedRounds};
use crate::ledger::Ledger;
use crate::settled::{Mean, ROUNDS_MAX, ROUNDS_MIN, settled_rounds};
use crate::steady_state::{SteadyState, Verdict};
use std::collections::VecDeque;

#[derive(Clone)]
pub struct Rounds {
    rule: SteadyState,
    verdict: Option<Verdict>,
    round_bytes: u64,
    host_bytes_max: u64,
    precision: Option<f64>,
    stage_start_bytes: u64,
    /// Rounds count once the host's data has used this much flash: a drive that still has erased space is not in its
    /// steady state.
    first_round_at_units: u64,
    /// The ledger at the start of the round.
    start: Ledger,
    /// The counters of the last rounds, as many as can be reported.
    window: VecDeque<Ledger>,
    round_waf: Vec<f64>,
    at_host_bytes: Option<u64>,
    /// Only with a clock.
    timed: Option<TimedRounds>,
}

impl Rounds {
    /// The share of the progress for the stages before; the way to the steady state is longer.
    pub const SHARE_BEFORE: f64 = 0.05;

    pub fn new(round_bytes: u64, host_bytes_max: u64, precision: Option<f64>) -> Self {
        Self {
            rule: SteadyState::default(),
            verdict: None,
            round_bytes,
            host_bytes_max,
            precision,
            stage_start_bytes: 0,
            first_round_at_units: 0,
            start: Ledger::default(),
            window: VecDeque::new(),
            round_waf: Vec::new(),
            at_host_bytes: None,
            timed: None,
        }
    }

    pub fn with_clock(mut self) -> Self {
        self.timed = Some(TimedRounds::default());
        self
    }

    /// `erased_units`, as the ledger counts them, can be written before garbage collection must begin.
    pub fn start(&mut self, ledger: &Ledger, erased_units: u64) {
        self.start = *ledger;
        self.stage_start_bytes = ledger.host_written_bytes;
        self.first_round_at_units = ledger.programmed_units.host + erased_units;
    }

    /// Returns whether the stage is over: steady, or at the limit of what it may write. `clock` has the time and the
    /// completions of the round.
    pub fn note(
        &mut self,
        ledger: &Ledger,
        counted_unit_bytes: u32,
        mut clock: Option<(u64, &mut RoundTimes)>,
    ) -> bool {
        if ledger.programmed_units.host < self.first_round_at_units {
            self.start = *ledger;
            if let (Some(timed), Some((now_ns, current))) = (&mut self.timed, &mut clock) {
                timed.begin_round(*now_ns, current);
            }
            return false;
        }
        let written_bytes = ledger.host_written_bytes - self.start.host_written_bytes;
        if written_bytes < self.round_bytes {
            return false;
        }
        let round = *ledger - self.start;
        let waf = round.programmed_units.total() as f64 * f64::from(counted_unit_bytes) / written_bytes as f64;
        self.round_waf.push(waf);
        if self.window.len() == self.reported_max() {
            self.window.pop_front();
        }
        self.window.push_back(round);
        self.start = *ledger;
        let verdict = self.rule.push(waf);
        self.verdict = Some(verdict);
        let reported_max = self.reported_max();
        let is_fast_steadily = match (&mut self.timed, clock) {
            (Some(timed), Some((now_ns, current))) => timed.end_round(now_ns, current, reported_max),
            _ => true,
        };
        let is_steady = verdict.reached && is_fast_steadily;
        if is_steady {
            self.at_host_bytes.get_or_insert(ledger.host_written_bytes);
        }
        let is_settled = is_steady && self.settled().is_none_or(|settled| settled.is_precise);
        is_settled || ledger.host_written_bytes - self.stage_start_bytes >= self.host_bytes_max
    }

    pub fn progress(&self, host_written_bytes: u64) -> f64 {
        let written_bytes = host_written_bytes.saturating_sub(self.stage_start_bytes);
        let share = written_bytes as f64 / self.host_bytes_max.max(1) as f64;
        (Self::SHARE_BEFORE + (1.0 - Self::SHARE_BEFORE) * share).min(1.0)
    }

    fn reported_max(&self) -> usize {
        if self.precision.is_some() { ROUNDS_MAX } else { ROUNDS_MIN }
    }

    /// How many of the last rounds are reported.
    fn reported(&self) -> usize {
        let last_five = self.round_waf.len().min(ROUNDS_MIN);
        if self.precision.is_none() {
            return last_five;
        }
        let of_iops = self.timed.as_ref().and_then(|timed| settled_rounds(timed.round_iops()));
        settled_rounds(&self.round_waf).map_or(last_five, |rounds| rounds.min(of_iops.unwrap_or(rounds)))
    }

    fn settled(&self) -> Option<SettledOutcome> {
        let precision = self.precision?;
        let rounds = self.reported();
        let mean = |values: &[f64]| (rounds >= ROUNDS_MIN).then(|| Mean::of(&values[values.len() - rounds..]));
        let waf = mean(&self.round_waf);
        let iops = self.timed.as_ref().map(|timed| mean(timed.round_iops()));
        let is_precise = |mean: Option<Mean>| mean.is_some_and(|mean| mean.is_within(precision));
        Some(SettledOutcome {
            rounds,
            is_precise: is_precise(waf) && iops.is_none_or(is_precise),
            waf_half_width: waf.map(|mean| mean.half_width),
            iops_half_width: iops.flatten().map(|mean| mean.half_width),
        })
    }

    pub fn into_outcome(self) -> SteadyStateOutcome {
        let rounds = self.reported();
        SteadyStateOutcome {
            settled: self.settled(),
            reached: self.at_host_bytes.is_some(),
            at_host_bytes: self.at_host_bytes,
            round_bytes: self.round_bytes,
            range_share: self.verdict.and_then(|verdict| verdict.range_share),
            slope_share: self.verdict.and_then(|verdict| verdict.slope_share),
            round_waf: self.round_waf,
            timing: self.timed.map(|timed| timed.into_outcome(rounds)),
            window: self.window.iter().rev().take(rounds).fold(Ledger::default(), |mut sum, round| {
                sum += *round;
                sum
            }),
        }
    }
}
