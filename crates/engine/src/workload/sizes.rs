//! The lengths of requests: one size, which costs nothing, or a draw among several.

use super::chances::Chances;
use crate::random::Random;

/// A job of one direction uses job class 0; a mixed job reads in job class 0 and writes in job class 1.
pub const JOB_CLASSES: usize = 2;

/// A table of sizes for each job class, followed by one for each job class's non-random requests in a random job.
pub const TABLES: usize = 2 * JOB_CLASSES;

/// The table of a non-random request is `job_class + JOB_CLASSES`.
pub trait Sizes {
    /// Whether a job class has more than one size, so that a draw may not fit where the smallest does.
    const VARY: bool;

    /// A size from the job class's distribution.
    fn draw(&self, job_class: usize, random: &mut Random) -> u32;

    /// The job class's smallest size.
    fn least(&self, job_class: usize) -> u32;

    /// A size of at most `room_bytes`, which is no less than the job class's smallest.
    fn draw_within(&self, job_class: usize, room_bytes: u64, random: &mut Random) -> u32;
}

/// One size a table.
#[derive(Clone, Debug)]
pub struct OneSize {
    /// The size of each table.
    pub bytes: [u32; TABLES],
}

impl Sizes for OneSize {
    const VARY: bool = false;

    #[inline(always)]
    fn draw(&self, job_class: usize, _random: &mut Random) -> u32 {
        self.bytes[job_class]
    }

    fn least(&self, job_class: usize) -> u32 {
        self.bytes[job_class]
    }

    fn draw_within(&self, job_class: usize, _room_bytes: u64, _random: &mut Random) -> u32 {
        self.bytes[job_class]
    }
}

/// A distribution of sizes a table.
#[derive(Clone, Debug)]
pub struct SeveralSizes {
    /// The distribution of each table.
    pub chances: [Chances<u32>; TABLES],
    /// The smallest size of each table.
    pub bytes_min: [u32; TABLES],
}

impl Sizes for SeveralSizes {
    const VARY: bool = true;

    #[inline(always)]
    fn draw(&self, job_class: usize, random: &mut Random) -> u32 {
        self.chances[job_class].draw(random)
    }

    fn least(&self, job_class: usize) -> u32 {
        self.bytes_min[job_class]
    }

    #[cold]
    #[inline(never)]
    fn draw_within(&self, job_class: usize, room_bytes: u64, random: &mut Random) -> u32 {
        // After this many draws a fitting size has negligible probability, and the smallest is used.
        const DRAWS_MAX: u32 = 1000;
        debug_assert!(u64::from(self.bytes_min[job_class]) <= room_bytes);
        for _ in 0..DRAWS_MAX {
            let bytes = self.draw(job_class, random);
            if u64::from(bytes) <= room_bytes {
                return bytes;
            }
        }
        self.bytes_min[job_class]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::statistics::assert_shares;

    fn sizes(outcomes: &[(u32, f64)]) -> SeveralSizes {
        let chances = Chances::new(outcomes);
        let bytes_min = outcomes.iter().map(|&(bytes, _)| bytes).min().unwrap();
        SeveralSizes { chances: std::array::from_fn(|_| chances.clone()), bytes_min: [bytes_min; TABLES] }
    }

    #[test]
    fn what_fits_keeps_its_relative_shares() {
        let sizes = sizes(&[(512, 20.0), (4096, 60.0), (8192, 15.0), (65536, 5.0)]);
        let mut random = Random::new(5);
        let mut hits = [0; 2];
        for _ in 0..50_000 {
            match sizes.draw_within(0, 5000, &mut random) {
                512 => hits[0] += 1,
                4096 => hits[1] += 1,
                bytes => panic!("{bytes} bytes do not fit"),
            }
        }
        assert_shares(&hits, &[20.0, 60.0]);
    }

    #[test]
    fn a_hopelessly_rare_size_still_ends_the_search() {
        let sizes = sizes(&[(512, 1e-15), (8192, 100.0)]);
        assert_eq!(sizes.draw_within(1, 4096, &mut Random::new(1)), 512);
    }
}
