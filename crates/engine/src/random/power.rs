//! Logarithm and power to base two from additions, multiplications and one division only.
//!
//! The standard library's `ln` and `powf` are the platform's: their last bit differs between machines (even between
//! processors with one C library), and with it the ranks of a skewed distribution. A result must have the same bytes
//! everywhere, so the streams use these functions. Accurate to a few units in the last place.

use std::f64::consts::{LN_2, SQRT_2};

const MANTISSA_BITS: u32 = 52;
const ONE: u64 = 1023 << MANTISSA_BITS;

/// Base-two logarithm of a positive normal number.
///
/// x = 2^e m with m between sqrt(1/2) and sqrt(2), and ln m = 2 artanh((m - 1) / (m + 1)) as its power series.
#[inline(always)]
pub fn log2(x: f64) -> f64 {
    debug_assert!(x >= f64::MIN_POSITIVE && x.is_finite());
    const ROOT: u64 = SQRT_2.to_bits() - ONE;
    // The exponent of x / sqrt(1/2), rounded down: how often m must be doubled.
    let exponent = (x.to_bits() as i64 - (ONE + ROOT) as i64 + (1 << MANTISSA_BITS)) >> MANTISSA_BITS;
    let mantissa = f64::from_bits((x.to_bits() as i64 - (exponent << MANTISSA_BITS)) as u64);
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let q = s * s;
    let q2 = q * q;
    let q4 = q2 * q2;
    const fn c(k: u32) -> f64 {
        2.0 / LN_2 / (2 * k + 1) as f64
    }
    // s is at most 0.172, so that the first term left out is below 2^-58 of the sum.
    let low = (c(1) + q * c(2)) + q2 * (c(3) + q * c(4));
    let high = (c(5) + q * c(6)) + q2 * (c(7) + q * c(8)) + q4 * (c(9) + q * c(10));
    exponent as f64 + (s * c(0) + s * q * (low + q4 * high))
}

/// Two to the power of `y`. Beyond the range of normal numbers the result is the nearest normal power of two.
#[inline(always)]
pub fn exp2(y: f64) -> f64 {
    let y = y.clamp(-1022.0, 1023.0);
    // Adding 1.5 x 2^52 rounds to the nearest integer, which is then in the low bits.
    const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;
    let shifted = y + ROUNDING;
    let whole = shifted.to_bits().wrapping_sub(ROUNDING.to_bits());
    let f = y - (shifted - ROUNDING);
    const fn c(n: u32) -> f64 {
        let mut term = 1.0;
        let mut k = 1;
        while k <= n {
            term = term * LN_2 / k as f64;
            k += 1;
        }
        term
    }
    // |f| is at most one half, so that the first term left out is below 2^-57.
    let f2 = f * f;
    let f4 = f2 * f2;
    let f8 = f4 * f4;
    let a = (c(1) + f * c(2)) + f2 * (c(3) + f * c(4));
    let b = (c(5) + f * c(6)) + f2 * (c(7) + f * c(8));
    let d = (c(9) + f * c(10)) + f2 * (c(11) + f * c(12));
    let fraction = 1.0 + f * ((a + f4 * b) + f8 * (d + f4 * c(13)));
    fraction * f64::from_bits(ONE.wrapping_add(whole << MANTISSA_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn powers_of_two_are_exact() {
        for e in -1000..1000 {
            assert_eq!(exp2(f64::from(e)), f64::powi(2.0, e));
            assert_eq!(log2(f64::powi(2.0, e)), f64::from(e));
        }
        assert_eq!(exp2(-5000.0), f64::MIN_POSITIVE);
        assert_eq!(exp2(5000.0), f64::powi(2.0, 1023));
    }

    #[test]
    fn agree_with_the_standard_library() {
        let mut random = Random::new(7);
        for _ in 0..200_000 {
            let y = (random.unit() - 0.5) * 120.0;
            let power = exp2(y);
            assert!((power / y.exp2() - 1.0).abs() < 2e-15, "2^{y}");
            assert!((log2(power) - power.log2()).abs() <= 4e-16 * power.log2().abs().max(1.0), "log2 {power}");
            let near_one = 0.5 + 1.5 * random.unit();
            assert!((log2(near_one) - near_one.log2()).abs() <= 4e-16, "log2 {near_one}");
        }
    }
}
