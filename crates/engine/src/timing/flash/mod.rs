//! The timed flash: decisions of the translation layer become operations of the dies, whose ends are reported to the
//! host.
//!
//! Reads of a page are queued together, and copies in runs of one page and one program group (`groups`). `dies`
//! computes when each operation ends.

mod background;
mod copy_turns;
mod die;
pub(super) mod dies;
pub(super) mod erase_turns;
pub(super) mod groups;
pub mod in_memory;
pub(super) mod layout;
pub(super) mod operation;
mod places;
mod program_issue;
mod retries;
pub(super) mod ring;
pub mod service;
mod suspension;
mod waiting_erases;
pub(super) mod winner_tree;

use super::decision::Decision;
use super::drive::TimedDrive;
use crate::ledger::Cause;
use crate::nand::Geometry;
use crate::specification::drive::{EraseUnitKind, Nand, ReadRetries, SlcCache};
use crate::units::Ppn;
use background::Background;
use copy_turns::CopyTurns;
use dies::Dies;
use erase_turns::EraseTurns;
use groups::Groups;
use in_memory::GroupId;
use in_memory::InMemory;
use layout::DieLayout;

use operation::{Array, Costs, Operation, Work};
use places::Places;
use program_issue::ProgramIssue;
use retries::Retries;
use service::{Ended, Queued, Service};
use std::ops::Range;
use suspension::Suspension;
use waiting_erases::{Released, WaitingErases};

/// Not a page.
const NONE: u32 = u32::MAX;

/// An event that the host waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum Finished {
    /// Some units of a read have been transferred out of the die.
    Read { slot: u32, units: u32 },
    /// A unit of a write is in flash.
    Written { slot: u32 },
}

/// A run of copies from one page into one group; not yet queued.
#[derive(Clone, Copy, Debug)]
struct CopyRun {
    page: u32,
    group: GroupId,
    units: u32,
}

/// The flash of one device.
pub struct Flash {
    mapping_unit_bytes: u64,
    places: Places,
    dies: Dies,
    erase_turns: EraseTurns,
    groups: Groups,
    /// By die: the page last queued to be copied from.
    last_copied_page: Vec<u32>,
    finished: Vec<Finished>,
    /// The operation that produced the entries of `finished`.
    ended: Ended,
    now_ns: u64,
    /// Whether the translation layer needs the queued work before it decides.
    is_asked_for_load: bool,
    /// Only for a drive whose memory is lost with the power.
    waiting_erases: Option<Box<WaitingErases>>,
    has_plain_dies: bool,
    /// Which programs the next unit of the map's journal.
    journal_die: usize,
    program_issue: ProgramIssue,
    begun: Begun,
}

/// Programs that somebody waits for and that have begun; recorded only if the dies report that.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    units: u64,
    /// Whether the host's side is informed of each, and whether one has begun since it last asked.
    is_reported: bool,
    has_news: bool,
}

impl Flash {
    /// Errors of the drive are found earlier: panics if the geometry is impossible.
    pub fn new(nand: &Nand, mapping_unit_bytes: u32, erase_unit: EraseUnitKind) -> Self {
        let dies = nand.channels * nand.dies_per_channel;
        let (places, group_units) = Places::new(nand, nand.page_bytes / mapping_unit_bytes, erase_unit);
        assert!(group_units <= Operation::UNITS_MAX, "a program group of {group_units} units");
        Self {
            mapping_unit_bytes: u64::from(mapping_unit_bytes),
            places,
            dies: Dies::new(dies, nand.channels, Costs::new(nand, mapping_unit_bytes))
                .with_suspension(Suspension::new(nand))
                .with_copy_turns(CopyTurns::new(nand))
                .with_background(Background::new(nand)),
            erase_turns: EraseTurns::new(nand),
            groups: Groups::new(group_units),
            last_copied_page: vec![NONE; dies as usize],
            finished: Vec::new(),
            ended: Ended::default(),
            now_ns: 0,
            is_asked_for_load: false,
            waiting_erases: None,
            has_plain_dies: !nand.suspend
                && nand.copy_read_us == 0.0
                && nand.copy_pages_together <= 1
                && nand.background_us == 0.0
                && !nand.erase_by_plane,
            journal_die: 0,
            program_issue: ProgramIssue::default(),
            begun: Begun::default(),
        }
    }

    /// Sets that superblocks extend over the dies of one reclaim group each.
    pub fn in_reclaim_groups(self, reclaim_groups: u32) -> Self {
        if reclaim_groups <= 1 {
            return self;
        }
        let places = self.places.in_reclaim_groups(reclaim_groups, self.groups.units());
        Self { places, ..self }
    }

    /// Records which programs have begun: `freed_units`, and which units in memory can still be replaced. If
    /// `reports_begins`, `run` returns after each.
    pub fn reporting_begun(mut self, reports_begins: bool) -> Self {
        // From the start, so that no beginning is missed.
        self.groups.in_memory();
        let begun = Begun { is_reported: reports_begins, ..self.begun };
        Self { dies: self.dies.reporting_begun(), begun, ..self }
    }

    /// Counts the operations of the drive itself.
    pub fn counting_own(self) -> Self {
        Self { dies: self.dies.counting_own(), ..self }
    }

    /// Whether more operations of the drive itself, copies and erases, are queued or in progress than there are dies:
    /// more than a batch of background work. Always false unless they are counted.
    pub fn has_own_backlog(&self) -> bool {
        self.dies.has_own_backlog()
    }

    /// Units that somebody waits for and whose programs have begun, if that is reported.
    pub fn freed_units(&self) -> u64 {
        if self.begun.is_reported { self.begun.units } else { 0 }
    }

    /// Whether a program has begun since the last call of `take_begun`.
    pub fn has_begun(&self) -> bool {
        self.begun.has_news
    }

    /// Whether a program has begun since the last call.
    pub fn take_begun(&mut self) -> bool {
        std::mem::take(&mut self.begun.has_news)
    }

    /// Records the programs that have begun. Returns whether there are any of which the host's side is informed.
    #[inline(always)]
    fn note_begun(&mut self) -> bool {
        if !self.dies.reports_begun() {
            return false;
        }
        while let Some(group) = self.dies.next_begun() {
            self.begun.units += u64::from(self.groups.begin(group));
            self.begun.has_news = self.begun.is_reported;
        }
        self.begun.has_news
    }

    /// Sets the controller's time to issue a program, in microseconds.
    pub fn with_program_issue(self, each_us: f64) -> Self {
        Self { program_issue: ProgramIssue::taking(each_us), ..self }
    }

    /// Until when the controller issues programs.
    pub fn program_issue_ends_ns(&self) -> u64 {
        self.program_issue.until_ns()
    }

    /// Sets whether reads of the host suspend nothing for now.
    pub fn hold_suspends(&mut self, is_held: bool) {
        self.dies.hold_suspends(is_held);
    }

    /// Sets whether the drive's memory survives a loss of power. If not, erases wait for everything decided before
    /// them.
    pub fn with_power_loss_protection(mut self, is_protected: bool) -> Self {
        self.waiting_erases = (!is_protected).then(Box::default);
        self
    }

    /// Configures the flash for a translation layer: its layout of erase units, and the load that it uses.
    pub fn below(mut self, drive: &dyn TimedDrive) -> Self {
        let known = drive.dies_of_erase_units();
        if let DieLayout::Block { die_of, .. } = &mut self.places.layout
            && !known.is_empty()
        {
            *die_of = known;
        }
        self.is_asked_for_load = drive.depends_on_load();
        if self.is_asked_for_load {
            self.dies.keep_load();
        }
        self
    }

    /// Whether `tell_load` is needed.
    #[inline(always)]
    pub fn is_asked_for_load(&self) -> bool {
        self.is_asked_for_load
    }

    /// By die: when it would complete its queue, without waits for its channel.
    pub fn tell_load(&self, now: u64, free_at_ns: &mut [u64]) {
        for (die, free_at_ns) in free_at_ns.iter_mut().enumerate() {
            *free_at_ns = self.dies.free_at_ns(now, die);
        }
    }

    /// Adds erase units in SLC mode.
    pub fn with_slc_cache(mut self, nand: &Nand, cache: &SlcCache) -> Self {
        if cache.is_on() {
            if nand.pages_per_program > 1 {
                self.groups = self.groups.with_slc_mode(nand.pages_per_program);
                self.places.layout.number_by_pages(nand.pages_per_block);
            }
            self.dies.set_slc_mode(cache);
            self.places = self.places.with_slc_mode(nand);
        }
        self
    }

    /// Adds reads that are repeated; after the SLC cache, whose blocks need no retries.
    pub fn with_retries(mut self, said: &ReadRetries, geometry: &Geometry) -> Self {
        self.places.retries = Retries::new(said, geometry);
        self.dies.set_retries(said);
        self
    }

    /// Whether reads may need retries.
    pub fn has_retries(&self) -> bool {
        self.places.retries.is_some()
    }

    /// Gives every operation an event, which is slower and changes no time.
    pub fn without_fusing(self) -> Self {
        Self { dies: self.dies.without_fusing(), ..self }
    }

    /// The unit of the map.
    pub fn mapping_unit_bytes(&self) -> u64 {
        self.mapping_unit_bytes
    }

    /// The program groups.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Data that the host waits for and that is not yet in flash.
    #[inline]
    pub fn in_memory(&mut self) -> &mut InMemory {
        self.groups.in_memory()
    }

    /// When the next event happens, if any is pending.
    #[inline]
    pub fn next_event_ns(&self) -> Option<u64> {
        self.dies.next_event().map(|(time_ns, _)| time_ns)
    }

    /// The time of the last event.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Events for the host's side, in order; the caller empties the list.
    #[inline]
    pub fn finished(&mut self) -> &mut Vec<Finished> {
        &mut self.finished
    }

    /// When the dies complete the work that no request waits for; operations with an event are not counted.
    pub fn rests_at_ns(&self) -> u64 {
        self.dies.rests_at_ns()
    }

    /// The mean share of `elapsed_ns` in which the dies were busy.
    pub fn utilization(&self, elapsed_ns: u64) -> f64 {
        self.dies.busy_ns(elapsed_ns) as f64 / (elapsed_ns.max(1) as f64 * f64::from(self.dies_count()))
    }

    /// Whether it is of the simplest kind: a channel for each die, a program group for each unit, no suspension, SLC mode,
    /// times by page, retries, own times of copies, internal operations or waiting erases; and nobody asks for its load.
    pub fn is_plain(&self) -> bool {
        let is_watched = self.is_asked_for_load || self.dies.reports_begun() || self.dies.counts_own();
        self.has_plain_dies
            && self.dies.is_fused
            && self.places.are_alike()
            && !is_watched
            && !self.program_issue.takes_time()
            && self.waiting_erases.is_none()
            && self.groups.units() == 1
    }

    /// The number of dies.
    pub(super) fn dies_count(&self) -> u32 {
        self.last_copied_page.len() as u32
    }

    /// The times of operations.
    pub(super) fn costs(&self) -> &Costs {
        &self.dies.costs
    }

    /// The die of each slot.
    pub(super) fn layout(&self) -> &DieLayout {
        &self.places.layout
    }

    /// Which erases take time.
    pub(super) fn erase_turns(&self) -> &EraseTurns {
        &self.erase_turns
    }

    /// Processes at most `events_max` events before `until_ns`, or until one concerns the host, which is then in
    /// `finished`. Returns their number.
    pub fn run(&mut self, until_ns: u64, events_max: u64) -> u64 {
        let mut events = 0;
        while events < events_max {
            if self.note_begun() {
                return events;
            }
            let Some((now, die)) = self.dies.next_event().filter(|&(now, _)| now < until_ns) else { return events };
            self.now_ns = now;
            events += 1;
            let Some(operation) = self.dies.take_event(now, die) else { continue };
            // Copies are by far the most frequent, and the processor predicts a jump table badly.
            if operation.work() == Work::CopyRead {
                self.groups.arrive(operation.target(), operation.units());
                self.program_if_complete(now, operation.target(), true);
            } else if !operation.is_quiet() {
                self.note_end(now, die, operation);
            }
            self.dies.note_done(operation);
            self.dies.go_on(now, die);
            if !self.finished.is_empty() {
                self.note_begun();
                return events;
            }
        }
        self.note_begun();
        events_max
    }

    /// An operation that the host or an erase waits for has ended.
    #[inline(never)]
    fn note_end(&mut self, now: u64, die: usize, operation: Operation) {
        match operation.work() {
            Work::HostRead => {
                self.ended = self.dies.end_of_host(now, die);
                self.finished.push(Finished::Read { slot: operation.target(), units: operation.units() });
            }
            Work::Program => {
                self.ended = self.dies.end_of_host(now, die);
                let slots = self.groups.waiting(operation.target());
                if self.dies.reports_begun() {
                    self.begun.units -= slots.len() as u64;
                }
                self.finished.extend(slots.iter().map(|&slot| Finished::Written { slot }));
                self.groups.end(operation.target());
            }
            Work::Marker => self.marker_ended(now, operation.target()),
            Work::Quiet | Work::CopyRead => {}
        }
    }

    fn queue_erase(&mut self, now: u64, erase_unit: u32, erase: Operation) {
        let dies = self.places.layout.dies_of_erase_unit(erase_unit);
        if !self.erase_turns.takes_time(dies.start) {
            return;
        }
        let is_by_plane = matches!(self.places.layout, DieLayout::Superblock { .. });
        let times = if is_by_plane { self.erase_turns.erase(erase) } else { 1 };
        (0..times).for_each(|_| self.queue_on_dies(now, dies.clone(), erase));
    }

    fn queue_on_dies(&mut self, now: u64, dies: Range<usize>, operation: Operation) {
        dies.for_each(|die| self.dies.queue(now, die, operation));
    }

    #[inline(always)]
    fn program_if_complete(&mut self, now: u64, group: GroupId, is_held_by_copies: bool) {
        if !self.groups.is_complete(group) {
            return;
        }
        let (number, is_slc) = (self.groups.number(group), self.groups.is_slc(group));
        let die = self.die_of_group(number, is_slc);
        let (first, units) = self.groups.first_and_units(number, is_slc);
        let operation = if self.groups.is_waited_for(group) {
            let own_work_ns = self.dies.own_work_ns(now, die);
            self.groups.note_queued(group, Queued { at_ns: now, own_work_ns, is_held_by_copies });
            Operation::new(Array::Program, Work::Program, units, group)
        } else {
            self.groups.forget(group);
            Operation::new(Array::Program, Work::Quiet, units, 0)
        };
        let operation = self.places.at(now, first, operation);
        self.program_issue.issue(now);
        if self.waiting_erases.as_ref().is_some_and(|erases| !erases.is_empty()) {
            return self.queue_among_waiting_erases(now, die, operation, group, first);
        }
        self.dies.queue(now, die, operation);
    }

    /// Queues the program of a unit of the map's journal for the host's `slot`, on the next die in turn; the blocks of
    /// the journal are in SLC mode on a drive that has it, otherwise the unit takes a fast page. Returns the mapping
    /// units that it takes with its padding.
    pub fn program_journal(&mut self, now: u64, slot: u32) -> u32 {
        assert!(self.waiting_erases.is_some(), "only memory that is lost with the power needs it");
        let is_slc = self.places.has_slc_mode();
        let units = if is_slc { self.groups.units_in_slc_mode() } else { self.groups.units() };
        let die = self.journal_die;
        self.journal_die = (die + 1) % self.dies_count() as usize;
        let own_work_ns = self.dies.own_work_ns(now, die);
        let queued = Queued { at_ns: now, own_work_ns, is_held_by_copies: false };
        let group = self.groups.of_journal(slot, is_slc, queued);
        let program = Operation::new(Array::Program, Work::Program, units, group).in_mode(is_slc);
        self.program_issue.issue(now);
        self.dies.queue(now, die, program);
        self.note_begun();
        units
    }

    /// The die of a page.
    #[inline(always)]
    pub fn die_of(&self, page: u32) -> usize {
        let ppn = Ppn(self.places.first_of(page));
        let is_slc = self.places.is_slc(ppn.0);
        self.die_of_group(self.groups.number_of(ppn, is_slc), is_slc)
    }

    #[inline(always)]
    fn die_of_group(&self, number: u32, is_slc: bool) -> usize {
        self.places.layout.die_of_group(number, self.groups.turn_of(number, is_slc))
    }

    /// Queues the translation layer's decisions at `now`, on behalf of the host's `slot`. Returns how many units of the
    /// slot will be reported as finished.
    pub fn carry_out(&mut self, now: u64, decisions: &[Decision], slot: u32) -> u32 {
        if let Some(erase) = self.erase_turns.next_plane() {
            self.queue_on_dies(now, 0..self.dies_count() as usize, erase);
        }
        let mut units_of_slot = 0;
        let mut host_page = NONE;
        let mut host_units = 0;
        let mut copied_page = NONE;
        let mut run = CopyRun { page: NONE, group: 0, units: 0 };
        let all = decisions;
        let mut decisions = all.iter();
        while let Some(&decision) = decisions.next() {
            match decision {
                Decision::Read(ppn, Cause::Host) => {
                    let page = self.places.page_of(ppn.0);
                    if page != host_page {
                        self.queue_host_read(now, host_page, host_units, slot);
                        (host_page, host_units) = (page, 0);
                    }
                    host_units += 1;
                    units_of_slot += 1;
                }
                Decision::Read(ppn, _) => {
                    self.queue_lone_read(now, copied_page);
                    copied_page = self.places.page_of(ppn.0);
                }
                Decision::Copy(..) => {
                    self.queue_lone_read(now, copied_page);
                    copied_page = NONE;
                    let from_here = &all[all.len() - decisions.len() - 1..];
                    decisions = self.take_copies(now, from_here, &mut run).iter();
                }
                Decision::Program(ppn, cause) => {
                    let group = self.groups.of(ppn, self.places.is_slc(ppn.0));
                    if cause == Cause::Host {
                        self.groups.wait(group, slot);
                        units_of_slot += 1;
                    }
                    self.groups.issue(group, 1);
                    if copied_page == NONE {
                        self.groups.arrive(group, 1);
                        self.program_if_complete(now, group, false);
                        continue;
                    }
                    // Not complete before it is read.
                    self.take_on_run(now, &mut run, copied_page, group);
                    run.units += 1;
                    copied_page = NONE;
                }
                Decision::Erase(erase_unit) => {
                    self.queue_copies(now, run);
                    self.queue_lone_read(now, copied_page);
                    (run.units, copied_page) = (0, NONE);
                    self.decide_erase(now, erase_unit.0);
                }
                Decision::ReadFromMemory(..) => {}
                Decision::Open(erase_unit, is_slc) => self.places.open(erase_unit.0, is_slc),
            }
        }
        self.queue_host_read(now, host_page, host_units, slot);
        self.queue_copies(now, run);
        self.queue_lone_read(now, copied_page);
        self.note_begun();
        units_of_slot
    }

    /// Takes the first decisions, which are copies, into the run as long as page and group stay the same, and queues
    /// those before. Returns the decisions after the copies.
    #[inline(always)]
    fn take_copies<'d>(&mut self, now: u64, mut decisions: &'d [Decision], run: &mut CopyRun) -> &'d [Decision] {
        while let Some(&Decision::Copy(from, to, _)) = decisions.first() {
            let page = self.places.page_of(from.0);
            let group = self.groups.of(to, self.places.is_slc(to.0));
            self.take_on_run(now, run, page, group);
            let count_max = decisions.len().min(self.groups.room(group) as usize);
            let slots = self.places.first_of(page)..self.places.first_of(page + 1);
            let is_next = |decision: &Decision, next_to: u32| match *decision {
                Decision::Copy(from, to, _) => slots.contains(&from.0) & (to.0 == next_to),
                _ => false,
            };
            let mut count = 1;
            while count < count_max && is_next(&decisions[count], to.0 + count as u32) {
                count += 1;
            }
            self.groups.issue(group, count as u32);
            run.units += count as u32;
            decisions = &decisions[count..];
        }
        decisions
    }

    /// Queues the run and starts another, unless it has this page and group.
    #[inline(always)]
    fn take_on_run(&mut self, now: u64, run: &mut CopyRun, page: u32, group: GroupId) {
        if run.page != page || run.group != group {
            self.queue_copies(now, *run);
            *run = CopyRun { page, group, units: 0 };
        }
    }

    fn queue_host_read(&mut self, now: u64, page: u32, units: u32, slot: u32) {
        if units > 0 {
            let first = self.places.first_of(page);
            let operation = self.places.at(now, first, Operation::new(Array::Read, Work::HostRead, units, slot));
            self.dies.queue_read(now, self.die_of(page), operation);
        }
    }

    #[inline(always)]
    fn queue_copies(&mut self, now: u64, CopyRun { page, group, units }: CopyRun) {
        if units == 0 {
            return;
        }
        let die = self.die_of(page);
        // Garbage collection moves the units of a page in succession; the page is read from the array once.
        let is_in_register = std::mem::replace(&mut self.last_copied_page[die], page) == page;
        let array = if is_in_register { Array::Nothing } else { Array::Read };
        let first = self.places.first_of(page);
        let copy = self.places.at(now, first, Operation::new(array, Work::CopyRead, units, group));
        self.dies.queue(now, die, copy.for_copy());
    }

    /// A unit that is read and does not fill a unit to be programmed: with data reduction several are packed into one.
    #[inline(always)]
    fn queue_lone_read(&mut self, now: u64, page: u32) {
        if page == NONE {
            return;
        }
        let die = self.die_of(page);
        let is_in_register = std::mem::replace(&mut self.last_copied_page[die], page) == page;
        let array = if is_in_register { Array::Nothing } else { Array::Read };
        let first = self.places.first_of(page);
        let read = self.places.at(now, first, Operation::new(array, Work::Quiet, 1, 0));
        self.dies.queue(now, die, read.for_copy());
    }

    fn decide_erase(&mut self, now: u64, erase_unit: u32) {
        let is_slc = self.places.is_slc_erase_unit(erase_unit);
        if let Some(retries) = &mut self.places.retries {
            retries.erased(erase_unit);
        }
        let erase = Operation::new(Array::Erase, Work::Quiet, 0, 0).in_mode(is_slc);
        let Some(erases) = &mut self.waiting_erases else { return self.queue_erase(now, erase_unit, erase) };
        if let Some(before) = erases.go_ahead(erase_unit) {
            self.release(now, before);
        }
        let (number, groups) = self.groups.note_erase();
        let dies = self.dies_count();
        let erases = self.waiting_erases.as_mut().expect("erases wait");
        if erases.add(number, erase_unit, erase.word(), groups, dies) {
            self.queue_markers(now, number);
        }
    }

    fn queue_markers(&mut self, now: u64, number: u32) {
        let marker = Operation::new(Array::Nothing, Work::Marker, 0, number);
        (0..self.dies_count() as usize).for_each(|die| self.dies.queue(now, die, marker));
    }

    #[cold]
    fn marker_ended(&mut self, now: u64, number: u32) {
        if let Some(released) = self.waiting_erases.as_mut().and_then(|erases| erases.marker_ended(number)) {
            self.release(now, released);
        }
    }

    fn release(&mut self, now: u64, Released { erase_unit, operation, held }: Released) {
        self.queue_erase(now, erase_unit, Operation::from_word(operation));
        for (die, word) in held {
            self.dies.queue(now, die, Operation::from_word(word));
        }
    }

    /// Queues a program after the erase of its erase unit, if that waits, and records that the group is queued.
    #[cold]
    fn queue_among_waiting_erases(&mut self, now: u64, die: usize, program: Operation, group: GroupId, first: u32) {
        let erase_unit = self.places.erase_unit_of(first);
        let erases = self.waiting_erases.as_mut().expect("erases wait");
        if !erases.hold(erase_unit, die, program.word()) {
            if let Some(released) = erases.go_ahead(erase_unit) {
                self.release(now, released);
            }
            self.dies.queue(now, die, program);
        }
        let mut ready = Vec::new();
        let erases = self.waiting_erases.as_mut().expect("erases wait");
        erases.group_is_queued(self.groups.opened_after(group), |number| ready.push(number));
        ready.into_iter().for_each(|number| self.queue_markers(now, number));
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
