//! The table `[read_retries]`: reads that the controller repeats, because time, wear or reads have changed the cells.
//!
//! A block has a severity, the sum of a power of its reads, of its age and of its erases. The form is that of published
//! models of raw bit errors (Mielke et al., "Reliability of Solid-State Drives Based on NAND Flash Memory", Proc. IEEE
//! 2017), without their products of wear with age and reads, whose exponents are small; the default exponents are those
//! of Kim, Choi and Min for 72-layer TLC ("Design Tradeoffs for SSD Reliability", FAST 2019). Pages differ: the severity
//! at which one needs a retry follows a Weibull distribution, as lifetimes of weakest links do.

use crate::error::SpecificationError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads that are repeated with other voltages; off by default. A page needs k retries or more once the severity of its
/// block, (reads / `reads`)^`reads_exponent` + (days / `days`)^`days_exponent` + (erases / `cycles`)^`cycles_exponent`,
/// exceeds the page's own limit: of all pages the share 1 - exp(-(severity / `severities`[k])^`spread`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadRetries {
    /// how long the first, second and third retry occupy the die, in addition to `nand.read_us`; no number: no retries
    #[schemars(length(max = 3), extend(
        "unit" = "us",
        "acts" = "with a clock",
        "examples" = [[80.0, 160.0, 900.0]],
        "allowed" = "a list of up to 3 numbers of 0 or more",
    ))]
    pub retry_us: Vec<f64>,
    /// by retry: severity at which 63 % of the pages need it; as many as retries, ascending
    #[schemars(length(max = 3), extend(
        "unit" = "severity",
        "acts" = "with read_retries.retry_us",
        "examples" = [[1.0, 1.6, 2.5]],
        "allowed" = "a list of up to 3 numbers above 0",
    ))]
    pub severities: Vec<f64>,
    /// how alike pages are: the exponent of the Weibull distribution of their limits
    #[schemars(extend(
        "unit" = "exponent",
        "exclusiveMinimum" = 0.0,
        "maximum" = 1000.0,
        "acts" = "with read_retries.retry_us",
        "examples" = [1.5],
    ))]
    pub spread: f64,
    /// reads of a block's pages since it was erased that alone make the severity 1; 0: reads do not count
    #[schemars(range(min = 0), example = 400_000.0, extend("unit" = "reads", "acts" = "with read_retries.retry_us"))]
    pub reads: f64,
    /// exponent of the reads
    #[schemars(extend(
        "unit" = "exponent",
        "exclusiveMinimum" = 0.0,
        "maximum" = 1000.0,
        "acts" = "with read_retries.reads",
        "examples" = [1.71],
    ))]
    pub reads_exponent: f64,
    /// days since the first page of an erase unit was programmed that alone make the severity 1; 0: time does not count
    #[schemars(range(min = 0), example = 900.0, extend("unit" = "days", "acts" = "with read_retries.retry_us"))]
    pub days: f64,
    /// exponent of the days
    #[schemars(extend(
        "unit" = "exponent",
        "exclusiveMinimum" = 0.0,
        "maximum" = 1000.0,
        "acts" = "with read_retries.days",
        "examples" = [0.54],
    ))]
    pub days_exponent: f64,
    /// erases of a block that alone make the severity 1; 0: wear does not count
    #[schemars(range(min = 0), example = 4000.0, extend("unit" = "P/E cycles", "acts" = "with read_retries.retry_us"))]
    pub cycles: f64,
    /// exponent of the erases
    #[schemars(extend(
        "unit" = "exponent",
        "exclusiveMinimum" = 0.0,
        "maximum" = 1000.0,
        "acts" = "with read_retries.cycles",
        "examples" = [2.05],
    ))]
    pub cycles_exponent: f64,
    /// erases of each block before the run, of a drive that was used before
    #[schemars(example = 1500, extend("unit" = "P/E cycles", "acts" = "with read_retries.cycles"))]
    pub cycles_before: u32,
}

impl Default for ReadRetries {
    fn default() -> Self {
        Self {
            retry_us: Vec::new(),
            severities: Vec::new(),
            spread: 1.5,
            reads: 0.0,
            reads_exponent: 1.71,
            days: 0.0,
            days_exponent: 0.54,
            cycles: 0.0,
            cycles_exponent: 2.05,
            cycles_before: 0,
        }
    }
}

impl ReadRetries {
    /// The most retries of a read.
    pub const RETRIES_MAX: usize = 3;

    /// Whether reads may need retries.
    pub fn is_on(&self) -> bool {
        !self.retry_us.is_empty()
    }

    /// Checks that concern runs with a clock only. Errors name the key.
    pub fn check(&self) -> Result<(), SpecificationError> {
        let refuse = |key: &str, value: String, allowed: &str| {
            Err(SpecificationError::new(format!("read_retries.{key}"), value, allowed))
        };
        if self.retry_us.len() > Self::RETRIES_MAX || self.retry_us.iter().any(|us| !(0.0..=1e9).contains(us)) {
            return refuse("retry_us", format!("{:?}", self.retry_us), "up to 3 times of 0 to 10^9 microseconds");
        }
        let ascends = self.severities.is_sorted() && self.severities.iter().all(|&severity| severity > 0.0);
        if self.severities.len() != self.retry_us.len() || !ascends {
            let allowed =
                format!("{} numbers above 0, as many as read_retries.retry_us, ascending", self.retry_us.len());
            return refuse("severities", format!("{:?}", self.severities), &allowed);
        }
        let exponents = [
            ("spread", self.spread),
            ("reads_exponent", self.reads_exponent),
            ("days_exponent", self.days_exponent),
            ("cycles_exponent", self.cycles_exponent),
        ];
        if let Some((key, value)) = exponents.into_iter().find(|(_, value)| !(*value > 0.0 && *value <= 1000.0)) {
            return refuse(key, value.to_string(), "above 0 to 1000");
        }
        let scales = [("reads", self.reads), ("days", self.days), ("cycles", self.cycles)];
        if let Some((key, value)) = scales.into_iter().find(|(_, value)| !(*value >= 0.0 && value.is_finite())) {
            return refuse(key, value.to_string(), "0, or a number above it");
        }
        if self.is_on() && scales.iter().all(|(_, value)| *value == 0.0) {
            return refuse(
                "reads",
                "0".into(),
                "above 0, or read_retries.days or .cycles above 0: nothing causes retries",
            );
        }
        Ok(())
    }
}
