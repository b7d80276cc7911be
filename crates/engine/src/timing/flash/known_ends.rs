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
//! Requires that each unit is a program group of its own, and that erases wait for nothing (`Flash::of_its_kind`). Used
//! for erase units of one block only: copies from a superblock come from another die each, and one event for each is then
//! as fast. Tests compare it with one event per operation, `without_fusing`.

use super::dies::{Dies, has_ended};
use super::operation::{Array, Costs, Operation, Work};
use super::ring::Ring;
use super::service::Ended;
use super::winner_tree::{TIME_MAX_NS, key};

const DIE_BITS: u32 = 16;
const DIE_MASK: u64 = (1 << DIE_BITS) - 1;
/// Of a run.
const COUNT_BITS: u32 = 24;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const NEVER: u64 = u64::MAX;
/// An entry of `Die::waited_for`, and one of `Die::reads`.
const WAITED_FOR_WORDS: u32 = 2;
const READ_WORDS: u32 = 3;

/// The end of a copy, relative to the reads of its die, and the die of the program that is due then.
#[inline(always)]
fn copy_word(end_ns: u64, reads_ns: u64, to_die: u64) -> u64 {
    end_ns.wrapping_sub(reads_ns) << DIE_BITS | to_die
}

#[inline(always)]
fn end_of_copy(word: u64, reads_ns: u64) -> u64 {
    (word >> DIE_BITS).wrapping_add(reads_ns) & TIME_MAX_NS
}

/// Operations one after another without a gap, as runs of equal ones: the durations and counts of those that had not
/// begun when an operation in progress was last looked for.
#[derive(Clone, Debug, Default)]
struct Runs {
    starts_ns: u64,
    /// A word each: the duration and, in the lowest bits, the count.
    before_last: Ring,
    last: u64,
}

impl Runs {
    fn is_empty(&self) -> bool {
        self.last == 0
    }

    fn clear(&mut self, starts_ns: u64) {
        self.before_last.forget(self.before_last.len());
        self.last = 0;
        self.starts_ns = starts_ns;
    }

    /// Appends operations of equal durations.
    #[inline(always)]
    fn add(&mut self, duration_ns: u64, count: u64) {
        if self.last >> COUNT_BITS == duration_ns && (self.last & COUNT_MASK) + count <= COUNT_MASK {
            self.last += count;
        } else {
            if self.last > 0 {
                self.before_last.push(self.last);
            }
            self.last = duration_ns << COUNT_BITS | count;
        }
    }

    /// Removes runs that have ended before `now`, if there is no room for another.
    #[inline(always)]
    fn make_room(&mut self, now: u64) {
        if self.before_last.is_full() {
            self.forget_ended(|ends_ns| ends_ns < now);
        }
    }

    #[inline(never)]
    fn forget_ended(&mut self, has_ended: impl Fn(u64) -> bool) {
        while let Some(run) = self.before_last.first() {
            let ends_ns = self.starts_ns + (run >> COUNT_BITS) * (run & COUNT_MASK);
            if !has_ended(ends_ns) {
                return;
            }
            self.before_last.forget(1);
            self.starts_ns = ends_ns;
        }
    }

    /// Removes what has begun; there must be an operation in progress. Returns its end.
    fn take_in_progress(&mut self, now: u64, has_ended: impl Fn(u64) -> bool) -> u64 {
        self.forget_ended(&has_ended);
        let run = self.before_last.first().unwrap_or(self.last);
        let (duration_ns, count) = (run >> COUNT_BITS, run & COUNT_MASK);
        let ended = (now - self.starts_ns) / duration_ns;
        let is_last_over = ended == 0 || has_ended(self.starts_ns + ended * duration_ns);
        let begun = ended + u64::from(is_last_over);
        debug_assert!(begun <= count);
        self.starts_ns += begun * duration_ns;
        let rest = if begun == count { 0 } else { run - begun };
        match (self.before_last.is_empty(), rest) {
            (true, _) => self.last = rest,
            (false, 0) => self.before_last.forget(1),
            (false, _) => self.before_last.set(0, rest),
        }
        self.starts_ns
    }
}

#[derive(Clone, Debug, Default)]
struct Die {
    /// All operations but reads of the host.
    runs: Runs,
    /// Copies that have not ended, one word each.
    copies: Ring,
    /// Operations with an event: the end, relative to the reads, and the operation.
    waited_for: Ring,
    /// Reads of the host: the end, the operation, and how long the die had worked for the drive itself.
    reads: Ring,
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
        if self.runs.is_empty() | (self.end_ns < now) {
            self.end_ns = self.end_ns.max(now);
            self.runs.clear(self.end_ns);
        }
        self.runs.make_room(now);
        self.runs.add(duration_ns, count);
        let starts_ns = self.end_ns;
        self.end_ns += count * duration_ns;
        self.queued_ns += count * duration_ns;
        starts_ns
    }

    #[inline(always)]
    fn first_copy_ns(&self) -> u64 {
        self.copies.first().map_or(NEVER, |word| end_of_copy(word, self.reads_ns))
    }

    #[inline(always)]
    fn first_waited_for_ns(&self) -> u64 {
        self.waited_for.first().map_or(NEVER, |end_ns| end_ns.wrapping_add(self.reads_ns))
    }

    #[inline(always)]
    fn first_read_ns(&self) -> u64 {
        self.reads.first().unwrap_or(NEVER)
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
        let since_start = |end_ns: u64, word| {
            let operation = Operation::from_word(word);
            let started_ns = end_ns.wrapping_sub(costs.duration_ns(operation));
            if operation.is_of_host() { now.saturating_sub(started_ns) } else { 0 }
        };
        if !self.reads.is_empty() {
            let of_read = since_start(self.reads.get(0), self.reads.get(1));
            if of_read > 0 {
                return of_read;
            }
        }
        if self.waited_for.is_empty() { 0 } else { since_start(self.first_waited_for_ns(), self.waited_for.get(1)) }
    }

    /// Queues a read of the host. Returns its end.
    fn append_read(&mut self, now: u64, read_ns: u64, has_ended: impl Fn(u64) -> bool) -> u64 {
        if self.end_ns < now || (self.end_ns == now && has_ended(now)) {
            self.runs.clear(now);
        }
        let starts_ns = match self.reads.len() {
            0 if self.runs.is_empty() => self.end_ns.max(now),
            0 => self.runs.take_in_progress(now, has_ended),
            // After those before it.
            words => self.reads.get(words - READ_WORDS),
        };
        self.delay(starts_ns, read_ns);
        self.end_ns = self.end_ns.max(now) + read_ns;
        self.queued_ns += read_ns;
        starts_ns + read_ns
    }

    /// Delays what has not begun at `from_ns` by a read. At most the first operation has begun.
    fn delay(&mut self, from_ns: u64, read_ns: u64) {
        let reads_ns = self.reads_ns + read_ns;
        if self.first_waited_for_ns() <= from_ns {
            self.waited_for.set(0, self.first_waited_for_ns().wrapping_sub(reads_ns));
        }
        if self.first_copy_ns() <= from_ns {
            self.copies.set(0, copy_word(self.first_copy_ns(), reads_ns, self.copies.get(0) & DIE_MASK));
        }
        self.runs.starts_ns += read_ns;
        self.reads_ns = reads_ns;
    }
}

/// See the file's description. Has no dies on other flash.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownEnds {
    dies: Vec<Die>,
    /// By die: when its first copy ends.
    first_copy_ns: Vec<u64>,
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
            program_ns,
            due: Vec::new(),
        }
    }

    pub fn is_used(&self) -> bool {
        !self.dies.is_empty()
    }

    /// Queues the programs of copies that have ended now, after the event with the key `last_event`.
    #[inline(always)]
    fn come_to(&mut self, now: u64, last_event: u64) {
        for die in 0..self.dies.len() {
            if self.first_copy_ns[die] <= now {
                self.pass_copies(die, now, last_event);
            }
        }
        if !self.due.is_empty() {
            self.queue_due();
        }
    }

    #[inline]
    fn pass_copies(&mut self, index: usize, now: u64, last_event: u64) {
        loop {
            let die = &mut self.dies[index];
            let Some(word) = die.copies.first() else {
                self.first_copy_ns[index] = NEVER;
                return;
            };
            let end_ns = end_of_copy(word, die.reads_ns);
            if !has_ended(end_ns, now, index, last_event) {
                self.first_copy_ns[index] = end_ns;
                return;
            }
            die.copies.forget(1);
            let to_die = word & DIE_MASK;
            let target = &mut self.dies[to_die as usize];
            if target.end_ns < now {
                self.due.push((key(end_ns, index), to_die as u32));
            } else {
                target.append(now, self.program_ns, 1);
            }
        }
    }

    /// In the order of the copies' ends.
    #[cold]
    fn queue_due(&mut self) {
        self.due.sort_unstable();
        for index in 0..self.due.len() {
            let (key, die) = self.due[index];
            self.dies[die as usize].append(key >> DIE_BITS, self.program_ns, 1);
        }
        self.due.clear();
    }

    /// The total busy time of the dies until `now`.
    pub fn busy_ns(&self, now: u64) -> u64 {
        let mut then = self.clone();
        then.come_to(now, NEVER);
        then.dies.iter().map(|die| die.busy_ns(now)).sum()
    }

    /// When everything queued so far has ended.
    pub fn rests_at_ns(&self) -> u64 {
        let end_ns = |known: &Self| known.dies.iter().map(|die| die.end_ns).max().unwrap_or(0);
        if self.first_copy_ns.iter().all(|&first_ns| first_ns == NEVER) {
            return end_ns(self);
        }
        let mut then = self.clone();
        then.come_to(NEVER, NEVER);
        end_ns(&then)
    }

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
        self.known.come_to(now, self.last_event);
    }

    /// Queues copies of one duration on a die, each with the die of its program.
    #[inline(always)]
    pub(super) fn queue_known_copies(
        &mut self,
        now: u64,
        index: usize,
        copy: Operation,
        to_dies: impl ExactSizeIterator<Item = usize>,
    ) {
        if to_dies.len() == 0 {
            return;
        }
        let duration_ns = self.costs.duration_ns(copy);
        let die = &mut self.known.dies[index];
        let mut end_ns = die.append(now, duration_ns, to_dies.len() as u64);
        if die.copies.is_empty() {
            self.known.first_copy_ns[index] = end_ns + duration_ns;
        }
        let reads_ns = die.reads_ns;
        die.copies.extend(to_dies.map(|to_die| {
            end_ns += duration_ns;
            copy_word(end_ns, reads_ns, to_die as u64)
        }));
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
            die.waited_for.extend([end_ns.wrapping_sub(die.reads_ns), operation.word()].into_iter());
            if is_next {
                self.events.put(index, die.next_event_ns());
            }
        }
    }

    pub(super) fn queue_known_read(&mut self, now: u64, index: usize, operation: Operation) {
        let own_work_ns = self.known.own_work_ns(now, index, &self.costs);
        let read_ns = self.costs.duration_ns(operation);
        let last_event = self.last_event;
        let die = &mut self.known.dies[index];
        let end_ns = die.append_read(now, read_ns, |ends_ns| has_ended(ends_ns, now, index, last_event));
        die.reads.extend([end_ns, operation.word(), own_work_ns].into_iter());
        self.known.first_copy_ns[index] = die.first_copy_ns();
        self.events.put(index, die.next_event_ns());
    }

    /// The operation that ends with the event of a die.
    #[inline(always)]
    pub(super) fn take_known_event(&mut self, now: u64, index: usize) -> Operation {
        self.last_event = key(now, index);
        let die = &mut self.known.dies[index];
        let word = if die.first_read_ns() == now {
            let word = die.reads.get(1);
            die.own_work_then_ns = die.reads.get(2);
            die.reads.forget(READ_WORDS);
            word
        } else {
            let word = die.waited_for.get(1);
            die.waited_for.forget(WAITED_FOR_WORDS);
            word
        };
        self.events.put(index, die.next_event_ns());
        Operation::from_word(word)
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

#[cfg(test)]
mod tests {
    use crate::ledger::Cause;
    use crate::specification::Drive;
    use crate::specification::drive::{EraseUnitKind, Nand};
    use crate::timing::flash::Flash;
    use crate::timing::recorder::Decision;
    use crate::units::Ppn;

    /// How many events five copies and a write of the host take, on two dies with a channel each.
    fn events(is_fused: bool) -> u64 {
        let nand = Nand { channels: 2, dies_per_channel: 1, pages_per_block: 8, ..Drive::textbook().nand };
        let flash = Flash::new(&nand, nand.page_bytes, EraseUnitKind::Block);
        let mut flash = if is_fused { flash } else { flash.without_fusing() };
        let copy = |slot| [Decision::Read(Ppn(slot), Cause::Gc), Decision::Program(Ppn(16 + slot), Cause::Gc)];
        let copies = (0..5).flat_map(copy);
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
