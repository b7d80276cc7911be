//! Jobs that write the same zones of a drive: their writes must reach a zone in the order of its write pointer, and a
//! zone may be reset only when no write to it is on its way.
//!
//! fio locks each zone from the choice of a write until its completion. Here a write is submitted as soon as it is
//! chosen, so that writes keep their order by themselves; a job that has chosen a reset holds back all of them until the
//! reset is done. Unlike fio's lock this holds up writes to other zones as well, for one write and one reset.

use crate::request::Operation;

/// A job's own trims of zones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrimTurn {
    /// Whether other jobs write the same zones.
    pub shares_zones: bool,
    /// Whether a trim waits for the outstanding requests, and later ones for it.
    are_alone: bool,
    is_in_progress: bool,
}

impl TrimTurn {
    pub fn new(are_alone: bool, shares_zones: bool) -> Self {
        Self { shares_zones, are_alone, is_in_progress: false }
    }

    pub fn is_in_progress(&self) -> bool {
        self.is_in_progress
    }

    /// Whether the job's next request may be issued now, with so many others on their way.
    pub fn admits(&mut self, is_trim: bool, outstanding: u32) -> bool {
        let waits = self.are_alone && outstanding > 0 && (is_trim || self.is_in_progress);
        if !waits {
            self.is_in_progress = self.are_alone && is_trim;
        }
        !waits
    }

    /// Returns whether the request that has completed is a trim that others waited for.
    pub fn completed(&mut self, operation: Operation) -> bool {
        let ends = self.is_in_progress && operation == Operation::Trim;
        self.is_in_progress &= !ends;
        ends
    }
}

/// The jobs among which it applies are those with `shares_zones`.
#[derive(Debug, Default)]
pub(super) struct ZoneTurn {
    /// The job that has chosen a reset, until it is done.
    held_by: Option<u32>,
    /// Requests of all of these jobs that have not completed.
    outstanding: u32,
}

impl ZoneTurn {
    pub fn is_held_by_another_than(&self, job: u32) -> bool {
        self.held_by.is_some_and(|holder| holder != job)
    }

    pub fn hold(&mut self, job: u32) {
        self.held_by = Some(job);
    }

    pub fn is_held_by(&self, job: u32) -> bool {
        self.held_by == Some(job)
    }

    pub fn release(&mut self, job: u32) {
        self.held_by = self.held_by.filter(|&holder| holder != job);
    }

    pub fn submitted(&mut self) {
        self.outstanding += 1;
    }

    pub fn completed(&mut self) {
        self.outstanding -= 1;
    }

    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// The job whose reset nothing holds up any more.
    pub fn holder_to_go_on(&self) -> Option<u32> {
        self.held_by.filter(|_| self.outstanding == 0)
    }
}
