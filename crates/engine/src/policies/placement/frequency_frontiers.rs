//! Several open erase units, by learned update frequency.
//!
//! Groups data of one temperature, so that an erase unit becomes stale as a whole or hardly at all. With greedy garbage
//! collection this alone has nearly no effect, since greedy collects all classes at the same live count: it needs a
//! victim policy with an age term, or a spare area for each class (`class-spare`).

use super::frequency::Classes;
use super::{PlacementPolicy, Resident, STREAMS_MAX};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::units::{Lpn, StreamId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of open erase units, from 2 to 16.
    pub frontiers: u8,
    /// The share of the host's writes assigned to a wrong class, 0 to 1.
    pub error_share: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { frontiers: 4, error_share: 0.0 }
    }
}

/// See the file's description.
pub struct FrequencyFrontiers {
    classes: Classes,
}

impl Named for FrequencyFrontiers {
    const NAME: &'static str = "frequency-frontiers";
    const SUMMARY: &'static str = "an open erase unit for each class of update frequency, learned while writing";
    const SOURCE: &'static str = "Chiang, Lee and Chang 1999, dynamic data clustering; Stoica and Ailamaki 2013";
    type Config = Config;
}

impl FrequencyFrontiers {
    pub(super) fn new(config: Config, user_units: u32) -> Result<Self, SpecificationError> {
        let classes = Classes::new("ftl.placement.frontiers", config.frontiers, user_units, STREAMS_MAX)?;
        Ok(Self { classes: classes.with_errors("ftl.placement.error_share", config.error_share)? })
    }
}

impl PlacementPolicy for FrequencyFrontiers {
    fn looks_at_old(&self) -> bool {
        true
    }

    fn streams(&self) -> u8 {
        self.classes.count()
    }

    fn stream_name(&self, stream: StreamId) -> String {
        self.classes.name(stream.0)
    }

    #[inline(always)]
    fn host_stream(&self, lpn: Lpn, _identifier: u8, overwritten: Option<Resident>) -> StreamId {
        StreamId(self.classes.of_write(lpn, overwritten))
    }

    fn gc_stream(&self, victim: Resident) -> StreamId {
        StreamId(self.classes.after_survival(victim.stream.0, victim))
    }
}
