//! The tables that describe the flash: `[nand]`, `[slc_cache]`, `[parity]`, `[faults]`.

use super::removed::RemovedSwitch;
use crate::error::SpecificationError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The flash: its geometry, and how long its operations take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nand {
    /// bits in a cell: 1, 2, 3 or 4
    #[schemars(example = &"tlc", extend("acts" = "with an SLC cache"))]
    pub cell: Cell,
    /// buses between controller and flash
    #[schemars(range(min = 1), example = 8, extend("unit" = "channels"))]
    pub channels: u32,
    /// dies on a channel
    #[schemars(range(min = 1), example = 4, extend("unit" = "dies"))]
    pub dies_per_channel: u32,
    /// planes in a die
    #[schemars(range(min = 1), example = 2, extend("unit" = "planes"))]
    pub planes_per_die: u32,
    /// blocks in a plane
    #[schemars(range(min = 1), example = 640, extend("unit" = "blocks"))]
    pub blocks_per_plane: u32,
    /// pages in a block
    #[schemars(range(min = 1), example = 768, extend("unit" = "pages"))]
    pub pages_per_block: u32,
    /// data in a page, without its spare bytes
    #[schemars(range(min = 1), example = 16384, extend("unit" = "B"))]
    pub page_bytes: u32,
    /// from cells to page register; a list: by page of a word line
    #[schemars(example = 60.0, extend("unit" = "us", "acts" = "with a clock"))]
    pub read_us: PageTimes,
    /// how long a page that is copied occupies its die until its transfer, where garbage collection reads the pages of
    /// several planes at once; 0: as long as any read
    #[serde(default)]
    #[schemars(range(min = 0), example = 20.0, extend("unit" = "us", "acts" = "with a clock"))]
    pub copy_read_us: f64,
    /// pages that garbage collection reads from a die consecutively before it admits a read of the host, such as those
    /// of all planes and of a word line; 0: admits reads of the host between any two
    #[serde(default)]
    #[schemars(example = 12, extend("unit" = "pages", "acts" = "with a clock"))]
    pub copy_pages_together: u32,
    /// from page register to cells; a list: by page of a word line
    #[schemars(example = 700.0, extend("unit" = "us", "acts" = "with a clock"))]
    pub program_us: PageTimes,
    /// to erase a block
    #[schemars(example = 5000.0, extend("unit" = "us", "exclusiveMinimum" = 0.0, "acts" = "with a clock"))]
    pub erase_us: f64,
    /// one of so many erases takes `erase_us`, the others no time: a drive made smaller with --scale has smaller blocks,
    /// of which as many as one full block are erased at once
    #[serde(default = "one")]
    #[schemars(range(min = 1), example = 64, extend("unit" = "erases", "acts" = "with a clock"))]
    pub erases_at_once: u32,
    /// whether the planes of a die are erased one after another, each in `erase_us`, spread over the time until the next
    /// erase unit is erased, instead of together
    #[serde(default)]
    #[schemars(example = true, extend("acts" = "with a clock and ftl.erase_unit = \"superblock\""))]
    pub erase_by_plane: bool,
    /// transfer rate of a channel, 10^6 bytes a second
    #[schemars(example = 800.0, extend("unit" = "MB/s", "exclusiveMinimum" = 0.0, "acts" = "with a clock"))]
    pub channel_mb_s: f64,
    /// programs and erases that a block endures
    #[schemars(
        range(min = 1),
        example = 3000,
        extend("unit" = "P/E cycles", "acts" = "with faults.wear_out, and in lifetimes")
    )]
    pub endurance_cycles: u32,
    /// pages that one program fills, all of them in `program_us`: 3 for TLC in one shot; in SLC mode always 1
    #[serde(default = "one")]
    #[schemars(range(min = 1), example = 3, extend("unit" = "pages", "acts" = "with a clock"))]
    pub pages_per_program: u32,
    /// whether a read of the host suspends a program or an erase in progress
    #[serde(default)]
    #[schemars(example = true, extend("acts" = "with a clock"))]
    pub suspend: bool,
    /// from suspending a program until the die can read
    #[serde(default)]
    #[schemars(range(min = 0), example = 20.0, extend("unit" = "us", "acts" = "with nand.suspend"))]
    pub program_suspend_us: f64,
    /// from suspending an erase until the die can read; as long as an erase, where erases are not suspended
    #[serde(default)]
    #[schemars(range(min = 0), example = 30.0, extend("unit" = "us", "acts" = "with nand.suspend"))]
    pub erase_suspend_us: f64,
    /// additional time that suspending may take, uniform from 0 to this
    #[serde(default)]
    #[schemars(range(min = 0), example = 20.0, extend("unit" = "us", "acts" = "with nand.suspend"))]
    pub suspend_spread_us: f64,
    /// additional time of a suspended operation at each resume
    #[serde(default)]
    #[schemars(range(min = 0), example = 10.0, extend("unit" = "us", "acts" = "with nand.suspend"))]
    pub resume_us: f64,
    /// time in the array that a suspended program loses and repeats, at most what it did since it began or was resumed
    #[serde(default)]
    #[schemars(range(min = 0), example = 100.0, extend("unit" = "us", "acts" = "with nand.suspend"))]
    pub suspend_repeats_us: f64,
    /// how often one operation may be suspended; 0: no limit
    #[serde(default)]
    #[schemars(example = 4, extend("unit" = "suspends", "acts" = "with nand.suspend"))]
    pub suspends_per_operation_max: u32,
    /// duration of an internal operation of a die that occurs occasionally and cannot be suspended; 0: never
    #[serde(default)]
    #[schemars(range(min = 0), example = 2000.0, extend("unit" = "us", "acts" = "with a clock"))]
    pub background_us: f64,
    /// how often it occurs, on each die, independent of load
    #[serde(default)]
    #[schemars(range(min = 0), example = 0.15, extend("unit" = "1/s", "acts" = "with nand.background_us"))]
    pub background_per_second: f64,
    /// The transfer of a page during a program: removed.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub cache_program: RemovedSwitch,
    /// A read during the transfer of a page: removed.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub cache_read: RemovedSwitch,
}

fn one() -> u32 {
    1
}

/// Microseconds for a page: the same for all, or by page of a word line, in which the bits of a cell are separate
/// pages. Page n of a block is page n modulo the list's length of its word line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number, or a list of numbers")]
pub enum PageTimes {
    /// The same for all pages.
    Same(f64),
    /// By page of a word line.
    ByPage(Vec<f64>),
}

impl JsonSchema for PageTimes {
    fn schema_name() -> Cow<'static, str> {
        "PageTimes".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {"type": "number", "format": "double", "exclusiveMinimum": 0.0},
                {
                    "type": "array",
                    "items": {"type": "number", "format": "double", "exclusiveMinimum": 0.0},
                    "minItems": 1,
                    "maxItems": Self::PAGES_MAX,
                },
            ],
            "allowed": format!("a number above 0, or a list of 1 to {} such numbers by page of a word line", Self::PAGES_MAX),
        })
    }
}

impl From<f64> for PageTimes {
    fn from(microseconds: f64) -> Self {
        Self::Same(microseconds)
    }
}

impl PageTimes {
    /// The most pages of a word line.
    pub const PAGES_MAX: usize = 16;

    /// In microseconds, by page of a word line.
    pub fn each(&self) -> &[f64] {
        match self {
            Self::Same(microseconds) => std::slice::from_ref(microseconds),
            Self::ByPage(list) => list,
        }
    }

    fn mean(&self) -> f64 {
        self.each().iter().sum::<f64>() / self.each().len() as f64
    }

    fn check(&self, key: &str) -> Result<(), SpecificationError> {
        if !(1..=Self::PAGES_MAX).contains(&self.each().len()) {
            let allowed = format!("one number, or a list of 1 to {}", Self::PAGES_MAX);
            return Err(SpecificationError::new(key, format!("{:?}", self.each()), allowed));
        }
        self.each().iter().try_for_each(|&microseconds| check_microseconds(key, microseconds))
    }
}

/// An error for a value that is not a valid time in a drive file.
pub fn check_microseconds(key: &str, microseconds: f64) -> Result<(), SpecificationError> {
    if (0.0..=1e9).contains(&microseconds) {
        return Ok(());
    }
    Err(SpecificationError::new(key, microseconds, "microseconds from 0 to 10^9"))
}

impl Nand {
    /// Checks that concern runs with a clock only.
    pub fn check_times(&self) -> Result<(), SpecificationError> {
        self.read_us.check("nand.read_us")?;
        self.program_us.check("nand.program_us")?;
        let [read, program] = [&self.read_us, &self.program_us].map(|times| times.each().len());
        if program > 1 && self.pages_per_program > 1 {
            let allowed = "one number with nand.pages_per_program above 1, whose pages are programmed together";
            return Err(SpecificationError::new("nand.program_us", format!("{:?}", self.program_us.each()), allowed));
        }
        if read > 1 && program > 1 && read != program {
            let allowed = format!("as many numbers as nand.read_us has, {read}, or one");
            return Err(SpecificationError::new("nand.program_us", format!("{:?}", self.program_us.each()), allowed));
        }
        check_microseconds("nand.copy_read_us", self.copy_read_us)?;
        check_microseconds("nand.erase_us", self.erase_us)?;
        if self.erases_at_once == 0 {
            return Err(SpecificationError::new("nand.erases_at_once", 0, "1 or more"));
        }
        check_microseconds("nand.program_suspend_us", self.program_suspend_us)?;
        check_microseconds("nand.erase_suspend_us", self.erase_suspend_us)?;
        check_microseconds("nand.suspend_spread_us", self.suspend_spread_us)?;
        check_microseconds("nand.resume_us", self.resume_us)?;
        check_microseconds("nand.suspend_repeats_us", self.suspend_repeats_us)?;
        self.check_background()?;
        if !(self.channel_mb_s > 0.0 && self.channel_mb_s <= 1e6) {
            return Err(SpecificationError::new("nand.channel_mb_s", self.channel_mb_s, "above 0 to 10^6 MB/s"));
        }
        Ok(())
    }

    fn check_background(&self) -> Result<(), SpecificationError> {
        check_microseconds("nand.background_us", self.background_us)?;
        let share = self.background_us * self.background_per_second / 1e6;
        if self.background_per_second >= 0.0 && (0.0..=0.5).contains(&share) {
            return Ok(());
        }
        let allowed = "from 0 to as often as takes half of the time of a die";
        Err(SpecificationError::new("nand.background_per_second", self.background_per_second, allowed))
    }

    /// The mean time of a read from the cells to the register, in microseconds.
    pub fn read_us_mean(&self) -> f64 {
        self.read_us.mean()
    }

    /// The mean time of a program without the transfer, in microseconds.
    pub fn program_us_mean(&self) -> f64 {
        self.program_us.mean()
    }

    /// Pages of a word line with different times.
    pub fn pages_per_word_line(&self) -> u32 {
        self.read_us.each().len().max(self.program_us.each().len()) as u32
    }
}

/// The number of bits in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cell {
    /// One.
    Slc,
    /// Two.
    Mlc,
    /// Three.
    Tlc,
    /// Four.
    Qlc,
}

impl Cell {
    /// Bits in a cell.
    pub fn bits(self) -> u32 {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc => 3,
            Self::Qlc => 4,
        }
    }
}

/// Flash written with one bit a cell for speed: separate blocks, or erased ones of T, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SlcCache {
    /// capacity in SLC mode of blocks outside T; 0: none
    #[schemars(example = 6_000_000_000_u64, extend("unit" = "B"))]
    pub static_bytes: u64,
    /// maximum capacity in SLC mode of erased blocks of T; 0: none
    #[schemars(example = 36_000_000_000_u64, extend("unit" = "B"))]
    pub dynamic_bytes_max: u64,
    /// that as a share of the unwritten addresses, if less; 0: however full it is
    #[schemars(
        range(min = 0, max = 1),
        example = 0.33,
        extend("unit" = "share", "acts" = "with slc_cache.dynamic_bytes_max above 0")
    )]
    pub dynamic_free_share: f64,
    /// whether writes bypass a full cache, or wait until it is folded
    #[schemars(example = &"fold", extend("acts" = "with an SLC cache"))]
    pub when_full: WhenFull,
    /// from cells to page register in SLC mode
    #[schemars(
        example = 25.0,
        extend("unit" = "us", "exclusiveMinimum" = 0.0, "acts" = "with an SLC cache and a clock")
    )]
    pub read_us: f64,
    /// from page register to cells in SLC mode
    #[schemars(
        example = 200.0,
        extend("unit" = "us", "exclusiveMinimum" = 0.0, "acts" = "with an SLC cache and a clock")
    )]
    pub program_us: f64,
    /// to erase a block in SLC mode
    #[schemars(
        example = 3000.0,
        extend("unit" = "us", "exclusiveMinimum" = 0.0, "acts" = "with an SLC cache and a clock")
    )]
    pub erase_us: f64,
}

/// What the host's writes do when the cache is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WhenFull {
    /// They bypass it, until idle time has freed space.
    #[default]
    Direct,
    /// They wait for space: as much is folded as they write.
    Fold,
}

impl SlcCache {
    /// Whether the drive has an SLC cache.
    pub fn is_on(&self) -> bool {
        self.static_bytes > 0 || self.dynamic_bytes_max > 0
    }
}

impl Default for SlcCache {
    fn default() -> Self {
        Self {
            static_bytes: 0,
            dynamic_bytes_max: 0,
            dynamic_free_share: 0.0,
            when_full: WhenFull::Direct,
            read_us: 25.0,
            program_us: 200.0,
            erase_us: 3000.0,
        }
    }
}

/// Parity within an erase unit (RAIN).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Parity {
    /// one mapping unit in this many holds parity; 0: none
    #[schemars(example = 128, extend("unit" = "mapping units"))]
    pub units_per_stripe: u32,
}

/// Blocks that fail.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// share of blocks that are bad from the start
    #[schemars(range(min = 0), example = 0.01, extend("unit" = "share", "exclusiveMaximum" = 1.0))]
    pub factory_bad_blocks: f64,
    /// whether a block past its endurance fails and is retired
    #[schemars(example = true)]
    pub wear_out: bool,
    /// standard deviation of endurance as a share of `endurance_cycles`
    #[schemars(range(min = 0, max = 1), example = 0.1, extend("unit" = "share", "acts" = "with faults.wear_out"))]
    pub endurance_spread: f64,
}
