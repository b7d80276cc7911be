//! A drive as its file describes it. Field names are the keys of the drive file.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    pub name: String,
    pub nand: Nand,
    pub ftl: Ftl,
    pub parity: Parity,
    pub faults: Faults,
    pub write_buffer: WriteBuffer,
    pub controller: Controller,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nand {
    pub cell: Cell,
    pub channels: u32,
    pub dies_per_channel: u32,
    pub planes_per_die: u32,
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    pub page_bytes: u32,
    pub read_us: f64,
    pub program_us: f64,
    pub erase_us: f64,
    pub channel_mb_s: f64,
    pub endurance_cycles: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cell {
    Slc,
    Mlc,
    Tlc,
    Qlc,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ftl {
    /// U: what the host may use. A whole number of mapping units.
    pub user_bytes: u64,
    pub mapping_unit_bytes: u32,
    pub erase_unit: EraseUnitKind,
    pub victim: PolicyChoice,
    pub placement: PolicyChoice,
    pub wear_leveling: PolicyChoice,
    /// When opening an erase unit for the host would leave fewer free than this, cleaning runs first.
    pub reserve_erase_units: u32,
    pub spare_area: SpareArea,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EraseUnitKind {
    /// One block of one plane.
    Block,
    /// A stripe of one block of every plane of every die.
    Superblock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpareArea {
    /// Never-written and trimmed space helps cleaning.
    Dynamic,
    /// Only the factory's spare area serves; free and trimmed space stays set aside for its own addresses.
    Static,
}

/// A policy's name with its own parameters beside it, as in `{ name = "d-choices", d = 10 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyChoice {
    pub name: String,
    #[serde(flatten)]
    pub parameters: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parity {
    /// One mapping unit in so many holds parity (RAIN); 0 means none.
    pub units_per_stripe: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// Share of the blocks that are bad when the drive leaves the factory, 0 to below 1.
    pub factory_bad_blocks: f64,
    /// Whether a block that has reached its endurance fails its next erase and is retired.
    pub wear_out: bool,
    /// Standard deviation of a block's endurance as a share of `endurance_cycles`.
    pub endurance_spread: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// Memory that outlives a loss of power: a write is complete when it is there. 0 means none.
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// What it takes to answer a command that waits for no flash.
    pub command_us: f64,
}
