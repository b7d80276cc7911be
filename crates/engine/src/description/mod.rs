//! The description of a drive before it is built: its schema, all errors in a description, and the properties of a
//! valid one. Words and bounds are those of `specification`; nothing here runs.

mod capacity;
mod consistency;
mod keys;
mod policy_choices;
pub mod schema;

use crate::error::SpecificationError;
use crate::policies;
use crate::simulation::{Memory, memory_of_drive};
use crate::specification::drive::DriveFile;
pub use capacity::DriveCapacity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An error in a drive file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Problem {
    /// The kind of error.
    pub kind: ProblemKind,
    /// `table.key`, or a table, or a key at the top.
    pub key: String,
    /// As the file has it, or its default; null for a key that is missing.
    pub value: Value,
    /// Completes "should be"; for an unknown key, the table whose keys are known.
    pub allowed: String,
    /// The valid names, where there is a list of them.
    pub known: Vec<String>,
}

/// Kinds of errors in a drive file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// A key without a default is absent.
    MissingKey,
    /// The table has no such key.
    UnknownKey,
    /// The value is impossible, alone or with others.
    Value,
    /// No value has a source; `known` lists those without.
    NoSource,
    /// The host's capacity is so large that garbage collection cannot free space.
    SpareArea,
}

/// The extent of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Its keys, the types of their values and the bounds of each alone.
    Keys,
    /// Also sources, and rules that do not depend on the capacity for the host.
    Geometry,
    /// Everything.
    All,
}

/// A drive whose description has no errors.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DescribedDrive {
    /// The file with every value filled in, including defaults and parameters of policies.
    pub file: DriveFile,
    /// The capacities derived from it.
    pub capacity: DriveCapacity,
    /// The memory of the drive alone, without the jobs of a run.
    pub memory: Memory,
}

/// All errors in a drive file, in the order of its keys.
pub fn check(content: &Value, part: Part) -> Vec<Problem> {
    let mut problems = keys::check(content);
    if part == Part::Keys {
        return problems;
    }
    problems.extend(keys::check_sources(content));
    if problems.iter().any(|problem| problem.kind != ProblemKind::NoSource) {
        return problems;
    }
    match serde_json::from_value::<DriveFile>(content.clone()) {
        Ok(file) => problems.extend(consistency::check(&file.drive, part)),
        Err(error) => problems.push(Problem::value("drive", Value::Null, error.to_string())),
    }
    problems
}

/// The description of a drive without errors, except perhaps in its capacity for the host. `sold_bytes` is the capacity
/// on the label, if it differs from that in the file.
pub fn describe(content: &Value, sold_bytes: Option<u64>) -> Result<DescribedDrive, SpecificationError> {
    let mut file: DriveFile = serde_json::from_value(content.clone())
        .map_err(|error| SpecificationError::new("drive", content, error.to_string()))?;
    policies::fill_in(&mut file.drive.ftl);
    let sold_bytes = sold_bytes.or(file.market.sold_bytes);
    let capacity = DriveCapacity::of(&file.drive, sold_bytes)?;
    let memory = memory_of_drive(&file.drive).unwrap_or_default();
    Ok(DescribedDrive { file, capacity, memory })
}

impl Problem {
    /// An impossible value.
    pub fn value(key: impl Into<String>, value: impl Into<Value>, allowed: impl Into<String>) -> Self {
        Self {
            kind: ProblemKind::Value,
            key: key.into(),
            value: value.into(),
            allowed: allowed.into(),
            known: Vec::new(),
        }
    }
}
