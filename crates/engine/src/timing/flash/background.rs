//! An internal operation that each die performs periodically, whatever its load, such as refreshing its data or
//! calibrating its reads. It takes some milliseconds, begins when the current operation is done, and cannot be
//! suspended.
//!
//! It is due at regular times, which differ from die to die. No event waits for it: when an idle die receives an
//! operation, an internal operation that was due in the meantime counts as begun on time, and only its remainder delays
//! the die.

use crate::specification::drive::Nand;

#[derive(Clone, Debug)]
pub(super) struct Background {
    duration_ns: u64,
    period_ns: u64,
    /// By die.
    due_ns: Vec<u64>,
}

impl Background {
    /// None if dies have no such operation.
    pub fn new(nand: &Nand) -> Option<Box<Self>> {
        if nand.background_us == 0.0 || nand.background_per_second == 0.0 {
            return None;
        }
        let duration_ns = (nand.background_us * 1000.0).round() as u64;
        let period_ns = (1e9 / nand.background_per_second).round() as u64;
        let dies = u64::from(nand.channels * nand.dies_per_channel);
        let due_ns = (0..dies).map(|die| period_ns / (2 * dies) * (2 * die + 1)).collect();
        Some(Box::new(Self { duration_ns, period_ns, due_ns }))
    }

    /// Until when a die that is to start an operation now is busy with its internal operation, having been idle since
    /// `rested_from_ns`; None if it is not.
    pub fn ends_ns(&mut self, die: usize, rested_from_ns: u64, now: u64) -> Option<u64> {
        let due_ns = &mut self.due_ns[die];
        if *due_ns > now {
            return None;
        }
        let begun_ns = rested_from_ns.max(*due_ns);
        // All that were due since then began on time, including the last.
        let missed = (now - begun_ns) / self.period_ns;
        let last_begun_ns = if missed > 0 { *due_ns + missed * self.period_ns } else { begun_ns };
        *due_ns += (missed + 1) * self.period_ns;
        Some(last_begun_ns + self.duration_ns).filter(|&ends_ns| ends_ns > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::Drive;

    #[test]
    fn what_was_due_while_a_die_rested_has_begun_on_time() {
        let nand = Nand { background_us: 2000.0, background_per_second: 10.0, ..Drive::textbook().nand };
        let mut background = Background::new(&nand).unwrap();
        // One die, 100 ms: due at 50, 150, 250 ms and so on.
        assert_eq!(background.ends_ns(0, 0, 49_999_999), None);
        assert_eq!(background.ends_ns(0, 0, 51_000_000), Some(52_000_000), "begun when it was due");
        assert_eq!(background.ends_ns(0, 0, 51_000_000), None, "once");
        assert_eq!(background.ends_ns(0, 151_500_000, 151_500_000), Some(153_500_000), "the die was busy until now");
        assert_eq!(background.ends_ns(0, 200_000_000, 260_000_000), None, "over and done");
        assert_eq!(background.ends_ns(0, 300_000_000, 751_000_000), Some(752_000_000), "the last of several");
        assert_eq!(background.ends_ns(0, 751_000_000, 849_000_000), None);
    }
}
