//! One open erase unit for everything.
//!
//! The drive of textbooks. Garbage collection writes to the host's open erase unit, so cold data is mixed with hot data
//! again and again. Costs nothing.

use super::{PlacementPolicy, Resident};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::units::StreamId;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

/// See the file's description.
pub struct Single;

impl Named for Single {
    const NAME: &'static str = "single";
    const SUMMARY: &'static str = "host and garbage collection share one open erase unit";
    const SOURCE: &'static str = "Hu, Eleftheriou, Haas, Iliadis and Pletka 2009";
    type Config = Config;
}

impl Single {
    #[allow(clippy::unnecessary_wraps, reason = "as the other policies of the list")]
    pub(super) fn new(_config: Config, _user_units: u32) -> Result<Self, SpecificationError> {
        Ok(Self)
    }
}

impl PlacementPolicy for Single {
    fn streams(&self) -> u8 {
        1
    }

    fn only_host_stream(&self) -> Option<StreamId> {
        Some(StreamId(0))
    }

    fn stream_name(&self, _stream: StreamId) -> String {
        "host and garbage collection".into()
    }

    fn gc_stream(&self, _victim: Resident) -> StreamId {
        StreamId(0)
    }
}
