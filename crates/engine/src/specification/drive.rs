//! A drive as its file describes it. Field names are the keys of the drive file.

use super::data_reduction::DataReduction;
use super::host_link::HostLink;
use super::housekeeping::Housekeeping;
use super::read_path::{MapCache, ReadAhead};
use super::slc_cache::SlcCache;
use super::stripe::Stripe;
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
    #[serde(default)]
    pub host_link: HostLink,
    #[serde(default)]
    pub housekeeping: Housekeeping,
    #[serde(default)]
    pub map_cache: MapCache,
    #[serde(default)]
    pub read_ahead: ReadAhead,
    #[serde(default)]
    pub data_reduction: DataReduction,
    #[serde(default)]
    pub slc_cache: SlcCache,
    #[serde(default)]
    pub stripe: Stripe,
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
    /// Pages of a block that one program fills: the bits of a cell where it is programmed in one shot. `program_us` is
    /// then for all of them.
    #[serde(default = "one")]
    pub pages_per_program: u32,
    /// Whether a read of the host suspends a program or an erase that it finds under way.
    #[serde(default)]
    pub suspend: bool,
    /// From the command to suspend until the die can read.
    #[serde(default)]
    pub program_suspend_us: f64,
    #[serde(default)]
    pub erase_suspend_us: f64,
    /// What a suspended operation takes more, each time it is resumed.
    #[serde(default)]
    pub resume_us: f64,
    /// How often one operation may be suspended; 0: no limit.
    #[serde(default)]
    pub suspends_per_operation_max: u32,
    /// Whether the next page crosses the channel while one is programmed.
    #[serde(default)]
    pub cache_program: bool,
    /// Whether the next page is read from the array while one crosses the channel.
    #[serde(default)]
    pub cache_read: bool,
}

fn one() -> u32 {
    1
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
    /// Flash that is held out of T for tables, logs and firmware, in whole erase units, rounded up.
    #[serde(default)]
    pub reserved_bytes: u64,
    /// How fast victims are emptied while the host goes on writing.
    #[serde(default = "even_pacing")]
    pub pacing: PolicyChoice,
    /// Which die a program group goes to, where each has an open block of its own.
    #[serde(default = "dies_in_turn")]
    pub die_choice: PolicyChoice,
}

/// Just in time, as most drives do it.
pub fn even_pacing() -> PolicyChoice {
    PolicyChoice::named("proportional")
}

/// The simplest, and the one order that a superblock has.
pub fn dies_in_turn() -> PolicyChoice {
    PolicyChoice { name: "round-robin".into(), parameters: Map::new() }
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

impl PolicyChoice {
    /// The policy of that name, its parameters as they are unless said.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), parameters: Map::new() }
    }
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
    /// Memory in which a write is complete. 0 means none.
    pub bytes: u64,
    /// Whether it outlives a loss of power; else flushes and sync writes wait for flash.
    #[serde(default = "yes")]
    pub power_loss_protection: bool,
}

impl Default for WriteBuffer {
    fn default() -> Self {
        Self { bytes: 0, power_loss_protection: true }
    }
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// What it takes to answer a command that waits for no flash.
    pub command_us: f64,
    /// Commands that it takes a second; 0 means no limit.
    #[serde(default)]
    pub commands_per_second_max: u64,
}

impl Default for Controller {
    fn default() -> Self {
        Self { command_us: 5.0, commands_per_second_max: 0 }
    }
}
