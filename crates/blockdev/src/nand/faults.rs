//! Faults of the flash, drawn from a seed.

use serde::Deserialize;
use ssdlab_engine::random::Random;

/// The share of operations that fail, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlashFaults {
    /// Of reads of a unit: error correction fails.
    pub uncorrectable_reads: f64,
    /// Of programs of a group.
    pub program_failures: f64,
    /// Of erases of an erase unit.
    pub erase_failures: f64,
}

/// Draws which operations fail.
pub struct Injected {
    rates: FlashFaults,
    random: Random,
}

impl Injected {
    /// The same seed gives the same failures.
    pub fn new(rates: FlashFaults, seed: u64) -> Self {
        Self { rates, random: Random::new(seed ^ 0x6661_756c) }
    }

    fn happens(&mut self, rate: f64) -> bool {
        rate > 0.0 && self.random.unit() < rate
    }

    /// Draws whether a read is uncorrectable.
    #[inline]
    pub fn read_fails(&mut self) -> bool {
        self.happens(self.rates.uncorrectable_reads)
    }

    /// Draws whether a program fails.
    pub fn program_fails(&mut self) -> bool {
        self.happens(self.rates.program_failures)
    }

    /// Draws whether an erase fails.
    pub fn erase_fails(&mut self) -> bool {
        self.happens(self.rates.erase_failures)
    }
}
