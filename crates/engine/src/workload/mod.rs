//! Request streams: the requests of one job of the specification, one by one.
//!
//! Positions, lengths and operations are each chosen once, when a stream is built; `fill` enters the loop compiled for
//! that choice and stays in it for a whole batch. Traces and the times of requests are handled elsewhere.

pub mod amount;
mod build;
pub mod chances;
pub mod composed;
pub mod distribution;
mod error;
pub mod host_zones;
mod identifiers;
mod job_class;
pub mod permutation;
pub mod place;
pub mod scatter;
pub mod sizes;
#[cfg(test)]
mod statistics;
pub mod store;
#[cfg(test)]
mod tests;
mod visits;
mod zones;

use crate::random::Random;
use crate::request::{Content, Operation, Request};
use crate::specification::Job;
use crate::specification::job::Direction;
use amount::Amount;
use chances::Chances;
use distribution::{Places, each};
pub use error::StreamError;
use identifiers::Marker;
use job_class::JobClass;
use place::Place;
use sizes::{JOB_CLASSES, OneSize, SeveralSizes, Sizes};

/// One job's requests, in order. The same job gives the same requests, in whatever batches they are fetched.
///
/// No request is empty or outside the job's part of the drive.
#[derive(Clone, Debug)]
pub struct Stream {
    places: Places,
    lengths: Lengths,
    kinds: Kinds,
    content: Content,
    random: Random,
    amount: Amount,
    /// Only for jobs with several placement identifiers.
    marker: Option<Box<Marker>>,
    /// The write of a trim and write pair of which only the trim fitted into the last batch.
    write_pending: Option<Request>,
}

#[derive(Clone, Debug)]
enum Lengths {
    One(OneSize),
    Several(SeveralSizes),
}

/// The operations of requests, and so the job class of each.
#[derive(Clone, Copy, Debug)]
enum Kinds {
    All(Operation),
    /// A read if 64 random bits are below the bound, otherwise a write.
    Mixed {
        reads_below: u64,
    },
    /// Each trim is followed by a write of the same bytes.
    TrimWrite,
}

impl Stream {
    /// Errors name the field of the job.
    pub fn new(job: &Job) -> Result<Stream, StreamError> {
        if job.size_bytes == 0 || job.offset_bytes.checked_add(job.size_bytes).is_none() {
            return Err(StreamError::new("size_bytes", job.size_bytes, "1 byte or more, ending below 2^64"));
        }
        if job.loops == 0 {
            return Err(StreamError::new("loops", job.loops, "1 or more"));
        }
        let (kinds, operations) = kinds(job)?;
        let job_classes = [JobClass::new(job, operations[0])?, JobClass::new(job, operations[1])?];
        let mut random = Random::new(job.seed);
        let length_bytes_max = job_classes.iter().map(JobClass::length_bytes_max).max().unwrap_or(0);
        Ok(Stream {
            places: build::places(job, &job_classes, &mut random)?,
            lengths: lengths(&job_classes),
            marker: marker(job)?,
            kinds,
            content: content(job)?,
            random,
            amount: Amount::new(job, length_bytes_max),
            write_pending: None,
        })
    }

    /// Appends the job's next requests, at most `count_max`, and returns their number; 0 when the job is done.
    ///
    /// `out` is reallocated only if it has no capacity for `count_max` more.
    pub fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> usize {
        let start = out.len();
        let end = start + count_max;
        while out.len() < end {
            out.extend(self.write_pending.take());
            let room = match self.kinds {
                Kinds::TrimWrite => (end - out.len()).div_ceil(2),
                _ => end - out.len(),
            };
            let count = (room as u64).min(self.amount.certain()) as usize;
            if count == 0 {
                break;
            }
            let bytes = self.generate(out, count);
            if let Kinds::TrimWrite = self.kinds {
                self.write_pending = pair_writes(out, count, end);
            }
            if self.amount.add(count as u64, bytes) {
                self.places.start_over(&mut self.random);
            }
        }
        if let Some(marker) = &mut self.marker {
            marker.mark(&mut out[start..]);
        }
        out.len() - start
    }

    /// Appends the next request, of this direction, of a job that reads and writes. Returns 0 when the job is done.
    pub fn fill_one(&mut self, direction: Operation, out: &mut Vec<Request>) -> usize {
        let reads_below = if direction == Operation::Read { u64::MAX } else { 0 };
        let kinds = std::mem::replace(&mut self.kinds, Kinds::Mixed { reads_below });
        let count = self.fill(out, 1);
        self.kinds = kinds;
        count
    }

    /// Restarts the job; its random generator continues.
    pub fn restart(&mut self) {
        self.amount.restart();
        self.write_pending = None;
        self.places.start_over(&mut self.random);
    }

    /// The completed share of the job, from 0 to 1: of its bytes or its requests, whichever is larger.
    pub fn progress(&self) -> f64 {
        self.amount.progress()
    }

    /// Appends `count` requests and returns the sum of their lengths.
    fn generate(&mut self, out: &mut Vec<Request>, count: usize) -> u64 {
        let Stream { places, lengths, kinds, content, random, .. } = self;
        let content = *content;
        each!(places, places => generate_at(places, lengths, *kinds, content, random, out, count))
    }
}

fn generate_at<P: Place>(
    places: &mut P,
    lengths: &Lengths,
    kinds: Kinds,
    content: Content,
    random: &mut Random,
    out: &mut Vec<Request>,
    count: usize,
) -> u64 {
    match lengths {
        Lengths::One(sizes) => generate_sized(places, sizes, kinds, content, random, out, count),
        Lengths::Several(sizes) => generate_sized(places, sizes, kinds, content, random, out, count),
    }
}

/// The loop itself, compiled for each kind of position and of sizes.
fn generate_sized<P: Place, S: Sizes>(
    places: &mut P,
    sizes: &S,
    kinds: Kinds,
    content: Content,
    random: &mut Random,
    out: &mut Vec<Request>,
    count: usize,
) -> u64 {
    // A local copy of the generator stays in registers.
    let mut local = random.clone();
    let mut bytes = 0;
    match kinds {
        Kinds::All(operation) => out.extend((0..count).map(|_| {
            let extent = places.next(0, sizes, &mut local);
            bytes += u64::from(extent.length_bytes);
            Request {
                offset_bytes: extent.offset_bytes,
                length_bytes: extent.length_bytes,
                operation,
                is_through: false,
                content,
            }
        })),
        Kinds::Mixed { reads_below } => out.extend((0..count).map(|_| {
            let job_class = usize::from(local.bits() >= reads_below);
            let operation = if job_class == 0 { Operation::Read } else { Operation::Write };
            let extent = places.next(job_class, sizes, &mut local);
            bytes += u64::from(extent.length_bytes);
            Request {
                offset_bytes: extent.offset_bytes,
                length_bytes: extent.length_bytes,
                operation,
                is_through: false,
                content,
            }
        })),
        Kinds::TrimWrite => {
            return generate_sized(places, sizes, Kinds::All(Operation::Trim), content, random, out, count);
        }
    }
    *random = local;
    bytes
}

/// Turns the last `count` requests, trims, into pairs, in place from the back. Returns the last write if it would be at
/// or past index `end`.
fn pair_writes(out: &mut Vec<Request>, count: usize, end: usize) -> Option<Request> {
    let first = out.len() - count;
    let mut pending = None;
    let length = (first + 2 * count).min(end);
    out.resize(length, out[first]);
    for index in (0..count).rev() {
        let trim = out[first + index];
        let write = Request { operation: Operation::Write, ..trim };
        let place = first + 2 * index;
        out[place] = trim;
        if place + 1 < length {
            out[place + 1] = write;
        } else {
            pending = Some(write);
        }
    }
    pending
}

fn content(job: &Job) -> Result<Content, StreamError> {
    let percent = |key, percent: f64| match percent {
        0.0..=100.0 => Ok(percent.round() as u8),
        _ => Err(StreamError::new(key, percent, "0 to 100")),
    };
    Ok(Content {
        compress_percent: percent("compress_percent", job.compress_percent)?,
        dedupe_percent: percent("dedupe_percent", job.dedupe_percent)?,
        identifier: u8::try_from(job.stream_id.unwrap_or(0))
            .map_err(|_| StreamError::new("stream_id", job.stream_id.unwrap_or(0), "0 to 255"))?,
    })
}

fn marker(job: &Job) -> Result<Option<Box<Marker>>, StreamError> {
    use crate::specification::job::Identifiers::{Random, RoundRobin};
    match &job.identifiers {
        None => Ok(None),
        Some(RoundRobin { among } | Random { among }) if among.is_empty() => {
            Err(StreamError::new("identifiers.among", "[]", "placement identifiers, or a drive that has some"))
        }
        Some(identifiers) => Ok(Some(Box::new(Marker::new(identifiers.clone(), job.seed)))),
    }
}

fn kinds(job: &Job) -> Result<(Kinds, [Operation; JOB_CLASSES]), StreamError> {
    use Operation::{Read, Trim, Write};
    let all = |operation| Ok((Kinds::All(operation), [operation; JOB_CLASSES]));
    match job.direction {
        Direction::Read => all(Read),
        Direction::Write => all(Write),
        Direction::Trim => all(Trim),
        Direction::TrimWrite => Ok((Kinds::TrimWrite, [Trim; JOB_CLASSES])),
        Direction::ReadWrite => match job.read_percent {
            0.0 => all(Write),
            100.0 => all(Read),
            percent if percent > 0.0 && percent < 100.0 => {
                Ok((Kinds::Mixed { reads_below: (percent / 100.0 * 2f64.powi(64)) as u64 }, [Read, Write]))
            }
            percent => Err(StreamError::new("read_percent", percent, "0 to 100")),
        },
    }
}

fn lengths(job_classes: &[JobClass; JOB_CLASSES]) -> Lengths {
    let followed = job_classes.each_ref().map(JobClass::following_sizes);
    let tables = [&job_classes[0].sizes, &job_classes[1].sizes, followed[0], followed[1]];
    let bytes_min = tables.map(|sizes| sizes.iter().map(|&(bytes, _)| bytes).min().unwrap_or(0));
    if tables.iter().zip(bytes_min).all(|(sizes, least)| sizes.iter().all(|&(bytes, _)| bytes == least)) {
        Lengths::One(OneSize { bytes: bytes_min })
    } else {
        Lengths::Several(SeveralSizes { chances: tables.map(|sizes| Chances::new(sizes)), bytes_min })
    }
}
