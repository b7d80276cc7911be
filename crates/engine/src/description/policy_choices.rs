//! What is wrong with the policies of a drive file: unknown names, and unknown or impossible parameters.

use super::{Problem, ProblemKind};
use crate::policies::{self, Description};
use crate::specification::drive::{Ftl, PolicyChoice};
use serde_json::Value;

/// Errors in the drive's policies: unknown names, and unknown or impossible parameters.
pub fn problems(ftl: &Ftl) -> Vec<Problem> {
    let known = policies::descriptions();
    let mut ftl = ftl.clone();
    policies::choices_mut(&mut ftl).into_iter().flat_map(|(kind, choice)| problems_of(kind, choice, &known)).collect()
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
        problems.extend(policies::check_parameters(kind, choice).err().map(Problem::from));
    }
    problems
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
