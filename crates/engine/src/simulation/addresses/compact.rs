//! Units are packed onto the drive in the order in which they are first read or written.
//!
//! A recording that mostly writes to little of a large address space then fits a small drive, without two addresses
//! sharing a unit; units that were far apart but accessed in succession become neighbours. A trim of a unit that was
//! never accessed does nothing.
//!
//! Memory is bounded by the accessed units: 6 to 12 bytes a unit where they are in runs of eight or more, up to 94
//! where each is far from the next.

use super::{AddressError, AddressMap, Extent, Piece};
use crate::request::Operation;
use rustc_hash::FxHashMap;

const UNITS_PER_CHUNK: u64 = 8;
const UNPLACED: u32 = u32::MAX;

/// See the file's description.
pub struct Compact {
    unit_bytes: u64,
    units_max: u32,
    placed_units: u32,
    /// By chunk of the recorded address space: the units of the drive.
    chunks: FxHashMap<u64, [u32; UNITS_PER_CHUNK as usize]>,
}

impl Compact {
    /// `unit_bytes` is the size of the pieces that remain contiguous: at least a mapping unit, so that no request is
    /// split within one.
    pub fn new(user_bytes: u64, unit_bytes: u32) -> Self {
        assert!(unit_bytes > 0, "a unit holds something");
        let units_max = (user_bytes / u64::from(unit_bytes)).min(u64::from(UNPLACED)) as u32;
        Self { unit_bytes: u64::from(unit_bytes), units_max, placed_units: 0, chunks: FxHashMap::default() }
    }

    /// The drive's unit for a recorded unit; None if it has none and the operation assigns none.
    fn unit(&mut self, unit: u64, operation: Operation) -> Result<Option<u32>, AddressError> {
        let (chunk, slot) = (unit / UNITS_PER_CHUNK, (unit % UNITS_PER_CHUNK) as usize);
        if operation == Operation::Trim {
            let place = self.chunks.get(&chunk).map_or(UNPLACED, |places| places[slot]);
            return Ok((place != UNPLACED).then_some(place));
        }
        let place = &mut self.chunks.entry(chunk).or_insert([UNPLACED; UNITS_PER_CHUNK as usize])[slot];
        if *place == UNPLACED {
            if self.placed_units == self.units_max {
                let unit_bytes = self.unit_bytes as u32;
                return Err(AddressError::Full { units: u64::from(self.units_max), unit_bytes });
            }
            *place = self.placed_units;
            self.placed_units += 1;
        }
        Ok(Some(*place))
    }
}

impl AddressMap for Compact {
    fn place(&mut self, extent: &Extent) -> Result<Piece, AddressError> {
        let length_bytes = u64::from(extent.length_bytes);
        let first = extent.offset_bytes / self.unit_bytes;
        let within_unit = extent.offset_bytes % self.unit_bytes;
        let place = self.unit(first, extent.operation)?;
        let mut piece_bytes = self.unit_bytes - within_unit;
        let mut units = 1;
        while piece_bytes < length_bytes {
            let expected = place.map(|place| place + units);
            // An error concerns a later piece: this one is assigned.
            if self.unit(first + u64::from(units), extent.operation).is_ok_and(|next| next == expected) {
                units += 1;
                piece_bytes += self.unit_bytes;
            } else {
                break;
            }
        }
        Ok(Piece {
            offset_bytes: place.map(|place| u64::from(place) * self.unit_bytes + within_unit),
            length_bytes: piece_bytes.min(length_bytes) as u32,
        })
    }

    fn placed_units(&self) -> Option<u64> {
        Some(u64::from(self.placed_units))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{extent, pieces};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const UNIT: u64 = 8;

    /// Byte by byte: the unit, assigned at its first access.
    #[derive(Default)]
    struct Twin(BTreeMap<u64, u64>);

    impl Twin {
        fn bytes(&mut self, extent: &Extent) -> Vec<Option<u64>> {
            let bytes = extent.offset_bytes..extent.offset_bytes + u64::from(extent.length_bytes);
            bytes
                .map(|byte| {
                    let next = self.0.len() as u64;
                    let place = match extent.operation {
                        Operation::Trim => self.0.get(&(byte / UNIT)).copied(),
                        _ => Some(*self.0.entry(byte / UNIT).or_insert(next)),
                    };
                    place.map(|place| place * UNIT + byte % UNIT)
                })
                .collect()
        }
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![Just(Operation::Read), Just(Operation::Write), Just(Operation::Trim)]
    }

    proptest! {
        #[test]
        fn units_lie_in_the_order_of_their_first_touch(
            requests in prop::collection::vec((operation(), 0u64..2000, 1u32..100), 1..60),
        ) {
            let mut map = Compact::new(1 << 20, UNIT as u32);
            let mut twin = Twin::default();
            for (operation, offset_bytes, length_bytes) in requests {
                let request = extent(operation, offset_bytes, length_bytes);
                let placed = pieces(&mut map, request).unwrap();
                let bytes: Vec<Option<u64>> = placed
                    .iter()
                    .flat_map(|&(start, length)| (0..u64::from(length)).map(move |byte| start.map(|at| at + byte)))
                    .collect();
                prop_assert_eq!(&bytes, &twin.bytes(&request));
                let breaks = bytes.windows(2).filter(|pair| pair[0].map(|at| at + 1) != pair[1]).count();
                prop_assert_eq!(placed.len(), 1 + breaks, "no piece could be longer");
            }
            prop_assert_eq!(map.placed_units(), Some(twin.0.len() as u64));
        }
    }

    #[test]
    fn a_full_drive_still_takes_what_has_its_place() {
        let mut map = Compact::new(4 * UNIT + 3, UNIT as u32);
        assert_eq!(pieces(&mut map, extent(Operation::Write, 800, 4 * UNIT as u32)).unwrap().len(), 1);
        let full = AddressError::Full { units: 4, unit_bytes: UNIT as u32 };
        assert_eq!(map.place(&extent(Operation::Read, 0, 1)), Err(full));
        assert_eq!(pieces(&mut map, extent(Operation::Trim, 0, 1)), Ok(vec![(None, 1)]));
        assert_eq!(pieces(&mut map, extent(Operation::Write, 808, 1)), Ok(vec![(Some(UNIT), 1)]));
    }
}
