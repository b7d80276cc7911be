//! Observation of a served drive: the same figures and pictures as of a live simulated run.

use super::core::Core;
use super::recording::Event;
use ssdlab_engine::ftl::picture::{CellsBy, Close, Marks, Pictured};
use ssdlab_engine::request::Operation;
use ssdlab_engine::simulation::live::figures::{ClockLook, Figures, Look, Seen};

impl Core {
    /// The figures of the drive, and the changes since the last call, including everything reported to the host as
    /// complete. From the first call on, moves are recorded.
    pub fn figures(&mut self) -> Figures {
        self.note_asked(Event::Looked);
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

    /// See [`ssdlab_engine::ftl::picture::Pictured::cells`].
    pub fn cells(&self, by: CellsBy, out: &mut Vec<u8>) {
        self.whole().cells(by, out);
    }

    /// See [`ssdlab_engine::ftl::picture::Pictured::marks`].
    pub fn marks(&mut self) -> Marks {
        self.devices.observe();
        self.devices.marks()
    }

    /// See [`ssdlab_engine::ftl::picture::Pictured::close_up`].
    pub fn close_up(&self, erase_unit: u32) -> Option<Close> {
        self.whole().close_up(erase_unit)
    }

    fn begin_to_watch(&mut self) -> Box<Seen> {
        self.devices.observe();
        Box::new(Seen::new(self.whole(), &self.look()))
    }

    /// Counts restart: with a phase, or after a loss of power, when there is a new translation layer and erases may
    /// have been undone.
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
