//! Looking up policies by name, and reading their parameters.

use crate::error::SpecificationError;
use crate::specification::drive::PolicyChoice;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The description of a policy in lists, help and reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The key of `[ftl]` that selects it.
    pub kind: &'static str,
    /// Its name in drive files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Its first publication.
    pub source: &'static str,
    /// Parameters with their defaults.
    pub parameters: Map<String, Value>,
}

/// The description that every policy provides.
pub trait Named {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    const SOURCE: &'static str;
    /// Its parameters; `Default` gives their defaults in a drive file.
    type Config: Default + Serialize + DeserializeOwned;
}

pub fn describe<P: Named>(kind: &'static str) -> Description {
    let parameters = match serde_json::to_value(P::Config::default()) {
        Ok(Value::Object(parameters)) => parameters,
        _ => Map::new(),
    };
    Description { kind, name: P::NAME, summary: P::SUMMARY, source: P::SOURCE, parameters }
}

/// The parameters of `P` in a specification, with defaults filled in.
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
