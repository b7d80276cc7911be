//! The time at which the next of the waiting writes is admitted, and whether an event is pending for it.

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NextAdmission {
    pub at_ns: u64,
    is_due: bool,
}

impl NextAdmission {
    pub fn has_come_by(&self, now: u64) -> bool {
        now >= self.at_ns
    }

    /// The time, unless it was already reported, or has come: then the writes wait for room.
    pub fn report(&mut self, now: u64) -> Option<u64> {
        if self.is_due || self.has_come_by(now) {
            return None;
        }
        self.is_due = true;
        Some(self.at_ns)
    }

    /// Whether the time was reported, and has not come.
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// Called at the reported time.
    pub fn has_come(&mut self) {
        self.is_due = false;
    }

    /// The next write is admitted now.
    pub fn hurry(&mut self, now: u64) {
        *self = Self { at_ns: self.at_ns.min(now), is_due: false };
    }
}
