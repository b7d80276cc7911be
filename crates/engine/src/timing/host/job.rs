//! A job of the current stage: its drawn requests, the number outstanding, and what it waits for.

use super::pacing::{Pacing, Plan};
use super::zone_turn::TrimTurn;
use crate::request::Request;

/// Requests drawn and not yet issued.
#[derive(Clone, Debug, Default)]
pub(super) struct Upcoming {
    pub requests: Vec<Request>,
    /// Since the job began; empty for requests that are issued as soon as possible.
    pub arrivals_ns: Vec<u64>,
    pub next: usize,
}

impl Upcoming {
    pub fn count(&self) -> u64 {
        (self.requests.len() - self.next) as u64
    }

    /// See `Host::keep_upcoming`.
    pub fn keep(&mut self, count_max: u64) -> (u64, u64) {
        let count = self.count();
        let kept = count.min(count_max);
        self.requests.truncate(self.next + kept as usize);
        (kept, count)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Waits,
    Runs,
    Ended,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub upcoming: Upcoming,
    pub outstanding: u32,
    /// Unused places of its depth: the job has not begun, or is held back.
    pub parked: u32,
    pub state: State,
    pub pacing: Option<Pacing>,
    /// When it begins, if all jobs that it waits for have ended.
    pub begins_ns: u64,
    pub waits_for: Vec<u32>,
    /// When it is woken next, if at all; any other wake-up is outdated.
    pub wakes_at_ns: Option<u64>,
    /// Whether its writes bypass a volatile buffer.
    pub has_sync_writes: bool,
    /// Whether a flush is to follow its last request.
    pub flushes_at_end: bool,
    pub host_ns: u32,
    pub has_arrivals: bool,
    pub seeks_depth: bool,
    pub trims: TrimTurn,
    /// Whether it has none of these features and no pacing, so that its next request is always due.
    pub is_plain: bool,
}

impl Job {
    pub fn new(plan: Plan, now_ns: u64) -> Self {
        let Plan {
            depth,
            start_delay_ns,
            waits_for,
            has_sync_writes,
            flushes_at_end,
            host_ns,
            has_arrivals,
            seeks_depth,
            has_trims_alone,
            shares_zones,
            pacing,
        } = plan;
        let is_delayed = has_arrivals || seeks_depth || has_trims_alone || shares_zones || pacing.is_some();
        Self {
            is_plain: !is_delayed && !has_sync_writes && !flushes_at_end && host_ns == 0,
            parked: depth.max(1),
            pacing,
            begins_ns: now_ns + start_delay_ns,
            waits_for,
            has_sync_writes,
            flushes_at_end,
            host_ns,
            has_arrivals,
            seeks_depth,
            trims: TrimTurn::new(has_trims_alone, shares_zones),
            ..Self::default()
        }
    }
}
