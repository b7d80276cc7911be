//! Plain flash: a mapping unit is a page and a program group of its own, and nothing but reads, programs and erases takes
//! time.

use super::dies::{Dies, in_turn};
use crate::error::ReadOnly;
use crate::ledger::Cause;
use crate::timing::decision::Decision;
use crate::timing::flash::erase_turns::EraseTurns;
use crate::timing::flash::groups::Groups;
use crate::timing::flash::in_memory::{GroupId, InMemory};
use crate::timing::flash::layout::DieLayout;
use crate::timing::flash::operation::{Array, Operation, Work};
use crate::timing::flash::service::{Ended, Queued, Service};
use crate::timing::flash::{Finished, Flash};
use crate::units::Ppn;

/// Not a page.
const NONE: u32 = u32::MAX;

pub(super) struct PlainFlash {
    dies: Dies,
    layout: DieLayout,
    erase_turns: EraseTurns,
    groups: Groups,
    /// By die: the page last queued to be copied from.
    last_copied_page: Vec<u32>,
    pub finished: Vec<Finished>,
    /// The operation that produced the entries of `finished`.
    ended: Ended,
    pub now_ns: u64,
}

/// The copies at the start.
#[inline(always)]
fn copies_at(decisions: &[Decision]) -> &[Decision] {
    &decisions[..decisions.iter().take_while(|decision| matches!(decision, Decision::Copy(..))).count()]
}

/// From where to where a copy goes.
#[inline(always)]
fn slots_of_copy(copy: &Decision) -> (u32, u32) {
    match *copy {
        Decision::Copy(from, to, _) => (from.0, to.0),
        _ => unreachable!("it is a copy"),
    }
}

/// A read for the drive itself that is decided and not queued: what the host asks for at the same time goes before.
#[derive(Clone, Copy)]
enum Held {
    Nothing,
    /// One whose unit is programmed into a slot.
    Copy {
        page: u32,
        to: u32,
    },
    /// One that a program of the host waits for, of which a request writes a part.
    Part {
        page: u32,
        group: GroupId,
    },
}

impl PlainFlash {
    /// In place of a flash at rest.
    pub fn of(flash: &Flash) -> Self {
        let dies = Dies::new(flash.dies_count(), flash.costs().clone());
        Self {
            last_copied_page: vec![NONE; dies.count()],
            dies,
            layout: flash.layout().clone(),
            erase_turns: flash.erase_turns().clone(),
            groups: Groups::new(1),
            finished: Vec::new(),
            ended: Ended::default(),
            now_ns: 0,
        }
    }

    /// See `Groups::check_count`.
    #[inline(always)]
    pub fn check_queues(&self) -> Result<(), ReadOnly> {
        self.groups.check_count()
    }

    /// Host data that is not yet in flash.
    #[inline]
    pub fn in_memory(&mut self) -> &mut InMemory {
        self.groups.in_memory()
    }

    /// When the next event happens, if any is pending.
    #[inline]
    pub fn next_event_ns(&self) -> Option<u64> {
        self.dies.next_event().map(|(time_ns, _)| time_ns)
    }

    /// When the dies complete the work that no request waits for.
    pub fn rests_at_ns(&self) -> u64 {
        self.dies.rests_at_ns()
    }

    /// The mean share of `elapsed_ns` in which the dies were busy.
    pub fn utilization(&self, elapsed_ns: u64) -> f64 {
        self.dies.busy_ns(elapsed_ns) as f64 / (elapsed_ns.max(1) as f64 * self.dies.count() as f64)
    }

    /// Processes at most `events_max` events before `until_ns`, or until one concerns the host, which is then in
    /// `finished`. Returns their number.
    pub fn run(&mut self, until_ns: u64, events_max: u64) -> u64 {
        let mut events = 0;
        while events < events_max && self.finished.is_empty() {
            let Some((now, die)) = self.dies.next_event().filter(|&(now, _)| now < until_ns) else { break };
            self.now_ns = now;
            events += 1;
            let operation = self.dies.take_event(now, die);
            match operation.work() {
                Work::Program => {
                    self.ended = self.dies.end_of_host(now, die, operation);
                    let slots = self.groups.waiting(operation.target());
                    self.finished.extend(slots.iter().map(|&slot| Finished::Written { slot }));
                    self.groups.end(operation.target());
                }
                Work::HostRead => {
                    self.ended = self.dies.end_of_host(now, die, operation);
                    self.finished.push(Finished::Read { slot: operation.target(), units: operation.units() });
                }
                Work::CopyRead => {
                    self.dies.come_to(now);
                    self.program_part(now, operation.target());
                }
                Work::Quiet | Work::Marker => unreachable!("nobody waits for it"),
            }
        }
        events
    }

    /// Queues the translation layer's decisions at `now`, on behalf of the host's `slot`. Returns how many units of the
    /// slot will be reported as finished.
    pub fn carry_out(&mut self, now: u64, decisions: &[Decision], slot: u32) -> u32 {
        self.dies.come_to(now);
        let mut units = 0;
        let mut host_page = NONE;
        let mut part_of = NONE;
        let mut held = Held::Nothing;
        let mut left = decisions;
        while let [decision, later @ ..] = left {
            match *decision {
                Decision::Copy(..) => {
                    let (copies, later) = left.split_at(copies_at(left).len());
                    let is_last_next = host_page == NONE && matches!(later, [] | [Decision::Erase(_), ..]);
                    let (copies, last) = copies.split_at(copies.len() - usize::from(!is_last_next));
                    self.queue_held(now, held);
                    self.queue_copies(now, copies);
                    held = last.first().map(slots_of_copy).map_or(Held::Nothing, |(page, to)| Held::Copy { page, to });
                    left = later;
                    continue;
                }
                Decision::Program(ppn, Cause::Host) => {
                    units += 1;
                    if part_of == NONE {
                        self.queue_host_program(now, ppn, slot);
                    } else {
                        self.queue_held(now, held);
                        held = Held::Part { page: part_of, group: self.group_of_part(ppn, slot) };
                        part_of = NONE;
                    }
                }
                Decision::Program(ppn, _) => {
                    let program = Operation::new(Array::Program, Work::Quiet, 1, 0);
                    self.dies.queue(now, self.layout.die_of_group(ppn.0, ppn.0), program);
                }
                Decision::Read(ppn, Cause::Host) => {
                    self.queue_host_read(now, host_page, slot);
                    host_page = ppn.0;
                    units += 1;
                }
                Decision::Read(ppn, _) => {
                    self.queue_lone_read(now, part_of);
                    part_of = ppn.0;
                }
                Decision::Erase(erase_unit) => {
                    self.queue_held(now, held);
                    self.queue_lone_read(now, part_of);
                    (held, part_of) = (Held::Nothing, NONE);
                    self.queue_erase(now, erase_unit.0);
                }
                Decision::ReadFromMemory(..) => {}
                Decision::Open(..) => unreachable!("plain flash has no SLC mode"),
            }
            left = later;
        }
        self.queue_host_read(now, host_page, slot);
        self.queue_held(now, held);
        self.queue_lone_read(now, part_of);
        units
    }

    #[inline(always)]
    fn queue_host_program(&mut self, now: u64, ppn: Ppn, slot: u32) {
        let die = self.layout.die_of_group(ppn.0, ppn.0);
        let own_work_ns = self.dies.own_work_ns(now, die);
        let group = self.groups.of_unit(ppn, slot, Queued { at_ns: now, own_work_ns, is_held_by_copies: false });
        self.dies.queue(now, die, Operation::new(Array::Program, Work::Program, 1, group));
    }

    /// The group of a unit of which the host writes a part.
    fn group_of_part(&mut self, ppn: Ppn, slot: u32) -> GroupId {
        let group = self.groups.of(ppn, false);
        self.groups.wait(group, slot);
        self.groups.issue(group, 1);
        group
    }

    /// The rest of such a unit has been read.
    fn program_part(&mut self, now: u64, group: GroupId) {
        self.groups.arrive(group, 1);
        let number = self.groups.number(group);
        let die = self.layout.die_of_group(number, number);
        let own_work_ns = self.dies.own_work_ns(now, die);
        self.groups.note_queued(group, Queued { at_ns: now, own_work_ns, is_held_by_copies: true });
        self.dies.queue(now, die, Operation::new(Array::Program, Work::Program, 1, group));
    }

    fn queue_host_read(&mut self, now: u64, page: u32, slot: u32) {
        if page != NONE {
            let read = Operation::new(Array::Read, Work::HostRead, 1, slot);
            self.dies.queue_read(now, self.layout.die_of_group(page, page), read);
        }
    }

    /// A read that nothing is programmed after.
    fn queue_lone_read(&mut self, now: u64, page: u32) {
        if page != NONE {
            let (die, array) = self.array_for_own_read(page);
            self.dies.queue(now, die, Operation::new(array, Work::Quiet, 1, 0));
        }
    }

    fn queue_held(&mut self, now: u64, held: Held) {
        match held {
            Held::Nothing => {}
            Held::Copy { page, to } => self.queue_copy(now, page, to),
            Held::Part { page, group } => {
                let (die, array) = self.array_for_own_read(page);
                self.dies.queue(now, die, Operation::new(array, Work::CopyRead, 1, group));
            }
        }
    }

    /// The die of a page that the drive reads for itself, and what it does: the page may still be in the register.
    #[inline(always)]
    fn array_for_own_read(&mut self, page: u32) -> (usize, Array) {
        let die = self.layout.die_of_group(page, page);
        let is_in_register = std::mem::replace(&mut self.last_copied_page[die], page) == page;
        (die, if is_in_register { Array::Nothing } else { Array::Read })
    }

    #[inline(always)]
    fn queue_copy(&mut self, now: u64, page: u32, to: u32) {
        let (die, array) = self.array_for_own_read(page);
        let to_die = self.layout.die_of_group(to, to) as u32;
        self.dies.queue_copies(now, die, Operation::new(array, Work::Quiet, 1, 0), 1, to_die);
    }

    #[inline(always)]
    fn queue_copies(&mut self, now: u64, copies: &[Decision]) {
        if self.layout.is_by_block() {
            return self.queue_copies_of_blocks(now, copies);
        }
        copies.iter().map(slots_of_copy).for_each(|(page, to)| self.queue_copy(now, page, to));
    }

    /// The same for copies from blocks that are erase units: many from one die, whose programs go to the dies in turn.
    #[inline(always)]
    fn queue_copies_of_blocks(&mut self, now: u64, mut copies: &[Decision]) {
        let dies = self.dies.count() as u32;
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
            let copy = Operation::new(array, Work::Quiet, 1, 0);
            self.dies.queue_copies(now, die, copy, count as u32, first_to_die);
            copies = later;
        }
    }

    fn queue_erase(&mut self, now: u64, erase_unit: u32) {
        let erase = Operation::new(Array::Erase, Work::Quiet, 0, 0);
        let dies = self.layout.dies_of_erase_unit(erase_unit);
        if self.erase_turns.takes_time(dies.start) {
            dies.for_each(|die| self.dies.queue(now, die, erase));
        }
    }

    /// How the time of the operation that produced the entries of `finished` was spent. Must be called before the next
    /// event.
    #[inline(always)]
    pub fn service(&self) -> Service {
        let queued = if self.ended.operation.work() == Work::Program {
            self.groups.queued(self.ended.operation.target())
        } else {
            Queued { own_work_ns: self.ended.own_work_then_ns, ..Queued::default() }
        };
        self.dies.service(self.now_ns, &self.ended, queued)
    }
}
