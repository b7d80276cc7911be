//! Passes over a recording in memory: in its own order or, so that repetition creates no period to which a drive could
//! adapt, in pieces whose order is drawn again for every pass.
//!
//! A drive that receives the same requests in the same order again and again finds data written together invalidated
//! together, in the order in which it was written: it adapts to that, unlike under the process that was recorded. The
//! pieces preserve what belongs together within a short time and randomise the rest: a block bootstrap (Kunsch 1989,
//! "The jackknife and the bootstrap for general stationary observations").

use crate::{Operation, Record};
use std::ops::Range;
use std::sync::Arc;

/// The order of passes after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// A piece ends when its requests have written this many bytes.
    pub piece_bytes: u64,
    /// The seed of the orders.
    pub seed: u64,
}

/// See the file's description.
pub struct Passes {
    records: Arc<Vec<Record>>,
    pieces: Vec<Range<usize>>,
    /// The current piece, and the next record in it.
    piece: usize,
    at: usize,
    random: Option<u64>,
    /// Offsets of the times of the current piece.
    from_ns: u64,
    to_ns: u64,
}

impl Passes {
    /// For a recording whose first pass has been read already: begin with `rewind`.
    pub fn new(records: Arc<Vec<Record>>, shuffle: Option<Shuffle>) -> Self {
        let pieces = cut(&records, shuffle.map_or(u64::MAX, |shuffle| shuffle.piece_bytes));
        let random = shuffle.map(|shuffle| shuffle.seed);
        let piece = pieces.len();
        Self { records, pieces, piece, at: 0, random, from_ns: 0, to_ns: 0 }
    }

    /// Starts the next pass.
    pub fn rewind(&mut self) {
        if let Some(state) = &mut self.random {
            for left in (1..self.pieces.len()).rev() {
                let drawn = (u128::from(next(state)) * (left as u128 + 1)) >> 64;
                self.pieces.swap(left, drawn as usize);
            }
        }
        self.piece = 0;
        self.to_ns = 0;
        self.begin_piece();
    }

    /// Appends the next records of the pass, none at its end, and returns the number of the first in the recording:
    /// those of a batch are consecutive there. Times begin at 0 in every pass, and each piece takes as long as in the
    /// recording.
    pub fn next_batch(&mut self, out: &mut Vec<Record>, count_max: usize) -> usize {
        while let Some(piece) = self.pieces.get(self.piece) {
            let start = self.at;
            let end = piece.end.min(start + count_max);
            let (from_ns, to_ns) = (self.from_ns, self.to_ns);
            out.extend(
                self.records[start..end]
                    .iter()
                    .map(|record| Record { arrival_ns: record.arrival_ns.saturating_sub(from_ns) + to_ns, ..*record }),
            );
            self.at = end;
            if end == piece.end {
                self.to_ns += self.after(piece.end).saturating_sub(self.from_ns);
                self.piece += 1;
                self.begin_piece();
            }
            if end > start {
                return start;
            }
        }
        self.records.len()
    }

    /// The completed share of the pass, by pieces.
    pub fn progress(&self) -> f64 {
        self.piece as f64 / self.pieces.len().max(1) as f64
    }

    fn begin_piece(&mut self) {
        if let Some(piece) = self.pieces.get(self.piece) {
            self.at = piece.start;
            self.from_ns = self.records.get(piece.start).map_or(0, |record| record.arrival_ns);
        }
    }

    /// The time of the record with this index; at the end that of the last one.
    fn after(&self, place: usize) -> u64 {
        self.records.get(place).or(self.records.last()).map_or(0, |record| record.arrival_ns)
    }
}

fn cut(records: &[Record], piece_bytes: u64) -> Vec<Range<usize>> {
    let (mut pieces, mut start, mut written_bytes) = (Vec::new(), 0, 0);
    for (at, record) in records.iter().enumerate() {
        if record.operation == Operation::Write {
            written_bytes += u64::from(record.length_bytes);
        }
        if written_bytes >= piece_bytes || at + 1 == records.len() {
            pieces.push(start..at + 1);
            (start, written_bytes) = (at + 1, 0);
        }
    }
    pieces
}

/// SplitMix64 (Steele et al. 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(count: u64) -> Arc<Vec<Record>> {
        let write = |at: u64| Record {
            arrival_ns: at * at,
            volume: 0,
            operation: if at % 3 == 2 { Operation::Read } else { Operation::Write },
            is_through: false,
            offset_bytes: at,
            length_bytes: 10,
        };
        Arc::new((0..count).map(write).collect())
    }

    fn pass(passes: &mut Passes) -> Vec<Record> {
        let mut all = Vec::new();
        passes.rewind();
        loop {
            let before = all.len();
            let first = passes.next_batch(&mut all, 7);
            if all.len() == before {
                return all;
            }
            let numbers = first as u64..;
            assert!(numbers.zip(&all[before..]).all(|(number, record)| record.offset_bytes == number));
        }
    }

    #[test]
    fn without_a_shuffle_every_pass_is_the_recording() {
        let mut passes = Passes::new(records(50), None);
        assert_eq!(pass(&mut passes), *records(50));
        assert_eq!(pass(&mut passes), *records(50));
        assert!(pass(&mut Passes::new(Arc::default(), None)).is_empty());
    }

    #[test]
    fn a_shuffled_pass_has_every_record_once_and_keeps_pieces_whole() {
        let mut passes = Passes::new(records(100), Some(Shuffle { piece_bytes: 40, seed: 1 }));
        let (first, second) = (pass(&mut passes), pass(&mut passes));
        let places = |all: &[Record]| all.iter().map(|record| record.offset_bytes).collect::<Vec<_>>();
        assert_ne!(places(&first), places(&second), "every pass has an order of its own");
        for all in [&first, &second] {
            let mut sorted = places(all);
            // Four writes of 10 bytes and the reads between them: mostly six records a piece.
            let breaks = sorted.windows(2).filter(|two| two[0] + 1 != two[1]).count();
            assert!((10..=17).contains(&breaks), "{breaks}");
            sorted.sort_unstable();
            assert_eq!(sorted, (0..100).collect::<Vec<_>>());
            assert!(all.windows(2).all(|two| two[0].arrival_ns <= two[1].arrival_ns), "time goes on");
            assert_eq!(all[0].arrival_ns, 0);
            let longest = all.last().unwrap().arrival_ns;
            assert!(longest <= 99 * 99 && longest > 99 * 99 / 2, "{longest}");
        }
    }
}
