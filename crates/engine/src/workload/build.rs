//! From a job's fields to the positions of its requests: the choice among distributions, files and runs.

use super::chances::Chances;
use super::composed::{Composed, File, Run, Service};
use super::distribution::{
    Places, cut_map, like_fio, normal, pareto, random_map, sequential, strided, uniform, zipf, zoned,
};
use super::error::StreamError;
use super::job_class::{JobClass, check_percentages};
use super::place::Scattered;
use super::sizes::JOB_CLASSES;
use super::zones::Zones;
use crate::random::Random;
use crate::request::Operation;
use crate::specification::Job;
use crate::specification::job::{
    AbsoluteZone, Distribution, FileRange, FileService, Files, FioLaw, PerDirection, Runs, Sequencer, StridedZones,
    Zone,
};

pub fn places(job: &Job, job_classes: &[JobClass; JOB_CLASSES], random: &mut Random) -> Result<Places, StreamError> {
    let whole = FileRange { offset_bytes: job.offset_bytes, size_bytes: job.size_bytes };
    if let Some(strides) = job.zones {
        return zones_of(job, strides, job_classes, whole, random);
    }
    if job.files.is_none() && job.runs.is_none() && job.random_percent.is_none() {
        return places_of(job, job_classes, whole, random);
    }
    let (ranges, service) = match &job.files {
        Some(files) => (files.ranges.clone(), service(files)?),
        None => (vec![whole], Service::Sequential),
    };
    check_ranges(&ranges, whole)?;
    let file = |range: FileRange| {
        let places = places_of(job, job_classes, range, random)?;
        Ok(File::new(places, range.offset_bytes, range.offset_bytes + range.size_bytes))
    };
    let files: Vec<File<_>> = ranges.into_iter().map(file).collect::<Result<_, StreamError>>()?;
    Ok(Places::Composed(Box::new(Composed::new(files, service, run(job, job_classes)?))))
}

/// Whole zones, and the last one if the end of the range cuts it and a request still fits.
fn zones_of(
    job: &Job,
    strides: StridedZones,
    job_classes: &[JobClass; JOB_CLASSES],
    whole: FileRange,
    random: &mut Random,
) -> Result<Places, StreamError> {
    let refuse = |key: &str, value: &dyn std::fmt::Display, allowed: &str| {
        Err(StreamError::new(&format!("zones.{key}"), value, allowed))
    };
    if job.files.is_some() || job.runs.is_some() || job.random_percent.is_some() {
        return refuse("range_bytes", &strides.range_bytes, "one file, and every random request at a place of its own");
    }
    if !job.sequential && job.distribution != Distribution::Random {
        return refuse("range_bytes", &strides.range_bytes, "the uniform distribution");
    }
    let least_bytes = job_classes.iter().map(|job_class| u64::from(job_class.bytes_min)).max().unwrap_or(1);
    let range_bytes = strides.range_bytes.min(whole.size_bytes);
    if range_bytes < least_bytes {
        return refuse("range_bytes", &range_bytes, "at least the smallest size");
    }
    if strides.transfer_bytes == 0 {
        return refuse("transfer_bytes", &0, "1 byte or more");
    }
    let step_bytes = strides.range_bytes.saturating_add(strides.skip_bytes);
    let zone = |size_bytes| FileRange { size_bytes, ..whole };
    let places = places_of(job, job_classes, zone(range_bytes), random)?;
    let end_bytes = whole.offset_bytes + whole.size_bytes;
    let whole_zones = (whole.size_bytes - range_bytes) / step_bytes + 1;
    let last_bytes = whole.size_bytes.saturating_sub(whole_zones.saturating_mul(step_bytes));
    let last = match last_bytes >= least_bytes {
        true => Some(places_of(job, job_classes, zone(last_bytes), random)?),
        false => None,
    };
    let zones = Zones::new(places, last, whole_zones, step_bytes, strides.transfer_bytes);
    debug_assert!(zones.end_bytes_max(whole.offset_bytes, range_bytes, last_bytes) <= end_bytes);
    Ok(Places::Zones(Box::new(zones)))
}

/// The positions within one file, or the one range of a plain job.
///
/// A random map needs the same grid in both job classes; without it, and with any distribution but the uniform one, it
/// has no effect. Scattering follows the seed, so that a job that restarts has the same hot blocks.
fn places_of(
    job: &Job,
    job_classes: &[JobClass; JOB_CLASSES],
    range: FileRange,
    random: &mut Random,
) -> Result<Places, StreamError> {
    let (start_bytes, end_bytes) = (range.offset_bytes, range.offset_bytes + range.size_bytes);
    if job.sequential {
        return match job.skip_bytes {
            None | Some(0) => Ok(Places::Sequential(sequential::Sequential::new(start_bytes, end_bytes))),
            Some(skip_bytes) if skip_bytes.unsigned_abs() >= 1 << 62 || end_bytes >= 1 << 62 => {
                Err(StreamError::new("skip_bytes", skip_bytes, "less than 2^62, on a drive smaller than that"))
            }
            Some(skip_bytes) => Ok(Places::Strided(strided::Strided::new(start_bytes, end_bytes, skip_bytes))),
        };
    }
    let grids = [job_classes[0].grid(range.size_bytes), job_classes[1].grid(range.size_bytes)];
    let counts = grids.map(|grid| grid.blocks);
    if let Some(&count) = counts.iter().find(|&&count| count > 1 << 62) {
        return Err(StreamError::new(
            "size_bytes",
            format!("{} ({count} blocks)", range.size_bytes),
            "2^62 blocks at most",
        ));
    }
    macro_rules! scattered {
        ($kind:ident, $blocks:expr) => {
            Ok(Places::$kind(Scattered { start_bytes, end_bytes, grids, blocks: $blocks }))
        };
    }
    match &job.distribution {
        Distribution::Random => {
            let block_bytes = grids[0].align_bytes;
            let is_mapped = job.random_map
                && grids[0] == grids[1]
                && job_classes.iter().all(|job_class| job_class.bytes_min == job_classes[0].bytes_min)
                && end_bytes - start_bytes >= block_bytes;
            let is_one_size = job_classes.iter().all(|job_class| job_class.bytes_max == job_classes[0].bytes_min);
            // With lengths above a block (`bs_is_seq_rand`) a request occupies several blocks of the map.
            let takes_blocks = job.random_map
                && job.following_block_sizes.is_some()
                && grids[0].align_bytes == grids[1].align_bytes
                && job_classes.iter().all(|job_class| u64::from(job_class.bytes_min) > block_bytes)
                && end_bytes - start_bytes >= block_bytes;
            match (is_mapped, is_one_size) {
                _ if takes_blocks => Ok(Places::CutMap(cut_map::CutMap::new(start_bytes, end_bytes, block_bytes))),
                (true, true) => scattered!(RandomMap, random_map::RandomMap::new(counts[0], random)),
                (true, false) if u64::from(job_classes[0].bytes_min) == block_bytes => {
                    Ok(Places::CutMap(cut_map::CutMap::new(start_bytes, end_bytes, block_bytes)))
                }
                _ => scattered!(Uniform, uniform::Uniform::new(counts)),
            }
        }
        &Distribution::Zipf { theta, center, ranks_per_block } => {
            check_law(FioLaw::Zipf { theta }, center)?;
            check_ranks(ranks_per_block, &counts)?;
            match u64::from(ranks_per_block) {
                1 => scattered!(Zipf, zipf::Zipf::new(theta, center, counts, random.bits())),
                ranks => scattered!(CoarseZipf, zipf::CoarseZipf::new(theta, center, counts, random.bits(), ranks)),
            }
        }
        &Distribution::Pareto { h, center } => {
            check_law(FioLaw::Pareto { h }, center)?;
            scattered!(Pareto, pareto::Pareto::new(h, center, counts, random.bits()))
        }
        &Distribution::Normal { deviation_percent, center } => {
            check_law(FioLaw::Normal { deviation_percent }, center)?;
            scattered!(Normal, normal::Normal::new(deviation_percent / 100.0, center, counts, random.bits()))
        }
        Distribution::Zoned { zones, scattered: is_scattered } => {
            check_zones(zones)?;
            match is_scattered {
                false => scattered!(Zoned, zoned::Zoned::new([zones; JOB_CLASSES], counts)),
                true => {
                    scattered!(ScatteredZones, zoned::ScatteredZones::new([zones; JOB_CLASSES], counts, random.bits()))
                }
            }
        }
        Distribution::ZonedByDirection { zones } => {
            let zones = job_classes.each_ref().map(|job_class| by_direction(zones, job_class).as_slice());
            zones.into_iter().try_for_each(check_zones)?;
            scattered!(Zoned, zoned::Zoned::new(zones, counts))
        }
        Distribution::ZonedAbsolute { zones } => {
            let zones = job_classes.each_ref().map(|job_class| by_direction(zones, job_class).as_slice());
            zones.into_iter().try_for_each(|zones| check_absolute_zones(zones, range.size_bytes))?;
            scattered!(Zoned, zoned::Zoned::absolute(zones, grids))
        }
        &Distribution::LikeFio { law, center, seed } => {
            check_law(law, center)?;
            if let FioLaw::Zipf { theta: 1.0 } = law {
                return Err(StreamError::new(
                    "distribution.law.theta",
                    1,
                    "another number: fio cannot compute this one",
                ));
            }
            if counts[0] != counts[1] {
                return Err(StreamError::new("distribution", "like-fio", "one grid for all directions"));
            }
            scattered!(LikeFio, like_fio::LikeFio::new(law, center, counts[0], seed))
        }
    }
}

fn check_ranks(ranks_per_block: u32, counts: &[u64; JOB_CLASSES]) -> Result<(), StreamError> {
    let blocks_max = counts.iter().max().copied().unwrap_or(1).max(1);
    match u64::from(ranks_per_block) {
        1.. if u64::from(ranks_per_block) <= (1 << 62) / blocks_max => Ok(()),
        _ => Err(StreamError::new("distribution.ranks_per_block", ranks_per_block, "1 or more, 2^62 ranks at most")),
    }
}

fn by_direction<'a, T>(all: &'a PerDirection<T>, job_class: &JobClass) -> &'a T {
    match job_class.operation {
        Operation::Read => &all.read,
        Operation::Write => &all.write,
        Operation::Trim => &all.trim,
        Operation::Flush => unreachable!("no job_class flushes"),
    }
}

fn service(files: &Files) -> Result<Service, StreamError> {
    match &files.service {
        FileService::RoundRobin { ios: 0 } | FileService::Random { ios: 0 } => {
            Err(StreamError::new("files.service.ios", 0, "1 or more"))
        }
        &FileService::RoundRobin { ios } => Ok(Service::RoundRobin { ios }),
        FileService::Sequential => Ok(Service::Sequential),
        &FileService::Random { ios } => Ok(Service::Random { ios }),
        FileService::Weighted { weights } => {
            let sum: f64 = weights.iter().sum();
            let is_valid = weights.iter().all(|&weight| weight >= 0.0) && sum > 0.0 && sum.is_finite();
            if !is_valid || weights.len() != files.ranges.len() {
                let allowed = "a number of 0 or more for each file, above 0 for one of them";
                return Err(StreamError::new("files.service.weights", format!("{weights:?}"), allowed));
            }
            Ok(Service::Weighted(Chances::new(&weights.iter().copied().enumerate().collect::<Vec<_>>())))
        }
    }
}

fn run(job: &Job, job_classes: &[JobClass; JOB_CLASSES]) -> Result<Run, StreamError> {
    let Runs { ios, then } = job.runs.unwrap_or(Runs { ios: 1, then: Sequencer::Sequential });
    if ios == 0 {
        return Err(StreamError::new("runs.ios", 0, "1 or more"));
    }
    let mut random_below = [None; JOB_CLASSES];
    if let Some(percent) = job.random_percent.as_ref().filter(|_| !job.sequential) {
        for (below, job_class) in random_below.iter_mut().zip(job_classes) {
            *below = match *by_direction(percent, job_class) {
                100.0 => None,
                percent if (0.0..100.0).contains(&percent) => Some((percent / 100.0 * 2f64.powi(64)) as u64),
                percent => return Err(StreamError::new("random_percent", percent, "0 to 100")),
            };
        }
    }
    Ok(Run { ios, then, random_below, left: 0 })
}

fn check_ranges(ranges: &[FileRange], whole: FileRange) -> Result<(), StreamError> {
    let end = |range: FileRange| range.offset_bytes.saturating_add(range.size_bytes);
    let fits =
        |range: FileRange| range.size_bytes > 0 && range.offset_bytes >= whole.offset_bytes && end(range) <= end(whole);
    if ranges.is_empty() {
        return Err(StreamError::new("files.ranges", "[]", "at least one file"));
    }
    match ranges.iter().find(|&&range| !fits(range)) {
        None => Ok(()),
        Some(range) => {
            let value = format!("{} bytes at {}", range.size_bytes, range.offset_bytes);
            Err(StreamError::new("files.ranges", value, "1 byte or more within the job's part of the drive"))
        }
    }
}

fn check_law(law: FioLaw, center: Option<f64>) -> Result<(), StreamError> {
    match law {
        FioLaw::Zipf { theta } if !(theta > 0.0 && theta <= 100.0) => {
            return Err(StreamError::new("distribution.theta", theta, "above 0, up to 100"));
        }
        FioLaw::Pareto { h } if !(1e-9..=1.0 - 1e-9).contains(&h) => {
            return Err(StreamError::new("distribution.h", h, "1e-9 to 1 - 1e-9"));
        }
        FioLaw::Normal { deviation_percent } if !(0.0..=100.0).contains(&deviation_percent) => {
            return Err(StreamError::new("distribution.deviation_percent", deviation_percent, "0 to 100"));
        }
        _ => {}
    }
    match center {
        Some(center) if !(0.0..=1.0).contains(&center) => {
            Err(StreamError::new("distribution.center", center, "0 to 1"))
        }
        _ => Ok(()),
    }
}

fn check_zones(zones: &[Zone]) -> Result<(), StreamError> {
    check_percentages("distribution.zones.access_percent", zones.iter().map(|zone| zone.access_percent))?;
    check_percentages("distribution.zones.span_percent", zones.iter().map(|zone| zone.span_percent))?;
    if zones.iter().any(|zone| zone.access_percent > 0.0 && zone.span_percent == 0.0) {
        return Err(StreamError::new("distribution.zones.span_percent", 0, "above 0 for a zone with accesses"));
    }
    Ok(())
}

fn check_absolute_zones(zones: &[AbsoluteZone], size_bytes: u64) -> Result<(), StreamError> {
    check_percentages("distribution.zones.access_percent", zones.iter().map(|zone| zone.access_percent))?;
    let sum = zones.iter().fold(0u64, |sum, zone| sum.saturating_add(zone.span_bytes));
    if sum > size_bytes {
        let allowed = format!("no more in all than the part has, {size_bytes}");
        return Err(StreamError::new("distribution.zones.span_bytes", sum, allowed));
    }
    if zones.iter().any(|zone| zone.access_percent > 0.0 && zone.span_bytes == 0) {
        return Err(StreamError::new("distribution.zones.span_bytes", 0, "above 0 for a zone with accesses"));
    }
    Ok(())
}
