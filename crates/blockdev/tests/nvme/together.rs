//! Is what completes within moments sent together? A send takes longer than the moments.

use crate::initiator::{Entry, Host};
use ssdlab_blockdev::device::{Capabilities, Device};
use ssdlab_blockdev::null::Null;
use ssdlab_blockdev::nvme::{Health, Identity, Namespace, Presented, serve};
use ssdlab_blockdev::queue::{Asked, Completed, Queue};
use std::net::TcpStream;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

const SIZE_BYTES: u64 = 1 << 20;

/// Two requests, of which the second completes when the queue is asked again.
struct Pair {
    tags: Vec<u64>,
    next_event: Option<Instant>,
    client: Arc<OnceLock<TcpStream>>,
    /// Whether the client had an answer by then.
    was_answered: Sender<bool>,
}

impl Queue for Pair {
    fn capabilities(&self) -> Capabilities {
        Null::new(SIZE_BYTES, 4096).capabilities()
    }

    fn submit(&mut self, tag: u64, _asked: Asked<'_>) {
        self.tags.push(tag);
    }

    fn completed(&mut self, into: &mut Vec<Completed>) {
        if self.tags.len() == 2 {
            self.next_event = Some(Instant::now());
        } else if self.next_event.take().is_some() {
            let client = self.client.get().unwrap();
            client.set_nonblocking(true).unwrap();
            let was_answered = client.peek(&mut [0]).is_ok();
            client.set_nonblocking(false).unwrap();
            self.was_answered.send(was_answered).unwrap();
        } else {
            return;
        }
        into.push((self.tags.remove(0), Ok(0)));
    }

    fn next_event(&self) -> Option<Instant> {
        self.next_event
    }

    fn power_cycles(&self) -> u64 {
        0
    }
}

#[test]
fn an_answer_waits_for_one_that_is_about_to_follow() {
    let (client, (was_answered, seen)) = (Arc::new(OnceLock::new()), channel());
    let pair = Pair { tags: Vec::new(), next_event: None, client: client.clone(), was_answered };
    let presented = Presented {
        identity: Identity { model: "pair".to_owned(), unique: [5; 16] },
        namespaces: vec![Namespace { start_bytes: 0, size_bytes: SIZE_BYTES, handles: Vec::new() }],
        placement: None,
        zones: None,
        figures: Box::new(|| Ok(Health::default())),
    };
    let server = serve(Box::new(pair), presented, ("127.0.0.1", 0)).unwrap();
    let admin = Host::admin(&server, 0).unwrap();
    let mut queue = admin.queue(&server, 1, 0).unwrap();
    client.set(queue.stream.try_clone().unwrap()).unwrap();
    for _ in 0..2 {
        queue.send(Entry::new(0, 1), &[], 0).unwrap();
    }
    assert!(!seen.recv().unwrap(), "the first answer was sent alone");
    for _ in 0..2 {
        assert_eq!(queue.receive().unwrap().status, 0);
    }
}
