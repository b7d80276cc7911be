//! fio's random map with several sizes: visits every block of the smallest size once, in random order, each request as
//! long as its size, or up to the next visited block.

use crate::random::Random;
use crate::workload::place::{Extent, Place};
use crate::workload::sizes::Sizes;
use crate::workload::visits::Visits;

/// A request starts at a random block, or at the next one not visited: fio's method, which makes fewer and longer
/// requests than a random choice among the remaining blocks. Needs little more than a bit of memory for each block.
#[derive(Clone, Debug)]
pub struct CutMap {
    start_bytes: u64,
    block_bytes: u64,
    count: u64,
    visits: Visits,
}

impl CutMap {
    /// Covers whole blocks, at least one; a remainder at the end is never visited.
    pub fn new(start_bytes: u64, end_bytes: u64, block_bytes: u64) -> CutMap {
        let count = (end_bytes - start_bytes) / block_bytes;
        CutMap { start_bytes, block_bytes, count, visits: Visits::new(count) }
    }
}

impl Place for CutMap {
    #[inline]
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        if self.visits.left() == 0 {
            self.visits.clear();
        }
        let first = self.visits.next_left(random.below(self.count));
        let room_bytes = (self.count - first) * self.block_bytes;
        let mut length_bytes = u64::from(sizes.draw(job_class, random));
        if length_bytes > room_bytes {
            // Where the smallest length exceeds a block nothing may fit, and the end cuts it.
            length_bytes = match u64::from(sizes.least(job_class)) <= room_bytes {
                true => u64::from(sizes.draw_within(job_class, room_bytes, random)),
                false => room_bytes,
            };
        }
        let end = first + length_bytes.div_ceil(self.block_bytes);
        let mut block = first;
        while block < end && !self.visits.contains(block) {
            self.visits.insert(block);
            block += 1;
        }
        Extent {
            offset_bytes: self.start_bytes + first * self.block_bytes,
            length_bytes: length_bytes.min((block - first) * self.block_bytes) as u32,
        }
    }

    #[cold]
    fn start_over(&mut self, _random: &mut Random) {
        self.visits.clear();
    }

    fn pass_is_over(&self, _job_class: usize) -> bool {
        self.visits.left() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::chances::Chances;
    use crate::workload::sizes::SeveralSizes;

    #[test]
    fn every_pass_covers_every_block_once_whatever_the_sizes() {
        for (sizes, count) in [(vec![4, 8, 16], 1000), (vec![4, 64], 333), (vec![4], 65), (vec![4, 400], 1)] {
            let chances = Chances::new(&sizes.iter().map(|&bytes| (bytes, 1.0)).collect::<Vec<(u32, f64)>>());
            let sizes = SeveralSizes { chances: std::array::from_fn(|_| chances.clone()), bytes_min: [4; 4] };
            let mut random = Random::new(count);
            let mut map = CutMap::new(100, 100 + 4 * count + 3, 4);
            let mut first_of_passes = Vec::new();
            for _ in 0..3 {
                let mut covered = vec![0; count as usize];
                let mut firsts = Vec::new();
                loop {
                    let Extent { offset_bytes, length_bytes } = map.next(0, &sizes, &mut random);
                    let first = (offset_bytes - 100) / 4;
                    firsts.push(first);
                    (first..first + u64::from(length_bytes) / 4).for_each(|block| covered[block as usize] += 1);
                    if map.pass_is_over(0) {
                        break;
                    }
                }
                assert!(covered.iter().all(|&times| times == 1));
                first_of_passes.push(firsts);
            }
            assert!(count < 100 || first_of_passes[0] != first_of_passes[1]);
        }
    }

    #[test]
    fn requests_are_cut_only_at_what_was_visited() {
        let chances = Chances::new(&[(4, 0.5), (16, 0.5)]);
        let sizes = SeveralSizes { chances: std::array::from_fn(|_| chances.clone()), bytes_min: [4; 4] };
        let mut random = Random::new(3);
        let mut map = CutMap::new(0, 4 * 10_000, 4);
        let mut visited = vec![false; 10_001];
        for _ in 0..4000 {
            let extent = map.next(0, &sizes, &mut random);
            let first = (extent.offset_bytes / 4) as usize;
            let end = first + (extent.length_bytes / 4) as usize;
            visited[first..end].iter_mut().for_each(|block| assert!(!std::mem::replace(block, true)));
            let is_cut = extent.length_bytes == 8 || extent.length_bytes == 12;
            assert!(!is_cut || visited[end], "cut at {end}");
        }
    }
}
