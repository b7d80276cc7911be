//! Does a queue at real pace say when something may complete, whenever its owner asks?

use crate::tiny::{Tiny, UNIT};
use ssdlab_blockdev::device::{Device, Durability};
use ssdlab_blockdev::drive::{Options, Pace, SimulatedDevice, SimulatedQueue};
use ssdlab_blockdev::queue::{Asked, Queue};
use std::sync::Arc;
use std::time::Instant;

/// A regression: the next event was that of the last look at what had completed, which was none for requests that
/// arrived together at an idle drive. Their first answers waited until the last of them was submitted.
#[test]
fn requests_that_are_submitted_together_do_not_hide_what_completes_meanwhile() {
    let options = Options { pace: Pace::Real, ..Options::default() };
    let device = Arc::new(SimulatedDevice::new(&Tiny::default().drive(), &options).unwrap());
    for unit in 0..64 {
        device.write(unit * UNIT, &[1; UNIT as usize], Durability::Durable).unwrap();
    }
    let mut queue: Box<dyn Queue> = Box::new(SimulatedQueue::new(device));
    assert_eq!(queue.next_event(), None);
    let (mut submitted, mut into) = (0, [0; UNIT as usize]);
    let mut submit = |queue: &mut Box<dyn Queue>| {
        queue.submit(submitted, Asked::Read { offset_bytes: submitted % 64 * UNIT, into: &mut into });
        submitted += 1;
    };
    submit(&mut queue);
    let first = queue.next_event().expect("a read is in flight");
    while Instant::now() < first {
        submit(&mut queue);
    }
    // The drive's time passes the event.
    submit(&mut queue);
    assert!(queue.is_due());
    let mut completed = Vec::new();
    while queue.next_event().is_some() {
        queue.completed(&mut completed);
    }
    let mut tags: Vec<u64> = completed.iter().map(|(tag, _)| *tag).collect();
    tags.sort_unstable();
    assert_eq!(tags, (0..submitted).collect::<Vec<_>>());
    assert!(completed.iter().all(|(_, outcome)| outcome.is_ok()));
}
