//! The placement policy of a zoned drive: an open erase unit for each active zone (NVM Express Zoned Namespace Command
//! Set Specification). It is not in the list of policies: every zoned drive has it.

use super::{PlacementPolicy, Resident};
use crate::units::{Lpn, StreamId};

/// The placement policy of a zoned drive.
pub struct ZoneSlots {
    slots: u8,
}

impl ZoneSlots {
    /// With a stream for each of `slots` active zones.
    pub fn of(slots: u8) -> Self {
        Self { slots }
    }
}

impl PlacementPolicy for ZoneSlots {
    fn streams(&self) -> u8 {
        self.slots
    }

    fn stream_name(&self, stream: StreamId) -> String {
        format!("zone slot {}", stream.0)
    }

    fn host_stream(&self, _lpn: Lpn, _identifier: u8, _overwritten: Option<Resident>) -> StreamId {
        unreachable!("the zone says which slot it has")
    }

    fn gc_stream(&self, _victim: Resident) -> StreamId {
        unreachable!("a zoned drive collects no garbage")
    }
}
