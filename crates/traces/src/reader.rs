//! Reads a trace from a source, batch by batch: splits it into lines or records, decodes them, counts what is skipped.

use std::io::Read;

use crate::compression::decompressed;
use crate::error::{PieceKind, TraceError, shown};
use crate::formats::{Columns, Cut, Decode, Decoder, Event, Format};
use crate::input::Input;
use crate::recognition::{HEAD_BYTES, is_around, recognised};
use crate::record::{Operation, Record};
use crate::volumes::Volumes;

/// This many requests without a direction, and none with one, are enough to refuse a trace before its end.
const WITHOUT_DIRECTION_MAX: u64 = 65_536;

/// Options of reading a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Malformed lines or records to skip and count before the next one is an error.
    pub skip_bad_max: u64,
}

/// Requests with an earlier time than one before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// How many.
    pub requests: u64,
    /// By how much at most, relative to the latest time before.
    pub ns_max: u64,
}

impl Earlier {
    /// Those of both.
    #[must_use]
    pub fn and(self, other: Earlier) -> Earlier {
        Earlier { requests: self.requests + other.requests, ns_max: self.ns_max.max(other.ns_max) }
    }
}

/// A trace being read. Memory is constant but for the table of volume names.
pub struct Reader {
    decoder: Decoder,
    progress: Progress,
}

/// Everything of a reader but its format, so that the loop over one format can borrow the two separately.
pub(crate) struct Progress {
    format: Format,
    options: ReadOptions,
    input: Input,
    volumes: Volumes,
    /// The trace's own time of its first record.
    first_ns: Option<u64>,
    /// The trace's own latest time so far.
    latest_ns: u64,
    earlier: Earlier,
    /// The second half of a piece that makes two records, when the batch was full after the first.
    pending: Option<Record>,
    /// A line too long for the window has been reported: the rest of it is discarded.
    is_in_long_line: bool,
    /// An error after records of the same batch, which are returned first.
    failure: Option<TraceError>,
    ended: bool,
    pieces: u64,
    requests: u64,
    without_direction: u64,
    through: u64,
    skipped: u64,
}

impl Reader {
    /// Opens a trace, plain or compressed. Without a `format` it is recognised by its beginning.
    ///
    /// # Errors
    /// An empty, archived or unrecognised source, or one that cannot be read.
    pub fn open(
        source: impl Read + Send + 'static,
        format: Option<Format>,
        options: ReadOptions,
    ) -> Result<Self, TraceError> {
        Self::open_with(source, format, Decoder::new, options)
    }

    /// Opens a text with these columns, plain or compressed.
    ///
    /// # Errors
    /// An empty source, or one that cannot be read.
    pub fn open_columns(
        source: impl Read + Send + 'static,
        columns: Columns,
        options: ReadOptions,
    ) -> Result<Self, TraceError> {
        Self::open_with(source, Some(Format::Columns), |_| Decoder::Columns(columns), options)
    }

    fn open_with(
        source: impl Read + Send + 'static,
        format: Option<Format>,
        decoder_of: impl FnOnce(Format) -> Decoder,
        options: ReadOptions,
    ) -> Result<Self, TraceError> {
        let cannot_read = |source| TraceError::Io { kind: PieceKind::Line, pieces: 0, source };
        let mut input = Input::new(decompressed(source).map_err(cannot_read)?);
        input.fill_to(HEAD_BYTES).map_err(cannot_read)?;
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        if input.window().starts_with(BYTE_ORDER_MARK) {
            input.take(BYTE_ORDER_MARK.len());
        }
        let format = match format {
            Some(_) if input.window().is_empty() => return Err(TraceError::Empty),
            Some(format) => format,
            None => recognised(input.window(), input.at_end())?,
        };
        let progress = Progress {
            format,
            options,
            input,
            volumes: Volumes::default(),
            first_ns: None,
            latest_ns: 0,
            earlier: Earlier::default(),
            pending: None,
            is_in_long_line: false,
            failure: None,
            ended: false,
            pieces: 0,
            requests: 0,
            without_direction: 0,
            through: 0,
            skipped: 0,
        };
        let mut decoder = decoder_of(format);
        decoder.prepare(progress.input.window());
        Ok(Reader { decoder, progress })
    }

    /// Appends up to `count_max` records to `out` and returns how many; 0 means that the trace has ended.
    ///
    /// # Panics
    /// When `count_max` is 0.
    ///
    /// # Errors
    /// A malformed piece beyond `skip_bad_max`, a trace without directions or requests, a source that fails. All
    /// records before the failing place are handed out first, and after an error the trace has ended.
    pub fn next_batch(&mut self, out: &mut Vec<Record>, count_max: usize) -> Result<usize, TraceError> {
        self.decoder.pull(&mut self.progress, out, count_max)
    }

    /// The trace's format.
    pub fn format(&self) -> Format {
        self.progress.format
    }

    /// What the user should know of how the trace is read, as the end of a sentence on the trace.
    pub fn note(&self) -> Option<&'static str> {
        self.decoder.note()
    }

    /// Writes so far that complete when their data is on the medium (FUA).
    pub fn through(&self) -> u64 {
        self.progress.through
    }

    /// Requests so far with an earlier time than one before them.
    pub fn earlier(&self) -> Earlier {
        self.progress.earlier
    }

    /// The names of the volumes met so far; a record's `volume` is an index into them.
    pub fn volumes(&self) -> &[String] {
        self.progress.volumes.names()
    }

    /// Malformed lines or records skipped so far.
    pub fn skipped(&self) -> u64 {
        self.progress.skipped
    }

    /// Requests left out so far because the trace does not say whether they read or write.
    pub fn without_direction(&self) -> u64 {
        self.progress.without_direction
    }

    /// Lines or records taken so far, malformed ones and those that are not requests included.
    pub fn pieces(&self) -> u64 {
        self.progress.pieces
    }
}

impl Progress {
    /// The time of a request since the first one.
    fn arrival_ns(&mut self, own_ns: u64) -> u64 {
        let first_ns = *self.first_ns.get_or_insert(own_ns);
        if own_ns < self.latest_ns {
            self.earlier = self.earlier.and(Earlier { requests: 1, ns_max: self.latest_ns - own_ns });
        }
        self.latest_ns = self.latest_ns.max(own_ns);
        own_ns.saturating_sub(first_ns)
    }
}

/// The loop of [`Reader::next_batch`] for one format.
pub(crate) fn pull<D: Decode>(
    decoder: &mut D,
    progress: &mut Progress,
    out: &mut Vec<Record>,
    count_max: usize,
) -> Result<usize, TraceError> {
    assert!(count_max > 0, "a batch holds at least one record");
    let length_before = out.len();
    if !progress.ended
        && let Err(error) = fill(decoder, progress, out, length_before.saturating_add(count_max))
    {
        progress.ended = true;
        progress.failure = Some(error);
    }
    match out.len() - length_before {
        0 => progress.failure.take().map_or(Ok(0), Err),
        count => Ok(count),
    }
}

fn fill<D: Decode>(
    decoder: &mut D,
    progress: &mut Progress,
    out: &mut Vec<Record>,
    length_wanted: usize,
) -> Result<(), TraceError> {
    if out.len() < length_wanted {
        out.extend(progress.pending.take());
    }
    while out.len() < length_wanted {
        if progress.is_in_long_line {
            leave_long_line(progress);
        }
        let window = progress.input.window();
        match decoder.cut(window, progress.input.at_end()) {
            Cut::Piece { piece_bytes, taken_bytes } => {
                progress.pieces += 1;
                let piece = &window[..piece_bytes];
                match decoder.decode(piece, &mut progress.volumes) {
                    Ok(Event::Request(record)) => {
                        progress.requests += 1;
                        progress.through += u64::from(record.is_through);
                        out.push(Record { arrival_ns: progress.arrival_ns(record.arrival_ns), ..record });
                    }
                    Ok(Event::FlushThenRequest(record)) => {
                        progress.requests += 2;
                        progress.through += u64::from(record.is_through);
                        let arrival_ns = progress.arrival_ns(record.arrival_ns);
                        let (operation, is_through) = (Operation::Flush, false);
                        out.push(Record {
                            arrival_ns,
                            operation,
                            is_through,
                            offset_bytes: 0,
                            length_bytes: 0,
                            ..record
                        });
                        progress.pending = Some(Record { arrival_ns, ..record });
                    }
                    Ok(Event::NotARequest) => {}
                    Ok(Event::WithoutDirection) => progress.without_direction += 1,
                    Err(_) if D::KIND == PieceKind::Line && is_around(piece) => {}
                    Err(expected) => tolerate::<D>(progress, expected, piece_bytes)?,
                }
                progress.input.take(taken_bytes);
                if out.len() < length_wanted {
                    out.extend(progress.pending.take());
                }
                if progress.without_direction >= WITHOUT_DIRECTION_MAX && progress.requests == 0 {
                    return Err(TraceError::NoDirections {
                        format: progress.format,
                        requests: progress.without_direction,
                    });
                }
            }
            Cut::Bad { taken_bytes, expected, continued } => {
                let taken_bytes = taken_bytes.clamp(1, window.len());
                if !continued {
                    progress.pieces += 1;
                    tolerate::<D>(progress, expected, taken_bytes)?;
                }
                progress.input.take(taken_bytes);
            }
            Cut::LineTooLong => {
                progress.pieces += 1;
                tolerate::<D>(progress, "a line below 256 KiB", window.len())?;
                progress.is_in_long_line = true;
            }
            Cut::More if progress.input.at_end() => return end::<D>(progress),
            Cut::More => {
                assert!(!progress.input.is_full(), "a format cuts what does not fit the window as bad");
                progress.input.refill().map_err(|source| TraceError::Io {
                    kind: D::KIND,
                    pieces: progress.pieces,
                    source,
                })?;
            }
        }
    }
    Ok(())
}

fn end<D: Decode>(progress: &mut Progress) -> Result<(), TraceError> {
    progress.ended = true;
    match (progress.requests, progress.without_direction) {
        (0, 0) => Err(TraceError::NoRequests {
            format: progress.format,
            kind: D::KIND,
            pieces: progress.pieces,
            skipped: progress.skipped,
            hint: D::NO_REQUESTS_HINT,
        }),
        (0, requests) => Err(TraceError::NoDirections { format: progress.format, requests }),
        _ => Ok(()),
    }
}

/// Counts the piece at the front of the window as skipped, or reports it when no more may be.
#[cold]
fn tolerate<D: Decode>(progress: &mut Progress, expected: &'static str, piece_bytes: usize) -> Result<(), TraceError> {
    if progress.skipped < progress.options.skip_bad_max {
        progress.skipped += 1;
        return Ok(());
    }
    Err(TraceError::Malformed {
        format: progress.format,
        kind: D::KIND,
        number: progress.pieces,
        expected,
        found: shown(D::KIND, &progress.input.window()[..piece_bytes]),
        skipped: progress.skipped,
    })
}

#[cold]
fn leave_long_line(progress: &mut Progress) {
    let window = progress.input.window();
    let line_end = memchr::memchr(b'\n', window);
    let taken_bytes = line_end.map_or(window.len(), |at| at + 1);
    progress.is_in_long_line = line_end.is_none();
    progress.input.take(taken_bytes);
}
