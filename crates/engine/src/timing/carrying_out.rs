//! What the translation layer decided, as operations of the dies: reads of a page together, and copies in runs of one page
//! and one program group.

use super::flash::{Flash, NONE};
use super::groups::GroupId;
use super::kind::{Kind, for_kind};
use super::operation::{Array, Operation, Work};
use super::recorder::Decision;
use crate::ledger::Cause;
use std::ops::Range;

/// A run of copies out of one page into one group, not yet queued.
#[derive(Clone, Copy, Debug)]
struct CopyRun {
    page: u32,
    group: GroupId,
    units: u32,
}

/// How many more units of a page are copied to the places from `to` on, one after another, `count_max` at most.
#[inline(always)]
fn copies_in_a_row(decisions: &[Decision], page: Range<u32>, to: u32, count_max: u32) -> u32 {
    let mut count = 0;
    while count < count_max
        && let [Decision::Read(read, from), Decision::Program(programmed, cause), ..] = decisions[2 * count as usize..]
        && from != Cause::Host
        && cause != Cause::Host
        && page.contains(&read.0)
        && programmed.0 == to + count
    {
        count += 1;
    }
    count
}

impl Flash {
    /// Queues what the translation layer decided on at `now`, on behalf of the host's `slot`. Returns how many units of
    /// the slot will be reported as finished.
    #[inline]
    pub fn carry_out(&mut self, now: u64, decisions: &[Decision], slot: u32) -> u32 {
        for_kind!(self.carry_out_as(now, decisions, slot))
    }

    fn carry_out_as<K: Kind>(&mut self, now: u64, decisions: &[Decision], slot: u32) -> u32 {
        let mut units_of_slot = 0;
        let mut host_page = NONE;
        let mut host_units = 0;
        let mut copied_page = NONE;
        let mut run = CopyRun { page: NONE, group: 0, units: 0 };
        let mut decisions = decisions.iter();
        while let Some(&decision) = decisions.next() {
            match decision {
                Decision::Read(ppn, Cause::Host) => {
                    let page = self.units_per_page.quotient(ppn.0);
                    if page != host_page {
                        self.queue_host_read::<K>(now, host_page, host_units, slot);
                        (host_page, host_units) = (page, 0);
                    }
                    host_units += 1;
                    units_of_slot += 1;
                }
                Decision::Read(ppn, _) => {
                    self.queue_lone_read::<K>(now, copied_page);
                    copied_page = self.units_per_page.quotient(ppn.0);
                    // Cleaning moves many units, so those that share page and group are taken together.
                    if self.units_per_page.get() > 1
                        && let [Decision::Program(to, cause), later @ ..] = decisions.as_slice()
                        && *cause != Cause::Host
                    {
                        let group = self.groups.of::<K>(*to, self.is_slc::<K>(to.0));
                        self.take_on_run::<K>(now, &mut run, copied_page, group);
                        let first = copied_page * self.units_per_page.get();
                        let page = first..first + self.units_per_page.get();
                        let more = copies_in_a_row(later, page, to.0 + 1, self.groups.room(group) - 1);
                        self.groups.issue(group, 1 + more);
                        run.units += 1 + more;
                        copied_page = NONE;
                        decisions = later[2 * more as usize..].iter();
                    }
                }
                Decision::Program(ppn, cause) => {
                    let group = self.groups.of::<K>(ppn, self.is_slc::<K>(ppn.0));
                    if cause == Cause::Host {
                        self.groups.wait(group, slot);
                        units_of_slot += 1;
                    }
                    self.groups.issue(group, 1);
                    if copied_page == NONE {
                        self.groups.arrive(group, 1);
                        self.program_if_complete::<K>(now, group, false);
                        continue;
                    }
                    // Not complete before it is read.
                    self.take_on_run::<K>(now, &mut run, copied_page, group);
                    run.units += 1;
                    copied_page = NONE;
                }
                Decision::Erase(erase_unit) => {
                    self.queue_copies::<K>(now, run);
                    self.queue_lone_read::<K>(now, copied_page);
                    (run.units, copied_page) = (0, NONE);
                    self.decide_erase::<K>(now, erase_unit.0);
                }
                Decision::Open(erase_unit, is_slc) => self.is_slc[erase_unit.0 as usize] = is_slc,
            }
        }
        self.queue_host_read::<K>(now, host_page, host_units, slot);
        self.queue_copies::<K>(now, run);
        self.queue_lone_read::<K>(now, copied_page);
        units_of_slot
    }

    /// Queues the run, and begins another one, unless it is one of this page and group.
    #[inline(always)]
    fn take_on_run<K: Kind>(&mut self, now: u64, run: &mut CopyRun, page: u32, group: GroupId) {
        if run.page != page || run.group != group {
            self.queue_copies::<K>(now, *run);
            *run = CopyRun { page, group, units: 0 };
        }
    }

    fn queue_host_read<K: Kind>(&mut self, now: u64, page: u32, units: u32, slot: u32) {
        if units > 0 {
            let is_slc = self.is_slc::<K>(page * self.units_per_page.get());
            let operation = Operation::new(Array::Read, Work::HostRead, units, slot).in_mode(is_slc);
            self.dies.queue_read::<K>(now, self.die_of::<K>(page), operation);
        }
    }

    #[inline(always)]
    fn queue_copies<K: Kind>(&mut self, now: u64, CopyRun { page, group, units }: CopyRun) {
        if units == 0 {
            return;
        }
        let die = self.die_of::<K>(page);
        // Cleaning moves a page's units one after another; the page is read from the array once.
        let is_in_register = std::mem::replace(&mut self.last_copied_page[die], page) == page;
        let array = if is_in_register { Array::Nothing } else { Array::Read };
        // What is in the register takes no time in either mode.
        let is_slc = self.is_slc::<K>(page * self.units_per_page.get());
        self.dies.queue::<K>(now, die, Operation::new(array, Work::CopyRead, units, group).in_mode(is_slc));
    }

    /// A unit that is read and does not fill a unit to be programmed: where data is reduced, several go into one.
    #[inline(always)]
    fn queue_lone_read<K: Kind>(&mut self, now: u64, page: u32) {
        if page == NONE {
            return;
        }
        let die = self.die_of::<K>(page);
        let is_in_register = std::mem::replace(&mut self.last_copied_page[die], page) == page;
        let array = if is_in_register { Array::Nothing } else { Array::Read };
        self.dies.queue::<K>(now, die, Operation::new(array, Work::Quiet, 1, 0));
    }
}
