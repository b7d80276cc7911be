//! The commands that a controller processes at the same time, reads and writes together: a command that finds no free
//! slot waits for one. With more outstanding commands than slots, the rest waits outside, reads behind writes.
//!
//! The next is the one that came first, or the first of the next queue in turn: a controller fetches from the submission
//! queues of the host one after another, and a queue with few commands then does not wait behind those of a full one.

use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(super) struct CommandSlots {
    free: u32,
    /// Whether queues take turns; otherwise all commands are of one queue.
    in_turn: bool,
    /// The queues with waiting commands, in the order of their turns.
    turns: VecDeque<(u32, VecDeque<u32>)>,
    /// Memory of queues without waiting commands.
    spare: Vec<VecDeque<u32>>,
}

impl CommandSlots {
    /// 0: no limit.
    pub fn new(count: u32, in_turn: bool) -> Option<Self> {
        (count > 0).then(|| Self { free: count, in_turn, turns: VecDeque::new(), spare: Vec::new() })
    }

    /// Whether the request in this slot of the front enters, which came in this queue; otherwise `leave` returns it when
    /// it may.
    pub fn enter(&mut self, slot: u32, queue: u32) -> bool {
        if self.free > 0 {
            self.free -= 1;
            return true;
        }
        let queue = if self.in_turn { queue } else { 0 };
        match self.turns.iter_mut().find(|(waiting, _)| *waiting == queue) {
            Some((_, commands)) => commands.push_back(slot),
            None => {
                let mut commands = self.spare.pop().unwrap_or_default();
                commands.push_back(slot);
                self.turns.push_back((queue, commands));
            }
        }
        false
    }

    /// A command is done. Returns the one that enters in its stead.
    pub fn leave(&mut self) -> Option<u32> {
        let Some((queue, mut commands)) = self.turns.pop_front() else {
            self.free += 1;
            return None;
        };
        let next = commands.pop_front();
        if commands.is_empty() {
            self.spare.push(commands);
        } else {
            self.turns.push_back((queue, commands));
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_no_slot_waits_in_order() {
        let mut slots = CommandSlots::new(2, false).unwrap();
        let came = [(7, 0), (8, 0), (9, 0), (4, 1), (5, 0)];
        assert_eq!(came.map(|(slot, queue)| slots.enter(slot, queue)), [true, true, false, false, false]);
        let left: Vec<Option<u32>> = (0..4).map(|_| slots.leave()).collect();
        assert_eq!(left, [Some(9), Some(4), Some(5), None]);
        assert!(slots.enter(1, 0), "one is free again");
        assert!(!slots.enter(2, 0), "and the other is still taken");
        assert!(CommandSlots::new(0, false).is_none());
    }

    #[test]
    fn queues_take_turns() {
        let mut slots = CommandSlots::new(1, true).unwrap();
        let came = [(1, 0), (2, 0), (3, 0), (4, 0), (5, 2), (6, 1), (7, 2)];
        assert_eq!(came.iter().filter(|&&(slot, queue)| slots.enter(slot, queue)).count(), 1);
        let left: Vec<u32> = std::iter::from_fn(|| slots.leave()).collect();
        assert_eq!(left, [2, 5, 6, 3, 7, 4]);
        assert!(slots.enter(8, 2));
    }
}
