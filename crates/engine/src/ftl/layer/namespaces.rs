//! Several namespaces that share all resources of a drive: the ledger's counts are also kept for the namespace of each
//! unit's address.
//!
//! Parity, padding and erases belong to no address; only the ledger counts them.

use crate::error::SpecificationError;
use crate::ftl::accounts::Accounts;
use crate::ftl::found::FoundUnit;
use crate::ledger::NamespaceLedger;
use crate::specification::drive::{Drive, Namespace, namespace_ends, reclaim_groups_of};
use crate::units::Lpn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The live units of a namespace, and its counters since the drive was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespaceCounts {
    /// Addresses that the host has written and not trimmed.
    pub live_units: u64,
    /// Counters since the drive was new.
    pub ledger: NamespaceLedger,
}

/// The boundaries of the namespaces, so that a drive with others refuses a saved state, and their counters.
pub type KeptNamespaces = (Vec<u32>, Vec<NamespaceCounts>);

/// The namespaces of a drive that has any.
pub struct Namespaces {
    /// The first address after each namespace, in order.
    ends: Vec<Lpn>,
    pub(super) counts: Vec<NamespaceCounts>,
    /// By namespace: the drive's identifier for each of its own; an empty list stands for all of the drive's.
    handles: Vec<Vec<u8>>,
}

impl Namespaces {
    /// None for a drive without any. Errors name the key of the drive file.
    pub(super) fn of(drive: &Drive) -> Result<Option<Self>, SpecificationError> {
        let ends = namespace_ends(drive)?;
        // As the controller lists placement identifiers: each handle in all groups.
        let groups = reclaim_groups_of(&drive.ftl.placement) as u8;
        let in_groups = |&handle: &u8| (0..groups).map(move |group| handle * groups + group);
        let identifiers = |namespace: &Namespace| namespace.placement_handles.iter().flat_map(in_groups).collect();
        let handles = drive.namespaces.iter().map(identifiers).collect();
        let counts = vec![NamespaceCounts::default(); ends.len()];
        Ok((!ends.is_empty()).then_some(Self { ends, counts, handles }))
    }

    /// The drive's placement identifier for one of the namespace at this address.
    pub(super) fn handle_of(&self, lpn: Lpn, identifier: u8) -> u8 {
        match &self.handles[self.index_of(lpn)][..] {
            [] => identifier,
            handles => handles[usize::from(identifier)],
        }
    }

    /// The first address after the namespace of this one.
    pub(super) fn end_of(&self, lpn: Lpn) -> Lpn {
        self.ends[self.index_of(lpn)]
    }

    /// The counters of the namespace of an address. No job has addresses after the last namespace; read-ahead beyond it,
    /// where nothing was ever written, belongs to the last one.
    pub(super) fn counts_of(&mut self, lpn: Lpn) -> &mut NamespaceCounts {
        let index = self.index_of(lpn);
        &mut self.counts[index]
    }

    fn index_of(&self, lpn: Lpn) -> usize {
        self.ends.partition_point(|&end| end <= lpn).min(self.ends.len() - 1)
    }

    pub(super) fn take_up_units(&mut self, kept: &[NamespaceCounts], units: &[FoundUnit]) {
        for (counts, kept) in self.counts.iter_mut().zip(kept) {
            counts.ledger = kept.ledger;
        }
        units.iter().for_each(|unit| self.counts_of(unit.lpn).live_units += 1);
    }

    pub(super) fn kept(&self) -> KeptNamespaces {
        (self.ends.iter().map(|end| end.0).collect(), self.counts.clone())
    }

    /// False if it is of a drive with other namespaces.
    pub(super) fn take_up(&mut self, (ends, counts): KeptNamespaces) -> bool {
        let is_alike = ends.iter().eq(self.ends.iter().map(|end| &end.0)) && counts.len() == ends.len();
        self.counts = counts;
        is_alike
    }
}

/// Checks that the counters of the namespaces add up to the ledger.
pub fn check_namespaces(namespaces: &[NamespaceCounts], accounts: &Accounts) -> Result<(), String> {
    if namespaces.is_empty() {
        return Ok(());
    }
    let mut sum = NamespaceCounts::default();
    for counts in namespaces {
        sum.live_units += counts.live_units;
        sum.ledger += counts.ledger;
    }
    let counted = NamespaceLedger::of_all(accounts.ledger());
    if sum.ledger != counted {
        return Err(format!("all namespaces have counted {:?}, but the drive {counted:?}", sum.ledger));
    }
    if sum.live_units != accounts.mapped_units() {
        let mapped_units = accounts.mapped_units();
        return Err(format!("all namespaces hold {} live units, but the drive {mapped_units}", sum.live_units));
    }
    Ok(())
}
