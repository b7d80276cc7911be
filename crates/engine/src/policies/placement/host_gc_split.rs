//! One open erase unit for the host, one for data moved by garbage collection.
//!
//! Data that survived a garbage collection is colder than newly written data, so this separates the two at no cost.
//! Under uniform writes it has no benefit, and holds one more half-empty erase unit.

use super::{PlacementPolicy, Resident};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::units::StreamId;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

/// See the file's description.
pub struct HostGcSplit;

impl Named for HostGcSplit {
    const NAME: &'static str = "host-gc-split";
    const SUMMARY: &'static str = "one open erase unit for the host, one for what garbage collection moves";
    const SOURCE: &'static str = "Van Houdt 2014, double write mode";
    type Config = Config;
}

impl HostGcSplit {
    #[allow(clippy::unnecessary_wraps, reason = "as the other policies of the list")]
    pub(super) fn new(_config: Config, _user_units: u32) -> Result<Self, SpecificationError> {
        Ok(Self)
    }
}

impl PlacementPolicy for HostGcSplit {
    fn streams(&self) -> u8 {
        2
    }

    fn only_host_stream(&self) -> Option<StreamId> {
        Some(StreamId(0))
    }

    fn stream_name(&self, stream: StreamId) -> String {
        if stream.0 == 0 { "host".into() } else { "gc".into() }
    }

    fn gc_stream(&self, _victim: Resident) -> StreamId {
        StreamId(1)
    }
}
