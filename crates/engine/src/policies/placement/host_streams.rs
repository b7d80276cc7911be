//! An open erase unit for each placement identifier that the host gives with its writes, as in NVMe's flexible data
//! placement.
//!
//! Where the host knows which data is invalidated together (hot and cold jobs, a log, tables of a database), erase
//! units become stale as a whole and garbage collection moves next to nothing, even with a greedy victim policy. Writes
//! without an identifier go to the first. Data moved by garbage collection goes to one erase unit for all identifiers
//! (initially isolated, as on the drives known so far), which needs one more open erase unit, or remains with its
//! identifier (persistently isolated).
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

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Placement identifiers, 1 to 15; they count from 0.
    pub identifiers: u8,
    /// Whether data moved by garbage collection remains with its identifier.
    pub persistently_isolated: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { identifiers: 8, persistently_isolated: false }
    }
}

/// See the file's description.
pub struct HostStreams {
    identifiers: u8,
    persistently_isolated: bool,
}

impl Named for HostStreams {
    const NAME: &'static str = "host-streams";
    const SUMMARY: &'static str = "an open erase unit for each placement identifier that the host gives (fdp)";
    const SOURCE: &'static str = "NVM Express TP4146, flexible data placement; Kang, Hyun, Maeng and Cho 2014";
    type Config = Config;
}

impl PlacementPolicy for HostStreams {
    fn new(config: Config, _user_units: u32) -> Result<Self, SpecificationError> {
        if config.identifiers == 0 || usize::from(config.identifiers) >= STREAMS_MAX {
            let allowed = format!("a whole number from 1 to {}", STREAMS_MAX - 1);
            return Err(SpecificationError::new("ftl.placement.identifiers", config.identifiers, allowed));
        }
        let Config { identifiers, persistently_isolated } = config;
        Ok(Self { identifiers, persistently_isolated })
    }

    fn streams(&self) -> u8 {
        self.identifiers + u8::from(!self.persistently_isolated)
    }

    fn stream_name(&self, stream: StreamId) -> String {
        if stream.0 < self.identifiers { format!("identifier {}", stream.0) } else { "gc".into() }
    }

    #[inline(always)]
    fn host_stream(&self, _lpn: Lpn, identifier: u8, _overwritten: Option<Resident>) -> StreamId {
        debug_assert!(identifier < self.identifiers, "checked before the run");
        StreamId(identifier)
    }

    fn gc_stream(&self, victim: Resident) -> StreamId {
        if self.persistently_isolated { victim.stream } else { StreamId(self.identifiers) }
    }
}

/// The number of placement identifiers that a drive with this placement honours; None if it ignores them.
pub fn honoured_identifiers(choice: &PolicyChoice) -> Option<u8> {
    let config = || registry::config::<HostStreams>("placement", choice).ok();
    (choice.name == HostStreams::NAME).then(config).flatten().map(|config| config.identifiers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_go_where_the_host_says_and_gc_where_the_policy_says() {
        let isolated = HostStreams::new(Config { identifiers: 3, persistently_isolated: true }, 100).unwrap();
        assert_eq!(isolated.host_stream(Lpn(7), 2, None), StreamId(2));
        let victim = Resident { stream: StreamId(1), age: 5 };
        assert_eq!((isolated.gc_stream(victim), isolated.streams()), (StreamId(1), 3));
        let mixed = HostStreams::new(Config { identifiers: 3, persistently_isolated: false }, 100).unwrap();
        assert_eq!((mixed.gc_stream(victim), mixed.streams()), (StreamId(3), 4));
        assert!(HostStreams::new(Config { identifiers: 16, persistently_isolated: true }, 100).is_err());
    }
}
