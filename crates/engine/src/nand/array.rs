//! The blocks of the flash array: which are good, how often each was erased, and how they form erase units.
//!
//! An erase unit is a list of good blocks, one for each of its positions (a superblock has one for every plane). Blocks
//! that belong to no erase unit are spares of their plane. Contents of pages are not stored here.

use crate::nand::geometry::Geometry;
use crate::random::Random;
use crate::specification::drive::{EraseUnitKind, Faults};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The result of erasing an erase unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erased {
    /// All of its blocks are good.
    Usable,
    /// A block failed and its plane has no spare, so the erase unit is retired.
    Retired,
}

/// The wear of the blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Worn {
    erase_counts: Vec<u32>,
    /// Older states count these erases with the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    slc_mode_erase_counts: Vec<u32>,
    endurance: Vec<u32>,
    blocks: Vec<u32>,
    spares: Vec<Vec<u32>>,
    held_out_blocks: Vec<u32>,
    bad_blocks_factory: u32,
    bad_blocks_grown: u32,
}

/// The blocks of the flash.
pub struct Array {
    geometry: Geometry,
    /// By physical block: the number of erases that count against its rated endurance.
    erase_counts: Vec<u32>,
    /// By physical block: the number of erases after use in SLC mode; empty before the first.
    slc_mode_erase_counts: Vec<u32>,
    /// By block: the number of erases until it fails; empty if blocks do not wear out.
    endurance: Vec<u32>,
    /// By erase unit and position: the block.
    blocks: Vec<u32>,
    /// By plane: good blocks in reserve.
    spares: Vec<Vec<u32>>,
    /// Blocks excluded from counts: those of the drive itself, and those with another use.
    held_out_blocks: Vec<u32>,
    /// How many of the last erase units have another use.
    kept_apart: u32,
    bad_blocks_factory: u32,
    bad_blocks_grown: u32,
}

impl Array {
    /// A new array, with bad blocks and endurances drawn from `seed`.
    pub fn new(geometry: Geometry, faults: &Faults, endurance_cycles: u32, seed: u64) -> Self {
        let mut generator = Random::new(seed ^ 0x6e61_6e64);
        let mut good: Vec<Vec<u32>> = Vec::with_capacity(geometry.planes as usize);
        let mut bad_blocks_factory = 0;
        for plane in 0..geometry.planes {
            let first = plane * geometry.blocks_per_plane;
            let blocks = first..first + geometry.blocks_per_plane;
            // Without faults nothing is drawn, so that a fault-free drive does not depend on the generator.
            let kept: Vec<u32> = if faults.factory_bad_blocks > 0.0 {
                blocks.filter(|_| generator.unit() >= faults.factory_bad_blocks).collect()
            } else {
                blocks.collect()
            };
            bad_blocks_factory += geometry.blocks_per_plane - kept.len() as u32;
            good.push(kept);
        }
        let endurance = if faults.wear_out {
            draw_endurance(geometry.blocks(), endurance_cycles, faults.endurance_spread, &mut generator)
        } else {
            Vec::new()
        };
        let (blocks, spares) = form_erase_units(&geometry, good);
        Self {
            geometry,
            erase_counts: vec![0; geometry.blocks() as usize],
            slc_mode_erase_counts: Vec::new(),
            endurance,
            blocks,
            spares,
            held_out_blocks: Vec::new(),
            kept_apart: 0,
            bad_blocks_factory,
            bad_blocks_grown: 0,
        }
    }

    /// The wear, for saving.
    pub fn worn(&self) -> Worn {
        Worn {
            erase_counts: self.erase_counts.clone(),
            slc_mode_erase_counts: self.slc_mode_erase_counts.clone(),
            endurance: self.endurance.clone(),
            blocks: self.blocks.clone(),
            spares: self.spares.clone(),
            held_out_blocks: self.held_out_blocks.clone(),
            bad_blocks_factory: self.bad_blocks_factory,
            bad_blocks_grown: self.bad_blocks_grown,
        }
    }

    /// Restores the wear of an array with as many blocks; the error says what does not fit.
    pub fn wear_as(&mut self, worn: Worn) -> Result<(), String> {
        let blocks = self.geometry.blocks();
        let every = worn.blocks.iter().chain(worn.spares.iter().flatten()).chain(&worn.held_out_blocks);
        let fits = worn.erase_counts.len() == blocks as usize
            && [&worn.endurance, &worn.slc_mode_erase_counts]
                .iter()
                .all(|each| each.is_empty() || each.len() == blocks as usize)
            && worn.blocks.len() == self.blocks.len()
            && worn.spares.len() == self.spares.len()
            && every.into_iter().all(|&block| block < blocks);
        if !fits {
            return Err("its blocks are not those of the drive".into());
        }
        let Worn { erase_counts, endurance, blocks, spares, held_out_blocks, .. } = worn;
        (self.erase_counts, self.endurance, self.blocks) = (erase_counts, endurance, blocks);
        self.slc_mode_erase_counts = worn.slc_mode_erase_counts;
        (self.spares, self.held_out_blocks) = (spares, held_out_blocks);
        self.bad_blocks_factory = worn.bad_blocks_factory;
        self.bad_blocks_grown = worn.bad_blocks_grown;
        Ok(())
    }

    /// The dimensions of the flash.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Erase units formed, including retired ones, without those with another use.
    pub fn erase_units(&self) -> u32 {
        (self.blocks.len() / self.blocks_per_erase_unit()) as u32 - self.kept_apart
    }

    /// By erase unit, including those with another use: its die; empty for superblocks, which span all dies. The block
    /// of an erase unit of one block never changes.
    pub fn dies_of_erase_units(&self) -> Vec<u16> {
        let blocks_per_die = self.geometry.blocks_per_plane * self.geometry.planes_per_die;
        match self.geometry.erase_unit {
            EraseUnitKind::Block => self.blocks.iter().map(|&block| (block / blocks_per_die) as u16).collect(),
            EraseUnitKind::Superblock => Vec::new(),
        }
    }

    /// The block of an erase unit with a single block.
    pub fn block_of(&self, erase_unit: u32) -> u32 {
        debug_assert_eq!(self.blocks_per_erase_unit(), 1);
        self.blocks[erase_unit as usize]
    }

    /// Takes the last erase units, at most all, out of use.
    pub fn hold_out(&mut self, erase_units: u32) {
        let kept = self.erase_units().saturating_sub(erase_units) as usize * self.blocks_per_erase_unit();
        self.held_out_blocks.extend(self.blocks.drain(kept..));
    }

    /// Reserves the last erase units for a use with little wear; they are not erased through this type.
    pub fn keep_apart(&mut self, erase_units: u32) {
        self.kept_apart += erase_units.min(self.erase_units());
        let first = self.erase_units() as usize * self.blocks_per_erase_unit();
        self.held_out_blocks.extend_from_slice(&self.blocks[first..]);
    }

    /// Erases an erase unit, whose blocks may fail.
    pub fn erase(&mut self, erase_unit: u32) -> Erased {
        let blocks_per_erase_unit = self.blocks_per_erase_unit();
        let first = erase_unit as usize * blocks_per_erase_unit;
        for slot in first..first + blocks_per_erase_unit {
            let block = self.blocks[slot] as usize;
            self.erase_counts[block] += 1;
            if !self.endurance.is_empty() && self.erase_counts[block] >= self.endurance[block] {
                self.bad_blocks_grown += 1;
                let plane = block / self.geometry.blocks_per_plane as usize;
                match self.spares[plane].pop() {
                    Some(spare) => self.blocks[slot] = spare,
                    None => {
                        self.give_back_good_blocks(first, slot, blocks_per_erase_unit);
                        return Erased::Retired;
                    }
                }
            }
        }
        Erased::Usable
    }

    /// Erases an erase unit that was used in SLC mode. Assumed: it wears no block (docs/simulate/background.md).
    pub fn erase_in_slc_mode(&mut self, erase_unit: u32) {
        self.slc_mode_erase_counts.resize(self.erase_counts.len(), 0);
        for &block in &self.blocks[range_of(&self.geometry, erase_unit)] {
            self.slc_mode_erase_counts[block as usize] += 1;
        }
    }

    /// A block failed for another reason than wear, and its erase unit with it.
    pub fn note_bad_block(&mut self) {
        self.bad_blocks_grown += 1;
    }

    /// For blocks whose history is from another process: sets all blocks of an erase unit to one count. `in_slc_mode`:
    /// all its erases were in that mode.
    pub fn set_erase_count(&mut self, erase_unit: u32, count: u32, in_slc_mode: bool) {
        let counts = if in_slc_mode {
            self.slc_mode_erase_counts.resize(self.erase_counts.len(), 0);
            &mut self.slc_mode_erase_counts
        } else {
            &mut self.erase_counts
        };
        for &block in &self.blocks[range_of(&self.geometry, erase_unit)] {
            counts[block as usize] = count;
        }
    }

    /// Moves the array out, and leaves one without blocks.
    pub fn take(&mut self) -> Self {
        let empty = Self {
            geometry: self.geometry,
            erase_counts: Vec::new(),
            slc_mode_erase_counts: Vec::new(),
            endurance: Vec::new(),
            blocks: Vec::new(),
            spares: Vec::new(),
            held_out_blocks: Vec::new(),
            kept_apart: 0,
            bad_blocks_factory: 0,
            bad_blocks_grown: 0,
        };
        std::mem::replace(self, empty)
    }

    /// The good blocks of a retired erase unit become spares of their planes.
    fn give_back_good_blocks(&mut self, first: usize, failed: usize, blocks_per_erase_unit: usize) {
        for slot in first..first + blocks_per_erase_unit {
            if slot != failed {
                let block = self.blocks[slot];
                self.spares[(block / self.geometry.blocks_per_plane) as usize].push(block);
            }
        }
    }

    /// The erase count of an erase unit, without those in SLC mode: that of its most worn block.
    pub fn erase_count(&self, erase_unit: u32) -> u32 {
        let blocks = &self.blocks[range_of(&self.geometry, erase_unit)];
        blocks.iter().map(|&block| self.erase_counts[block as usize]).max().unwrap_or(0)
    }

    /// The erases of an erase unit after use in SLC mode: those of the block with the most.
    pub fn slc_mode_erase_count(&self, erase_unit: u32) -> u32 {
        let blocks = &self.blocks[range_of(&self.geometry, erase_unit)];
        let counts = blocks.iter().filter_map(|&block| self.slc_mode_erase_counts.get(block as usize));
        counts.copied().max().unwrap_or(0)
    }

    /// The erase counts in SLC mode of the blocks that were erased in it.
    pub fn slc_mode_erase_counts(&self) -> Vec<u32> {
        self.slc_mode_erase_counts.iter().copied().filter(|&count| count > 0).collect()
    }

    /// The erase counts, without those in SLC mode, of all blocks that are not held out, including bad and spare ones.
    pub fn erase_counts(&self) -> Vec<u32> {
        let mut is_counted = vec![true; self.erase_counts.len()];
        self.held_out_blocks.iter().for_each(|&block| is_counted[block as usize] = false);
        let counts = self.erase_counts.iter().zip(is_counted);
        counts.filter_map(|(&count, is_counted)| is_counted.then_some(count)).collect()
    }

    /// Blocks that were bad when the drive was new.
    pub fn bad_blocks_factory(&self) -> u32 {
        self.bad_blocks_factory
    }

    /// Blocks that failed since.
    pub fn bad_blocks_grown(&self) -> u32 {
        self.bad_blocks_grown
    }

    fn blocks_per_erase_unit(&self) -> usize {
        self.geometry.blocks_per_erase_unit() as usize
    }
}

/// Where the blocks of an erase unit are listed.
fn range_of(geometry: &Geometry, erase_unit: u32) -> Range<usize> {
    let count = geometry.blocks_per_erase_unit() as usize;
    erase_unit as usize * count..(erase_unit as usize + 1) * count
}

/// The k-th erase unit has the k-th good block of each of its planes; surplus blocks of a plane are spares.
fn form_erase_units(geometry: &Geometry, good: Vec<Vec<u32>>) -> (Vec<u32>, Vec<Vec<u32>>) {
    match geometry.erase_unit {
        // Every good block is an erase unit. Neighbouring numbers are on different planes, so that a frontier that
        // takes them in order keeps all planes busy.
        EraseUnitKind::Block => {
            let deepest = good.iter().map(Vec::len).max().unwrap_or(0);
            let by_row = (0..deepest).flat_map(|row| good.iter().filter_map(move |plane| plane.get(row).copied()));
            (by_row.collect(), vec![Vec::new(); good.len()])
        }
        EraseUnitKind::Superblock => {
            let rows = good.iter().map(Vec::len).min().unwrap_or(0);
            let blocks = (0..rows).flat_map(|row| good.iter().map(move |plane| plane[row])).collect();
            (blocks, good.iter().map(|plane| plane[rows..].to_vec()).collect())
        }
    }
}

fn draw_endurance(blocks: u32, cycles: u32, spread: f64, generator: &mut Random) -> Vec<u32> {
    let cycles = f64::from(cycles);
    let draw = |_| (cycles * (1.0 + spread.max(0.0) * generator.standard_normal())).round().max(1.0) as u32;
    (0..blocks).map(draw).collect()
}
