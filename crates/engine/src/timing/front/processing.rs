//! The controller's time on a command, which it takes beside that of the flash.
//!
//! A share of the commands may take longer, by exponentially distributed times; answers then keep their order, as those
//! of firmware that serves one command after another.

use crate::random::Random;
use crate::random::power::log2;
use crate::specification::drive::Controller;
use std::f64::consts::LN_2;

#[derive(Clone, Debug)]
pub(super) struct Processing {
    pub command_ns: u64,
    delays: Option<Box<Delays>>,
}

impl Processing {
    pub fn new(controller: &Controller) -> Self {
        Self {
            command_ns: (controller.command_us * 1000.0).round() as u64,
            delays: Delays::new(controller.delayed_share, controller.delay_us * 1000.0),
        }
    }

    /// Whether all commands take the same time.
    pub fn is_even(&self) -> bool {
        self.delays.is_none()
    }

    /// When a command is answered whose processing begins at this time.
    #[inline]
    pub fn ends_ns(&mut self, begins_ns: u64) -> u64 {
        let at_ns = begins_ns + self.command_ns;
        self.delays.as_mut().map_or(at_ns, |delays| delays.answer_ns(at_ns))
    }
}

#[derive(Clone, Debug)]
struct Delays {
    /// The share of delayed commands.
    share: f64,
    mean_ns: f64,
    random: Random,
    /// When the last command was answered.
    answered_ns: u64,
}

impl Delays {
    /// None if no command is delayed.
    fn new(share: f64, mean_ns: f64) -> Option<Box<Self>> {
        let random = Random::new(0x6465_6c61);
        (share > 0.0 && mean_ns > 0.0).then(|| Box::new(Self { share, mean_ns, random, answered_ns: 0 }))
    }

    /// When a command is answered that would be at this time.
    fn answer_ns(&mut self, at_ns: u64) -> u64 {
        let drawn = self.random.unit();
        let more_ns =
            if drawn < self.share { (-log2(drawn / self.share) * LN_2 * self.mean_ns).round() as u64 } else { 0 };
        self.answered_ns = self.answered_ns.max(at_ns + more_ns);
        self.answered_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_and_the_times_are_as_asked() {
        assert!(Delays::new(0.0, 1000.0).is_none() && Delays::new(0.5, 0.0).is_none());
        let (share, mean_ns, count) = (0.04, 2000.0, 1_000_000_u64);
        let mut delays = Delays::new(share, mean_ns).unwrap();
        let mut more_ns: Vec<u64> = (0..count).map(|nth| delays.answer_ns(nth * 1_000_000) - nth * 1_000_000).collect();
        more_ns.sort_unstable();
        // A delay is longer than x with probability share e^(-x / mean).
        for rank in [0.01, 0.001, 0.0001] {
            let expected_ns = mean_ns * (share / rank).ln();
            let found_ns = more_ns[(count as f64 * (1.0 - rank)) as usize] as f64;
            assert!((found_ns / expected_ns - 1.0).abs() < 0.1, "{found_ns} against {expected_ns}");
        }
        assert_eq!(more_ns[(count as f64 * 0.95) as usize], 0);
    }

    #[test]
    fn answers_keep_their_order() {
        let mut delays = Delays::new(0.5, 5000.0).unwrap();
        let answers_ns: Vec<u64> = (0..1000).map(|nth| delays.answer_ns(nth * 1000)).collect();
        assert!(answers_ns.is_sorted());
    }
}
