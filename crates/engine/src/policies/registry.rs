//! How a policy is found by its name, and how its parameters are read.

use crate::error::SpecificationError;
use crate::specification::drive::PolicyChoice;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A policy as lists, help and reports show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The key of `[ftl]` that takes it.
    pub kind: &'static str,
    pub name: &'static str,
    pub summary: &'static str,
    /// Where it was first described.
    pub source: &'static str,
    /// Names and defaults.
    pub parameters: Map<String, Value>,
}

/// What every policy of every kind says of itself.
pub trait Named {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    const SOURCE: &'static str;
    /// Its parameters; `Default` gives the values that a drive file need not say.
    type Config: Default + Serialize + DeserializeOwned;
}

pub fn describe<P: Named>(kind: &'static str) -> Description {
    let parameters = match serde_json::to_value(P::Config::default()) {
        Ok(Value::Object(parameters)) => parameters,
        _ => Map::new(),
    };
    Description { kind, name: P::NAME, summary: P::SUMMARY, source: P::SOURCE, parameters }
}

/// The parameters that a specification gives for `P`, defaults filled in.
pub fn config<P: Named>(kind: &str, choice: &PolicyChoice) -> Result<P::Config, SpecificationError> {
    let given = Value::Object(choice.parameters.clone());
    serde_json::from_value(given.clone()).map_err(|error| {
        let known = serde_json::to_string(&P::Config::default()).unwrap_or_default();
        let allowed = format!("parameters like {known} for {:?} ({error})", P::NAME);
        SpecificationError::new(format!("ftl.{kind}"), given, allowed)
    })
}

pub fn unknown(kind: &str, choice: &PolicyChoice, known: &[Description]) -> SpecificationError {
    let names: Vec<&str> = known.iter().map(|description| description.name).collect();
    SpecificationError::new(format!("ftl.{kind}"), format!("{:?}", choice.name), format!("one of {}", names.join(", ")))
}
