//! From the start of the job's part to its end, repeatedly.

use crate::random::Random;
use crate::workload::place::{Extent, Place};
use crate::workload::sizes::{JOB_CLASSES, Sizes};

/// Reads and writes of a mixed job have separate positions, as in fio.
///
/// The last request of a pass is cut at the end of the part, so that every pass covers every byte once. (fio leaves a
/// remainder smaller than a block untouched; a drive filled that way would never be full.)
#[derive(Clone, Debug)]
pub struct Sequential {
    start_bytes: u64,
    end_bytes: u64,
    position_bytes: [u64; JOB_CLASSES],
}

impl Sequential {
    /// For a range of the drive.
    pub fn new(start_bytes: u64, end_bytes: u64) -> Sequential {
        assert!(start_bytes < end_bytes);
        Sequential { start_bytes, end_bytes, position_bytes: [start_bytes; JOB_CLASSES] }
    }
}

impl Place for Sequential {
    #[inline(always)]
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        let offset_bytes = self.position_bytes[job_class];
        let room_bytes = self.end_bytes - offset_bytes;
        let length_bytes = u64::from(sizes.draw(job_class, random)).min(room_bytes);
        self.position_bytes[job_class] =
            if length_bytes == room_bytes { self.start_bytes } else { offset_bytes + length_bytes };
        Extent { offset_bytes, length_bytes: length_bytes as u32 }
    }

    fn start_over(&mut self, _random: &mut Random) {
        self.position_bytes = [self.start_bytes; JOB_CLASSES];
    }

    fn pass_is_over(&self, job_class: usize) -> bool {
        self.position_bytes[job_class] == self.start_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::sizes::OneSize;

    #[test]
    fn job_classes_go_their_own_way_and_wrap_at_the_end() {
        let mut places = Sequential::new(1000, 2000);
        let sizes = OneSize { bytes: [400, 500, 400, 500] };
        let mut random = Random::new(0);
        let mut next = |job_class| {
            let extent = places.next(job_class, &sizes, &mut random);
            (extent.offset_bytes, extent.length_bytes)
        };
        assert_eq!([next(0), next(0), next(1)], [(1000, 400), (1400, 400), (1000, 500)]);
        assert_eq!([next(0), next(0), next(1), next(1)], [(1800, 200), (1000, 400), (1500, 500), (1000, 500)]);
    }
}
