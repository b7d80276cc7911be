//! What is reported of a value measured once a round that has settled: the mean behind the last change of its trend,
//! with the half width of its 95 % confidence interval.
//!
//! `steady_state.rs` has SNIA's rule, which says when a test may end; its five rounds may still rise by 10 %, so that
//! their mean is not the value that the drive settles at. Here the rounds before the settled ones are left out by MSER
//! (K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997): the
//! number left out is the one with the least standard error of the mean of the rest. Batch means give the interval;
//! half of what the straight line through them rises from the first to the last is added on either side, because the
//! value may go on rising. docs/theory/steady-state.md compares this rule with others on long runs.

use crate::steady_state::least_squares_slope;

/// Fewer rounds give no interval.
pub const ROUNDS_MIN: usize = 5;

/// More rounds are not kept, so that memory and time stay bounded.
pub const ROUNDS_MAX: usize = 64;

/// The mean of rounds, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Half the width of the interval.
    pub half_width: f64,
}

impl Mean {
    /// Of `ROUNDS_MIN` rounds or more.
    pub fn of(rounds: &[f64]) -> Self {
        let value = mean_of(rounds);
        let rise = least_squares_slope(rounds.iter().copied(), value, rounds.len()) * (rounds.len() - 1) as f64;
        let half_width = student_t(rounds.len() - 1) * squared_error(rounds).sqrt() + rise.abs() / 2.0;
        Self { value, half_width }
    }

    /// Whether the interval is at most `share` of the mean on either side; false without a mean above zero.
    pub fn is_within(&self, share: f64) -> bool {
        self.value > 0.0 && self.half_width <= share * self.value
    }
}

/// How many of the last rounds count; None with fewer than `ROUNDS_MIN`. Those before the last `ROUNDS_MAX` never do.
pub fn settled_rounds(rounds: &[f64]) -> Option<usize> {
    let rounds = &rounds[rounds.len().saturating_sub(ROUNDS_MAX)..];
    let last = rounds.len().checked_sub(ROUNDS_MIN)?;
    // A half of the rounds is kept at least: the end of a long approach looks level by chance.
    (0..=last.min(rounds.len() / 2))
        .min_by(|&one, &other| squared_error(&rounds[one..]).total_cmp(&squared_error(&rounds[other..])))
        .map(|first| rounds.len() - first)
}

fn mean_of(rounds: &[f64]) -> f64 {
    rounds.iter().sum::<f64>() / rounds.len() as f64
}

/// The square of the standard error of the mean.
fn squared_error(rounds: &[f64]) -> f64 {
    let (mean, count) = (mean_of(rounds), rounds.len() as f64);
    rounds.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0) / count
}

/// The 97.5th percentile of Student's distribution, by Cornish and Fisher's expansion; within 0.5 % from 4 degrees on.
fn student_t(degrees: usize) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let n = degrees as f64;
    let terms = [
        (Z.powi(3) + Z) / 4.0,
        (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0,
        (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / 384.0,
        (79.0 * Z.powi(9) + 776.0 * Z.powi(7) + 1482.0 * Z.powi(5) - 1920.0 * Z.powi(3) - 945.0 * Z) / 92160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / n) + Z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean 10, standard error 0.4472 of five rounds, rise of the line 4 x 4 / 10; computed by hand.
    #[test]
    fn the_interval_is_that_of_batch_means_and_half_the_rise() {
        let mean = Mean::of(&[9.0, 10.0, 10.0, 10.0, 11.0]);
        assert_eq!(mean.value, 10.0);
        let expected = 2.7764 * (2.0_f64 / 4.0 / 5.0).sqrt() + 1.6 / 2.0;
        assert!((mean.half_width - expected).abs() < 0.003, "{mean:?} instead of {expected}");
        assert!(mean.is_within(0.17) && !mean.is_within(0.16));
    }

    /// The rounds of a run that SNIA's rule ended after five, with a mean of 1.754.
    #[test]
    fn the_approach_is_left_out() {
        let rounds = [1.651, 1.750, 1.788, 1.790, 1.790, 1.789, 1.790];
        assert_eq!(settled_rounds(&rounds[..4]), None);
        assert_eq!(settled_rounds(&rounds[..5]), Some(5), "five rounds are kept at least");
        assert_eq!(settled_rounds(&rounds), Some(5));
        assert!((Mean::of(&rounds[2..]).value - 1.7894).abs() < 1e-9);
    }

    #[test]
    fn values_without_a_mean_are_never_exact() {
        for value in [0.0, f64::NAN, f64::INFINITY] {
            assert!(!Mean::of(&[value; 5]).is_within(0.5));
        }
    }

    /// The percentiles of the tables.
    #[test]
    fn students_percentiles() {
        for (degrees, expected) in [(4, 2.7764), (5, 2.5706), (9, 2.2622), (19, 2.0930), (39, 2.0227)] {
            let found = student_t(degrees);
            assert!((found / expected - 1.0).abs() < 0.005, "{degrees} degrees: {found} instead of {expected}");
        }
    }
}
