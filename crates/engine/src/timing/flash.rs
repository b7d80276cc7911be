//! The flash in time: dies and channels, and what each is doing.
//!
//! Every die works at one operation and has two queues: the host's reads, which come first, and all else in the order in
//! which the translation layer decided on it (so that a block is erased before it is programmed). A channel carries one
//! transfer at a time, first come, first served: a transfer is granted when it is asked for, never ahead of time, since
//! a grant in advance lets an operation of the future hold back one of now.
//!
//! Programs go out in groups (`groups`).

use super::groups::{GroupId, Groups};
use super::recorder::Decision;
use super::winner_tree::WinnerTree;
use crate::ftl::numbers::Ppn;
use crate::ledger::Cause;
use crate::specification::drive::{EraseUnitKind, Nand};

const NONE: u32 = u32::MAX;

/// What has come about for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Some units of a read have been transferred out of the die.
    Read { slot: u32, units: u32 },
    /// A unit of a write is in flash.
    Written { slot: u32 },
}

#[derive(Clone, Copy, Debug)]
enum Work {
    HostRead {
        slot: u32,
    },
    /// Read to be moved or filled up: it brings units to a group.
    CopyRead {
        group: u32,
    },
    Program {
        group: u32,
    },
    Erase,
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    work: Work,
    /// Units that cross the channel.
    units: u32,
    /// Whether the array is read, or the page is still in the register.
    reads_array: bool,
    next: u32,
}

/// What a die is at: nothing, its array, or waiting for and using its channel after the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    ReadingArray,
    LastPart,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Die {
    reads: Queue,
    others: Queue,
    current: u32,
    phase: Phase,
}

/// A run of copies out of one page into one group, not yet queued.
#[derive(Clone, Copy, Debug)]
struct CopyRun {
    page: u32,
    group: GroupId,
    units: u32,
}

pub struct Flash {
    mapping_unit_bytes: u64,
    units_per_page: u32,
    units_per_erase_unit: u32,
    dies: u32,
    channels: u32,
    planes_per_die: u32,
    erase_unit: EraseUnitKind,
    read_ns: u64,
    program_ns: u64,
    erase_ns: u64,
    transfer_ns_per_unit: u64,
    die: Vec<Die>,
    channel_free_at: Vec<u64>,
    events: WinnerTree,
    operations: Vec<Operation>,
    spare_operations: Vec<u32>,
    groups: Groups,
    /// By die: the page that was queued last to be copied from.
    last_copied_page: Vec<u32>,
    finished: Vec<Finished>,
    busy_ns: u64,
}

impl Flash {
    pub fn new(nand: &Nand, mapping_unit_bytes: u32, erase_unit: EraseUnitKind) -> Self {
        let dies = nand.channels * nand.dies_per_channel;
        let units_per_page = nand.page_bytes / mapping_unit_bytes;
        let units_per_block = nand.pages_per_block * units_per_page;
        let (group_units, units_per_erase_unit) = match erase_unit {
            EraseUnitKind::Block => (units_per_page, units_per_block),
            EraseUnitKind::Superblock => {
                (units_per_page * nand.planes_per_die, units_per_block * nand.planes_per_die * dies)
            }
        };
        let nanoseconds = |microseconds: f64| (microseconds * 1000.0).round() as u64;
        let empty = Queue { first: NONE, last: NONE };
        Self {
            mapping_unit_bytes: u64::from(mapping_unit_bytes),
            units_per_page,
            units_per_erase_unit,
            dies,
            channels: nand.channels,
            planes_per_die: nand.planes_per_die,
            erase_unit,
            read_ns: nanoseconds(nand.read_us),
            program_ns: nanoseconds(nand.program_us),
            erase_ns: nanoseconds(nand.erase_us),
            transfer_ns_per_unit: (f64::from(mapping_unit_bytes) * 1000.0 / nand.channel_mb_s).round() as u64,
            die: vec![Die { reads: empty, others: empty, current: NONE, phase: Phase::Idle }; dies as usize],
            channel_free_at: vec![0; nand.channels as usize],
            events: WinnerTree::new(dies as usize),
            operations: Vec::new(),
            spare_operations: Vec::new(),
            groups: Groups::new(group_units),
            last_copied_page: vec![NONE; dies as usize],
            finished: Vec::new(),
            busy_ns: 0,
        }
    }

    pub fn mapping_unit_bytes(&self) -> u64 {
        self.mapping_unit_bytes
    }

    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// When the next event happens, if any is pending.
    #[inline]
    pub fn next_event_ns(&self) -> Option<u64> {
        self.events.earliest().map(|(time_ns, _)| time_ns)
    }

    pub fn finished(&mut self) -> &mut Vec<Finished> {
        &mut self.finished
    }

    /// The share of `elapsed_ns` in which the dies were at work, on average.
    pub fn utilization(&self, elapsed_ns: u64) -> f64 {
        self.busy_ns as f64 / (elapsed_ns.max(1) as f64 * f64::from(self.dies))
    }

    /// Queues what the translation layer decided on at `now`, on behalf of the host's `slot`. Returns how many units of
    /// the slot will be reported as finished.
    pub fn carry_out(&mut self, now: u64, decisions: &[Decision], slot: u32) -> u32 {
        let mut units_of_slot = 0;
        let mut host_page = NONE;
        let mut host_units = 0;
        let mut copied_page = NONE;
        let mut run: Option<CopyRun> = None;
        for &decision in decisions {
            match decision {
                Decision::Read(ppn, Cause::Host) => {
                    let page = ppn.0 / self.units_per_page;
                    if page != host_page {
                        self.queue_host_read(now, host_page, host_units, slot);
                        (host_page, host_units) = (page, 0);
                    }
                    host_units += 1;
                    units_of_slot += 1;
                }
                Decision::Read(ppn, _) => copied_page = ppn.0 / self.units_per_page,
                Decision::Program(ppn, cause) => {
                    let group = self.groups.of(ppn);
                    if copied_page == NONE {
                        self.groups.arrive(group, 1);
                    } else {
                        match &mut run {
                            Some(run) if run.page == copied_page && run.group == group => run.units += 1,
                            other => {
                                let last = other.replace(CopyRun { page: copied_page, group, units: 1 });
                                self.queue_copies(now, last);
                            }
                        }
                        copied_page = NONE;
                    }
                    if cause == Cause::Host {
                        self.groups.wait(group, slot);
                        units_of_slot += 1;
                    }
                    self.groups.issue(group);
                    self.program_if_complete(now, group);
                }
                Decision::Erase(erase_unit) => {
                    self.queue_copies(now, run.take());
                    self.queue_erase(now, erase_unit.0);
                }
            }
        }
        self.queue_host_read(now, host_page, host_units, slot);
        self.queue_copies(now, run);
        units_of_slot
    }

    /// Carries out the earliest event. What it finished for the host is added to `finished`.
    pub fn step(&mut self) -> Option<u64> {
        let (now, index) = self.events.earliest()?;
        let die = self.die[index];
        let operation = self.operations[die.current as usize];
        if die.phase == Phase::ReadingArray {
            let end = self.use_channel(now, index, operation.units);
            self.die[index].phase = Phase::LastPart;
            self.events.set(index, end);
            return Some(now);
        }
        self.spare_operations.push(die.current);
        self.die[index].phase = Phase::Idle;
        match operation.work {
            Work::HostRead { slot } => self.finished.push(Finished::Read { slot, units: operation.units }),
            Work::CopyRead { group } => {
                self.groups.arrive(group, operation.units);
                self.program_if_complete(now, group);
            }
            Work::Program { group } => {
                self.finished.extend(self.groups.finish(group).map(|slot| Finished::Written { slot }));
            }
            Work::Erase => {}
        }
        if self.die[index].phase == Phase::Idle {
            self.start_next(now, index);
        }
        Some(now)
    }

    fn queue_host_read(&mut self, now: u64, page: u32, units: u32, slot: u32) {
        if units > 0 {
            let die = self.die_of(Ppn(page * self.units_per_page));
            self.queue(now, die, Operation { work: Work::HostRead { slot }, units, reads_array: true, next: NONE });
        }
    }

    fn queue_copies(&mut self, now: u64, run: Option<CopyRun>) {
        let Some(CopyRun { page, group, units }) = run else { return };
        let die = self.die_of(Ppn(page * self.units_per_page));
        // Cleaning moves a page's units one after another; the page is read from the array once.
        let reads_array = std::mem::replace(&mut self.last_copied_page[die], page) != page;
        self.queue(now, die, Operation { work: Work::CopyRead { group }, units, reads_array, next: NONE });
    }

    fn queue_erase(&mut self, now: u64, erase_unit: u32) {
        let erase = Operation { work: Work::Erase, units: 0, reads_array: false, next: NONE };
        match self.erase_unit {
            EraseUnitKind::Superblock => (0..self.dies as usize).for_each(|die| self.queue(now, die, erase)),
            EraseUnitKind::Block => {
                let die = self.die_of(Ppn(erase_unit * self.units_per_erase_unit));
                self.queue(now, die, erase);
            }
        }
    }

    fn program_if_complete(&mut self, now: u64, group: GroupId) {
        if self.groups.is_complete(group) {
            let die = self.die_of(self.groups.first(group));
            let units = self.groups.units();
            self.queue(now, die, Operation { work: Work::Program { group }, units, reads_array: false, next: NONE });
        }
    }

    fn queue(&mut self, now: u64, die: usize, operation: Operation) {
        let id = match self.spare_operations.pop() {
            Some(id) => {
                self.operations[id as usize] = operation;
                id
            }
            None => {
                self.operations.push(operation);
                self.operations.len() as u32 - 1
            }
        };
        let is_host_read = matches!(operation.work, Work::HostRead { .. });
        let queue = if is_host_read { &mut self.die[die].reads } else { &mut self.die[die].others };
        if queue.first == NONE {
            queue.first = id;
        } else {
            self.operations[queue.last as usize].next = id;
        }
        queue.last = id;
        if self.die[die].phase == Phase::Idle {
            self.start_next(now, die);
        }
    }

    /// Starts the next operation of an idle die, the host's reads first.
    fn start_next(&mut self, now: u64, index: usize) {
        let die = &mut self.die[index];
        let queue = if die.reads.first == NONE { &mut die.others } else { &mut die.reads };
        let id = queue.first;
        if id == NONE {
            self.events.clear(index);
            return;
        }
        let operation = self.operations[id as usize];
        queue.first = operation.next;
        die.current = id;
        die.phase = Phase::LastPart;
        let end = match operation.work {
            // With a channel to itself nobody can come between the array and the transfer: one event says it all.
            Work::HostRead { .. } | Work::CopyRead { .. } if operation.reads_array && self.dies == self.channels => {
                self.use_channel(now + self.read_ns, index, operation.units)
            }
            Work::HostRead { .. } | Work::CopyRead { .. } if operation.reads_array => {
                die.phase = Phase::ReadingArray;
                now + self.read_ns
            }
            Work::HostRead { .. } | Work::CopyRead { .. } => self.use_channel(now, index, operation.units),
            Work::Program { .. } => self.use_channel(now, index, operation.units) + self.program_ns,
            Work::Erase => now + self.erase_ns,
        };
        self.busy_ns += end - now;
        self.events.set(index, end);
    }

    /// Grants the die its channel, now or when those who asked before are done. Returns when the transfer ends.
    #[inline]
    fn use_channel(&mut self, now: u64, die: usize, units: u32) -> u64 {
        let free_at = &mut self.channel_free_at[die % self.channels as usize];
        *free_at = now.max(*free_at) + u64::from(units) * self.transfer_ns_per_unit;
        *free_at
    }

    /// Groups follow one another over the dies, and neighbouring dies lie on different channels.
    #[inline]
    fn die_of(&self, ppn: Ppn) -> usize {
        match self.erase_unit {
            EraseUnitKind::Superblock => {
                let place = ppn.0 % self.units_per_erase_unit;
                ((place / self.groups.units()) % self.dies) as usize
            }
            // Erase units are numbered across the planes.
            EraseUnitKind::Block => {
                let plane = ppn.0 / self.units_per_erase_unit % (self.dies * self.planes_per_die);
                (plane / self.planes_per_die) as usize
            }
        }
    }
}
