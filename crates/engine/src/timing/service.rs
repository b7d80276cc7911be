//! How the time of an operation of the host was spent, from when it was queued at its die until its end.

use super::dies::{Die, Dies, Phase};
use super::flash::Flash;
use super::kind::Kind;
use super::operation::{Operation, Work};
use std::hint::select_unpredictable;

/// What is left of the time since `queued_ns` went to other operations of the host on the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// Of a read 0: it is queued as soon as anybody waits for it.
    pub queued_ns: u64,
    /// Whether the last that a program waited for before were units that cleaning moves.
    pub is_held_by_copies: bool,
    pub ended_ns: u64,
    /// In the array, for itself.
    pub array_ns: u64,
    /// Waiting for its channel and using it.
    pub channel_ns: u64,
    /// Waiting while the die was at the drive's own work.
    pub cleaning_ns: u64,
}

/// When a group of units that the host waits for was ready to be programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    pub at_ns: u64,
    /// How long the die had been at the drive's own work by then.
    pub own_work_ns: u64,
    pub is_held_by_copies: bool,
}

/// What is known of an operation at its end; what it means is found out only where somebody waits for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    pub operation: Operation,
    pub die: usize,
    pub started_ns: u64,
    /// Of a read, how long the die had been at the drive's own work when it was queued.
    pub own_work_then_ns: u64,
}

impl Dies {
    /// How long a die has been at the drive's own work until now.
    #[inline(always)]
    pub fn own_work_ns<K: Kind>(&self, now: u64, index: usize) -> u64 {
        if K::HAS_EXTRAS
            && let Some(pipelines) = &self.pipelines
        {
            return pipelines.own_work_ns(now, index);
        }
        let die = &self.dies[index];
        if K::HAS_EXTRAS && die.phase > Phase::LastPart {
            return die.own_work_suspended_ns(now);
        }
        let is_at_work = die.phase != Phase::Idle;
        let is_of_host = die.current.is_of_host() & (die.phase != Phase::Quiet);
        // Nobody can foretell what a die is at.
        let ends_ns = select_unpredictable(is_of_host, self.host_from_ns::<K>(die), die.end_ns);
        let own_ns = now.min(ends_ns).wrapping_sub(die.started_ns);
        die.busy_ns - die.host_ns + select_unpredictable(is_at_work, own_ns, 0)
    }

    /// When the host's operation that a die is at, or that has just ended, was started: the last of a chain, where nobody
    /// can come between, or the only one.
    #[inline(always)]
    fn host_from_ns<K: Kind>(&self, die: &Die) -> u64 {
        // What is left of one that was suspended is a chain of its own, from the end of the last read between.
        let is_fused = K::IS_FUSED.unwrap_or(self.is_fused);
        let is_one_of_chain = is_fused & (!K::HAS_EXTRAS | (die.started_ns != die.read_started_ns));
        if is_one_of_chain { die.end_ns.wrapping_sub(self.costs.duration_ns(die.current)) } else { die.started_ns }
    }

    /// Counts the host's operation that has just ended.
    #[inline(always)]
    pub fn end_of_host<K: Kind>(&mut self, now: u64, index: usize, operation: Operation) -> Ended {
        if K::HAS_EXTRAS
            && let Some(pipelines) = &self.pipelines
        {
            return pipelines.end_of_host(now, self.die_of_event(index), self.costs.array_ns(operation));
        }
        if K::HAS_EXTRAS && self.dies[index].phase == Phase::Suspended {
            return self.dies[index].end_of_read_between(now, index);
        }
        let started_ns = self.host_from_ns::<K>(&self.dies[index]);
        let die = &mut self.dies[index];
        die.host_ns += now - started_ns;
        Ended { operation: die.current, die: index, started_ns, own_work_then_ns: die.own_work_then_ns }
    }

    /// How the time of the host's operation that ended now was spent. The die has come to no other end since.
    #[inline(always)]
    pub fn service(&self, now: u64, ended: &Ended, queued: Queued) -> Service {
        let array_ns = self.costs.array_ns(ended.operation);
        let die = &self.dies[ended.die];
        let own_work_ns = match &self.pipelines {
            None => die.busy_ns - die.host_ns,
            Some(pipelines) => pipelines.own_work_ns(now, ended.die),
        };
        // What has been suspended has spent most of its time before; its suspensions are reads of others.
        let channel_ns = (now - ended.started_ns).checked_sub(array_ns);
        Service {
            queued_ns: queued.at_ns,
            is_held_by_copies: queued.is_held_by_copies,
            ended_ns: now,
            array_ns,
            channel_ns: channel_ns.unwrap_or_else(|| self.costs.transfer_ns(ended.operation)),
            cleaning_ns: own_work_ns - queued.own_work_ns,
        }
    }
}

impl Flash {
    /// How the time of the last operation that brought something into `finished` was spent.
    /// To be asked before more is carried out.
    #[inline(always)]
    pub fn service(&self) -> Service {
        let queued = if self.ended.operation.work() == Work::Program {
            self.groups.queued(self.ended.operation.target())
        } else {
            Queued { own_work_ns: self.ended.own_work_then_ns, ..Queued::default() }
        };
        self.dies.service(self.now_ns, &self.ended, queued)
    }
}
