//! The mapping of errors to Python exceptions.

use crate::trace::Failure;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use ssdlab_engine::error;
use ssdlab_engine::simulation::SourceError;

create_exception!(_engine, SpecificationError, PyValueError);
create_exception!(_engine, TraceError, PyValueError);
create_exception!(_engine, RunError, PyRuntimeError);

/// `args` become (key, value, allowed).
pub fn refuse(error: error::SpecificationError) -> PyErr {
    SpecificationError::new_err((error.key, error.value, error.allowed))
}

/// JSON text of an unexpected form; `what` is the key named in the message.
pub fn refuse_json(what: &str, text: &str, error: &serde_json::Error) -> PyErr {
    SpecificationError::new_err((what.to_owned(), text.to_owned(), error.to_string()))
}

/// `args` become (kind, name of the file or None, message).
pub fn refuse_trace(failure: &Failure) -> PyErr {
    TraceError::new_err((failure.kind(), failure.file().map(str::to_owned), failure.to_string()))
}

/// An error that ends a run: a source's own, or one of the engine.
pub fn source_failed(error: SourceError) -> PyErr {
    match error.downcast::<Failure>() {
        Ok(failure) => refuse_trace(&failure),
        Err(other) => RunError::new_err(other.to_string()),
    }
}

pub fn as_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
