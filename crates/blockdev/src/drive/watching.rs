//! A served drive as someone sees it who watches: the figures and pictures that a simulated run gives while it goes on.

use super::core::Core;
use ssdlab_engine::ftl::picture::{CellsBy, Close, Marks, Pictured};
use ssdlab_engine::request::Operation;
use ssdlab_engine::simulation::live::figures::{ClockLook, Figures, Look, Seen};

impl Core {
    /// How the drive is, and what it has done since the last call, with all that the host has its answer
    /// of. From the first look on it notes what moves.
    pub fn figures(&mut self) -> Figures {
        self.bring_in_answered();
        self.devices.note();
        let look = self.look();
        let mut seen = match self.seen.take() {
            Some(seen) => seen,
            None => self.begin_to_watch(),
        };
        let figures = seen.figures(self.whole(), look, None);
        self.seen = Some(seen);
        figures
    }

    pub fn cells(&self, by: CellsBy, out: &mut Vec<u8>) {
        self.whole().cells(by, out);
    }

    pub fn marks(&mut self) -> Marks {
        self.devices.observe();
        self.devices.marks()
    }

    pub fn close_up(&self, erase_unit: u32) -> Option<Close> {
        self.whole().close_up(erase_unit)
    }

    fn begin_to_watch(&mut self) -> Box<Seen> {
        self.devices.observe();
        Box::new(Seen::new(self.whole(), &self.look()))
    }

    /// Counts start again: with a phase, or after a loss of power, when another translation layer has taken up the
    /// drive and erases may have been undone.
    pub(super) fn watch_anew(&mut self) {
        if let Some(mut seen) = self.seen.take() {
            self.devices.observe();
            self.devices.note();
            seen.begin_anew(self.whole(), self.look());
            self.seen = Some(seen);
        }
    }

    fn look(&self) -> Look {
        let of = |operation: Operation| self.served.latencies.of(operation);
        Look {
            completed: [Operation::Read, Operation::Write, Operation::Trim].map(|operation| of(operation).count()),
            clock: Some(ClockLook {
                now_ns: self.now_ns(),
                die_utilization: self.die_utilization(),
                reads: of(Operation::Read).clone(),
                writes: of(Operation::Write).clone(),
            }),
        }
    }
}
