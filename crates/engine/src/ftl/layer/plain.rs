//! The layer of most drives, also of those with namespaces, which differ in what is counted only.

use super::Layer;
use super::namespaces::{KeptNamespaces, NamespaceCounts, Namespaces};
use crate::error::{ReadOnly, SpecificationError};
use crate::ftl::Ftl;
use crate::ftl::found::FoundUnit;
use crate::ledger::{Cause, NamespaceLedger};
use crate::request::Request;
use crate::specification::drive::Drive;
use crate::timing::Clock;
use crate::units::{Lpn, Ppn};

/// Units are stored unreduced, and the whole map is in memory.
pub struct Plain {
    namespaces: Option<Box<Namespaces>>,
}

impl Layer for Plain {
    type Kept = Option<KeptNamespaces>;

    fn new(drive: &Drive, _user_units: u32, _streams: u8, _seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self { namespaces: Namespaces::of(drive)?.map(Box::new) })
    }

    #[inline(always)]
    fn execute_one<C: Clock>(ftl: &mut Ftl<Self, C>, request: &Request) -> Result<(), ReadOnly> {
        if ftl.layer.namespaces.is_some() {
            return ftl.execute_by_namespace(request);
        }
        ftl.execute_units(request)
    }

    /// The part of a read-ahead segment after a namespace counts for the namespace in which the segment begins.
    fn read<C: Clock>(ftl: &mut Ftl<Self, C>, offset_bytes: u64, length_bytes: u32) {
        ftl.count_by_namespace(offset_bytes, |ftl| ftl.read_units(offset_bytes, length_bytes));
    }

    #[inline(always)]
    fn namespaces(&self) -> &[NamespaceCounts] {
        self.namespaces.as_ref().map_or(&[], |namespaces| &namespaces.counts)
    }

    fn take_up_namespaces(&mut self, kept: &[NamespaceCounts], units: &[FoundUnit]) {
        if let Some(namespaces) = &mut self.namespaces {
            namespaces.take_up_units(kept, units);
        }
    }

    fn count(&mut self, lpn: Lpn, counted: NamespaceLedger, mapped_units: i64) {
        if let Some(namespaces) = &mut self.namespaces {
            let counts = namespaces.counts_of(lpn);
            counts.ledger += counted;
            counts.live_units = counts.live_units.wrapping_add_signed(mapped_units);
        }
    }

    #[inline(always)]
    fn relocated(&mut self, units: &[(Lpn, Ppn)], cause: Cause) {
        if let Some(namespaces) = &mut self.namespaces {
            units.iter().for_each(|&(lpn, _)| namespaces.counts_of(lpn).ledger.moved(cause));
        }
    }

    fn kept(&self) -> Self::Kept {
        self.namespaces.as_ref().map(|namespaces| namespaces.kept())
    }

    fn take_up(&mut self, kept: Self::Kept) -> bool {
        match (&mut self.namespaces, kept) {
            (Some(namespaces), Some(kept)) => namespaces.take_up(kept),
            (None, None) => true,
            _ => false,
        }
    }
}

impl<C: Clock> Ftl<Plain, C> {
    /// A request across a boundary, which only a run over several namespaces produces, is executed in parts.
    #[inline(never)]
    pub(super) fn execute_by_namespace(&mut self, request: &Request) -> Result<(), ReadOnly> {
        let mut rest = *request;
        while let Some(namespaces) = &self.layer.namespaces {
            let lpn = self.lpn_of(rest.offset_bytes);
            let end_bytes = u64::from(namespaces.end_of(lpn).0) << self.mapping_unit_shift;
            let left_bytes = u32::try_from(end_bytes - rest.offset_bytes).unwrap_or(u32::MAX);
            let mut part = Request { length_bytes: rest.length_bytes.min(left_bytes), ..rest };
            part.content.identifier = namespaces.handle_of(lpn, rest.content.identifier);
            self.count_by_namespace(part.offset_bytes, |ftl| ftl.execute_units(&part))?;
            if part.length_bytes == rest.length_bytes {
                break;
            }
            rest.offset_bytes += u64::from(part.length_bytes);
            rest.length_bytes -= part.length_bytes;
        }
        Ok(())
    }
}
