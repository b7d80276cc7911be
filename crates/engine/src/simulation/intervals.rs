//! The drive's activity in each interval of simulated time, of a given length: one row each, the last up to the end of
//! the run.
//!
//! This is not the time series, which has latencies and chooses its own lengths (`time_series.rs`).

use crate::ledger::Ledger;
use schemars::JsonSchema;
use serde::Serialize;

/// Counts are those of the interval alone.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// The end of the interval in simulated time.
    pub end_ns: u64,
    /// The drive's counters.
    pub ledger: Ledger,
}

#[derive(Clone, Debug)]
pub struct Intervals {
    interval_ns: u64,
    ended: Vec<Interval>,
    /// The drive's counters at the end of the last interval.
    at_end: Ledger,
    /// The same when they were last noted.
    noted: Ledger,
}

impl Intervals {
    pub fn new(interval_ns: u64) -> Self {
        Self { interval_ns, ended: Vec::new(), at_end: Ledger::default(), noted: Ledger::default() }
    }

    /// The drive's counters at a time, which never decreases. What was counted since the last call belongs to the
    /// interval of this one.
    pub fn note(&mut self, now_ns: u64, ledger: &Ledger) {
        while now_ns >= self.next_ns() {
            self.end(self.next_ns());
        }
        self.noted = *ledger;
    }

    /// Includes the incomplete last interval, if there is one.
    pub fn into_rows(mut self, end_ns: u64, ledger: &Ledger) -> Vec<Interval> {
        // What was counted at the end itself belongs to the last interval, which may be a whole one.
        self.note(end_ns.saturating_sub(1), ledger);
        if end_ns + self.interval_ns > self.next_ns() {
            self.end(end_ns);
        }
        self.ended
    }

    fn next_ns(&self) -> u64 {
        (self.ended.len() as u64 + 1).saturating_mul(self.interval_ns)
    }

    fn end(&mut self, end_ns: u64) {
        self.ended.push(Interval { end_ns, ledger: self.noted - self.at_end });
        self.at_end = self.noted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(host_written_bytes: u64) -> Ledger {
        Ledger { host_written_bytes, ..Ledger::default() }
    }

    #[test]
    fn each_interval_has_what_was_counted_in_it_and_the_last_one_is_as_long_as_is_left() {
        let mut intervals = Intervals::new(100);
        for (now_ns, bytes) in [(40, 4), (99, 9), (101, 10), (250, 25), (460, 46)] {
            intervals.note(now_ns, &written(bytes));
        }
        let rows = intervals.clone().into_rows(470, &written(47));
        let found: Vec<_> = rows.iter().map(|row| (row.end_ns, row.ledger.host_written_bytes)).collect();
        assert_eq!(found, [(100, 9), (200, 1), (300, 15), (400, 0), (470, 22)]);
        let whole = intervals.into_rows(500, &written(50));
        assert_eq!((whole.len(), whole.last().map(|row| row.end_ns)), (5, Some(500)));
    }
}
