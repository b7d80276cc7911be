//! Maps requests of another address space, such as that of a recorded drive, to this one.
//!
//! A map handles a request piece by piece: each call returns where the front part is on the drive, as far as that is
//! contiguous. The map is a type parameter of its user, so that the loop has no branch for it.

mod compact;
mod fold;
mod sample;
mod strict;

use crate::request::Operation;
use std::fmt;

pub use compact::Compact;
pub use fold::Fold;
pub use sample::{Hot, Sample};
pub use strict::Strict;

/// The rest of a request: a byte range of the recorded address space. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The operation of the request.
    pub operation: Operation,
    /// Start in the recorded address space.
    pub offset_bytes: u64,
    /// Length of the rest.
    pub length_bytes: u32,
}

/// The location of the front part of an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset on the drive; None for a part that needs no location.
    pub offset_bytes: Option<u64>,
    /// At least 1, at most the extent's.
    pub length_bytes: u32,
}

/// A mapping of addresses.
pub trait AddressMap: Send {
    /// Maps the front part of the extent. The piece is within the drive.
    fn place(&mut self, extent: &Extent) -> Result<Piece, AddressError>;

    /// Units assigned so far, for a map that assigns them one by one.
    fn placed_units(&self) -> Option<u64> {
        None
    }
}

/// Why a request cannot be mapped to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum AddressError {
    /// The request ends at `end_bytes`, beyond the drive's `user_bytes`.
    PastTheEnd { end_bytes: u64, user_bytes: u64 },
    /// Packing needs more than the `units` of the drive, of `unit_bytes` each.
    Full { units: u64, unit_bytes: u32 },
}

impl fmt::Display for AddressError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PastTheEnd { end_bytes, user_bytes } => {
                write!(formatter, "a request ends at byte {end_bytes}, past the {user_bytes} bytes of the drive")
            }
            Self::Full { units, unit_bytes } => write!(
                formatter,
                "the requests touch more than {units} units of {unit_bytes} bytes, which is all that the drive holds"
            ),
        }
    }
}

impl std::error::Error for AddressError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pieces of an extent, as (offset on the drive, length).
    pub fn pieces(map: &mut impl AddressMap, mut extent: Extent) -> Result<Vec<(Option<u64>, u32)>, AddressError> {
        let mut pieces = Vec::new();
        while extent.length_bytes > 0 {
            let piece = map.place(&extent)?;
            assert!((1..=extent.length_bytes).contains(&piece.length_bytes));
            extent.offset_bytes += u64::from(piece.length_bytes);
            extent.length_bytes -= piece.length_bytes;
            pieces.push((piece.offset_bytes, piece.length_bytes));
        }
        Ok(pieces)
    }

    pub fn extent(operation: Operation, offset_bytes: u64, length_bytes: u32) -> Extent {
        Extent { operation, offset_bytes, length_bytes }
    }
}
