//! The records of a recording used by a run: all, or those of a sample of the address space; stored in memory if they
//! are few, so that a repeated recording is read once and its order can be drawn again.

use super::held::Gathered;
use super::recording::Recording;
use super::{Failure, Trace};
use ssdlab_engine::request::Operation as Requested;
use ssdlab_engine::simulation::addresses::{Extent, Hot, Sample};
use ssdlab_traces::passes::{Passes, Shuffle};
use ssdlab_traces::{Operation, Record};
use std::sync::Arc;

const BATCH: usize = 1024;

pub struct Sampled {
    origin: Origin,
    sample: Option<Sample>,
    /// Of this many flushes one is used, and the number since the last.
    one_in: u32,
    flushes_since: u32,
    /// Not yet sampled.
    raw: Vec<Record>,
    /// The records of the first pass, if `origin` does not hold them itself.
    remembered: Gathered,
    has_ended: bool,
    shuffle: Option<Shuffle>,
    /// Passes from memory.
    passes: Option<Passes>,
}

/// The origin of the records of the first pass.
enum Origin {
    Files(Box<Recording>),
    Memory { records: Arc<Vec<Record>>, at: usize, name: String },
}

impl Sampled {
    /// `held` are the records of this recording, if it was read before.
    pub fn new(trace: &Trace, held: Option<Arc<Vec<Record>>>) -> Result<Self, Failure> {
        let kept = trace.sample.as_ref();
        let sample = kept.map(|kept| {
            let hot: Vec<_> = kept.hot.iter().map(|&(group, region, share)| Hot { group, region, share }).collect();
            Sample::new(kept.region_bytes.get(), kept.one_in.get(), kept.seed, &hot)
        });
        Ok(Self {
            origin: Origin::new(trace, held)?,
            sample,
            one_in: kept.map_or(1, |kept| kept.one_in.get()),
            flushes_since: 0,
            raw: Vec::new(),
            remembered: Gathered::new(),
            has_ended: false,
            shuffle: trace.shuffle.map(|drawn| Shuffle { piece_bytes: drawn.piece_bytes, seed: drawn.seed }),
            passes: None,
        })
    }

    /// Replaces the contents of `out` by the next records, at least one unless the recording has ended. From the second
    /// pass on returns the number of the first of them, the same in every pass, if they are in memory.
    pub fn next_batch(&mut self, out: &mut Vec<Record>) -> Result<Option<usize>, Failure> {
        out.clear();
        if let Some(passes) = &mut self.passes {
            return Ok(Some(passes.next_batch(out, BATCH)));
        }
        match &mut self.sample {
            None => self.origin.next_batch(out)?,
            Some(sample) => {
                while out.is_empty() {
                    self.origin.next_batch(&mut self.raw)?;
                    if self.raw.is_empty() {
                        break;
                    }
                    for record in &self.raw {
                        if record.operation == Operation::Flush {
                            self.flushes_since += 1;
                            if self.flushes_since >= self.one_in {
                                self.flushes_since = 0;
                                out.push(*record);
                            }
                        } else {
                            take(sample, record, out);
                        }
                    }
                }
            }
        }
        self.has_ended = out.is_empty();
        if self.held().is_none() {
            self.remembered.add(out);
        }
        Ok(None)
    }

    /// Starts again, at the first record.
    pub fn rewind(&mut self) {
        self.flushes_since = 0;
        if self.has_ended
            && self.passes.is_none()
            && let Some(records) = self.held().or_else(|| self.remembered.take())
        {
            self.passes = Some(Passes::new(records, self.shuffle));
        }
        match &mut self.passes {
            Some(passes) => passes.rewind(),
            None => {
                self.remembered.clear();
                self.origin.rewind();
            }
        }
    }

    /// The completed share of a pass.
    pub fn progress(&self) -> f64 {
        self.passes.as_ref().map_or_else(|| self.origin.progress(), Passes::progress)
    }

    /// The origin of the last batch: the file, and the number of its lines or records read; the end, for records from
    /// memory.
    pub fn place(&self) -> (&str, u64) {
        match &self.origin {
            Origin::Files(recording) => recording.place(),
            Origin::Memory { records, name, .. } => (name, records.len() as u64),
        }
    }

    /// All included records, if they are in memory unchanged.
    fn held(&self) -> Option<Arc<Vec<Record>>> {
        match &self.origin {
            Origin::Memory { records, .. } if self.sample.is_none() => Some(Arc::clone(records)),
            _ => None,
        }
    }
}

impl Origin {
    fn new(trace: &Trace, held: Option<Arc<Vec<Record>>>) -> Result<Self, Failure> {
        Ok(match held {
            None => Self::Files(Box::new(Recording::new(trace)?)),
            Some(records) => {
                let name = trace.files.first().ok_or(Failure::NoFiles)?.name.clone();
                Self::Memory { records, at: 0, name }
            }
        })
    }

    /// See `Recording::next_batch`.
    fn next_batch(&mut self, out: &mut Vec<Record>) -> Result<(), Failure> {
        match self {
            Self::Files(recording) => recording.next_batch(out)?,
            Self::Memory { records, at, .. } => {
                let end = records.len().min(*at + BATCH);
                out.clear();
                out.extend_from_slice(&records[*at..end]);
                *at = end;
            }
        }
        Ok(())
    }

    fn rewind(&mut self) {
        match self {
            Self::Files(recording) => recording.rewind(),
            Self::Memory { at, .. } => *at = 0,
        }
    }

    fn progress(&self) -> f64 {
        match self {
            Self::Files(recording) => recording.progress(),
            Self::Memory { records, at, .. } => *at as f64 / records.len().max(1) as f64,
        }
    }
}

/// The parts of a request within the sample.
fn take(sample: &mut Sample, record: &Record, out: &mut Vec<Record>) {
    let &Record { offset_bytes, length_bytes, .. } = record;
    let operation = match record.operation {
        Operation::Read => Requested::Read,
        Operation::Trim => Requested::Trim,
        Operation::Write | Operation::Flush => Requested::Write,
    };
    sample.keep(&Extent { operation, offset_bytes, length_bytes }, |piece| {
        out.push(Record { offset_bytes: piece.offset_bytes, length_bytes: piece.length_bytes, ..*record });
    });
}
