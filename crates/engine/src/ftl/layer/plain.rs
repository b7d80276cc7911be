//! The layer of most drives, also of those with namespaces, which differ in what is counted only.

use super::namespaces::{KeptNamespaces, NamespaceCounts, Namespaces};
use super::{Layer, Stored};
use crate::error::SpecificationError;
use crate::ftl::accounts::Accounts;
use crate::ftl::found::FoundUnit;
use crate::ftl::gc::Gc;
use crate::ftl::host;
use crate::ftl::media::{Done, Media};
use crate::ledger::{Cause, NamespaceLedger};
use crate::request::Request;
use crate::specification::drive::Drive;
use crate::timing::Clock;
use crate::units::{Lpn, Ppn};

/// Units are stored unreduced, and the whole map is in memory.
pub struct Plain {
    namespaces: Option<Box<Namespaces>>,
}

impl Stored for Plain {
    #[inline(always)]
    fn relocated(&mut self, units: &[(Lpn, Ppn)], cause: Cause) {
        if let Some(namespaces) = &mut self.namespaces {
            units.iter().for_each(|&(lpn, _)| namespaces.counts_of(lpn).ledger.moved(cause));
        }
    }
}

impl Layer for Plain {
    type Kept = Option<KeptNamespaces>;

    fn new(drive: &Drive, _user_units: u32, _streams: u8, _seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self { namespaces: Namespaces::of(drive)?.map(Box::new) })
    }

    #[inline(always)]
    fn execute_one<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, request: &Request) -> Done {
        if self.namespaces.is_some() {
            return self.execute_by_namespace(media, gc, request);
        }
        host::execute_units(media, self, gc, request)
    }

    /// The part of a read-ahead segment after a namespace counts for the namespace in which the segment begins.
    fn read<C: Clock>(&mut self, media: &mut Media<C>, _gc: &mut Gc, offset_bytes: u64, length_bytes: u32) {
        self.count_by_namespace(media, offset_bytes, |_, media| media.read_units(offset_bytes, length_bytes));
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

    fn kept(&self, _accounts: &Accounts) -> Self::Kept {
        self.namespaces.as_ref().map(|namespaces| namespaces.kept())
    }

    fn take_up(&mut self, kept: Self::Kept, _accounts: &mut Accounts) -> bool {
        match (&mut self.namespaces, kept) {
            (Some(namespaces), Some(kept)) => namespaces.take_up(kept),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Plain {
    /// A request across a boundary, which only a run over several namespaces produces, is executed in parts.
    #[inline(never)]
    fn execute_by_namespace<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, request: &Request) -> Done {
        let mut rest = *request;
        while let Some(namespaces) = &self.namespaces {
            let lpn = media.map.lpn_of(rest.offset_bytes);
            let end_bytes = u64::from(namespaces.end_of(lpn).0) * media.map.unit_bytes();
            let left_bytes = u32::try_from(end_bytes - rest.offset_bytes).unwrap_or(u32::MAX);
            let mut part = Request { length_bytes: rest.length_bytes.min(left_bytes), ..rest };
            part.content.identifier = namespaces.handle_of(lpn, rest.content.identifier);
            let execute = |plain: &mut Self, media: &mut Media<C>| host::execute_units(media, plain, gc, &part);
            self.count_by_namespace(media, part.offset_bytes, execute)?;
            if part.length_bytes == rest.length_bytes {
                break;
            }
            rest.offset_bytes += u64::from(part.length_bytes);
            rest.length_bytes -= part.length_bytes;
        }
        Ok(())
    }
}
