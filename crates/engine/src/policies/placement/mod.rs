//! The stream, and so the open erase unit, to which a unit is written; and the stream whose spare area is collected.
//!
//! The engine calls `host_stream` for every unit that the host writes, so a policy that does not depend on the unit
//! declares that in constants and costs nothing. `gc_stream` is called once a victim, `pool_to_collect` once a garbage
//! collection. Every returned stream must be below `streams()`.

mod class_spare;
mod frequency;
mod frequency_frontiers;
mod host_gc_split;
mod host_streams;
mod single;

pub use class_spare::ClassSpare;
pub use frequency_frontiers::FrequencyFrontiers;
pub use host_gc_split::HostGcSplit;
pub use host_streams::{Handles, HostStreams, handles_of, reclaim_groups_of};
pub use single::Single;

use super::registry::{self, Description};
use super::victim::Pool;
use crate::error::SpecificationError;
use crate::specification::drive::PolicyChoice;
use crate::units::{Lpn, StreamId};
use serde::{Deserialize, Serialize};

/// The most streams that a policy may use.
pub const STREAMS_MAX: usize = 16;

/// Facts about data that is overwritten or moved: its stream, and how long on average the data in its erase unit has
/// been there, in host units written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// The stream of its erase unit.
    pub stream: StreamId,
    /// Its mean age, in host units written.
    pub age: u64,
}

/// A stream's share of the drive, only for policies that are `POOLED`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolState {
    /// Erase units of the stream.
    pub erase_units: u32,
    /// Live units of the stream.
    pub live_units: u64,
    /// Host units written to it, weighted by recency.
    pub recent_units: u64,
}

impl PoolState {
    /// The state of a drive with `times` as many units. The live units remain 0: they are counted from the map.
    pub fn times(&self, times: u64) -> Self {
        Self { live_units: 0, recent_units: self.recent_units * times, ..*self }
    }
}

/// What a pooled policy decides by.
pub struct PoolView<'a> {
    /// By stream.
    pub pools: &'a [PoolState],
    /// Data slots of an erase unit.
    pub data_units_per_erase_unit: u32,
}

/// The interface of a placement policy.
pub trait PlacementPolicy: registry::Named + Sized {
    /// Whether `host_stream` needs the overwritten data.
    const LOOKS_AT_OLD: bool = false;
    /// Whether the engine maintains a `PoolState` for each stream and calls `pool_to_collect`.
    const POOLED: bool = false;
    /// Whether the host's placement identifiers name handles, of which the engine keeps a log.
    const HAS_HANDLES: bool = false;

    /// Errors name the key of the drive file.
    fn new(config: Self::Config, user_units: u32) -> Result<Self, SpecificationError>;
    /// The number of streams, at most `STREAMS_MAX` without reclaim groups.
    fn streams(&self) -> u8;
    /// The handles; None if it ignores placement identifiers.
    fn handles(&self) -> Option<Handles> {
        None
    }
    /// The name of a stream, for people who watch the drive.
    fn stream_name(&self, stream: StreamId) -> String;
    /// `identifier` is the placement identifier that the host gives with the write.
    fn host_stream(&self, lpn: Lpn, identifier: u8, overwritten: Option<Resident>) -> StreamId;
    /// The stream for data moved out of a victim.
    fn gc_stream(&self, victim: Resident) -> StreamId;
    /// The pool from which garbage is collected next.
    fn pool_to_collect(&self, _view: &PoolView<'_>) -> Pool {
        Pool::All
    }
}

/// An operation that is generic over the placement policy: the engine is compiled once for each.
pub trait WithPlacement {
    /// The result of the operation.
    type Output;
    /// The operation.
    fn with<P: PlacementPolicy + Send + 'static>(self, policy: P) -> Self::Output;
}

/// The number of streams of the chosen policy, each with its own open erase unit. Errors name the key of the drive
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
        /// Calls the operation with the chosen policy.
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

        /// All placement policies, in the order of the list.
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
