//! The host's data of one request, read from and written to the units that the translation layer decides on.

/// The data of a request. Addresses are bytes of the device.
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum Transfer<'a> {
    /// No data.
    Nothing,
    /// Data to be read.
    Read { offset_bytes: u64, into: &'a mut [u8] },
    /// Data to be written.
    Write { offset_bytes: u64, data: &'a [u8] },
    /// Zeroes to be written.
    Zero { offset_bytes: u64, length_bytes: u64 },
}

/// The part of a unit that a request covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Offset in the unit.
    pub from: usize,
    pub to: usize,
    /// Offset in the request.
    pub at: usize,
}

impl Transfer<'_> {
    fn range(&self) -> (u64, u64) {
        match self {
            Self::Nothing => (0, 0),
            Self::Read { offset_bytes, into } => (*offset_bytes, into.len() as u64),
            Self::Write { offset_bytes, data } => (*offset_bytes, data.len() as u64),
            Self::Zero { offset_bytes, length_bytes } => (*offset_bytes, *length_bytes),
        }
    }

    /// The first mapping unit of the range.
    pub fn first_unit(&self, unit_bytes: u32) -> u64 {
        self.range().0 / u64::from(unit_bytes)
    }

    /// The start of the range.
    pub fn offset_bytes(&self) -> u64 {
        self.range().0
    }

    /// The part of the unit covered by the request, if any.
    pub fn part(&self, unit: u64, unit_bytes: u32) -> Option<Part> {
        let (offset, length) = self.range();
        let unit_start = unit * u64::from(unit_bytes);
        let from = offset.max(unit_start);
        let to = (offset + length).min(unit_start + u64::from(unit_bytes));
        (from < to).then(|| Part {
            from: (from - unit_start) as usize,
            to: (to - unit_start) as usize,
            at: (from - offset) as usize,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_units_that_a_request_covers() {
        let data = [0u8; 5000];
        let write = Transfer::Write { offset_bytes: 4000, data: &data };
        assert_eq!(write.first_unit(4096), 0);
        assert_eq!(write.part(0, 4096), Some(Part { from: 4000, to: 4096, at: 0 }));
        assert_eq!(write.part(1, 4096), Some(Part { from: 0, to: 4096, at: 96 }));
        assert_eq!(write.part(2, 4096), Some(Part { from: 0, to: 808, at: 4192 }));
        assert_eq!(write.part(3, 4096), None);
        assert_eq!(Transfer::Nothing.part(0, 4096), None);
    }
}
