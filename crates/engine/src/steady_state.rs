//! SNIA's rule for the steady state: whether a value measured once a round has settled.
//!
//! Over the last rounds (five), the values stay within a range (20 % of their mean), and the least-squares line through
//! them rises or falls by little (10 % of the mean) from the first round to the last. Source: SNIA Solid State Storage
//! Performance Test Specification, "steady state". The caller defines what is measured and how long a round is.

use std::collections::VecDeque;

/// The result of the rule after a round. The shares are of the mean; they are None until the window is full, and if the
/// mean is not above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Whether both limits hold.
    pub reached: bool,
    /// The largest minus the smallest value of the window.
    pub range_share: Option<f64>,
    /// The absolute rise or fall of the least-squares line over the window.
    pub slope_share: Option<f64>,
}

/// The last rounds, and the rule's limits.
#[derive(Clone, Debug)]
pub struct SteadyState {
    window: VecDeque<f64>,
    round_count: usize,
    range_max: f64,
    slope_max: f64,
}

impl Default for SteadyState {
    /// SNIA's limits.
    fn default() -> Self {
        Self::new(5, 0.20, 0.10)
    }
}

impl SteadyState {
    /// A window of `round_count` rounds (two or more, as a line needs); the limits are shares of the mean.
    pub fn new(round_count: usize, range_max: f64, slope_max: f64) -> Self {
        assert!(round_count >= 2, "a slope needs two rounds or more, not {round_count}");
        assert!(range_max >= 0.0 && slope_max >= 0.0, "limits of {range_max} and {slope_max} can never be kept");
        Self { window: VecDeque::with_capacity(round_count), round_count, range_max, slope_max }
    }

    /// Adds the value of a round; the oldest value leaves the window.
    pub fn push(&mut self, value: f64) -> Verdict {
        if self.window.len() == self.round_count {
            self.window.pop_front();
        }
        self.window.push_back(value);
        self.verdict()
    }

    /// The values of the window, oldest first.
    pub fn rounds(&self) -> impl Iterator<Item = f64> {
        self.window.iter().copied()
    }

    fn verdict(&self) -> Verdict {
        let mean = self.rounds().sum::<f64>() / self.window.len() as f64;
        // A mean of NaN fails this comparison too.
        if self.window.len() < self.round_count || !(mean > 0.0 && mean.is_finite()) {
            return Verdict { reached: false, range_share: None, slope_share: None };
        }
        let largest = self.rounds().fold(f64::NEG_INFINITY, f64::max);
        let smallest = self.rounds().fold(f64::INFINITY, f64::min);
        let range_share = (largest - smallest) / mean;
        let slope_share =
            (least_squares_slope(self.rounds(), mean, self.round_count) / mean).abs() * (self.round_count - 1) as f64;
        Verdict {
            reached: range_share <= self.range_max && slope_share <= self.slope_max,
            range_share: Some(range_share),
            slope_share: Some(slope_share),
        }
    }
}

/// The slope of the least-squares line through values that are one round apart.
pub(crate) fn least_squares_slope(values: impl Iterator<Item = f64>, mean: f64, count: usize) -> f64 {
    let middle = (count - 1) as f64 / 2.0;
    let (mut above, mut below) = (0.0, 0.0);
    for (round, value) in values.enumerate() {
        let distance = round as f64 - middle;
        above += distance * (value - mean);
        below += distance * distance;
    }
    above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(values: &[f64]) -> Verdict {
        let mut steady_state = SteadyState::default();
        values.iter().map(|&value| steady_state.push(value)).last().expect("a value")
    }

    fn assert_near(actual: Option<f64>, expected: f64) {
        let actual = actual.expect("a share");
        assert!((actual - expected).abs() < 1e-12, "{actual} instead of {expected}");
    }

    #[test]
    fn no_verdict_before_five_rounds() {
        let none = Verdict { reached: false, range_share: None, slope_share: None };
        let mut steady_state = SteadyState::default();
        for _ in 0..4 {
            assert_eq!(steady_state.push(3.0), none);
        }
        assert_eq!(steady_state.push(3.0), Verdict { reached: true, range_share: Some(0.0), slope_share: Some(0.0) });
    }

    /// Mean 10, range 2; the line: sum of distance x deviation = (-2)(-1) + (-1)(0) + 0 + (1)(0) + (2)(1) = 4, over 10.
    #[test]
    fn shares_are_those_computed_by_hand() {
        let verdict = after(&[9.0, 10.0, 10.0, 10.0, 11.0]);
        assert_near(verdict.range_share, 0.2);
        assert_near(verdict.slope_share, 0.4 * 4.0 / 10.0);
        assert!(!verdict.reached, "the slope of 16 % is too steep");
    }

    /// The same values in another order: (-2)(0) + (-1)(1) + 0 + (1)(-1) + (2)(0) = -2, over 10.
    #[test]
    fn a_falling_line_counts_without_its_sign_and_limits_are_inclusive() {
        let verdict = after(&[10.0, 11.0, 10.0, 9.0, 10.0]);
        assert_near(verdict.range_share, 0.2);
        assert_near(verdict.slope_share, 0.08);
        assert!(verdict.reached);
    }

    /// No slope, mean 10, but one round is 2.5 away from another.
    #[test]
    fn a_wide_range_is_refused_though_level() {
        let verdict = after(&[10.0, 10.0, 11.25, 8.75, 10.0]);
        assert_near(verdict.range_share, 0.25);
        assert!(verdict.slope_share.expect("a share") <= 0.1);
        assert!(!verdict.reached);
    }

    #[test]
    fn only_the_last_five_rounds_count() {
        let mut steady_state = SteadyState::default();
        let verdicts: Vec<bool> =
            [1.0, 8.0, 6.0, 5.0, 5.0, 5.0, 5.0, 5.0].map(|value| steady_state.push(value).reached).to_vec();
        assert_eq!(verdicts, [false, false, false, false, false, false, false, true]);
        assert_eq!(steady_state.rounds().collect::<Vec<_>>(), [5.0; 5]);
    }

    #[test]
    fn values_without_a_mean_give_no_verdict() {
        for value in [0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(after(&[value; 5]), Verdict { reached: false, range_share: None, slope_share: None });
        }
    }

    #[test]
    #[should_panic(expected = "two rounds or more")]
    fn a_window_of_one_round_is_a_programmer_error() {
        SteadyState::new(1, 0.2, 0.1);
    }
}
