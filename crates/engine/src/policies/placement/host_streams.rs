//! An open erase unit for each placement identifier that the host gives with its writes, as in NVMe's flexible data
//! placement.
//!
//! Where the host knows which data is invalidated together (hot and cold jobs, a log, tables of a database), erase
//! units become stale as a whole and garbage collection moves next to nothing, even with a greedy victim policy. Writes
//! without an identifier go to the first. Data moved by garbage collection goes to one erase unit for all identifiers
//! (initially isolated, as on the drives known so far), which needs one more open erase unit, or remains with its
//! identifier (persistently isolated).
//!
//! With reclaim groups each handle has an open erase unit in every group, and garbage collection stays inside a group;
//! `ftl/reclaim_groups.rs` says what a group is. Placement identifiers then count as the controller lists them: all
//! groups of the first handle, then all of the second.
//!
//! It costs space: each identifier in use holds an open erase unit, half empty on average, which garbage collection
//! lacks. Where the identifiers do not separate data by lifetime, write amplification is therefore higher than without
//! them.

use super::{PlacementPolicy, Resident, STREAMS_MAX};
use crate::error::SpecificationError;
use crate::policies::registry::{self, Named};
use crate::specification::drive::PolicyChoice;
use crate::units::{Lpn, StreamId};
use serde::{Deserialize, Serialize};

/// The most streams of a drive with reclaim groups; they are numbered in a byte.
const GROUPED_STREAMS_MAX: usize = 128;

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Placement identifiers, or handles with reclaim groups, 1 to 15; they count from 0.
    pub identifiers: u8,
    /// Whether data moved by garbage collection remains with its identifier.
    pub persistently_isolated: bool,
    /// Reclaim groups, sets of dies with equal numbers of them; 1: the whole drive.
    pub reclaim_groups: u8,
    /// Erase units of a reclaim unit.
    pub reclaim_unit_erase_units: u16,
}

/// What a placement of the host's makes of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handles {
    /// Reclaim unit handles.
    pub handles: u8,
    /// Reclaim groups.
    pub reclaim_groups: u8,
    /// Whether data moved by garbage collection remains with its handle.
    pub persistently_isolated: bool,
    /// Erase units of a reclaim unit.
    pub reclaim_unit_erase_units: u16,
}

impl Handles {
    /// Placement identifiers: one for each handle in each group.
    pub fn identifiers(self) -> u8 {
        self.handles.saturating_mul(self.reclaim_groups)
    }

    /// Checks the reclaim unit of a drive with this many erase units. The error names the key.
    pub fn check_reclaim_unit(self, erase_units: u32) -> Result<(), SpecificationError> {
        let most = erase_units / u32::from(self.reclaim_groups.max(1));
        let given = self.reclaim_unit_erase_units;
        if (1..=most).contains(&u32::from(given)) {
            return Ok(());
        }
        let allowed = format!("1 to {most}, the erase units of a reclaim group");
        Err(SpecificationError::new("ftl.placement.reclaim_unit_erase_units", given, allowed))
    }

    /// Streams of garbage collection in each group: one, or one for each handle; none if it uses those of the handles.
    fn gc_streams_each(self) -> u8 {
        match (self.persistently_isolated, self.reclaim_groups) {
            (false, _) => 1,
            (true, 1) => 0,
            // A handle's own erase unit may be in another group, if this one is full.
            (true, _) => self.handles,
        }
    }

    /// Streams of each group.
    pub fn streams_each(self) -> u8 {
        self.handles + self.gc_streams_each()
    }

    /// Erase units that each of several groups needs besides its share of the data and the reserve: the open ones, those
    /// that garbage collection may open, and two so that a victim always has stale units.
    pub fn held_back_erase_units(self) -> u32 {
        u32::from(self.streams_each()) + u32::from(self.gc_streams_each()) + 2
    }
}

impl Config {
    fn handles(&self) -> Handles {
        let &Self { identifiers, persistently_isolated, reclaim_groups, reclaim_unit_erase_units } = self;
        Handles { handles: identifiers, reclaim_groups, persistently_isolated, reclaim_unit_erase_units }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self { identifiers: 8, persistently_isolated: false, reclaim_groups: 1, reclaim_unit_erase_units: 1 }
    }
}

/// See the file's description. The stream of a handle in a group has the number of their placement identifier; those of
/// garbage collection follow, one a group.
pub struct HostStreams {
    handles: Handles,
}

impl Named for HostStreams {
    const NAME: &'static str = "host-streams";
    const SUMMARY: &'static str = "an open erase unit for each placement identifier that the host gives (fdp)";
    const SOURCE: &'static str = "NVM Express TP4146, flexible data placement; Kang, Hyun, Maeng and Cho 2014";
    type Config = Config;
}

impl HostStreams {
    pub(super) fn new(config: Config, _user_units: u32) -> Result<Self, SpecificationError> {
        if config.identifiers == 0 || usize::from(config.identifiers) >= STREAMS_MAX {
            let allowed = format!("a whole number from 1 to {}", STREAMS_MAX - 1);
            return Err(SpecificationError::new("ftl.placement.identifiers", config.identifiers, allowed));
        }
        let handles = config.handles();
        let (groups, streams_each) = (usize::from(handles.reclaim_groups), usize::from(handles.streams_each()));
        if groups == 0 || groups * streams_each > GROUPED_STREAMS_MAX {
            let allowed =
                format!("1 to {} with {streams_each} open erase units each", GROUPED_STREAMS_MAX / streams_each);
            return Err(SpecificationError::new("ftl.placement.reclaim_groups", groups, allowed));
        }
        Ok(Self { handles })
    }
}

impl PlacementPolicy for HostStreams {
    fn streams(&self) -> u8 {
        self.handles.streams_each().saturating_mul(self.handles.reclaim_groups)
    }

    fn handles(&self) -> Option<Handles> {
        Some(self.handles)
    }

    fn stream_name(&self, stream: StreamId) -> String {
        let Handles { handles, reclaim_groups, .. } = self.handles;
        let (handle, group) = (stream.0 / reclaim_groups, stream.0 % reclaim_groups);
        match (handle.checked_sub(handles), reclaim_groups) {
            (None, 1) => format!("identifier {handle}"),
            (None, _) => format!("handle {handle}, group {group}"),
            (Some(_), 1) => "gc".into(),
            (Some(of), _) if self.handles.persistently_isolated => format!("gc of handle {of}, group {group}"),
            (Some(_), _) => format!("gc, group {group}"),
        }
    }

    #[inline(always)]
    fn host_stream(&self, _lpn: Lpn, identifier: u8, _overwritten: Option<Resident>) -> StreamId {
        debug_assert!(identifier < self.handles.identifiers(), "checked before the run");
        StreamId(identifier)
    }

    fn gc_stream(&self, victim: Resident) -> StreamId {
        let Handles { reclaim_groups, persistently_isolated, .. } = self.handles;
        let (stream, first) = (victim.stream.0, self.handles.identifiers());
        match (persistently_isolated, reclaim_groups) {
            (true, 1) => victim.stream,
            (true, _) if stream >= first => victim.stream,
            (true, _) => StreamId(first + stream),
            (false, _) => StreamId(first + stream % reclaim_groups),
        }
    }
}

/// The handles of a drive with this placement; None if it ignores placement identifiers.
pub fn handles_of(choice: &PolicyChoice) -> Option<Handles> {
    let config = || registry::config::<HostStreams>("placement", choice).ok();
    (choice.name == HostStreams::NAME).then(config).flatten().map(|config| config.handles())
}

/// The number of reclaim groups of a drive with this placement.
pub fn reclaim_groups_of(choice: &PolicyChoice) -> u32 {
    handles_of(choice).map_or(1, |handles| u32::from(handles.reclaim_groups).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(identifiers: u8, persistently_isolated: bool, reclaim_groups: u8) -> Config {
        Config { identifiers, persistently_isolated, reclaim_groups, reclaim_unit_erase_units: 1 }
    }

    #[test]
    fn a_handle_has_a_stream_in_each_group_and_gc_stays_in_the_group() {
        let drive = HostStreams::new(config(3, false, 4), 100).unwrap();
        assert_eq!(drive.streams(), 16);
        assert_eq!(drive.stream_name(StreamId(6)), "handle 1, group 2");
        assert_eq!(drive.gc_stream(Resident { stream: StreamId(6), age: 0 }), StreamId(14));
        assert_eq!(drive.gc_stream(Resident { stream: StreamId(14), age: 0 }), StreamId(14));
        assert_eq!(drive.stream_name(StreamId(14)), "gc, group 2");
        let isolated = HostStreams::new(config(3, true, 4), 100).unwrap();
        assert_eq!(isolated.gc_stream(Resident { stream: StreamId(6), age: 0 }), StreamId(18));
        assert_eq!(isolated.gc_stream(Resident { stream: StreamId(18), age: 0 }), StreamId(18));
        assert_eq!((isolated.streams(), isolated.stream_name(StreamId(18))), (24, "gc of handle 1, group 2".into()));
        for (handles, groups) in [(3, 0), (3, 33), (15, 9)] {
            assert!(
                HostStreams::new(config(handles, false, groups), 100).is_err(),
                "{handles} handles, {groups} groups"
            );
        }
    }

    #[test]
    fn writes_go_where_the_host_says_and_gc_where_the_policy_says() {
        let isolated = HostStreams::new(config(3, true, 1), 100).unwrap();
        assert_eq!(isolated.host_stream(Lpn(7), 2, None), StreamId(2));
        let victim = Resident { stream: StreamId(1), age: 5 };
        assert_eq!((isolated.gc_stream(victim), isolated.streams()), (StreamId(1), 3));
        let mixed = HostStreams::new(config(3, false, 1), 100).unwrap();
        assert_eq!((mixed.gc_stream(victim), mixed.streams()), (StreamId(3), 4));
        assert!(HostStreams::new(config(16, true, 1), 100).is_err());
    }
}
