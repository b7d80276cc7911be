//! Several files as one recording: one list of volumes, one time, one number of malformed pieces to skip.

use super::counted::Counted;
use super::{Failure, Trace, TraceFile};
use ssdlab_traces::{Columns, Earlier, Format, ReadOptions, Reader, Record};
use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Records read at a time: enough to make calls cheap, few enough for the innermost caches.
const BATCH: usize = 1024;

pub struct Recording {
    files: Vec<TraceFile>,
    format: Option<Format>,
    columns: Option<Columns>,
    skip_bad_max: u64,
    volume: Option<String>,
    volumes: Vec<String>,
    volume_ids: HashMap<String, u32>,
    /// The file being read.
    reader: Option<Reader>,
    /// Its index in `files`, or that of the next one.
    at: usize,
    /// By volume of that file: the volume of the recording, and its start address if it is included.
    file_volumes: Vec<(u32, Option<u64>)>,
    /// The start of the file's time: several files are one recording in the given order.
    start_ns: u64,
    end_ns: u64,
    formats: Vec<Format>,
    notes: Vec<Option<&'static str>>,
    skipped_before: u64,
    without_direction_before: u64,
    through_before: u64,
    earlier_before: Earlier,
    read_bytes: Arc<AtomicU64>,
    file_bytes: u64,
}

impl Recording {
    /// Reads nothing yet. Fails for an unknown format, or a file that cannot be opened.
    pub fn new(trace: &Trace) -> Result<Self, Failure> {
        let first = trace.files.first().ok_or(Failure::NoFiles)?;
        let parse = |format: &String| format.parse().map_err(|error| Failure::Read { name: first.name.clone(), error });
        let format = trace.format.as_ref().map(parse).transpose()?;
        let parse =
            |columns: &String| columns.parse().map_err(|error| Failure::Read { name: first.name.clone(), error });
        let columns = trace.columns.as_ref().map(parse).transpose()?;
        let mut file_bytes = 0;
        for file in &trace.files {
            let metadata = std::fs::metadata(&file.path);
            file_bytes += metadata.map_err(|error| Failure::Open { name: file.name.clone(), error })?.len();
        }
        Ok(Self {
            files: trace.files.clone(),
            format,
            columns,
            skip_bad_max: trace.skip_bad_max,
            volume: trace.volume.clone(),
            volumes: Vec::new(),
            volume_ids: HashMap::new(),
            reader: None,
            at: 0,
            file_volumes: Vec::new(),
            start_ns: 0,
            end_ns: 0,
            formats: Vec::new(),
            notes: Vec::new(),
            skipped_before: 0,
            without_direction_before: 0,
            through_before: 0,
            earlier_before: Earlier::default(),
            read_bytes: Arc::new(AtomicU64::new(0)),
            file_bytes,
        })
    }

    /// Replaces the contents of `out` by the next records of the included volume, at least one unless the recording has
    /// ended. Arrival times continue from file to file.
    pub fn next_batch(&mut self, out: &mut Vec<Record>) -> Result<(), Failure> {
        out.clear();
        while out.is_empty() {
            if self.reader.is_none() {
                let Some(file) = self.files.get(self.at) else { return Ok(()) };
                self.reader = Some(self.open(file)?);
                self.formats.extend(self.reader.as_ref().map(Reader::format));
                self.notes.extend(self.reader.as_ref().map(Reader::note));
                self.file_volumes.clear();
                self.start_ns = self.end_ns;
            }
            let reader = self.reader.as_mut().expect("it was opened above");
            let count = reader
                .next_batch(out, BATCH)
                .map_err(|error| Failure::Read { name: self.files[self.at].name.clone(), error })?;
            if count == 0 {
                self.skipped_before += reader.skipped();
                self.without_direction_before += reader.without_direction();
                self.through_before += reader.through();
                self.earlier_before = self.earlier_before.and(reader.earlier());
                self.reader = None;
                self.at += 1;
                continue;
            }
            self.note_new_volumes();
            for record in out.iter_mut() {
                record.arrival_ns = record.arrival_ns.saturating_add(self.start_ns);
                self.end_ns = self.end_ns.max(record.arrival_ns);
            }
            if self.volume.is_some() || self.files[self.at].placed.is_some() {
                out.retain(|record| self.file_volumes[record.volume as usize].1.is_some());
            }
            for record in out.iter_mut() {
                let (volume, base_bytes) = self.file_volumes[record.volume as usize];
                record.volume = volume;
                // An address beyond 64 bits is beyond the end of every drive.
                let offset_bytes_max = u64::MAX - u64::from(record.length_bytes);
                record.offset_bytes = record.offset_bytes.saturating_add(base_bytes.unwrap_or(0)).min(offset_bytes_max);
            }
        }
        Ok(())
    }

    /// Starts again, at the first record of the first file.
    pub fn rewind(&mut self) {
        self.reader = None;
        self.at = 0;
        (self.start_ns, self.end_ns) = (0, 0);
        self.formats.clear();
        self.notes.clear();
        (self.skipped_before, self.without_direction_before, self.through_before) = (0, 0, 0);
        self.earlier_before = Earlier::default();
        self.read_bytes.store(0, Ordering::Relaxed);
    }

    /// The names of the volumes met so far; a record's `volume` is an index into them.
    pub fn volumes(&self) -> &[String] {
        &self.volumes
    }

    /// The format of each file begun.
    pub fn formats(&self) -> &[Format] {
        &self.formats
    }

    /// What the user should know of how each file begun is read, as the end of a sentence on it.
    pub fn notes(&self) -> &[Option<&'static str>] {
        &self.notes
    }

    /// Writes that complete when their data is on the medium, each of which is a write and a flush.
    pub fn through(&self) -> u64 {
        self.through_before + self.reader.as_ref().map_or(0, Reader::through)
    }

    /// Requests with an earlier time than one before them in their file.
    pub fn earlier(&self) -> Earlier {
        self.earlier_before.and(self.reader.as_ref().map_or_else(Earlier::default, Reader::earlier))
    }

    /// Malformed pieces skipped since the start.
    pub fn skipped(&self) -> u64 {
        self.skipped_before + self.reader.as_ref().map_or(0, Reader::skipped)
    }

    /// Requests left out because the trace does not say whether they read or write.
    pub fn without_direction(&self) -> u64 {
        self.without_direction_before + self.reader.as_ref().map_or(0, Reader::without_direction)
    }

    /// The share of the files' bytes that has been read.
    pub fn progress(&self) -> f64 {
        self.read_bytes.load(Ordering::Relaxed) as f64 / self.file_bytes.max(1) as f64
    }

    /// The origin of the last batch: the file, and the number of its lines or records read.
    pub fn place(&self) -> (&str, u64) {
        let at = self.at.min(self.files.len() - 1);
        (&self.files[at].name, self.reader.as_ref().map_or(0, Reader::pieces))
    }

    fn open(&self, file: &TraceFile) -> Result<Reader, Failure> {
        let source = File::open(&file.path).map_err(|error| Failure::Open { name: file.name.clone(), error })?;
        let source = Counted { source, bytes: Arc::clone(&self.read_bytes) };
        let options = ReadOptions { skip_bad_max: self.skip_bad_max - self.skipped_before };
        let opened = match &self.columns {
            Some(columns) => Reader::open_columns(source, columns.clone(), options),
            None => Reader::open(source, self.format, options),
        };
        opened.map_err(|error| Failure::Read { name: file.name.clone(), error })
    }

    fn note_new_volumes(&mut self) {
        let Some(reader) = &self.reader else { return };
        for name in &reader.volumes()[self.file_volumes.len()..] {
            let next = self.volumes.len() as u32;
            let id = *self.volume_ids.entry(name.clone()).or_insert(next);
            if id == next {
                self.volumes.push(name.clone());
            }
            let is_wanted = self.volume.as_ref().is_none_or(|wanted| wanted == name);
            let base_bytes = match &self.files[self.at].placed {
                None => Some(0),
                Some(placed) => placed.iter().find(|place| place.volume == *name).map(|place| place.base_bytes),
            };
            self.file_volumes.push((id, base_bytes.filter(|_| is_wanted)));
        }
    }
}
