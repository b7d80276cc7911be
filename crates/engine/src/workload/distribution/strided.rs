//! Sequential with gaps, or backwards: fio's `rw=write:4k`, `rw=read:-8k`.

use crate::random::Random;
use crate::workload::place::{Extent, Place};
use crate::workload::sizes::{JOB_CLASSES, Sizes};

/// Each request starts `skip_bytes` after the end of the job class's last one, so 4 KiB requests with -8 KiB move
/// backwards one by one. The first is at the start. A request that would not fit goes to the start, or backwards to the
/// end.
#[derive(Clone, Debug)]
pub struct Strided {
    start_bytes: u64,
    size_bytes: u64,
    skip_bytes: i64,
    /// Relative to the start: the end of the last request plus the skip, so it may be outside.
    next_bytes: [i64; JOB_CLASSES],
    is_over: [bool; JOB_CLASSES],
}

impl Strided {
    /// Panics if a position could leave 63 bits.
    pub fn new(start_bytes: u64, end_bytes: u64, skip_bytes: i64) -> Strided {
        assert!(start_bytes < end_bytes && end_bytes < 1 << 62 && skip_bytes.unsigned_abs() < 1 << 62);
        let size_bytes = end_bytes - start_bytes;
        Strided { start_bytes, size_bytes, skip_bytes, next_bytes: [0; JOB_CLASSES], is_over: [false; JOB_CLASSES] }
    }
}

impl Place for Strided {
    #[inline(always)]
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        let length_bytes = u64::from(sizes.draw(job_class, random)).min(self.size_bytes) as i64;
        let size_bytes = self.size_bytes as i64;
        let fits = |at: i64| at >= 0 && at + length_bytes <= size_bytes;
        let mut at = self.next_bytes[job_class];
        if !fits(at) {
            at = if self.skip_bytes < 0 { size_bytes + self.skip_bytes } else { 0 };
            // With a skip longer than the part, the request goes to the start.
            at = if fits(at) { at } else { 0 };
        }
        self.next_bytes[job_class] = at + length_bytes + self.skip_bytes;
        self.is_over[job_class] = !fits(self.next_bytes[job_class]);
        Extent { offset_bytes: self.start_bytes + at as u64, length_bytes: length_bytes as u32 }
    }

    fn start_over(&mut self, _random: &mut Random) {
        self.next_bytes = [0; JOB_CLASSES];
        self.is_over = [false; JOB_CLASSES];
    }

    fn pass_is_over(&self, job_class: usize) -> bool {
        self.is_over[job_class]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::sizes::OneSize;

    fn offsets(size_bytes: u64, skip_bytes: i64, count: usize) -> Vec<u64> {
        let mut places = Strided::new(100, 100 + size_bytes, skip_bytes);
        let sizes = OneSize { bytes: [4; 4] };
        (0..count).map(|_| places.next(0, &sizes, &mut Random::new(0)).offset_bytes - 100).collect()
    }

    #[test]
    fn holes_are_left_out_in_every_pass() {
        assert_eq!(offsets(24, 4, 7), [0, 8, 16, 0, 8, 16, 0]);
        assert_eq!(offsets(24, 12, 4), [0, 16, 0, 16]);
        assert_eq!(offsets(24, 1000, 3), [0, 0, 0]);
    }

    #[test]
    fn backwards_starts_at_the_start_and_then_comes_from_the_end() {
        assert_eq!(offsets(24, -8, 9), [0, 16, 12, 8, 4, 0, 16, 12, 8]);
        assert_eq!(offsets(24, -4, 3), [0, 0, 0]);
        assert_eq!(offsets(24, -1000, 3), [0, 0, 0]);
    }
}
