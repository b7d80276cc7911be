//! The link between host and controller: one transfer at a time in each direction, or in both together, first come,
//! first served; and the maximum rate of commands.

use crate::specification::drive::Rate;

/// A transfer's direction, seen from the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
}

#[derive(Clone, Debug)]
pub struct Link {
    /// Nanoseconds for a byte, in units of 2^-20.
    nanoseconds_per_byte: u64,
    command_ns: u64,
    /// For each direction, or the first for both.
    free_at_ns: [u64; 2],
    is_half_duplex: bool,
}

const FRACTION_BITS: u32 = 20;

impl Link {
    pub fn new(rate: &Rate) -> Self {
        Self {
            nanoseconds_per_byte: (1000.0 / rate.mb_s * f64::from(1 << FRACTION_BITS)).round() as u64,
            command_ns: (rate.command_us * 1000.0).round() as u64,
            free_at_ns: [0, 0],
            is_half_duplex: rate.is_half_duplex,
        }
    }

    /// Transfers a command and its data after all earlier ones. Returns when the transfer ends.
    pub fn carry(&mut self, now: u64, direction: Direction, bytes: u32) -> u64 {
        self.carry_piece(now, direction, bytes, true)
    }

    /// The same for a part of a command's data; the command itself is transferred with the last part.
    pub fn carry_piece(&mut self, now: u64, direction: Direction, bytes: u32, ends_command: bool) -> u64 {
        let half = if self.is_half_duplex { 0 } else { direction as usize };
        let free_at_ns = &mut self.free_at_ns[half];
        let data_ns = (u64::from(bytes) * self.nanoseconds_per_byte) >> FRACTION_BITS;
        *free_at_ns = now.max(*free_at_ns) + if ends_command { self.command_ns } else { 0 } + data_ns;
        *free_at_ns
    }
}

/// The minimum interval between commands. A command after a longer pause does not wait.
#[derive(Clone, Debug)]
pub struct CommandLimit {
    gap_ns: f64,
    free_at_ns: f64,
}

impl CommandLimit {
    pub fn new(commands_per_second_max: u64) -> Option<Self> {
        (commands_per_second_max > 0).then(|| Self { gap_ns: 1e9 / commands_per_second_max as f64, free_at_ns: 0.0 })
    }

    /// When a command that arrives now is admitted.
    pub fn admit(&mut self, now: u64) -> u64 {
        let at_ns = self.free_at_ns.max(now as f64);
        self.free_at_ns = at_ns + self.gap_ns;
        at_ns.round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_share_a_half_duplex_link_only() {
        let rate = |is_half_duplex| Rate { mb_s: 500.0, is_half_duplex, command_us: 1.0 };
        let mut half = Link::new(&rate(true));
        assert_eq!([half.carry(0, Direction::In, 1000), half.carry(0, Direction::Out, 1000)], [3000, 6000]);
        assert_eq!(half.carry(100_000, Direction::In, 0), 101_000);
        let mut full = Link::new(&rate(false));
        assert_eq!([full.carry(0, Direction::In, 1000), full.carry(0, Direction::Out, 1000)], [3000, 3000]);
    }

    #[test]
    fn a_limit_spreads_what_comes_together() {
        let mut limit = CommandLimit::new(300_000).unwrap();
        let times: Vec<u64> = (0..4).map(|_| limit.admit(1000)).collect();
        assert_eq!(times, [1000, 4333, 7667, 11000]);
        assert_eq!(limit.admit(1_000_000), 1_000_000);
        assert!(CommandLimit::new(0).is_none());
    }
}
