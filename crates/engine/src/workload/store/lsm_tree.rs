//! An LSM tree with levelled compaction, after RocksDB (github.com/facebook/rocksdb/wiki/Leveled-Compaction).
//!
//! Keys are overwritten uniformly at random, so a file is described by its range of keys and the number of keys in it: a
//! random sample of the keys of the range. Two samples of densities p and q merge into one of density p + q - pq in the
//! mean. Only means are kept; keys are not drawn. `tests.rs` compares with a tree that has keys.
//!
//! As in RocksDB: `level0_file_num_compaction_trigger`; the level with the highest score is compacted first, and of its
//! files the one with the least overlap for its size (`kMinOverlappingRatio`); files without overlap move without being
//! rewritten. Unlike RocksDB: one compaction at a time; the same size ratio between all levels, with the data as the
//! last one (`level_compaction_dynamic_level_bytes` keeps the multiplier and shrinks level 1); the output of a
//! compaction is split into files of equal size.

use super::planned::{BLOCK_BYTES, Cause, Interval, Planned, Requests};
use super::space::{NoSpace, Piece, Space};
use crate::specification::Job;
use crate::specification::store::{Store, Tree};

#[derive(Clone, Debug)]
pub struct LsmTree {
    space: Space,
    requests: Requests,
    write_buffer_bytes: u64,
    level0_files: usize,
    file_bytes: u64,
    has_log: bool,
    /// Size of all keys and values, which is the size of the last level.
    data_bytes: u64,
    /// From level 0 to the last. Files of level 0 overlap; in the others they are in the order of their keys.
    levels: Vec<Vec<File>>,
    /// Maximum sizes of levels 1, 2 and so on, without the last.
    targets: Vec<f64>,
    /// The log of the memtable that is flushed next.
    full_log: Option<Vec<Piece>>,
}

#[derive(Clone, Debug)]
struct File {
    /// Start and end of its keys, as shares of the key space.
    start: f64,
    end: f64,
    /// Size of its keys and values.
    bytes: f64,
    /// Size of the files of the next level that overlap it.
    dragged_bytes: f64,
    pieces: Vec<Piece>,
}

/// A range of the key space with a constant density of keys.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    start: f64,
    end: f64,
    /// The share of the range's keys it contains.
    density: f64,
}

impl File {
    fn density(&self, data_bytes: f64) -> f64 {
        (self.bytes / ((self.end - self.start) * data_bytes)).min(1.0)
    }
}

impl LsmTree {
    /// A loaded tree: all data in files of the last level, in sequence.
    pub fn new(job: &Job, store: &Store) -> Self {
        let &Tree::LsmTree { write_buffer_bytes, level0_files, level1_bytes, multiplier, file_bytes, has_log } =
            &store.tree
        else {
            unreachable!("the caller has chosen by the kind")
        };
        let mut space = Space::new(job.offset_bytes, job.size_bytes, BLOCK_BYTES);
        let targets = targets(level1_bytes as f64, store.data_bytes as f64, multiplier);
        let count = store.data_bytes.div_ceil(file_bytes);
        let last = (0..count)
            .map(|index| {
                let start = index * file_bytes;
                let bytes = file_bytes.min(store.data_bytes - start);
                let share = |at: u64| at as f64 / store.data_bytes as f64;
                let pieces = space.allocate(bytes).expect("the data fits: it was checked");
                File { start: share(start), end: share(start + bytes), bytes: bytes as f64, dragged_bytes: 0.0, pieces }
            })
            .collect();
        let mut levels = vec![Vec::new(); targets.len() + 1];
        levels.push(last);
        Self {
            space,
            requests: Requests { bytes_max: u64::from(store.request_bytes), identifiers: store.identifiers.clone() },
            write_buffer_bytes,
            level0_files: level0_files as usize,
            file_bytes,
            has_log,
            data_bytes: store.data_bytes,
            levels,
            targets,
            full_log: None,
        }
    }

    /// The interval of one memtable: its log is written, the memtable before it becomes a file of level 0, and levels
    /// above their maximum sizes are compacted.
    pub fn interval(&mut self) -> Result<Interval, NoSpace> {
        let (mut log, mut flush, mut compactions) = (Vec::new(), Vec::new(), Vec::new());
        let new_log = if self.has_log { self.space.allocate(self.write_buffer_bytes)? } else { Vec::new() };
        self.requests.write(&mut log, &new_log, Cause::Log);
        let flushed = match &self.full_log {
            None => None,
            Some(_) => {
                let pieces = self.space.allocate(self.write_buffer_bytes)?;
                self.requests.write(&mut flush, &pieces, Cause::Level(0));
                flush.iter_mut().for_each(|each| each.user_bytes = each.request.length_bytes);
                Some(File { start: 0.0, end: 1.0, bytes: self.write_buffer_bytes as f64, dragged_bytes: 0.0, pieces })
            }
        };
        while let Some(level) = self.due() {
            self.compact(level, &mut compactions)?;
        }
        self.levels[0].extend(flushed);
        if let Some(old_log) = self.full_log.replace(new_log) {
            self.requests.delete(&mut flush, &old_log);
            self.space.free(&old_log);
        }
        Ok(Interval { lists: vec![compactions, flush, log], spread: vec![1.0; 3] })
    }

    /// The level with the highest score, if it needs a compaction.
    fn due(&self) -> Option<usize> {
        let score = |level: usize| match level {
            0 => self.levels[0].len() as f64 / self.level0_files as f64,
            // A level within its maximum size needs none.
            _ => self.bytes_in(level) / self.targets[level - 1] - 1e-9,
        };
        let scores = (0..=self.targets.len()).map(|level| (level, score(level)));
        let due = scores.filter(|&(level, score)| if level == 0 { score >= 1.0 } else { score > 1.0 });
        due.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(level, _)| level)
    }

    fn bytes_in(&self, level: usize) -> f64 {
        self.levels[level].iter().map(|file| file.bytes).sum()
    }

    /// Merges files of a level into the next one.
    fn compact(&mut self, level: usize, out: &mut Vec<Planned>) -> Result<(), NoSpace> {
        let upper = match level {
            0 => std::mem::take(&mut self.levels[0]),
            _ => {
                let chosen = self.least_overlap(level);
                vec![self.levels[level].remove(chosen)]
            }
        };
        let start = upper.iter().map(|file| file.start).fold(1.0, f64::min);
        let end = upper.iter().map(|file| file.end).fold(0.0, f64::max);
        let below = overlapping(&self.levels[level + 1], start, end);
        if below.is_empty() && upper.len() == 1 {
            self.levels[level + 1].splice(below, upper);
            self.note_overlaps(level, start, end);
            return Ok(());
        }
        let lower: Vec<File> = self.levels[level + 1].drain(below.clone()).collect();
        let mut runs: Vec<Run> = lower.iter().map(|file| self.run_of(file)).collect();
        for file in &upper {
            runs = merged(&runs, self.run_of(file));
        }
        let files = self.written(&runs, level + 1, out)?;
        let ends = (runs[0].start, runs.last().expect("one or more").end);
        self.levels[level + 1].splice(below.start..below.start, files);
        self.note_overlaps(level, ends.0, ends.1);
        for file in upper.iter().chain(&lower) {
            self.requests.delete(out, &file.pieces);
            self.space.free(&file.pieces);
        }
        Ok(())
    }

    fn run_of(&self, file: &File) -> Run {
        Run { start: file.start, end: file.end, density: file.density(self.data_bytes as f64) }
    }

    /// The file of a level with the least overlap in the next level for its size.
    fn least_overlap(&self, level: usize) -> usize {
        let ratios = self.levels[level].iter().map(|file| file.dragged_bytes / file.bytes).enumerate();
        ratios.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(index, _)| index).expect("the level is not empty")
    }

    /// Updates the overlaps of files after a compaction has removed files of a level and written files of the next.
    fn note_overlaps(&mut self, level: usize, start: f64, end: f64) {
        for above in level.saturating_sub(1).max(1)..=(level + 1).min(self.levels.len() - 2) {
            let (upper, lower) = self.levels.split_at_mut(above + 1);
            let (files, next) = (&mut upper[above], &lower[0]);
            let changed = overlapping(files, start, end);
            for file in &mut files[changed] {
                let dragged = &next[overlapping(next, file.start, file.end)];
                file.dragged_bytes = dragged.iter().map(|each| each.bytes).sum();
            }
        }
    }

    /// Splits the keys of the runs into files of equal size.
    fn written(&mut self, runs: &[Run], level: usize, out: &mut Vec<Planned>) -> Result<Vec<File>, NoSpace> {
        let data_bytes = self.data_bytes as f64;
        let sum: f64 = runs.iter().map(|run| (run.end - run.start) * run.density * data_bytes).sum();
        let count = (sum / self.file_bytes as f64 - 1e-6).ceil().max(1.0);
        let mut files = Vec::with_capacity(count as usize);
        let (mut start, mut bytes) = (runs[0].start, 0.0);
        for run in runs {
            let mut at = run.start;
            let rate = run.density * data_bytes;
            while rate > 0.0 && (files.len() + 1) < count as usize {
                let cut = at + (sum / count - bytes) / rate;
                if cut > run.end {
                    break;
                }
                files.push(File { start, end: cut, bytes: sum / count, dragged_bytes: 0.0, pieces: Vec::new() });
                (start, at, bytes) = (cut, cut, 0.0);
            }
            bytes += (run.end - at) * rate;
        }
        files.push(File {
            start,
            end: runs.last().expect("one or more").end,
            bytes,
            dragged_bytes: 0.0,
            pieces: Vec::new(),
        });
        for file in &mut files {
            file.pieces = self.space.allocate((file.bytes.round() as u64).max(BLOCK_BYTES))?;
            self.requests.write(out, &file.pieces, Cause::Level(level as u8));
        }
        Ok(files)
    }
}

/// Maximum sizes of levels 1 to the last but one: a constant ratio, at most the multiplier, up to the data.
fn targets(level1_bytes: f64, data_bytes: f64, multiplier: f64) -> Vec<f64> {
    let ratio = data_bytes / level1_bytes;
    let steps = (1..64).find(|&steps| multiplier.powi(steps) >= ratio * (1.0 - 1e-9)).unwrap_or(64);
    let step = ratio.powf(1.0 / f64::from(steps));
    (0..steps).map(|index| level1_bytes * step.powi(index)).collect()
}

/// The files with keys between two positions. Adjacent files do not overlap.
fn overlapping(files: &[File], start: f64, end: f64) -> std::ops::Range<usize> {
    const TOUCH: f64 = 1e-12;
    let first = files.partition_point(|file| file.end <= start + TOUCH);
    let last = files.partition_point(|file| file.start < end - TOUCH);
    first..last.max(first)
}

/// Merges a run into an ordered list of runs, some of which it overlaps.
fn merged(runs: &[Run], over: Run) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::with_capacity(runs.len() + 3);
    let mut push = |start: f64, end: f64, density: f64| {
        if end > start {
            found.push(Run { start, end, density });
        }
    };
    let mut at = over.start;
    for run in runs {
        push(at, run.start.min(over.end), over.density);
        push(run.start, run.end.min(over.start), run.density);
        let both = (run.start.max(over.start), run.end.min(over.end));
        push(both.0, both.1, run.density + over.density - run.density * over.density);
        push(run.start.max(over.end), run.end, run.density);
        at = at.max(run.end);
    }
    push(at, over.end, over.density);
    found
}

#[cfg(test)]
pub(super) mod inspection {
    use super::*;

    impl LsmTree {
        /// Bytes per level: the sum over its files.
        pub fn level_bytes(&self) -> Vec<f64> {
            (0..self.levels.len()).map(|level| self.bytes_in(level)).collect()
        }

        pub fn targets(&self) -> &[f64] {
            &self.targets
        }

        /// All pieces of files and logs.
        pub fn pieces(&self) -> Vec<Piece> {
            let files = self.levels.iter().flatten().flat_map(|file| file.pieces.iter());
            files.chain(self.full_log.iter().flatten()).copied().collect()
        }

        /// Panics unless the files of each level but the first are ordered and disjoint, with correct overlaps.
        pub fn check_order(&self) {
            for levels in self.levels[1..].windows(2) {
                for file in &levels[0] {
                    let meets = |other: &&File| other.start + 1e-12 < file.end && file.start + 1e-12 < other.end;
                    let dragged: f64 = levels[1].iter().filter(meets).map(|other| other.bytes).sum();
                    assert!((file.dragged_bytes - dragged).abs() < 1.0, "{file:?}: {dragged}");
                }
            }
            for level in &self.levels[1..] {
                for pair in level.windows(2) {
                    assert!(pair[0].end <= pair[1].start + 1e-9, "{pair:?}");
                }
            }
        }
    }
}
