//! Collects a whole victim as soon as one is needed, in the foreground.
//!
//! Between two victims the host has the drive to itself; the write that needs the next one waits for all of its copies.
//! So the median is low and the tail is long: the stalls of early drives, which throttling avoids.

use super::{GcThrottlingPolicy, Pace, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct AtOnce;

impl Named for AtOnce {
    const NAME: &'static str = "at-once";
    const SUMMARY: &'static str = "a whole victim is emptied as soon as one is needed, and the host waits";
    const SOURCE: &'static str = "-";
    type Config = Config;
}

impl GcThrottlingPolicy for AtOnce {
    fn new(_config: Config) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    #[inline]
    fn pace(&self, _view: &View) -> Pace {
        Pace::Whole
    }
}
