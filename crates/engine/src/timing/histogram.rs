//! Latencies counted in fio's bins: 64 for each doubling, 1,856 in all, so that percentiles can be compared bin by bin.

use schemars::JsonSchema;
use serde::Serialize;

/// The width of bins is proportional to their distance from zero: 6 bits of a latency are significant.
const KEPT_BITS: u32 = 6;
/// Bins of a doubling.
pub const PER_DOUBLING: usize = 1 << KEPT_BITS;
/// fio's number of doublings; latencies above about 17 s are in the last bin.
const DOUBLINGS: usize = 29;
/// The number of bins.
pub const BINS: usize = DOUBLINGS * PER_DOUBLING;

/// Counts of latencies by bin, with exact moments. Takes memory for the doublings between its least and its largest
/// latency only: of most histograms, such as those of short intervals, a few of 29.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// The bin of the first count; a whole number of doublings.
    first_bin: usize,
    /// Of whole doublings.
    counts: Vec<u64>,
    sum_ns: u128,
    sum_of_squares_ns: f64,
    min_ns: u64,
    max_ns: u64,
}

/// The exported form: moments, and the non-empty bins.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// The number of latencies.
    pub count: u64,
    /// The least; None without any.
    pub min_ns: Option<u64>,
    /// The largest; None without any.
    pub max_ns: Option<u64>,
    /// The mean; None without any.
    pub mean_ns: Option<f64>,
    /// The standard deviation; None without any.
    pub stddev_ns: Option<f64>,
    /// Pairs of a bin's middle in nanoseconds and its count, ascending.
    pub bins: Vec<(u64, u64)>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { first_bin: 0, counts: Vec::new(), sum_ns: 0, sum_of_squares_ns: 0.0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Histogram {
    /// Adds a latency.
    #[inline]
    pub fn add(&mut self, latency_ns: u64) {
        let bin = bin_of(latency_ns);
        match self.counts.get_mut(bin.wrapping_sub(self.first_bin)) {
            Some(count) => *count += 1,
            None => self.add_beside(bin),
        }
        self.sum_ns += u128::from(latency_ns);
        self.sum_of_squares_ns += latency_ns as f64 * latency_ns as f64;
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Adds all latencies of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if let Some(last_index) = other.counts.len().checked_sub(1) {
            self.cover(other.first_bin);
            self.cover(other.first_bin + last_index);
            let common = &mut self.counts[other.first_bin - self.first_bin..];
            common.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        }
        self.sum_ns += other.sum_ns;
        self.sum_of_squares_ns += other.sum_of_squares_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Counts a latency outside the doublings up to now.
    #[cold]
    fn add_beside(&mut self, bin: usize) {
        self.cover(bin);
        self.counts[bin - self.first_bin] += 1;
    }

    /// Extends the counts to the bin's doubling.
    fn cover(&mut self, bin: usize) {
        let doubling = bin - bin % PER_DOUBLING;
        if self.counts.is_empty() {
            self.first_bin = doubling;
        }
        let below = self.first_bin.saturating_sub(doubling);
        self.counts.splice(0..0, std::iter::repeat_n(0, below));
        self.first_bin -= below;
        let reached = doubling + PER_DOUBLING - self.first_bin;
        self.counts.resize(self.counts.len().max(reached), 0);
    }

    /// Pairs of a bin and its count, without those of 0, ascending.
    fn occupied(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> {
        let counts = self.counts.iter().enumerate();
        counts.filter(|&(_, &count)| count > 0).map(|(index, &count)| (self.first_bin + index, count))
    }

    /// What was added since `earlier`, a copy of this one. Its minimum and maximum are as exact as a bin.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        for (bin, before) in earlier.occupied() {
            since.counts[bin - self.first_bin] -= before;
        }
        since.sum_ns -= earlier.sum_ns;
        since.sum_of_squares_ns -= earlier.sum_of_squares_ns;
        let min_ns = since.occupied().next().map_or(u64::MAX, |(bin, _)| middle_ns(bin));
        let max_ns = since.occupied().next_back().map_or(0, |(bin, _)| middle_ns(bin));
        Self { min_ns, max_ns, ..since }
    }

    /// The mean; None without any.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// The number of latencies.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Whether the bin has any.
    pub fn holds(&self, bin: usize) -> bool {
        self.counts.get(bin.wrapping_sub(self.first_bin)).is_some_and(|&count| count > 0)
    }

    /// The middle of the bin with the value below which `share` of all are.
    pub fn percentile(&self, share: f64) -> Option<u64> {
        let wanted = ((self.count() as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let (bin, _) = self.occupied().find(|&(_, count)| {
            seen += count;
            seen >= wanted
        })?;
        Some(middle_ns(bin))
    }

    /// The exported form.
    pub fn latency(&self) -> Latency {
        let count = self.count();
        let mean = self.mean();
        let variance = mean.map(|mean| (self.sum_of_squares_ns / count as f64 - mean * mean).max(0.0));
        Latency {
            count,
            min_ns: (count > 0).then_some(self.min_ns),
            max_ns: (count > 0).then_some(self.max_ns),
            mean_ns: mean,
            stddev_ns: variance.map(f64::sqrt),
            bins: self.occupied().map(|(bin, count)| (middle_ns(bin), count)).collect(),
        }
    }
}

/// The bin of a latency.
#[inline]
pub fn bin_of(latency_ns: u64) -> usize {
    if latency_ns < PER_DOUBLING as u64 {
        return latency_ns as usize;
    }
    let dropped_bits = latency_ns.ilog2() - KEPT_BITS;
    let kept = (latency_ns >> dropped_bits) as usize & (PER_DOUBLING - 1);
    (((dropped_bits as usize + 1) << KEPT_BITS) + kept).min(BINS - 1)
}

fn middle_ns(bin: usize) -> u64 {
    if bin < 2 * PER_DOUBLING {
        return bin as u64;
    }
    let dropped_bits = (bin >> KEPT_BITS) - 1;
    let lowest = 1u64 << (dropped_bits + KEPT_BITS as usize);
    let kept = (bin & (PER_DOUBLING - 1)) as u64;
    lowest + (kept << dropped_bits) + (1 << dropped_bits) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_contiguous_and_hold_what_falls_into_them() {
        let mut last = 0;
        for latency in (0..100_000u64).chain((17..34).map(|power| (1 << power) + 5)) {
            let bin = bin_of(latency);
            assert!(bin == last || bin == last + 1 || latency > 100_000, "{latency} in {bin} after {last}");
            let width = (latency / PER_DOUBLING as u64).max(1);
            assert!(middle_ns(bin).abs_diff(latency) <= width, "{latency} in the bin around {}", middle_ns(bin));
            last = bin;
        }
        assert_eq!(bin_of(u64::MAX), BINS - 1);
    }

    #[test]
    fn percentiles_and_moments_of_a_known_sample() {
        let mut histogram = Histogram::default();
        (1..=100u64).for_each(|value| histogram.add(value));
        assert_eq!(histogram.percentile(0.5), Some(50));
        assert_eq!(histogram.percentile(0.99), Some(99));
        let latency = histogram.latency();
        assert_eq!((latency.count, latency.min_ns, latency.max_ns), (100, Some(1), Some(100)));
        assert!((latency.mean_ns.unwrap() - 50.5).abs() < 1e-9);
        assert!((latency.stddev_ns.unwrap() - 28.866).abs() < 1e-3);
    }

    /// In any order, of which each value may be outside the doublings of those before.
    #[test]
    fn sums_and_differences_are_those_of_the_values() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.add(value));
            histogram
        };
        let [early, late] = [vec![90_000, 500, 95_000, 3], vec![10_000_000, 2, 700, 5_000_000]];
        let whole = of(&[&early[..], &late].concat());
        let mut merged = of(&early);
        merged.merge(&Histogram::default());
        merged.merge(&of(&late));
        assert_eq!(merged.latency(), whole.latency());
        assert_eq!(whole.latency().bins.len(), 8);
        assert_eq!(whole.since(&of(&early)).latency().bins, of(&late).latency().bins);
        assert_eq!(whole.since(&whole).latency(), Histogram::default().latency());
        let held: Vec<_> = (0..BINS).filter(|&bin| whole.holds(bin)).map(middle_ns).collect();
        assert_eq!(held, whole.latency().bins.iter().map(|&(middle, _)| middle).collect::<Vec<_>>());
    }
}
