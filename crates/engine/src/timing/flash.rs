//! The flash in time: what the translation layer decided becomes operations of the dies (`carrying_out`, `dies`), and their ends become
//! news for the host.
//!
//! Programs go out in groups (`groups`).

use super::die_layout::{DieLayout, dies_without_bad_blocks};
use super::dies::Dies;
use super::groups::{GroupId, Groups};
use super::host::TimedDrive;
use super::kind::{Any, Kind, for_kind};
use super::operation::{Array, Costs, Operation, Work};
use super::pipeline::Pipelines;
use super::service::{Ended, Queued};
use super::suspension::Suspension;
use super::waiting_erases::WaitingErases;
use crate::divisor::Divisor;
use crate::ftl::numbers::Ppn;
use crate::specification::drive::{EraseUnitKind, Nand};
use crate::specification::slc_cache::SlcCache;

/// No page.
pub(super) const NONE: u32 = u32::MAX;

/// What has come about for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Some units of a read have been transferred out of the die.
    Read { slot: u32, units: u32 },
    /// A unit of a write is in flash.
    Written { slot: u32 },
}

pub struct Flash {
    mapping_unit_bytes: u64,
    pub(super) units_per_page: Divisor,
    layout: DieLayout,
    pub(super) dies: Dies,
    pub(super) dies_count: u32,
    pub(super) groups: Groups,
    /// By die: the page that was queued last to be copied from.
    pub(super) last_copied_page: Vec<u32>,
    finished: Vec<Finished>,
    /// What has brought all that is in `finished`.
    pub(super) ended: Ended,
    pub(super) now_ns: u64,
    pub(super) units_per_erase_unit: Divisor,
    /// By erase unit, whether it is in SLC mode; empty for a drive without an SLC cache.
    pub(super) is_slc: Vec<bool>,
    /// Whether the translation layer wants to know what is queued before it decides.
    is_asked_for_load: bool,
    /// Only of a drive whose memory is lost with the power.
    pub(super) waiting_erases: Option<Box<WaitingErases>>,
    has_plain_dies: bool,
}

/// What the array takes for nothing, a read, a program and an erase; in SLC mode it is filled in by those that have one.
fn array_ns(read_us: f64, program_us: f64, erase_us: f64) -> [u64; 8] {
    let nanoseconds = |microseconds: f64| (microseconds * 1000.0).round() as u64;
    [0, nanoseconds(read_us), nanoseconds(program_us), nanoseconds(erase_us), 0, 0, 0, 0]
}

impl Flash {
    pub fn new(nand: &Nand, mapping_unit_bytes: u32, erase_unit: EraseUnitKind) -> Self {
        let dies = nand.channels * nand.dies_per_channel;
        let units_per_page = nand.page_bytes / mapping_unit_bytes;
        let units_per_program = units_per_page * nand.pages_per_program;
        let units_per_block = nand.pages_per_block * units_per_page;
        let units_per_erase_unit = match erase_unit {
            EraseUnitKind::Superblock => units_per_block * nand.planes_per_die * dies,
            EraseUnitKind::Block => units_per_block,
        };
        let (group_units, layout) = match erase_unit {
            EraseUnitKind::Superblock => {
                (units_per_program * nand.planes_per_die, DieLayout::Superblock { dies: Divisor::new(dies) })
            }
            EraseUnitKind::Block => {
                let layout = DieLayout::Block {
                    groups_per_erase_unit: Divisor::new(nand.pages_per_block / nand.pages_per_program),
                    die_of: dies_without_bad_blocks(nand),
                };
                (units_per_program, layout)
            }
        };
        assert!(group_units <= Operation::UNITS_MAX, "a program group of {group_units} units");
        let costs = Costs {
            array_ns: array_ns(nand.read_us, nand.program_us, nand.erase_us),
            transfer_ns_per_unit: (f64::from(mapping_unit_bytes) * 1000.0 / nand.channel_mb_s).round() as u64,
        };
        Self {
            mapping_unit_bytes: u64::from(mapping_unit_bytes),
            units_per_page: Divisor::new(units_per_page),
            layout,
            dies: Dies::new(dies, nand.channels, costs)
                .with_suspension(Suspension::new(nand))
                .with_pipelines(Pipelines::new(nand)),
            dies_count: dies,
            groups: Groups::new(group_units),
            last_copied_page: vec![NONE; dies as usize],
            finished: Vec::new(),
            ended: Ended::default(),
            now_ns: 0,
            units_per_erase_unit: Divisor::new(units_per_erase_unit),
            is_slc: Vec::new(),
            is_asked_for_load: false,
            waiting_erases: None,
            has_plain_dies: !nand.suspend && !nand.cache_program && !nand.cache_read,
        }
    }

    /// Of a drive whose memory outlives a loss of power, or is lost with it: then erases wait for all that was decided
    /// before them.
    pub fn with_power_loss_protection(mut self, is_protected: bool) -> Self {
        self.waiting_erases = (!is_protected).then(Box::default);
        self
    }

    /// Below a translation layer: with its erase units where they lie, and asked what that wants to know.
    pub fn below(mut self, drive: &dyn TimedDrive) -> Self {
        let known = drive.dies_of_erase_units();
        if let DieLayout::Block { die_of, .. } = &mut self.layout
            && !known.is_empty()
        {
            *die_of = known;
        }
        self.is_asked_for_load = drive.heeds_load();
        if self.is_asked_for_load {
            self.dies.keep_load();
        }
        self
    }

    /// Whether `tell_load` is wanted.
    #[inline(always)]
    pub fn is_asked_for_load(&self) -> bool {
        self.is_asked_for_load
    }

    /// By die: when it would have done what is queued, if it waited for no channel.
    pub fn tell_load(&self, now: u64, free_at_ns: &mut [u64]) {
        for (die, free_at_ns) in free_at_ns.iter_mut().enumerate() {
            *free_at_ns = self.dies.free_at_ns(now, die);
        }
    }

    /// With erase units that may be in SLC mode.
    pub fn with_slc_cache(mut self, nand: &Nand, cache: &SlcCache) -> Self {
        if cache.is_on() {
            if nand.pages_per_program > 1 {
                self.groups = self.groups.with_slc_mode(nand.pages_per_program);
                self.layout.number_by_pages(nand.pages_per_block);
            }
            let in_slc_mode = array_ns(cache.read_us, cache.program_us, cache.erase_us);
            self.dies.set_costs_in_slc_mode(&in_slc_mode[..4]);
            let blocks = u64::from(nand.blocks_per_plane) * u64::from(nand.planes_per_die) * u64::from(self.dies_count);
            let pages = blocks * u64::from(nand.pages_per_block);
            let units = pages * u64::from(self.units_per_page.get());
            self.is_slc = vec![false; (units / u64::from(self.units_per_erase_unit.get())) as usize];
        }
        self
    }

    /// Whether a place is in SLC mode.
    #[inline(always)]
    pub(super) fn is_slc<K: Kind>(&self, ppn: u32) -> bool {
        K::HAS_EXTRAS && !self.is_slc.is_empty() && self.is_slc[self.units_per_erase_unit.quotient(ppn) as usize]
    }

    /// Gives every operation its event, which makes it slower and changes no time.
    pub fn without_fusing(self) -> Self {
        Self { dies: self.dies.without_fusing(), ..self }
    }

    pub fn mapping_unit_bytes(&self) -> u64 {
        self.mapping_unit_bytes
    }

    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Whether anything that the host waits for is not yet in flash.
    #[inline]
    pub fn has_any_in_memory(&mut self) -> bool {
        !self.groups.in_flight().is_empty()
    }

    /// Whether a unit is in a program group that the host waits for, and so in the controller's memory.
    pub fn is_in_memory(&mut self, ppn: Ppn) -> bool {
        let number = self.groups.number_of::<Any>(ppn, self.is_slc::<Any>(ppn.0));
        self.groups.in_flight().holds(number)
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

    #[inline]
    pub fn finished(&mut self) -> &mut Vec<Finished> {
        &mut self.finished
    }

    /// When the dies have done what they are at and nobody waits for; what has an event comes on top.
    pub fn rests_at_ns(&self) -> u64 {
        self.dies.rests_at_ns()
    }

    /// The share of `elapsed_ns`, from the start until then, in which the dies were at work, on average.
    pub fn utilization(&self, elapsed_ns: u64) -> f64 {
        self.dies.busy_ns(elapsed_ns) as f64 / (elapsed_ns.max(1) as f64 * f64::from(self.dies_count))
    }

    /// Neither suspends nor caches registers, has no blocks in SLC mode, and nobody asks for its load.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.has_plain_dies & self.is_slc.is_empty() & !self.is_asked_for_load
    }

    /// Carries out events up to `events_max`, up to one at `until_ns` or later, or until the host has something to hear
    /// of, which is then in `finished`. Returns how many it was.
    #[inline]
    pub fn run(&mut self, until_ns: u64, events_max: u64) -> u64 {
        for_kind!(self.run_as(until_ns, events_max))
    }

    fn run_as<K: Kind>(&mut self, until_ns: u64, events_max: u64) -> u64 {
        for events in 0..events_max {
            let Some((now, die)) = self.dies.next_event().filter(|&(now, _)| now < until_ns) else { return events };
            self.now_ns = now;
            let Some(operation) = self.dies.take_event::<K>(now, die) else { continue };
            // Cleaning has by far the most, and a jump by a table would be foretold badly.
            if operation.work() == Work::CopyRead {
                self.groups.arrive(operation.target(), operation.units());
                self.program_if_complete::<K>(now, operation.target(), true);
                self.dies.go_on::<K>(now, die);
                continue;
            }
            match operation.work() {
                Work::HostRead => {
                    self.ended = self.dies.end_of_host::<K>(now, die, operation);
                    self.finished.push(Finished::Read { slot: operation.target(), units: operation.units() });
                }
                Work::Program => {
                    self.ended = self.dies.end_of_host::<K>(now, die, operation);
                    let slots = self.groups.waiting(operation.target());
                    self.finished.extend(slots.iter().map(|&slot| Finished::Written { slot }));
                    self.groups.end(operation.target());
                }
                Work::Marker => self.marker_came::<K>(now, operation.target()),
                Work::Quiet | Work::CopyRead => {}
            }
            self.dies.go_on::<K>(now, die);
            if !self.finished.is_empty() {
                return events + 1;
            }
        }
        events_max
    }

    pub(super) fn queue_erase<K: Kind>(&mut self, now: u64, erase_unit: u32, erase: Operation) {
        match &self.layout {
            DieLayout::Superblock { dies } => {
                (0..dies.get() as usize).for_each(|die| self.dies.queue::<K>(now, die, erase))
            }
            DieLayout::Block { groups_per_erase_unit, .. } => {
                let die = self.layout.die_of_group(erase_unit * groups_per_erase_unit.get(), 0);
                self.dies.queue::<K>(now, die, erase);
            }
        }
    }

    #[inline(always)]
    pub(super) fn program_if_complete<K: Kind>(&mut self, now: u64, group: GroupId, is_held_by_copies: bool) {
        if !self.groups.is_complete(group) {
            return;
        }
        let (number, is_slc) = (self.groups.number(group), self.groups.is_slc::<K>(group));
        let die = self.die_of_group::<K>(number, is_slc);
        let (first, units) = self.groups.first_and_units::<K>(number, is_slc);
        let operation = if self.groups.is_waited_for(group) {
            let own_work_ns = self.dies.own_work_ns::<K>(now, die);
            self.groups.note_queued(group, Queued { at_ns: now, own_work_ns, is_held_by_copies });
            Operation::new(Array::Program, Work::Program, units, group)
        } else {
            self.groups.forget(group);
            Operation::new(Array::Program, Work::Quiet, units, 0)
        };
        let operation = operation.in_mode(self.is_slc::<K>(first));
        if self.waiting_erases.as_ref().is_some_and(|erases| !erases.is_empty()) {
            return self.queue_among_waiting_erases::<K>(now, die, operation, group, first);
        }
        self.dies.queue::<K>(now, die, operation);
    }

    pub fn die_of_page(&self, page: u32) -> usize {
        self.die_of::<Any>(page)
    }

    #[inline(always)]
    pub(super) fn die_of<K: Kind>(&self, page: u32) -> usize {
        let ppn = Ppn(page * self.units_per_page.get());
        let is_slc = self.is_slc::<K>(ppn.0);
        self.die_of_group::<K>(self.groups.number_of::<K>(ppn, is_slc), is_slc)
    }

    #[inline(always)]
    fn die_of_group<K: Kind>(&self, number: u32, is_slc: bool) -> usize {
        self.layout.die_of_group(number, self.groups.turn_of::<K>(number, is_slc))
    }
}
