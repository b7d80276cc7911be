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
    /// The time for which the dies were busy when `events` began, in any unit; none if the ledger has changed since.
    busy: Option<f64>,
}

impl Stillness {
    /// So many more events have happened. The dies' time, which takes a while where many operations wait for them, is
    /// asked for only where no counter has changed for as many events as are an error.
    pub fn note(&mut self, events: u64, now_ns: u64, seen: (Ledger, impl FnOnce() -> f64)) -> Result<(), Halt> {
        let (ledger, busy) = seen;
        if ledger != self.ledger {
            *self = Self { ledger, ..Self::default() };
            return Ok(());
        }
        self.events += events;
        if self.events < EVENTS_MAX {
            return Ok(());
        }
        let busy = busy();
        if self.busy.replace(busy) == Some(busy) {
            return Err(Halt::Stuck(Stuck::in_vain(self.events, now_ns)));
        }
        self.events = 0;
        Ok(())
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
        assert!((0..19).all(|_| passes(0, 0.0).is_ok()));
        assert!(passes(0, 1.0).is_ok(), "a die was busy");
        assert!((0..9).all(|_| passes(0, 1.0).is_ok()));
        assert!(passes(1, 1.0).is_ok(), "a request was carried out");
        assert!((0..19).all(|_| passes(1, 1.0).is_ok()));
        let message = passes(1, 1.0).unwrap_err().to_string();
        assert_eq!(
            message,
            "internal error: nothing can happen any more, because the last 1000000 events, until 8 ns, completed no \
             request and no operation"
        );
    }

    /// A regression: the queues of a die were copied every 512 events to compute it.
    #[test]
    fn the_time_of_the_dies_is_asked_for_once_in_a_million_events() {
        let mut stillness = Stillness::default();
        let mut asked = 0;
        for event in 0..40 {
            let busy = || {
                asked += 1;
                f64::from(event)
            };
            assert!(stillness.note(100_000, 8, (Ledger::default(), busy)).is_ok());
        }
        assert_eq!(asked, 4);
    }
}
