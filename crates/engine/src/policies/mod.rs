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

use crate::description::{Problem, ProblemKind};
use crate::error::SpecificationError;
use crate::specification::drive::{Ftl, PolicyChoice};
pub use registry::Description;
use serde_json::{Value, json};

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

/// Errors in the drive's policies: unknown names, and unknown or impossible parameters.
pub fn problems(ftl: &Ftl) -> Vec<Problem> {
    let known = descriptions();
    let mut ftl = ftl.clone();
    choices_mut(&mut ftl).into_iter().flat_map(|(kind, choice)| problems_of(kind, choice, &known)).collect()
}

fn choices_mut(ftl: &mut Ftl) -> [(&'static str, &mut PolicyChoice); 5] {
    [
        ("victim", &mut ftl.victim),
        ("placement", &mut ftl.placement),
        ("wear_leveling", &mut ftl.wear_leveling),
        ("gc_throttling", &mut ftl.gc_throttling),
        ("die_choice", &mut ftl.die_choice),
    ]
}

fn problems_of(kind: &str, choice: &PolicyChoice, known: &[Description]) -> Vec<Problem> {
    let key = format!("ftl.{kind}");
    let of_kind: Vec<&Description> = known.iter().filter(|policy| policy.kind == kind).collect();
    let Some(policy) = of_kind.iter().find(|policy| policy.name == choice.name) else {
        let known = of_kind.iter().map(|policy| policy.name.to_owned()).collect();
        return vec![Problem { known, ..Problem::value(key, &*choice.name, "the name of a policy") }];
    };
    let mut problems = Vec::new();
    for (name, value) in &choice.parameters {
        match policy.parameters.get(name) {
            None => problems.push(Problem {
                kind: ProblemKind::UnknownKey,
                known: policy.parameters.keys().cloned().collect(),
                ..Problem::value(format!("{key}.{name}"), value.clone(), format!("parameters of '{}'", choice.name))
            }),
            Some(default) if !is_like(value, default) => {
                let allowed = format!("{}, as its default {default}", type_of(default));
                problems.push(Problem::value(format!("{key}.{name}"), value.clone(), allowed));
            }
            Some(_) => {}
        }
    }
    if problems.is_empty() {
        problems.extend(made(kind, choice).err().map(Problem::from));
    }
    problems
}

/// Whether the policy accepts its parameters.
fn made(kind: &str, choice: &PolicyChoice) -> Result<(), SpecificationError> {
    match kind {
        "victim" => victim::Victim::new(choice, 1).map(drop),
        "placement" => placement::streams(choice).map(drop),
        "wear_leveling" => wear::WearLeveling::new(choice).map(drop),
        "gc_throttling" => gc_throttling::GcThrottling::new(choice).map(drop),
        _ => die_choice::DieChoice::new(choice).map(drop),
    }
}

fn is_like(value: &Value, default: &Value) -> bool {
    match default {
        Value::Null => true,
        Value::Bool(_) => value.is_boolean(),
        Value::Number(number) if number.is_f64() => value.is_number(),
        Value::Number(_) => value.is_u64() || value.is_i64(),
        Value::String(_) => value.is_string(),
        Value::Array(_) => value.is_array(),
        Value::Object(_) => value.is_object(),
    }
}

fn type_of(default: &Value) -> &'static str {
    match default {
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "a whole number",
        Value::Array(_) => "a list",
        _ => "a text",
    }
}
