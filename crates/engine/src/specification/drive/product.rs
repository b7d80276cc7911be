//! The parts of a drive file about the product: `[identity]`, `[market]`, `[sources]`. Runs do not use them.

use super::Drive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A drive file: TOML, with the source of every value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the comments of the fields' types describe the tables")]
pub struct DriveFile {
    #[serde(flatten)]
    pub drive: Drive,
    /// the kind of drive, in one sentence
    #[schemars(length(min = 1), example = &"A consumer drive of 480 GB")]
    pub description: String,
    #[serde(default)]
    pub identity: Identity,
    #[serde(default)]
    pub market: Market,
    /// the source of each value, by `"table.key"`, or by `"table.*"` for all others of a table
    #[serde(default)]
    pub sources: BTreeMap<String, Source>,
}

/// The product, for a real drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Identity {
    /// maker
    #[schemars(length(min = 1), example = &"Samsung", extend("acts" = "in lists"))]
    pub maker: Option<String>,
    /// model
    #[schemars(length(min = 1), example = &"860 EVO", extend("acts" = "in lists"))]
    pub model: Option<String>,
    /// year of its description
    #[schemars(range(min = 1980, max = 2100), example = 2018, extend("acts" = "in lists"))]
    pub year: Option<u32>,
    /// controller
    #[schemars(length(min = 1), example = &"MJX", extend("acts" = "in lists"))]
    pub controller: Option<String>,
    /// host interface
    #[schemars(length(min = 1), example = &"SATA 6 Gb/s", extend("acts" = "in lists"))]
    pub interface: Option<String>,
}

/// Rating and price. The date of the price belongs in its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Market {
    /// capacity on the label
    #[schemars(
        range(min = 1),
        example = 480_000_000_000_u64,
        extend("unit" = "B", "acts" = "in lists and prices")
    )]
    pub sold_bytes: Option<u64>,
    /// rated endurance, 10^12 bytes of host writes
    #[schemars(example = 300.0, extend("unit" = "TB", "exclusiveMinimum" = 0.0, "acts" = "in lifetimes"))]
    pub rated_tbw: Option<f64>,
    /// rated drive writes per day
    #[schemars(example = 1.0, extend("unit" = "1/day", "exclusiveMinimum" = 0.0, "acts" = "in lifetimes"))]
    pub rated_dwpd: Option<f64>,
    /// years for which the rating holds
    #[schemars(example = 5.0, extend("unit" = "years", "exclusiveMinimum" = 0.0, "acts" = "in lifetimes"))]
    pub rated_years: Option<f64>,
    /// price
    #[schemars(example = 49.9, extend("unit" = "USD", "exclusiveMinimum" = 0.0, "acts" = "in prices"))]
    pub price_usd: Option<f64>,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// how reliable the value is
    #[schemars(example = &"datasheet")]
    pub kind: SourceKind,
    /// the document, measurement or reason
    #[schemars(length(min = 1), example = &"the maker's datasheet, page 3")]
    pub source: String,
}

/// How a value was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// Published by the maker.
    Datasheet,
    /// Measured on the drive.
    Measured,
    /// Chosen so that the model reproduces measurements.
    Fitted,
    /// Assumed by the author of the file, from what is usual.
    Assumed,
}
