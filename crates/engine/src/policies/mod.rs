//! Policies of the translation layer. A policy receives a read-only view and returns a plain value; the engine acts on
//! it.
//!
//! A new policy is one file and one line in the list of its kind. That line makes it available in drive files, on the
//! command line and in reports, and includes it in the contract tests and benchmarks, which cover the whole list.

pub mod die_choice;
pub mod gc_throttling;
pub mod placement;
pub(crate) mod registry;
pub mod victim;
pub mod wear;

use crate::error::SpecificationError;
use crate::specification::drive::{Ftl, PolicyChoice};
pub use registry::Description;
use serde_json::json;

/// All policies of all kinds, in the order of the lists.
pub fn descriptions() -> Vec<Description> {
    let kinds = [
        victim::descriptions(),
        placement::descriptions(),
        wear::descriptions(),
        gc_throttling::descriptions(),
        die_choice::descriptions(),
    ];
    kinds.into_iter().flatten().collect()
}

/// Fills in every parameter of the drive's policies, including defaults.
pub fn fill_in(ftl: &mut Ftl) {
    let known = descriptions();
    for (kind, choice) in choices_mut(ftl) {
        let Some(policy) = known.iter().find(|policy| policy.kind == kind && policy.name == choice.name) else {
            continue;
        };
        for (name, default) in policy.parameters.iter().filter(|(_, default)| !default.is_null()) {
            let value = choice.parameters.entry(name.clone()).or_insert_with(|| default.clone());
            // A whole number may stand for a fraction; a specification has one form only.
            if default.is_f64() && value.is_u64() | value.is_i64() {
                *value = json!(value.as_f64());
            }
        }
    }
}

/// By kind.
pub(crate) fn choices_mut(ftl: &mut Ftl) -> [(&'static str, &mut PolicyChoice); 5] {
    [
        ("victim", &mut ftl.victim),
        ("placement", &mut ftl.placement),
        ("wear_leveling", &mut ftl.wear_leveling),
        ("gc_throttling", &mut ftl.gc_throttling),
        ("die_choice", &mut ftl.die_choice),
    ]
}

/// Whether the policy accepts its parameters.
pub(crate) fn check_parameters(kind: &str, choice: &PolicyChoice) -> Result<(), SpecificationError> {
    match kind {
        "victim" => victim::Victim::new(choice, 1).map(drop),
        "placement" => placement::streams(choice).map(drop),
        "wear_leveling" => wear::WearLeveling::new(choice).map(drop),
        "gc_throttling" => gc_throttling::GcThrottling::new(choice).map(drop),
        _ => die_choice::DieChoice::new(choice).map(drop),
    }
}
