//! The die of a slot, and its page of a word line, for erase units of one block and for superblocks.

use crate::divisor::Divisor;
use crate::specification::drive::{EraseUnitKind, Nand};
use std::ops::Range;

/// The die of a slot.
#[derive(Clone, Debug)]
pub enum DieLayout {
    /// Consecutive groups are on consecutive dies.
    Superblock { dies: Divisor },
    /// The same within a reclaim group: erase units belong to the groups in turn, each of which has consecutive dies.
    GroupSuperblock { dies: Divisor, reclaim_groups: Divisor, groups_per_erase_unit: Divisor },
    /// By erase unit: its die.
    Block { groups_per_erase_unit: Divisor, die_of: Vec<u16> },
}

impl DieLayout {
    /// Whether each erase unit is on one die.
    pub fn is_by_block(&self) -> bool {
        matches!(self, Self::Block { .. })
    }

    /// How many groups of an erase unit lie on the same die without a gap, from this one on.
    #[inline(always)]
    pub fn groups_left(&self, number: u32) -> u32 {
        match self {
            Self::Superblock { .. } | Self::GroupSuperblock { .. } => 1,
            Self::Block { groups_per_erase_unit, .. } => {
                groups_per_erase_unit.get() - groups_per_erase_unit.remainder(number)
            }
        }
    }

    /// The dies with blocks of an erase unit.
    pub fn dies_of_erase_unit(&self, erase_unit: u32) -> Range<usize> {
        match self {
            Self::Superblock { dies } => 0..dies.get() as usize,
            Self::GroupSuperblock { dies, groups_per_erase_unit, .. } => {
                let first = self.die_of_group(0, erase_unit * groups_per_erase_unit.get());
                first..first + dies.get() as usize
            }
            Self::Block { die_of, .. } => {
                let die = usize::from(die_of[erase_unit as usize]);
                die..die + 1
            }
        }
    }

    /// Groups are numbered by pages from now on, whatever their size.
    pub fn number_by_pages(&mut self, pages_per_block: u32) {
        if let Self::Block { groups_per_erase_unit, .. } = self {
            *groups_per_erase_unit = Divisor::new(pages_per_block);
        }
    }

    /// The same where superblocks extend over the dies of a reclaim group, with groups of this size in an erase unit.
    pub fn in_reclaim_groups(&self, reclaim_groups: u32, groups_per_erase_unit: u32) -> Self {
        let Self::Superblock { dies } = self else { panic!("reclaim groups have superblocks") };
        Self::GroupSuperblock {
            dies: Divisor::new(dies.get() / reclaim_groups),
            reclaim_groups: Divisor::new(reclaim_groups),
            groups_per_erase_unit: Divisor::new(groups_per_erase_unit),
        }
    }

    /// `turn` is the group's number among groups of its size.
    #[inline(always)]
    pub fn die_of_group(&self, number: u32, turn: u32) -> usize {
        match self {
            Self::Superblock { dies } => dies.remainder(turn) as usize,
            Self::GroupSuperblock { dies, reclaim_groups, groups_per_erase_unit } => {
                let reclaim_group = reclaim_groups.remainder(groups_per_erase_unit.quotient(turn));
                (reclaim_group * dies.get() + dies.remainder(turn)) as usize
            }
            Self::Block { groups_per_erase_unit, die_of } => {
                usize::from(die_of[groups_per_erase_unit.quotient(number) as usize])
            }
        }
    }
}

/// The page of a slot in its word line, for flash whose pages have different times.
#[derive(Clone, Debug)]
pub struct WordLines {
    units_per_erase_unit: Divisor,
    /// Units on a page of all planes that are programmed together.
    units_per_row: Divisor,
    rows_per_program: Divisor,
    /// Dies over which consecutive programs rotate.
    dies: Divisor,
    pages: Divisor,
}

impl WordLines {
    /// None if all pages have the same times.
    pub fn new(nand: &Nand, units_per_page: u32, erase_unit: EraseUnitKind) -> Option<Self> {
        let (planes, dies) = match erase_unit {
            EraseUnitKind::Superblock => (nand.planes_per_die, nand.channels * nand.dies_per_channel),
            EraseUnitKind::Block => (1, 1),
        };
        let units_per_row = units_per_page * planes;
        (nand.pages_per_word_line() > 1).then(|| Self {
            units_per_erase_unit: Divisor::new(nand.pages_per_block * units_per_row * dies),
            units_per_row: Divisor::new(units_per_row),
            rows_per_program: Divisor::new(nand.pages_per_program),
            dies: Divisor::new(dies),
            pages: Divisor::new(nand.pages_per_word_line()),
        })
    }

    /// The same for superblocks over the dies of a reclaim group.
    pub fn in_reclaim_groups(&self, reclaim_groups: u32) -> Self {
        Self {
            units_per_erase_unit: Divisor::new(self.units_per_erase_unit.get() / reclaim_groups),
            dies: Divisor::new(self.dies.get() / reclaim_groups),
            ..self.clone()
        }
    }

    pub fn page_of(&self, ppn: u32) -> u32 {
        let row = self.units_per_row.quotient(self.units_per_erase_unit.remainder(ppn));
        let program = self.dies.quotient(self.rows_per_program.quotient(row));
        self.pages.remainder(program * self.rows_per_program.get() + self.rows_per_program.remainder(row))
    }
}

/// Erase units of single blocks are numbered across the planes.
pub fn dies_without_bad_blocks(nand: &Nand) -> Vec<u16> {
    let planes = nand.channels * nand.dies_per_channel * nand.planes_per_die;
    let dies = (0..planes).map(|plane| (plane / nand.planes_per_die) as u16);
    (0..nand.blocks_per_plane).flat_map(|_| dies.clone()).collect()
}
