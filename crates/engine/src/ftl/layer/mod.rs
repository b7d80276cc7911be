//! How a unit is stored, read, written and moved. A drive has one of four layers, chosen when it is built and from then
//! on a type, so that nothing is tested for each unit.
//!
//! A layer has its own state and implements the steps of the translation layer in which it differs. `stored.rs` has the
//! steps below garbage collection, this file those above it: the host's requests and commands.

mod map_cached;
mod namespaces;
mod plain;
pub mod reduced;
mod stored;
pub mod zoned;

use super::accounts::Accounts;
use super::found::FoundUnit;
use super::gc::Gc;
use super::media::{Done, Media};
use crate::error::SpecificationError;
use crate::ledger::NamespaceLedger;
use crate::request::Request;
use crate::specification::drive::Drive;
use crate::table::TableBytes;
use crate::timing::Clock;
use crate::units::Lpn;
pub use map_cached::MapCached;
pub use namespaces::{NamespaceCounts, check_namespaces};
pub use plain::Plain;
pub use reduced::Reduced;
use reduced::contents::StoredAs;
use serde::Serialize;
use serde::de::DeserializeOwned;
pub use stored::Stored;
pub use zoned::Zoned;
use zoned::{KeptZones, ZoneChange, ZoneTable};

/// Whether a drive stores less data than it receives.
pub fn is_reduced(drive: &Drive) -> bool {
    drive.data_reduction.is_on()
}

/// Whether a drive's memory holds only a part of its map.
pub fn is_map_cached(drive: &Drive) -> bool {
    drive.map_cache.bytes > 0
}

/// The interface of a layer.
pub trait Layer: Stored {
    /// State in addition to the drive file and the tables, for saving.
    type Kept: Serialize + DeserializeOwned;

    /// Errors name the key of the drive file.
    fn new(drive: &Drive, user_units: u32, streams: u8, seed: u64) -> Result<Self, SpecificationError>;

    /// Executes one request.
    fn execute_one<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, request: &Request) -> Done;

    /// Reads units, before the host's request.
    fn read<C: Clock>(&mut self, media: &mut Media<C>, _gc: &mut Gc, offset_bytes: u64, length_bytes: u32) {
        media.read_units(offset_bytes, length_bytes);
    }

    /// Writes a unit with known contents to a drive with data reduction.
    fn write_as<C: Clock>(
        &mut self,
        _media: &mut Media<C>,
        _gc: &mut Gc,
        _request: &Request,
        _stored: StoredAs,
    ) -> Done {
        panic!("only a drive that reduces data knows how a unit is stored");
    }

    /// Of this many addresses, those that can be mapped.
    fn usable_units(&self, user_units: u32) -> u32 {
        user_units
    }

    /// The zones; None without any.
    fn zones(&self) -> Option<&ZoneTable> {
        None
    }

    /// What is kept of the zones besides their data.
    fn kept_zones(&self) -> KeptZones {
        KeptZones::default()
    }

    /// Changes the state of a zone, as the host commands.
    fn change_zone<C: Clock>(&mut self, _media: &mut Media<C>, _zone: u32, _change: ZoneChange) -> Done {
        panic!("only a drive with zones is told to change one");
    }

    /// Restores the zones, after the units and the open erase units.
    fn take_up_zones<C: Clock>(&mut self, _media: &mut Media<C>, _kept: &KeptZones) {}

    /// Counters by namespace, on a drive that has them.
    fn namespaces(&self) -> &[NamespaceCounts] {
        &[]
    }

    /// Restores the counters by namespace, and counts the units that a scan has found.
    fn take_up_namespaces(&mut self, _kept: &[NamespaceCounts], _units: &[FoundUnit]) {}

    /// Adds the counts of a request to the namespace of this address, and the change in its mapped units.
    fn count(&mut self, _lpn: Lpn, _counted: NamespaceLedger, _mapped_units: i64) {}

    /// Executes `step`, and adds its counts to the namespace of the address.
    #[inline(always)]
    fn count_by_namespace<C: Clock, T>(
        &mut self,
        media: &mut Media<C>,
        offset_bytes: u64,
        step: impl FnOnce(&mut Self, &mut Media<C>) -> T,
    ) -> T {
        if self.namespaces().is_empty() {
            return step(self, media);
        }
        let (ledger, mapped_units) = (*media.accounts.ledger(), media.accounts.mapped_units());
        let done = step(self, media);
        let counted = NamespaceLedger::of_requests(media.accounts.ledger()) - NamespaceLedger::of_requests(&ledger);
        let mapped_units = media.accounts.mapped_units() as i64 - mapped_units as i64;
        self.count(media.map.lpn_of(offset_bytes), counted, mapped_units);
        done
    }

    /// The map pages written back by the last request, in order.
    fn map_pages_written_back(&self) -> &[Lpn] {
        &[]
    }

    /// Bytes of its tables whose size depends on the capacity.
    fn table_bytes(&self) -> usize {
        0
    }

    /// The state to be saved.
    fn kept(&self, accounts: &Accounts) -> Self::Kept;
    /// Restores the saved state of a layer of the same drive. False if it is of another drive.
    fn take_up(&mut self, kept: Self::Kept, accounts: &mut Accounts) -> bool;
    /// Its tables, each with the largest word valid in a drive of this many units.
    fn tables(&mut self, _units: u32) -> Vec<(&mut dyn TableBytes, u64)> {
        Vec::new()
    }
}
