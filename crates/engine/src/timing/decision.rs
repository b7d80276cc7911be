//! What a translation layer decided, for the flash to perform.

use crate::ledger::Cause;
use crate::units::{EraseUnit, Lpn, Ppn};

/// One flash operation on a mapping unit, or on an erase unit; or a copy, which is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A read from flash.
    Read(Ppn, Cause),
    /// A read of data that the controller still holds in its memory, without a flash operation.
    ReadFromMemory(Ppn, Cause),
    /// A program.
    Program(Ppn, Cause),
    /// A read of the first slot from flash, and then a program of its data into the second.
    Copy(Ppn, Ppn, Cause),
    /// An erase.
    Erase(EraseUnit),
    /// From now on the erase unit is written in SLC mode, or not.
    Open(EraseUnit, bool),
}

/// Where a drive with data reduction stores what, in slots. Its decisions contain the mapping units that are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    /// A unit written by the host.
    Written {
        /// Its address.
        lpn: Lpn,
        /// Its first slot.
        slot: Ppn,
        /// Its slots.
        slots: u32,
    },
    /// A moved unit.
    Moved {
        /// Its address.
        lpn: Lpn,
        /// Its old slot.
        from: Ppn,
        /// Its first new slot.
        slot: Ppn,
        /// Its slots.
        slots: u32,
    },
    /// Padding, or data of the drive itself.
    Nothing {
        /// The first slot.
        slot: Ppn,
        /// The number of slots.
        slots: u32,
    },
    /// Already stored, for another address.
    Shared {
        /// The address.
        lpn: Lpn,
        /// The address that stored the data.
        original: Lpn,
    },
}
