//! The free space of the volume that holds a database's files. Next fit: a file starts where the last one ended, is
//! split over the free ranges that follow, and wraps around at the end of the volume. Directories, journals and block
//! groups are not modelled.

use std::collections::BTreeMap;

/// A contiguous range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub offset_bytes: u64,
    pub length_bytes: u64,
}

/// A request for more space than is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSpace {
    /// The requested space.
    pub wanted_bytes: u64,
    /// The free space.
    pub free_bytes: u64,
}

#[derive(Clone, Debug)]
pub struct Space {
    /// Length by offset; no two free ranges are adjacent.
    holes: BTreeMap<u64, u64>,
    free_bytes: u64,
    cursor: u64,
    block_bytes: u64,
}

impl Space {
    /// A volume with all its space free; all pieces consist of whole blocks.
    pub fn new(offset_bytes: u64, size_bytes: u64, block_bytes: u64) -> Self {
        let size_bytes = size_bytes / block_bytes * block_bytes;
        let holes = if size_bytes == 0 { BTreeMap::new() } else { BTreeMap::from([(offset_bytes, size_bytes)]) };
        Self { holes, free_bytes: size_bytes, cursor: offset_bytes, block_bytes }
    }

    /// Allocates this many bytes, rounded up to whole blocks, as pieces in the order in which they are written.
    pub fn allocate(&mut self, size_bytes: u64) -> Result<Vec<Piece>, NoSpace> {
        let mut left = size_bytes.next_multiple_of(self.block_bytes);
        if left > self.free_bytes {
            return Err(NoSpace { wanted_bytes: left, free_bytes: self.free_bytes });
        }
        self.free_bytes -= left;
        let mut pieces = Vec::new();
        while left > 0 {
            let piece = self.take(left);
            left -= piece.length_bytes;
            self.cursor = piece.offset_bytes + piece.length_bytes;
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// Frees pieces.
    pub fn free(&mut self, pieces: &[Piece]) {
        for &Piece { mut offset_bytes, mut length_bytes } in pieces {
            self.free_bytes += length_bytes;
            if let Some((&start, &length)) = self.holes.range(..offset_bytes).next_back() {
                debug_assert!(start + length <= offset_bytes, "only what is used is freed");
                if start + length == offset_bytes {
                    (offset_bytes, length_bytes) = (start, length + length_bytes);
                }
            }
            if let Some(behind) = self.holes.remove(&(offset_bytes + length_bytes)) {
                length_bytes += behind;
            }
            self.holes.insert(offset_bytes, length_bytes);
        }
    }

    /// The start of the next free range, limited to this length. There must be one.
    fn take(&mut self, length_bytes_max: u64) -> Piece {
        let within = self.holes.range(..self.cursor).next_back().map(|(&start, &length)| (start, start + length));
        let (start, end, at) = match within {
            Some((start, end)) if end > self.cursor => (start, end, self.cursor),
            _ => {
                let mut from = self.holes.range(self.cursor..).chain(&self.holes);
                let (&start, &length) = from.next().expect("something is free");
                (start, start + length, start)
            }
        };
        let taken = length_bytes_max.min(end - at);
        self.holes.remove(&start);
        if at > start {
            self.holes.insert(start, at - start);
        }
        if at + taken < end {
            self.holes.insert(at + taken, end - at - taken);
        }
        Piece { offset_bytes: at, length_bytes: taken }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const BLOCK_BYTES: u64 = 4096;

    /// The slow twin: one flag per block.
    struct Blocks {
        is_free: Vec<bool>,
        cursor: usize,
    }

    impl Blocks {
        fn allocate(&mut self, blocks: usize) -> Option<Vec<usize>> {
            let count = self.is_free.len();
            let found: Vec<usize> = (0..count)
                .map(|step| (self.cursor + step) % count)
                .filter(|&block| self.is_free[block])
                .take(blocks)
                .collect();
            if found.len() < blocks {
                return None;
            }
            found.iter().for_each(|&block| self.is_free[block] = false);
            self.cursor = found.last().map_or(self.cursor, |last| last + 1);
            Some(found)
        }
    }

    #[test]
    fn as_a_twin_with_a_flag_a_block() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let first = 7;
            let mut space = Space::new(first * BLOCK_BYTES, 100 * BLOCK_BYTES, BLOCK_BYTES);
            let mut twin = Blocks { is_free: vec![true; 100], cursor: 0 };
            let mut files: Vec<Vec<Piece>> = Vec::new();
            for _ in 0..2000 {
                if random.below(2) == 0 && !files.is_empty() {
                    let file = files.swap_remove(random.below(files.len() as u64) as usize);
                    space.free(&file);
                    blocks_of(&file, first).for_each(|block| twin.is_free[block] = true);
                } else {
                    let blocks = 1 + random.below(30);
                    let found = space.allocate(blocks * BLOCK_BYTES - random.below(BLOCK_BYTES));
                    let expected = twin.allocate(blocks as usize);
                    assert_eq!(found.is_ok(), expected.is_some(), "seed {seed}");
                    if let Ok(file) = found {
                        let blocks: Vec<usize> = blocks_of(&file, first).collect();
                        assert_eq!(Some(blocks), expected, "seed {seed}");
                        files.push(file);
                    }
                }
                let free = twin.is_free.iter().filter(|&&is_free| is_free).count() as u64;
                assert_eq!(space.free_bytes, free * BLOCK_BYTES, "seed {seed}");
            }
        }
    }

    fn blocks_of(file: &[Piece], first: u64) -> impl Iterator<Item = usize> {
        file.iter().flat_map(move |piece| {
            let start = piece.offset_bytes / BLOCK_BYTES - first;
            (start..start + piece.length_bytes / BLOCK_BYTES).map(|block| block as usize)
        })
    }
}
