//! A smaller address space with the properties of the whole one: of every `one_in` neighbouring regions one is
//! included, chosen by a hash.
//!
//! The included regions alone, on a drive smaller by the same ratio, are a miniature of the whole run: how often
//! regions are written, and which are written together, remain the same (Waldspurger et al. 2015, "Efficient MRC
//! Construction with SHARDS", selects addresses by a hash below a threshold; one of every group makes the ratio exact
//! and needs no table of locations).
//!
//! A region with a large part of the writes would be included with all of them or not at all. Where such regions are
//! known (`Hot`) every `one_in`th of them is included, with a share of its requests, and the others are excluded. All
//! trims are included. A region should be small compared with a scaled erase unit, and as large as a request where
//! requests should remain whole.

use super::Extent;
use crate::request::Operation;
use rustc_hash::FxHashMap;

/// A region whose inclusion is not decided by the hash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hot {
    /// The group of the region.
    pub group: u64,
    /// The region's index in its group.
    pub region: u64,
    /// The share of its requests that is included; with 0 it is excluded, and another of its group may be included.
    pub share: f64,
}

/// See the file's description.
pub struct Sample {
    region_bytes: u64,
    one_in: u64,
    seed: u64,
    hot: FxHashMap<u64, Group>,
}

/// A group with hot regions.
struct Group {
    kept: u64,
    share: f64,
    /// For reads and writes: the fraction of a request still to be included.
    owed: [f64; 2],
}

impl Sample {
    /// Includes one region of `one_in`. Both counts are above 0.
    pub fn new(region_bytes: u32, one_in: u32, seed: u64, hot: &[Hot]) -> Self {
        assert!(region_bytes > 0 && one_in > 0, "a region holds something, and one of a group is kept");
        let mut sample =
            Self { region_bytes: u64::from(region_bytes), one_in: u64::from(one_in), seed, hot: FxHashMap::default() };
        let mut regions: FxHashMap<u64, Vec<&Hot>> = FxHashMap::default();
        hot.iter().for_each(|each| regions.entry(each.group).or_default().push(each));
        sample.hot = regions.into_iter().map(|(group, hot)| (group, sample.group(group, &hot))).collect();
        sample
    }

    /// The first included hot region; otherwise the region chosen by the hash, or the next one that is not hot.
    fn group(&self, group: u64, hot: &[&Hot]) -> Group {
        let owed = [0.5; 2];
        if let Some(each) = hot.iter().find(|each| each.share > 0.0) {
            return Group { kept: each.region % self.one_in, share: each.share, owed };
        }
        let is_hot = |region: &u64| hot.iter().any(|each| each.region == *region);
        let first = self.drawn(group);
        let kept = (first..first + self.one_in).map(|region| region % self.one_in).find(|region| !is_hot(region));
        Group { kept: kept.unwrap_or(first), share: if kept.is_some() { 1.0 } else { 0.0 }, owed }
    }

    /// The part of the extent in included regions, at its address in the smaller space. Calls `each` for every piece,
    /// in order; adjacent pieces are merged.
    pub fn keep(&mut self, extent: &Extent, mut each: impl FnMut(Extent)) {
        let (start, end) = (extent.offset_bytes, extent.offset_bytes.saturating_add(u64::from(extent.length_bytes)));
        let group_bytes = self.region_bytes.saturating_mul(self.one_in);
        let mut open: Option<Extent> = None;
        for group in start / group_bytes..end.div_ceil(group_bytes) {
            let region_start = (group * group_bytes).saturating_add(self.kept_in(group) * self.region_bytes);
            let (first, last) = (start.max(region_start), end.min(region_start.saturating_add(self.region_bytes)));
            if first >= last || !self.is_kept(group, extent.operation) {
                continue;
            }
            let offset_bytes = group * self.region_bytes + (first - region_start);
            let length_bytes = (last - first) as u32;
            match &mut open {
                Some(piece) if piece.offset_bytes + u64::from(piece.length_bytes) == offset_bytes => {
                    piece.length_bytes += length_bytes;
                }
                _ => {
                    if let Some(piece) = open.replace(Extent { offset_bytes, length_bytes, ..*extent }) {
                        each(piece);
                    }
                }
            }
        }
        if let Some(piece) = open {
            each(piece);
        }
    }

    /// The included region of the group.
    fn kept_in(&self, group: u64) -> u64 {
        if !self.hot.is_empty()
            && let Some(known) = self.hot.get(&group)
        {
            return known.kept;
        }
        self.drawn(group)
    }

    /// SplitMix64's hash (Steele et al. 2014).
    fn drawn(&self, group: u64) -> u64 {
        let mut z = (group ^ self.seed.rotate_left(32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        crate::random::scale(z ^ (z >> 31), self.one_in).0
    }

    /// Whether this request is among those that its group includes; true where no region is hot.
    fn is_kept(&mut self, group: u64, operation: Operation) -> bool {
        let kind = match operation {
            Operation::Read => 0,
            Operation::Write => 1,
            _ => return true,
        };
        if self.hot.is_empty() {
            return true;
        }
        let Some(known) = self.hot.get_mut(&group) else { return true };
        let owed = &mut known.owed[kind];
        *owed += known.share;
        let is_kept = *owed >= 1.0;
        *owed -= f64::from(u8::from(is_kept));
        is_kept
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::extent;
    use super::*;
    use crate::request::Operation::Write;
    use proptest::prelude::*;

    fn kept(sample: &mut Sample, offset_bytes: u64, length_bytes: u32) -> Vec<(u64, u32)> {
        let mut pieces = Vec::new();
        sample.keep(&extent(Write, offset_bytes, length_bytes), |piece| {
            pieces.push((piece.offset_bytes, piece.length_bytes));
        });
        pieces
    }

    proptest! {
        /// The twin handles every byte separately.
        #[test]
        fn pieces_are_what_single_bytes_would_give(
            region_bytes in 1u32..9,
            one_in in 1u32..7,
            seed: u64,
            offset_bytes in 0u64..500,
            length_bytes in 1u32..300,
        ) {
            let mut sample = Sample::new(region_bytes, one_in, seed, &[]);
            let bytes: Vec<u64> = (0..u64::from(length_bytes))
                .flat_map(|at| kept(&mut sample, offset_bytes + at, 1))
                .map(|(place, _)| place)
                .collect();
            let pieces = kept(&mut sample, offset_bytes, length_bytes);
            let whole: Vec<u64> =
                pieces.iter().flat_map(|&(start, length)| start..start + u64::from(length)).collect();
            prop_assert_eq!(&whole, &bytes);
            prop_assert!(pieces.windows(2).all(|two| two[0].0 + u64::from(two[0].1) < two[1].0), "touching ones are one");
        }

        /// A group is always one region of the smaller space, whichever of its regions is included.
        #[test]
        fn the_smaller_space_is_filled_without_gaps(region_bytes in 1u32..9, one_in in 1u32..7, seed: u64) {
            let mut sample = Sample::new(region_bytes, one_in, seed, &[]);
            let groups = 40;
            prop_assert_eq!(kept(&mut sample, 0, region_bytes * one_in * groups), vec![(0, region_bytes * groups)]);
        }
    }

    #[test]
    fn one_in_one_is_everything_and_the_end_of_all_addresses_is_no_trap() {
        assert_eq!(kept(&mut Sample::new(4096, 1, 3, &[]), 12_345, 67_890), vec![(12_345, 67_890)]);
        kept(&mut Sample::new(4096, 96, 3, &[]), u64::MAX - 8192, 8191);
    }

    #[test]
    fn seeds_keep_different_regions() {
        let places =
            |seed| (0..64).map(|unit| kept(&mut Sample::new(1, 8, seed, &[]), unit, 1).len()).collect::<Vec<_>>();
        assert_ne!(places(1), places(2));
    }

    #[test]
    fn a_hot_region_keeps_a_share_of_its_requests() {
        let hot = [Hot { group: 3, region: 5, share: 0.25 }];
        let mut sample = Sample::new(10, 8, 1, &hot);
        let at = (3 * 8 + 5) * 10;
        let all: Vec<_> = (0..40).flat_map(|_| kept(&mut sample, at + 2, 4)).collect();
        assert_eq!(all, vec![(32, 4); 10], "a quarter, at the group's place");
        assert!(kept(&mut sample, 3 * 80, 50).is_empty(), "the others of the group are left out");
        let mut trims = 0;
        (0..3).for_each(|_| sample.keep(&extent(crate::request::Operation::Trim, at, 10), |_| trims += 1));
        assert_eq!(trims, 3);
    }

    #[test]
    fn what_another_stands_for_is_left_out() {
        let whole = kept(&mut Sample::new(10, 8, 1, &[]), 240, 80);
        let chosen =
            (0..8).find(|region| kept(&mut Sample::new(10, 8, 1, &[]), 240 + region * 10, 10) == whole).unwrap();
        let mut sample = Sample::new(10, 8, 1, &[Hot { group: 3, region: chosen, share: 0.0 }]);
        assert!(kept(&mut sample, 240 + chosen * 10, 10).is_empty());
        assert_eq!(kept(&mut sample, 240 + (chosen + 1) % 8 * 10, 10), vec![(30, 10)], "its neighbour is there for it");
        let all: Vec<_> = (0..8).map(|region| Hot { group: 3, region, share: 0.0 }).collect();
        assert!(kept(&mut Sample::new(10, 8, 1, &all), 240, 80).is_empty());
    }
}
