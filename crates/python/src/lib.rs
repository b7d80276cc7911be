//! The interface between the engine and Python: one call a run, specifications and outcomes as JSON text.
//!
//! JSON costs some milliseconds a run and leaves one description of the words, the engine's own types. `run` has runs,
//! `live` observed runs, `device` drives for real programs, `survey` summaries of traces, `trace` their reading; this
//! file has the lists.

mod device;
mod errors;
mod live;
mod run;
mod state;
mod survey;
mod trace;

use errors::{as_json, refuse, refuse_json};
use pyo3::prelude::*;
use run::specified;
use serde::Serialize;
use serde_json::Value;
use ssdlab_engine::description;
use ssdlab_engine::simulation::memory_of;
use ssdlab_traces::Format;

#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::device::{Asked, Device, Mount, NvmeServer, Server};
    #[pymodule_export]
    use super::errors::{RunError, SpecificationError, TraceError};
    #[pymodule_export]
    use super::live::LiveDrive;
    #[pymodule_export]
    use super::run::{replay, run};
    #[pymodule_export]
    use super::survey::{profile, survey};
    #[pymodule_export]
    use super::trace::HeldTrace;
    #[pymodule_export]
    use super::{check, describe, memory, policies, schema, trace_formats, version};
}

/// All policies as JSON: kind, name, summary, source, parameters with their defaults.
#[pyfunction]
fn policies() -> PyResult<String> {
    as_json(&ssdlab_engine::policies::descriptions())
}

/// The JSON schema of drive files, specifications and outcomes.
#[pyfunction]
fn schema() -> PyResult<String> {
    as_json(description::schema::schema())
}

/// All errors in a drive file, as a JSON list. `part` is the extent of the check: `keys`, `geometry` or `all`.
#[pyfunction]
#[pyo3(signature = (drive_json, part="all"))]
fn check(drive_json: &str, part: &str) -> PyResult<String> {
    let part = serde_json::from_value(part.into()).map_err(|error| refuse_json("part", part, &error))?;
    as_json(&description::check(&content_of(drive_json)?, part))
}

/// A drive file without errors, except perhaps in its capacity for the host: the file with every default filled in, its
/// capacity and its memory, as JSON.
#[pyfunction]
#[pyo3(signature = (drive_json, sold_bytes=None))]
fn describe(drive_json: &str, sold_bytes: Option<u64>) -> PyResult<String> {
    as_json(&description::describe(&content_of(drive_json)?, sold_bytes).map_err(refuse)?)
}

fn content_of(drive_json: &str) -> PyResult<Value> {
    serde_json::from_str(drive_json).map_err(|error| refuse_json("drive", drive_json, &error))
}

/// All trace formats as JSON: name, aliases, description.
#[pyfunction]
fn trace_formats() -> PyResult<String> {
    #[derive(Serialize)]
    struct Description {
        name: &'static str,
        aliases: &'static [&'static str],
        description: &'static str,
    }
    let describe = |format: &Format| Description {
        name: format.name(),
        aliases: format.aliases(),
        description: format.description(),
    };
    as_json(&Format::ALL.iter().map(describe).collect::<Vec<_>>())
}

/// The memory of a run, as JSON: bytes in proportion to the mapping units, which a smaller scale reduces, and others.
#[pyfunction]
fn memory(specification_json: &str) -> PyResult<String> {
    as_json(&memory_of(&specified(specification_json)?).map_err(refuse)?)
}

#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
