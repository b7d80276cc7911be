//! The records of a recording that a run takes: all, or those of a sample of the address space; remembered where they are
//! few, so that a recording that is repeated is read once and its order may be drawn anew.

use super::recording::Recording;
use super::{Failure, Trace};
use ssdlab_engine::request::Operation as Requested;
use ssdlab_engine::simulation::addresses::{Extent, Hot, Sample};
use ssdlab_traces::passes::{Passes, Shuffle};
use ssdlab_traces::{Operation, Record};

/// 64 MiB of records. A longer recording is read again from its files, so that memory stays bounded.
const REMEMBERED_MAX: usize = 2 << 20;
const BATCH: usize = 1024;

pub struct Sampled {
    recording: Recording,
    sample: Option<Sample>,
    /// Of so many flushes one is kept, and how many came since.
    one_in: u32,
    flushes_since: u32,
    /// Not yet sampled.
    raw: Vec<Record>,
    /// What the first pass has given, unless it is too much.
    remembered: Option<Vec<Record>>,
    has_ended: bool,
    shuffle: Option<Shuffle>,
    /// Passes that come from memory.
    passes: Option<Passes>,
}

impl Sampled {
    pub fn new(trace: &Trace) -> Result<Self, Failure> {
        let kept = trace.sample.as_ref();
        let sample = kept.map(|kept| {
            let hot: Vec<_> = kept.hot.iter().map(|&(group, region, share)| Hot { group, region, share }).collect();
            Sample::new(kept.region_bytes.get(), kept.one_in.get(), kept.seed, &hot)
        });
        Ok(Self {
            recording: Recording::new(trace)?,
            sample,
            one_in: kept.map_or(1, |kept| kept.one_in.get()),
            flushes_since: 0,
            raw: Vec::new(),
            remembered: Some(Vec::new()),
            has_ended: false,
            shuffle: trace.shuffle.map(|drawn| Shuffle { piece_bytes: drawn.piece_bytes, seed: drawn.seed }),
            passes: None,
        })
    }

    /// Replaces what `out` holds by the next records, at least one unless the recording has ended.
    pub fn next_batch(&mut self, out: &mut Vec<Record>) -> Result<(), Failure> {
        out.clear();
        if let Some(passes) = &mut self.passes {
            passes.next_batch(out, BATCH);
            return Ok(());
        }
        match &mut self.sample {
            None => self.recording.next_batch(out)?,
            Some(sample) => {
                while out.is_empty() {
                    self.recording.next_batch(&mut self.raw)?;
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
        self.remember(out);
        Ok(())
    }

    /// Begins again, at the first record.
    pub fn rewind(&mut self) {
        self.flushes_since = 0;
        if self.has_ended
            && self.passes.is_none()
            && let Some(records) = self.remembered.take()
        {
            self.passes = Some(Passes::new(records, self.shuffle));
        }
        match &mut self.passes {
            Some(passes) => passes.rewind(),
            None => {
                self.remembered.iter_mut().for_each(Vec::clear);
                self.recording.rewind();
            }
        }
    }

    /// The share of a pass that is done.
    pub fn progress(&self) -> f64 {
        self.passes.as_ref().map_or_else(|| self.recording.progress(), Passes::progress)
    }

    /// Where the last batch came from, as `Recording::place`; the end, where it came from memory.
    pub fn place(&self) -> (&str, u64) {
        self.recording.place()
    }

    fn remember(&mut self, records: &[Record]) {
        if let Some(all) = &mut self.remembered {
            if all.len() + records.len() > REMEMBERED_MAX {
                self.remembered = None;
            } else {
                all.extend_from_slice(records);
            }
        }
    }
}

/// What the sample keeps of a request, in pieces.
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
