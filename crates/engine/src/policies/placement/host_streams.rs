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
use crate::policies::registry::Named;
use crate::specification::drive::{HOST_STREAMS, Handles};
use crate::units::{Lpn, StreamId};

/// The most streams of a drive with reclaim groups; they are numbered in a byte.
const GROUPED_STREAMS_MAX: usize = 128;

/// See the file's description. The stream of a handle in a group has the number of their placement identifier; those of
/// garbage collection follow, one a group.
pub struct HostStreams {
    handles: Handles,
}

impl Named for HostStreams {
    const NAME: &'static str = HOST_STREAMS;
    const SUMMARY: &'static str = "an open erase unit for each placement identifier that the host gives (fdp)";
    const SOURCE: &'static str = "NVM Express TP4146, flexible data placement; Kang, Hyun, Maeng and Cho 2014";
    type Config = Handles;
}

impl HostStreams {
    pub(super) fn new(handles: Handles, _user_units: u32) -> Result<Self, SpecificationError> {
        if handles.handles == 0 || usize::from(handles.handles) >= STREAMS_MAX {
            let allowed = format!("a whole number from 1 to {}", STREAMS_MAX - 1);
            return Err(SpecificationError::new("ftl.placement.identifiers", handles.handles, allowed));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn config(handles: u8, persistently_isolated: bool, reclaim_groups: u8) -> Handles {
        Handles { handles, persistently_isolated, reclaim_groups, reclaim_unit_erase_units: 1 }
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
