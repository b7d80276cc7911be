//! The commands inside a SATA drive: queued ones together, a flush alone.
//!
//! FLUSH CACHE EXT is no queued command (ATA8-ACS): the host sends it when the drive has no other command, and sends none
//! until it is done (`ata_std_qc_defer` in Linux). Commands that wait enter in the order in which they came. That Linux
//! carries out one flush for several that wait (block/blk-flush.c) is not simulated.

use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub(super) struct FlushTurns {
    queued: u32,
    has_flush: bool,
    /// Slots of the front, and whether each is a flush.
    waiting: VecDeque<(u32, bool)>,
}

impl FlushTurns {
    /// Whether the command enters now; otherwise `next` returns it when it may.
    pub fn enter(&mut self, slot: u32, is_flush: bool) -> bool {
        let enters = self.waiting.is_empty() && self.admits(is_flush);
        if enters {
            self.count(is_flush);
        } else {
            self.waiting.push_back((slot, is_flush));
        }
        enters
    }

    /// A command is done.
    pub fn leave(&mut self, is_flush: bool) {
        if is_flush {
            self.has_flush = false;
        } else {
            self.queued -= 1;
        }
    }

    /// The next waiting command, if it enters now.
    pub fn next(&mut self) -> Option<u32> {
        let &(slot, is_flush) = self.waiting.front()?;
        if !self.admits(is_flush) {
            return None;
        }
        self.waiting.pop_front();
        self.count(is_flush);
        Some(slot)
    }

    fn admits(&self, is_flush: bool) -> bool {
        !self.has_flush && (!is_flush || self.queued == 0)
    }

    fn count(&mut self, is_flush: bool) {
        if is_flush {
            self.has_flush = true;
        } else {
            self.queued += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_is_alone_in_the_drive_and_is_not_overtaken() {
        let mut turns = FlushTurns::default();
        assert!(turns.enter(1, false) && turns.enter(2, false), "queued commands are inside together");
        assert!(!turns.enter(3, true) && !turns.enter(4, false) && !turns.enter(5, false));
        turns.leave(false);
        assert_eq!(turns.next(), None, "one is still inside");
        turns.leave(false);
        assert_eq!((turns.next(), turns.next()), (Some(3), None));
        turns.leave(true);
        assert_eq!((turns.next(), turns.next(), turns.next()), (Some(4), Some(5), None));
        assert!(turns.enter(6, false));
    }
}
