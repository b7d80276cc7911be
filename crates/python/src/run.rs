//! Runs: a specification's own jobs, or a trace after them. Both stop at Ctrl-C and report their progress.

use crate::errors::{as_json, refuse_json, refuse_trace, source_failed};
use crate::state;
use crate::trace::{Arrival, Counts, HeldTrace, JOB_NAME, Trace, source};
use pyo3::prelude::*;
use serde::Serialize;
use ssdlab_engine::error::SpecificationError;
use ssdlab_engine::simulation::{self, Counted, InitialState, Outcome, Run, Simulation, TimedSimulation, start_from};
use ssdlab_engine::specification::Specification;
use std::sync::Arc;

/// Requests between two checks for Ctrl-C: some ten milliseconds.
const REQUESTS_BETWEEN_LOOKS: u64 = 100_000;

/// Executes a specification to its end. `on_progress(done, host_written_bytes)` is called regularly; an exception in it
/// ends the run, and so does Ctrl-C. The drive is new, or has the state in the file `from_state`, of a drive with erase
/// units smaller by a whole factor; its state at the end is saved to the file `save_state`. The outcome's counters are
/// those of the drive since it was new; after a saved state an additional key `began` has what that had counted.
#[pyfunction]
#[pyo3(signature = (specification_json, on_progress=None, from_state=None, save_state=None))]
pub fn run(
    py: Python<'_>,
    specification_json: &str,
    on_progress: Option<Py<PyAny>>,
    from_state: Option<(String, u32)>,
    save_state: Option<&str>,
) -> PyResult<String> {
    let specification = specified(specification_json)?;
    let drive = &specification.drive;
    let is_new = from_state.is_none();
    let mut simulation = state::begin(py, drive, from_state, |state| start_from(&specification, state))?;
    let began = (!is_new).then(|| simulation.counted());
    advance_to_the_end(py, &mut *simulation, on_progress)?;
    if let Some(path) = save_state {
        state::save(py, &mut *simulation, &specification.drive, path)?;
    }
    as_json(&Ended { outcome: py.detach(|| simulation.finish()), trace: None, began })
}

/// An outcome with what the engine's own lacks.
#[derive(Serialize)]
struct Ended {
    #[serde(flatten)]
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Counts>,
    /// What a saved state had counted; None for a new drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    began: Option<Counted>,
}

/// The same, followed by a trace after the specification's jobs, which may be none: the requests of its files, with a
/// clock at their times or as the drive completes others, without one in succession. The outcome has an additional key
/// `trace`, with counts of them. `held` is what `profile` read of the same files and volume, which are then not read
/// again.
#[pyfunction]
#[pyo3(signature = (specification_json, trace_json, on_progress=None, from_state=None, save_state=None, held=None))]
pub fn replay(
    py: Python<'_>,
    specification_json: &str,
    trace_json: &str,
    on_progress: Option<Py<PyAny>>,
    from_state: Option<(String, u32)>,
    save_state: Option<&str>,
    held: Option<Bound<'_, HeldTrace>>,
) -> PyResult<String> {
    let specification = specified(specification_json)?;
    let trace: Trace = serde_json::from_str(trace_json).map_err(|error| refuse_json("trace", trace_json, &error))?;
    let ftl = &specification.drive.ftl;
    let records = held.map(|held| Arc::clone(&held.get().records));
    let (source, counts) =
        source(&trace, records, ftl.user_bytes, ftl.mapping_unit_bytes).map_err(|failure| refuse_trace(&failure))?;
    let arrival = simulation::Arrival { depth: trace.iodepth, has_times: trace.arrival == Arrival::Trace };
    let start = |state: Option<InitialState<'_>>| -> Result<Box<dyn Run>, SpecificationError> {
        Ok(if specification.timed {
            Box::new(TimedSimulation::replaying(&specification, JOB_NAME, source, arrival, state)?)
        } else {
            Box::new(Simulation::replaying(&specification, JOB_NAME, source, state)?)
        })
    };
    let is_new = from_state.is_none();
    let mut simulation = state::begin(py, &specification.drive, from_state, start)?;
    let began = (!is_new).then(|| simulation.counted());
    advance_to_the_end(py, &mut *simulation, on_progress)?;
    if let Some(path) = save_state {
        state::save(py, &mut *simulation, &specification.drive, path)?;
    }
    let outcome = py.detach(|| simulation.finish());
    as_json(&Ended { outcome, trace: Some(counts.take()), began })
}

/// A specification from its JSON.
pub fn specified(specification_json: &str) -> PyResult<Specification> {
    serde_json::from_str(specification_json).map_err(|error| refuse_json("specification", specification_json, &error))
}

fn advance_to_the_end(py: Python<'_>, simulation: &mut dyn Run, on_progress: Option<Py<PyAny>>) -> PyResult<()> {
    let began_bytes = simulation.counted().ledger.host_written_bytes;
    loop {
        let progress = py.detach(|| simulation.advance(REQUESTS_BETWEEN_LOOKS)).map_err(source_failed)?;
        py.check_signals()?;
        if let Some(on_progress) = &on_progress {
            on_progress.call1(py, (progress.done, progress.host_written_bytes - began_bytes))?;
        }
        if progress.is_finished {
            return Ok(());
        }
    }
}
