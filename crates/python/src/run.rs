//! Runs: a specification's own jobs, or a trace after them. Both listen for Ctrl-C and tell how far they are.

use crate::errors::{as_json, refuse, refuse_json, refuse_trace, source_failed};
use crate::trace::{Counts, JOB_NAME, Trace, source};
use pyo3::prelude::*;
use serde::Serialize;
use ssdlab_engine::simulation::{Outcome, Run, Simulation, start};
use ssdlab_engine::specification::Specification;

/// Requests between two looks at Ctrl-C: some ten milliseconds.
const REQUESTS_BETWEEN_LOOKS: u64 = 100_000;

/// Runs a specification to its end. `on_progress(done, host_written_bytes)` is called now and then; what it raises ends
/// the run, and so does Ctrl-C.
#[pyfunction]
#[pyo3(signature = (specification_json, on_progress=None))]
pub fn run(py: Python<'_>, specification_json: &str, on_progress: Option<Py<PyAny>>) -> PyResult<String> {
    let specification = specified(specification_json)?;
    let simulation = py.detach(|| start(&specification)).map_err(refuse)?;
    as_json(&to_the_end(py, simulation, on_progress)?)
}

/// The same, and after the specification's jobs, of which there may be none, a trace: the requests of its files as they
/// come, each right after the one before it. The outcome has a key more, `trace`, with what became of them.
#[pyfunction]
#[pyo3(signature = (specification_json, trace_json, on_progress=None))]
pub fn replay(
    py: Python<'_>,
    specification_json: &str,
    trace_json: &str,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    #[derive(Serialize)]
    struct Replayed {
        #[serde(flatten)]
        outcome: Outcome,
        trace: Counts,
    }
    let specification = specified(specification_json)?;
    let trace: Trace = serde_json::from_str(trace_json).map_err(|error| refuse_json("trace", trace_json, &error))?;
    let ftl = &specification.drive.ftl;
    let (source, counts) =
        source(&trace, ftl.user_bytes, ftl.mapping_unit_bytes).map_err(|failure| refuse_trace(&failure))?;
    let simulation = py.detach(|| Simulation::replaying(&specification, JOB_NAME, source)).map_err(refuse)?;
    let outcome = to_the_end(py, Box::new(simulation), on_progress)?;
    as_json(&Replayed { outcome, trace: counts.take() })
}

fn specified(specification_json: &str) -> PyResult<Specification> {
    serde_json::from_str(specification_json).map_err(|error| refuse_json("specification", specification_json, &error))
}

fn to_the_end(py: Python<'_>, mut simulation: Box<dyn Run>, on_progress: Option<Py<PyAny>>) -> PyResult<Outcome> {
    loop {
        let progress = py.detach(|| simulation.advance(REQUESTS_BETWEEN_LOOKS)).map_err(source_failed)?;
        py.check_signals()?;
        if let Some(on_progress) = &on_progress {
            on_progress.call1(py, (progress.done, progress.host_written_bytes))?;
        }
        if progress.is_finished {
            return Ok(py.detach(|| simulation.finish()));
        }
    }
}
