//! Reads and checks a job's fields for one direction: sizes, alignment, and the resulting grid of positions.

use super::error::StreamError;
use super::place::Grid;
use crate::request::Operation;
use crate::specification::Job;
use crate::specification::job::{BlockSize, PerDirection};

/// The allowed deviation of percentages from a sum of 100: thirds are written with a few digits.
const PERCENT_TOLERANCE: f64 = 0.01;

#[derive(Clone, Debug, PartialEq)]
pub struct JobClass {
    pub operation: Operation,
    /// Bytes and weight of every size.
    pub sizes: Vec<(u32, f64)>,
    following: Option<Vec<(u32, f64)>>,
    pub bytes_min: u32,
    pub bytes_max: u32,
    align_bytes: u64,
}

impl JobClass {
    pub fn new(job: &Job, operation: Operation) -> Result<JobClass, StreamError> {
        let (direction, list) = choose(operation, &job.block_sizes);
        let sizes = checked_sizes(&format!("block_sizes.{direction}"), list)?;
        let following = match &job.following_block_sizes {
            Some(lists) => {
                Some(checked_sizes(&format!("following_block_sizes.{direction}"), choose(operation, lists).1)?)
            }
            None => None,
        };
        let bytes = || sizes.iter().map(|&(bytes, _)| bytes);
        let (bytes_min, bytes_max) = (bytes().min().unwrap_or(0), bytes().max().unwrap_or(0));

        let (_, &align_bytes) = choose(operation, &job.block_align_bytes);
        if align_bytes == 0 {
            return Err(StreamError::new(&format!("block_align_bytes.{direction}"), 0, "1 byte or more"));
        }
        let smallest_range_bytes = match &job.files {
            Some(files) => files.ranges.iter().map(|range| range.size_bytes).min().unwrap_or(job.size_bytes),
            None => job.size_bytes,
        };
        if !job.sequential && u64::from(bytes_min) > smallest_range_bytes {
            let allowed = format!("at least {bytes_min}, the smallest size of a {direction}");
            return Err(StreamError::new("size_bytes", smallest_range_bytes, allowed));
        }
        Ok(JobClass { operation, sizes, following, bytes_min, bytes_max, align_bytes })
    }

    /// The sizes of requests without a random position of their own.
    pub fn following_sizes(&self) -> &Vec<(u32, f64)> {
        self.following.as_ref().unwrap_or(&self.sizes)
    }

    /// The largest size of the job class.
    pub fn length_bytes_max(&self) -> u32 {
        self.following_sizes().iter().map(|&(bytes, _)| bytes).fold(self.bytes_max, u32::max)
    }

    /// The positions in a range that is no smaller than the smallest size.
    pub fn grid(&self, size_bytes: u64) -> Grid {
        let blocks = (size_bytes - u64::from(self.bytes_min)) / self.align_bytes + 1;
        Grid { align_bytes: self.align_bytes, blocks }
    }
}

/// Bytes and weight of every size.
fn checked_sizes(key: &str, list: &[BlockSize]) -> Result<Vec<(u32, f64)>, StreamError> {
    if list.is_empty() {
        return Err(StreamError::new(key, "[]", "at least one size"));
    }
    if let Some(size) = list.iter().find(|size| size.bytes == 0) {
        return Err(StreamError::new(&format!("{key}.bytes"), size.bytes, "1 byte or more"));
    }
    check_percentages(&format!("{key}.percent"), list.iter().map(|size| size.percent))?;
    Ok(list.iter().filter(|size| size.percent > 0.0).map(|size| (size.bytes, size.percent)).collect())
}

fn choose<T>(operation: Operation, all: &PerDirection<T>) -> (&'static str, &T) {
    match operation {
        Operation::Read => ("read", &all.read),
        Operation::Write => ("write", &all.write),
        Operation::Trim => ("trim", &all.trim),
        Operation::Flush => unreachable!("no job_class flushes"),
    }
}

/// Each from 0 to 100, and 100 in sum.
pub fn check_percentages(key: &str, percentages: impl Iterator<Item = f64>) -> Result<(), StreamError> {
    let mut sum = 0.0;
    for percent in percentages {
        if !(0.0..=100.0).contains(&percent) {
            return Err(StreamError::new(key, percent, "0 to 100"));
        }
        sum += percent;
    }
    if (sum - 100.0).abs() > PERCENT_TOLERANCE {
        return Err(StreamError::new(key, format!("{sum} in all"), "percentages that add up to 100"));
    }
    Ok(())
}
