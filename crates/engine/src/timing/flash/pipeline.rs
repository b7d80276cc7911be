//! Dies with a cache register in addition to the page register: the transfer of one page overlaps the array operation
//! of the next.
//!
//! Cache program: while a page is programmed, the data of the next crosses the channel. Cache read: while a page is
//! transferred out, the next is read from the array. So a die takes the longer of the two times a page instead of their
//! sum. A program whose transfer has begun is in progress: reads of the host wait for it, and overtake those after it.
//!
//! Array and register have an event each, numbered by the die and by the die plus the number of dies. Nothing is fused.

use super::dies::Dies;
use super::kind::Any;
use super::operation::{Array, Operation};
use super::service::Ended;
use super::winner_tree::WinnerTree;
use crate::specification::drive::Nand;

/// An operation in one of the stages, with the record of its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Staged {
    operation: Operation,
    /// For a read of the host: how long the die had worked for the drive itself when it was queued.
    own_work_then_ns: u64,
    /// When it began to wait for its channel; after its transfer, the duration since then.
    channel_ns: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Register {
    #[default]
    Empty,
    /// A page to be programmed crosses the channel.
    Incoming(Staged),
    /// It waits for the array.
    Ready(Staged),
    /// A page that was read crosses the channel.
    Outgoing(Staged),
}

#[derive(Clone, Copy, Debug, Default)]
struct Pipeline {
    array: Option<Staged>,
    /// A page that was read and waits for the cache register.
    read: Option<Staged>,
    register: Register,
    /// The last completed operation.
    ended: Staged,
    /// How long it has worked for the drive itself, at the last update.
    own_work_ns: u64,
    noted_ns: u64,
    /// Since when the die has been busy without a pause, and how long it was before.
    begun_ns: u64,
    busy_ns: u64,
}

impl Pipeline {
    fn is_idle(&self) -> bool {
        self.array.is_none() && self.read.is_none() && self.register == Register::Empty
    }

    fn in_register(&self) -> Option<Staged> {
        match self.register {
            Register::Empty => None,
            Register::Incoming(staged) | Register::Ready(staged) | Register::Outgoing(staged) => Some(staged),
        }
    }

    /// How long it has worked for the drive itself. Where the stages differ the array operation counts, which others
    /// wait for longest.
    fn own_work_ns(&self, now: u64) -> u64 {
        let decides = self.array.or(self.in_register()).or(self.read);
        let is_own = decides.is_some_and(|staged| !staged.operation.is_of_host());
        self.own_work_ns + if is_own { now - self.noted_ns } else { 0 }
    }

    /// Must be called before any stage changes.
    fn note_work(&mut self, now: u64) {
        (self.own_work_ns, self.noted_ns) = (self.own_work_ns(now), now);
    }
}

#[derive(Clone, Debug)]
pub(super) struct Pipelines {
    caches_programs: bool,
    caches_reads: bool,
    dies: Vec<Pipeline>,
}

impl Pipelines {
    /// None for flash with neither feature.
    pub fn new(nand: &Nand) -> Option<Box<Self>> {
        (nand.cache_program || nand.cache_read).then(|| {
            Box::new(Self {
                caches_programs: nand.cache_program,
                caches_reads: nand.cache_read,
                dies: vec![Pipeline::default(); (nand.channels * nand.dies_per_channel) as usize],
            })
        })
    }

    fn may_begin(&self, die: usize, operation: Operation) -> bool {
        let Pipeline { array, read, register, .. } = self.dies[die];
        let is_outgoing = matches!(register, Register::Outgoing(_));
        let is_programming = array.is_some_and(|array| array.operation.array() == Array::Program);
        match operation.array() {
            // A marker is not a read: everything before it is done.
            Array::Nothing if operation.units() == 0 => self.dies[die].is_idle(),
            Array::Nothing | Array::Read => {
                let has_register = register == Register::Empty || (self.caches_reads && is_outgoing);
                array.is_none() && read.is_none() && has_register
            }
            Array::Program => {
                let has_array = array.is_none() || (self.caches_programs && is_programming);
                has_array && read.is_none() && register == Register::Empty
            }
            Array::Erase => self.dies[die].is_idle(),
        }
    }

    pub fn busy_ns(&self, now: u64) -> u64 {
        let of_die = |die: &Pipeline| die.busy_ns + if die.is_idle() { 0 } else { now.saturating_sub(die.begun_ns) };
        self.dies.iter().map(of_die).sum()
    }

    /// How long a die has worked for the drive itself.
    #[cold]
    pub fn own_work_ns(&self, now: u64, die: usize) -> u64 {
        self.dies[die].own_work_ns(now)
    }

    /// The record of the host's operation that has just ended.
    #[cold]
    pub fn end_of_host(&self, now: u64, die: usize, array_ns: u64) -> Ended {
        let Staged { operation, own_work_then_ns, channel_ns } = self.dies[die].ended;
        Ended { operation, die, started_ns: now - array_ns - channel_ns, own_work_then_ns }
    }
}

impl Dies {
    pub(super) fn with_pipelines(mut self, pipelines: Option<Box<Pipelines>>) -> Self {
        if pipelines.is_some() {
            self.events = WinnerTree::new(2 * self.dies.len());
        }
        self.pipelines = pipelines;
        self
    }

    fn pipeline(&mut self, die: usize) -> &mut Pipeline {
        &mut self.pipelines.as_mut().expect("dies with a cache register").dies[die]
    }

    /// Starts whatever can start.
    #[cold]
    pub(super) fn advance_pipeline(&mut self, now: u64, die: usize) {
        self.pipeline(die).note_work(now);
        let was_idle = self.pipeline(die).is_idle();
        while self.begin_in_pipeline(now, die) {}
        let pipeline = self.pipeline(die);
        if was_idle && !pipeline.is_idle() {
            pipeline.begun_ns = now;
        }
    }

    fn begin_in_pipeline(&mut self, now: u64, die: usize) -> bool {
        let transfers = self.dies.len() + die;
        let Pipeline { array, read, register, .. } = *self.pipeline(die);
        if let Some(staged) = read.filter(|_| register == Register::Empty) {
            self.pipeline(die).read = None;
            self.pipeline(die).register = Register::Outgoing(staged);
            let end = self.use_channel(now, die, staged.operation);
            self.events.set(transfers, end);
            return true;
        }
        if let Register::Ready(staged) = register
            && array.is_none()
            && read.is_none()
        {
            self.pipeline(die).register = Register::Empty;
            self.begin_in_array(now, die, staged);
            return true;
        }
        let queues = &self.dies[die];
        let is_read = !queues.reads.is_empty();
        if !is_read && queues.others.is_empty() {
            return false;
        }
        let next = Operation::from_word(if is_read { queues.reads.get(0) } else { queues.others.get(0) });
        if !self.pipelines.as_ref().is_some_and(|pipelines| pipelines.may_begin(die, next)) {
            return false;
        }
        let queues = &mut self.dies[die];
        let mut staged = Staged { operation: next, own_work_then_ns: 0, channel_ns: 0 };
        if is_read {
            staged.own_work_then_ns = queues.reads.get(1);
            queues.reads.forget(2);
        } else {
            queues.others.forget(1);
        }
        self.note_begun::<Any>(die, next);
        if next.array() == Array::Program {
            self.pipeline(die).register = Register::Incoming(Staged { channel_ns: now, ..staged });
            let end = self.use_channel(now, die, next);
            self.events.set(transfers, end);
        } else {
            self.begin_in_array(now, die, staged);
        }
        true
    }

    fn begin_in_array(&mut self, now: u64, die: usize, staged: Staged) {
        self.pipeline(die).array = Some(staged);
        let end = now + self.costs.array_ns(staged.operation);
        self.events.set(die, end);
    }

    /// `take_event` on a die with a cache register, by the number of the event.
    #[cold]
    pub(super) fn take_event_of_pipeline(&mut self, now: u64, index: usize) -> Option<Operation> {
        let die = self.die_of_event(index);
        self.events.clear(index);
        let pipeline = self.pipeline(die);
        pipeline.note_work(now);
        let since = |staged: Staged| Staged { channel_ns: now - staged.channel_ns, ..staged };
        let done = if index == die {
            let staged = pipeline.array.take().expect("the array was at work");
            let operation = staged.operation;
            let brings_data = matches!(operation.array(), Array::Read | Array::Nothing) && operation.units() > 0;
            if brings_data {
                pipeline.read = Some(Staged { channel_ns: now, ..staged });
            }
            (!brings_data).then_some(staged)
        } else {
            match std::mem::take(&mut pipeline.register) {
                Register::Outgoing(staged) => Some(since(staged)),
                Register::Incoming(staged) => {
                    pipeline.register = Register::Ready(since(staged));
                    None
                }
                Register::Empty | Register::Ready(_) => unreachable!("nothing was on its way"),
            }
        };
        if pipeline.is_idle() {
            pipeline.busy_ns += now - pipeline.begun_ns;
        }
        match done {
            Some(staged) => pipeline.ended = staged,
            None => self.advance_pipeline(now, die),
        }
        done.map(|staged| staged.operation)
    }

    pub(super) fn die_of_event(&self, index: usize) -> usize {
        if index < self.dies.len() { index } else { index - self.dies.len() }
    }

    /// The duration of the operations in a pipeline, as if they started now.
    pub(super) fn at_work_ns(&self, die: usize) -> u64 {
        let Some(pipelines) = &self.pipelines else { return 0 };
        let pipeline = &pipelines.dies[die];
        let under_way = [pipeline.array, pipeline.read, pipeline.in_register()].into_iter().flatten();
        under_way.map(|staged| self.costs.duration_ns(staged.operation)).sum()
    }
}
