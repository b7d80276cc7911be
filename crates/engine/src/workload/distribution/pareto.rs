//! fio's pareto: rank = blocks x u^(log h / log (1 - h)), so that a share h of the blocks gets 1 - h of the accesses.
//! Ranks are scattered by a permutation, so that every block is reached and hot ones are not neighbours.

use crate::random::Random;
use crate::random::power::{exp2, log2};
use crate::workload::place::Blocks;
use crate::workload::scatter::Scatter;
use crate::workload::sizes::JOB_CLASSES;

/// See the file's description.
#[derive(Clone, Debug)]
pub struct Pareto {
    power: f64,
    job_classes: [(u64, Scatter); JOB_CLASSES],
}

impl Pareto {
    /// `h` lies between 0 and 1, both excluded.
    pub fn new(h: f64, center: Option<f64>, counts: [u64; JOB_CLASSES], seed: u64) -> Pareto {
        let power = log2(h) / log2(1.0 - h);
        Pareto { power, job_classes: counts.map(|count| (count, Scatter::new(count, seed, 0, center))) }
    }

    #[inline(always)]
    fn rank(&self, count: u64, random: &mut Random) -> u64 {
        let share = exp2(self.power * log2(random.unit()));
        ((share * count as f64) as i64 as u64).min(count - 1)
    }
}

impl Blocks for Pareto {
    #[inline(always)]
    fn block(&mut self, job_class: usize, random: &mut Random) -> u64 {
        let (count, scatter) = &self.job_classes[job_class];
        scatter.block(self.rank(*count, random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::statistics::assert_shares;

    #[test]
    fn ranks_follow_the_formula() {
        let mut random = Random::new(6);
        for h in [0.1, 0.2, 0.35, 0.5, 0.8] {
            let pareto = Pareto::new(h, None, [500, 1], 0);
            let mut hits = vec![0; 500];
            (0..400_000).for_each(|_| hits[pareto.rank(500, &mut random) as usize] += 1);
            // The share of accesses below rank r is (r / n)^(1 / power).
            let below = |rank: usize| (rank as f64 / 500.0).powf((1.0 - h).ln() / h.ln());
            let weights: Vec<f64> = (0..500).map(|rank| below(rank + 1) - below(rank)).collect();
            assert_shares(&hits, &weights);
        }
    }

    #[test]
    fn blocks_are_the_ranks_scattered() {
        let mut pareto = Pareto::new(0.2, None, [1000, 1000], 17);
        let mut ranks = Random::new(8);
        let mut blocks = Random::new(8);
        for _ in 0..1000 {
            let rank = pareto.rank(1000, &mut ranks);
            assert_eq!(pareto.block(1, &mut blocks), Scatter::new(1000, 17, 0, None).block(rank));
        }
    }
}
