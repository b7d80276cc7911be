//! The blocks of the flash array: which are good, how often each was erased, and how erase units are formed of them.
//!
//! An erase unit is a list of good blocks, one for each of its lanes (a superblock has a lane for every plane). Blocks
//! that no erase unit uses are spares of their plane. Contents of pages are not held here: the map knows them.

use crate::nand::geometry::Geometry;
use crate::random::Random;
use crate::specification::drive::{EraseUnitKind, Faults};

/// What an erase of an erase unit came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erased {
    Usable,
    /// A block failed and no spare of its plane was left, so the erase unit is gone.
    Retired,
}

pub struct Array {
    geometry: Geometry,
    /// How often each physical block was erased.
    erase_counts: Vec<u32>,
    /// How many erases each block stands; empty when blocks do not wear out.
    endurance: Vec<u32>,
    /// The block behind each lane of each erase unit.
    blocks: Vec<u32>,
    /// Good blocks that stand by, for each plane.
    spares: Vec<Vec<u32>>,
    bad_blocks_factory: u32,
    bad_blocks_grown: u32,
}

impl Array {
    pub fn new(geometry: Geometry, faults: &Faults, endurance_cycles: u32, seed: u64) -> Self {
        let mut generator = Random::new(seed ^ 0x6e61_6e64);
        let mut good: Vec<Vec<u32>> = Vec::with_capacity(geometry.planes as usize);
        let mut bad_blocks_factory = 0;
        for plane in 0..geometry.planes {
            let first = plane * geometry.blocks_per_plane;
            let blocks = first..first + geometry.blocks_per_plane;
            // No draw without faults, so that a fault-free drive does not depend on the generator at all.
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
            endurance,
            blocks,
            spares,
            bad_blocks_factory,
            bad_blocks_grown: 0,
        }
    }

    /// Erase units that could be formed, retired ones among them.
    pub fn erase_units(&self) -> u32 {
        (self.blocks.len() / self.lanes()) as u32
    }

    pub fn erase(&mut self, erase_unit: u32) -> Erased {
        let lanes = self.lanes();
        let first = erase_unit as usize * lanes;
        for lane in first..first + lanes {
            let block = self.blocks[lane] as usize;
            self.erase_counts[block] += 1;
            if !self.endurance.is_empty() && self.erase_counts[block] >= self.endurance[block] {
                self.bad_blocks_grown += 1;
                let plane = block / self.geometry.blocks_per_plane as usize;
                match self.spares[plane].pop() {
                    Some(spare) => self.blocks[lane] = spare,
                    None => {
                        self.give_back_good_blocks(first, lane, lanes);
                        return Erased::Retired;
                    }
                }
            }
        }
        Erased::Usable
    }

    /// The good blocks of a retired erase unit become spares of their planes.
    fn give_back_good_blocks(&mut self, first: usize, failed: usize, lanes: usize) {
        for lane in first..first + lanes {
            if lane != failed {
                let block = self.blocks[lane];
                self.spares[(block / self.geometry.blocks_per_plane) as usize].push(block);
            }
        }
    }

    /// The erase count of an erase unit: that of its most worn block.
    pub fn erase_count(&self, erase_unit: u32) -> u32 {
        let lanes = self.lanes();
        let first = erase_unit as usize * lanes;
        let blocks = &self.blocks[first..first + lanes];
        blocks.iter().map(|&block| self.erase_counts[block as usize]).max().unwrap_or(0)
    }

    /// The erase count of every physical block, bad and spare ones too.
    pub fn erase_counts(&self) -> &[u32] {
        &self.erase_counts
    }

    pub fn bad_blocks_factory(&self) -> u32 {
        self.bad_blocks_factory
    }

    pub fn bad_blocks_grown(&self) -> u32 {
        self.bad_blocks_grown
    }

    fn lanes(&self) -> usize {
        self.geometry.blocks_per_erase_unit() as usize
    }
}

/// The k-th erase unit takes the k-th good block of each of its planes; what is over in a plane is spare.
fn form_erase_units(geometry: &Geometry, good: Vec<Vec<u32>>) -> (Vec<u32>, Vec<Vec<u32>>) {
    match geometry.erase_unit {
        // Every good block is an erase unit of its own. Neighbours in number lie on different planes, so that a
        // frontier that takes them in order keeps all planes busy.
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
