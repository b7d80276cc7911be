//! fio's zones: a percentage of the accesses for a percentage of the blocks, or a number of bytes, in order; uniform
//! within a zone.

use crate::random::{Random, scale};
use crate::specification::job::{AbsoluteZone, Zone};
use crate::workload::chances::Chances;
use crate::workload::place::{Blocks, Grid};
use crate::workload::scatter::Scatter;
use crate::workload::sizes::JOB_CLASSES;

/// See the file's description.
#[derive(Clone, Debug)]
pub struct Zoned {
    job_classes: [Chances<Span>; JOB_CLASSES],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    first: u64,
    blocks: u64,
}

impl Zoned {
    /// Percentages of accesses and of blocks each add up to 100 in each job class, and at least one zone is accessed.
    pub fn new(zones: [&[Zone]; JOB_CLASSES], counts: [u64; JOB_CLASSES]) -> Zoned {
        let job_class = |zones: &[Zone], count| {
            let accesses = zones.iter().map(|zone| zone.access_percent);
            Chances::new(&spans(zones, count).into_iter().zip(accesses).collect::<Vec<_>>())
        };
        Zoned { job_classes: [job_class(zones[0], counts[0]), job_class(zones[1], counts[1])] }
    }

    /// Percentages of accesses add up to 100 in each job class, and the zones' bytes to at most the job's part.
    pub fn absolute(zones: [&[AbsoluteZone]; JOB_CLASSES], grids: [Grid; JOB_CLASSES]) -> Zoned {
        let job_class = |zones: &[AbsoluteZone], grid: Grid| {
            let accesses = zones.iter().map(|zone| zone.access_percent);
            Chances::new(&absolute_spans(zones, grid).into_iter().zip(accesses).collect::<Vec<_>>())
        };
        Zoned { job_classes: [job_class(zones[0], grids[0]), job_class(zones[1], grids[1])] }
    }
}

/// Divides the blocks at the zones' summed bytes, rounded down, as fio does; a zone within one block is that block.
fn absolute_spans(zones: &[AbsoluteZone], grid: Grid) -> Vec<Span> {
    let mut bytes = 0;
    let span = |zone: &AbsoluteZone| {
        let first = (bytes / grid.align_bytes).min(grid.blocks - 1);
        bytes += zone.span_bytes;
        let end = (bytes / grid.align_bytes).min(grid.blocks);
        Span { first, blocks: end.saturating_sub(first).max(1) }
    };
    zones.iter().map(span).collect()
}

/// Divides the blocks at the zones' summed percentages, rounded down; the last zone takes the rest.
///
/// On a part so small that a zone has no block it shares the first block of the next one.
fn spans(zones: &[Zone], count: u64) -> Vec<Span> {
    let mut percent = 0.0;
    let mut first = 0;
    let last = zones.len() - 1;
    let span = |(index, zone): (usize, &Zone)| {
        percent += zone.span_percent;
        // The factor prevents sums such as 0.1 + 0.2 percent from falling short of a whole block.
        let cut = (count as f64 * percent / 100.0 * (1.0 + 1e-12)) as u64;
        let end = if index == last { count } else { cut.clamp(first, count) };
        let span = Span { first: first.min(count - 1), blocks: (end - first).max(1) };
        first = end;
        span
    };
    zones.iter().enumerate().map(span).collect()
}

impl Blocks for Zoned {
    #[inline(always)]
    fn block(&mut self, job_class: usize, random: &mut Random) -> u64 {
        let span = self.job_classes[job_class].draw(random);
        span.first + scale(random.bits(), span.blocks).0
    }
}

/// The same, with the blocks of a zone scattered over the whole range.
#[derive(Clone, Debug)]
pub struct ScatteredZones {
    zoned: Zoned,
    scatters: [Scatter; JOB_CLASSES],
}

impl ScatteredZones {
    /// As `Zoned::new`; the seed determines the order of the blocks.
    pub fn new(zones: [&[Zone]; JOB_CLASSES], counts: [u64; JOB_CLASSES], seed: u64) -> ScatteredZones {
        ScatteredZones {
            zoned: Zoned::new(zones, counts),
            scatters: counts.map(|count| Scatter::new(count, seed, 0, None)),
        }
    }
}

impl Blocks for ScatteredZones {
    #[inline(always)]
    fn block(&mut self, job_class: usize, random: &mut Random) -> u64 {
        let rank = self.zoned.block(job_class, random);
        self.scatters[job_class].block(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::statistics::assert_shares;

    fn zones(list: &[(f64, f64)]) -> Vec<Zone> {
        list.iter().map(|&(access_percent, span_percent)| Zone { access_percent, span_percent }).collect()
    }

    const JESD219: [(f64, f64); 3] = [(50.0, 5.0), (30.0, 15.0), (20.0, 80.0)];

    #[test]
    fn spans_cover_every_block_once() {
        let lists = [JESD219.to_vec(), vec![(25.0, 100.0 / 7.0); 7], vec![(10.0, 0.1), (10.0, 0.2), (80.0, 99.7)]];
        for list in lists {
            for count in [20, 21, 1000, 12_345_679, 3 << 40] {
                let mut first = 0;
                for span in spans(&zones(&list), count).into_iter().filter(|_| count > 1000) {
                    assert_eq!(span.first, first);
                    first += span.blocks;
                }
                assert!(count <= 1000 || first == count, "{first} of {count} blocks");
            }
        }
        let cut =
            |count| spans(&zones(&JESD219), count).iter().map(|span| (span.first, span.blocks)).collect::<Vec<_>>();
        assert_eq!(cut(100), [(0, 5), (5, 15), (20, 80)]);
        assert_eq!(cut(39), [(0, 1), (1, 6), (7, 32)]);
        assert_eq!(cut(7), [(0, 1), (0, 1), (1, 6)]);
        assert_eq!(cut(1), [(0, 1), (0, 1), (0, 1)]);
    }

    #[test]
    fn accesses_follow_the_zones_and_are_even_within() {
        let mut zoned = Zoned::new([&zones(&JESD219); 2], [200, 1]);
        let mut random = Random::new(14);
        let mut hits = vec![0; 200];
        (0..300_000).for_each(|_| hits[zoned.block(0, &mut random) as usize] += 1);
        let weights: Vec<f64> = (0..200)
            .map(|block| match block {
                0..10 => 50.0 / 10.0,
                10..40 => 30.0 / 30.0,
                _ => 20.0 / 160.0,
            })
            .collect();
        assert_shares(&hits, &weights);
    }

    #[test]
    fn scattered_zones_reach_as_many_blocks_as_often_and_elsewhere() {
        let list = zones(&[(90.0, 10.0), (10.0, 90.0)]);
        let mut zoned = ScatteredZones::new([&list; 2], [200, 200], 3);
        let mut random = Random::new(17);
        let mut hits = vec![0; 200];
        (0..300_000).for_each(|_| hits[zoned.block(0, &mut random) as usize] += 1);
        let scatter = Scatter::new(200, 3, 0, None);
        let mut weights = vec![10.0 / 180.0; 200];
        (0..20).for_each(|rank| weights[scatter.block(rank) as usize] = 90.0 / 20.0);
        assert_shares(&hits, &weights);
        let hot: Vec<usize> = (0..200).filter(|&block| weights[block] > 1.0).collect();
        assert!(hot.windows(2).any(|pair| pair[1] > pair[0] + 1), "{hot:?} lie one behind another");
    }

    #[test]
    fn a_zone_without_accesses_is_never_hit() {
        let mut zoned = Zoned::new([&zones(&[(60.0, 30.0), (0.0, 40.0), (40.0, 30.0)]); 2], [10, 10]);
        let mut random = Random::new(15);
        assert!((0..10_000).all(|_| !(3..7).contains(&zoned.block(1, &mut random))));
    }

    #[test]
    fn absolute_zones_are_cut_at_whole_blocks() {
        let cut = |list: &[u64], align_bytes, blocks| {
            let zones: Vec<AbsoluteZone> =
                list.iter().map(|&span_bytes| AbsoluteZone { access_percent: 1.0, span_bytes }).collect();
            let spans = absolute_spans(&zones, Grid { align_bytes, blocks });
            spans.iter().map(|span| (span.first, span.blocks)).collect::<Vec<_>>()
        };
        assert_eq!(cut(&[8192, 16384], 4096, 100), [(0, 2), (2, 4)]);
        assert_eq!(cut(&[8191, 16385], 4096, 100), [(0, 1), (1, 5)]);
        assert_eq!(cut(&[1024, 1024, 4096], 4096, 100), [(0, 1), (0, 1), (0, 1)]);
        assert_eq!(cut(&[4096, 4096], 4096, 2), [(0, 1), (1, 1)]);
        // The last positions of a grid are excluded where a longer request would not fit, so a zone may end beyond it.
        assert_eq!(cut(&[40_960], 512, 73), [(0, 73)]);
    }
}
