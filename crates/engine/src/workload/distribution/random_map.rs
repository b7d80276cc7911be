//! Every block once in random order, then every block once in another order: fio's random map, without storing a map.
//!
//! One order serves both job classes, so it is only for job classes with the same grid.

use crate::random::Random;
use crate::workload::permutation::Permutation;
use crate::workload::place::Blocks;

/// See the file's description.
#[derive(Clone, Debug)]
pub struct RandomMap {
    count: u64,
    visited: u64,
    order: Permutation,
}

impl RandomMap {
    /// An order of `count` blocks.
    pub fn new(count: u64, random: &mut Random) -> RandomMap {
        RandomMap { count, visited: 0, order: Permutation::new(count, random.bits()) }
    }
}

impl Blocks for RandomMap {
    #[inline(always)]
    fn block(&mut self, _job_class: usize, random: &mut Random) -> u64 {
        if self.visited == self.count {
            self.start_over(random);
        }
        let block = self.order.image(self.visited);
        self.visited += 1;
        block
    }

    #[cold]
    fn start_over(&mut self, random: &mut Random) {
        *self = RandomMap::new(self.count, random);
    }

    fn pass_is_over(&self) -> bool {
        self.visited == self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pass_visits_every_block_once_in_its_own_order() {
        let mut random = Random::new(4);
        let mut map = RandomMap::new(1000, &mut random);
        let passes: Vec<Vec<u64>> = (0..3).map(|_| (0..1000).map(|_| map.block(0, &mut random)).collect()).collect();
        for pass in &passes {
            let mut sorted = pass.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..1000).collect::<Vec<u64>>());
        }
        assert_ne!(passes[0], passes[1]);
        assert_ne!(passes[1], passes[2]);
    }
}
