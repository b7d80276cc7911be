//! Dies on which every end is known as soon as an operation is queued.
//!
//! On plain flash whose dies have private channels and perform their queues in order, an operation ends when those
//! before it have ended, plus its own time. So only what the host waits for has an event. A copy needs none: its end is
//! known, and its program joins the queue of another die at that time. A die receives such programs when something else
//! is about to be queued (`come_to`): all of them take the same time, so that on a die that is busy until then even
//! their order does not matter.
//!
//! A read of the host overtakes what has not begun, and so delays it by its own time. All ends behind it move together;
//! they are stored relative to the time that reads have taken on the die, of which one number changes.
//!
//! Garbage collection copies many units of a block one after another, and where the dies take turns their programs go to
//! one die after another: such copies are one entry, whose progress at a given time is found by division.
//!
//! Requires that each unit is a program group of its own, and that erases wait for nothing (`Flash::of_its_kind`). Tests
//! compare it with one event per operation, `without_fusing`.

use super::dies::{Dies, has_ended};
use super::kind::{self, Kind};
use super::operation::{Array, Costs, Operation, Work};
use super::ring::Ring;
use super::service::{Ended, Queued};
use super::winner_tree::{index_of, key, time_of};
use super::{CopyRun, Flash, copies_at, slots_of_copy};
use crate::ledger::Cause;
use crate::timing::decision::Decision;
use crate::units::Ppn;

const NEVER: u64 = u64::MAX;

/// Copies one after another without a gap, whose programs go to the dies in turn.
#[derive(Clone, Copy, Debug, Default)]
struct Copies {
    /// When the first ends, relative to the reads of its die.
    end_ns: u64,
    each_ns: u64,
    count: u32,
    /// The die of the first program.
    to_die: u32,
}

impl Copies {
    /// Without the first `ended`, on this many dies.
    #[inline(always)]
    fn without(self, ended: u32, dies: u32) -> Self {
        Self {
            end_ns: self.end_ns.wrapping_add(u64::from(ended) * self.each_ns),
            count: self.count - ended,
            to_die: if ended < dies { in_turn(self.to_die + ended, dies) } else { (self.to_die + ended) % dies },
            ..self
        }
    }
}

/// The die of a number below twice their number.
#[inline(always)]
fn in_turn(number: u32, dies: u32) -> u32 {
    if number >= dies { number - dies } else { number }
}

/// An operation with an event.
#[derive(Clone, Copy, Debug, Default)]
struct WaitedFor {
    /// For a read of the host; otherwise relative to the reads of its die.
    end_ns: u64,
    operation: Operation,
}

/// Operations of one duration, one after another without a gap.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// When the last ends, relative to the reads of its die.
    ends_ns: u64,
    each_ns: u64,
    count: u64,
}

#[derive(Clone, Debug, Default)]
struct Die {
    /// All operations but reads of the host that have not begun, and some that have: the first read of the host that is
    /// queued while none waits removes those.
    runs: Ring<Run>,
    /// Copies that have not ended.
    copies: Ring<Copies>,
    /// Before those, at most one that had begun when a read of the host delayed the rest of its run.
    begun_copy: Option<Copies>,
    /// Operations with an event but reads of the host.
    waited_for: Ring<WaitedFor>,
    /// Reads of the host, and how long the die had worked for the drive itself.
    reads: Ring<(WaitedFor, u64)>,
    /// The last of these times, of the read that ended last.
    own_work_then_ns: u64,
    /// The time taken by all reads of the host so far.
    reads_ns: u64,
    /// When everything in the queue has ended.
    end_ns: u64,
    /// The time of all operations that were ever queued.
    queued_ns: u64,
    /// The time of the host's operations that have ended.
    host_ns: u64,
}

impl Die {
    /// Appends operations to the queue. Returns when the first starts.
    #[inline(always)]
    fn append(&mut self, now: u64, duration_ns: u64, count: u64) -> u64 {
        let starts_ns = self.end_ns.max(now);
        self.end_ns = starts_ns + count * duration_ns;
        self.queued_ns += count * duration_ns;
        if self.runs.is_full() {
            self.forget_runs(now);
        }
        self.runs.push(Run { ends_ns: self.end_ns.wrapping_sub(self.reads_ns), each_ns: duration_ns, count });
        starts_ns
    }

    /// Removes runs that ended before `now`.
    #[inline(never)]
    fn forget_runs(&mut self, now: u64) {
        let ended = self.runs.partition_point(|run| run.ends_ns.wrapping_add(self.reads_ns) < now);
        self.runs.forget(ended);
    }

    /// Removes what has begun, if anything is left. Returns when the operation in progress ends.
    fn take_in_progress(&mut self, now: u64, has_ended: impl Fn(u64) -> bool) -> Option<u64> {
        loop {
            let run = self.runs.first()?;
            let ends_ns = run.ends_ns.wrapping_add(self.reads_ns);
            if has_ended(ends_ns) {
                self.runs.forget(1);
                continue;
            }
            let starts_ns = ends_ns - run.count * run.each_ns;
            let ended = (now - starts_ns) / run.each_ns;
            let is_last_over = ended == 0 || has_ended(starts_ns + ended * run.each_ns);
            let begun = ended + u64::from(is_last_over);
            debug_assert!(begun <= run.count);
            if begun == run.count {
                self.runs.forget(1);
            } else {
                self.runs.set(0, Run { count: run.count - begun, ..run });
            }
            return Some(starts_ns + begun * run.each_ns);
        }
    }

    /// The copies that end first.
    #[inline(always)]
    fn first_copies(&self) -> Option<Copies> {
        if self.begun_copy.is_some() { self.begun_copy } else { self.copies.first() }
    }

    #[inline(always)]
    fn first_copy_ns(&self) -> u64 {
        self.first_copies().map_or(NEVER, |copies| copies.end_ns.wrapping_add(self.reads_ns))
    }

    /// Removes the first `ended` of the first copies.
    #[inline(always)]
    fn remove_copies(&mut self, first: Copies, ended: u32, dies: u32) {
        if self.begun_copy.take().is_some() {
            return;
        }
        if ended == first.count {
            self.copies.forget(1);
        } else {
            self.copies.set(0, first.without(ended, dies));
        }
    }

    #[inline(always)]
    fn first_waited_for_ns(&self) -> u64 {
        self.waited_for.first().map_or(NEVER, |first| first.end_ns.wrapping_add(self.reads_ns))
    }

    #[inline(always)]
    fn first_read_ns(&self) -> u64 {
        self.reads.first().map_or(NEVER, |(read, _)| read.end_ns)
    }

    #[inline(always)]
    fn next_event_ns(&self) -> Option<u64> {
        let next_ns = self.first_waited_for_ns().min(self.first_read_ns());
        (next_ns != NEVER).then_some(next_ns)
    }

    /// How long it has worked until now.
    #[inline(always)]
    fn busy_ns(&self, now: u64) -> u64 {
        self.queued_ns - self.end_ns.saturating_sub(now)
    }

    /// How long the operation of the host that is in progress, if one is, has taken until now.
    #[inline(always)]
    fn host_in_progress_ns(&self, now: u64, costs: &Costs) -> u64 {
        let since_start = |end_ns: u64, operation: Operation| {
            let started_ns = end_ns.wrapping_sub(costs.duration_ns(operation));
            if operation.is_of_host() { now.saturating_sub(started_ns) } else { 0 }
        };
        if let Some((read, _)) = self.reads.first() {
            let of_read = since_start(read.end_ns, read.operation);
            if of_read > 0 {
                return of_read;
            }
        }
        let of_first = |first: WaitedFor| since_start(first.end_ns.wrapping_add(self.reads_ns), first.operation);
        self.waited_for.first().map_or(0, of_first)
    }

    /// Queues a read of the host. Returns its end.
    fn append_read(&mut self, now: u64, read_ns: u64, dies: u32, has_ended: impl Fn(u64) -> bool) -> u64 {
        let starts_ns = match self.reads.len() {
            0 => self.take_in_progress(now, has_ended).unwrap_or(self.end_ns.max(now)),
            // After those before it.
            reads => self.reads.get(reads - 1).0.end_ns,
        };
        self.delay(starts_ns, read_ns, dies);
        self.end_ns = self.end_ns.max(now) + read_ns;
        self.queued_ns += read_ns;
        starts_ns + read_ns
    }

    /// Delays what has not begun at `from_ns` by a read. At most the first operation has begun.
    fn delay(&mut self, from_ns: u64, read_ns: u64, dies: u32) {
        if self.first_waited_for_ns() <= from_ns {
            let first = self.waited_for.get(0);
            self.waited_for.set(0, WaitedFor { end_ns: first.end_ns.wrapping_sub(read_ns), ..first });
        }
        if self.first_copy_ns() <= from_ns
            && let Some(first) = self.first_copies()
        {
            self.remove_copies(first, 1, dies);
            self.begun_copy = Some(Copies { end_ns: first.end_ns.wrapping_sub(read_ns), count: 1, ..first });
        }
        self.reads_ns += read_ns;
    }
}

/// See the file's description. Has no dies on other flash.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownEnds {
    dies: Vec<Die>,
    /// By die: when its first copy ends; and the earliest of these times, or an earlier one.
    first_copy_ns: Vec<u64>,
    next_copy_ns: u64,
    program_ns: u64,
    /// Programs due on dies that were idle meanwhile: the key of the copy's end, and the die.
    due: Vec<(u64, u32)>,
}

impl KnownEnds {
    /// `program_ns` is the time of a copied unit's program.
    pub fn new(dies: u32, program_ns: u64) -> Self {
        Self {
            dies: vec![Die::default(); dies as usize],
            first_copy_ns: vec![NEVER; dies as usize],
            next_copy_ns: NEVER,
            program_ns,
            due: Vec::new(),
        }
    }

    pub fn is_used(&self) -> bool {
        !self.dies.is_empty()
    }

    /// Queues the programs of the copies that have ended before `now`, and at `now` on the first `passed_dies`.
    #[inline(always)]
    fn come_to(&mut self, now: u64, passed_dies: usize) {
        if self.next_copy_ns <= now {
            self.pass_copies(now, passed_dies);
        }
    }

    #[inline(never)]
    fn pass_copies(&mut self, now: u64, passed_dies: usize) {
        self.next_copy_ns = NEVER;
        for die in 0..self.dies.len() {
            let until_ns = now.saturating_add(u64::from(die < passed_dies));
            if self.first_copy_ns[die] < until_ns {
                self.pass_copies_of(die, now, until_ns);
            }
            self.next_copy_ns = self.next_copy_ns.min(self.first_copy_ns[die]);
        }
        if !self.due.is_empty() {
            self.queue_due();
        }
    }

    #[inline(always)]
    fn pass_copies_of(&mut self, index: usize, now: u64, until_ns: u64) {
        let dies = self.dies.len() as u32;
        loop {
            let die = &mut self.dies[index];
            let Some(first) = die.first_copies() else {
                self.first_copy_ns[index] = NEVER;
                return;
            };
            let end_ns = first.end_ns.wrapping_add(die.reads_ns);
            if end_ns >= until_ns {
                self.first_copy_ns[index] = end_ns;
                return;
            }
            let ended = match first.count {
                1 => 1,
                count => {
                    let later = (until_ns - 1 - end_ns).checked_div(first.each_ns);
                    later.map_or(count, |later| later.min(u64::from(count - 1)) as u32 + 1)
                }
            };
            die.remove_copies(first, ended, dies);
            self.program_copies(index, now, Copies { end_ns, count: ended, ..first });
        }
    }

    /// Queues the programs of copies that have ended on a die, now or before.
    #[inline(always)]
    fn program_copies(&mut self, index: usize, now: u64, copies: Copies) {
        let dies = self.dies.len() as u32;
        if copies.count == 1 && self.dies[copies.to_die as usize].end_ns >= now {
            self.dies[copies.to_die as usize].append(now, self.program_ns, 1);
            return;
        }
        let (rounds, more) =
            if copies.count < dies { (0, copies.count) } else { (copies.count / dies, copies.count % dies) };
        let mut die = copies.to_die;
        for first in 0..copies.count.min(dies) {
            let count = rounds + u32::from(first < more);
            let target = &mut self.dies[die as usize];
            if target.end_ns >= now {
                target.append(now, self.program_ns, u64::from(count));
            } else {
                let end_of = |turn: u32| copies.end_ns + u64::from(first + turn * dies) * copies.each_ns;
                self.due.extend((0..count).map(|turn| (key(end_of(turn), index), die)));
            }
            die = in_turn(die + 1, dies);
        }
    }

    /// In the order of the copies' ends.
    #[cold]
    fn queue_due(&mut self) {
        self.due.sort_unstable();
        for index in 0..self.due.len() {
            let (key, die) = self.due[index];
            self.dies[die as usize].append(time_of(key), self.program_ns, 1);
        }
        self.due.clear();
    }

    /// The total busy time of the dies until `now`.
    pub fn busy_ns(&self, now: u64) -> u64 {
        let mut then = self.clone();
        then.come_to(now, usize::MAX);
        then.dies.iter().map(|die| die.busy_ns(now)).sum()
    }

    /// When everything queued so far has ended.
    pub fn rests_at_ns(&self) -> u64 {
        let end_ns = |known: &Self| known.dies.iter().map(|die| die.end_ns).max().unwrap_or(0);
        if self.next_copy_ns == NEVER {
            return end_ns(self);
        }
        let mut then = self.clone();
        then.come_to(NEVER, 0);
        end_ns(&then)
    }

    #[inline(always)]
    pub fn own_work_ns(&self, now: u64, index: usize, costs: &Costs) -> u64 {
        let die = &self.dies[index];
        die.busy_ns(now) - die.host_ns - die.host_in_progress_ns(now, costs)
    }

    /// The same at the end of an operation of the host.
    #[inline(always)]
    pub fn own_work_at_end_ns(&self, now: u64, index: usize) -> u64 {
        self.dies[index].busy_ns(now) - self.dies[index].host_ns
    }
}

impl Dies {
    /// Sets whether every end is known; before the first operation.
    pub(super) fn know_ends(&mut self, is_known: bool) {
        let dies = if is_known { self.dies.len() as u32 } else { 0 };
        let program_ns = self.costs.duration_ns(Operation::new(Array::Program, Work::Quiet, 1, 0));
        self.known = KnownEnds::new(dies, program_ns);
    }

    /// Before anything is queued at `now`.
    #[inline(always)]
    pub(super) fn come_to(&mut self, now: u64) {
        // Simultaneous events occur in the order of the dies.
        let passed_dies = if time_of(self.last_event) == now { index_of(self.last_event) + 1 } else { 0 };
        self.known.come_to(now, passed_dies);
    }

    /// Queues copies on a die, whose programs go to the dies in turn, the first to `to_die`.
    #[inline(always)]
    pub(super) fn queue_known_copies(&mut self, now: u64, index: usize, copy: Operation, count: u32, to_die: u32) {
        let each_ns = self.costs.duration_ns(copy);
        let die = &mut self.known.dies[index];
        let end_ns = die.append(now, each_ns, u64::from(count)) + each_ns;
        if die.first_copies().is_none() {
            self.known.first_copy_ns[index] = end_ns;
            self.known.next_copy_ns = self.known.next_copy_ns.min(end_ns);
        }
        die.copies.push(Copies { end_ns: end_ns.wrapping_sub(die.reads_ns), each_ns, count, to_die });
    }

    #[inline(always)]
    pub(super) fn queue_known(&mut self, now: u64, index: usize, operation: Operation) {
        debug_assert_ne!(operation.work(), Work::Copy);
        let duration_ns = self.costs.duration_ns(operation);
        // An erase may take no time.
        if duration_ns == 0 {
            return;
        }
        let die = &mut self.known.dies[index];
        let end_ns = die.append(now, duration_ns, 1) + duration_ns;
        if !operation.is_quiet() {
            let is_next = die.waited_for.is_empty();
            die.waited_for.push(WaitedFor { end_ns: end_ns.wrapping_sub(die.reads_ns), operation });
            if is_next {
                self.events.put(index, die.next_event_ns());
            }
        }
    }

    pub(super) fn queue_known_read(&mut self, now: u64, index: usize, operation: Operation) {
        let own_work_ns = self.known.own_work_ns(now, index, &self.costs);
        let read_ns = self.costs.duration_ns(operation);
        let last_event = self.last_event;
        let dies = self.known.dies.len() as u32;
        let die = &mut self.known.dies[index];
        let end_ns = die.append_read(now, read_ns, dies, |ends_ns| has_ended(ends_ns, now, index, last_event));
        die.reads.push((WaitedFor { end_ns, operation }, own_work_ns));
        self.known.first_copy_ns[index] = die.first_copy_ns();
        self.events.put(index, die.next_event_ns());
    }

    /// The operation that ends with the event of a die.
    #[inline(always)]
    pub(super) fn take_known_event(&mut self, now: u64, index: usize) -> Operation {
        self.last_event = key(now, index);
        let die = &mut self.known.dies[index];
        let ended = match die.reads.first() {
            Some((read, own_work_ns)) if read.end_ns == now => {
                die.own_work_then_ns = own_work_ns;
                die.reads.forget(1);
                read
            }
            _ => {
                let ended = die.waited_for.get(0);
                die.waited_for.forget(1);
                ended
            }
        };
        self.events.put(index, die.next_event_ns());
        ended.operation
    }

    /// Counts the host's operation that has just ended.
    #[inline(always)]
    pub(super) fn end_of_known_host(&mut self, now: u64, index: usize, operation: Operation) -> Ended {
        let duration_ns = self.costs.duration_ns(operation);
        let die = &mut self.known.dies[index];
        die.host_ns += duration_ns;
        Ended { operation, die: index, started_ns: now - duration_ns, own_work_then_ns: die.own_work_then_ns }
    }
}

/// What the translation layer decided, on such dies.
impl Flash {
    /// Carries out the first decisions as long as none of them has to wait for a later one. Returns the units of the
    /// host, and the decisions that are left.
    #[inline(always)]
    pub(super) fn carry_out_known<'a>(
        &mut self,
        now: u64,
        decisions: &'a [Decision],
        slot: u32,
    ) -> (u32, &'a [Decision]) {
        let mut left = decisions;
        let mut units = 0;
        loop {
            left = match left {
                [Decision::Program(ppn, Cause::Host), later @ ..] => {
                    self.queue_known_program(now, *ppn, slot);
                    units += 1;
                    later
                }
                [Decision::Copy(..), ..] => {
                    let (copies, later) = left.split_at(copies_at(left).len());
                    if !matches!(later, [] | [Decision::Erase(_), ..]) {
                        return (units, left);
                    }
                    self.queue_known_copies(now, copies);
                    later
                }
                [Decision::Erase(erase_unit), later @ ..] => {
                    self.decide_erase::<kind::KnownEnds>(now, erase_unit.0);
                    later
                }
                _ => return (units, left),
            }
        }
    }

    /// Queues copies of units that are pages and program groups of their own.
    #[inline(always)]
    pub(super) fn queue_known_copies(&mut self, now: u64, copies: &[Decision]) {
        if self.layout.is_by_block() {
            return self.queue_known_copies_of_blocks(now, copies);
        }
        for (page, to) in copies.iter().map(slots_of_copy) {
            let (die, to_die) = (self.layout.die_of_group(page, page), self.layout.die_of_group(to, to) as u32);
            let is_in_register = std::mem::replace(&mut self.last_copied_page[die], page) == page;
            let array = if is_in_register { Array::Nothing } else { Array::Read };
            self.dies.queue_known_copies(now, die, Operation::new(array, Work::Copy, 1, 0), 1, to_die);
        }
    }

    /// The same for copies from blocks that are erase units: many from one die, whose programs go to the dies in turn.
    #[inline(always)]
    fn queue_known_copies_of_blocks(&mut self, now: u64, mut copies: &[Decision]) {
        let dies = self.dies_count;
        while let Some(first) = copies.first() {
            let (page, to) = slots_of_copy(first);
            let die = self.layout.die_of_group(page, page);
            let block = page..page + self.layout.groups_left(page);
            let to_die = |to: u32| self.layout.die_of_group(to, to) as u32;
            let first_to_die = to_die(to);
            let mut next_to_die = first_to_die;
            let mut count = 1;
            // Only the first can be a page that was just read: the others differ.
            let is_in_register = self.last_copied_page[die] == page;
            while !is_in_register && let Some(copy) = copies.get(count) {
                let (from, to) = slots_of_copy(copy);
                next_to_die = in_turn(next_to_die + 1, dies);
                if !block.contains(&from) | (to_die(to) != next_to_die) {
                    break;
                }
                count += 1;
            }
            let (of_run, later) = copies.split_at(count);
            (self.last_copied_page[die], _) = slots_of_copy(of_run.last().expect("there is one"));
            let array = if is_in_register { Array::Nothing } else { Array::Read };
            let copy = Operation::new(array, Work::Copy, 1, 0);
            self.dies.queue_known_copies(now, die, copy, count as u32, first_to_die);
            copies = later;
        }
    }

    /// Queues the program of a unit of the host that is a group by itself.
    #[inline(always)]
    pub(super) fn queue_known_program(&mut self, now: u64, ppn: Ppn, slot: u32) {
        let die = self.layout.die_of_group(ppn.0, ppn.0);
        let own_work_ns = self.dies.own_work_ns::<kind::KnownEnds>(now, die);
        let group = self.groups.of_unit(ppn, slot, Queued { at_ns: now, own_work_ns, is_held_by_copies: false });
        self.dies.queue_known(now, die, Operation::new(Array::Program, Work::Program, 1, group));
    }

    /// Queues copies after the one before them. The last one is kept for what the host writes in between.
    #[inline(always)]
    pub(super) fn take_known_copies<K: Kind>(
        &mut self,
        now: u64,
        copies: &[Decision],
        later: &[Decision],
        run: &mut CopyRun,
        has_host_read: bool,
    ) {
        let Some((last, before)) = copies.split_last() else { return };
        self.queue_copies::<K>(now, *run);
        let is_last_next = matches!(later, [] | [Decision::Erase(_), ..]);
        let is_kept = !is_last_next || has_host_read;
        self.queue_known_copies(now, if is_kept { before } else { copies });
        let (page, target) = slots_of_copy(last);
        *run = CopyRun { page, units: u32::from(is_kept), work: Work::Copy, target };
    }
}

#[cfg(test)]
mod tests {
    use crate::ledger::Cause;
    use crate::specification::Drive;
    use crate::specification::drive::{EraseUnitKind, Nand};
    use crate::timing::decision::Decision;
    use crate::timing::flash::Flash;
    use crate::units::Ppn;

    /// How many events five copies and a write of the host take, on two dies with a channel each.
    fn events(is_fused: bool) -> u64 {
        let nand = Nand { channels: 2, dies_per_channel: 1, pages_per_block: 8, ..Drive::textbook().nand };
        let flash = Flash::new(&nand, nand.page_bytes, EraseUnitKind::Block);
        let mut flash = if is_fused { flash } else { flash.without_fusing() };
        let copies = (0..5).map(|slot| Decision::Copy(Ppn(slot), Ppn(16 + slot), Cause::Gc));
        let decisions: Vec<_> = [Decision::Program(Ppn(32), Cause::Host)].into_iter().chain(copies).collect();
        flash.carry_out(0, &decisions, 0);
        let mut events = 0;
        while flash.next_event_ns().is_some() {
            events += flash.run(u64::MAX, u64::MAX);
            flash.finished().clear();
        }
        events
    }

    #[test]
    fn only_what_the_host_waits_for_has_an_event() {
        assert_eq!(events(true), 1);
        // A write, five reads and five programs.
        assert_eq!(events(false), 11);
    }
}
