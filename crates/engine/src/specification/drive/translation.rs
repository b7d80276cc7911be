//! The tables that describe the translation layer: `[ftl]`, `[background]`, `[map_cache]`, `[data_reduction]`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The translation layer: the capacity for the host, and the policies that place data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ftl {
    /// capacity for the host
    #[schemars(range(min = 1), example = 480_103_981_056_u64, extend("unit" = "B"))]
    pub user_bytes: u64,
    /// the unit of the map
    #[schemars(range(min = 1), example = 4096, extend("unit" = "B"))]
    pub mapping_unit_bytes: u32,
    /// what garbage collection collects and erases at once
    #[schemars(example = &"superblock")]
    pub erase_unit: EraseUnitKind,
    /// which erase unit garbage collection takes next
    #[schemars(example = &"greedy")]
    pub victim: PolicyChoice,
    /// which open erase unit a write goes to
    #[schemars(example = &"host-gc-split")]
    pub placement: PolicyChoice,
    /// how erases are distributed
    #[schemars(example = &"none")]
    pub wear_leveling: PolicyChoice,
    /// erased units held in reserve: garbage collection runs before there are fewer
    #[schemars(range(min = 1), example = 2, extend("unit" = "erase units"))]
    pub reserve_erase_units: u32,
    /// whether unwritten and trimmed space serves garbage collection
    #[schemars(example = &"dynamic")]
    pub spare_area: SpareArea,
    /// flash excluded from T for tables and firmware, in whole erase units, rounded up
    #[serde(default)]
    #[schemars(example = 2_000_000_000_u64, extend("unit" = "B"))]
    pub reserved_bytes: u64,
    /// how fast a victim is collected while the host continues writing
    #[serde(default = "proportional_throttling", alias = "pacing")]
    #[schemars(example = &"proportional", extend("acts" = "with a clock"))]
    pub gc_throttling: PolicyChoice,
    /// which die receives a program group, where erase units are single blocks
    #[serde(default = "dies_in_turn")]
    #[schemars(example = &"round-robin", extend("acts" = "with ftl.erase_unit = \"block\""))]
    pub die_choice: PolicyChoice,
}

/// The default, as on most drives.
pub fn proportional_throttling() -> PolicyChoice {
    PolicyChoice::named("proportional")
}

/// The simplest, and the order within a superblock.
pub fn dies_in_turn() -> PolicyChoice {
    PolicyChoice::named("round-robin")
}

/// What an erase unit consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EraseUnitKind {
    /// One block of one plane.
    Block,
    /// One block of every plane of every die.
    Superblock,
}

/// Which space serves garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpareArea {
    /// Unwritten and trimmed space serves garbage collection.
    Dynamic,
    /// Only the factory's spare area serves it; unwritten and trimmed space remains set aside for its own addresses.
    Static,
}

/// A policy's name with its parameters, as in `{ name = "d-choices", d = 10 }`. A name alone stands for the policy with
/// its default parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "ChoiceForms")]
pub struct PolicyChoice {
    /// the name of a policy
    pub name: String,
    /// its parameters, by name
    #[serde(flatten)]
    pub parameters: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a policy's name, or a table with its name and parameters")]
enum ChoiceForms {
    Name(String),
    Table {
        name: String,
        #[serde(flatten)]
        parameters: Map<String, Value>,
    },
}

impl From<ChoiceForms> for PolicyChoice {
    fn from(form: ChoiceForms) -> Self {
        match form {
            ChoiceForms::Name(name) => Self { name, parameters: Map::new() },
            ChoiceForms::Table { name, parameters } => Self { name, parameters },
        }
    }
}

impl JsonSchema for PolicyChoice {
    fn schema_name() -> Cow<'static, str> {
        "PolicyChoice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {"type": "string", "minLength": 1},
                {
                    "type": "object",
                    "properties": {"name": {"type": "string", "minLength": 1}},
                    "required": ["name"],
                    "additionalProperties": true,
                },
            ],
            "allowed": "a text or a table: a policy's name, or that and its parameters",
        })
    }
}

impl PolicyChoice {
    /// The policy of that name with its default parameters.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), parameters: Map::new() }
    }
}

/// Background operations in idle time; all are off by default. Without a clock there is no idle time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackgroundOperations {
    /// how long the host must have sent no request before they begin
    #[schemars(range(min = 0, max = 1_000_000_000), example = 100.0, extend("unit" = "ms", "acts" = "with a clock"))]
    pub idle_after_ms: f64,
    /// erased space for the host that garbage collection maintains in idle time, in addition to the reserve; 0: no
    /// garbage collection in idle time
    #[schemars(example = 1_000_000_000, extend("unit" = "B", "acts" = "with a clock"))]
    pub erased_pool_bytes: u64,
    /// whether idle time rewrites data that is stored out of address order
    #[schemars(example = true, extend("acts" = "with a clock"))]
    pub defragment: bool,
    /// whether static wear levelling waits for idle time
    #[schemars(example = true, extend("acts" = "with a clock"))]
    pub wear_leveling: bool,
    /// page reads of a block after which its data is moved; 0: never
    #[schemars(example = 100_000, extend("unit" = "reads", "acts" = "with a clock"))]
    pub read_disturb_reads: u32,
    /// age at which data is moved; 0: never
    #[schemars(range(min = 0, max = 100_000), example = 90.0, extend("unit" = "days", "acts" = "with a clock"))]
    pub retention_days: f64,
}

/// A cache of map pages in memory; the whole map is in flash, in map pages of one mapping unit each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MapCache {
    /// memory for the cache; 0: the whole map is in memory
    #[schemars(example = 1_048_576, extend("unit" = "B"))]
    pub bytes: u64,
    /// entries in a map page, which is fetched and written back as one mapping unit of flash
    #[schemars(
        range(min = 1),
        example = 1024,
        extend("unit" = "entries", "acts" = "with map_cache.bytes above 0")
    )]
    pub entries_per_map_page: u32,
    /// size of one entry
    #[schemars(range(min = 1), example = 4, extend("unit" = "B", "acts" = "with map_cache.bytes above 0"))]
    pub entry_bytes: u32,
    /// which cached map page is evicted
    #[schemars(example = &"clock", extend("acts" = "with map_cache.bytes above 0"))]
    pub eviction: Eviction,
    /// an entry for each unit, or one in memory for each segment written in order
    #[schemars(example = &"extent", extend("acts" = "with map_cache.bytes above 0"))]
    pub form: MapForm,
    /// the firmware's time for a map page that is not in memory, in addition to the flash read
    #[schemars(
        range(min = 0),
        example = 5.0,
        extend("unit" = "us", "acts" = "with map_cache.bytes above 0 and a clock")
    )]
    pub miss_us: f64,
}

impl Default for MapCache {
    fn default() -> Self {
        Self {
            bytes: 0,
            entries_per_map_page: 1024,
            entry_bytes: 4,
            eviction: Eviction::Lru,
            form: MapForm::Page,
            miss_us: 0.0,
        }
    }
}

/// Which cached map page is evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Eviction {
    /// The least recently used map page.
    Lru,
    /// The clock algorithm: the next one not used since the hand last passed.
    Clock,
}

/// The form of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MapForm {
    /// An entry for each mapping unit.
    Page,
    /// A segment written in order has one entry, always in memory; only one with a rewritten unit needs its page.
    Extent,
}

/// Compression and deduplication; both are off by default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DataReduction {
    /// whether data is compressed before it is programmed
    #[schemars(example = true)]
    pub compression: bool,
    /// whether a unit whose data is already stored is only mapped to it
    #[schemars(example = true)]
    pub deduplication: bool,
    /// the granularity of reduced data; a power of two
    #[schemars(range(min = 1), example = 512, extend("unit" = "B", "acts" = "with data reduction"))]
    pub packing_bytes: u32,
    /// size of the index entry of each stored unit, programmed as metadata
    #[schemars(example = 16, extend("unit" = "B", "acts" = "with data reduction"))]
    pub index_bytes_per_unit: u32,
}

impl Default for DataReduction {
    fn default() -> Self {
        Self { compression: false, deduplication: false, packing_bytes: 512, index_bytes_per_unit: 0 }
    }
}

impl DataReduction {
    /// Whether the drive reduces data.
    pub fn is_on(&self) -> bool {
        self.compression || self.deduplication
    }
}
