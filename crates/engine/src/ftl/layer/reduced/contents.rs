//! For drives that store the written data: how a unit is stored follows from its contents.

use crate::error::ReadOnly;
use crate::request::Request;
use crate::timing::decision::Packed;
use crate::units::{Lpn, Ppn};

/// How a unit of the host is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredAs {
    /// In this many slots.
    Places(u32),
    /// Its data equals that of another address.
    SameAs(Lpn),
}

/// Calls between a drive with data reduction and the owner of its contents; other drives implement none of them.
pub trait Packs {
    /// Starts recording what is packed where.
    fn note_packing(&mut self);
    /// Exchanges the records since the last call for an empty list.
    fn take_packed(&mut self, into: &mut Vec<(u32, Packed)>);
    /// A write within one unit with known contents.
    fn write_as(&mut self, request: &Request, stored: StoredAs) -> Result<(), ReadOnly>;
    /// An address whose data is stored in the slot, if there is one.
    fn owner_of(&self, slot: Ppn) -> Option<Lpn>;
    /// Slots in a mapping unit; 0 for a drive without data reduction.
    fn slots_per_unit(&self) -> u32;
}
