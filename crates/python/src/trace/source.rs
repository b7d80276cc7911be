//! A recording as the source of a job's requests: mapped to the drive, repeated as often as requested, counted.
//!
//! Arrival times continue from pass to pass, at the mean distance of two requests of a pass. They never decrease: a
//! request with an earlier time than the one before it arrives together with that one.

use super::sampled::Sampled;
use super::{Failure, Map, Trace};
use serde::Serialize;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::addresses::{AddressMap, Compact, Extent, Fold, Piece, Strict};
use ssdlab_engine::simulation::{RequestSource, SourceError};
use ssdlab_traces::{Operation as Recorded, Record};
use std::sync::{Arc, Mutex};

/// The unit that remains contiguous when addresses are packed, unless the drive's mapping unit is larger.
const PACKED_UNIT_BYTES: u32 = 4096;

/// Counts of a trace's requests, or of those in its sample, over all passes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Passes begun.
    passes: u64,
    reads: u64,
    writes: u64,
    trims: u64,
    /// Without a clock they have no effect: nothing is buffered.
    flushes: u64,
    /// Reads, writes and trims of 0 bytes, which do nothing.
    empty: u64,
    /// Requests mapped to several pieces of the drive; each piece is a request to it.
    split: u64,
    /// Requests whose address differs from that in the recording.
    moved: u64,
    /// Bytes of trims of units that were never accessed, which packing does not map.
    trimmed_nowhere_bytes: u64,
    /// Units mapped by packing.
    placed_units: Option<u64>,
}

#[derive(Clone, Default)]
pub struct SharedCounts(Arc<Mutex<Counts>>);

impl SharedCounts {
    pub fn take(&self) -> Counts {
        *self.0.lock().expect("nobody panics with the counts in hand")
    }

    fn put(&self, counts: Counts) {
        *self.0.lock().expect("nobody panics with the counts in hand") = counts;
    }
}

/// The source of a trace's requests for a drive, and its counts, which are complete at the end of the run. `held` are
/// the records of the recording, if it was read before.
pub fn source(
    trace: &Trace,
    held: Option<Arc<Vec<Record>>>,
    user_bytes: u64,
    mapping_unit_bytes: u32,
) -> Result<(Box<dyn RequestSource>, SharedCounts), Failure> {
    let recording = Sampled::new(trace, held)?;
    let counts = SharedCounts::default();
    let shared = counts.clone();
    let source: Box<dyn RequestSource> = match trace.map {
        Map::Strict => Box::new(TraceSource::new(recording, Strict::new(user_bytes), trace, shared)),
        // A drive of no bytes is refused by the engine itself.
        Map::Fold => Box::new(TraceSource::new(recording, Fold::new(user_bytes.max(1)), trace, shared)),
        Map::Compact => {
            let map = Compact::new(user_bytes, PACKED_UNIT_BYTES.max(mapping_unit_bytes));
            Box::new(TraceSource::new(recording, map, trace, shared))
        }
    };
    Ok((source, counts))
}

/// Arrival times over all passes, in nanoseconds since the first.
struct Times {
    scale: f64,
    /// The first of the recording, and of the pass.
    first_ns: Option<u64>,
    pass_starts_ns: u64,
    requests_in_pass: u64,
    latest_ns: u64,
}

impl Times {
    fn note(&mut self, arrival_ns: u64) {
        let first_ns = *self.first_ns.get_or_insert(arrival_ns);
        let since_first_ns = (arrival_ns.saturating_sub(first_ns) as f64 * self.scale).round() as u64;
        self.latest_ns = self.latest_ns.max(self.pass_starts_ns + since_first_ns);
        self.requests_in_pass += 1;
    }

    fn start_over(&mut self) {
        let length_ns = self.latest_ns - self.pass_starts_ns;
        let gap_ns = length_ns.checked_div(self.requests_in_pass.saturating_sub(1)).unwrap_or(0);
        self.pass_starts_ns = self.latest_ns + gap_ns;
        (self.first_ns, self.requests_in_pass) = (None, 0);
    }
}

/// The mapped pieces of a recording's requests, by number: after the first pass every address is mapped, and need not
/// be looked up again.
#[derive(Default)]
struct Places {
    /// By number: the index of the request's first piece in `pieces`.
    starts: Vec<u32>,
    pieces: Vec<Piece>,
    /// The number of the record after the current batch; None in the first pass.
    batch_end: Option<usize>,
    known: Known,
}

/// What is recorded of the request being mapped.
#[derive(Default)]
enum Known {
    /// Nothing, and nothing will be.
    #[default]
    Nothing,
    /// Its pieces are being recorded.
    Noted,
    /// The index of its next piece.
    At(usize),
}

impl Places {
    const UNKNOWN: u32 = u32::MAX;
    /// 48 MiB. Requests beyond this are mapped again in each pass.
    const PIECES_MAX: usize = 2 << 20;

    /// Starts with the request at this distance from the end of its batch.
    fn begin(&mut self, before_end: usize) {
        self.known = Known::Nothing;
        let Some(number) = self.batch_end.map(|end| end - before_end) else { return };
        if number >= self.starts.len() {
            self.starts.resize(number + 1, Self::UNKNOWN);
        }
        if self.starts[number] != Self::UNKNOWN {
            self.known = Known::At(self.starts[number] as usize);
        } else if self.pieces.len() < Self::PIECES_MAX {
            self.starts[number] = self.pieces.len() as u32;
            self.known = Known::Noted;
        }
    }

    fn next(&mut self) -> Option<Piece> {
        let Known::At(at) = &mut self.known else { return None };
        *at += 1;
        Some(self.pieces[*at - 1])
    }

    fn note(&mut self, piece: Piece) {
        if matches!(self.known, Known::Noted) {
            self.pieces.push(piece);
        }
    }
}

struct TraceSource<M> {
    times: Times,
    /// For the requests of the batch being filled.
    arrivals_ns: Vec<u64>,
    recording: Sampled,
    map: M,
    places: Places,
    until_written_bytes: Option<u64>,
    written_bytes: u64,
    written_bytes_in_pass: u64,
    records: Vec<Record>,
    /// The index of the next one.
    at: usize,
    /// The rest of the request being mapped.
    rest: Option<Extent>,
    /// Whether that request is a write which completes only when it would survive a loss of power.
    is_through: bool,
    is_whole: bool,
    failure: Option<Failure>,
    counts: Counts,
    shared: SharedCounts,
}

impl<M: AddressMap> TraceSource<M> {
    fn new(recording: Sampled, map: M, trace: &Trace, shared: SharedCounts) -> Self {
        let times =
            Times { scale: trace.time_scale, first_ns: None, pass_starts_ns: 0, requests_in_pass: 0, latest_ns: 0 };
        Self {
            times,
            arrivals_ns: Vec::new(),
            recording,
            map,
            places: Places::default(),
            until_written_bytes: trace.loop_until_written_bytes,
            written_bytes: 0,
            written_bytes_in_pass: 0,
            records: Vec::new(),
            at: 0,
            rest: None,
            is_through: false,
            is_whole: true,
            failure: None,
            counts: Counts { passes: 1, ..Counts::default() },
            shared,
        }
    }

    fn fill_or_fail(&mut self, out: &mut Vec<Request>, end: usize) -> Result<(), Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        while out.len() < end && self.until_written_bytes.is_none_or(|until| self.written_bytes < until) {
            match self.rest {
                Some(extent) => self.place(extent, out)?,
                None if self.at < self.records.len() => {
                    let record = self.records[self.at];
                    self.places.begin(self.records.len() - self.at);
                    self.at += 1;
                    self.take(&record, out);
                }
                None => {
                    let first = self.recording.next_batch(&mut self.records)?;
                    self.places.batch_end = first.map(|first| first + self.records.len());
                    self.at = 0;
                    if self.records.is_empty() {
                        if self.until_written_bytes.is_none() {
                            break;
                        }
                        self.start_over()?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes the next request of the recording, unless it is empty.
    fn take(&mut self, record: &Record, out: &mut Vec<Request>) {
        let (operation, count) = match record.operation {
            Recorded::Read => (Operation::Read, &mut self.counts.reads),
            Recorded::Write => (Operation::Write, &mut self.counts.writes),
            Recorded::Trim => (Operation::Trim, &mut self.counts.trims),
            Recorded::Flush => (Operation::Flush, &mut self.counts.flushes),
        };
        *count += 1;
        self.times.note(record.arrival_ns);
        if operation == Operation::Flush {
            out.push(Request::new(operation, 0, 0));
            self.arrivals_ns.push(self.times.latest_ns);
            return;
        }
        if record.length_bytes == 0 {
            self.counts.empty += 1;
            return;
        }
        let &Record { offset_bytes, length_bytes, is_through, .. } = record;
        self.is_through = is_through;
        self.rest = Some(Extent { operation, offset_bytes, length_bytes });
        self.is_whole = true;
    }

    /// Maps the front part of the request, and stores the rest.
    fn place(&mut self, extent: Extent, out: &mut Vec<Request>) -> Result<(), Failure> {
        let Extent { operation, offset_bytes, length_bytes } = extent;
        let piece = match self.places.next() {
            Some(piece) => piece,
            None => {
                let piece = self.map.place(&extent).map_err(|error| {
                    let (name, pieces) = self.recording.place();
                    Failure::Address { name: name.to_owned(), pieces, error }
                })?;
                self.places.note(piece);
                piece
            }
        };
        if self.is_whole {
            self.counts.split += u64::from(piece.length_bytes < length_bytes);
            self.counts.moved += u64::from(piece.offset_bytes.is_some_and(|placed| placed != offset_bytes));
        }
        match piece.offset_bytes {
            Some(offset_bytes) => {
                let length_bytes = piece.length_bytes;
                let is_through = self.is_through;
                out.push(Request { is_through, ..Request::new(operation, offset_bytes, length_bytes) });
                self.arrivals_ns.push(self.times.latest_ns);
                if operation == Operation::Write {
                    self.written_bytes += u64::from(length_bytes);
                    self.written_bytes_in_pass += u64::from(length_bytes);
                }
            }
            None => self.counts.trimmed_nowhere_bytes += u64::from(piece.length_bytes),
        }
        self.is_whole = false;
        self.rest = (piece.length_bytes < length_bytes).then(|| Extent {
            operation,
            offset_bytes: offset_bytes + u64::from(piece.length_bytes),
            length_bytes: length_bytes - piece.length_bytes,
        });
        Ok(())
    }

    /// A recording without writes would repeat endlessly.
    fn start_over(&mut self) -> Result<(), Failure> {
        if self.written_bytes_in_pass == 0 {
            return Err(Failure::WritesNothing);
        }
        self.times.start_over();
        self.recording.rewind();
        self.records.clear();
        (self.at, self.rest, self.written_bytes_in_pass) = (0, None, 0);
        self.counts.passes += 1;
        Ok(())
    }
}

impl<M: AddressMap> RequestSource for TraceSource<M> {
    fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, SourceError> {
        let start = out.len();
        self.arrivals_ns.clear();
        self.fill_or_fail(out, start + count_max)?;
        self.counts.placed_units = self.map.placed_units();
        self.shared.put(self.counts);
        Ok(out.len() - start)
    }

    fn fill_arrivals(
        &mut self,
        out: &mut Vec<Request>,
        arrivals_ns: &mut Vec<u64>,
        count_max: usize,
    ) -> Result<usize, SourceError> {
        let count = self.fill(out, count_max)?;
        arrivals_ns.append(&mut self.arrivals_ns);
        Ok(count)
    }

    fn restart(&mut self) {
        self.failure = self.start_over().err();
    }

    fn progress(&self) -> f64 {
        match self.until_written_bytes {
            Some(until) => self.written_bytes as f64 / until.max(1) as f64,
            None => self.recording.progress(),
        }
        .min(1.0)
    }
}
