//! How the bytes of a drive lie on several devices: chunks of them go round, the first to the first.
//!
//! What a request has on a device is one range there, however many of its chunks it is.

use crate::request::{Operation, Request};
use crate::specification::drive::Stripe;

#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    chunk_bytes: u64,
    row_bytes: u64,
}

impl Chunks {
    pub fn new(stripe: &Stripe) -> Self {
        Self { chunk_bytes: stripe.chunk_bytes, row_bytes: stripe.chunk_bytes * u64::from(stripe.devices) }
    }

    /// How many of the drive's first bytes lie on a device.
    #[inline]
    pub fn bytes_on(&self, device: usize, first_bytes: u64) -> u64 {
        let in_last_row = (first_bytes % self.row_bytes).saturating_sub(device as u64 * self.chunk_bytes);
        first_bytes / self.row_bytes * self.chunk_bytes + in_last_row.min(self.chunk_bytes)
    }

    /// What a device does of a request; nothing where none of its bytes lie there. A flush is for all of them.
    #[inline]
    pub fn part(&self, request: &Request, device: usize) -> Option<Request> {
        if request.operation == Operation::Flush {
            return Some(*request);
        }
        let offset_bytes = self.bytes_on(device, request.offset_bytes);
        let end_bytes = self.bytes_on(device, request.offset_bytes + u64::from(request.length_bytes));
        let length_bytes = (end_bytes - offset_bytes) as u32;
        (length_bytes > 0).then_some(Request { offset_bytes, length_bytes, ..*request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against each byte's own place.
        #[test]
        fn every_byte_goes_to_its_place(devices in 1u32..5, chunk in 1u64..5, offset in 0u64..50, length in 1u32..40) {
            let chunks = Chunks::new(&Stripe { devices, chunk_bytes: chunk });
            let place = |byte: u64| {
                let number = byte / chunk;
                let (device, row) = (number % u64::from(devices), number / u64::from(devices));
                (device as usize, row * chunk + byte % chunk)
            };
            let request = Request::new(Operation::Write, offset, length);
            for device in 0..devices as usize {
                let bytes = (offset..offset + u64::from(length)).map(place);
                let own: Vec<u64> = bytes.filter(|&(on, _)| on == device).map(|(_, byte)| byte).collect();
                let part = chunks.part(&request, device);
                let range = part.map_or(0..0, |part| part.offset_bytes..part.offset_bytes + u64::from(part.length_bytes));
                prop_assert_eq!(own, range.collect::<Vec<_>>());
                let first = (0..offset).map(place).filter(|&(on, _)| on == device).count() as u64;
                prop_assert_eq!(chunks.bytes_on(device, offset), first);
            }
        }
    }

    #[test]
    fn a_flush_is_for_all() {
        let chunks = Chunks::new(&Stripe { devices: 3, chunk_bytes: 4096 });
        let flush = Request::new(Operation::Flush, 0, 0);
        assert!((0..3).all(|device| chunks.part(&flush, device) == Some(flush)));
    }
}
