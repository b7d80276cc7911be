//! Reads a trace without a drive: its volumes (`survey`, in constant memory), and the properties of its requests
//! (`profile`, in memory that grows with the accessed units).

use crate::errors::{as_json, refuse_json, refuse_trace};
use crate::trace::{Failure, Gathered, HeldTrace, Recording, Trace};
use pyo3::prelude::*;
use serde::Serialize;
use ssdlab_traces::profile::{HottestRegions, OperationTotals, UNIT_BYTES};
use ssdlab_traces::{Operation, Profile, ProfileReport, Record};

/// Batches between two checks for Ctrl-C: some ten milliseconds.
const BATCHES_BETWEEN_LOOKS: usize = 100;

#[derive(Serialize)]
struct Survey {
    /// Of each file.
    formats: Vec<&'static str>,
    /// Of each file: what the user should know of how it is read.
    notes: Vec<Option<&'static str>>,
    /// The latest arrival; 0 if the trace has no times.
    arrival_ns_max: u64,
    /// Writes that complete when their data is on the medium.
    through: u64,
    /// Requests with an earlier time than one before them, and by how much at most.
    earlier: u64,
    earlier_ns_max: u64,
    volumes: Vec<Volume>,
    skipped: u64,
    without_direction: u64,
}

#[derive(Clone, Default, Serialize)]
struct Volume {
    name: String,
    reads: u64,
    writes: u64,
    trims: u64,
    flushes: u64,
    written_bytes: u64,
    end_bytes_max: u64,
}

#[derive(Serialize)]
struct Profiled {
    #[serde(flatten)]
    survey: Survey,
    read: Totals,
    write: Totals,
    trim: Totals,
    duration_ns: u64,
    span_bytes: u64,
    unit_bytes: u64,
    units: Units,
    /// (writes of a unit, units that were written so often)
    updates: Vec<(u32, u64)>,
    /// (share of the written units, hottest first; share of the unit writes that they take)
    update_curve: Vec<(f64, f64)>,
    region_bytes: u64,
    regions_written: u64,
    /// (region, writes of its units) of those that are written most
    hottest: Vec<(u64, u64)>,
}

/// More than any sample needs.
const HOTTEST_MAX: usize = 4096;

#[derive(Serialize)]
struct Totals {
    requests: u64,
    bytes: u64,
    sequential_requests: u64,
    sequential_bytes: u64,
    aligned_requests: u64,
    length_bytes_min: Option<u32>,
    length_bytes_max: Option<u32>,
    /// (largest length of the class, requests)
    sizes: Vec<(u64, u64)>,
}

#[derive(Serialize)]
struct Units {
    unique: u64,
    unique_read: u64,
    unique_written: u64,
    unique_trimmed: u64,
    read: u64,
    read_of_written: u64,
    written: u64,
    overwritten: u64,
    trimmed_of_written: u64,
}

/// The volumes of a trace with their requests, as JSON.
#[pyfunction]
pub fn survey(py: Python<'_>, trace_json: &str) -> PyResult<String> {
    as_json(&look_through(py, trace_json, |_| {})?)
}

/// The properties of a trace's requests, all included volumes together, as JSON; and, if `hold` is set, the requests
/// themselves, unless they are too many. The hottest regions have the given size, in whole units.
#[pyfunction]
#[pyo3(signature = (trace_json, hold=false, region_bytes=4096))]
pub fn profile(
    py: Python<'_>,
    trace_json: &str,
    hold: bool,
    region_bytes: u64,
) -> PyResult<(String, Option<HeldTrace>)> {
    let units_per_region = (region_bytes / UNIT_BYTES).max(1);
    let mut profile = Profile::new();
    let mut gathered = hold.then(Gathered::new);
    let survey = look_through(py, trace_json, |records| {
        profile.add(records);
        gathered.iter_mut().for_each(|gathered| gathered.add(records));
    })?;
    let (report, hottest) = py.detach(|| (profile.report(), profile.hottest(units_per_region, HOTTEST_MAX)));
    let held = gathered.and_then(|mut gathered| gathered.take()).map(|records| HeldTrace { records });
    Ok((as_json(&profiled(survey, &report, units_per_region * UNIT_BYTES, hottest))?, held))
}

fn look_through(py: Python<'_>, trace_json: &str, mut each: impl FnMut(&[Record]) + Send) -> PyResult<Survey> {
    let trace: Trace = serde_json::from_str(trace_json).map_err(|error| refuse_json("trace", trace_json, &error))?;
    let mut recording = Recording::new(&trace).map_err(|failure| refuse_trace(&failure))?;
    let mut volumes = Vec::new();
    let mut records = Vec::new();
    let mut arrival_ns_max = 0;
    loop {
        let look = || -> Result<bool, Failure> {
            for _ in 0..BATCHES_BETWEEN_LOOKS {
                recording.next_batch(&mut records)?;
                if records.is_empty() {
                    return Ok(true);
                }
                volumes.resize(recording.volumes().len(), Volume::default());
                for record in &records {
                    volumes[record.volume as usize].add(record);
                    arrival_ns_max = arrival_ns_max.max(record.arrival_ns);
                }
                each(&records);
            }
            Ok(false)
        };
        let is_over = py.detach(look).map_err(|failure| refuse_trace(&failure))?;
        py.check_signals()?;
        if is_over {
            break;
        }
    }
    for (volume, name) in volumes.iter_mut().zip(recording.volumes()) {
        volume.name.clone_from(name);
    }
    // Excluded volumes have names and no requests.
    volumes.retain(|volume| volume.requests() > 0);
    let formats = recording.formats().iter().map(|format| format.name()).collect();
    Ok(Survey {
        formats,
        notes: recording.notes().to_vec(),
        arrival_ns_max,
        through: recording.through(),
        earlier: recording.earlier().requests,
        earlier_ns_max: recording.earlier().ns_max,
        volumes,
        skipped: recording.skipped(),
        without_direction: recording.without_direction(),
    })
}

impl Volume {
    fn add(&mut self, record: &Record) {
        match record.operation {
            Operation::Read => self.reads += 1,
            Operation::Write => self.writes += 1,
            Operation::Trim => self.trims += 1,
            Operation::Flush => self.flushes += 1,
        }
        if record.operation == Operation::Write {
            self.written_bytes += u64::from(record.length_bytes);
        }
        self.end_bytes_max = self.end_bytes_max.max(record.offset_bytes + u64::from(record.length_bytes));
    }

    fn requests(&self) -> u64 {
        self.reads + self.writes + self.trims + self.flushes
    }
}

fn profiled(survey: Survey, report: &ProfileReport, region_bytes: u64, hottest: HottestRegions) -> Profiled {
    let units = report.units;
    Profiled {
        survey,
        read: totals(report.operation(Operation::Read)),
        write: totals(report.operation(Operation::Write)),
        trim: totals(report.operation(Operation::Trim)),
        duration_ns: report.duration_ns,
        span_bytes: report.span_bytes,
        unit_bytes: UNIT_BYTES,
        units: Units {
            unique: units.unique,
            unique_read: units.unique_read,
            unique_written: units.unique_written,
            unique_trimmed: units.unique_trimmed,
            read: units.read,
            read_of_written: units.read_of_written,
            written: units.written,
            overwritten: units.overwritten,
            trimmed_of_written: units.trimmed_of_written,
        },
        updates: report.updates.histogram.clone(),
        update_curve: report.updates.curve.iter().map(|point| (point.units_share, point.writes_share)).collect(),
        region_bytes,
        regions_written: hottest.written,
        hottest: hottest.listed,
    }
}

fn totals(totals: &OperationTotals) -> Totals {
    let has_requests = totals.requests > 0;
    Totals {
        requests: totals.requests,
        bytes: totals.bytes,
        sequential_requests: totals.sequential_requests,
        sequential_bytes: totals.sequential_bytes,
        aligned_requests: totals.aligned_requests,
        length_bytes_min: has_requests.then_some(totals.sizes.bytes_min),
        length_bytes_max: has_requests.then_some(totals.sizes.bytes_max),
        sizes: totals.sizes.classes().collect(),
    }
}
