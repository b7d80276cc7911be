//! fio's normal: a rank is the mean of twelve uniform ones, and so approximately normal around the middle, plus a
//! uniform deviation that is halved until the rank exists. fio scatters these ranks like those of zipf, and so does
//! this.
//!
//! The mean alone has a standard deviation of a twelfth of the blocks (Irwin 1927, Hall 1927); the number in the job is
//! the width of the uniform part, not a standard deviation.

use crate::random::{Random, scale};
use crate::workload::place::Blocks;
use crate::workload::scatter::Scatter;
use crate::workload::sizes::JOB_CLASSES;

const SUMMANDS: u64 = 12;

/// See the file's description.
#[derive(Clone, Debug)]
pub struct Normal {
    job_classes: [(Ranks, Scatter); JOB_CLASSES],
}

#[derive(Clone, Debug)]
struct Ranks {
    count: u64,
    /// Width of the uniform deviation in blocks.
    width: u64,
}

impl Normal {
    /// The deviation is a share of the blocks; more than half counts as half.
    pub fn new(deviation: f64, center: Option<f64>, counts: [u64; JOB_CLASSES], seed: u64) -> Normal {
        let job_class = |count| (Ranks::new(deviation, count), Scatter::new(count, seed, count / 2, center));
        Normal { job_classes: counts.map(job_class) }
    }
}

impl Blocks for Normal {
    #[inline(always)]
    fn block(&mut self, job_class: usize, random: &mut Random) -> u64 {
        let (ranks, scatter) = &self.job_classes[job_class];
        scatter.block(ranks.draw(random))
    }
}

impl Ranks {
    fn new(deviation: f64, count: u64) -> Ranks {
        Ranks { count, width: ((count as f64 * deviation).ceil() as u64).min(count / 2) }
    }

    #[inline(always)]
    fn draw(&self, random: &mut Random) -> u64 {
        let sum: u64 = (0..SUMMANDS).map(|_| scale(random.bits(), self.count + 1).0).sum();
        let mean = sum.div_ceil(SUMMANDS);
        let mut deviation = scale(random.bits(), self.width).0 as i64 - (self.width / 2) as i64;
        loop {
            match mean.checked_add_signed(deviation) {
                Some(rank) if rank < self.count => return rank,
                // Only the mean of twelve highest ranks is itself one too high.
                _ if deviation == 0 => return self.count - 1,
                _ => deviation /= 2,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::statistics::assert_shares;

    /// The distribution by convolution: the probability of every rank, exact except for rounding.
    fn shares(count: usize, deviation: f64) -> Vec<f64> {
        let mut sums = vec![1.0];
        for _ in 0..SUMMANDS {
            let mut next = vec![0.0; sums.len() + count];
            for (at, share) in sums.iter().enumerate() {
                (0..=count).for_each(|drawn| next[at + drawn] += share / (count + 1) as f64);
            }
            sums = next;
        }
        let width = ((count as f64 * deviation).ceil() as i64).min(count as i64 / 2);
        let mut ranks = vec![0.0; count];
        for (sum, share) in sums.iter().enumerate() {
            let mean = sum.div_ceil(SUMMANDS as usize) as i64;
            for drawn in 0..width.max(1) {
                let mut deviation = drawn - width / 2;
                while !(0..count as i64).contains(&(mean + deviation)) && deviation != 0 {
                    deviation /= 2;
                }
                ranks[((mean + deviation) as usize).min(count - 1)] += share / width.max(1) as f64;
            }
        }
        ranks
    }

    #[test]
    fn ranks_follow_the_law() {
        let mut random = Random::new(9);
        for count in [1, 2, 7, 100] {
            for deviation in [0.0, 0.1, 0.4, 1.0] {
                let ranks = Ranks::new(deviation, count as u64);
                let mut hits = vec![0; count];
                (0..100_000).for_each(|_| hits[ranks.draw(&mut random) as usize] += 1);
                // With one or two ranks there is no shape to fit.
                if count > 2 {
                    assert_shares(&hits, &shares(count, deviation));
                }
            }
        }
    }

    #[test]
    fn blocks_are_the_ranks_scattered() {
        let mut normal = Normal::new(0.1, Some(0.5), [1000, 1000], 17);
        let (mut ranks, mut blocks) = (Random::new(8), Random::new(8));
        for _ in 0..1000 {
            let rank = Ranks::new(0.1, 1000).draw(&mut ranks);
            assert_eq!(normal.block(1, &mut blocks), Scatter::new(1000, 17, 500, Some(0.5)).block(rank));
        }
    }
}
