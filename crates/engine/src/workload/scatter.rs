//! From ranks to blocks: a permutation, so that every block is reached, rotated so that the hottest block has the
//! requested position.

use super::permutation::Permutation;

/// A permutation of blocks with a chosen position of the hottest.
#[derive(Clone, Debug)]
pub struct Scatter {
    permutation: Permutation,
    count: u64,
    turn: u64,
}

impl Scatter {
    /// With a `center`, 0 to 1, rank `hottest` is at that share of the blocks; fio's second parameter of a
    /// distribution.
    pub fn new(count: u64, seed: u64, hottest: u64, center: Option<f64>) -> Scatter {
        let permutation = Permutation::new(count, seed);
        let turn = center.map_or(0, |center| {
            let wanted = ((count as f64 * center) as u64).min(count - 1);
            (wanted + count - permutation.image(hottest)) % count
        });
        Scatter { permutation, count, turn }
    }

    /// The block of a rank; both are below the count.
    #[inline(always)]
    pub fn block(&self, rank: u64) -> u64 {
        let block = self.permutation.image(rank) + self.turn;
        if block >= self.count { block - self.count } else { block }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_center_holds_the_hottest_and_every_block_has_one_rank() {
        for (count, center, wanted) in [(1000, 0.25, 250), (1000, 0.0, 0), (1000, 1.0, 999), (7, 0.5, 3), (1, 0.3, 0)] {
            for hottest in [0, count / 2] {
                let scatter = Scatter::new(count, 5, hottest, Some(center));
                assert_eq!(scatter.block(hottest), wanted);
                let mut blocks: Vec<u64> = (0..count).map(|rank| scatter.block(rank)).collect();
                blocks.sort_unstable();
                assert_eq!(blocks, (0..count).collect::<Vec<u64>>());
            }
        }
    }

    #[test]
    fn without_a_center_ranks_lie_where_the_permutation_puts_them() {
        let scatter = Scatter::new(500, 9, 0, None);
        assert!((0..500).all(|rank| scatter.block(rank) == Permutation::new(500, 9).image(rank)));
    }
}
