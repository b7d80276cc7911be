//! The parts of the time of requests: each nanosecond of a request belongs to one part, so that the parts add up to its
//! latency exactly.
//!
//! Sums are stored by the bin of the request's latency (`histogram`), so that those of a tail can be computed like
//! those of all requests. Bins are allocated a doubling at a time, up to the longest latency; requests need no memory.

use super::histogram::{BINS, PER_DOUBLING, bin_of};
use schemars::JsonSchema;
use serde::Serialize;

/// The parts of a latency, defined in `docs/simulate/time.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Part {
    /// The drive does not admit it yet: its limit of commands, or no free slot on arrival.
    Queueing,
    /// The controller's processing, and waiting in its memory for a full program group.
    Controller,
    /// The link between host and drive.
    Link,
    /// Map pages that were not in memory.
    Map,
    /// The channel between controller and die.
    Channel,
    /// The array, for the request itself.
    Flash,
    /// Other requests of the host on the same die.
    HostOperations,
    /// Garbage collection and other operations of the drive itself.
    Gc,
}

/// The number of parts.
pub const PARTS: usize = 8;

/// Nanoseconds by part, of one request or a sum of many.
pub type Parts = [u64; PARTS];

type Doubling = Box<[Parts; PER_DOUBLING]>;

/// Sums of parts by bin of latency.
#[derive(Clone, Debug, Default)]
pub struct Breakdown {
    /// By groups of 64 bins; None for groups without requests.
    doublings: [Option<Doubling>; BINS / PER_DOUBLING],
}

/// The exported form: for each non-empty bin of latency, the total nanoseconds of its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BreakdownColumns {
    /// Of `Part::Queueing`.
    pub queueing: Vec<u64>,
    /// Of `Part::Controller`.
    pub controller: Vec<u64>,
    /// Of `Part::Link`.
    pub link: Vec<u64>,
    /// Of `Part::Map`.
    pub map: Vec<u64>,
    /// Of `Part::Channel`.
    pub channel: Vec<u64>,
    /// Of `Part::Flash`.
    pub flash: Vec<u64>,
    /// Of `Part::HostOperations`.
    pub host_operations: Vec<u64>,
    /// Of `Part::Gc`.
    pub gc: Vec<u64>,
}

impl Breakdown {
    /// Adds a request.
    #[inline]
    pub fn add(&mut self, latency_ns: u64, parts: &Parts) {
        let bin = bin_of(latency_ns);
        let doubling = self.doublings[bin / PER_DOUBLING].get_or_insert_with(none);
        let sums = &mut doubling[bin % PER_DOUBLING];
        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }

    /// The rows of the bins for which `has_requests` is true.
    pub fn columns(&self, has_requests: impl Fn(usize) -> bool) -> BreakdownColumns {
        let mut columns = BreakdownColumns::default();
        for bin in (0..BINS).filter(|&bin| has_requests(bin)) {
            let doubling = self.doublings[bin / PER_DOUBLING].as_ref();
            let sums = doubling.map_or([0; PARTS], |doubling| doubling[bin % PER_DOUBLING]);
            columns.all_mut().into_iter().zip(sums).for_each(|(column, sum)| column.push(sum));
        }
        columns
    }
}

#[cold]
fn none() -> Doubling {
    Box::new([[0; PARTS]; PER_DOUBLING])
}

impl BreakdownColumns {
    /// In the order of `Part`.
    fn all_mut(&mut self) -> [&mut Vec<u64>; PARTS] {
        let Self { queueing, controller, link, map, channel, flash, host_operations, gc } = self;
        [queueing, controller, link, map, channel, flash, host_operations, gc]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::histogram::Histogram;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a list of all requests: the sums of every tail are those of its requests.
        #[test]
        fn sums_of_a_tail_are_those_of_its_requests(
            requests in prop::collection::vec(prop::array::uniform8(0u64..1 << 30), 1..200), skipped in 0usize..200,
        ) {
            let (mut breakdown, mut histogram) = (Breakdown::default(), Histogram::default());
            for parts in &requests {
                let latency_ns = parts.iter().sum();
                breakdown.add(latency_ns, parts);
                histogram.add(latency_ns);
            }
            let columns = breakdown.columns(|bin| histogram.holds(bin));
            let bins = histogram.latency().bins;
            let first = skipped.min(bins.len() - 1);
            let mut bins_of: Vec<usize> = requests.iter().map(|parts| bin_of(parts.iter().sum())).collect();
            bins_of.sort_unstable();
            bins_of.dedup();
            let tail = requests.iter().filter(|parts| bin_of(parts.iter().sum()) >= bins_of[first]);
            let gc: u64 = tail.clone().map(|parts| parts[Part::Gc as usize]).sum();
            let queueing: u64 = tail.map(|parts| parts[Part::Queueing as usize]).sum();
            prop_assert_eq!(columns.gc[first..].iter().sum::<u64>(), gc);
            prop_assert_eq!(columns.queueing[first..].iter().sum::<u64>(), queueing);
        }
    }
}
