//! Statistics of the requests that a drive serves, and which of them have completed.

use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::request::Operation;
use ssdlab_engine::simulation::JobBreakdown;
use ssdlab_engine::timing::breakdown::{Breakdown, Parts};
use ssdlab_engine::timing::front::{Completion, Intake, Requester};
use ssdlab_engine::timing::histogram::Histogram;

/// Latencies by operation, and, except for flushes, their parts.
#[derive(Default)]
pub struct Latencies {
    histograms: [Histogram; Operation::COUNT],
    breakdowns: [Breakdown; 3],
}

impl Latencies {
    fn add(&mut self, operation: Operation, latency_ns: u64, parts: &Parts) {
        self.histograms[operation as usize].add(latency_ns);
        if let Some(breakdown) = self.breakdowns.get_mut(operation as usize) {
            breakdown.add(latency_ns, parts);
        }
    }

    pub fn of(&self, operation: Operation) -> &Histogram {
        &self.histograms[operation as usize]
    }

    pub fn breakdown(&self) -> JobBreakdown {
        let columns =
            |operation: Operation| self.breakdowns[operation as usize].columns(|bin| self.of(operation).holds(bin));
        JobBreakdown {
            read: columns(Operation::Read),
            write: columns(Operation::Write),
            trim: columns(Operation::Trim),
        }
    }
}

#[derive(Default)]
pub struct Served {
    pub latencies: Latencies,
    /// Requests that a caller waits for, and the latency of each, once it has completed.
    awaited: Vec<(u32, Option<u64>)>,
    /// Each completion, if a test requests them.
    completions: Option<Vec<Completion>>,
}

impl Served {
    pub fn wait_for(&mut self, tag: u32) {
        self.awaited.push((tag, None));
    }

    /// The latency of a request, once it has completed; None for one from before a loss of power, which is over.
    pub fn collect(&mut self, tag: u32) -> Option<u64> {
        let Some(slot) = self.awaited.iter().position(|&(awaited, _)| awaited == tag) else { return Some(0) };
        let latency_ns = self.awaited[slot].1?;
        self.awaited.swap_remove(slot);
        Some(latency_ns)
    }

    /// A loss of power: operations in progress will not be reported.
    pub fn forget_awaited(&mut self) {
        self.awaited.clear();
    }

    /// Records every completion from now on, and returns those recorded.
    pub fn take_completions(&mut self) -> Vec<Completion> {
        self.completions.replace(Vec::new()).unwrap_or_default()
    }
}

impl<F: Intake> Requester<F> for Served {
    fn completed(
        &mut self,
        completion: Completion,
        parts: &Parts,
        _front: &mut F,
        _drives: &mut F::Drives<'_>,
    ) -> Result<(), ReadOnly> {
        let latency_ns = completion.completed_ns - completion.issued_ns;
        self.latencies.add(completion.operation, latency_ns, parts);
        if let Some((_, waited_ns)) = self.awaited.iter_mut().find(|(tag, _)| *tag == completion.tag) {
            *waited_ns = Some(latency_ns);
        }
        if let Some(completions) = &mut self.completions {
            completions.push(completion);
        }
        Ok(())
    }
}
