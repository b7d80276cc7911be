//! Admission of writes at the mean rate at which the flash frees the buffer.
//!
//! Programs free the buffer in large pieces, at irregular times, and writes that are admitted as soon as there is room
//! wait as irregularly. A controller that admits them evenly uses the buffer as a reservoir: with N writes outstanding and
//! X units freed per second each of them waits N/X.

use super::next_admission::NextAdmission;

/// The share of the buffer at which writes are admitted at the mean rate.
const EVEN_SHARE: f64 = 0.5;

#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// The mean interval is over about this many units.
    units_in_mean: f64,
    /// The mean time between units that leave the buffer.
    interval_ns: f64,
    /// The units that it is over so far.
    measured_units: f64,
    /// When units last left it while writes waited.
    freed_ns: Option<u64>,
    /// When the next write is admitted.
    pub next: NextAdmission,
}

impl Pacer {
    /// With the mean over about so many units, at least one.
    pub fn new(units_in_mean: u64) -> Self {
        Self {
            units_in_mean: units_in_mean as f64,
            interval_ns: 0.0,
            measured_units: 0.0,
            freed_ns: None,
            next: NextAdmission::default(),
        }
    }

    /// So many units have left the buffer. Only while writes wait is the rate that of the flash and not of the host.
    pub fn freed(&mut self, now: u64, units: u64, are_waiting: bool) {
        if let Some(freed_ns) = self.freed_ns {
            let units = units as f64;
            self.measured_units = (self.measured_units + units).min(self.units_in_mean.max(units));
            let interval_ns = (now - freed_ns) as f64 / units;
            self.interval_ns += units / self.measured_units * (interval_ns - self.interval_ns);
        }
        self.freed_ns = are_waiting.then_some(now);
    }

    /// Whether a write is admitted now, while writes wait.
    pub fn admits(&self, now: u64) -> bool {
        self.next.has_come_by(now)
    }

    /// A write of so many units was admitted to a buffer that is filled to this share. The pause is in proportion to it, so
    /// that a mean rate of a short or a slow time corrects itself.
    pub fn admitted(&mut self, now: u64, units: u64, filled_share: f64) {
        let pause_ns = self.interval_ns * units as f64 * filled_share / EVEN_SHARE;
        // At most one pause is made up for.
        self.next.at_ns = self.next.at_ns.max(now - now.min(pause_ns as u64)) + pause_ns.round() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_admitted_at_the_mean_rate_at_which_units_leave() {
        let mut pacer = Pacer::new(480);
        // 48 units each 480 us: one each 10 us.
        for program in 1..200 {
            pacer.freed(program * 480_000, 48, true);
        }
        // The host was idle in between.
        pacer.freed(200 * 480_000, 48, false);
        pacer.freed(2000 * 480_000, 48, true);
        let now = 2000 * 480_000;
        assert!(pacer.admits(now));
        for (filled_share, pause_ns) in [(0.5, 10_000), (1.0, 20_000), (0.25, 5_000)] {
            let mut pacer = pacer;
            (0..10).for_each(|_| pacer.admitted(now, 1, filled_share));
            // The first makes up for time in which none came.
            assert!(!pacer.admits(now + 9 * pause_ns - 10) && pacer.admits(now + 9 * pause_ns + 10));
        }
        pacer.admitted(now, 1, 0.5);
        pacer.admitted(now, 1, 0.5);
        assert_eq!(pacer.next.report(now), Some(now + 10_000));
        assert_eq!(pacer.next.report(now), None, "it is due already");
        pacer.next.has_come();
        assert_eq!(pacer.next.report(now), Some(now + 10_000));
    }
}
