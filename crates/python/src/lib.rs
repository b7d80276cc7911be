//! The shell between the engine and Python: one call a run, specifications and outcomes as JSON text.
//!
//! JSON costs some milliseconds a run and keeps one description of the words in one place, the engine's own types.
//! `run` has the runs, `live` those that someone watches, `device` the drives for real programs, `survey` looks through traces, `trace` reads them; here is what only lists things.

mod device;
mod errors;
mod live;
mod run;
mod state;
mod survey;
mod trace;

use errors::as_json;
use pyo3::prelude::*;
use serde::Serialize;
use ssdlab_traces::Format;

#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::device::{BlockDevice, Device, Mount, Server};
    #[pymodule_export]
    use super::errors::{SpecificationError, TraceError};
    #[pymodule_export]
    use super::live::LiveDrive;
    #[pymodule_export]
    use super::run::{replay, run};
    #[pymodule_export]
    use super::survey::{profile, survey};
    #[pymodule_export]
    use super::trace::HeldTrace;
    #[pymodule_export]
    use super::{policies, trace_formats, version};
}

/// All policies as JSON: kind, name, summary, source, parameters with their defaults.
#[pyfunction]
fn policies() -> PyResult<String> {
    as_json(&ssdlab_engine::policies::descriptions())
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

#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
