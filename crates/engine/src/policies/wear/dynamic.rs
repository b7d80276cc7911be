//! Opens the free erase unit with the fewest erases.
//!
//! Levels the erase units in circulation without additional programs; data that is never overwritten stays in its erase
//! units.

use super::WearPolicy;
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct Dynamic;

impl Named for Dynamic {
    const NAME: &'static str = "dynamic";
    const SUMMARY: &'static str = "the free erase unit with the fewest erases is opened next";
    const SOURCE: &'static str = "Gal and Toledo 2005";
    type Config = Config;
}

impl WearPolicy for Dynamic {
    fn new(_config: Config) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    fn prefers_least_worn(&self) -> bool {
        true
    }
}
