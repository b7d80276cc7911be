//! What must hold of a trace reader for any input: it does not panic, and neither the size of the batches nor
//! that of the source's reads changes what is read, and that after its end there is nothing more. Also the part of the
//! targets in `fuzz/`.

use ssdlab_traces::{Format, ReadOptions, Reader, Record};
use std::io::{self, Read};

/// So many records are read of one input; a compressed one may hold many more.
const RECORDS_MAX: usize = 1 << 16;

/// What became of an input.
#[derive(Debug, PartialEq)]
pub struct Reading {
    records: Vec<Record>,
    /// The error's message; nothing at a good end.
    error: Option<String>,
    skipped: u64,
    without_direction: u64,
    pieces: u64,
    volumes: Vec<String>,
}

impl Reading {
    /// Whether the trace came to a good end with records.
    pub fn is_whole(&self) -> bool {
        self.error.is_none() && !self.records.is_empty()
    }

    /// Whether the source itself failed, such as a compressed one that is corrupt.
    fn is_cut_short(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.starts_with("reading the trace failed"))
    }
}

/// Hands its bytes out so many at a time.
struct Dribble {
    bytes: io::Cursor<Vec<u8>>,
    at_once: usize,
}

impl Read for Dribble {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = out.len().min(self.at_once);
        self.bytes.read(&mut out[..count])
    }
}

/// Reads in batches of `batch` records from a source that gives `at_once` bytes at a time.
pub fn read(bytes: &[u8], format: Option<Format>, skip_bad_max: u64, batch: usize, at_once: usize) -> Reading {
    let source = Dribble { bytes: io::Cursor::new(bytes.to_vec()), at_once };
    let mut reading =
        Reading { records: Vec::new(), error: None, skipped: 0, without_direction: 0, pieces: 0, volumes: Vec::new() };
    let mut reader = match Reader::open(source, format, ReadOptions { skip_bad_max }) {
        Ok(reader) => reader,
        Err(error) => return Reading { error: Some(error.to_string()), ..reading },
    };
    while reading.records.len() < RECORDS_MAX {
        match reader.next_batch(&mut reading.records, batch) {
            Ok(0) => break,
            Ok(count) => assert!(count <= batch, "more records than were asked for"),
            Err(error) => {
                reading.error = Some(error.to_string());
                assert!(
                    matches!(reader.next_batch(&mut reading.records, batch), Ok(0)),
                    "there is more after an error"
                );
                break;
            }
        }
    }
    for record in &reading.records {
        assert!((record.volume as usize) < reader.volumes().len(), "a volume that has no name");
        assert!(record.offset_bytes.checked_add(u64::from(record.length_bytes)).is_some(), "an extent past 2^64");
    }
    assert!(reader.skipped() <= skip_bad_max, "more skipped than may be");
    reading.skipped = reader.skipped();
    reading.without_direction = reader.without_direction();
    reading.pieces = reader.pieces();
    reading.volumes = reader.volumes().to_vec();
    reading
}

/// The format that the first byte of an input names, and how many bad pieces may be skipped: a letter, by its place in
/// the list of formats; a capital to skip some. Any other byte leaves the format to be recognised.
pub fn chosen(byte: u8) -> (Option<Format>, u64) {
    let place = byte.to_ascii_lowercase().wrapping_sub(b'a');
    (Format::ALL.get(usize::from(place)).copied(), if byte.is_ascii_uppercase() { 3 } else { 0 })
}

/// Reads an input of this format, or of one to be recognised, twice and in different steps; both must read the same. Of
/// its first byte only counts whether bad pieces may be skipped.
pub fn check(input: &[u8], format: Option<Format>) {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let (_, skip_bad_max) = chosen(choice);
    let at_once = read(bytes, format, skip_bad_max, 64, usize::MAX);
    let in_small_steps = read(bytes, format, skip_bad_max, 1, 7);
    if [&at_once, &in_small_steps].iter().any(|reading| reading.is_cut_short()) {
        // A decompressor gives more of what comes before the corrupt place the less it is asked for at a time.
        return;
    }
    assert_eq!(at_once, in_small_steps, "how it is read changes what is read");
}
