//! The commands that a controller processes at the same time, reads and writes together: a command that finds no free
//! slot waits for one in the order of arrival. With more outstanding commands than slots, the rest waits outside, reads
//! behind writes.

use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(super) struct CommandSlots {
    free: u32,
    waiting: VecDeque<u32>,
}

impl CommandSlots {
    /// 0: no limit.
    pub fn new(count: u32) -> Option<Self> {
        (count > 0).then(|| Self { free: count, waiting: VecDeque::new() })
    }

    /// Whether the request in this slot of the front enters; otherwise `leave` returns it when it may.
    pub fn enter(&mut self, slot: u32) -> bool {
        if self.free == 0 {
            self.waiting.push_back(slot);
            return false;
        }
        self.free -= 1;
        true
    }

    /// A command is done. Returns the one that enters in its stead.
    pub fn leave(&mut self) -> Option<u32> {
        let next = self.waiting.pop_front();
        self.free += u32::from(next.is_none());
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_no_slot_waits_in_order() {
        let mut slots = CommandSlots::new(2).unwrap();
        assert_eq!([7, 8, 9, 4].map(|slot| slots.enter(slot)), [true, true, false, false]);
        assert_eq!([slots.leave(), slots.leave(), slots.leave()], [Some(9), Some(4), None]);
        assert!(slots.enter(1), "one is free again");
        assert!(!slots.enter(2), "and the other is still taken");
        assert!(CommandSlots::new(0).is_none());
    }
}
