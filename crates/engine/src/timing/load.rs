//! When each die will have done what is queued, for those who hand work to the die that is free first. A sum is kept as
//! operations come and go, and only where it is asked for.

use super::dies::{Dies, Phase};
use super::kind::Kind;
use super::operation::Operation;

impl Dies {
    /// Lets `free_at_ns` be asked for, which has a price. Nothing must be queued yet.
    pub fn keep_load(&mut self) {
        self.keeps_load = true;
    }

    /// An operation has joined the queue of a die.
    #[inline(always)]
    pub(super) fn note_queued<K: Kind>(&mut self, index: usize, operation: Operation) {
        if K::HAS_EXTRAS && self.keeps_load {
            self.dies[index].queued_ns += self.costs.duration_ns(operation);
        }
    }

    /// An operation has left the queue of a die, to begin.
    #[inline(always)]
    pub(super) fn note_begun<K: Kind>(&mut self, index: usize, operation: Operation) {
        if K::HAS_EXTRAS && self.keeps_load {
            self.dies[index].queued_ns -= self.costs.duration_ns(operation);
        }
    }

    /// When a die would have done what is queued, if it waited for no channel.
    pub fn free_at_ns(&self, now: u64, index: usize) -> u64 {
        let die = &self.dies[index];
        let at_work_until_ns = match die.phase {
            Phase::Idle => now,
            Phase::ReadingArray => now.max(die.started_ns + self.costs.duration_ns(die.current)),
            Phase::Quiet | Phase::LastPart | Phase::Resumed => now.max(die.end_ns),
            _ => now + self.suspension.as_ref().map_or(0, |suspension| suspension.rest_ns(index)),
        };
        at_work_until_ns + self.at_work_ns(index) + die.queued_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::drive::{Drive, Nand};
    use crate::timing::kind::Any;
    use crate::timing::operation::{Array, Costs, Work};
    use crate::timing::pipeline::Pipelines;
    use crate::timing::suspension::Suspension;
    use proptest::prelude::*;

    /// Recomputed from all that is queued.
    fn queued_ns(dies: &Dies, index: usize) -> u64 {
        let die = &dies.dies[index];
        let duration_ns = |word| dies.costs.duration_ns(Operation::from_word(word));
        // Each read has its reading behind it.
        let reads = (0..die.reads.len()).step_by(2).map(|place| duration_ns(die.reads.get(place)));
        let others = (die.chained..die.others.len()).map(|place| duration_ns(die.others.get(place)));
        reads.chain(others).sum()
    }

    /// Fused or not, with suspends or with cache registers.
    fn flash(variant: u8) -> Dies {
        let costs = Costs { array_ns: [0, 60, 700, 5_000, 0, 20, 200, 3_000], transfer_ns_per_unit: 5 };
        let textbook = Drive::textbook().nand;
        let nand = Nand {
            channels: if variant == 1 { 1 } else { 2 },
            dies_per_channel: if variant == 1 { 2 } else { 1 },
            suspend: variant == 2,
            cache_program: variant == 3,
            cache_read: variant == 3,
            ..textbook
        };
        let mut dies = Dies::new(2, nand.channels, costs)
            .with_suspension(Suspension::new(&nand))
            .with_pipelines(Pipelines::new(&nand));
        dies.keep_load();
        dies
    }

    proptest! {
        #[test]
        fn what_is_queued_is_summed_as_it_comes_and_goes(
            variant in 0u8..4,
            steps in proptest::collection::vec((0u8..9, 0usize..2, 0u64..900), 1..200),
        ) {
            let mut dies = flash(variant);
            let mut now = 0;
            for (kind, index, later) in steps {
                let of_host = |array, work| Operation::new(array, work, 4, 0);
                match kind {
                    0 => dies.queue::<Any>(now, index, of_host(Array::Program, Work::Program)),
                    1 => dies.queue::<Any>(now, index, Operation::new(Array::Program, Work::Quiet, 4, 0)),
                    2 => dies.queue::<Any>(now, index, Operation::new(Array::Read, Work::CopyRead, 3, 0).in_mode(true)),
                    3 => dies.queue::<Any>(now, index, Operation::new(Array::Erase, Work::Quiet, 0, 0)),
                    4 | 5 => dies.queue_read::<Any>(now, index, of_host(Array::Read, Work::HostRead)),
                    _ => {
                        let until_ns = now + later;
                        while let Some((at_ns, event)) = dies.next_event().filter(|&(at_ns, _)| at_ns <= until_ns) {
                            if let Some(operation) = dies.take_event::<Any>(at_ns, event) {
                                if operation.is_of_host() {
                                    dies.end_of_host::<Any>(at_ns, event, operation);
                                }
                                dies.go_on::<Any>(at_ns, event);
                            }
                        }
                        now = until_ns;
                    }
                }
                for index in 0..2 {
                    prop_assert_eq!(dies.dies[index].queued_ns, queued_ns(&dies, index));
                }
            }
        }
    }
}
