//! Future events on the host's side of a front: a queue for each kind of event, and the earliest of all.
//!
//! Events of one kind occur in the order in which they were scheduled, so a queue for each kind is sufficient; only the
//! host prepares the commands of some jobs faster than those of others.

use std::collections::VecDeque;

/// An event of a request's slot, a chain of map pages or a stream; simultaneous events occur in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The firmware has processed a map page that the chain waited for.
    MapPage,
    /// The host has prepared the command.
    Issued,
    /// The request enters the drive.
    Admitted,
    /// A closed buffer admits the next waiting write.
    Trickled,
    /// The throttle admits the next waiting write.
    Throttled,
    /// The pacer admits the next waiting write.
    Paced,
    /// The request has crossed the link to the drive.
    Arrived,
    /// The data of the read has crossed the link to the host.
    Sent,
    /// A piece of a stream has crossed the link to the host.
    Delivered,
    /// The controller has processed a read of a stream.
    Processed,
}

const STEPS: [Step; 10] = [
    Step::MapPage,
    Step::Issued,
    Step::Admitted,
    Step::Trickled,
    Step::Throttled,
    Step::Paced,
    Step::Arrived,
    Step::Sent,
    Step::Delivered,
    Step::Processed,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request that waited for no flash has been executed.
    Answered(u32),
    Step(Step, u32),
}

#[derive(Clone, Debug)]
pub struct EventQueue {
    next_ns: u64,
    answers: VecDeque<(u64, u32)>,
    /// The earliest of all except the answers; most drives have no steps.
    next_step_ns: u64,
    steps: [VecDeque<(u64, u32)>; STEPS.len()],
    steps_pending: u32,
}

impl EventQueue {
    pub fn new() -> Self {
        Self {
            next_ns: u64::MAX,
            answers: VecDeque::new(),
            next_step_ns: u64::MAX,
            steps: Default::default(),
            steps_pending: 0,
        }
    }

    /// The time of the earliest event; the end of time if there is none.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// The same; None if there is none.
    pub fn next_event_ns(&self) -> Option<u64> {
        Some(self.next_ns).filter(|&at_ns| at_ns < u64::MAX)
    }

    /// Whether a request is in progress that can complete without further writes.
    #[inline]
    pub fn is_serving(&self) -> bool {
        !self.answers.is_empty() || self.steps_pending > 0
    }

    #[inline]
    pub fn answer(&mut self, at_ns: u64, slot: u32) {
        self.answers.push_back((at_ns, slot));
        self.next_ns = self.next_ns.min(at_ns);
    }

    pub fn step(&mut self, at_ns: u64, step: Step, slot: u32) {
        let queue = &mut self.steps[step as usize];
        if step == Step::Issued {
            let later = queue.iter().rev().take_while(|&&(queued_ns, _)| queued_ns > at_ns).count();
            queue.insert(queue.len() - later, (at_ns, slot));
        } else {
            queue.push_back((at_ns, slot));
        }
        self.steps_pending += 1;
        self.next_step_ns = self.next_step_ns.min(at_ns);
        self.next_ns = self.next_ns.min(at_ns);
    }

    /// Removes the steps of a kind.
    pub fn cancel(&mut self, step: Step) {
        self.steps_pending -= self.steps[step as usize].len() as u32;
        self.steps[step as usize].clear();
        self.next_step_ns = self.earliest_step_ns();
        self.next_ns = self.earliest_ns();
    }

    /// The earliest event; of simultaneous ones answers first, then steps.
    #[inline]
    pub fn take(&mut self) -> Option<(u64, Event)> {
        let at_ns = self.next_ns;
        let event = match self.answers.front() {
            Some(&(answer_ns, slot)) if answer_ns == at_ns => {
                self.answers.pop_front();
                Event::Answered(slot)
            }
            _ => self.take_step(at_ns)?,
        };
        self.next_ns = self.earliest_ns();
        Some((at_ns, event))
    }

    fn take_step(&mut self, at_ns: u64) -> Option<Event> {
        let is_due = |step: &Step| self.steps[*step as usize].front().is_some_and(|&(step_ns, _)| step_ns == at_ns);
        let step = STEPS.into_iter().find(is_due)?;
        self.steps_pending -= 1;
        let (_, slot) = self.steps[step as usize].pop_front()?;
        self.next_step_ns = self.earliest_step_ns();
        Some(Event::Step(step, slot))
    }

    #[inline]
    fn earliest_ns(&self) -> u64 {
        self.answers.front().map_or(u64::MAX, |&(answer_ns, _)| answer_ns).min(self.next_step_ns)
    }

    fn earliest_step_ns(&self) -> u64 {
        let steps = self.steps.iter().filter_map(|queue| queue.front()).map(|&(step_ns, _)| step_ns);
        steps.min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a list that is searched for the earliest.
        #[test]
        fn events_come_in_order_of_time_and_kind(actions in prop::collection::vec((0u64..5, 0usize..11), 0..60)) {
            let mut event_queue = EventQueue::new();
            let mut all: Vec<(u64, usize, u32)> = Vec::new();
            let mut latest = [0; 9];
            for (number, (later, kind)) in actions.into_iter().enumerate() {
                let number = number as u32;
                match kind {
                    0..9 => {
                        let at_ns = latest[kind] + later;
                        latest[kind] = at_ns;
                        match kind {
                            0 => event_queue.answer(at_ns, number),
                            step => event_queue.step(at_ns, STEPS[step - 1], number),
                        }
                        all.push((at_ns, kind, number));
                    }
                    9 => {
                        event_queue.cancel(Step::Paced);
                        all.retain(|&(_, kind, _)| kind != 1 + Step::Paced as usize);
                        let next_ns = all.iter().map(|event| event.0).min().unwrap_or(u64::MAX);
                        prop_assert_eq!(event_queue.next_ns(), next_ns);
                    }
                    _ => {
                        let earliest = all.iter().copied().min();
                        prop_assert_eq!(event_queue.next_ns(), earliest.map_or(u64::MAX, |(at_ns, _, _)| at_ns));
                        let taken = event_queue.take().map(|(at_ns, event)| match event {
                            Event::Answered(slot) => (at_ns, 0, slot),
                            Event::Step(step, slot) => (at_ns, 1 + step as usize, slot),
                        });
                        prop_assert_eq!(taken, earliest);
                        all.retain(|event| Some(*event) != earliest);
                    }
                }
                prop_assert_eq!(event_queue.is_serving(), !all.is_empty());
            }
        }
    }
}
