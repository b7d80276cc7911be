//! A translation layer with its policies, as the simulation uses it: called once a batch, so that the dynamic call
//! costs nothing in the loop.

use crate::error::{Refused, SpecificationError};
use crate::ftl::contents::Packs;
use crate::ftl::picture::Pictured;
use crate::ftl::recovery::Recoverable;
use crate::ftl::zoned::ZoneCounts;
use crate::ftl::{
    Capacity, EraseCounts, Ftl, GroupCounts, Layer, NamespaceCounts, PlacementReport, Plain, StateError, Wear,
};
use crate::ledger::Ledger;
use crate::request::Request;
use crate::specification::Drive;
use crate::specification::drive::{check_goes_with_zones, namespace_ends};
use crate::timing::drive::TimedDrive;
use crate::timing::recorder::Recorder;
use crate::timing::{Clock, Untimed};
use std::io::{Read, Write};

/// A drive without a clock, of one device or a stripe.
pub trait SimulatedDrive: Pictured + Send {
    /// Executes a batch of requests.
    fn execute(&mut self, requests: &[Request]) -> Result<(), Refused>;
    /// The counters since the drive was new.
    fn ledger(&self) -> &Ledger;
    /// The drive's capacities now.
    fn capacity(&self) -> Capacity;
    /// The wear of all blocks.
    fn wear(&self) -> Wear;
    /// Only for a drive with zones.
    fn zones(&self) -> Option<ZoneCounts> {
        None
    }
    /// By namespace; empty for a drive without any.
    fn namespaces(&self) -> &[NamespaceCounts] {
        &[]
    }
    /// By reclaim group; empty for a drive without any.
    fn group_counts(&self) -> Vec<GroupCounts> {
        Vec::new()
    }
    /// Only for a drive with placement handles.
    fn placement_report(&self) -> Option<PlacementReport> {
        None
    }
    /// Erased erase units.
    fn free_erase_units(&self) -> u32;
    /// By block.
    fn erase_counts(&self) -> EraseCounts;
    /// Including retired ones.
    fn erase_units(&self) -> u32;
    /// The space effective for garbage collection and the live units, in slots.
    fn room_and_live(&self) -> (f64, f64);
    /// See `Capacity::effective_over_provisioning`.
    fn effective_over_provisioning(&self) -> Option<f64> {
        let (room, live) = self.room_and_live();
        (live > 0.0).then(|| room / live)
    }
    /// Bytes of its tables.
    fn memory_bytes(&self) -> usize;
    /// Checks the identities of the ledger; the error says which does not hold.
    fn check_accounts(&self) -> Result<(), String>;
    /// Saves the state of the drive, which must be at rest, and restores one.
    fn save_state(&mut self, out: &mut dyn Write) -> Result<(), StateError>;
    /// Restores a saved state, of a drive with erase units smaller by the factor `times`.
    fn load_state(&mut self, input: &mut dyn Read, times: u32) -> Result<(), StateError>;
    /// Checks every map entry against the reverse map; takes time in proportion to the capacity.
    fn check_map(&self) -> Result<(), String>;
}

impl<L: Layer + Send, C: Clock + Send> SimulatedDrive for Ftl<L, C> {
    fn execute(&mut self, requests: &[Request]) -> Result<(), Refused> {
        self.execute(requests)
    }

    fn ledger(&self) -> &Ledger {
        self.ledger()
    }

    fn capacity(&self) -> Capacity {
        self.capacity()
    }

    fn wear(&self) -> Wear {
        self.wear()
    }

    fn zones(&self) -> Option<ZoneCounts> {
        self.zones()
    }

    fn namespaces(&self) -> &[NamespaceCounts] {
        self.namespaces()
    }

    fn group_counts(&self) -> Vec<GroupCounts> {
        self.group_counts()
    }

    fn placement_report(&self) -> Option<PlacementReport> {
        self.placement_report()
    }

    fn free_erase_units(&self) -> u32 {
        self.free_erase_units()
    }

    fn erase_counts(&self) -> EraseCounts {
        self.erase_counts()
    }

    fn erase_units(&self) -> u32 {
        self.erase_units()
    }

    fn room_and_live(&self) -> (f64, f64) {
        self.room_and_live()
    }

    fn memory_bytes(&self) -> usize {
        self.memory_bytes()
    }

    fn check_accounts(&self) -> Result<(), String> {
        self.check_accounts()
    }

    fn save_state(&mut self, out: &mut dyn Write) -> Result<(), StateError> {
        self.save_state(out)
    }

    fn load_state(&mut self, input: &mut dyn Read, times: u32) -> Result<(), StateError> {
        self.load_state(input, times)
    }

    fn check_map(&self) -> Result<(), String> {
        self.check_map()
    }
}

/// A drive with a clock.
pub trait TimedSimulatedDrive: SimulatedDrive + TimedDrive + Recoverable + Packs {}

impl<D: SimulatedDrive + TimedDrive + Recoverable + Packs> TimedSimulatedDrive for D {}

/// A drive of one device with the layer that it needs. Unit tests have the plain layer alone: each of the others takes
/// long to compile, and is tested from outside.
macro_rules! built {
    ($drive:ident, $clock:expr, $seed:ident) => {{
        check_is_single($drive);
        namespace_ends($drive)?;
        check_goes_with_zones($drive)?;
        Ok(match () {
            #[cfg(not(test))]
            () if crate::specification::drive::zones_of($drive)?.is_some() => {
                Box::new(Ftl::<crate::ftl::Zoned, _>::with_layer($drive, $clock, $seed)?)
            }
            #[cfg(not(test))]
            () if crate::ftl::is_reduced($drive) => {
                Box::new(Ftl::<crate::ftl::Reduced, _>::with_layer($drive, $clock, $seed)?)
            }
            #[cfg(not(test))]
            () if crate::ftl::is_map_cached($drive) => {
                Box::new(Ftl::<crate::ftl::MapCached, _>::with_layer($drive, $clock, $seed)?)
            }
            () => Box::new(Ftl::<Plain, _>::with_layer($drive, $clock, $seed)?),
        })
    }};
}

/// Builds a drive with a clock, of one device.
pub fn build_timed(drive: &Drive, seed: u64) -> Result<Box<dyn TimedSimulatedDrive>, SpecificationError> {
    built!(drive, Recorder::default(), seed)
}

/// Builds a drive without a clock, of one device.
pub fn build(drive: &Drive, seed: u64) -> Result<Box<dyn SimulatedDrive>, SpecificationError> {
    built!(drive, Untimed, seed)
}

fn check_is_single(drive: &Drive) {
    assert!(!drive.stripe.is_on(), "a stripe has several translation layers, which `Stripe` builds");
}
