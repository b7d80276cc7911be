//! Admission of writes at a share of their arrival rate, while garbage collection has a backlog.
//!
//! Some controllers slow the host down in this way. Where the host has enough requests outstanding, all of them then
//! wait, and each write takes their number divided by the admitted rate. The arrival rate is measured only while no write
//! waits: otherwise the host submits as fast as the drive admits, and a share of that would become less and less.

use super::next_admission::NextAdmission;

/// The mean of the arrival rate is over about this many units.
const UNITS_IN_MEAN: f64 = 1024.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Throttle {
    /// The share of the arrival rate that is admitted.
    share: f64,
    /// The mean time between units that arrive.
    interval_ns: f64,
    arrived_ns: u64,
    /// When the next write is admitted.
    pub next: NextAdmission,
}

impl Throttle {
    /// None if the share is 0: no throttle.
    pub fn new(share: f64) -> Option<Self> {
        (share > 0.0).then_some(Self { share, interval_ns: 0.0, arrived_ns: 0, next: NextAdmission::default() })
    }

    /// A write of this many units has arrived; `is_behind_others`: writes wait.
    pub fn arrived(&mut self, now: u64, units: u64, is_behind_others: bool) {
        let interval_ns = (now - self.arrived_ns) as f64 / units.max(1) as f64;
        self.arrived_ns = now;
        if !is_behind_others {
            let weight = (units as f64 / UNITS_IN_MEAN).min(1.0);
            self.interval_ns += weight * (interval_ns - self.interval_ns);
        }
    }

    /// Whether a write is admitted now. `has_backlog`: garbage collection has one.
    pub fn admits(&self, now: u64, has_backlog: bool) -> bool {
        !has_backlog || self.next.has_come_by(now)
    }

    /// A write of this many units was admitted.
    pub fn admitted(&mut self, now: u64, units: u64, has_backlog: bool) {
        let pause_ns = (self.interval_ns / self.share * units as f64).round() as u64;
        self.next.at_ns = if has_backlog { now.max(self.next.at_ns) + pause_ns } else { now };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_arrival_rate_is_admitted_during_a_backlog() {
        assert!(Throttle::new(0.0).is_none());
        let mut throttle = Throttle::new(0.8).unwrap();
        for arrival in 1..20_000 {
            throttle.arrived(arrival * 1000, 1, false);
            assert!(throttle.admits(arrival * 1000, false));
            throttle.admitted(arrival * 1000, 1, false);
        }
        let now = 20_000_000;
        throttle.arrived(now - 500, 1, true);
        throttle.arrived(now, 1, true);
        assert!(throttle.admits(now, true), "the first");
        throttle.admitted(now, 1, true);
        assert!(!throttle.admits(now + 1249, true) && throttle.admits(now + 1250, true));
        assert!(throttle.admits(now + 1, false), "the backlog is gone");
        assert_eq!(throttle.next.report(now), Some(now + 1250));
        assert_eq!(throttle.next.report(now), None, "it is due already");
        throttle.next.has_come();
        throttle.admitted(now + 1250, 4, true);
        assert_eq!(throttle.next.report(now), Some(now + 1250 + 4 * 1250));
    }
}
