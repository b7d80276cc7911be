//! The stored form of a unit: compressed by lz4 if that saves a slot, otherwise unchanged.

use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};

pub struct Codec {
    unit_bytes: usize,
    packing_bytes: usize,
    compresses: bool,
    table: CompressTable,
    output: Vec<u8>,
}

impl Codec {
    pub fn new(unit_bytes: u32, slots_per_unit: u32, compresses: bool) -> Self {
        let unit_bytes = unit_bytes as usize;
        Self {
            unit_bytes,
            packing_bytes: unit_bytes / slots_per_unit as usize,
            compresses,
            table: CompressTable::default(),
            output: vec![0; get_maximum_output_size(unit_bytes)],
        }
    }

    /// Slots occupied by this many bytes.
    pub fn slots(&self, length_bytes: usize) -> u32 {
        length_bytes.div_ceil(self.packing_bytes) as u32
    }

    /// The stored bytes of a unit. If they are as many as a unit has, they are the unit itself.
    pub fn encode<'a>(&'a mut self, unit: &'a [u8]) -> &'a [u8] {
        if !self.compresses {
            return unit;
        }
        let length = compress_into_with_table(unit, &mut self.output, &mut self.table).expect("there is room for all");
        let saves_a_slot = self.slots(length) < self.slots(self.unit_bytes);
        if saves_a_slot { &self.output[..length] } else { unit }
    }

    /// Restores the unit from its stored bytes. False if they are invalid.
    pub fn decode(&self, stored: &[u8], unit: &mut [u8]) -> bool {
        if stored.len() == self.unit_bytes {
            unit.copy_from_slice(stored);
            return true;
        }
        decompress_into(stored, unit).is_ok_and(|length| length == self.unit_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_engine::random::Random;

    fn unit(random_bytes: usize) -> Vec<u8> {
        let mut random = Random::new(7);
        (0..4096).map(|at| if at < random_bytes { random.bits() as u8 } else { 0 }).collect()
    }

    #[test]
    fn a_unit_comes_back_and_takes_what_lz4_makes_of_it() {
        let mut codec = Codec::new(4096, 8, true);
        // A run of zeroes needs some 20 bytes in lz4, so that half a unit does not fit into half its slots.
        for (random_bytes, slots) in [(0, 1), (400, 1), (2000, 4), (2048, 5), (3500, 7), (3600, 8), (4096, 8)] {
            let unit = unit(random_bytes);
            let stored = codec.encode(&unit).to_vec();
            assert_eq!(codec.slots(stored.len()), slots, "{random_bytes} random bytes: {} stored", stored.len());
            assert_eq!(stored.len() == 4096, slots == 8);
            let mut read = vec![1; 4096];
            assert!(codec.decode(&stored, &mut read) && read == unit);
        }
    }

    #[test]
    fn bytes_that_are_no_unit_are_not_taken_for_one() {
        let mut codec = Codec::new(4096, 8, true);
        let stored = codec.encode(&unit(300)).to_vec();
        assert!(!codec.decode(&stored[..stored.len() - 8], &mut [0; 4096]));
        assert!(!codec.decode(&[0x5a; 400], &mut [0; 4096]));
    }

    #[test]
    fn without_compression_a_unit_is_stored_as_it_is() {
        let mut codec = Codec::new(4096, 8, false);
        assert_eq!(codec.encode(&[0; 4096]).len(), 4096);
    }
}
