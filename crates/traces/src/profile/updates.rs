//! How often each unit is written, and from that how unevenly the writes fall on the units.

use std::collections::BTreeMap;

use super::units::{ChunkTable, UnitRange};

/// Small enough that a lone 4 KiB write wastes little, large enough that a 32 KiB write is one table access.
const UNITS_PER_CHUNK: u64 = 8;

/// The number of writes of each unit of a volume.
#[derive(Default)]
pub(super) struct WriteCounts {
    chunks: ChunkTable<[u32; UNITS_PER_CHUNK as usize]>,
}

impl WriteCounts {
    pub fn add(&mut self, range: UnitRange) {
        for chunk in range.first / UNITS_PER_CHUNK..=range.last / UNITS_PER_CHUNK {
            let first = range.first.saturating_sub(chunk * UNITS_PER_CHUNK) as usize;
            let last = (range.last - chunk * UNITS_PER_CHUNK).min(UNITS_PER_CHUNK - 1) as usize;
            for count in &mut self.chunks.entry(chunk).or_default()[first..=last] {
                *count = count.saturating_add(1);
            }
        }
    }

    /// The units written at least `writes_min` times, as (unit, writes).
    pub fn written_at_least(&self, writes_min: u32) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.chunks.iter().flat_map(move |(chunk, counts)| {
            let units = counts.iter().enumerate().map(move |(at, &count)| (chunk * UNITS_PER_CHUNK + at as u64, count));
            units.filter(move |&(_, count)| count >= writes_min).map(|(unit, count)| (unit, u64::from(count)))
        })
    }

    /// The regions of so many units that were written, as (region, writes of its units).
    pub fn by_region<'a>(volumes: impl Iterator<Item = &'a WriteCounts>, units_per_region: u64) -> Vec<(u64, u64)> {
        let mut regions = ChunkTable::<u64>::default();
        for (unit, writes) in volumes.flat_map(|volume| volume.written_at_least(1)) {
            *regions.entry(unit / units_per_region).or_default() += writes;
        }
        regions.into_iter().collect()
    }
}

/// The most written regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HottestRegions {
    /// The number of written regions.
    pub written: u64,
    /// (region, writes of its units), most written first.
    pub listed: Vec<(u64, u64)>,
}

impl HottestRegions {
    /// At most `regions_max` of those given, in any order.
    pub(super) fn of(mut regions: Vec<(u64, u64)>, regions_max: usize) -> Self {
        let written = regions.len() as u64;
        regions.sort_unstable_by_key(|&(region, writes)| (std::cmp::Reverse(writes), region));
        if let Some(&(_, writes)) = regions.get(regions_max) {
            regions.retain(|&(_, each)| each > writes);
        }
        HottestRegions { written, listed: regions }
    }
}

/// The distribution of the number of writes of a unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateFrequencies {
    /// (writes of a unit, units with so many writes), from few writes to many.
    pub histogram: Vec<(u32, u64)>,
    /// The standard points of [`UpdateFrequencies::writes_share`], hottest first.
    pub curve: Vec<UpdateCurvePoint>,
}

/// The hottest `units_share` of the written units take `writes_share` of the unit writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpdateCurvePoint {
    /// The hottest share of the written units.
    pub units_share: f64,
    /// Their share of the unit writes.
    pub writes_share: f64,
}

const CURVE_UNITS_SHARES: [f64; 15] =
    [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

impl UpdateFrequencies {
    pub(super) fn of<'a>(volumes: impl Iterator<Item = &'a WriteCounts>) -> Self {
        let mut units_by_count = BTreeMap::new();
        for &count in volumes.flat_map(|volume| volume.chunks.values()).flatten().filter(|count| **count > 0) {
            *units_by_count.entry(count).or_default() += 1;
        }
        let mut frequencies = UpdateFrequencies { histogram: units_by_count.into_iter().collect(), curve: Vec::new() };
        frequencies.curve = CURVE_UNITS_SHARES
            .iter()
            .filter_map(|&units_share| {
                let writes_share = frequencies.writes_share(units_share)?;
                Some(UpdateCurvePoint { units_share, writes_share })
            })
            .collect();
        frequencies
    }

    /// Units written.
    pub fn units_written(&self) -> u64 {
        self.histogram.iter().map(|(_, units)| units).sum()
    }

    /// Unit writes, each time a unit is written.
    pub fn writes(&self) -> u128 {
        self.histogram.iter().map(|(count, units)| u128::from(*count) * u128::from(*units)).sum()
    }

    /// The share of the unit writes that falls on the hottest `units_share` (0 to 1) of the written units, with a part
    /// of a unit counted as that part; `None` when nothing was written.
    pub fn writes_share(&self, units_share: f64) -> Option<f64> {
        let writes_all = self.writes();
        if writes_all == 0 {
            return None;
        }
        let mut units_left = units_share.clamp(0.0, 1.0) * self.units_written() as f64;
        let mut writes = 0.0;
        for &(count, units) in self.histogram.iter().rev() {
            let units_taken = units_left.min(units as f64);
            writes += units_taken * f64::from(count);
            units_left -= units_taken;
        }
        Some((writes / writes_all as f64).min(1.0))
    }
}
