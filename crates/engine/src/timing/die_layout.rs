//! Which die a place of the flash lies on, for erase units of one block and of a superblock.

use crate::divisor::Divisor;
use crate::specification::drive::Nand;

/// Which die a place lies on.
#[derive(Clone, Debug)]
pub(super) enum DieLayout {
    /// Groups follow one another over the dies.
    Superblock { dies: Divisor },
    /// By erase unit, the die that it lies on.
    Block { groups_per_erase_unit: Divisor, die_of: Vec<u16> },
}

impl DieLayout {
    /// Groups are numbered by pages from now on, whatever the size of a group.
    pub fn number_by_pages(&mut self, pages_per_block: u32) {
        if let Self::Block { groups_per_erase_unit, .. } = self {
            *groups_per_erase_unit = Divisor::new(pages_per_block);
        }
    }

    /// `turn` is the group's number among groups of its size.
    #[inline(always)]
    pub fn die_of_group(&self, number: u32, turn: u32) -> usize {
        match self {
            Self::Superblock { dies } => dies.remainder(turn) as usize,
            Self::Block { groups_per_erase_unit, die_of } => {
                usize::from(die_of[groups_per_erase_unit.quotient(number) as usize])
            }
        }
    }
}

/// Erase units of single blocks are numbered across the planes.
pub(super) fn dies_without_bad_blocks(nand: &Nand) -> Vec<u16> {
    let planes = nand.channels * nand.dies_per_channel * nand.planes_per_die;
    let dies = (0..planes).map(|plane| (plane / nand.planes_per_die) as u16);
    (0..nand.blocks_per_plane).flat_map(|_| dies.clone()).collect()
}
