//! Commands to a served drive, as lines of text.

use super::SimulatedDevice;
use crate::device::DeviceError;

/// A command to a served drive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum Command {
    /// A phase ends, another begins.
    Mark(String),
    /// Counters restart from 0; the contents of the drive remain.
    Reset,
    /// A loss of power, and its return.
    CutPower,
    /// An idle time without requests, in simulated time.
    Idle { duration_ns: u64 },
}

/// The commands, for help and errors.
pub const SYNTAX: &str = "mark NAME, reset, power-cut, idle DURATION (such as 1h, 30min, 10s, 5ms)";

impl Command {
    /// None if the line is not a command.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let command = match (words.next()?, words.next()) {
            ("mark", Some(name)) => Self::Mark(name.to_owned()),
            ("reset", None) => Self::Reset,
            ("power-cut", None) => Self::CutPower,
            ("idle", Some(duration)) => Self::Idle { duration_ns: duration_ns(duration)? },
            _ => return None,
        };
        words.next().is_none().then_some(command)
    }
}

fn duration_ns(text: &str) -> Option<u64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit_ns = match &text[digits..] {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return None,
    };
    Some((number * unit_ns) as u64)
}

impl SimulatedDevice {
    /// Executes the command.
    pub fn carry_out(&self, command: &Command) -> Result<(), DeviceError> {
        if let (Command::Idle { duration_ns }, true) = (command, self.achieved().is_some()) {
            // At real pace the drive's time is real time.
            std::thread::sleep(std::time::Duration::from_nanos(*duration_ns));
            return Ok(());
        }
        let mut core = self.core();
        match command {
            Command::Mark(name) => core.mark(name),
            Command::Reset => core.reset(),
            Command::CutPower => core.cut_power(),
            Command::Idle { duration_ns } => core.idle(*duration_ns)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_what_is_none() {
        assert_eq!(Command::parse(" mark  load "), Some(Command::Mark("load".to_owned())));
        assert_eq!(Command::parse("reset"), Some(Command::Reset));
        assert_eq!(Command::parse("power-cut"), Some(Command::CutPower));
        assert_eq!(Command::parse("idle 1.5h"), Some(Command::Idle { duration_ns: 5_400_000_000_000 }));
        for wrong in ["", "mark", "mark a b", "idle", "idle 3", "idle h", "idle -1s", "explode"] {
            assert_eq!(Command::parse(wrong), None, "{wrong}");
        }
    }
}
