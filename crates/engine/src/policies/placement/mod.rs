//! Which stream, and so which open erase unit, a unit is written to; and whose spare area is cleaned.
//!
//! The engine calls `host_stream` for every unit that the host writes, so a policy that needs no look at the unit says
//! so in constants and costs nothing. `gc_stream` is called once a victim, `pool_to_collect` once a garbage collection.
//! Every stream that is returned must be below `streams()`.

mod class_spare;
mod frequency;
mod frequency_frontiers;
mod host_gc_split;
mod host_streams;
mod single;

pub use class_spare::ClassSpare;
pub use frequency_frontiers::FrequencyFrontiers;
pub use host_gc_split::HostGcSplit;
pub use host_streams::{HostStreams, honoured_identifiers};
pub use single::Single;

use super::registry::{self, Description};
use super::victim::Pool;
use crate::error::SpecificationError;
use crate::specification::drive::PolicyChoice;
use crate::units::{Lpn, StreamId};
use serde::{Deserialize, Serialize};

/// The most streams that a policy may use.
pub const STREAMS_MAX: usize = 16;

/// What is known of data that is overwritten or moved: the stream that holds it, and for how long on average the data
/// around it has been there, in host units written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    pub stream: StreamId,
    pub age: u64,
}

/// A stream's share of the drive, kept only for policies that are `POOLED`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolState {
    pub erase_units: u32,
    pub live_units: u64,
    /// Host units written to it, fading with time.
    pub recent_units: u64,
}

impl PoolState {
    /// The state of a drive with `times` as many units. The live units are left at 0: they are counted from the map.
    pub fn times(&self, times: u64) -> Self {
        Self { live_units: 0, recent_units: self.recent_units * times, ..*self }
    }
}

/// What a pooled policy may look at.
pub struct PoolView<'a> {
    pub pools: &'a [PoolState],
    pub data_units_per_erase_unit: u32,
}

/// The contract of a placement policy.
pub trait PlacementPolicy: registry::Named + Sized {
    /// Whether `host_stream` wants to know what the unit overwrites.
    const LOOKS_AT_OLD: bool = false;
    /// Whether the engine keeps a `PoolState` for each stream and asks `pool_to_collect`.
    const POOLED: bool = false;

    fn new(config: Self::Config, user_units: u32) -> Result<Self, SpecificationError>;
    fn streams(&self) -> u8;
    /// What someone who watches the drive reads of a stream.
    fn stream_name(&self, stream: StreamId) -> String;
    /// `identifier` is the placement identifier that the host gives with the write.
    fn host_stream(&self, lpn: Lpn, identifier: u8, overwritten: Option<Resident>) -> StreamId;
    fn gc_stream(&self, victim: Resident) -> StreamId;
    fn pool_to_collect(&self, _view: &PoolView<'_>) -> Pool {
        Pool::All
    }
}

/// Does something with the placement policy of a drive as a type: the engine is compiled once for each.
pub trait WithPlacement {
    type Output;
    fn with<P: PlacementPolicy + Send + 'static>(self, policy: P) -> Self::Output;
}

/// How many streams the chosen policy writes, each to an open erase unit of its own. Errors name the key of the drive
/// file.
pub fn streams(choice: &PolicyChoice) -> Result<u8, SpecificationError> {
    struct Streams;

    impl WithPlacement for Streams {
        type Output = u8;

        fn with<P: PlacementPolicy + Send + 'static>(self, policy: P) -> u8 {
            policy.streams()
        }
    }

    // Their number does not depend on the size of the drive.
    with_placement(choice, u32::MAX, Streams)
}

macro_rules! placement_policies {
    ($($policy:ident),+ $(,)?) => {
        pub fn with_placement<W: WithPlacement>(
            choice: &PolicyChoice,
            user_units: u32,
            then: W,
        ) -> Result<W::Output, SpecificationError> {
            use registry::Named;
            $(if choice.name == $policy::NAME {
                let config = registry::config::<$policy>("placement", choice)?;
                return Ok(then.with($policy::new(config, user_units)?));
            })+
            Err(registry::unknown("placement", choice, &descriptions()))
        }

        pub fn descriptions() -> Vec<Description> {
            vec![$(registry::describe::<$policy>("placement")),+]
        }
    };
}

placement_policies! {
    Single,
    HostGcSplit,
    HostStreams,
    FrequencyFrontiers,
    ClassSpare,
}
