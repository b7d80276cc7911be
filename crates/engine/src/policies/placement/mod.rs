//! The stream, and so the open erase unit, to which a unit is written; and the stream whose spare area is collected.
//!
//! The engine calls `host_stream` for every unit that the host writes, so it is a match of an enum, and not even that where
//! all go to one stream. `gc_stream` is called once a victim, `pool_to_collect` once a garbage
//! collection. Every returned stream must be below `streams()`.

mod class_spare;
mod frequency;
mod frequency_frontiers;
mod host_gc_split;
mod host_streams;
mod single;
mod zone_slots;

pub use class_spare::ClassSpare;
pub use frequency_frontiers::FrequencyFrontiers;
pub use host_gc_split::HostGcSplit;
pub use host_streams::HostStreams;
pub use single::Single;
pub use zone_slots::ZoneSlots;

use super::registry::{self, Description};
use super::victim::Pool;
use crate::error::SpecificationError;
use crate::specification::Drive;
use crate::specification::drive::{Handles, PolicyChoice, zones_of};
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

/// A stream's share of the drive, only for policies that go by it.
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

/// The interface of a placement policy. One of the list also has a name (`Named`) and a function `new`, whose errors
/// name the key of the drive file.
trait PlacementPolicy {
    /// Whether `host_stream` needs the overwritten data.
    fn looks_at_old(&self) -> bool {
        false
    }
    /// The stream of all writes, if it does not depend on them.
    fn only_host_stream(&self) -> Option<StreamId> {
        None
    }
    /// Whether the engine maintains a `PoolState` for each stream and calls `pool_to_collect`.
    fn is_pooled(&self) -> bool {
        false
    }
    /// The number of streams, at most `STREAMS_MAX` without reclaim groups.
    fn streams(&self) -> u8;
    /// The handles that the host's placement identifiers name, of which the engine keeps a log; None if it ignores them.
    fn handles(&self) -> Option<Handles> {
        None
    }
    /// The name of a stream, for people who watch the drive.
    fn stream_name(&self, stream: StreamId) -> String;
    /// `identifier` is the placement identifier that the host gives with the write. Not asked where all writes go to one
    /// stream.
    fn host_stream(&self, _lpn: Lpn, _identifier: u8, _overwritten: Option<Resident>) -> StreamId {
        unreachable!("all writes go to one stream")
    }
    /// The stream for data moved out of a victim.
    fn gc_stream(&self, victim: Resident) -> StreamId;
    /// The pool from which garbage is collected next.
    fn pool_to_collect(&self, _view: &PoolView<'_>) -> Pool {
        Pool::All
    }
}

/// The number of streams of the chosen policy, each with its own open erase unit. Errors name the key of the drive
/// file.
pub fn streams(choice: &PolicyChoice) -> Result<u8, SpecificationError> {
    // Their number does not depend on the size of the drive.
    Ok(Placement::from(Policy::new(choice, u32::MAX)?).streams())
}

macro_rules! placement_policies {
    ($d:tt $($policy:ident),+ $(,)?) => {
        /// One of the list, or that of a drive with zones.
        enum Policy {
            $($policy($policy),)+
            Zones(ZoneSlots),
        }

        impl Policy {
            /// The chosen policy. Errors name the key of the drive file.
            fn new(choice: &PolicyChoice, user_units: u32) -> Result<Self, SpecificationError> {
                use registry::Named;
                $(if choice.name == $policy::NAME {
                    let config = registry::config::<$policy>("placement", choice)?;
                    return Ok(Self::$policy($policy::new(config, user_units)?));
                })+
                Err(registry::unknown("placement", choice, &descriptions()))
            }
        }

        /// All placement policies, in the order of the list.
        pub fn descriptions() -> Vec<Description> {
            vec![$(registry::describe::<$policy>("placement")),+]
        }

        /// Calls a method of whichever policy it is.
        macro_rules! of_the_policy {
            ($self:ident . $method:ident ( $d($argument:expr),* )) => {
                match &$self.policy {
                    $(Policy::$policy(policy) => policy.$method($d($argument),*),)+
                    Policy::Zones(policy) => policy.$method($d($argument),*),
                }
            };
        }
    };
}

placement_policies! { $
    Single,
    HostGcSplit,
    HostStreams,
    FrequencyFrontiers,
    ClassSpare,
}

/// The placement policy of a drive.
pub struct Placement {
    policy: Policy,
    only_host_stream: Option<StreamId>,
}

impl From<Policy> for Placement {
    fn from(policy: Policy) -> Self {
        let placement = Self { policy, only_host_stream: None };
        let only_host_stream = of_the_policy!(placement.only_host_stream());
        Self { only_host_stream, ..placement }
    }
}

impl Placement {
    /// The policy of a drive. Errors name the key of the drive file.
    pub fn of(drive: &Drive) -> Result<Self, SpecificationError> {
        if let Some(zones) = zones_of(drive)? {
            return Ok(Policy::Zones(ZoneSlots::of(zones.active_max as u8)).into());
        }
        // A capacity that is not a multiple of units is refused by the drive itself; the policy needs only the order of
        // magnitude.
        let user_units = drive.ftl.user_bytes / u64::from(drive.ftl.mapping_unit_bytes.max(1));
        Ok(Policy::new(&drive.ftl.placement, user_units.min(u64::from(u32::MAX)) as u32)?.into())
    }

    /// See `PlacementPolicy::host_stream`. The overwritten data is looked up only for a policy that needs it.
    #[inline(always)]
    pub fn host_stream(&self, lpn: Lpn, identifier: u8, overwritten: impl FnOnce() -> Option<Resident>) -> StreamId {
        if let Some(stream) = self.only_host_stream {
            return stream;
        }
        let overwritten = if of_the_policy!(self.looks_at_old()) { overwritten() } else { None };
        of_the_policy!(self.host_stream(lpn, identifier, overwritten))
    }
}

/// See `PlacementPolicy`.
#[allow(missing_docs, reason = "the trait has the descriptions")]
impl Placement {
    pub fn is_pooled(&self) -> bool {
        of_the_policy!(self.is_pooled())
    }

    #[inline(always)]
    pub fn streams(&self) -> u8 {
        of_the_policy!(self.streams())
    }

    pub fn handles(&self) -> Option<Handles> {
        of_the_policy!(self.handles())
    }

    pub fn stream_name(&self, stream: StreamId) -> String {
        of_the_policy!(self.stream_name(stream))
    }

    pub fn gc_stream(&self, victim: Resident) -> StreamId {
        of_the_policy!(self.gc_stream(victim))
    }

    pub fn pool_to_collect(&self, view: &PoolView<'_>) -> Pool {
        of_the_policy!(self.pool_to_collect(view))
    }
}
