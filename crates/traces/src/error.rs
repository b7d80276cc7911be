//! What can be wrong with a trace, said so that the user finds the place.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::formats::Format;

/// What a format is made of, and so what its error messages count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// A line of a text format.
    Line,
    /// A record of a binary format.
    Record,
}

impl fmt::Display for PieceKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            PieceKind::Line => "line",
            PieceKind::Record => "record",
        })
    }
}

/// Why a trace cannot be read.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum TraceError {
    /// A malformed line or record, beyond those to skip.
    #[error("{kind} {number} of the {format} trace: expected {expected}, found `{found}`{}", skipped_before(*.skipped))]
    Malformed {
        /// The trace's format.
        format: Format,
        /// Whether it is a line or a record.
        kind: PieceKind,
        /// Counted from 1 in the decompressed trace.
        number: u64,
        /// What was expected.
        expected: &'static str,
        /// The beginning of the line, or of the record in hexadecimal digits.
        found: String,
        /// Malformed pieces that were skipped before this one.
        skipped: u64,
    },
    #[error(
        "the {format} trace does not say which requests are reads and which are writes: none of its {requests} requests has a direction"
    )]
    /// The trace does not say which requests read and which write.
    NoDirections { format: Format, requests: u64 },
    /// The trace has no requests.
    #[error("the {format} trace holds no requests in its {pieces} {kind}s{}; {hint}", skipped_before(*.skipped))]
    NoRequests { format: Format, kind: PieceKind, pieces: u64, skipped: u64, hint: &'static str },
    /// The trace is empty.
    #[error("the trace is empty")]
    Empty,
    /// The file is an archive, or compressed in another way than gzip, bzip2 and zstd, and must be unpacked.
    #[error("the trace is {what}: unpack it first, for example `{command}` into standard input")]
    Archive { what: &'static str, command: &'static str },
    /// The format is not recognised.
    #[error(
        "the trace's format is not recognised; it begins `{found}`; name one of {}; or name its columns, such as --columns \
         time,op,sector,sectors",
        known_names()
    )]
    Unrecognised { found: String },
    /// The columns that the user names cannot be those of a trace.
    #[error(
        "--columns {given}: {problem}; allowed are names with commas between, such as time,op,sector,sectors: one of time \
         (seconds), time_ms, time_us, time_ns; op, or write=1 for a column in which 1 is a write and others are reads, or \
         op=write for all; one of sector, offset (bytes); one of sectors, bytes, or bytes=4096 for all; volume; - for any \
         other column"
    )]
    Columns { given: String, problem: String },
    /// What the trace lacks, and how to get a trace that has it.
    #[error("the trace is {what}; {hint}")]
    Unreadable { what: &'static str, hint: String },
    /// There is no such format.
    #[error("no trace format is called `{name}`; there are {}", known_names())]
    UnknownFormat { name: String },
    /// The source cannot be read.
    #[error("reading the trace failed after {pieces} {kind}s: {source}")]
    Io { kind: PieceKind, pieces: u64, source: io::Error },
}

fn skipped_before(skipped: u64) -> String {
    match skipped {
        0 => String::new(),
        count => format!(" ({count} malformed skipped before)"),
    }
}

fn known_names() -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    names.join(", ")
}

/// The beginning of a piece as a message shows it: text as it is, unprintable bytes escaped, long ones cut.
pub(crate) fn shown(kind: PieceKind, piece: &[u8]) -> String {
    const BYTES_SHOWN_MAX: usize = 80;
    let head = &piece[..piece.len().min(BYTES_SHOWN_MAX)];
    let mut text = match kind {
        PieceKind::Line => head.escape_ascii().to_string(),
        PieceKind::Record => head.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    if piece.len() > head.len() {
        text.push_str("...");
    }
    text
}
