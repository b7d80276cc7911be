//! The exact times of dies and channels, event by event.
//!
//! Every die performs one operation at a time and has two queues: the host's reads, which have priority, and everything
//! else in order. A channel carries one transfer at a time, first come, first served: a transfer is granted when it is
//! requested, never in advance, since a grant in advance would let a future operation delay a present one.
//!
//! A die with a private channel needs an event only for an operation whose end somebody waits for: the end of a chain
//! of others is their sum, known at once. When a read of the host arrives, the chain is cut after the current
//! operation. `without_fusing` gives every operation an event; tests show that the times are the same.

use super::background::Background;
use super::copy_turns::CopyTurns;
use super::die::{Die, Phase};
use super::in_memory::GroupId;
use super::operation::{Array, Costs, Operation, Work};
use super::service::{Ended, Queued, Service};
use super::suspension::Suspension;
use super::winner_tree::{WinnerTree, key};
use crate::specification::drive::{ReadRetries, SlcCache};
use std::hint::select_unpredictable;

/// Whether an operation that ends at `end_ns` is done at `now`, after the event with the key `last_event`. One that
/// ends at exactly this time is done only if its own event would have occurred by then: simultaneous events occur in
/// the order of the dies.
#[inline(always)]
pub fn has_ended(end_ns: u64, now: u64, index: usize, last_event: u64) -> bool {
    end_ns < now || (end_ns == now && key(end_ns, index) <= last_event)
}

pub struct Dies {
    pub(super) costs: Costs,
    dies: Vec<Die>,
    channel_free_at: Vec<u64>,
    events: WinnerTree,
    /// The key of the last event: events with a lower key have occurred.
    last_event: u64,
    has_own_channels: bool,
    pub(super) is_fused: bool,
    /// Whether `free_at_ns` is used.
    keeps_load: bool,
    /// Only for flash that suspends programs and erases.
    suspension: Option<Box<Suspension>>,
    /// Only for flash that reads pages of copies together.
    copy_turns: Option<Box<CopyTurns>>,
    /// Only for flash whose dies have an internal operation.
    background: Option<Box<Background>>,
    /// Groups whose programs have begun since the last report; only if requested.
    begun: Option<Vec<GroupId>>,
    /// Operations of the drive itself that are queued or in progress; only if counted.
    own: Option<u64>,
}

impl Dies {
    pub fn new(dies: u32, channels: u32, costs: Costs) -> Self {
        Self {
            costs,
            // Neighbouring dies are on different channels.
            dies: (0..dies).map(|die| Die::new(die % channels)).collect(),
            channel_free_at: vec![0; channels as usize],
            events: WinnerTree::new(dies as usize),
            last_event: 0,
            has_own_channels: dies == channels,
            is_fused: dies == channels,
            keeps_load: false,
            suspension: None,
            copy_turns: None,
            background: None,
            begun: None,
            own: None,
        }
    }

    /// Reports which programs of the host have begun, which needs an event for every operation.
    pub fn reporting_begun(self) -> Self {
        Self { is_fused: false, begun: Some(Vec::new()), ..self }
    }

    /// Counts operations of the drive itself, which needs an event for every operation.
    pub fn counting_own(self) -> Self {
        Self { is_fused: false, own: Some(0), ..self }
    }

    #[inline(always)]
    pub fn counts_own(&self) -> bool {
        self.own.is_some()
    }

    /// Whether more operations of the drive itself are queued or in progress than there are dies; false unless they are
    /// counted.
    #[inline]
    pub fn has_own_backlog(&self) -> bool {
        self.own.is_some_and(|count| count > self.dies.len() as u64)
    }

    /// An operation has ended.
    #[inline(always)]
    pub fn note_done(&mut self, operation: Operation) {
        if let Some(own) = &mut self.own
            && operation.is_own()
        {
            *own -= 1;
        }
    }

    #[inline(always)]
    pub fn reports_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// The next group whose program has begun, not yet reported.
    #[inline]
    pub fn next_begun(&mut self) -> Option<GroupId> {
        self.begun.as_mut()?.pop()
    }

    pub fn set_slc_mode(&mut self, cache: &SlcCache) {
        self.costs.set_slc_mode(cache);
    }

    pub fn set_retries(&mut self, said: &ReadRetries) {
        self.costs.set_retries(said);
    }

    pub(super) fn with_copy_turns(self, copy_turns: Option<Box<CopyTurns>>) -> Self {
        Self { is_fused: self.is_fused && copy_turns.is_none(), copy_turns, ..self }
    }

    pub(super) fn with_suspension(self, suspension: Option<Box<Suspension>>) -> Self {
        Self { suspension, ..self }
    }

    pub(super) fn with_background(self, background: Option<Box<Background>>) -> Self {
        Self { is_fused: self.is_fused && background.is_none(), background, ..self }
    }

    pub(super) fn hold_suspends(&mut self, is_held: bool) {
        if let Some(suspension) = &mut self.suspension {
            suspension.hold(is_held);
        }
    }

    pub fn without_fusing(self) -> Self {
        Self { is_fused: false, ..self }
    }

    /// Time and die of the next event.
    #[inline(always)]
    pub fn next_event(&self) -> Option<(u64, usize)> {
        self.events.earliest()
    }

    /// The total busy time of the dies until `now`.
    pub fn busy_ns(&self, now: u64) -> u64 {
        let of_die = |die: &Die| {
            let is_idle = die.phase == Phase::Idle;
            die.busy_ns + if is_idle { 0 } else { die.end_ns.min(now).saturating_sub(die.started_ns) }
        };
        self.dies.iter().map(of_die).sum()
    }

    /// When the last chain that nobody waits for ends.
    pub fn rests_at_ns(&self) -> u64 {
        let quiet = self.dies.iter().filter(|die| die.phase == Phase::Quiet);
        quiet.map(|die| die.end_ns).max().unwrap_or(0)
    }

    /// Processes the event of `next_event`. Returns the completed operation; the caller informs those who wait for it,
    /// who may queue more, and then calls `go_on`.
    #[inline(always)]
    pub fn take_event(&mut self, now: u64, index: usize) -> Option<Operation> {
        self.last_event = key(now, index);
        if self.dies[index].phase == Phase::ReadingArray {
            let end = self.use_channel(now, index, self.dies[index].current);
            let die = &mut self.dies[index];
            (die.phase, die.end_ns) = (Phase::LastPart, end);
            self.events.set(index, end);
            return None;
        }
        if self.dies[index].phase > Phase::LastPart {
            return self.take_event_of_suspended(now, index);
        }
        let die = &mut self.dies[index];
        die.finish(now);
        Some(die.current)
    }

    /// `take_event` for a die that has suspended or resumed an operation.
    #[cold]
    fn take_event_of_suspended(&mut self, now: u64, index: usize) -> Option<Operation> {
        match self.dies[index].phase {
            Phase::Suspending => {
                self.read_or_resume(now, index);
                None
            }
            Phase::ReadingWhileSuspended => {
                let end = self.use_channel(now, index, self.dies[index].current);
                self.dies[index].phase = Phase::LastPartWhileSuspended;
                self.events.set(index, end);
                None
            }
            Phase::LastPartWhileSuspended => {
                self.dies[index].phase = Phase::Suspended;
                Some(self.dies[index].current)
            }
            _ => {
                self.suspension.as_mut().expect("it was resumed").end(index);
                self.dies[index].finish(now);
                Some(self.dies[index].current)
            }
        }
    }

    /// Starts the next read of a die with a suspended operation, or resumes the operation.
    #[cold]
    fn read_or_resume(&mut self, now: u64, index: usize) {
        let die = &mut self.dies[index];
        if let Some(word) = die.reads.pop() {
            die.current = Operation::from_word(word);
            die.own_work_then_ns = die.reads.pop().expect("each read has its reading");
            die.read_started_ns = now;
            self.note_begun(index, Operation::from_word(word));
            self.start_current(now, index);
            let die = &mut self.dies[index];
            die.end_ns = u64::MAX;
            die.phase = match die.phase {
                Phase::ReadingArray => Phase::ReadingWhileSuspended,
                _ => Phase::LastPartWhileSuspended,
            };
            return;
        }
        die.current = Operation::from_word(die.others.get(0));
        die.phase = Phase::Resumed;
        die.end_ns = now + self.suspension.as_ref().expect("it was suspended").rest_ns(index);
        self.events.set(index, die.end_ns);
    }

    /// Lets a die that has completed an operation start the next one.
    #[inline(always)]
    pub fn go_on(&mut self, now: u64, index: usize) {
        if self.dies[index].phase == Phase::Idle {
            self.start_next(now, index);
        } else if self.dies[index].phase == Phase::Suspended {
            self.read_or_resume(now, index);
        }
    }

    /// Queues an operation other than a read of the host, after those before it.
    #[inline(always)]
    pub fn queue(&mut self, now: u64, index: usize, operation: Operation) {
        self.note_queued(index, operation);
        let die = &mut self.dies[index];
        match die.phase {
            Phase::Idle => {
                die.others.push(operation.word());
                self.start_next(now, index);
            }
            Phase::Quiet => {
                if has_ended(die.end_ns, now, index, self.last_event) {
                    die.finish(die.end_ns);
                    (die.started_ns, die.end_ns, die.phase) = (now, now, Phase::Quiet);
                } else if die.others.is_full() {
                    self.settle(now, index);
                }
                let die = &mut self.dies[index];
                die.others.push(operation.word());
                if die.lengthen_by(operation, &self.costs, self.keeps_load) {
                    self.events.set(index, die.end_ns);
                }
            }
            _ => die.others.push(operation.word()),
        }
    }

    /// Queues a read of the host, which overtakes everything that is not in progress.
    pub fn queue_read(&mut self, now: u64, index: usize, operation: Operation) {
        let own_work_ns = self.own_work_ns(now, index);
        self.dies[index].reads.push(operation.word());
        self.dies[index].reads.push(own_work_ns);
        self.note_queued(index, operation);
        if self.dies[index].phase == Phase::Quiet || self.dies[index].chained > 1 {
            self.settle(now, index);
            let die = &mut self.dies[index];
            if die.chained == 0 {
                die.phase = Phase::Idle;
            } else {
                die.current = Operation::from_word(die.others.get(0));
                die.chained = 1;
                let end_ns = die.started_ns + self.costs.duration_ns(die.current);
                if self.keeps_load {
                    die.queued_ns += die.end_ns - end_ns;
                }
                die.end_ns = end_ns;
                die.phase = Phase::LastPart;
                self.events.set(index, die.end_ns);
            }
        }
        if let Some(suspension) = &mut self.suspension
            && let Some(reads_at_ns) = suspension.suspend(now, index, &mut self.dies[index], &self.costs)
        {
            self.events.set(index, reads_at_ns);
        }
        self.go_on(now, index);
    }

    /// Removes the completed operations of a chain, as their events would have.
    fn settle(&mut self, now: u64, index: usize) {
        let die = &mut self.dies[index];
        while die.chained > 0 {
            let end = die.started_ns + self.costs.duration_ns(Operation::from_word(die.others.get(0)));
            if !has_ended(end, now, index, self.last_event) {
                break;
            }
            die.others.forget(1);
            die.chained -= 1;
            die.busy_ns += end - die.started_ns;
            die.started_ns = end;
        }
    }

    /// Starts the next operation of an idle die, reads of the host first.
    #[inline(always)]
    fn start_next(&mut self, now: u64, index: usize) {
        if self.background.is_some() && self.begins_background(now, index) {
            return;
        }
        let goes_on_copying = self.goes_on_copying(index);
        let die = &mut self.dies[index];
        (die.started_ns, die.end_ns) = (now, now);
        if !goes_on_copying && let Some(word) = die.reads.pop() {
            die.current = Operation::from_word(word);
            die.own_work_then_ns = die.reads.pop().expect("each read has its reading");
            if let Some(copy_turns) = &mut self.copy_turns {
                copy_turns.ends(index);
            }
            self.note_begun(index, Operation::from_word(word));
            return self.start_current(now, index);
        }
        if die.others.is_empty() {
            self.events.clear(index);
        } else if self.is_fused {
            let is_waited_for = die.lengthen(&self.costs, self.keeps_load);
            let end = if is_waited_for { Some(die.end_ns) } else { None };
            self.events.put(index, end);
        } else {
            die.current = Operation::from_word(die.others.get(0));
            die.chained = 1;
            let begun = die.current;
            if let Some(copy_turns) = &mut self.copy_turns {
                copy_turns.begins(index, begun);
            }
            self.note_begun(index, begun);
            self.start_current(now, index);
        }
    }

    /// Whether an idle die, idle since its last end, must first complete its internal operation.
    #[cold]
    fn begins_background(&mut self, now: u64, index: usize) -> bool {
        let (Some(background), die) = (&mut self.background, &mut self.dies[index]) else { return false };
        let Some(ends_ns) = background.ends_ns(index, die.end_ns, now) else { return false };
        die.current = Operation::new(Array::Nothing, Work::Quiet, 0, 0);
        (die.started_ns, die.end_ns, die.phase) = (now, ends_ns, Phase::LastPart);
        self.events.set(index, ends_ns);
        true
    }

    /// Whether the die's current turn of copies continues, so that reads of the host wait.
    #[inline(always)]
    fn goes_on_copying(&mut self, index: usize) -> bool {
        let Some(copy_turns) = &self.copy_turns else { return false };
        let others = &self.dies[index].others;
        let next = (!others.is_empty()).then(|| Operation::from_word(others.get(0)));
        copy_turns.goes_on(index, next)
    }

    #[inline(always)]
    fn start_current(&mut self, now: u64, index: usize) {
        if self.has_own_channels {
            return self.start_with_own_channel(now, index);
        }
        let operation = self.dies[index].current;
        let array_ns = self.costs.array_ns(operation);
        let is_read = operation.array() == Array::Read;
        // Without a branch, since the branch predictor cannot know which operation is next. A marker and an erase have
        // nothing to transfer.
        let transfers_first = !is_read & (operation.units() > 0);
        let die = &mut self.dies[index];
        let free_at = &mut self.channel_free_at[die.channel as usize];
        let transferred = now.max(*free_at) + self.costs.transfer_ns(operation);
        *free_at = select_unpredictable(transfers_first, transferred, *free_at);
        let event = select_unpredictable(transfers_first, transferred, now) + array_ns;
        die.phase = select_unpredictable(is_read, Phase::ReadingArray, Phase::LastPart);
        die.end_ns = select_unpredictable(is_read, u64::MAX, event);
        self.events.set(index, event);
    }

    /// With a private channel nothing can happen between array operation and transfer: one event is enough.
    #[inline(never)]
    fn start_with_own_channel(&mut self, now: u64, index: usize) {
        let operation = self.dies[index].current;
        let array_ns = self.costs.array_ns(operation);
        let end = match operation.array() {
            Array::Read => self.use_channel(now + array_ns, index, operation),
            _ if operation.units() > 0 => self.use_channel(now, index, operation) + array_ns,
            _ => now + array_ns,
        };
        let die = &mut self.dies[index];
        (die.phase, die.end_ns) = (Phase::LastPart, end);
        self.events.set(index, end);
    }

    /// Grants the die its channel, now or after earlier requests. Returns when the transfer ends.
    #[inline(always)]
    fn use_channel(&mut self, now: u64, index: usize, operation: Operation) -> u64 {
        let free_at = &mut self.channel_free_at[self.dies[index].channel as usize];
        *free_at = now.max(*free_at) + self.costs.transfer_ns(operation);
        *free_at
    }

    /// Enables `free_at_ns`, which costs time. The queues must be empty.
    pub fn keep_load(&mut self) {
        self.keeps_load = true;
    }

    /// An operation was added to the queue of a die.
    #[inline(always)]
    fn note_queued(&mut self, index: usize, operation: Operation) {
        if self.keeps_load {
            self.dies[index].queued_ns += self.costs.duration_ns(operation);
        }
        if let Some(own) = &mut self.own
            && operation.is_own()
        {
            *own += 1;
        }
    }

    /// An operation leaves the queue of a die and begins.
    #[inline(always)]
    fn note_begun(&mut self, index: usize, operation: Operation) {
        if self.keeps_load {
            self.dies[index].queued_ns -= self.costs.duration_ns(operation);
        }
        if operation.work() == Work::Program
            && let Some(begun) = &mut self.begun
        {
            begun.push(operation.target());
        }
    }

    /// When a die would complete its queue, without waits for its channel.
    pub fn free_at_ns(&self, now: u64, index: usize) -> u64 {
        let die = &self.dies[index];
        let at_work_until_ns = match die.phase {
            Phase::Idle => now,
            Phase::ReadingArray => now.max(die.started_ns + self.costs.duration_ns(die.current)),
            Phase::Quiet | Phase::LastPart | Phase::Resumed => now.max(die.end_ns),
            _ => now + self.suspension.as_ref().map_or(0, |suspension| suspension.rest_ns(index)),
        };
        at_work_until_ns + die.queued_ns
    }

    /// How long a die has worked for the drive itself until now.
    #[inline(always)]
    pub fn own_work_ns(&self, now: u64, index: usize) -> u64 {
        let die = &self.dies[index];
        if die.phase > Phase::LastPart {
            return die.own_work_suspended_ns(now);
        }
        let is_at_work = die.phase != Phase::Idle;
        let is_of_host = die.current.is_of_host() & (die.phase != Phase::Quiet);
        // The branch predictor cannot know the state of a die.
        let ends_ns = select_unpredictable(is_of_host, self.host_from_ns(die), die.end_ns);
        let own_ns = now.min(ends_ns).wrapping_sub(die.started_ns);
        die.busy_ns - die.host_ns + select_unpredictable(is_at_work, own_ns, 0)
    }

    /// When the host's operation that a die performs, or has just completed, started: the last of a chain if they are
    /// fused, otherwise the only one.
    #[inline(always)]
    fn host_from_ns(&self, die: &Die) -> u64 {
        // The remainder of a suspended operation is a separate chain, from the end of the last read in between.
        let is_one_of_chain = self.is_fused & (die.started_ns != die.read_started_ns);
        if is_one_of_chain { die.end_ns.wrapping_sub(self.costs.duration_ns(die.current)) } else { die.started_ns }
    }

    /// Counts the host's operation that has just ended.
    #[inline(always)]
    pub fn end_of_host(&mut self, now: u64, index: usize) -> Ended {
        if self.dies[index].phase == Phase::Suspended {
            return self.dies[index].end_of_read_between(now, index);
        }
        let started_ns = self.host_from_ns(&self.dies[index]);
        let die = &mut self.dies[index];
        die.host_ns += now - started_ns;
        Ended { operation: die.current, die: index, started_ns, own_work_then_ns: die.own_work_then_ns }
    }

    /// How the time of the host's operation that ended now was spent. Must be called before the die ends another
    /// operation.
    #[inline(always)]
    pub fn service(&self, now: u64, ended: &Ended, queued: Queued) -> Service {
        let array_ns = self.costs.array_ns(ended.operation);
        let die = &self.dies[ended.die];
        // A suspended operation spent most of its time before; its suspensions are reads of others.
        let channel_ns = (now - ended.started_ns).checked_sub(array_ns);
        Service {
            queued_ns: queued.at_ns,
            is_held_by_copies: queued.is_held_by_copies,
            ended_ns: now,
            array_ns,
            channel_ns: channel_ns.unwrap_or_else(|| self.costs.transfer_ns(ended.operation)),
            gc_ns: die.busy_ns - die.host_ns - queued.own_work_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::operation::Work;
    use super::*;
    use crate::specification::drive::{Drive, Nand};
    use proptest::prelude::*;

    /// Recomputed from all queued operations.
    fn queued_ns(dies: &Dies, index: usize) -> u64 {
        let die = &dies.dies[index];
        let duration_ns = |word| dies.costs.duration_ns(Operation::from_word(word));
        // Each read is followed by its duration.
        let reads = (0..die.reads.len()).step_by(2).map(|slot| duration_ns(die.reads.get(slot)));
        let others = (die.chained..die.others.len()).map(|slot| duration_ns(die.others.get(slot)));
        reads.chain(others).sum()
    }

    /// Fused or not, or with suspension.
    fn flash(variant: u8) -> Dies {
        let textbook = Drive::textbook().nand;
        let nand = Nand {
            read_us: 0.060.into(),
            program_us: 0.700.into(),
            erase_us: 5.0,
            channel_mb_s: 819_200.0,
            channels: if variant == 1 { 1 } else { 2 },
            dies_per_channel: if variant == 1 { 2 } else { 1 },
            suspend: variant == 2,
            ..textbook
        };
        let mut dies = Dies::new(2, nand.channels, Costs::new(&nand, 4096)).with_suspension(Suspension::new(&nand));
        dies.set_slc_mode(&SlcCache { read_us: 0.020, program_us: 0.200, erase_us: 3.0, ..SlcCache::default() });
        dies.keep_load();
        dies
    }

    proptest! {
        #[test]
        fn what_is_queued_is_summed_as_it_comes_and_goes(
            variant in 0u8..3,
            steps in proptest::collection::vec((0u8..9, 0usize..2, 0u64..900), 1..200),
        ) {
            let mut dies = flash(variant);
            let mut now = 0;
            for (kind, index, later) in steps {
                let of_host = |array, work| Operation::new(array, work, 4, 0);
                match kind {
                    0 => dies.queue(now, index, of_host(Array::Program, Work::Program)),
                    1 => dies.queue(now, index, Operation::new(Array::Program, Work::Quiet, 4, 0)),
                    2 => dies.queue(now, index, Operation::new(Array::Read, Work::CopyRead, 3, 0).in_mode(true)),
                    3 => dies.queue(now, index, Operation::new(Array::Erase, Work::Quiet, 0, 0)),
                    4 | 5 => dies.queue_read(now, index, of_host(Array::Read, Work::HostRead)),
                    _ => {
                        let until_ns = now + later;
                        while let Some((at_ns, event)) = dies.next_event().filter(|&(at_ns, _)| at_ns <= until_ns) {
                            if let Some(operation) = dies.take_event(at_ns, event) {
                                if operation.is_of_host() {
                                    dies.end_of_host(at_ns, event);
                                }
                                dies.go_on(at_ns, event);
                            }
                        }
                        now = until_ns;
                    }
                }
                for index in 0..2 {
                    prop_assert_eq!(dies.dies[index].queued_ns, queued_ns(&dies, index));
                }
            }
        }
    }
}
