//! The journal of the map's changes: the unit of it that a flush writes, on a drive whose memory is lost with the power.
//!
//! Changes of the map fill units of the journal, one after another. Units that fill up are written whether anybody
//! flushes or not, one for several hundred changes, and are not simulated, like all other housekeeping of a map that is
//! in memory as a whole. A flush writes the last unit, partly filled, as soon as the data that it waits for is in flash.

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Journal {
    /// Whether the map has changed since the last unit began to be written.
    has_changes: bool,
    units_in_progress: u32,
}

impl Journal {
    /// The map has changed.
    #[inline]
    pub fn note_change(&mut self) {
        self.has_changes = true;
    }

    /// The data of a flush is in flash. Returns whether it writes a unit, which contains every change so far. A change
    /// in a unit that is not yet in flash is not safe either: then a flush writes its own unit, with that change too.
    pub fn begin_unit(&mut self) -> bool {
        let begins = self.has_changes || self.units_in_progress > 0;
        self.units_in_progress += u32::from(begins);
        self.has_changes = false;
        begins
    }

    /// A unit is in flash.
    pub fn end_unit(&mut self) {
        self.units_in_progress -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_writes_a_unit_until_every_change_is_in_flash() {
        let mut journal = Journal::default();
        assert!(!journal.begin_unit(), "nothing has changed");
        journal.note_change();
        assert!(journal.begin_unit());
        assert!(journal.begin_unit(), "the first unit is not yet in flash");
        journal.end_unit();
        assert!(journal.begin_unit(), "the second unit is not, and it may hold the change alone");
        journal.end_unit();
        journal.end_unit();
        assert!(!journal.begin_unit());
    }
}
