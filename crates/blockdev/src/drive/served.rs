//! Statistics of the requests that a drive serves, and which of them have completed.

use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::request::Operation;
use ssdlab_engine::simulation::JobBreakdown;
use ssdlab_engine::timing::breakdown::{Breakdown, Parts};
use ssdlab_engine::timing::front::{Completion, Intake, Requester};
use ssdlab_engine::timing::histogram::Histogram;
use std::collections::VecDeque;

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
    /// Requests of queues, in order of submission, each with its queue, and the latencies of those that have completed.
    queued: VecDeque<(u32, u32)>,
    completed: Vec<(u32, u32, u64)>,
    /// Each completion, if a test requests them.
    completions: Option<Vec<Completion>>,
}

impl Served {
    pub fn wait_for(&mut self, tag: u32) {
        self.awaited.push((tag, None));
    }

    /// The request is reported by `take_completed`, not by `collect`.
    pub fn queue(&mut self, tag: u32, queue: u32) {
        let awaited = self.awaited.iter().position(|&(awaited, _)| awaited == tag);
        let Some((_, latency_ns)) = awaited.map(|slot| self.awaited.swap_remove(slot)) else { return };
        match latency_ns {
            Some(latency_ns) => self.completed.push((tag, queue, latency_ns)),
            None => self.queued.push_back((tag, queue)),
        }
    }

    /// Moves the tags and latencies of a queue's requests that have completed.
    pub fn take_completed(&mut self, queue: u32, into: &mut Vec<(u32, u64)>) {
        self.completed.retain(|&(tag, of, latency_ns)| {
            if of == queue {
                into.push((tag, latency_ns));
            }
            of != queue
        });
    }

    /// A queue is gone: nothing of it is reported.
    pub fn forget_queue(&mut self, queue: u32) {
        self.queued.retain(|&(_, of)| of != queue);
        self.completed.retain(|&(_, of, _)| of != queue);
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
        self.queued.clear();
        self.completed.clear();
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
        // Most requests complete about in order.
        if let Some(slot) = self.queued.iter().position(|&(tag, _)| tag == completion.tag) {
            let (tag, queue) = self.queued.remove(slot).expect("it was found there");
            self.completed.push((tag, queue, latency_ns));
        }
        if let Some(completions) = &mut self.completions {
            completions.push(completion);
        }
        Ok(())
    }
}
