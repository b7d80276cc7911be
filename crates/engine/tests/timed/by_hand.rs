//! One die, given operations at chosen times, so that every end can be worked out by hand. Compared with it is the
//! same die with an event for every operation, which must agree.

use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::{EraseUnitKind, Nand};
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::timing::flash::Flash;

/// A page is one unit of 4 KiB and crosses the channel at 800 MB/s; a read takes 60 us, a program 700 us, an erase 5
/// ms.
pub const UNIT_NS: u64 = 5_120;

pub struct OneDie {
    flashes: [(Flash, Vec<u64>); 2],
}

impl OneDie {
    pub fn new(change: impl Fn(Nand) -> Nand) -> Self {
        let nand = change(Drive::textbook().nand);
        let flash = || Flash::new(&nand, 4096, EraseUnitKind::Block);
        Self { flashes: [(flash(), Vec::new()), (flash().without_fusing(), Vec::new())] }
    }

    /// Lets time pass until `now` and then decides on something.
    pub fn at(&mut self, now: u64, decisions: &[Decision]) {
        self.run(now);
        for (flash, _) in &mut self.flashes {
            flash.carry_out(now, decisions, 0);
        }
    }

    /// From now on reads suspend nothing, or do again.
    pub fn hold_suspends(&mut self, is_held: bool) {
        self.flashes.iter_mut().for_each(|(flash, _)| flash.hold_suspends(is_held));
    }

    /// When the host heard of each of its units, from the start on.
    pub fn ends(&mut self) -> Vec<u64> {
        self.run(u64::MAX);
        assert_eq!(self.flashes[0].1, self.flashes[1].1, "fused and unfused");
        self.flashes[0].1.clone()
    }

    fn run(&mut self, until_ns: u64) {
        for (flash, ends) in &mut self.flashes {
            while flash.next_event_ns().is_some_and(|next_ns| next_ns < until_ns) {
                flash.run(until_ns, u64::MAX);
                let now = flash.now_ns();
                ends.extend(flash.finished().drain(..).map(|_| now));
            }
        }
    }
}
