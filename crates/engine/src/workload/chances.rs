//! A draw among a few weighted outcomes in constant time: Walker's alias method with Vose's construction (Vose 1991,
//! "A Linear Algorithm for Generating Random Numbers with a Given Distribution").

use crate::random::{Random, scale};

/// A distribution over a few outcomes.
#[derive(Clone, Debug)]
pub struct Chances<T> {
    columns: Box<[Column<T>]>,
}

/// Columns have equal probability; within one, `kept` is the outcome if the rest of the random number is below the
/// threshold.
#[derive(Clone, Copy, Debug)]
struct Column<T> {
    threshold: u64,
    kept: T,
    other: T,
}

impl<T: Copy> Chances<T> {
    /// Weights need not add up to a particular sum; an outcome of weight zero never occurs.
    ///
    /// Panics unless the weights are finite, not negative, and one of them is positive.
    pub fn new(outcomes: &[(T, f64)]) -> Chances<T> {
        let outcomes: Vec<(T, f64)> = outcomes.iter().copied().filter(|&(_, weight)| weight != 0.0).collect();
        let total: f64 = outcomes.iter().map(|&(_, weight)| weight).sum();
        assert!(total.is_finite() && outcomes.iter().all(|&(_, weight)| weight > 0.0) && !outcomes.is_empty());
        let mut shares: Vec<f64> = outcomes.iter().map(|&(_, weight)| weight / total * outcomes.len() as f64).collect();
        let mut columns: Vec<Column<T>> =
            outcomes.iter().map(|&(kept, _)| Column { threshold: u64::MAX, kept, other: kept }).collect();
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) = (0..outcomes.len()).partition(|&i| shares[i] < 1.0);
        // A remainder when one side is exhausted differs from a full column only by rounding, and counts as full.
        while let (Some(small), Some(&large)) = (poor.pop(), rich.last()) {
            columns[small].threshold = (shares[small] * 2f64.powi(64)) as u64;
            columns[small].other = outcomes[large].0;
            shares[large] -= 1.0 - shares[small];
            if shares[large] < 1.0 {
                rich.pop();
                poor.push(large);
            }
        }
        Chances { columns: columns.into_boxed_slice() }
    }

    /// Draws an outcome.
    #[inline(always)]
    pub fn draw(&self, random: &mut Random) -> T {
        let (index, rest) = scale(random.bits(), self.columns.len() as u64);
        let column = &self.columns[index as usize];
        if rest < column.threshold { column.kept } else { column.other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::statistics::assert_shares;

    /// The probability of each outcome, summed over the columns.
    fn chances_exact(chances: &Chances<usize>, outcomes: usize) -> Vec<f64> {
        let mut sums = vec![0.0; outcomes];
        for column in &chances.columns {
            let kept = column.threshold as f64 / 2f64.powi(64);
            sums[column.kept] += kept / chances.columns.len() as f64;
            sums[column.other] += (1.0 - kept) / chances.columns.len() as f64;
        }
        sums
    }

    #[test]
    fn the_table_holds_exactly_the_weights() {
        for weights in [vec![1.0], vec![4.0, 1.0, 1.0, 67.0, 10.0, 7.0, 3.0, 3.0], vec![0.0, 1e-9, 99.0], vec![1.0; 7]]
        {
            let outcomes: Vec<(usize, f64)> = weights.iter().copied().enumerate().collect();
            let chances = Chances::new(&outcomes);
            let total: f64 = weights.iter().sum();
            for (got, weight) in chances_exact(&chances, weights.len()).iter().zip(&weights) {
                assert!((got - weight / total).abs() < 1e-12, "{weights:?}");
            }
        }
    }

    #[test]
    fn draws_follow_the_weights() {
        let weights = [4.0, 1.0, 0.0, 67.0, 10.0, 18.0];
        let chances = Chances::new(&weights.iter().copied().enumerate().collect::<Vec<_>>());
        let mut random = Random::new(3);
        let mut hits = [0; 6];
        for _ in 0..200_000 {
            hits[chances.draw(&mut random)] += 1;
        }
        assert_shares(&hits, &weights);
    }
}
