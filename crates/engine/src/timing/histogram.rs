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

/// Counts of latencies by bin, with exact moments.
#[derive(Clone, Debug)]
pub struct Histogram {
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
        Self { counts: vec![0; BINS], sum_ns: 0, sum_of_squares_ns: 0.0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Histogram {
    /// Adds a latency.
    #[inline]
    pub fn add(&mut self, latency_ns: u64) {
        self.counts[bin_of(latency_ns)] += 1;
        self.sum_ns += u128::from(latency_ns);
        self.sum_of_squares_ns += latency_ns as f64 * latency_ns as f64;
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Adds all latencies of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.sum_ns += other.sum_ns;
        self.sum_of_squares_ns += other.sum_of_squares_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// What was added since `earlier`, a copy of this one. Its minimum and maximum are as exact as a bin.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut counts = self.counts.clone();
        counts.iter_mut().zip(&earlier.counts).for_each(|(count, before)| *count -= before);
        let least = counts.iter().position(|&count| count > 0);
        let most = counts.iter().rposition(|&count| count > 0);
        Self {
            counts,
            sum_ns: self.sum_ns - earlier.sum_ns,
            sum_of_squares_ns: self.sum_of_squares_ns - earlier.sum_of_squares_ns,
            min_ns: least.map_or(u64::MAX, middle_ns),
            max_ns: most.map_or(0, middle_ns),
        }
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
        self.counts[bin] > 0
    }

    /// The middle of the bin with the value below which `share` of all are.
    pub fn percentile(&self, share: f64) -> Option<u64> {
        let wanted = ((self.count() as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let bin = self.counts.iter().position(|&count| {
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
            bins: self
                .counts
                .iter()
                .enumerate()
                .filter(|&(_, &n)| n > 0)
                .map(|(bin, &n)| (middle_ns(bin), n))
                .collect(),
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
}
