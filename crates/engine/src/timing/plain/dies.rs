//! The dies of plain flash, on which every end is known as soon as an operation is queued.
//!
//! Where each die has a channel of its own and performs its queue in order, an operation ends when those
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

use crate::timing::flash::dies::has_ended;
use crate::timing::flash::operation::{Array, Costs, Operation, Work};
use crate::timing::flash::ring::Ring;
use crate::timing::flash::service::{Ended, Queued, Service};
use crate::timing::flash::winner_tree::{WinnerTree, index_of, key, time_of};

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
pub(super) fn in_turn(number: u32, dies: u32) -> u32 {
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

/// What the dies have to do.
#[derive(Clone, Debug)]
struct Queues {
    dies: Vec<Die>,
    /// By die: when its first copy ends; and the earliest of these times, or an earlier one.
    first_copy_ns: Vec<u64>,
    next_copy_ns: u64,
    /// The time of a copied unit's program.
    program_ns: u64,
    /// Programs due on dies that were idle meanwhile: the key of the copy's end, and the die.
    due: Vec<(u64, u32)>,
}

/// See the file's description.
pub(super) struct Dies {
    costs: Costs,
    queues: Queues,
    events: WinnerTree,
    /// The key of the last event: events with a lower key have occurred.
    last_event: u64,
}

impl Queues {
    fn new(dies: u32, program_ns: u64) -> Self {
        Self {
            dies: vec![Die::default(); dies as usize],
            first_copy_ns: vec![NEVER; dies as usize],
            next_copy_ns: NEVER,
            program_ns,
            due: Vec::new(),
        }
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
}

impl Dies {
    pub fn new(dies: u32, costs: Costs) -> Self {
        let program_ns = costs.duration_ns(Operation::new(Array::Program, Work::Quiet, 1, 0));
        let events = WinnerTree::new(dies as usize);
        Self { costs, queues: Queues::new(dies, program_ns), events, last_event: 0 }
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.queues.dies.len()
    }

    /// Time and die of the next event.
    #[inline(always)]
    pub fn next_event(&self) -> Option<(u64, usize)> {
        self.events.earliest()
    }

    /// The total busy time of the dies until `now`.
    pub fn busy_ns(&self, now: u64) -> u64 {
        let mut then = self.queues.clone();
        then.come_to(now, usize::MAX);
        then.dies.iter().map(|die| die.busy_ns(now)).sum()
    }

    /// When everything queued so far has ended.
    pub fn rests_at_ns(&self) -> u64 {
        let end_ns = |queues: &Queues| queues.dies.iter().map(|die| die.end_ns).max().unwrap_or(0);
        if self.queues.next_copy_ns == NEVER {
            return end_ns(&self.queues);
        }
        let mut then = self.queues.clone();
        then.come_to(NEVER, 0);
        end_ns(&then)
    }

    /// How long a die has worked for the drive itself until now.
    #[inline(always)]
    pub fn own_work_ns(&self, now: u64, index: usize) -> u64 {
        let die = &self.queues.dies[index];
        die.busy_ns(now) - die.host_ns - die.host_in_progress_ns(now, &self.costs)
    }

    /// Before anything is queued at `now`.
    #[inline(always)]
    pub fn come_to(&mut self, now: u64) {
        // Simultaneous events occur in the order of the dies.
        let passed_dies = if time_of(self.last_event) == now { index_of(self.last_event) + 1 } else { 0 };
        self.queues.come_to(now, passed_dies);
    }

    /// Queues copies on a die, whose programs go to the dies in turn, the first to `to_die`.
    #[inline(always)]
    pub fn queue_copies(&mut self, now: u64, index: usize, copy: Operation, count: u32, to_die: u32) {
        let each_ns = self.costs.duration_ns(copy);
        let die = &mut self.queues.dies[index];
        let end_ns = die.append(now, each_ns, u64::from(count)) + each_ns;
        if die.first_copies().is_none() {
            self.queues.first_copy_ns[index] = end_ns;
            self.queues.next_copy_ns = self.queues.next_copy_ns.min(end_ns);
        }
        die.copies.push(Copies { end_ns: end_ns.wrapping_sub(die.reads_ns), each_ns, count, to_die });
    }

    #[inline(always)]
    pub fn queue(&mut self, now: u64, index: usize, operation: Operation) {
        let duration_ns = self.costs.duration_ns(operation);
        // An erase may take no time.
        if duration_ns == 0 {
            return;
        }
        let die = &mut self.queues.dies[index];
        let end_ns = die.append(now, duration_ns, 1) + duration_ns;
        if !operation.is_quiet() {
            let is_next = die.waited_for.is_empty();
            die.waited_for.push(WaitedFor { end_ns: end_ns.wrapping_sub(die.reads_ns), operation });
            if is_next {
                self.events.put(index, die.next_event_ns());
            }
        }
    }

    pub fn queue_read(&mut self, now: u64, index: usize, operation: Operation) {
        let own_work_ns = self.own_work_ns(now, index);
        let read_ns = self.costs.duration_ns(operation);
        let last_event = self.last_event;
        let dies = self.queues.dies.len() as u32;
        let die = &mut self.queues.dies[index];
        let end_ns = die.append_read(now, read_ns, dies, |ends_ns| has_ended(ends_ns, now, index, last_event));
        die.reads.push((WaitedFor { end_ns, operation }, own_work_ns));
        self.queues.first_copy_ns[index] = die.first_copy_ns();
        self.events.put(index, die.next_event_ns());
    }

    /// The operation that ends with the event of a die.
    #[inline(always)]
    pub fn take_event(&mut self, now: u64, index: usize) -> Operation {
        self.last_event = key(now, index);
        let die = &mut self.queues.dies[index];
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
    pub fn end_of_host(&mut self, now: u64, index: usize, operation: Operation) -> Ended {
        let duration_ns = self.costs.duration_ns(operation);
        let die = &mut self.queues.dies[index];
        die.host_ns += duration_ns;
        Ended { operation, die: index, started_ns: now - duration_ns, own_work_then_ns: die.own_work_then_ns }
    }

    /// How the time of the host's operation that ended now was spent. Must be called before the die ends another
    /// operation.
    #[inline(always)]
    pub fn service(&self, now: u64, ended: &Ended, queued: Queued) -> Service {
        let array_ns = self.costs.array_ns(ended.operation);
        let die = &self.queues.dies[ended.die];
        Service {
            queued_ns: queued.at_ns,
            is_held_by_copies: queued.is_held_by_copies,
            ended_ns: now,
            array_ns,
            channel_ns: now - ended.started_ns - array_ns,
            gc_ns: die.busy_ns(now) - die.host_ns - queued.own_work_ns,
        }
    }
}
