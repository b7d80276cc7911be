//! Trains: copies that a die completes one after another while no other die has an event.
//!
//! The end of a copy queues a program that nobody waits for, and so adds no event to any die. As long as the next copy
//! of a die ends before the event of any other die, it is the next event of all, and the tree of events is not
//! consulted. The operations of a train remain in the queue of their die until it ends.

use super::Flash;
use super::dies::Dies;
use super::kind::Kind;
use super::operation::{Array, Operation, Work};
use super::winner_tree::{TIME_MAX_NS, key};

struct Train {
    die: usize,
    /// When its last copy so far ended.
    now_ns: u64,
    /// The number of completed operations of the die's queue.
    done: u32,
    /// Up to this key the events of the die are the next ones.
    limit: u64,
}

impl Dies {
    /// Whether a die may complete copies without an event for each.
    #[inline(always)]
    pub(super) fn copies_in_trains<K: Kind>(&self) -> bool {
        let has_extras = self.suspension.is_some() || self.pipelines.is_some() || self.keeps_load;
        K::IS_FUSED.unwrap_or(self.is_fused && !has_extras)
    }

    /// Advances to the next copy of a train, if there is one. A read of the host ends it.
    #[inline(always)]
    fn next_of(&mut self, train: &mut Train) -> Option<Operation> {
        let die = &self.dies[train.die];
        let (mut end_ns, mut done) = (train.now_ns, train.done);
        while done < die.others.len() && die.reads.is_empty() {
            let operation = Operation::from_word(die.others.get(done));
            end_ns += self.costs.duration_ns(operation);
            done += 1;
            if operation.is_quiet() {
                continue;
            }
            let end = key(end_ns, train.die);
            if operation.work() != Work::Copy || end >= train.limit {
                return None;
            }
            (train.now_ns, train.done, self.last_event) = (end_ns, done, end);
            return Some(operation);
        }
        None
    }
}

impl Flash {
    /// A die has completed a copy now. Processes it and the next ones of its train, up to an event at `until_ns` or
    /// later and at most `events_max`. Returns how many after the first.
    #[inline(always)]
    pub(super) fn end_copies<K: Kind>(&mut self, die: usize, first: Operation, until_ns: u64, events_max: u64) -> u64 {
        if self.layout.keeps_copies_on_die() && self.dies.copies_in_trains::<K>() {
            return self.run_train::<K>(die, first, until_ns, events_max);
        }
        self.program_copy::<K>(self.now_ns, first.target());
        self.dies.go_on::<K>(self.now_ns, die);
        0
    }

    #[inline(always)]
    fn run_train<K: Kind>(&mut self, die: usize, first: Operation, until_ns: u64, events_max: u64) -> u64 {
        let limit = self.dies.events.earliest_of_others(die).min(key(until_ns.min(TIME_MAX_NS), 0));
        let mut train = Train { die, now_ns: self.now_ns, done: 0, limit };
        let (mut copy, mut events) = (first, 0);
        loop {
            let to = copy.target();
            let program = self.at::<K>(to, Operation::new(Array::Program, Work::Quiet, 1, 0));
            match self.layout.die_of_group(to, to) {
                // It starts when the train has ended.
                to_die if to_die == die => self.dies.dies[die].others.push(program.word()),
                to_die => self.dies.queue::<K>(train.now_ns, to_die, program),
            }
            if events == events_max {
                break;
            }
            let Some(next) = self.dies.next_of(&mut train) else { break };
            (copy, events) = (next, events + 1);
        }
        let source = &mut self.dies.dies[die];
        source.others.forget(train.done);
        source.busy_ns += train.now_ns - self.now_ns;
        self.now_ns = train.now_ns;
        self.dies.go_on::<K>(train.now_ns, die);
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Cause;
    use crate::specification::Drive;
    use crate::specification::drive::{EraseUnitKind, Nand};
    use crate::timing::flash::kind::for_kind;
    use crate::timing::recorder::Decision;
    use crate::units::Ppn;

    /// How many copies are completed with the first of five, all from one die to another.
    fn more_than_the_first(erase_unit: EraseUnitKind, is_fused: bool) -> u64 {
        let nand = Nand { channels: 2, dies_per_channel: 1, pages_per_block: 8, ..Drive::textbook().nand };
        let flash = Flash::new(&nand, nand.page_bytes, erase_unit);
        let mut flash = if is_fused { flash } else { flash.without_fusing() };
        let (from, to) = match erase_unit {
            EraseUnitKind::Block => ([0, 1, 2, 3, 4], [8, 9, 10, 11, 12]),
            EraseUnitKind::Superblock => ([0, 2, 4, 6, 8], [17, 19, 21, 23, 25]),
        };
        let copy = |(from, to)| [Decision::Read(Ppn(from), Cause::Gc), Decision::Program(Ppn(to), Cause::Gc)];
        let decisions: Vec<_> = from.into_iter().zip(to).flat_map(copy).collect();
        flash.carry_out(0, &decisions, 0);
        let (now, die) = flash.dies.next_event().expect("a die copies");
        flash.now_ns = now;
        let first = for_kind!(flash.take_first_copy(now, die));
        for_kind!(flash.end_copies(die, first, u64::MAX, u64::MAX))
    }

    impl Flash {
        fn take_first_copy<K: Kind>(&mut self, now: u64, die: usize) -> Operation {
            let first = self.dies.take_event::<K>(now, die).expect("an operation ends");
            assert_eq!(first.work(), Work::Copy);
            first
        }
    }

    /// Trains change no times, only the work of the simulation.
    #[test]
    fn copies_end_in_trains_where_a_victim_lies_on_one_die() {
        assert_eq!(more_than_the_first(EraseUnitKind::Block, true), 4);
        assert_eq!(more_than_the_first(EraseUnitKind::Block, false), 0);
        assert_eq!(more_than_the_first(EraseUnitKind::Superblock, true), 0);
    }
}
