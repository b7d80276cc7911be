//! What is known of a drive before it is built: the schema of its description, all that is wrong with one, and what one
//! that is right holds. The words and bounds are those of `specification`; nothing here runs.

mod capacity;
mod consistency;
mod keys;
pub mod schema;

use crate::error::SpecificationError;
use crate::policies;
use crate::simulation::{Memory, memory_of_drive};
use crate::specification::drive::DriveFile;
pub use capacity::DriveCapacity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that is wrong with a drive file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Problem {
    pub kind: ProblemKind,
    /// `table.key`, or a table, or a key at the top.
    pub key: String,
    /// As the file has it, or its default; null for a key that is missing.
    pub value: Value,
    /// Completes "should be"; for an unknown key, what the known ones are keys of.
    pub allowed: String,
    /// The names that would be right, where there is a list of them.
    pub known: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// A key that has no default is not there.
    MissingKey,
    UnknownKey,
    /// The value cannot be, alone or with others.
    Value,
    /// No value has a source; `known` lists those without.
    NoSource,
    /// The host may use so much that garbage collection has nothing to gain.
    SpareArea,
}

/// How far a drive file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Its keys, the types of their values and the bounds of each alone.
    Keys,
    /// Also sources, and what does not depend on how much the host may use.
    Geometry,
    All,
}

/// A drive whose description has no problems.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DescribedDrive {
    /// The file with every value in it, defaults and parameters of policies too.
    pub file: DriveFile,
    pub capacity: DriveCapacity,
    /// Of the drive alone, without the jobs of a run.
    pub memory: Memory,
}

/// All that is wrong with a drive file, in the order of its keys.
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

/// What a drive is that has no problems, but for how much the host may use. `sold_bytes` is what the drive is sold as,
/// where that is not what its file says.
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
