//! From a block of the job's grid to a byte range within the job's part of the drive.

use super::sizes::{JOB_CLASSES, Sizes};
use crate::random::Random;

/// A byte range of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Start of the range.
    pub offset_bytes: u64,
    /// Length of the range.
    pub length_bytes: u32,
}

/// Chooses the position and the length of a job class's next request.
pub trait Place {
    /// The next request of a job class.
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent;

    /// The job restarts (a loop has ended).
    fn start_over(&mut self, random: &mut Random);

    /// Whether the request just made in this job class was the last that visits something new. False for distributions
    /// without an end.
    fn pass_is_over(&self, _job_class: usize) -> bool {
        false
    }
}

impl<P: Place> Place for Box<P> {
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        (**self).next(job_class, sizes, random)
    }

    fn start_over(&mut self, random: &mut Random) {
        (**self).start_over(random);
    }

    fn pass_is_over(&self, job_class: usize) -> bool {
        (**self).pass_is_over(job_class)
    }
}

/// Draws a block of a job class's grid.
pub trait Blocks {
    /// A number below the job class's count of blocks.
    fn block(&mut self, job_class: usize, random: &mut Random) -> u64;

    /// The job restarts. Has an effect only on distributions that record earlier draws.
    fn start_over(&mut self, _random: &mut Random) {}

    /// Whether every block has been drawn equally often, where that is recorded.
    fn pass_is_over(&self) -> bool {
        false
    }
}

/// The possible starts of a job class's random requests: every multiple of the alignment, relative to the start of the
/// job's part, from which the smallest size of the job class still fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The distance of two positions.
    pub align_bytes: u64,
    /// The number of positions.
    pub blocks: u64,
}

/// Random requests: a block from a distribution, then a size that fits there.
#[derive(Clone, Debug)]
pub struct Scattered<B> {
    /// Start of the job's part.
    pub start_bytes: u64,
    /// End of the job's part.
    pub end_bytes: u64,
    /// The positions of each job class.
    pub grids: [Grid; JOB_CLASSES],
    /// The distribution over them.
    pub blocks: B,
}

impl<B: Blocks> Place for Scattered<B> {
    /// A size that would pass the end is drawn again at the same position, as fio does: the distribution of positions
    /// is exact, that of sizes differs only in the last blocks of the job's part.
    #[inline(always)]
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        let offset_bytes = self.start_bytes + self.blocks.block(job_class, random) * self.grids[job_class].align_bytes;
        let mut length_bytes = sizes.draw(job_class, random);
        if S::VARY && u64::from(length_bytes) > self.end_bytes - offset_bytes {
            length_bytes = sizes.draw_within(job_class, self.end_bytes - offset_bytes, random);
        }
        Extent { offset_bytes, length_bytes }
    }

    fn start_over(&mut self, random: &mut Random) {
        self.blocks.start_over(random);
    }

    fn pass_is_over(&self, _job_class: usize) -> bool {
        self.blocks.pass_is_over()
    }
}
