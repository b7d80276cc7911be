//! A run with a bound on its steps.

use ssdlab_engine::simulation::{Outcome, start};
use ssdlab_engine::specification::Specification;

/// Requests, or events of a run with a clock.
const STEPS_AT_ONCE: u64 = 100_000;

/// The outcome of a run that must end within this many steps.
pub fn outcome_within(steps_max: u64, specification: &Specification) -> Outcome {
    let mut run = start(specification).unwrap_or_else(|refused| panic!("{refused}"));
    let mut done = 0.0;
    for _ in 0..steps_max / STEPS_AT_ONCE {
        let progress = run.advance(STEPS_AT_ONCE).unwrap_or_else(|error| panic!("{error}"));
        if progress.is_finished {
            return run.finish();
        }
        done = progress.done;
    }
    panic!("the run does not end within {steps_max} steps: {done} of it is done");
}
