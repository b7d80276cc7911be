//! Runs with a bound on their steps, and all that must hold of a run whatever its specification says.

use ssdlab_engine::description::DriveCapacity;
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::simulation::{InitialState, Outcome, Run, start, start_from};
use ssdlab_engine::specification::drive::{BackgroundOperations, PolicyChoice, ReadAhead, WriteBuffer};
use ssdlab_engine::specification::{Specification, Until};

/// Requests, or events of a run with a clock.
const STEPS_AT_ONCE: u64 = 100_000;
/// 256 writes of 1 MiB that are left when a run has reached its amount take 300 million on a drive without spare area.
const STEPS_MAX: u64 = 1_000_000_000;

/// The outcome of a run that must end, and get on within this many steps.
pub fn outcome_within(steps_max: u64, specification: &Specification) -> Outcome {
    let mut run = start(specification).unwrap_or_else(|refused| panic!("{refused}"));
    assert!(goes_to_the_end(&mut *run, STEPS_AT_ONCE, steps_max), "the jobs' requests end without an error");
    run.finish()
}

/// Whether the run ends with an outcome, and not with an error of a job, such as a zone that is full. Panics if more
/// than `steps_max` steps bring it no further: a drive with hardly any spare area needs thousands of them for a write.
fn goes_to_the_end(run: &mut dyn Run, steps_at_once: u64, steps_max: u64) -> bool {
    let (mut done, mut without_progress) = (0.0, 0);
    while without_progress <= steps_max {
        match run.advance(steps_at_once) {
            Ok(progress) if progress.is_finished => return true,
            Ok(progress) if progress.done > done => (done, without_progress) = (progress.done, 0),
            Ok(_) => without_progress += steps_at_once,
            Err(error) => {
                let message = error.to_string();
                assert!(!message.contains("internal error"), "{message}");
                return false;
            }
        }
    }
    panic!("{steps_max} steps bring the run no further: {done} of it is done");
}

/// What became of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Refused,
    /// A job ended with an error.
    Failed,
    Ended,
}

/// Panics if anything does not hold.
pub fn check(specification: &Specification) -> Fate {
    let Ok(mut run) = start(specification) else { return Fate::Refused };
    if !goes_to_the_end(&mut *run, STEPS_AT_ONCE, STEPS_MAX) {
        return Fate::Failed;
    }
    let mut state = Vec::new();
    let is_saved = run.save_state(&mut state).is_ok();
    let outcome = run.finish();
    check_outcome(&outcome);
    let described = DriveCapacity::of(&specification.drive, None).expect("it was not refused");
    assert_eq!(outcome.capacity.physical_units, described.physical_units, "the flash is not what was described");
    let mut in_steps = start(specification).expect("it was not refused");
    assert!(goes_to_the_end(&mut *in_steps, 997, STEPS_MAX));
    assert_eq!(as_json(&in_steps.finish()), as_json(&outcome), "the steps change the outcome");
    if is_saved {
        check_from(specification, &state);
    }
    check_twin_without_clock(specification);
    Fate::Ended
}

/// What the host writes is programmed alike with and without a clock, and so is everything else if nothing is collected:
/// with a clock, garbage collection begins earlier, because it is spread over writes of the host. Even a victim without
/// live units then is erased earlier, and other blocks are open, with other stripes. A drive that wears out does so at
/// another write.
fn check_twin_without_clock(specification: &Specification) {
    let programmed = [true, false].map(|timed| {
        let mut run = start(&Specification { timed, ..without_times(specification) }).ok()?;
        let ends = goes_to_the_end(&mut *run, STEPS_AT_ONCE, STEPS_MAX);
        let outcome = ends.then(|| run.finish()).filter(|outcome| outcome.failure.is_none())?;
        Some(total_of(outcome.jobs.iter().map(|job| job.ledger)))
    });
    let [Some(timed), Some(untimed)] = programmed else { return };
    assert_eq!(timed.host_written_bytes, untimed.host_written_bytes, "the clock changes what the host writes");
    assert_eq!(timed.programmed_units.host, untimed.programmed_units.host, "the clock changes what the host programs");
    if [timed, untimed].iter().all(collects_nothing) {
        assert_eq!(timed.programmed_units, untimed.programmed_units, "the clock changes what is programmed");
    }
}

fn collects_nothing(ledger: &Ledger) -> bool {
    let programmed = ledger.programmed_units;
    ledger.erased_erase_units == 0 && programmed.gc == 0 && programmed.wear_leveling == 0 && programmed.slc_fold == 0
}

fn total_of(ledgers: impl Iterator<Item = Ledger>) -> Ledger {
    let mut sum = Ledger::default();
    ledgers.for_each(|ledger| sum += ledger);
    sum
}

/// The specification without what depends on time: jobs beside each other, ends and rates by time, requests that overtake
/// others, idle time, coalescing, reads ahead of the host's, which fetch map pages earlier, the load of dies, by which
/// other blocks are filled, and pages that are padded because the write buffer has no room for a whole group.
fn without_times(specification: &Specification) -> Specification {
    let mut without = specification.clone();
    without.until = Until::Job;
    without.drive.write_buffer = WriteBuffer { bytes: 64 << 20, coalesce: false, ..WriteBuffer::default() };
    without.drive.background = BackgroundOperations::default();
    without.drive.read_ahead = ReadAhead::default();
    if without.drive.ftl.die_choice.name == "least-loaded" {
        without.drive.ftl.die_choice = PolicyChoice::named("round-robin");
    }
    for (stage, job) in (0..).zip(&mut without.jobs) {
        job.stage = stage;
        (job.iodepth, job.ramp_ns) = (1, 0);
        (job.runtime_ns, job.time_based, job.wait_for) = (None, false, None);
        (job.flush_every_writes, job.flush_at_end, job.sync_writes) = (0, false, false);
        (job.steady_state, job.limits, job.latency_target) = (None, None, None);
        (job.rate_bytes_per_second, job.rate_iops, job.refill_at) = (None, None, None);
    }
    without
}

fn check_outcome(outcome: &Outcome) {
    if let Some(timing) = &outcome.timing {
        assert!((0.0..=1.0 + 1e-9).contains(&timing.die_utilization), "dies are busy {}", timing.die_utilization);
    }
}

/// From a saved state the same run, twice.
fn check_from(specification: &Specification, state: &[u8]) {
    let outcome = |steps_at_once| {
        let initial = InitialState { input: &mut &*state, times: 1 };
        let mut run = start_from(specification, Some(initial)).unwrap_or_else(|refused| panic!("{refused}"));
        goes_to_the_end(&mut *run, steps_at_once, STEPS_MAX).then(|| run.finish())
    };
    let [whole, in_steps] = [STEPS_AT_ONCE, 997].map(outcome);
    whole.iter().for_each(check_outcome);
    assert_eq!(as_json(&in_steps), as_json(&whole), "the steps change the outcome of a run from a state");
}

fn as_json(outcome: &impl serde::Serialize) -> String {
    serde_json::to_string(outcome).expect("an outcome")
}
