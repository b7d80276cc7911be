//! Is idle time time? A drive with something to do in the background gets all of it, and only that.

use super::drives::{READ_NS, UNIT, drive};
use serde_json::json;
use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::ledger::{Cause, Ledger};
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::specification::{Drive, Job};
use ssdlab_engine::timing::breakdown::Parts;
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::timing::drive::{Idle, TimedDrive};
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::front::Completion;
use ssdlab_engine::timing::host::{Client, Host, Pacing, Plan};
use ssdlab_engine::units::{EraseUnit, Ppn};

const ERASE_NS: u64 = 5_000_000;

/// Reads one page a request, and erases as long as it has erases to do when it is left alone.
#[derive(Default)]
struct Chores {
    decisions: Vec<Decision>,
    ledger: Ledger,
    left: u32,
    asked: u32,
}

impl TimedDrive for Chores {
    fn prefetch(&self, _request: &Request) {}
    fn prefetch_old(&self, _request: &Request) {}
    fn decide(&mut self, _tag: u32, _request: &Request) -> Result<(), ReadOnly> {
        self.decisions.push(Decision::Read(Ppn(0), Cause::Host));
        Ok(())
    }
    fn pad(&mut self, _groups: &[std::ops::Range<u32>]) -> Result<(), ReadOnly> {
        unreachable!("nothing is written")
    }
    fn run_background(&mut self, _now_ns: u64, _idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        self.asked += 1;
        if self.left == 0 {
            return Ok(Idle::NothingBefore(u64::MAX));
        }
        self.left -= 1;
        self.decisions.push(Decision::Erase(EraseUnit(0)));
        Ok(Idle::Decided)
    }
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
    fn take_decisions(&mut self, into: &mut Vec<Decision>) {
        into.clear();
        std::mem::swap(into, &mut self.decisions);
    }
}

#[derive(Default)]
struct Reads {
    left: u64,
    completions: Vec<Completion>,
}

impl Client for Reads {
    fn draw(&mut self, _job: u32, out: &mut Vec<Request>, count_max: usize) {
        let count = self.left.min(count_max as u64);
        self.left -= count;
        let read = Request::new(Operation::Read, 0, UNIT as u32);
        out.extend((0..count).map(|_| read));
    }
    fn is_over(&self, _job: u32, _now_ns: u64) -> bool {
        false
    }
    fn completed(&mut self, completion: Completion, _parts: &Parts) {
        self.completions.push(completion);
    }
}

/// The times of so many reads with pauses of 12 ms between them, on a die that has so many erases to do.
fn reads_beside(chores: u32, reads: u64) -> (Vec<Completion>, Chores) {
    let specification: Drive = serde_json::from_value(drive(1)).unwrap();
    let flash = Flash::new(&specification.nand, UNIT as u32, specification.ftl.erase_unit);
    let mut host = Host::new(flash, 5_000, 0);
    let mut job = serde_json::to_value(Job::default()).unwrap();
    job["think_time_ns"] = json!(12_000_000);
    let pacing = Pacing::of(&serde_json::from_value(job).unwrap());
    let mut drive = Chores { left: chores, ..Chores::default() };
    let mut client = Reads { left: reads, ..Reads::default() };
    let plan = Plan { depth: 1, pacing, ..Plan::default() };
    host.start_all(0, vec![plan], &mut drive, &mut client).unwrap();
    while host.advance(10, &mut drive, &mut client).unwrap() {}
    (client.completions, drive)
}

#[test]
fn background_work_fills_the_pauses_and_a_request_waits_for_one_piece_of_it_at_most() {
    let (completions, drive) = reads_beside(5, 3);
    // Two erases end within a pause of 12 ms, the third holds the next read back for 3 ms.
    let latencies: Vec<u64> = completions.iter().map(|read| read.completed_ns - read.issued_ns).collect();
    assert_eq!(latencies, [READ_NS, READ_NS + 3 * ERASE_NS - 12_000_000, READ_NS]);
    assert_eq!(drive.left, 0);
}

#[test]
fn a_drive_with_nothing_to_do_is_asked_once_a_pause() {
    let (completions, drive) = reads_beside(0, 4);
    let issued: Vec<u64> = completions.iter().map(|read| read.issued_ns).collect();
    assert_eq!(issued, [0, 1, 2, 3].map(|number| number * (READ_NS + 12_000_000)));
    assert_eq!(drive.asked, 4);
}
