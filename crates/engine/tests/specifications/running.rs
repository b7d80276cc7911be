//! Runs with a bound on their steps, and all that must hold of a run whatever its specification says.

use ssdlab_engine::simulation::{InitialState, Outcome, Run, start, start_from};
use ssdlab_engine::specification::Specification;

/// Requests, or events of a run with a clock.
const STEPS_AT_ONCE: u64 = 100_000;
const STEPS_MAX: u64 = 20_000_000;

/// The outcome of a run that must end within this many steps.
pub fn outcome_within(steps_max: u64, specification: &Specification) -> Outcome {
    let mut run = start(specification).unwrap_or_else(|refused| panic!("{refused}"));
    assert!(goes_to_the_end(&mut *run, STEPS_AT_ONCE, steps_max), "the jobs' requests end without an error");
    run.finish()
}

/// Whether the run ends with an outcome, and not with an error of a job, such as a zone that is full.
fn goes_to_the_end(run: &mut dyn Run, steps_at_once: u64, steps_max: u64) -> bool {
    let mut done = 0.0;
    for _ in 0..steps_max / steps_at_once {
        match run.advance(steps_at_once) {
            Ok(progress) if progress.is_finished => return true,
            Ok(progress) => done = progress.done,
            Err(error) => {
                let message = error.to_string();
                assert!(!message.contains("internal error"), "{message}");
                return false;
            }
        }
    }
    panic!("the run does not end within {steps_max} steps: {done} of it is done");
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
    let mut in_steps = start(specification).expect("it was not refused");
    assert!(goes_to_the_end(&mut *in_steps, 997, STEPS_MAX));
    assert_eq!(as_json(&in_steps.finish()), as_json(&outcome), "the steps change the outcome");
    if is_saved {
        check_from(specification, &state);
    }
    Fate::Ended
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
