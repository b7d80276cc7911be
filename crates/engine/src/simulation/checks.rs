//! Checks of a specification's jobs that their types do not express: the order of the list, start times, rates. What
//! concerns a job's requests is checked where its stream is built.

use super::job_steady_state::SNIA_ROUNDS;
use super::memory::memory_of_drive;
use crate::error::SpecificationError;
use crate::ftl::user_units;
use crate::specification::drive::{Drive, check_microseconds, devices_of, handles_of, identifiers_for, namespace_ends};
use crate::specification::job::{Identifiers, PerDirection};
use crate::specification::store::Store;
use crate::specification::{Job, Specification};

/// Simulated times stay well below 2^64 ns: about 31 years.
const NANOSECONDS_MAX: u64 = 1_000_000_000_000_000_000;

/// A run needs a job; a drive that waits for jobs may begin without any.
pub fn check_there_is_one(specification: &Specification) -> Result<(), SpecificationError> {
    if specification.jobs.is_empty() {
        return Err(SpecificationError::new("jobs", "[]", "one job or more"));
    }
    Ok(())
}

/// What can be refused without the tables of the drive, which can take gigabytes. Jobs are checked for a drive whose
/// geometry and capacity are valid.
pub fn check_before_tables(specification: &Specification) -> Result<(), SpecificationError> {
    memory_of_drive(&specification.drive)?;
    for device in devices_of(&specification.drive)? {
        user_units(device.ftl.user_bytes, device.ftl.mapping_unit_bytes)?;
        namespace_ends(&device)?;
    }
    if specification.timed {
        specification.drive.host_link.rate()?;
    }
    check_identifiers(specification)?;
    check_jobs(&specification.jobs)
}

pub fn check_jobs(jobs: &[Job]) -> Result<(), SpecificationError> {
    if !jobs.is_sorted_by_key(|job| job.stage) {
        return Err(SpecificationError::new("jobs", "stages out of order", "jobs ordered by stage"));
    }
    for (index, job) in jobs.iter().enumerate() {
        let refuse = |key: &str, value: String, allowed: &str| {
            Err(SpecificationError::new(format!("jobs.{}.{key}", job.name), value, allowed))
        };
        let times = [
            ("ramp_ns", job.ramp_ns),
            ("start_delay_ns", job.start_delay_ns),
            ("think_time_ns", job.think_time_ns),
            ("think_time_spin_ns", job.think_time_spin_ns),
            ("runtime_ns", job.runtime_ns.unwrap_or(0)),
        ];
        for (key, value) in times {
            if value > NANOSECONDS_MAX {
                return refuse(key, value.to_string(), "at most 10^18 ns");
            }
        }
        if job.think_time_blocks == 0 {
            return refuse("think_time_blocks", "0".into(), "1 or more");
        }
        let windows = job.log.map_or([None; 2], |log| [log.average_ns, log.histogram_ns]);
        if windows.contains(&Some(0)) {
            return refuse("log", "windows of 0 ns".into(), "windows of 1 ns or more, or null");
        }
        if let Some(rule) = job.steady_state
            && (rule.duration_seconds == 0 || !(rule.limit > 0.0 && rule.limit.is_finite()))
        {
            let value = format!("{} over {} seconds", rule.limit, rule.duration_seconds);
            return refuse("steady_state", value, "a limit above 0 over 1 second or more");
        }
        if let Some(rule) = job.steady_state
            && rule.criterion.is_snia()
            && !rule.duration_seconds.is_multiple_of(SNIA_ROUNDS as u32)
        {
            return refuse("steady_state.duration_seconds", rule.duration_seconds.to_string(), "a multiple of 5");
        }
        if let Some(limits) = &job.limits {
            let PerDirection { read, write, trim } = limits.latency_ns_max;
            let times = [limits.window_ns, read.unwrap_or(1), write.unwrap_or(1), trim.unwrap_or(1)];
            if times.into_iter().any(|time_ns| time_ns == 0 || time_ns > NANOSECONDS_MAX) {
                return refuse("limits", format!("{times:?} ns"), "times from 1 to 10^18 ns");
            }
        }
        if let Some(target) = &job.latency_target {
            let are_times = target.latency_ns.max(target.window_ns) <= NANOSECONDS_MAX && target.latency_ns > 0;
            let is_share = target.percent > 0.0 && target.percent <= 100.0;
            if !(are_times && is_share) {
                let allowed = "times up to 10^18 ns, a latency above 0, and a percentage above 0 to 100";
                return refuse("latency_target", format!("{target:?}"), allowed);
            }
        }
        let rates = [("rate_bytes_per_second", &job.rate_bytes_per_second), ("rate_iops", &job.rate_iops)];
        for (key, rate) in rates {
            let Some(rate) = rate else { continue };
            for (direction, rate) in [("read", rate.read), ("write", rate.write), ("trim", rate.trim)] {
                if rate == Some(0) {
                    return refuse(&format!("{key}.{direction}"), "0".into(), "1 or more, or null for no limit");
                }
            }
        }
        let is_earlier = |name: &String| jobs[..index].iter().any(|other| other.name == *name) && *name != job.name;
        if let Some(name) = job.wait_for.as_ref().filter(|name| !is_earlier(name)) {
            return refuse("wait_for", name.clone(), "the name of a job that stands before this one");
        }
        for (key, percent) in [("compress_percent", job.compress_percent), ("dedupe_percent", job.dedupe_percent)] {
            if !(0.0..=100.0).contains(&percent) {
                return refuse(key, percent.to_string(), "0 to 100");
            }
        }
    }
    Ok(())
}

/// A drive that honours placement identifiers has a limited number of them, and a namespace may have fewer; other
/// drives ignore them.
pub fn check_identifiers(specification: &Specification) -> Result<(), SpecificationError> {
    for job in &specification.jobs {
        let available = identifiers_for(&specification.drive, job.addresses_bytes());
        let Some(identifiers) = available.map(u64::from) else { return Ok(()) };
        let handles = handles_of(&specification.drive.ftl.placement);
        let (owner, key) = if handles.is_some_and(|handles| u64::from(handles.identifiers()) == identifiers) {
            match handles.map_or(1, |handles| handles.reclaim_groups) {
                1 => ("drive", "ftl.placement.identifiers"),
                _ => ("drive", "ftl.placement.identifiers in each of its reclaim_groups"),
            }
        } else {
            ("namespace", "placement_handles")
        };
        let allowed = format!("below the {owner}'s {identifiers} placement identifiers ({key})");
        let largest = job.identifiers.as_ref().and_then(Identifiers::largest);
        let of_store = job.store.as_ref().and_then(Store::largest_identifier);
        for (key, given) in [
            ("stream_id", job.stream_id),
            ("identifiers", largest.map(u32::from)),
            ("store.identifiers", of_store.map(u32::from)),
        ] {
            if let Some(identifier) = given.filter(|&identifier| u64::from(identifier) >= identifiers) {
                return Err(SpecificationError::new(format!("jobs.{}.{key}", job.name), identifier, allowed));
            }
        }
    }
    Ok(())
}

/// Checks that concern runs with a clock only.
pub fn check_times(specification: &Specification) -> Result<(), SpecificationError> {
    if specification.interval_ns == Some(0) {
        return Err(SpecificationError::new("interval_ns", 0, "1 ns or more, or null"));
    }
    let Drive { nand, slc_cache, controller, .. } = &specification.drive;
    nand.check_times()?;
    check_microseconds("slc_cache.read_us", slc_cache.read_us)?;
    check_microseconds("slc_cache.program_us", slc_cache.program_us)?;
    check_microseconds("slc_cache.erase_us", slc_cache.erase_us)?;
    check_microseconds("controller.trim_us", controller.trim_us)?;
    check_microseconds("controller.trim_us_per_mib", controller.trim_us_per_mib)?;
    // With commands of no time, those of a job that runs for a time have no end.
    if controller.command_us < 0.001 {
        return Err(SpecificationError::new("controller.command_us", controller.command_us, "0.001 us or more"));
    }
    check_microseconds("controller.command_us", controller.command_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_named() {
        let none = || PerDirection { read: None, write: None, trim: None };
        let cases = [
            (Job { start_delay_ns: u64::MAX, ..Job::default() }, "jobs.job.start_delay_ns"),
            (Job { think_time_blocks: 0, ..Job::default() }, "jobs.job.think_time_blocks"),
            (
                Job { rate_iops: Some(PerDirection { write: Some(0), ..none() }), ..Job::default() },
                "jobs.job.rate_iops.write",
            ),
            (Job { wait_for: Some("job".into()), ..Job::default() }, "jobs.job.wait_for"),
            (Job { dedupe_percent: 100.5, ..Job::default() }, "jobs.job.dedupe_percent"),
            (Job { compress_percent: f64::NAN, ..Job::default() }, "jobs.job.compress_percent"),
        ];
        for (job, key) in cases {
            assert_eq!(check_jobs(&[job]).expect_err(key).key, key);
        }
        let first = Job { name: "first".into(), ..Job::default() };
        let second = Job { wait_for: Some("first".into()), ..Job::default() };
        assert_eq!(check_jobs(&[first.clone(), second.clone()]), Ok(()));
        assert!(check_jobs(&[second, first]).is_err(), "a job waits for those before it only");
    }

    #[test]
    fn keys_that_are_left_out_are_off() {
        let mut plain = serde_json::to_value(Job::default()).unwrap();
        let object = plain.as_object_mut().unwrap();
        for key in [
            "ramp_ns",
            "start_delay_ns",
            "wait_for",
            "think_time_ns",
            "think_time_blocks",
            "think_time_spin_ns",
            "rate_bytes_per_second",
            "rate_iops",
            "rate_process",
            "flush_every_writes",
            "sync_writes",
            "compress_percent",
            "dedupe_percent",
            "stream_id",
            "identifiers",
            "following_block_sizes",
            "zones",
            "limits",
            "latency_target",
        ] {
            assert!(object.remove(key).is_some(), "{key}");
        }
        assert_eq!(serde_json::from_value::<Job>(plain).unwrap(), Job::default());
    }
}
