//! Addresses are used unchanged, and must be within the drive.

use super::{AddressError, AddressMap, Extent, Piece};

/// See the file's description.
pub struct Strict {
    user_bytes: u64,
}

impl Strict {
    /// For a drive of this capacity.
    pub fn new(user_bytes: u64) -> Self {
        Self { user_bytes }
    }
}

impl AddressMap for Strict {
    #[inline]
    fn place(&mut self, extent: &Extent) -> Result<Piece, AddressError> {
        let end_bytes = extent.offset_bytes.saturating_add(u64::from(extent.length_bytes));
        if end_bytes > self.user_bytes {
            return Err(AddressError::PastTheEnd { end_bytes, user_bytes: self.user_bytes });
        }
        Ok(Piece { offset_bytes: Some(extent.offset_bytes), length_bytes: extent.length_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{extent, pieces};
    use super::*;
    use crate::request::Operation::Write;

    #[test]
    fn the_last_byte_is_the_last_that_is_taken() {
        let mut map = Strict::new(8192);
        assert_eq!(pieces(&mut map, extent(Write, 512, 7680)), Ok(vec![(Some(512), 7680)]));
        let past = AddressError::PastTheEnd { end_bytes: 8193, user_bytes: 8192 };
        assert_eq!(pieces(&mut map, extent(Write, 8192, 1)), Err(past));
        assert!(map.place(&extent(Write, u64::MAX, 1)).is_err());
    }
}
