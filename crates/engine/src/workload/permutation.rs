//! A keyed permutation of 0..n for any n, in constant memory: scatters ranks over blocks, and orders a random map.

use crate::random::mix;

const ROUNDS: usize = 4;

/// A Feistel network over the product of two ranges, `left` x `right` >= n, repeated for any image at or above n (Black
/// and Rogaway 2002, "Ciphers with Arbitrary Finite Domains").
///
/// `left` is a power of two near the square root of n and `right` is n / left rounded up, so that fewer than `left`
/// values are outside n and a repetition is rare: the cost hardly depends on n. The high part is mixed first, so that
/// neighbours separate at once. For fewer than a hundred values not every order has exactly the same probability. Not
/// for cryptography.
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    left_bits: u32,
    left_mask: u64,
    right: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// Panics if `count` is zero or above 2^62.
    pub fn new(count: u64, seed: u64) -> Permutation {
        assert!(count > 0 && count <= 1 << 62, "a permutation of {count} values");
        let left_bits = count.ilog2() / 2;
        let mut state = seed;
        let keys = std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        });
        Permutation { count, left_bits, left_mask: (1 << left_bits) - 1, right: count.div_ceil(1 << left_bits), keys }
    }

    /// The image of `value`, which must be below the count.
    #[inline(always)]
    pub fn image(&self, value: u64) -> u64 {
        debug_assert!(value < self.count);
        let mut image = self.walk(value);
        while image >= self.count {
            image = self.walk(image);
        }
        image
    }

    #[inline(always)]
    fn walk(&self, value: u64) -> u64 {
        let mut low = value & self.left_mask;
        let mut high = value >> self.left_bits;
        for keys in self.keys.chunks_exact(2) {
            // Below `right`, as 32 random bits times `right` shifted down by 32; `right` itself is at most 2^32.
            high += (round(low, keys[0]) * self.right) >> 32;
            high = if high >= self.right { high - self.right } else { high };
            low = (low + round(high, keys[1])) & self.left_mask;
        }
        (high << self.left_bits) | low
    }
}

/// 32 well mixed bits of `value` under `key`.
#[inline(always)]
fn round(value: u64, key: u64) -> u64 {
    let mixed = (value ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 32)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::statistics::assert_shares;
    use proptest::prelude::*;

    fn assert_bijection(count: u64, seed: u64) {
        let permutation = Permutation::new(count, seed);
        let mut seen = vec![false; count as usize];
        for value in 0..count {
            let image = permutation.image(value) as usize;
            assert!(!seen[image], "{count} values, seed {seed}: {image} is hit twice");
            seen[image] = true;
        }
    }

    #[test]
    fn every_small_count_is_permuted() {
        for count in 1..=600 {
            assert_bijection(count, count * 31);
        }
    }

    #[test]
    fn counts_round_powers_of_two_are_permuted() {
        for bits in [10, 13, 16, 17] {
            for count in [(1 << bits) - 1, 1 << bits, (1 << bits) + 1] {
                assert_bijection(count, 5);
            }
        }
    }

    #[test]
    fn images_stay_in_range_for_huge_counts() {
        for count in [1 << 62, (1 << 62) - 1, (1 << 61) + 1, 3 << 40] {
            let permutation = Permutation::new(count, 9);
            let images: std::collections::HashSet<u64> =
                (0..1000).chain(count - 1000..count).map(|value| permutation.image(value)).collect();
            assert_eq!(images.len(), 2000);
            assert!(images.iter().all(|&image| image < count));
        }
    }

    #[test]
    fn a_value_goes_anywhere_equally_often_over_the_keys() {
        for count in [2, 3, 16, 100, 1000, 1025] {
            for value in [0, count / 2, count - 1] {
                let mut hits = vec![0; count as usize];
                for seed in 0..30_000 {
                    hits[Permutation::new(count, seed).image(value) as usize] += 1;
                }
                assert_shares(&hits, &vec![1.0; count as usize]);
            }
        }
    }

    #[test]
    fn neighbours_part() {
        // If blocks adjacent in rank were adjacent in space, hot data would be clustered, which no test of frequencies
        // detects.
        let count = 1_000_003;
        let permutation = Permutation::new(count, 11);
        let mut distances = [0; 64];
        for value in 0..100_000 {
            let distance = (permutation.image(value + 1) + count - permutation.image(value)) % count;
            distances[(distance * 64 / count) as usize] += 1;
        }
        assert_shares(&distances, &[1.0; 64]);
    }

    proptest! {
        #[test]
        fn any_count_and_key_is_a_bijection(count in 1u64..5000, seed: u64) {
            assert_bijection(count, seed);
        }
    }
}
