//! How often a read of a page is repeated: by the reads, the age and the erases of its block.
//!
//! Each page has a limit of its own that never changes, since it follows from the word line and the layer that the page
//! is on: a page that needs a retry needs it at every read until its block is erased. So no random numbers are drawn,
//! and a result does not depend on the order in which pages are read.

use crate::divisor::Divisor;
use crate::nand::Geometry;
use crate::random::mix;
use crate::random::power::{exp2, log2};
use crate::specification::drive::ReadRetries;
use std::f64::consts::LN_2;

const NEVER: u64 = u64::MAX;
const DAY_NS: f64 = 86_400e9;

#[derive(Clone, Debug)]
pub(super) struct Retries {
    law: Law,
    pages_per_erase_unit: Divisor,
    /// The pages of a superblock are on its blocks in turn.
    blocks_per_erase_unit: Divisor,
    /// Page reads since the last erase, by erase unit and block.
    reads: Vec<u32>,
    /// By erase unit: when its first page was programmed since the last erase.
    programmed_ns: Vec<u64>,
    /// By erase unit: erases, with those before the run.
    erases: Vec<u32>,
}

impl Retries {
    /// None for a drive without retries, whose table has been checked otherwise.
    pub fn new(said: &ReadRetries, geometry: &Geometry) -> Option<Box<Self>> {
        said.is_on().then(|| {
            let erase_units = geometry.erase_units_nominal() as usize;
            let blocks = geometry.blocks_per_erase_unit();
            Box::new(Self {
                law: Law::new(said),
                pages_per_erase_unit: Divisor::new(geometry.units_per_erase_unit() / geometry.units_per_page),
                blocks_per_erase_unit: Divisor::new(blocks),
                reads: vec![0; erase_units * blocks as usize],
                programmed_ns: vec![NEVER; erase_units],
                erases: vec![said.cycles_before; erase_units],
            })
        })
    }

    /// A page is read. Returns how often the read is repeated.
    pub fn read(&mut self, now: u64, page: u32) -> u32 {
        let erase_unit = self.pages_per_erase_unit.quotient(page) as usize;
        let block = self.blocks_per_erase_unit.remainder(self.pages_per_erase_unit.remainder(page));
        let reads = &mut self.reads[erase_unit * self.blocks_per_erase_unit.get() as usize + block as usize];
        // `NEVER` is later than now.
        let days = now.saturating_sub(self.programmed_ns[erase_unit]) as f64 / DAY_NS;
        let severity = self.law.severity(f64::from(*reads), days, f64::from(self.erases[erase_unit]));
        *reads = reads.saturating_add(1);
        self.law.retries(page, severity)
    }

    pub fn programmed(&mut self, now: u64, page: u32) {
        let first_ns = &mut self.programmed_ns[self.pages_per_erase_unit.quotient(page) as usize];
        *first_ns = now.min(*first_ns);
    }

    pub fn erased(&mut self, erase_unit: u32) {
        let blocks = self.blocks_per_erase_unit.get() as usize;
        let erase_unit = erase_unit as usize;
        self.reads[erase_unit * blocks..(erase_unit + 1) * blocks].fill(0);
        self.programmed_ns[erase_unit] = NEVER;
        self.erases[erase_unit] = self.erases[erase_unit].saturating_add(1);
    }
}

/// (x / `scale`)^`exponent`; 0 with a scale of 0.
#[derive(Clone, Copy, Debug)]
struct Term {
    scale: f64,
    exponent: f64,
}

impl Term {
    fn of(self, x: f64) -> f64 {
        if x == 0.0 || self.scale == 0.0 { 0.0 } else { exp2(self.exponent * log2(x / self.scale)) }
    }
}

#[derive(Clone, Debug)]
struct Law {
    reads: Term,
    days: Term,
    cycles: Term,
    severities: Vec<f64>,
    spread: f64,
}

impl Law {
    fn new(said: &ReadRetries) -> Self {
        Self {
            reads: Term { scale: said.reads, exponent: said.reads_exponent },
            days: Term { scale: said.days, exponent: said.days_exponent },
            cycles: Term { scale: said.cycles, exponent: said.cycles_exponent },
            severities: said.severities.clone(),
            spread: said.spread,
        }
    }

    fn severity(&self, reads: f64, days: f64, cycles: f64) -> f64 {
        self.reads.of(reads) + self.days.of(days) + self.cycles.of(cycles)
    }

    fn retries(&self, page: u32, severity: f64) -> u32 {
        if severity == 0.0 {
            return 0;
        }
        let limit = severity / self.limit(page);
        self.severities.iter().take_while(|&&needed| limit > needed).count() as u32
    }

    /// Of all pages, a Weibull distribution with the scale 1: -ln u has an exponential one, for u between 0 and 1.
    fn limit(&self, page: u32) -> f64 {
        const CELL: f64 = 1.0 / (1u64 << 52) as f64;
        let u = ((mix(u64::from(page) + 1) >> 12) as f64 + 0.5) * CELL;
        exp2(log2(-LN_2 * log2(u)) / self.spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Law {
        Law::new(&ReadRetries {
            retry_us: vec![80.0, 160.0, 900.0],
            severities: vec![1.0, 2.0, 4.0],
            spread: 1.5,
            reads: 1000.0,
            days: 100.0,
            cycles: 3000.0,
            ..ReadRetries::default()
        })
    }

    #[test]
    fn severities_of_reads_age_and_wear_add_up() {
        let law = law();
        assert_eq!(law.severity(0.0, 0.0, 0.0), 0.0);
        assert_eq!(law.severity(1000.0, 100.0, 3000.0), 3.0);
        assert!((law.severity(2000.0, 0.0, 0.0) - 2f64.powf(1.71)).abs() < 1e-12);
        assert!((law.severity(0.0, 50.0, 0.0) - 0.5f64.powf(0.54)).abs() < 1e-12);
        assert!((law.severity(0.0, 0.0, 6000.0) - 2f64.powf(2.05)).abs() < 1e-12);
        assert_eq!(Law { cycles: Term { scale: 0.0, exponent: 2.0 }, ..law }.severity(0.0, 0.0, 1e6), 0.0);
    }

    #[test]
    fn the_share_of_pages_that_need_a_retry_is_the_distribution_s() {
        let law = law();
        let pages = 200_000;
        for severity in [0.1, 0.5, 1.0, 2.0, 5.0] {
            let mut counts = [0u32; 4];
            (0..pages).for_each(|page| counts[law.retries(page, severity) as usize] += 1);
            for (index, needed) in law.severities.iter().enumerate() {
                let share = f64::from(counts[index + 1..].iter().sum::<u32>()) / f64::from(pages);
                let expected = 1.0 - (-(severity / needed).powf(1.5)).exp();
                // Four standard deviations of a count.
                let tolerance = 4.0 * (expected * (1.0 - expected) / f64::from(pages)).sqrt();
                assert!((share - expected).abs() <= tolerance, "{severity} of {needed}: {share}, not {expected}");
            }
        }
    }

    #[test]
    fn a_page_never_needs_fewer_retries_at_a_higher_severity() {
        let law = law();
        for page in 0..1000 {
            let retries: Vec<u32> = (0..60).map(|step| law.retries(page, f64::from(step) * 0.2)).collect();
            assert!(retries.is_sorted(), "page {page}: {retries:?}");
        }
    }
}
