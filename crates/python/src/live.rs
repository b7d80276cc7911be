//! A run that is observed and changed while it advances. Any thread may ask while another advances it.

use crate::errors::{as_json, refuse, refuse_json, source_failed};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ssdlab_engine::ftl::picture::{CellsBy, Close};
use ssdlab_engine::simulation::live::{LiveRun, Standing};
use ssdlab_engine::specification::{Job, Specification};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

/// The time between two checks of the real time and of other threads' requests.
const HEAP: Duration = Duration::from_millis(1);
const HEAP_REQUESTS_FIRST: u64 = 1024;
const HEAP_REQUESTS_MAX: u64 = 1 << 17;

#[pyclass(frozen)]
pub struct LiveDrive {
    run: Mutex<LiveRun>,
    /// Requests of other threads while one advances the run. That thread executes them between two batches: if the run
    /// were handed over instead, it would stop until the other thread has a processor, thirty times a second.
    asked: Mutex<Vec<Asked>>,
}

type Asked = Box<dyn FnOnce(&mut LiveRun) + Send>;

/// How long a thread that has asked sleeps before it checks whether the run is free.
const LOOK_EVERY: Duration = Duration::from_millis(2);

#[derive(Serialize)]
struct Advanced {
    /// In this call.
    requests: u64,
    finished: bool,
    job: Option<usize>,
    read_only: Option<String>,
}

#[pymethods]
impl LiveDrive {
    #[new]
    fn new(py: Python<'_>, specification_json: &str) -> PyResult<Self> {
        let specification: Specification = read("specification", specification_json)?;
        let run = py.detach(|| LiveRun::new(specification)).map_err(refuse)?;
        Ok(Self { run: Mutex::new(run), asked: Mutex::new(Vec::new()) })
    }

    /// Advances until this many requests are issued, this much time is over, or there is nothing left to do.
    fn advance(&self, py: Python<'_>, requests_max: u64, wall_seconds_max: f64) -> PyResult<String> {
        let until = Instant::now() + Duration::from_secs_f64(wall_seconds_max.clamp(0.0, 1e6));
        let go_on = || {
            let mut run = self.run.lock().expect(BROKEN);
            let start = run.standing();
            let mut standing = start;
            let mut heap_requests = HEAP_REQUESTS_FIRST;
            let mut now = Instant::now();
            loop {
                self.answer(&mut run);
                let left = requests_max.saturating_sub(standing.requests - start.requests);
                if left == 0 || standing.is_finished || now >= until {
                    return Ok((standing.requests - start.requests, standing));
                }
                standing = run.advance(left.min(heap_requests))?;
                let before = std::mem::replace(&mut now, Instant::now());
                // The time of a request differs by a factor of a thousand between drives, clocks and machines.
                heap_requests = if now - before < HEAP { heap_requests * 2 } else { heap_requests / 2 };
                heap_requests = heap_requests.clamp(1, HEAP_REQUESTS_MAX);
            }
        };
        let (requests, standing): (u64, Standing) = py.detach(go_on).map_err(source_failed)?;
        as_json(&Advanced {
            requests,
            finished: standing.is_finished,
            job: standing.job,
            read_only: standing.read_only.map(|reason| reason.to_string()),
        })
    }

    fn append_job(&self, py: Python<'_>, job_json: &str) -> PyResult<()> {
        let job: Job = read("job", job_json)?;
        self.ask(py, |run| run.append_job(job)).map_err(refuse)
    }

    #[pyo3(signature = (after_requests=None))]
    fn end_job(&self, py: Python<'_>, after_requests: Option<Vec<u64>>) -> PyResult<()> {
        self.ask(py, move |run| run.end_job(after_requests.as_deref())).map_err(refuse)
    }

    fn drop_jobs_to_come(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, LiveRun::drop_jobs_to_come).map_err(refuse)
    }

    fn specification(&self, py: Python<'_>) -> PyResult<String> {
        let specification = self.ask(py, |run| run.specification().cloned()).map_err(refuse)?;
        as_json(&specification)
    }

    /// By job.
    fn issued(&self, py: Python<'_>) -> Vec<u64> {
        self.ask(py, |run| run.issued())
    }

    fn figures(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&self.ask(py, LiveRun::figures))
    }

    fn cells<'py>(&self, py: Python<'py>, by: &str) -> PyResult<Bound<'py, PyBytes>> {
        let by = cells_by(by)?;
        let cells = self.ask(py, move |run| {
            let mut cells = Vec::new();
            run.cells(by, &mut cells);
            cells
        });
        Ok(PyBytes::new(py, &cells))
    }

    fn marks(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&self.ask(py, LiveRun::marks))
    }

    fn erase_unit(&self, py: Python<'_>, index: u32) -> PyResult<String> {
        close_up(self.ask(py, move |run| run.close_up(index)), index)
    }

    fn cut_power(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&self.ask(py, |run| run.power_loss()))
    }

    fn outcome(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&self.ask(py, |run| run.outcome()))
    }
}

const BROKEN: &str = "the engine has found no error in itself before";

impl LiveDrive {
    /// Executes `work` on the run: at once if it is free, otherwise in the thread that advances it.
    fn ask<T: Send + 'static>(&self, py: Python<'_>, work: impl FnOnce(&mut LiveRun) -> T + Send + 'static) -> T {
        py.detach(|| {
            let (answer, answered) = mpsc::sync_channel(1);
            let asked: Asked = Box::new(move |run| drop(answer.send(work(run))));
            self.asked.lock().expect("nobody panics while asking").push(asked);
            loop {
                match self.run.try_lock() {
                    Ok(mut run) => self.answer(&mut run),
                    Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Poisoned(_)) => panic!("{BROKEN}"),
                }
                match answered.recv_timeout(LOOK_EVERY) {
                    Ok(answer) => return answer,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => panic!("{BROKEN}"),
                }
            }
        })
    }

    /// Executes what was asked, in order.
    fn answer(&self, run: &mut LiveRun) {
        let asked = std::mem::take(&mut *self.asked.lock().expect("nobody panics while asking"));
        asked.into_iter().for_each(|one| one(run));
    }
}

fn read<T: DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| refuse_json(what, text, &error))
}

pub fn close_up(found: Option<Close>, index: u32) -> PyResult<String> {
    as_json(&found.ok_or_else(|| PyIndexError::new_err(format!("there is no erase unit {index}")))?)
}

/// By its name in Python.
pub fn cells_by(name: &str) -> PyResult<CellsBy> {
    read("by", &format!("{name:?}"))
}
