//! Request sizes, counted in classes whose upper bounds are powers of two.

/// Class `c` holds the lengths above `2^(c-1)` bytes and up to `2^c`; class 0 holds 0 and 1.
const CLASSES: usize = 33;

/// Request sizes by class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeHistogram {
    counts: [u64; CLASSES],
    /// The smallest size.
    pub bytes_min: u32,
    /// The largest size.
    pub bytes_max: u32,
}

impl Default for SizeHistogram {
    fn default() -> Self {
        SizeHistogram { counts: [0; CLASSES], bytes_min: u32::MAX, bytes_max: 0 }
    }
}

impl SizeHistogram {
    #[inline]
    pub(super) fn add(&mut self, length_bytes: u32) {
        let class = u32::BITS - length_bytes.saturating_sub(1).leading_zeros();
        self.counts[class as usize] += 1;
        self.bytes_min = self.bytes_min.min(length_bytes);
        self.bytes_max = self.bytes_max.max(length_bytes);
    }

    /// The classes that have requests, as (largest length of the class in bytes, requests), from small to large.
    pub fn classes(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(class, count)| (1 << class, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_two_is_the_largest_of_its_class() {
        let mut histogram = SizeHistogram::default();
        for length_bytes in [512, 4096, 4097, 4096, 8192, 0, u32::MAX] {
            histogram.add(length_bytes);
        }
        let classes: Vec<_> = histogram.classes().collect();
        assert_eq!(classes, [(1, 1), (512, 1), (4096, 2), (8192, 2), (1 << 32, 1)]);
        assert_eq!((histogram.bytes_min, histogram.bytes_max), (0, u32::MAX));
    }
}
