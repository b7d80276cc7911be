//! What gc throttling does to the time that writes take, and to nothing else.

use super::experiment::*;
use ssdlab_engine::policies::gc_throttling;
use ssdlab_engine::request::Operation;
use ssdlab_engine::specification::drive::PolicyChoice;

fn random_writes(gc_throttling: &str, catch_up: Option<f64>) -> Measured {
    let mut drive = drive(Shape { dies_per_channel: 1, ..SMALL });
    drive.ftl.gc_throttling = PolicyChoice { name: gc_throttling.into(), parameters: Default::default() };
    if let Some(catch_up) = catch_up {
        drive.ftl.gc_throttling.parameters.insert("catch_up".into(), catch_up.into());
    }
    let user_units = drive.ftl.user_bytes / UNIT;
    measure(Experiment {
        drive,
        operation: Operation::Write,
        length_units: 8,
        is_sequential: false,
        depth: 4,
        warm_up: user_units / 3,
        requests: user_units / 3,
        buffer_units: 0,
    })
}

/// The accounts and the map are checked at the end of every experiment.
#[test]
fn every_pacing_keeps_the_drive_clean_at_about_the_same_cost() {
    let waf: Vec<f64> =
        gc_throttling::descriptions().iter().map(|policy| random_writes(policy.name, None).waf).collect();
    assert!(waf.len() > 1 && waf.iter().all(|&each| (each / waf[0] - 1.0).abs() < 0.1), "{waf:?}");
}

#[test]
fn gc_at_once_is_fast_in_the_middle_and_stalls_in_the_tail() {
    let (even, at_once) = (random_writes("proportional", None), random_writes("at-once", None));
    assert!(at_once.median_ns < even.median_ns, "{at_once:?} against {even:?}");
    assert!(at_once.percentile_999_ns > 2 * even.percentile_999_ns, "{at_once:?} against {even:?}");
}

#[test]
fn a_parameter_of_the_policy_reaches_it() {
    let (slow, fast) = (random_writes("proportional", Some(0.0)), random_writes("proportional", Some(50.0)));
    assert_ne!(slow.seconds, fast.seconds);
}
