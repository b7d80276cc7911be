//! A served drive as someone sees it who watches: the figures and pictures that a simulated run gives while it goes on.

use super::clock::Kind;
use super::core::Core;
use ssdlab_engine::ftl::picture::{CellsBy, Close, Marks};
use ssdlab_engine::simulation::live::figures::{ClockLook, Figures, Look, Seen};

impl Core {
    /// How the drive is, and what it has done since the last call. From the first look on it notes what moves.
    pub fn figures(&mut self) -> Figures {
        let look = self.look();
        let mut seen = match self.seen.take() {
            Some(seen) => seen,
            None => self.begin_to_watch(),
        };
        let figures = seen.figures(&*self.ftl, look, None);
        self.seen = Some(seen);
        figures
    }

    pub fn cells(&self, by: CellsBy, out: &mut Vec<u8>) {
        self.ftl.cells(by, out);
    }

    pub fn marks(&mut self) -> Marks {
        self.ftl.observe();
        self.ftl.marks()
    }

    pub fn close_up(&self, erase_unit: u32) -> Option<Close> {
        self.ftl.close_up(erase_unit)
    }

    fn begin_to_watch(&mut self) -> Box<Seen> {
        self.ftl.observe();
        Box::new(Seen::new(&*self.ftl, &self.look()))
    }

    /// What is counted begins anew: with a phase, or after a loss of power, when another translation layer has taken up the
    /// drive and erases may have been undone.
    pub(super) fn watch_anew(&mut self) {
        if let Some(mut seen) = self.seen.take() {
            self.ftl.observe();
            seen.begin_anew(&*self.ftl, self.look());
            self.seen = Some(seen);
        }
    }

    fn look(&self) -> Look {
        let latencies = self.clock().latencies();
        let of = |kind: Kind| &latencies[kind as usize];
        let now_ns = self.clock().now_ns();
        Look {
            completed: [Kind::Read, Kind::Write, Kind::Trim].map(|kind| of(kind).count()),
            clock: Some(ClockLook {
                now_ns,
                die_utilization: self.clock().utilization(now_ns),
                reads: of(Kind::Read).clone(),
                writes: of(Kind::Write).clone(),
            }),
        }
    }
}
