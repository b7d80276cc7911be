//! Division by a number known only at run time, as one multiplication.

/// Exact for all 32-bit numbers (Robison 2005, rounding down: with the dividend increased by one, the error of the
/// reciprocal times the dividend is above 0 and below 2^64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    divisor: u32,
    /// floor((2^64 - 1) / divisor)
    reciprocal: u64,
}

impl Divisor {
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "nothing is divided by 0");
        Self { divisor, reciprocal: u64::MAX / u64::from(divisor) }
    }

    #[inline(always)]
    pub fn get(self) -> u32 {
        self.divisor
    }

    #[inline(always)]
    pub fn quotient(self, dividend: u32) -> u32 {
        ((u128::from(u64::from(dividend) + 1) * u128::from(self.reciprocal)) >> 64) as u32
    }

    #[inline(always)]
    pub fn remainder(self, dividend: u32) -> u32 {
        dividend - self.quotient(dividend) * self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn division_by_reciprocal_is_exact(dividend in any::<u32>(), divisor in 1u32..=u32::MAX, small in 1u32..200) {
            for divisor in [divisor, small, u32::MAX / small] {
                prop_assert_eq!(Divisor::new(divisor).quotient(dividend), dividend / divisor);
                prop_assert_eq!(Divisor::new(divisor).remainder(dividend), dividend % divisor);
            }
        }
    }
}
