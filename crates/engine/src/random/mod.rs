//! Random numbers: xoshiro256++ and the conversions needed by streams, policies and faults. They give the same bits on
//! any machine, and so use no functions of the platform's mathematics library.

pub mod power;

use power::log2;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// A generator; a clone continues with the same numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 uniform random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// An integer below `bound`.
    #[inline(always)]
    pub fn below(&mut self, bound: u64) -> u64 {
        scale(self.bits(), bound).0
    }

    /// A number strictly between 0 and 1: the middle of one of 2^52 equal cells, so that neither end is ever drawn.
    #[inline(always)]
    pub fn unit(&mut self) -> f64 {
        const CELL: f64 = 1.0 / (1u64 << 52) as f64;
        ((self.bits() >> 12) as i64 as f64 + 0.5) * CELL
    }

    /// A standard normal number by the polar method (Marsaglia and Bray 1964). Its second number is discarded, so that
    /// the generator holds the only state.
    #[inline(always)]
    pub fn standard_normal(&mut self) -> f64 {
        loop {
            let x = 2.0 * self.unit() - 1.0;
            let y = 2.0 * self.unit() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                return x * (-2.0 * LN_2 * log2(square) / square).sqrt();
            }
        }
    }
}

/// Splits 64 random bits into an integer below `bound` and a remainder of 64 bits that is again uniform.
///
/// Multiply and shift (Lemire 2019, "Fast Random Integer Generation in an Interval") without its rejection step: the
/// probabilities of two integers differ by at most one part in 2^64 / `bound`, which is 2^-30 for 2^34 blocks, and
/// every draw takes exactly one random number.
#[inline(always)]
pub fn scale(bits: u64, bound: u64) -> (u64, u64) {
    let product = u128::from(bits) * u128::from(bound);
    ((product >> 64) as u64, product as u64)
}

/// SplitMix64's output function (Steele, Lea and Flood 2014): 64 well mixed bits of a number.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_takes_the_ends_to_the_ends() {
        assert_eq!(scale(0, 10).0, 0);
        assert_eq!(scale(u64::MAX, 10).0, 9);
        assert_eq!(scale(u64::MAX, 1).0, 0);
        assert_eq!(scale(1 << 63, 10), (5, 0));
    }

    #[test]
    fn unit_is_open_and_has_the_moments_of_a_uniform_number() {
        let mut random = Random::new(1);
        let draws: Vec<f64> = (0..200_000).map(|_| random.unit()).collect();
        assert!(draws.iter().all(|&u| u > 0.0 && u < 1.0));
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 0.5).abs() < 0.003, "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 0.001, "{variance}");
    }
}
