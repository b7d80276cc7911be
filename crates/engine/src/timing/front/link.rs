//! The link between host and controller: one transfer at a time in each direction, or in both together, first come,
//! first served; and the admission of commands, at a maximum rate and not while the controller works on a trim.

use crate::request::{Operation, Request};
use crate::specification::drive::{Controller, Rate};

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

/// The admission of commands in the order in which they come: at a minimum interval, and one trim after the other, each
/// before any later command. A command after a longer pause does not wait.
#[derive(Clone, Debug)]
pub struct Admission {
    gap_ns: f64,
    trim_ns: f64,
    trim_ns_per_byte: f64,
    free_at_ns: f64,
}

/// When a command is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// When the controller begins with it.
    pub begins_ns: u64,
    /// When it enters the drive; later, if the controller works on it first.
    pub enters_ns: u64,
}

impl Admission {
    /// None if every command enters at once.
    pub fn new(controller: &Controller) -> Option<Self> {
        let per_second_max = controller.commands_per_second_max;
        let gap_ns = if per_second_max > 0 { 1e9 / per_second_max as f64 } else { 0.0 };
        let trim_ns = controller.trim_us * 1000.0;
        let trim_ns_per_byte = controller.trim_us_per_mib * 1000.0 / f64::from(1 << 20);
        let is_open = [gap_ns, trim_ns, trim_ns_per_byte] == [0.0; 3];
        (!is_open).then_some(Self { gap_ns, trim_ns, trim_ns_per_byte, free_at_ns: 0.0 })
    }

    /// When a command that arrives now is admitted.
    pub fn admit(&mut self, now: u64, request: &Request) -> Admitted {
        let begins_ns = self.free_at_ns.max(now as f64);
        let enters_ns = begins_ns + self.own_ns(request);
        self.free_at_ns = enters_ns.max(begins_ns + self.gap_ns);
        Admitted { begins_ns: begins_ns.round() as u64, enters_ns: enters_ns.round() as u64 }
    }

    fn own_ns(&self, request: &Request) -> f64 {
        match request.operation {
            Operation::Trim => self.trim_ns + f64::from(request.length_bytes) * self.trim_ns_per_byte,
            Operation::Read | Operation::Write | Operation::Flush => 0.0,
        }
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

    fn request(operation: Operation, length_bytes: u32) -> Request {
        Request::new(operation, 0, length_bytes)
    }

    #[test]
    fn a_limit_spreads_what_comes_together() {
        let limited = Controller { commands_per_second_max: 300_000, ..Controller::default() };
        let mut admission = Admission::new(&limited).unwrap();
        let mut admitted_ns = |now| admission.admit(now, &request(Operation::Read, 4096)).enters_ns;
        assert_eq!([1000; 4].map(&mut admitted_ns), [1000, 4333, 7667, 11000]);
        assert_eq!(admitted_ns(1_000_000), 1_000_000);
        assert!(Admission::new(&Controller::default()).is_none());
    }

    #[test]
    fn commands_wait_for_trims_before_them() {
        let controller = Controller {
            commands_per_second_max: 100_000,
            trim_us: 4.0,
            // Half a nanosecond a byte.
            trim_us_per_mib: 524.288,
            ..Controller::default()
        };
        let mut admission = Admission::new(&controller).unwrap();
        let mut admitted = |now, operation, length_bytes| {
            let Admitted { begins_ns, enters_ns } = admission.admit(now, &request(operation, length_bytes));
            [begins_ns, enters_ns]
        };
        assert_eq!(admitted(0, Operation::Trim, 32_000), [0, 20_000]);
        assert_eq!(admitted(1000, Operation::Trim, 2000), [20_000, 25_000], "one after the other");
        // The interval between commands counts from the beginning of the trim.
        assert_eq!(admitted(2000, Operation::Write, 4096), [30_000, 30_000]);
        assert_eq!(admitted(90_000, Operation::Read, 4096), [90_000, 90_000]);
    }
}
