//! Zipf: the block of rank r is drawn with a probability proportional to r^-theta, exactly, for any theta above 0, in
//! constant memory.
//!
//! Ranks are scattered by a permutation of exactly the job's blocks. fio hashes them and takes the remainder, so that
//! many blocks are never reached; blocks that are never written act as spare area and favour the drive (`like_fio.rs`).

use crate::random::Random;
use crate::random::power::{exp2, log2};
use crate::workload::place::Blocks;
use crate::workload::scatter::Scatter;
use crate::workload::sizes::JOB_CLASSES;
use std::f64::consts::LN_2;

/// See the file's description.
#[derive(Clone, Debug)]
pub struct Zipf {
    job_classes: [(Ranks, Scatter); JOB_CLASSES],
}

impl Zipf {
    /// `counts` are the blocks of each job class.
    pub fn new(theta: f64, center: Option<f64>, counts: [u64; JOB_CLASSES], seed: u64) -> Zipf {
        Zipf { job_classes: counts.map(|count| (Ranks::new(count, theta), Scatter::new(count, seed, 0, center))) }
    }
}

impl Blocks for Zipf {
    #[inline(always)]
    fn block(&mut self, job_class: usize, random: &mut Random) -> u64 {
        let (ranks, scatter) = &self.job_classes[job_class];
        scatter.block(ranks.draw(random))
    }
}

/// The same distribution with several consecutive ranks a block. A range smaller by that factor receives the same share
/// of the requests in its hottest part; at theta 1 and above fewer ranks would have another skew.
#[derive(Clone, Debug)]
pub struct CoarseZipf {
    ranks_per_block: u64,
    job_classes: [(Ranks, Scatter); JOB_CLASSES],
}

impl CoarseZipf {
    /// The ranks of each job class, `ranks_per_block` times its count, are at most 2^62.
    pub fn new(
        theta: f64,
        center: Option<f64>,
        counts: [u64; JOB_CLASSES],
        seed: u64,
        ranks_per_block: u64,
    ) -> CoarseZipf {
        let job_classes =
            counts.map(|count| (Ranks::new(count * ranks_per_block, theta), Scatter::new(count, seed, 0, center)));
        CoarseZipf { ranks_per_block, job_classes }
    }
}

impl Blocks for CoarseZipf {
    #[inline(always)]
    fn block(&mut self, job_class: usize, random: &mut Random) -> u64 {
        let (ranks, scatter) = &self.job_classes[job_class];
        scatter.block(ranks.draw(random) / self.ranks_per_block)
    }
}

/// Ranks by rejection-inversion (Hormann and Derflinger 1996, "Rejection-Inversion to Generate Variates from Monotone
/// Discrete Distributions"): x is drawn from the continuous density x^-theta by inverting its integral, rounded to the
/// nearest integer k, and accepted with the probability that gives k^-theta. About one draw in fifty needs the test.
#[derive(Clone, Debug)]
struct Ranks {
    /// The exponent of the integral, and its inverse; zero when theta is one and the integral is a logarithm.
    power: f64,
    power_inverse: f64,
    theta: f64,
    count: f64,
    integral_low: f64,
    integral_high: f64,
    /// k is accepted at once when it exceeds x by no more than this.
    excess_max: f64,
}

impl Ranks {
    fn new(count: u64, theta: f64) -> Ranks {
        let mut power = 1.0 - theta;
        // So close to one the power form loses digits, while the logarithm is accurate to one part in a million.
        if power.abs() < 1e-7 {
            power = 0.0;
        }
        let power_inverse = if power == 0.0 { 0.0 } else { 1.0 / power };
        let mut ranks = Ranks {
            power,
            power_inverse,
            theta,
            count: count as f64,
            integral_low: 0.0,
            integral_high: 0.0,
            excess_max: 0.0,
        };
        ranks.integral_low = ranks.integral(1.5) - 1.0;
        ranks.integral_high = ranks.integral(count as f64 + 0.5);
        ranks.excess_max = 2.0 - ranks.integral_inverse(ranks.integral(2.5) - ranks.density(2.0));
        ranks
    }

    /// A rank from 0 to count - 1, where rank 0 is the most frequent.
    #[inline(always)]
    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.integral_low + random.unit() * (self.integral_high - self.integral_low);
            let x = self.integral_inverse(area);
            let k = ((x + 0.5) as i64 as f64).clamp(1.0, self.count);
            if k - x <= self.excess_max || self.accepts(k, area) {
                return k as i64 as u64 - 1;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn accepts(&self, k: f64, area: f64) -> bool {
        area >= self.integral(k + 0.5) - self.density(k)
    }

    fn density(&self, x: f64) -> f64 {
        exp2(-self.theta * log2(x))
    }

    /// The integral of the density, up to a constant.
    fn integral(&self, x: f64) -> f64 {
        if self.power == 0.0 { log2(x) * LN_2 } else { (exp2(self.power * log2(x)) - 1.0) * self.power_inverse }
    }

    #[inline(always)]
    fn integral_inverse(&self, area: f64) -> f64 {
        if self.power == 0.0 {
            exp2(area * (1.0 / LN_2))
        } else {
            // Rounding may make the base negative at the far end of a distribution with large theta.
            let base = (1.0 + area * self.power).max(f64::MIN_POSITIVE);
            exp2(self.power_inverse * log2(base))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::statistics::assert_shares;

    #[test]
    fn ranks_follow_the_law() {
        let mut random = Random::new(10);
        for count in [2, 3, 1000] {
            for theta in [0.001, 0.2, 0.6, 0.99, 1.0, 1.0 + 1e-6, 1.2, 2.5, 8.0] {
                let ranks = Ranks::new(count, theta);
                let mut hits = vec![0; count as usize];
                (0..300_000).for_each(|_| hits[ranks.draw(&mut random) as usize] += 1);
                let weights: Vec<f64> = (1..=count).map(|k| (k as f64).powf(-theta)).collect();
                assert_shares(&hits, &weights);
            }
        }
    }

    #[test]
    fn a_smaller_range_keeps_the_shares_of_the_whole() {
        // 1000 ranks, ten a block: the hottest of 100 blocks has the sum of the ten hottest ranks.
        let mut zipf = CoarseZipf::new(1.0, Some(0.0), [100, 100], 5, 10);
        let mut random = Random::new(11);
        let mut hits = vec![0; 100];
        (0..300_000).for_each(|_| hits[zipf.block(0, &mut random) as usize] += 1);
        let scatter = Scatter::new(100, 5, 0, Some(0.0));
        let mut weights = vec![0.0; 100];
        (0..1000).for_each(|rank| weights[scatter.block(rank / 10) as usize] += 1.0 / (rank + 1) as f64);
        assert_shares(&hits, &weights);
    }

    #[test]
    fn one_block_is_always_drawn() {
        let mut zipf = Zipf::new(1.2, None, [1, 1], 3);
        let mut random = Random::new(1);
        assert!((0..100).all(|_| zipf.block(0, &mut random) == 0));
    }

    #[test]
    fn extreme_laws_stay_in_range() {
        let mut random = Random::new(16);
        for count in [1, 2, 1000, 1 << 40] {
            for theta in [1e-9, 0.5, 1.0, 20.0, 100.0] {
                let ranks = Ranks::new(count, theta);
                let draws: Vec<u64> = (0..10_000).map(|_| ranks.draw(&mut random)).collect();
                assert!(draws.iter().all(|&rank| rank < count), "{count} ranks, theta {theta}");
                assert!(theta < 20.0 || draws.iter().filter(|&&rank| rank == 0).count() > 9990);
            }
        }
    }

    #[test]
    fn a_full_size_drive_keeps_the_shares_of_its_head_and_reaches_its_tail() {
        let count = 1 << 30;
        let draws = 400_000;
        let mut random = Random::new(12);
        for theta in [0.6, 0.99, 1.2] {
            let ranks = Ranks::new(count, theta);
            // Cells by powers of two; Euler and Maclaurin's formula replaces a tail sum of 2^30 terms.
            let sum_below = |n: f64| {
                let head: f64 = (1..100).map(|k| f64::from(k).powf(-theta)).sum();
                let f = |x: f64| x.powf(-theta);
                let slope = |x: f64| -theta * x.powf(-theta - 1.0);
                let integral = (n.powf(1.0 - theta) - 100f64.powf(1.0 - theta)) / (1.0 - theta);
                head + integral + (f(100.0) - f(n)) / 2.0 + (slope(n) - slope(100.0)) / 12.0
            };
            let bounds: Vec<f64> = (7..=30).map(|e| f64::powi(2.0, e)).collect();
            let mut weights = vec![sum_below(bounds[0])];
            weights.extend(bounds.windows(2).map(|b| sum_below(b[1]) - sum_below(b[0])));
            *weights.last_mut().unwrap() += (count as f64).powf(-theta);
            let mut hits = vec![0; weights.len()];
            for _ in 0..draws {
                let k = ranks.draw(&mut random) + 1;
                hits[(k.ilog2().saturating_sub(6) as usize).min(weights.len() - 1)] += 1;
            }
            assert_shares(&hits, &weights);
        }
    }

    #[test]
    fn every_block_is_reached_and_both_job_classes_share_their_hot_blocks() {
        let count = 1500;
        let mut zipf = Zipf::new(0.6, None, [count, count], 21);
        let mut random = Random::new(13);
        let mut hits = [vec![0u64; count as usize], vec![0u64; count as usize]];
        for _ in 0..200_000 {
            for (job_class, hits) in hits.iter_mut().enumerate() {
                hits[zipf.block(job_class, &mut random) as usize] += 1;
            }
        }
        assert!(hits.iter().flatten().all(|&hits| hits > 0));
        let hottest = |hits: &[u64]| (0..count as usize).max_by_key(|&block| hits[block]);
        assert_eq!(hottest(&hits[0]), hottest(&hits[1]));
    }
}
