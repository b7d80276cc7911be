//! How long a stage until the steady state waits for rounds: a stage whose rounds never end would never end.
//!
//! Rounds are of written bytes, and the first begins when the drive has programmed as many units as were erased. So there
//! are none where nothing is written, because the jobs that write have ended or never come to it, and where nothing is
//! programmed, because all that is written repeats or is replaced in the buffer.

use crate::ledger::Ledger;

/// See the file's description.
#[derive(Clone, Debug, Default)]
pub struct Patience {
    /// The most that may be written, from the beginning of the stage.
    written_bytes_max: u64,
    /// The most that may be read and trimmed without a write in between.
    others_bytes_max: u64,
    /// Both at the last write.
    written_bytes: u64,
    others_bytes: u64,
}

impl Patience {
    /// For a stage that begins now, with so many bytes of erased space: half of what was written would have to be
    /// programmed for the first round to begin in time.
    pub fn new(ledger: &Ledger, erased_bytes: u64, round_bytes: u64, host_bytes_max: u64) -> Self {
        let written_bytes = erased_bytes.saturating_mul(2).saturating_add(round_bytes).saturating_add(host_bytes_max);
        Self {
            written_bytes_max: ledger.host_written_bytes.saturating_add(written_bytes),
            others_bytes_max: host_bytes_max,
            written_bytes: ledger.host_written_bytes,
            others_bytes: others_bytes(ledger),
        }
    }

    /// Whether the stage is over.
    pub fn is_over(&mut self, ledger: &Ledger) -> bool {
        if ledger.host_written_bytes > self.written_bytes {
            (self.written_bytes, self.others_bytes) = (ledger.host_written_bytes, others_bytes(ledger));
        }
        self.written_bytes >= self.written_bytes_max
            || others_bytes(ledger) - self.others_bytes >= self.others_bytes_max
    }
}

fn others_bytes(ledger: &Ledger) -> u64 {
    ledger.host_read_bytes + ledger.host_trimmed_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(host_written_bytes: u64, host_read_bytes: u64, host_trimmed_bytes: u64) -> Ledger {
        Ledger { host_written_bytes, host_read_bytes, host_trimmed_bytes, ..Ledger::default() }
    }

    #[test]
    fn a_stage_is_over_when_as_much_is_read_without_a_write_as_may_be_written() {
        let mut patience = Patience::new(&after(10, 1000, 0), 100, 10, 50);
        assert!(!patience.is_over(&after(10, 1040, 9)));
        assert!(!patience.is_over(&after(11, 1041, 9)));
        assert!(!patience.is_over(&after(11, 1090, 9)));
        assert!(patience.is_over(&after(11, 1090, 10)));
    }

    #[test]
    fn a_stage_is_over_when_what_was_written_should_have_filled_the_drive_twice() {
        let mut patience = Patience::new(&after(10, 0, 0), 100, 10, 50);
        assert!(!patience.is_over(&after(10 + 259, 0, 0)) && patience.is_over(&after(10 + 260, 0, 0)));
    }
}
