//! The shell between the engine and Python: one call a run, specifications and outcomes as JSON text.
//!
//! JSON costs some milliseconds a run and keeps one description of the words in one place, the engine's own types.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ssdlab_engine::error;
use ssdlab_engine::simulation::{Outcome, Simulation};
use ssdlab_engine::specification::Specification;

create_exception!(_engine, SpecificationError, PyValueError);

/// Requests between two looks at Ctrl-C: some ten milliseconds.
const REQUESTS_BETWEEN_LOOKS: u64 = 100_000;

#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::SpecificationError;
    #[pymodule_export]
    use super::{policies, run, version};
}

/// Runs a specification to its end. `on_progress(done, host_written_bytes)` is called now and then; what it raises ends
/// the run, and so does Ctrl-C.
#[pyfunction]
#[pyo3(signature = (specification_json, on_progress=None))]
fn run(py: Python<'_>, specification_json: &str, on_progress: Option<Py<PyAny>>) -> PyResult<String> {
    let specification: Specification = serde_json::from_str(specification_json).map_err(|error| {
        SpecificationError::new_err(("specification", specification_json.to_owned(), error.to_string()))
    })?;
    let mut simulation = py.detach(|| Simulation::new(&specification)).map_err(refuse)?;
    loop {
        let progress = py.detach(|| simulation.advance(REQUESTS_BETWEEN_LOOKS));
        py.check_signals()?;
        if let Some(on_progress) = &on_progress {
            on_progress.call1(py, (progress.done, progress.host_written_bytes))?;
        }
        if progress.is_finished {
            break;
        }
    }
    let outcome: Outcome = py.detach(|| simulation.finish());
    serde_json::to_string(&outcome).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// All policies as JSON: kind, name, summary, source, parameters with their defaults.
#[pyfunction]
fn policies() -> PyResult<String> {
    serde_json::to_string(&ssdlab_engine::policies::descriptions())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn refuse(error: error::SpecificationError) -> PyErr {
    SpecificationError::new_err((error.key, error.value, error.allowed))
}
