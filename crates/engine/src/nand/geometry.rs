//! The geometry of the flash: channels, dies, planes, blocks, pages, and the mapping of mapping units and erase units
//! onto them.

use crate::error::SpecificationError;
use crate::specification::drive::{Drive, EraseUnitKind, Nand, reclaim_groups_of};

/// Counts derived from a drive file. "Unit" alone means a mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Planes of the whole drive.
    pub planes: u32,
    /// Planes of a die.
    pub planes_per_die: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Mapping units of a page.
    pub units_per_page: u32,
    /// The unit of the map.
    pub mapping_unit_bytes: u32,
    /// Whether erase units are blocks or superblocks.
    pub erase_unit: EraseUnitKind,
    /// Sets of dies over which superblocks extend; 1: they extend over all dies.
    pub reclaim_groups: u32,
}

impl Geometry {
    /// The geometry of a drive, with its reclaim groups. Errors name the key of the drive file.
    pub fn of(drive: &Drive) -> Result<Self, SpecificationError> {
        let ftl = &drive.ftl;
        let geometry = Self::new(&drive.nand, ftl.mapping_unit_bytes, ftl.erase_unit)?;
        let reclaim_groups = reclaim_groups_of(&ftl.placement);
        if reclaim_groups == 1 {
            return Ok(geometry);
        }
        let refuse =
            |allowed: String| Err(SpecificationError::new("ftl.placement.reclaim_groups", reclaim_groups, allowed));
        if ftl.erase_unit != EraseUnitKind::Superblock {
            return refuse(
                "1 with ftl.erase_unit = \"block\": a reclaim unit is a superblock of the group's dies".into(),
            );
        }
        if !geometry.dies().is_multiple_of(reclaim_groups) {
            return refuse(format!("a divisor of the {} dies: each group has as many", geometry.dies()));
        }
        Ok(Self { reclaim_groups, ..geometry })
    }

    /// Errors name the key of the drive file.
    pub fn new(nand: &Nand, mapping_unit_bytes: u32, erase_unit: EraseUnitKind) -> Result<Self, SpecificationError> {
        let counts = [
            ("nand.channels", nand.channels),
            ("nand.dies_per_channel", nand.dies_per_channel),
            ("nand.planes_per_die", nand.planes_per_die),
            ("nand.blocks_per_plane", nand.blocks_per_plane),
            ("nand.pages_per_block", nand.pages_per_block),
        ];
        for (key, count) in counts {
            if count == 0 {
                return Err(SpecificationError::new(key, count, "a whole number of 1 or more"));
            }
        }
        let pages = nand.pages_per_program;
        if pages == 0 || !nand.pages_per_block.is_multiple_of(pages) {
            let allowed = format!("a divisor of nand.pages_per_block, {}", nand.pages_per_block);
            return Err(SpecificationError::new("nand.pages_per_program", pages, allowed));
        }
        if !mapping_unit_bytes.is_power_of_two() || !(512..=65536).contains(&mapping_unit_bytes) {
            let allowed = "a power of two from 512 to 65536";
            return Err(SpecificationError::new("ftl.mapping_unit_bytes", mapping_unit_bytes, allowed));
        }
        if nand.page_bytes == 0 || !nand.page_bytes.is_multiple_of(mapping_unit_bytes) {
            let allowed = format!("a multiple of ftl.mapping_unit_bytes, {mapping_unit_bytes}");
            return Err(SpecificationError::new("nand.page_bytes", nand.page_bytes, allowed));
        }
        let geometry = Self {
            planes: nand
                .channels
                .checked_mul(nand.dies_per_channel)
                .and_then(|dies| dies.checked_mul(nand.planes_per_die))
                .ok_or_else(|| {
                    SpecificationError::new("nand.channels", nand.channels, "fewer than 2^32 planes in all")
                })?,
            planes_per_die: nand.planes_per_die,
            blocks_per_plane: nand.blocks_per_plane,
            pages_per_block: nand.pages_per_block,
            units_per_page: nand.page_bytes / mapping_unit_bytes,
            mapping_unit_bytes,
            erase_unit,
            reclaim_groups: 1,
        };
        // Physical unit numbers have 32 bits, and the largest means "not mapped".
        let physical_units = u128::from(geometry.planes)
            * u128::from(geometry.blocks_per_plane)
            * u128::from(geometry.pages_per_block)
            * u128::from(geometry.units_per_page);
        if physical_units >= u128::from(u32::MAX) {
            let value = format!("{} planes of {} blocks", geometry.planes, nand.blocks_per_plane);
            let allowed = format!("fewer than 2^32 mapping units in all, but this makes {physical_units}");
            return Err(SpecificationError::new("nand.blocks_per_plane", value, allowed));
        }
        Ok(geometry)
    }

    /// Dies of the whole drive.
    pub fn dies(&self) -> u32 {
        self.planes / self.planes_per_die
    }

    /// Mapping units of a block.
    pub fn units_per_block(&self) -> u32 {
        self.pages_per_block * self.units_per_page
    }

    /// Blocks of the whole drive.
    pub fn blocks(&self) -> u32 {
        self.planes * self.blocks_per_plane
    }

    /// T: all physical units, including spare blocks, parity and reserve.
    pub fn physical_units(&self) -> u64 {
        u64::from(self.blocks()) * u64::from(self.units_per_block())
    }

    /// Blocks of an erase unit.
    pub fn blocks_per_erase_unit(&self) -> u32 {
        match self.erase_unit {
            EraseUnitKind::Block => 1,
            EraseUnitKind::Superblock => self.planes / self.reclaim_groups,
        }
    }

    /// Mapping units of an erase unit.
    pub fn units_per_erase_unit(&self) -> u32 {
        self.blocks_per_erase_unit() * self.units_per_block()
    }

    /// The number of erase units without bad blocks.
    pub fn erase_units_nominal(&self) -> u32 {
        self.blocks() / self.blocks_per_erase_unit()
    }
}
