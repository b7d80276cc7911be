//! Where a slot lies, and what determines the time of an operation on it: SLC mode, the page of its word line, retries.

use super::layout::{DieLayout, WordLines, dies_without_bad_blocks};
use super::operation::{Array, Operation};
use super::retries::Retries;
use crate::divisor::Divisor;
use crate::specification::drive::{EraseUnitKind, Nand};

pub struct Places {
    pub layout: DieLayout,
    units_per_page: Divisor,
    units_per_erase_unit: Divisor,
    /// Only for flash whose pages have different times.
    word_lines: Option<Box<WordLines>>,
    /// Only for flash whose reads may need retries.
    pub retries: Option<Box<Retries>>,
    /// By erase unit: whether it is in SLC mode; empty for a drive without an SLC cache.
    is_slc: Vec<bool>,
}

impl Places {
    /// And the units of a program group.
    pub fn new(nand: &Nand, units_per_page: u32, erase_unit: EraseUnitKind) -> (Self, u32) {
        let dies = nand.channels * nand.dies_per_channel;
        let units_per_program = units_per_page * nand.pages_per_program;
        let units_per_block = nand.pages_per_block * units_per_page;
        let (group_units, units_per_erase_unit, layout) = match erase_unit {
            EraseUnitKind::Superblock => (
                units_per_program * nand.planes_per_die,
                units_per_block * nand.planes_per_die * dies,
                DieLayout::Superblock { dies: Divisor::new(dies) },
            ),
            EraseUnitKind::Block => {
                let layout = DieLayout::Block {
                    groups_per_erase_unit: Divisor::new(nand.pages_per_block / nand.pages_per_program),
                    die_of: dies_without_bad_blocks(nand),
                };
                (units_per_program, units_per_block, layout)
            }
        };
        let places = Self {
            layout,
            units_per_page: Divisor::new(units_per_page),
            units_per_erase_unit: Divisor::new(units_per_erase_unit),
            word_lines: WordLines::new(nand, units_per_page, erase_unit).map(Box::new),
            retries: None,
            is_slc: Vec::new(),
        };
        (places, group_units)
    }

    /// Sets that superblocks extend over the dies of one reclaim group each.
    pub fn in_reclaim_groups(self, reclaim_groups: u32, group_units: u32) -> Self {
        let units_per_erase_unit = self.units_per_erase_unit.get() / reclaim_groups;
        Self {
            units_per_erase_unit: Divisor::new(units_per_erase_unit),
            layout: self.layout.in_reclaim_groups(reclaim_groups, units_per_erase_unit / group_units),
            word_lines: self.word_lines.map(|lines| Box::new(lines.in_reclaim_groups(reclaim_groups))),
            ..self
        }
    }

    /// Adds erase units in SLC mode.
    pub fn with_slc_mode(self, nand: &Nand) -> Self {
        let dies = u64::from(nand.channels) * u64::from(nand.dies_per_channel);
        let blocks = u64::from(nand.blocks_per_plane) * u64::from(nand.planes_per_die) * dies;
        let units = blocks * u64::from(nand.pages_per_block) * u64::from(self.units_per_page.get());
        Self { is_slc: vec![false; (units / u64::from(self.units_per_erase_unit.get())) as usize], ..self }
    }

    /// From now on the erase unit is written in SLC mode, or not.
    pub fn open(&mut self, erase_unit: u32, is_slc: bool) {
        self.is_slc[erase_unit as usize] = is_slc;
    }

    /// Whether the place makes no difference to the time of an operation.
    pub fn are_alike(&self) -> bool {
        self.is_slc.is_empty() && self.word_lines.is_none() && self.retries.is_none()
    }

    pub fn has_slc_mode(&self) -> bool {
        !self.is_slc.is_empty()
    }

    /// Whether an erase unit is in SLC mode.
    pub fn is_slc_erase_unit(&self, erase_unit: u32) -> bool {
        !self.is_slc.is_empty() && self.is_slc[erase_unit as usize]
    }

    /// Whether a slot is in SLC mode.
    #[inline(always)]
    pub fn is_slc(&self, ppn: u32) -> bool {
        !self.is_slc.is_empty() && self.is_slc[self.units_per_erase_unit.quotient(ppn) as usize]
    }

    #[inline(always)]
    pub fn erase_unit_of(&self, ppn: u32) -> u32 {
        self.units_per_erase_unit.quotient(ppn)
    }

    #[inline(always)]
    pub fn page_of(&self, ppn: u32) -> u32 {
        self.units_per_page.quotient(ppn)
    }

    /// The first slot of a page.
    #[inline(always)]
    pub fn first_of(&self, page: u32) -> u32 {
        page * self.units_per_page.get()
    }

    /// An operation on the page of a slot, with the attributes that determine its time.
    #[inline(always)]
    pub fn at(&mut self, now: u64, ppn: u32, operation: Operation) -> Operation {
        let is_slc = self.is_slc(ppn);
        let operation = operation.in_mode(is_slc);
        let operation = match &self.word_lines {
            Some(word_lines) => operation.on_page(word_lines.page_of(ppn)),
            _ => operation,
        };
        match &mut self.retries {
            Some(retries) if !is_slc => {
                let page = self.units_per_page.quotient(ppn);
                match operation.array() {
                    Array::Read => return operation.with_retries(retries.read(now, page)),
                    Array::Program => retries.programmed(now, page),
                    Array::Nothing | Array::Erase => {}
                }
                operation
            }
            _ => operation,
        }
    }
}
