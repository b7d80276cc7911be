//! A run in which events happen and change nothing is ended, with an error.

use crate::ledger::Ledger;
use crate::timing::host::{Halt, Stuck};

/// More than any drive's events between two changes: those of requests alone, such as their times of admission.
const EVENTS_MAX: u64 = 1_000_000;

/// The events since the last change.
#[derive(Clone, Debug, Default)]
pub struct Stillness {
    events: u64,
    ledger: Ledger,
    /// The time for which the dies were busy, in any unit.
    busy: f64,
}

impl Stillness {
    /// So many more events have happened. The dies' time is asked for only where no counter has changed.
    pub fn note(&mut self, events: u64, now_ns: u64, seen: (Ledger, impl FnOnce() -> f64)) -> Result<(), Halt> {
        let (ledger, busy) = seen;
        if ledger != self.ledger {
            (self.events, self.ledger) = (0, ledger);
            return Ok(());
        }
        let busy = busy();
        if busy != self.busy {
            (self.events, self.busy) = (0, busy);
            return Ok(());
        }
        self.events += events;
        if self.events < EVENTS_MAX { Ok(()) } else { Err(Halt::Stuck(Stuck::in_vain(self.events, now_ns))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_events_without_a_change_are_an_error() {
        let mut stillness = Stillness::default();
        let trimmed = |host_trimmed_bytes| Ledger { host_trimmed_bytes, ..Ledger::default() };
        let mut passes = |trimmed_bytes, busy| stillness.note(100_000, 8, (trimmed(trimmed_bytes), || busy));
        assert!((0..9).all(|_| passes(0, 0.0).is_ok()));
        assert!(passes(0, 1.0).is_ok(), "a die was busy");
        assert!((0..9).all(|_| passes(0, 1.0).is_ok()));
        assert!(passes(1, 1.0).is_ok(), "a request was carried out");
        assert!((0..9).all(|_| passes(1, 1.0).is_ok()));
        let message = passes(1, 1.0).unwrap_err().to_string();
        assert_eq!(
            message,
            "internal error: nothing can happen any more, because the last 1000000 events, until 8 ns, completed no \
             request and no operation"
        );
    }
}
