//! A drive as its file describes it. Field names are the keys of the drive file, and doc comments are its reference:
//! the schema derived from them (`description::schema`) generates docs/simulate/drive-file.md and the types of the Python side.
//!
//! A comment says what a key means. `unit` is its unit; `acts` says when it has an effect, if not always. Bounds are
//! those of a drive file; rules between values are in `description::check`.

mod flash;
mod handles;
mod host;
mod namespaces;
mod power;
mod product;
mod read_retries;
mod reclaim_groups;
mod removed;
mod stripe;
mod translation;
mod zones;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use flash::{Cell, Faults, Nand, PageTimes, Parity, SlcCache, WhenFull, check_microseconds};
pub use handles::{HOST_STREAMS, Handles, handles_of, reclaim_groups_of};
pub use host::{Controller, Duplex, HostLink, Rate, ReadAhead, WriteBuffer};
pub use namespaces::{NAMESPACES_MAX, Namespace, allocated_bytes, identifiers_for, namespace_ends};
pub use power::Power;
pub use product::{DriveFile, Identity, Market, Source, SourceKind};
pub use read_retries::ReadRetries;
pub use reclaim_groups::check_goes_with_groups;
pub use removed::RemovedSwitch;
pub use stripe::{Stripe, devices_of};
pub use translation::{
    BackgroundOperations, DataReduction, EraseUnitKind, Eviction, Ftl, MapCache, MapForm, PolicyChoice, SpareArea,
    dies_in_turn, proportional_throttling,
};
pub use zones::{Zones, ZonesOfDrive, check_goes_with_zones, zones_of};

/// The properties of a drive that the engine uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the comments of the fields' types describe the tables")]
pub struct Drive {
    /// the drive's name; for a drive of the catalogue, that of its file
    #[schemars(length(min = 1), example = &"generic-tlc-480")]
    pub name: String,
    pub nand: Nand,
    pub ftl: Ftl,
    #[serde(default)]
    pub write_buffer: WriteBuffer,
    #[serde(default)]
    pub controller: Controller,
    #[serde(default)]
    pub host_link: HostLink,
    #[serde(default, alias = "housekeeping")]
    pub background: BackgroundOperations,
    #[serde(default)]
    pub slc_cache: SlcCache,
    #[serde(default)]
    pub map_cache: MapCache,
    #[serde(default)]
    pub read_ahead: ReadAhead,
    #[serde(default)]
    pub read_retries: ReadRetries,
    #[serde(default)]
    pub data_reduction: DataReduction,
    #[serde(default)]
    pub parity: Parity,
    #[serde(default)]
    pub faults: Faults,
    #[serde(default)]
    pub stripe: Stripe,
    #[serde(default)]
    pub zones: Zones,
    #[serde(default)]
    pub power: Power,
    /// Namespaces in order; without any the drive is one device.
    #[serde(default, rename = "namespace", skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("allowed" = "tables, [[namespace]] each"))]
    pub namespaces: Vec<Namespace>,
}

impl Drive {
    /// The drive of textbooks, as a base that examples, tests and benchmarks modify. No run uses it by default. One die
    /// of 64 blocks of 16 pages of one mapping unit each, a quarter of it spare; blocks are erase units, host and
    /// garbage collection share an open one, and one more is reserved. It has no optional features.
    pub fn textbook() -> Self {
        Self {
            name: "textbook".into(),
            nand: Nand {
                cell: Cell::Tlc,
                channels: 1,
                dies_per_channel: 1,
                planes_per_die: 1,
                blocks_per_plane: 64,
                pages_per_block: 16,
                page_bytes: 4096,
                read_us: 60.0.into(),
                copy_read_us: 0.0,
                copy_pages_together: 0,
                program_us: 700.0.into(),
                erase_us: 5000.0,
                erases_at_once: 1,
                erase_by_plane: false,
                channel_mb_s: 800.0,
                endurance_cycles: 3000,
                pages_per_program: 1,
                suspend: false,
                program_suspend_us: 0.0,
                erase_suspend_us: 0.0,
                suspend_spread_us: 0.0,
                resume_us: 0.0,
                suspend_repeats_us: 0.0,
                suspends_per_operation_max: 0,
                background_us: 0.0,
                background_per_second: 0.0,
                cache_program: RemovedSwitch,
                cache_read: RemovedSwitch,
            },
            ftl: Ftl {
                user_bytes: 768 * 4096,
                mapping_unit_bytes: 4096,
                erase_unit: EraseUnitKind::Block,
                victim: PolicyChoice::named("greedy"),
                placement: PolicyChoice::named("single"),
                wear_leveling: PolicyChoice::named("none"),
                reserve_erase_units: 1,
                spare_area: SpareArea::Dynamic,
                reserved_bytes: 0,
                gc_throttling: proportional_throttling(),
                die_choice: dies_in_turn(),
            },
            parity: Parity::default(),
            faults: Faults::default(),
            write_buffer: WriteBuffer::default(),
            controller: Controller::default(),
            host_link: HostLink::default(),
            background: BackgroundOperations::default(),
            map_cache: MapCache::default(),
            read_ahead: ReadAhead::default(),
            read_retries: ReadRetries::default(),
            data_reduction: DataReduction::default(),
            slc_cache: SlcCache::default(),
            stripe: Stripe::default(),
            zones: Zones::default(),
            power: Power::default(),
            namespaces: Vec::new(),
        }
    }
}
