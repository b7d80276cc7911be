//! Drives for real programs: opening, mounting, serving and inspecting them from Python.

use crate::errors::{as_json, refuse, refuse_json};
use crate::live::{cells_by, close_up};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use ssdlab_blockdev::device::{self, DeviceError};
use ssdlab_blockdev::drive::{
    Achieved, Command, HostEvents, OpenError, Options, Recording, SYNTAX, SimulatedDevice, SimulatedQueue, memory_of,
};
use ssdlab_blockdev::fuse::{self, Panel};
use ssdlab_blockdev::nand::{Events, Recovery};
use ssdlab_blockdev::nbd::{self, Address, Limits};
use ssdlab_blockdev::null::Null;
use ssdlab_blockdev::nvme::{self, Health, Identity, Namespace, Presented};
use ssdlab_blockdev::placement::Placement;
use ssdlab_blockdev::queue::{Immediate, Queue};
use ssdlab_blockdev::zones::Zones;
use ssdlab_engine::simulation::Outcome;
use ssdlab_engine::specification::Drive;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A drive that stores data.
#[pyclass(frozen)]
pub struct Device {
    simulated: Arc<SimulatedDevice>,
    /// The device that programs use: the drive, or one of its size that does nothing.
    front: Arc<dyn device::Device>,
    /// As an NVMe controller shows them.
    namespaces: Vec<Namespace>,
    does_nothing: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    #[serde(default)]
    does_nothing: bool,
    #[serde(default)]
    drive: Options,
}

#[derive(Serialize)]
struct State {
    outcome: Outcome,
    events: Events,
    power_cycles: u64,
    recovery: Option<Recovery>,
    erase_units_needed: u32,
    erase_units_when_new: u32,
    free_erase_units: u32,
    /// Units that hold data, by namespace; without namespaces the outcome has the number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    live_units: Vec<u64>,
    /// Only if there were any.
    #[serde(skip_serializing_if = "HostEvents::is_empty")]
    host_events: HostEvents,
    /// None at virtual pace.
    real_pace: Option<Achieved>,
}

fn described(drive_json: &str, options_json: &str) -> PyResult<(Drive, Opening)> {
    let drive = serde_json::from_str(drive_json).map_err(|error| refuse_json("drive", drive_json, &error))?;
    let opening = serde_json::from_str(options_json).map_err(|error| refuse_json("options", options_json, &error))?;
    Ok((drive, opening))
}

#[pymethods]
impl Device {
    #[new]
    fn open(py: Python<'_>, drive_json: &str, options_json: &str) -> PyResult<Self> {
        let (drive, opening) = described(drive_json, options_json)?;
        let simulated = py.detach(|| SimulatedDevice::new(&drive, &opening.drive)).map_err(not_opened)?;
        let simulated = Arc::new(simulated);
        let capabilities = device::Device::capabilities(&*simulated);
        let front: Arc<dyn device::Device> = if opening.does_nothing {
            Arc::new(Null::new(capabilities.size_bytes, capabilities.unit_bytes))
        } else {
            simulated.clone()
        };
        let namespaces = Namespace::all_of(&drive, &capabilities);
        Ok(Self { simulated, front, namespaces, does_nothing: opening.does_nothing })
    }

    /// The memory of such a drive, without its contents, as JSON.
    #[staticmethod]
    fn memory(drive_json: &str, options_json: &str) -> PyResult<String> {
        let (drive, opening) = described(drive_json, options_json)?;
        as_json(&memory_of(&drive, &opening.drive.contents).map_err(refuse)?)
    }

    /// The outcome of a run that ended now, and what only a served drive has, as JSON.
    fn state(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&py.detach(|| state(&self.simulated)))
    }

    /// The figures of the drive, and the changes since the last call, as JSON.
    fn figures(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&py.detach(|| self.simulated.core().figures()))
    }

    fn cells<'py>(&self, py: Python<'py>, by: &str) -> PyResult<Bound<'py, PyBytes>> {
        let by = cells_by(by)?;
        let mut cells = Vec::new();
        py.detach(|| self.simulated.core().cells(by, &mut cells));
        Ok(PyBytes::new(py, &cells))
    }

    fn marks(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&py.detach(|| self.simulated.core().marks()))
    }

    fn erase_unit(&self, py: Python<'_>, index: u32) -> PyResult<String> {
        close_up(py.detach(|| self.simulated.core().close_up(index)), index)
    }

    /// Executes a line as written to `control`.
    fn command(&self, py: Python<'_>, line: &str) -> PyResult<()> {
        let Some(command) = Command::parse(line) else {
            return Err(PyValueError::new_err(format!("{line:?} is no command; there are {SYNTAX}")));
        };
        py.detach(|| self.simulated.carry_out(&command)).map_err(|error| failed(&error))
    }

    /// Writes down what is asked from now on, without data, in a new file at this place.
    fn record(&self, place: PathBuf) -> PyResult<()> {
        let file = File::options().create(true).truncate(true).read(true).write(true).open(place);
        self.simulated.core().record(file.map_err(|error| os_error(&error))?);
        Ok(())
    }

    /// Ends the recording.
    fn take_recording(&self) -> PyResult<Asked> {
        let recording = self.simulated.core().take_recording();
        let recording = recording.ok_or_else(|| PyValueError::new_err("nothing is recorded"))?;
        Ok(Asked { recording: recording.map_err(|error| os_error(&error))? })
    }

    /// An orderly end: all data in flash, the map in a checkpoint, a file on its disk.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.simulated.core().close()).map_err(|error| failed(&error))
    }

    /// Mounts the drive at a folder; `render(state)` gives the text of `stats.json`.
    fn mount(&self, py: Python<'_>, folder: PathBuf, threads: usize, render: Py<PyAny>) -> PyResult<Mount> {
        let simulated = self.simulated.clone();
        let statistics = move || {
            let state = serde_json::to_string(&state(&simulated)).unwrap_or_default();
            let text = Python::attach(|py| render.call1(py, (state,)).and_then(|text| text.extract::<String>(py)));
            text.unwrap_or_else(|error| format!("{{\"error\": {:?}}}\n", error.to_string())).into_bytes()
        };
        let simulated = self.simulated.clone();
        let control = move |line: &str| {
            let command = Command::parse(line).ok_or(libc::EINVAL)?;
            simulated.carry_out(&command).map_err(|error| error.errno())
        };
        let panel = Panel { statistics: Box::new(statistics), control: Box::new(control) };
        let mount = py.detach(|| fuse::mount((self.front.clone(), self.queues()()), panel, &folder, threads));
        Ok(Mount { mount: Mutex::new(mount.map_err(|error| os_error(&error))?) })
    }

    /// Serves the drive over NBD at a unix socket, to at most `connections_max` connections at a time.
    fn serve_at_socket(&self, py: Python<'_>, path: PathBuf, connections_max: u32) -> PyResult<Server> {
        self.serve(py, Address::Unix(path), connections_max)
    }

    /// Serves the drive over NBD at a TCP port, to at most `connections_max` connections at a time; port 0 selects a
    /// free one.
    fn serve_at_port(&self, py: Python<'_>, host: String, port: u16, connections_max: u32) -> PyResult<Server> {
        self.serve(py, Address::Tcp(host, port), connections_max)
    }

    /// Serves the drive over NVMe/TCP; port 0 selects a free one. `render(state)` gives the figures of the logs as JSON.
    fn serve_nvme(
        &self,
        py: Python<'_>,
        host: &str,
        port: u16,
        model: String,
        render: Py<PyAny>,
    ) -> PyResult<NvmeServer> {
        let unique = py.detach(|| self.simulated.core().unique());
        let simulated = self.simulated.clone();
        let figures = move || -> Result<Health, String> {
            let state = serde_json::to_string(&state(&simulated)).map_err(|error| error.to_string())?;
            let text = Python::attach(|py| render.call1(py, (state,)).and_then(|text| text.extract::<String>(py)));
            serde_json::from_str(&text.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
        };
        let has_zones = !self.does_nothing && self.simulated.core().zones().is_some();
        let has_handles = !self.does_nothing && self.simulated.core().handles().is_some();
        let placement = has_handles.then(|| Box::new(self.simulated.clone()) as Box<dyn Placement>);
        let presented = Presented {
            identity: Identity { model, unique },
            namespaces: self.namespaces.clone(),
            placement,
            zones: has_zones.then(|| Box::new(self.simulated.clone()) as Box<dyn Zones>),
            figures: Box::new(figures),
        };
        let server = py.detach(|| nvme::serve(self.queues()(), presented, (host, port)));
        Ok(NvmeServer { server: Mutex::new(server.map_err(|error| os_error(&error))?) })
    }
}

impl Device {
    /// Makes queues of the device that programs use.
    fn queues(&self) -> nbd::Queues {
        if self.does_nothing {
            let front = self.front.clone();
            Arc::new(move || Box::new(Immediate::new(front.clone())) as Box<dyn Queue>)
        } else {
            let simulated = self.simulated.clone();
            Arc::new(move || Box::new(SimulatedQueue::new(simulated.clone())))
        }
    }

    fn serve(&self, py: Python<'_>, address: Address, connections_max: u32) -> PyResult<Server> {
        if !(1..=nbd::CONNECTIONS_MAX).contains(&connections_max) {
            return Err(PyValueError::new_err(format!("{connections_max} connections; 1 to {}", nbd::CONNECTIONS_MAX)));
        }
        let limits = Limits::with_connections(connections_max);
        let queues = self.queues();
        let server = py.detach(|| nbd::serve(self.front.clone(), queues, address, limits));
        let server = server.map_err(|error| os_error(&error))?;
        Ok(Server { server: Mutex::new(server) })
    }
}

fn state(device: &SimulatedDevice) -> State {
    let mut core = device.core();
    let outcome = core.outcome();
    let live_units = core.ftl().namespaces().iter().map(|namespace| namespace.live_units).collect();
    State {
        outcome,
        live_units,
        host_events: core.host_events(),
        events: core.events(),
        power_cycles: core.power_cycles(),
        recovery: core.recovery(),
        erase_units_needed: core.erase_units_needed(),
        erase_units_when_new: core.erase_units_when_new(),
        free_erase_units: core.ftl().free_erase_units(),
        real_pace: device.achieved(),
    }
}

fn not_opened(error: OpenError) -> PyErr {
    match error {
        OpenError::Specification(error) => refuse(error),
        OpenError::Store(error) => os_error(&error),
    }
}

/// What was asked of a drive.
#[pyclass(frozen)]
pub struct Asked {
    recording: Recording,
}

#[pymethods]
impl Asked {
    /// Asks a new drive of the same capacity the same; its state, as JSON. Ctrl-C ends it.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
    fn replay(&self, py: Python<'_>, drive_json: &str, options_json: &str) -> PyResult<String> {
        let (drive, opening) = described(drive_json, options_json)?;
        let mut interrupted = None;
        let replayed = py.detach(|| {
            self.recording.replay(&drive, &opening.drive, &mut || {
                interrupted = Python::attach(|py| py.check_signals()).err();
                if interrupted.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        });
        interrupted.map_or(Ok(()), Err)?;
        as_json(&state(&replayed.map_err(not_opened)?))
    }
}

/// A folder with a mounted drive.
#[pyclass(frozen)]
pub struct Mount {
    mount: Mutex<fuse::Mount>,
}

const LOOK_EVERY: Duration = Duration::from_millis(20);

#[pymethods]
impl Mount {
    /// Waits this long, or until someone unmounts it; returns whether it is unmounted. Ctrl-C ends the wait.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let until = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e6));
        while !self.mount().is_over() {
            py.check_signals()?;
            if Instant::now() >= until {
                return Ok(false);
            }
            py.detach(|| std::thread::sleep(LOOK_EVERY));
        }
        Ok(true)
    }

    /// Unmounts it. An `OSError` says what uses it.
    fn unmount(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.mount().unmount()).map_err(|error| os_error(&error))
    }
}

impl Mount {
    fn mount(&self) -> MutexGuard<'_, fuse::Mount> {
        self.mount.lock().expect("no call panics while it holds the mount")
    }
}

/// A drive served over NBD.
#[pyclass(frozen)]
pub struct Server {
    server: Mutex<nbd::Server>,
}

#[pymethods]
impl Server {
    /// The TCP port; None for a unix socket.
    #[getter]
    fn port(&self) -> Option<u16> {
        match self.server().address() {
            Address::Unix(_) => None,
            Address::Tcp(_, port) => Some(*port),
        }
    }

    /// The number of clients so far.
    #[getter]
    fn connections(&self) -> u64 {
        self.server().connections()
    }

    /// How many of them were disconnected at once because of the limit.
    #[getter]
    fn refused(&self) -> u64 {
        self.server().refused()
    }

    /// Closes all connections and removes the socket.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.server().stop());
    }
}

impl Server {
    fn server(&self) -> MutexGuard<'_, nbd::Server> {
        self.server.lock().expect("no call panics while it holds the server")
    }
}

/// A drive served over NVMe/TCP.
#[pyclass(frozen)]
pub struct NvmeServer {
    server: Mutex<nvme::Server>,
}

#[pymethods]
impl NvmeServer {
    /// The TCP port.
    #[getter]
    fn port(&self) -> u16 {
        self.server().address().port()
    }

    /// The name of the drive's subsystem.
    #[getter]
    fn nqn(&self) -> String {
        self.server().nqn().to_owned()
    }

    /// Hosts that have the drive attached.
    #[getter]
    fn hosts(&self) -> u64 {
        self.server().hosts()
    }

    /// Closes all connections. Waits up to 12 s for attached hosts, so that they hear that the drive is gone.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.server().stop());
    }
}

impl NvmeServer {
    fn server(&self) -> MutexGuard<'_, nvme::Server> {
        self.server.lock().expect("no call panics while it holds the server")
    }
}

/// With its errno, if it has one, so that Python raises the right subclass of `OSError`.
fn os_error(error: &std::io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string())),
        None => PyOSError::new_err(error.to_string()),
    }
}

fn failed(error: &DeviceError) -> PyErr {
    PyOSError::new_err((error.errno(), error.to_string()))
}
