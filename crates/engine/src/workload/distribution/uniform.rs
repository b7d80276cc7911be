//! Every block with equal probability, independently (fio with `norandommap`).

use crate::random::Random;
use crate::workload::place::Blocks;
use crate::workload::sizes::JOB_CLASSES;

/// See the file's description.
#[derive(Clone, Debug)]
pub struct Uniform {
    counts: [u64; JOB_CLASSES],
}

impl Uniform {
    /// `counts` are the blocks of each job class.
    pub fn new(counts: [u64; JOB_CLASSES]) -> Uniform {
        Uniform { counts }
    }
}

impl Blocks for Uniform {
    #[inline(always)]
    fn block(&mut self, job_class: usize, random: &mut Random) -> u64 {
        random.below(self.counts[job_class])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::statistics::assert_shares;

    #[test]
    fn blocks_and_pairs_of_successive_blocks_are_equally_likely() {
        let mut uniform = Uniform::new([37, 10]);
        let mut random = Random::new(2);
        let mut pairs = vec![0; 37 * 37];
        for _ in 0..100_000 {
            let first = uniform.block(0, &mut random);
            pairs[(first * 37 + uniform.block(0, &mut random)) as usize] += 1;
        }
        assert_shares(&pairs, &[1.0; 37 * 37]);
        let mut blocks = [0; 10];
        (0..100_000).for_each(|_| blocks[uniform.block(1, &mut random) as usize] += 1);
        assert_shares(&blocks, &[1.0; 10]);
    }
}
