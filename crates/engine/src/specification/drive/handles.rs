//! The reclaim unit handles of a drive whose placement is the host's: the parameters of `ftl.placement = "host-streams"`
//! and what follows from them for geometry, capacity and namespaces. What the policy does with them is in
//! `policies/placement/host_streams.rs`.

use super::PolicyChoice;
use crate::error::SpecificationError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The placement policy that has handles.
pub const HOST_STREAMS: &str = "host-streams";

/// What a placement of the host's makes of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Handles {
    /// Reclaim unit handles, 1 to 15; they count from 0. Without reclaim groups they are the placement identifiers.
    #[serde(rename = "identifiers")]
    pub handles: u8,
    /// Whether data moved by garbage collection remains with its handle.
    pub persistently_isolated: bool,
    /// Reclaim groups, sets of dies with equal numbers of them; 1: the whole drive.
    pub reclaim_groups: u8,
    /// Erase units of a reclaim unit.
    pub reclaim_unit_erase_units: u16,
}

impl Default for Handles {
    fn default() -> Self {
        Self { handles: 8, persistently_isolated: false, reclaim_groups: 1, reclaim_unit_erase_units: 1 }
    }
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

/// The handles of a drive with this placement; None if it ignores placement identifiers.
pub fn handles_of(placement: &PolicyChoice) -> Option<Handles> {
    let given = || serde_json::from_value(Value::Object(placement.parameters.clone())).ok();
    (placement.name == HOST_STREAMS).then(given).flatten()
}

/// The number of reclaim groups of a drive with this placement.
pub fn reclaim_groups_of(placement: &PolicyChoice) -> u32 {
    handles_of(placement).map_or(1, |handles| u32::from(handles.reclaim_groups).max(1))
}
