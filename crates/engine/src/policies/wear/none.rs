//! Takes free erase units in the order in which they were erased.
//!
//! Costs nothing; cold data stays in its erase units for ever, and the others take all wear.

use super::WearPolicy;
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct NoLeveling;

impl Named for NoLeveling {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "free erase units in the order in which they became free";
    const SOURCE: &'static str = "-";
    type Config = Config;
}

impl WearPolicy for NoLeveling {
    fn new(_config: Config) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    fn prefers_least_worn(&self) -> bool {
        false
    }
}
