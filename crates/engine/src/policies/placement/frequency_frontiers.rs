//! Several open erase units, by how often the data is updated, learned while writing.
//!
//! Puts data of one temperature together, so that erase units go stale all at once or hardly at all. Under plain greedy
//! garbage collection this alone gains nearly nothing, since greedy holds all classes to the same live count: it wants
//! a victim policy with an age term, or spare area of its own for each class (`class-spare`).

use super::frequency::Classes;
use super::{PlacementPolicy, Resident, STREAMS_MAX};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::units::{Lpn, StreamId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How many, from 2 to 16.
    pub frontiers: u8,
}

impl Default for Config {
    fn default() -> Self {
        Self { frontiers: 4 }
    }
}

pub struct FrequencyFrontiers {
    classes: Classes,
}

impl Named for FrequencyFrontiers {
    const NAME: &'static str = "frequency-frontiers";
    const SUMMARY: &'static str = "an open erase unit for each class of update frequency, learned while writing";
    const SOURCE: &'static str = "Chiang, Lee and Chang 1999, dynamic data clustering; Stoica and Ailamaki 2013";
    type Config = Config;
}

impl PlacementPolicy for FrequencyFrontiers {
    const LOOKS_AT_OLD: bool = true;

    fn new(config: Config, user_units: u32) -> Result<Self, SpecificationError> {
        let classes = Classes::new("ftl.placement.frontiers", config.frontiers, user_units, STREAMS_MAX)?;
        Ok(Self { classes })
    }

    fn streams(&self) -> u8 {
        self.classes.count()
    }

    fn stream_name(&self, stream: StreamId) -> String {
        self.classes.name(stream.0)
    }

    #[inline(always)]
    fn host_stream(&self, _lpn: Lpn, _identifier: u8, overwritten: Option<Resident>) -> StreamId {
        match overwritten {
            Some(old) => StreamId(self.classes.after_update(old.stream.0, old.age)),
            None => StreamId(self.classes.coldest()),
        }
    }

    fn gc_stream(&self, victim: Resident) -> StreamId {
        StreamId(self.classes.after_survival(victim.stream.0, victim))
    }
}
