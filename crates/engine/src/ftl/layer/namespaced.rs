//! A drive with several namespaces that share all of its resources: units are stored as on a plain drive, and the
//! ledger's counts are also kept for the namespace of each unit's address.
//!
//! Parity, padding and erases belong to no address; only the ledger counts them.

use super::Layer;
use crate::error::{ReadOnly, SpecificationError};
use crate::ftl::Ftl;
use crate::ftl::found::FoundUnit;
use crate::ledger::{Cause, NamespaceLedger};
use crate::request::Request;
use crate::specification::drive::{Drive, Namespace, namespace_ends, reclaim_groups_of};
use crate::timing::Clock;
use crate::units::{Lpn, Ppn};
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

/// The layer of drives with namespaces.
pub struct Namespaced {
    /// The first address after each namespace, in order.
    ends: Vec<Lpn>,
    counts: Vec<NamespaceCounts>,
    /// By namespace: the drive's identifier for each of its own; an empty list stands for all of the drive's.
    handles: Vec<Vec<u8>>,
}

impl Namespaced {
    /// The drive's placement identifier for one of the namespace at this address.
    fn handle_of(&self, lpn: Lpn, identifier: u8) -> u8 {
        match &self.handles[self.index_of(lpn)][..] {
            [] => identifier,
            handles => handles[usize::from(identifier)],
        }
    }

    /// The namespace of an address. No job has addresses after the last namespace; read-ahead beyond it, where nothing
    /// was ever written, belongs to the last one.
    fn index_of(&self, lpn: Lpn) -> usize {
        self.ends.partition_point(|&end| end <= lpn).min(self.ends.len() - 1)
    }
}

impl Layer for Namespaced {
    const IS_NAMESPACED: bool = true;
    /// Includes the boundaries, so that a drive with other namespaces refuses it.
    type Kept = (Vec<u32>, Vec<NamespaceCounts>);

    fn new(drive: &Drive, _user_units: u32, _streams: u8, _seed: u64) -> Result<Self, SpecificationError> {
        let ends = namespace_ends(drive)?;
        assert!(!ends.is_empty(), "the drive has namespaces");
        // As the controller lists placement identifiers: each handle in all groups.
        let groups = reclaim_groups_of(&drive.ftl.placement) as u8;
        let in_groups = |&handle: &u8| (0..groups).map(move |group| handle * groups + group);
        let identifiers = |namespace: &Namespace| namespace.placement_handles.iter().flat_map(in_groups).collect();
        let handles = drive.namespaces.iter().map(identifiers).collect();
        Ok(Self { counts: vec![NamespaceCounts::default(); ends.len()], ends, handles })
    }

    fn namespaces(&self) -> &[NamespaceCounts] {
        &self.counts
    }

    /// A request across a boundary, which only a run over several namespaces produces, is executed in parts.
    fn execute_one<C: Clock>(ftl: &mut Ftl<Self, C>, request: &Request) -> Result<(), ReadOnly> {
        let mut rest = *request;
        loop {
            let length_bytes = ftl.length_within_namespace(rest.offset_bytes, rest.length_bytes);
            let mut part = Request { length_bytes, ..rest };
            part.content.identifier = ftl.layer.handle_of(ftl.lpn_of(rest.offset_bytes), rest.content.identifier);
            ftl.count_by_namespace(part.offset_bytes, |ftl| ftl.execute_units(&part))?;
            if length_bytes == rest.length_bytes {
                return Ok(());
            }
            rest.offset_bytes += u64::from(length_bytes);
            rest.length_bytes -= length_bytes;
        }
    }

    /// The part of a read-ahead segment after a namespace counts for the namespace in which the segment begins.
    fn read<C: Clock>(ftl: &mut Ftl<Self, C>, offset_bytes: u64, length_bytes: u32) {
        ftl.count_by_namespace(offset_bytes, |ftl| ftl.read_units(offset_bytes, length_bytes));
    }

    fn count(&mut self, lpn: Lpn, counted: NamespaceLedger, mapped_units: i64) {
        let index = self.index_of(lpn);
        let counts = &mut self.counts[index];
        counts.ledger += counted;
        counts.live_units = counts.live_units.wrapping_add_signed(mapped_units);
    }

    fn take_up_namespaces(&mut self, kept: &[NamespaceCounts], units: &[FoundUnit]) {
        for (counts, kept) in self.counts.iter_mut().zip(kept) {
            counts.ledger = kept.ledger;
        }
        for unit in units {
            let index = self.index_of(unit.lpn);
            self.counts[index].live_units += 1;
        }
    }

    fn relocated(&mut self, units: &[(Lpn, Ppn)], cause: Cause) {
        for &(lpn, _) in units {
            let index = self.index_of(lpn);
            self.counts[index].ledger.moved(cause);
        }
    }

    fn kept(&self) -> Self::Kept {
        (self.ends.iter().map(|end| end.0).collect(), self.counts.clone())
    }

    fn take_up(&mut self, (ends, counts): Self::Kept) -> bool {
        let is_alike = ends.iter().eq(self.ends.iter().map(|end| &end.0)) && counts.len() == ends.len();
        self.counts = counts;
        is_alike
    }
}

impl<L: Layer, C: Clock> Ftl<L, C> {
    /// Counters by namespace, in order; empty for a drive without any.
    pub fn namespaces(&self) -> &[NamespaceCounts] {
        self.layer.namespaces()
    }

    /// Executes `work`, and adds its counts to the namespace of the address.
    #[inline(always)]
    pub(in crate::ftl) fn count_by_namespace<T>(&mut self, offset_bytes: u64, step: impl FnOnce(&mut Self) -> T) -> T {
        if !L::IS_NAMESPACED {
            return step(self);
        }
        let (ledger, mapped_units) = (*self.accounts.ledger(), self.accounts.mapped_units());
        let done = step(self);
        let counted = NamespaceLedger::of_requests(self.accounts.ledger()) - NamespaceLedger::of_requests(&ledger);
        let lpn = self.lpn_of(offset_bytes);
        let mapped_units = self.accounts.mapped_units() as i64 - mapped_units as i64;
        self.layer.count(lpn, counted, mapped_units);
        done
    }

    /// Checks that the counters of the namespaces add up to the ledger.
    pub(in crate::ftl) fn check_namespaces(&self) -> Result<(), String> {
        if !L::IS_NAMESPACED {
            return Ok(());
        }
        let mut sum = NamespaceCounts::default();
        for counts in self.namespaces() {
            sum.live_units += counts.live_units;
            sum.ledger += counts.ledger;
        }
        let counted = NamespaceLedger::of_all(self.accounts.ledger());
        if sum.ledger != counted {
            return Err(format!("all namespaces have counted {:?}, but the drive {counted:?}", sum.ledger));
        }
        if sum.live_units != self.accounts.mapped_units() {
            let mapped_units = self.accounts.mapped_units();
            return Err(format!("all namespaces hold {} live units, but the drive {mapped_units}", sum.live_units));
        }
        Ok(())
    }
}

impl<C: Clock> Ftl<Namespaced, C> {
    fn length_within_namespace(&self, offset_bytes: u64, length_bytes: u32) -> u32 {
        let end = self.layer.ends[self.layer.index_of(self.lpn_of(offset_bytes))];
        let end_bytes = u64::from(end.0) << self.mapping_unit_shift;
        length_bytes.min(u32::try_from(end_bytes - offset_bytes).unwrap_or(u32::MAX))
    }
}
