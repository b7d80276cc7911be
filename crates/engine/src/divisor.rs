//! Division by a number that is known only at run time, as one multiplication.

/// Exact for all 32-bit numbers (Granlund and Montgomery 1994: the error of the reciprocal times the dividend stays
/// below 2^64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    divisor: u32,
    /// floor(2^64 / divisor) + 1, or 0 for the divisor 1, whose reciprocal does not fit.
    reciprocal: u64,
}

impl Divisor {
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "nothing is divided by 0");
        Self { divisor, reciprocal: (u64::MAX / u64::from(divisor)).wrapping_add(1) }
    }

    #[inline(always)]
    pub fn get(self) -> u32 {
        self.divisor
    }

    #[inline(always)]
    pub fn quotient(self, dividend: u32) -> u32 {
        let quotient = ((u128::from(dividend) * u128::from(self.reciprocal)) >> 64) as u32;
        if self.reciprocal == 0 { dividend } else { quotient }
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
