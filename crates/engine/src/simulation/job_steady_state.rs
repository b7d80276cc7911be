//! The steady state of one job (`steadystate=`), on the drive's clock: by fio's own rule, or by SNIA's.
//!
//! Once a second, after the ramp time, the rate of that second is added to a window of as many seconds as the duration.
//! When the window is full and the rule holds, the job ends: either no rate differs from the mean by more than the
//! limit, or the slope of the least-squares line is below the limit a second. Limits may be percentages of the mean.
//! Source: fio 3.33, steadystate.c.
//!
//! By SNIA's rule the window is five rounds, and the job may end after any of them: when the rates of the rounds are
//! within 20 % of their mean, and their line rises or falls by at most 10 % of it (`steady_state.rs`). The same rule
//! over rounds of host writes is in `rounds.rs`.

use crate::specification::job::{JobSteadyState, SteadyCriterion};
use crate::steady_state::SteadyState;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::VecDeque;

const INTERVAL_NS: u64 = 1_000_000_000;
/// Rounds in a window of SNIA's rule; its duration is a whole number of seconds for each.
pub const SNIA_ROUNDS: usize = 5;

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobSteadyStateOutcome {
    pub attained: bool,
    /// Since the start of the job; null if it was not attained.
    pub at_ns: Option<u64>,
    /// The last value compared with the limit: a deviation or a slope. Null if the window was never full.
    pub criterion: Option<f64>,
    pub slope: Option<f64>,
    pub max_deviation: Option<f64>,
    /// The rates of the window, one a second, oldest first.
    pub iops: Vec<f64>,
    pub bytes_per_second: Vec<f64>,
}

#[derive(Clone, Debug)]
pub struct JobRounds {
    rule: JobSteadyState,
    next_ns: u64,
    ios: u64,
    bytes: u64,
    rates: VecDeque<(f64, f64)>,
    outcome: JobSteadyStateOutcome,
}

impl JobRounds {
    pub fn new(rule: JobSteadyState) -> Self {
        Self {
            rule,
            next_ns: INTERVAL_NS,
            ios: 0,
            bytes: 0,
            rates: VecDeque::new(),
            outcome: JobSteadyStateOutcome {
                attained: false,
                at_ns: None,
                criterion: None,
                slope: None,
                max_deviation: None,
                iops: Vec::new(),
                bytes_per_second: Vec::new(),
            },
        }
    }

    /// The same rule, for a job that begins now.
    pub fn restarted(self) -> Self {
        Self::new(self.rule)
    }

    pub fn attained(&self) -> bool {
        self.outcome.attained
    }

    /// A request of the job has completed, `time_ns` after its start.
    pub fn add(&mut self, time_ns: u64, length_bytes: u32) {
        while time_ns >= self.next_ns && !self.outcome.attained {
            self.end_interval();
        }
        self.ios += 1;
        self.bytes += u64::from(length_bytes);
    }

    pub fn into_outcome(mut self) -> JobSteadyStateOutcome {
        (self.outcome.iops, self.outcome.bytes_per_second) = self.rates.into_iter().unzip();
        self.outcome
    }

    /// Applies SNIA's rule at the end of a round; the criterion is the range of the rounds in percent of their mean.
    fn judge_rounds(&mut self, values: &[f64], slope: f64, deviation: f64, at_ns: u64) {
        let round = values.len() / SNIA_ROUNDS;
        if !((at_ns - self.rule.ramp_ns) / INTERVAL_NS).is_multiple_of(round as u64) {
            return;
        }
        let mut rule = SteadyState::default();
        let verdicts = values.chunks_exact(round).map(|seconds| rule.push(seconds.iter().sum::<f64>() / round as f64));
        let verdict = verdicts.last().expect("a window has rounds");
        self.outcome.slope = Some(slope);
        self.outcome.max_deviation = Some(deviation);
        self.outcome.criterion = verdict.range_share.map(|share| 100.0 * share);
        if verdict.reached {
            self.outcome.attained = true;
            self.outcome.at_ns = Some(at_ns);
        }
    }

    fn end_interval(&mut self) {
        let at_ns = self.next_ns;
        self.next_ns += INTERVAL_NS;
        let rates = (self.ios as f64, self.bytes as f64);
        (self.ios, self.bytes) = (0, 0);
        // fio checks once a second, first at the first check after the ramp time.
        if at_ns < self.rule.ramp_ns + INTERVAL_NS {
            return;
        }
        let seconds = self.rule.duration_seconds as usize;
        if self.rates.len() == seconds {
            self.rates.pop_front();
        }
        self.rates.push_back(rates);
        if self.rates.len() < seconds {
            return;
        }
        let of_iops = matches!(
            self.rule.criterion,
            SteadyCriterion::Iops | SteadyCriterion::IopsSlope | SteadyCriterion::SniaPtsIops
        );
        let values: Vec<f64> = self.rates.iter().map(|&(iops, bytes)| if of_iops { iops } else { bytes }).collect();
        let mean = values.iter().sum::<f64>() / seconds as f64;
        let slope = slope(&values, mean);
        let deviation = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        if self.rule.criterion.is_snia() {
            self.judge_rounds(&values, slope, deviation, at_ns);
            return;
        }
        let share = |value: f64| if self.rule.is_percent { 100.0 * value / mean } else { value };
        let is_slope = matches!(self.rule.criterion, SteadyCriterion::IopsSlope | SteadyCriterion::BwSlope);
        let criterion = if is_slope { share(slope).abs() } else { share(deviation) };
        self.outcome.slope = Some(slope);
        self.outcome.max_deviation = Some(deviation);
        self.outcome.criterion = criterion.is_finite().then_some(criterion);
        if criterion < self.rule.limit {
            self.outcome.attained = true;
            self.outcome.at_ns = Some(at_ns);
        }
    }
}

/// The slope of the least-squares line through values one second apart; 0 for a single one.
fn slope(values: &[f64], mean: f64) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let (mut above, mut below) = (0.0, 0.0);
    for (place, value) in values.iter().enumerate() {
        let distance = place as f64 - middle;
        above += distance * (value - mean);
        below += distance * distance;
    }
    if below > 0.0 { above / below } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(criterion: SteadyCriterion, limit: f64, is_percent: bool, ramp_seconds: u64) -> JobRounds {
        let ramp_ns = ramp_seconds * INTERVAL_NS;
        JobRounds::new(JobSteadyState { criterion, limit, is_percent, duration_seconds: 4, ramp_ns })
    }

    /// This many requests in each second; returns after how many seconds the rule held.
    fn seconds_until_steady(mut rounds: JobRounds, each_second: &[u64]) -> (Option<u64>, JobSteadyStateOutcome) {
        for (second, &ios) in each_second.iter().enumerate() {
            for request in 0..ios {
                rounds.add(second as u64 * INTERVAL_NS + request * INTERVAL_NS / ios, 1000);
            }
        }
        rounds.add(each_second.len() as u64 * INTERVAL_NS, 1000);
        let outcome = rounds.into_outcome();
        (outcome.at_ns.map(|at_ns| at_ns / INTERVAL_NS), outcome)
    }

    #[test]
    fn the_rule_looks_at_the_last_seconds_only() {
        let falling = [100, 80, 50, 40, 40, 41, 40, 40];
        let (at, outcome) = seconds_until_steady(rounds(SteadyCriterion::Iops, 5.0, true, 0), &falling);
        assert_eq!((at, outcome.iops), (Some(7), vec![40.0, 40.0, 41.0, 40.0]));
        // The largest deviation from 40.25.
        assert_eq!((outcome.max_deviation, outcome.attained), (Some(0.75), true));
        let (at, _) = seconds_until_steady(rounds(SteadyCriterion::Iops, 0.5, false, 0), &falling);
        assert_eq!(at, None);
        let (at, _) = seconds_until_steady(rounds(SteadyCriterion::Iops, 100.0, false, 0), &falling);
        assert_eq!(at, Some(4), "a limit that is always kept holds as soon as the window is full");
        let (at, _) = seconds_until_steady(rounds(SteadyCriterion::Bw, 100.0, true, 3), &falling);
        assert_eq!(at, Some(7), "after three seconds of ramp time");
    }

    #[test]
    fn by_snia_s_rule_five_rounds_must_agree() {
        // Rounds of two seconds: within 20 % from the third to the seventh, whatever the single seconds are.
        let seconds = [200, 180, 150, 140, 100, 120, 109, 111, 90, 110, 105, 101, 99, 99, 100, 100, 100, 100];
        let rule = JobSteadyState {
            criterion: SteadyCriterion::SniaPtsIops,
            limit: 20.0,
            is_percent: true,
            duration_seconds: 10,
            ramp_ns: 0,
        };
        let (at, outcome) = seconds_until_steady(JobRounds::new(rule), &seconds);
        // 110, 110, 100, 103, 99: a range of 11 % of 104.4, but a line that falls by 11 %.
        // 110, 100, 103, 99, 100: 7 % less from end to end.
        assert_eq!((at, outcome.attained), (Some(16), true));
        assert_eq!(outcome.criterion.map(f64::round), Some(11.0));
        let (at, _) = seconds_until_steady(JobRounds::new(rule), &[100, 50, 100, 50, 200, 50, 100, 50, 100, 50]);
        assert_eq!(at, None, "a range of 59 %");
        let (at, _) = seconds_until_steady(JobRounds::new(rule), &[100; 10]);
        assert_eq!(at, Some(10), "not before the window is full");
    }

    #[test]
    fn the_slope_is_that_of_the_line() {
        let (at, outcome) = seconds_until_steady(rounds(SteadyCriterion::IopsSlope, 2.5, false, 0), &[10, 12, 14, 16]);
        assert_eq!((at, outcome.slope), (Some(4), Some(2.0)));
        let (at, outcome) = seconds_until_steady(rounds(SteadyCriterion::BwSlope, 15.0, true, 0), &[16, 14, 12, 10]);
        // 2 of 13 a second.
        assert_eq!((at, outcome.criterion.map(f64::round)), (None, Some(15.0)));
    }
}
