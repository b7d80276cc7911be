//! The tables that say how the translation layer works: `[ftl]`, `[background]`, `[map_cache]`, `[data_reduction]`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The translation layer: what the host may use, and what decides where data goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ftl {
    /// what the host may use
    #[schemars(range(min = 1), example = 480_103_981_056_u64, extend("unit" = "B"))]
    pub user_bytes: u64,
    /// what the map maps
    #[schemars(range(min = 1), example = 4096, extend("unit" = "B"))]
    pub mapping_unit_bytes: u32,
    /// what garbage collection empties and erases at once
    #[schemars(example = &"superblock")]
    pub erase_unit: EraseUnitKind,
    /// which erase unit is cleaned next
    #[schemars(example = &"greedy")]
    pub victim: PolicyChoice,
    /// which open erase unit a write goes to
    #[schemars(example = &"host-gc-split")]
    pub placement: PolicyChoice,
    /// how erases are spread
    #[schemars(example = &"none")]
    pub wear_leveling: PolicyChoice,
    /// kept free: garbage collection runs before there are fewer
    #[schemars(range(min = 1), example = 2, extend("unit" = "erase units"))]
    pub reserve_erase_units: u32,
    /// whether free and trimmed space helps garbage collection
    #[schemars(example = &"dynamic")]
    pub spare_area: SpareArea,
    /// flash held out of T for tables and firmware, in whole erase units, rounded up
    #[serde(default)]
    #[schemars(example = 2_000_000_000_u64, extend("unit" = "B"))]
    pub reserved_bytes: u64,
    /// how fast a victim is emptied while the host goes on writing
    #[serde(default = "proportional_throttling", alias = "pacing")]
    #[schemars(example = &"proportional", extend("acts" = "with a clock"))]
    pub gc_throttling: PolicyChoice,
    /// which die a program group goes to, where erase units are single blocks
    #[serde(default = "dies_in_turn")]
    #[schemars(example = &"round-robin", extend("acts" = "with ftl.erase_unit = \"block\""))]
    pub die_choice: PolicyChoice,
}

/// Just in time, as most drives do it.
pub fn proportional_throttling() -> PolicyChoice {
    PolicyChoice::named("proportional")
}

/// The simplest, and the one order that a superblock has.
pub fn dies_in_turn() -> PolicyChoice {
    PolicyChoice::named("round-robin")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EraseUnitKind {
    /// One block of one plane.
    Block,
    /// One block of every plane of every die.
    Superblock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpareArea {
    /// Never-written and trimmed space helps garbage collection.
    Dynamic,
    /// Only the factory's spare area serves; free and trimmed space stays set aside for its own addresses.
    Static,
}

/// A policy's name with its own parameters, as in `{ name = "d-choices", d = 10 }`. A name alone stands for the policy
/// with its default parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "ChoiceForms")]
pub struct PolicyChoice {
    pub name: String,
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

/// What the drive does in idle time; all of it is off unless a key turns it on. Without a clock there is no idle time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackgroundOperations {
    /// how long nothing must have been asked of the drive before it begins
    #[schemars(range(min = 0, max = 1_000_000_000), example = 100.0, extend("unit" = "ms", "acts" = "with a clock"))]
    pub idle_after_ms: f64,
    /// idle garbage collection keeps so much erased for the host, besides the reserve; 0: no garbage collection ahead
    #[schemars(example = 1_000_000_000, extend("unit" = "B", "acts" = "with a clock"))]
    pub erased_pool_bytes: u64,
    /// whether idle time rewrites in the order of addresses what lies otherwise
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

/// Memory for a part of the map; the whole of it lies in flash, in map pages of one mapping unit each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MapCache {
    /// memory for a part of the map, the rest of which lies in flash; 0: the whole map is in memory
    #[schemars(example = 1_048_576, extend("unit" = "B"))]
    pub bytes: u64,
    /// map entries fetched and written back together, as one mapping unit of flash
    #[schemars(
        range(min = 1),
        example = 1024,
        extend("unit" = "entries", "acts" = "with map_cache.bytes above 0")
    )]
    pub entries_per_map_page: u32,
    /// what one entry takes
    #[schemars(range(min = 1), example = 4, extend("unit" = "B", "acts" = "with map_cache.bytes above 0"))]
    pub entry_bytes: u32,
    /// which cached map page makes room
    #[schemars(example = &"clock", extend("acts" = "with map_cache.bytes above 0"))]
    pub eviction: Eviction,
    /// an entry for each unit, or one in memory for each segment written in order
    #[schemars(example = &"extent", extend("acts" = "with map_cache.bytes above 0"))]
    pub form: MapForm,
    /// the firmware's own time for a map page that is not in memory, besides the flash read
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Eviction {
    /// The map page that was not used for the longest time.
    Lru,
    /// The next one round the clock that was not used since the hand last passed.
    Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MapForm {
    /// An entry for each mapping unit.
    Page,
    /// A segment that was written in order is one entry, always in memory; only one with a rewritten unit needs its
    /// page.
    Extent,
}

/// What the drive does not write although the host does; off unless a key turns it on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DataReduction {
    /// whether data is compressed before it is programmed
    #[schemars(example = true)]
    pub compression: bool,
    /// whether what is stored already is stored again only by name
    #[schemars(example = true)]
    pub deduplication: bool,
    /// reduced data takes a whole number of these; a power of two
    #[schemars(range(min = 1), example = 512, extend("unit" = "B", "acts" = "with data reduction"))]
    pub packing_bytes: u32,
    /// the index's entry for each stored unit, programmed as metadata
    #[schemars(example = 16, extend("unit" = "B", "acts" = "with data reduction"))]
    pub index_bytes_per_unit: u32,
}

impl Default for DataReduction {
    fn default() -> Self {
        Self { compression: false, deduplication: false, packing_bytes: 512, index_bytes_per_unit: 0 }
    }
}

impl DataReduction {
    pub fn is_on(&self) -> bool {
        self.compression || self.deduplication
    }
}
