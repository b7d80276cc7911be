//! What jobs that write zone by zone must be like, for the drive and for each other.

use crate::error::SpecificationError;
use crate::specification::drive::zones_of;
use crate::specification::job::{Direction, ZonedJob};
use crate::specification::{Job, Specification};
use crate::timing::host::Pacing;
use crate::workload::host_zones::{HostZones, SharedZones};

fn writes(job: &Job) -> bool {
    job.direction != Direction::Read
}

/// A drive with zones takes writes at write pointers alone, and only jobs with zones look for them.
pub fn check_needs_no_zones(job: &Job, specification: &Specification) -> Result<(), SpecificationError> {
    if !specification.drive.zones.is_on() || !writes(job) {
        return Ok(());
    }
    let allowed = "an object (zonemode=zbd) for a job that writes or trims: the drive has zones, which are written at \
                   their write pointers";
    Err(SpecificationError::new(format!("jobs.{}.zoned", job.name), "null", allowed))
}

/// Makes the zones of the run, or checks that this job has the same as those before it.
pub fn share_zones(
    job: &Job,
    rules: ZonedJob,
    specification: &Specification,
    shared: &SharedZones,
) -> Result<(), SpecificationError> {
    let refuse = |key: &str, value: String, allowed: String| {
        Err(SpecificationError::new(format!("jobs.{}.{key}", job.name), value, allowed))
    };
    if job.zones.is_some() {
        return refuse("zones", "an object".into(), "null with zoned: zones are strided or written at pointers".into());
    }
    for (key, share) in [("reset_threshold", rules.reset_threshold), ("reset_frequency", rules.reset_frequency)] {
        if !(0.0..=1.0).contains(&share) {
            return refuse(&format!("zoned.{key}"), share.to_string(), "0 to 1".into());
        }
    }
    let of_drive = zones_of(&specification.drive)?;
    let unit = u64::from(specification.drive.ftl.mapping_unit_bytes);
    if of_drive.is_some() && writes(job) {
        let sizes = job.block_sizes.write.iter().map(|size| u64::from(size.bytes));
        if let Some(part) = sizes.clone().find(|bytes| !bytes.is_multiple_of(unit)) {
            let allowed =
                format!("multiples of {unit} bytes on a drive with zones, which reads nothing to fill a unit up");
            return refuse("block_sizes.write", part.to_string(), allowed);
        }
    }
    check_keeps_order(job, specification)?;
    let (zone_bytes, capacity_bytes, open_max) = match of_drive {
        Some(zones) => {
            if ![0, zones.zone_bytes].contains(&rules.zone_bytes) {
                let allowed = format!("0 (no zonesize), or {} as on the drive", zones.zone_bytes);
                return refuse("zoned.zone_bytes", rules.zone_bytes.to_string(), allowed);
            }
            if ![0, zones.capacity_bytes].contains(&rules.capacity_bytes) {
                let allowed = format!("0 (no zonecapacity), or {} as on the drive", zones.capacity_bytes);
                return refuse("zoned.capacity_bytes", rules.capacity_bytes.to_string(), allowed);
            }
            (zones.zone_bytes, zones.capacity_bytes, zones.open_max)
        }
        None if rules.zone_bytes == 0 => {
            let allowed = "the size of a zone (zonesize) on a drive without zones, where the host keeps them".into();
            return refuse("zoned.zone_bytes", "0".into(), allowed);
        }
        None => {
            let capacity_bytes = if rules.capacity_bytes == 0 { rules.zone_bytes } else { rules.capacity_bytes };
            if capacity_bytes > rules.zone_bytes {
                let allowed = format!("at most zone_bytes, {}", rules.zone_bytes);
                return refuse("zoned.capacity_bytes", capacity_bytes.to_string(), allowed);
            }
            (rules.zone_bytes, capacity_bytes, 0)
        }
    };
    let user_bytes = specification.drive.ftl.user_bytes;
    let mut guard = shared.lock().expect("no job panics while it draws");
    let zones = guard.get_or_insert_with(|| {
        let zones = HostZones::new(zone_bytes, capacity_bytes, open_max, user_bytes, of_drive.is_some());
        match of_drive {
            Some(drive) => zones.with_random_write_areas(drive.random_write_area_bytes, drive.flush_granularity_bytes),
            None => zones,
        }
    });
    if zones.sizes_bytes() != (zone_bytes, capacity_bytes) {
        let allowed = format!("{} as for the jobs before it", zones.sizes_bytes().0);
        return refuse("zoned.zone_bytes", zone_bytes.to_string(), allowed);
    }
    zones.limit_open(rules.open_max);
    Ok(())
}

/// Another job that writes at the same time to zones of the drive that the job writes, if the run has a clock. Their
/// requests must then keep the order in which they are chosen.
fn sharer<'a>(job: &Job, specification: &'a Specification) -> Option<&'a Job> {
    if !specification.timed || !specification.drive.zones.is_on() || !writes(job) {
        return None;
    }
    let end = |job: &Job| job.offset_bytes.saturating_add(job.size_bytes);
    let meets = |other: &&Job| {
        let is_other = (&other.name, other.clone) != (&job.name, job.clone);
        let overlaps = other.offset_bytes < end(job) && job.offset_bytes < end(other);
        is_other && other.stage == job.stage && writes(other) && overlaps
    };
    specification.jobs.iter().find(meets)
}

/// Whether other jobs write the same zones at the same time.
pub fn shares_zones(job: &Job, specification: &Specification) -> bool {
    sharer(job, specification).is_some()
}

/// A job with rates or pauses chooses a request before it is due, and would stop the others at that zone meanwhile.
fn check_keeps_order(job: &Job, specification: &Specification) -> Result<(), SpecificationError> {
    match sharer(job, specification) {
        Some(other) if Pacing::of(job).is_some() => {
            let value = format!("{} at offset {}", job.size_bytes, job.offset_bytes);
            let allowed = format!(
                "a range apart from that of {}, which writes at the same time (offset, offset_increment), for a job with \
                 rates, think time, flushes or iodepth_low; or none of these",
                other.name
            );
            Err(SpecificationError::new(format!("jobs.{}.size_bytes", job.name), value, allowed))
        }
        _ => Ok(()),
    }
}
