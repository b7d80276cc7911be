//! An address is taken modulo the size of the drive; a request beyond the end continues at the start.
//!
//! Costs nothing and preserves sequential access, but distinct addresses may coincide, and a trim of a large range may
//! discard data of other requests.

use super::{AddressError, AddressMap, Extent, Piece};

/// See the file's description.
pub struct Fold {
    user_bytes: u64,
}

impl Fold {
    /// Folds onto a drive of this capacity.
    pub fn new(user_bytes: u64) -> Self {
        assert!(user_bytes > 0, "a drive holds something");
        Self { user_bytes }
    }
}

impl AddressMap for Fold {
    #[inline]
    fn place(&mut self, extent: &Extent) -> Result<Piece, AddressError> {
        // Most recordings fit, and a division is slow.
        let offset_bytes = match extent.offset_bytes < self.user_bytes {
            true => extent.offset_bytes,
            false => extent.offset_bytes % self.user_bytes,
        };
        let room_bytes = self.user_bytes - offset_bytes;
        let length_bytes = u64::from(extent.length_bytes).min(room_bytes) as u32;
        Ok(Piece { offset_bytes: Some(offset_bytes), length_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{extent, pieces};
    use super::*;
    use crate::request::Operation::Write;
    use proptest::prelude::*;

    proptest! {
        /// The twin folds byte by byte.
        #[test]
        fn every_byte_is_where_the_modulus_says(
            user_bytes in 1u64..100,
            offset_bytes in prop_oneof![0u64..300, u64::MAX - 1000..u64::MAX - 500],
            length_bytes in 1u32..400,
        ) {
            let bytes: Vec<u64> = pieces(&mut Fold::new(user_bytes), extent(Write, offset_bytes, length_bytes))
                .unwrap()
                .into_iter()
                .flat_map(|(start, length)| (0..u64::from(length)).map(move |byte| start.unwrap() + byte))
                .collect();
            let twin: Vec<u64> =
                (0..u64::from(length_bytes)).map(|byte| (offset_bytes + byte) % user_bytes).collect();
            prop_assert_eq!(bytes, twin);
        }
    }
}
