//! Records of a recording in memory: for its later passes, and for other runs of the same process.

use pyo3::prelude::*;
use pyo3::types::PyType;
use ssdlab_traces::Record;
use std::sync::Arc;

/// 64 MiB of records. A longer recording is read again from its files, so that memory remains bounded.
const RECORDS_MAX: usize = 2 << 20;

/// All requests of a recording, if they are few enough.
pub struct Gathered {
    records: Option<Vec<Record>>,
}

impl Gathered {
    pub fn new() -> Self {
        Self { records: Some(Vec::new()) }
    }

    pub fn add(&mut self, records: &[Record]) {
        if let Some(all) = &mut self.records {
            if all.len() + records.len() > RECORDS_MAX {
                self.records = None;
            } else {
                all.extend_from_slice(records);
            }
        }
    }

    /// Starts again, unless there were too many before.
    pub fn clear(&mut self) {
        self.records.iter_mut().for_each(Vec::clear);
    }

    /// None if there were too many.
    pub fn take(&mut self) -> Option<Arc<Vec<Record>>> {
        self.records.take().map(Arc::new)
    }
}

/// The requests of a recording read by `profile`, for `replay`.
#[pyclass(frozen)]
pub struct HeldTrace {
    pub records: Arc<Vec<Record>>,
}

#[pymethods]
impl HeldTrace {
    /// Another process gets None, and reads the files.
    fn __reduce__(&self, py: Python<'_>) -> (Py<PyType>, ()) {
        (py.None().bind(py).get_type().unbind(), ())
    }
}
