//! A bell around the middle of the job's part; what falls outside is drawn again.

use crate::random::Random;
use crate::workload::place::{Blocks, LANES};

#[derive(Clone, Debug)]
pub struct Normal {
    lanes: [Lane; LANES],
}

#[derive(Clone, Debug)]
struct Lane {
    count: f64,
    deviation: f64,
}

impl Normal {
    /// The deviation is a share of the blocks.
    pub fn new(deviation: f64, counts: [u64; LANES]) -> Normal {
        Normal { lanes: counts.map(|count| Lane { count: count as f64, deviation: deviation * count as f64 }) }
    }
}

impl Blocks for Normal {
    #[inline(always)]
    fn block(&mut self, lane: usize, random: &mut Random) -> u64 {
        let Lane { count, deviation } = self.lanes[lane];
        loop {
            let place = count * 0.5 + deviation * random.standard_normal();
            if place >= 0.0 && place < count {
                return place as i64 as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::statistics::assert_shares;

    #[test]
    fn blocks_follow_the_clipped_bell() {
        let count = 201;
        for deviation in [0.02, 0.2, 1.0] {
            let mut normal = Normal::new(deviation, [count, 1]);
            let mut random = Random::new(9);
            let mut hits = vec![0; count as usize];
            (0..300_000).for_each(|_| hits[normal.block(0, &mut random) as usize] += 1);
            // The density summed over a fine comb in each block is the slow twin of the integral.
            let scale = deviation * count as f64;
            let density = |x: f64| (-0.5 * ((x - count as f64 / 2.0) / scale).powi(2)).exp();
            let weights: Vec<f64> =
                (0..count).map(|b| (0..100).map(|i| density(b as f64 + (i as f64 + 0.5) / 100.0)).sum()).collect();
            assert_shares(&hits, &weights);
        }
    }

    #[test]
    fn no_deviation_is_the_middle() {
        assert_eq!(Normal::new(0.0, [7, 7]).block(1, &mut Random::new(1)), 3);
    }
}
