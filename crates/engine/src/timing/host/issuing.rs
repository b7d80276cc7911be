//! Whose turn it is: jobs begin, draw their requests, give them to slots when they are due, and end.

use super::account::Account;
use super::pacing::{Pacing, Turn};
use super::way::Way;
use super::{Client, Host, Slot, TimedDrive};
use crate::error::ReadOnly;
use crate::request::{Operation, Request};
use crate::timing::breakdown::Part;

/// Requests drawn at a time. Their map entries are prefetched together, and the old copies that these point at a part of
/// them at a time: the processor looks up many addresses at once in hardly more time than one.
const DRAWN_AT_ONCE: usize = 64;
const PREFETCHED_AT_ONCE: usize = 16;

#[derive(Clone, Debug, Default)]
pub(super) struct Upcoming {
    pub(super) requests: Vec<Request>,
    /// Since the job began; none for requests that are sent as soon as there is a slot.
    pub(super) arrivals_ns: Vec<u64>,
    pub(super) next: usize,
}

/// One job of the stage that is running.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    /// Requests that are drawn and not yet issued.
    pub(super) upcoming: Upcoming,
    pub(super) outstanding: u32,
    pub(super) pacing: Option<Pacing>,
    /// Slots that have nothing to do now: the job has not begun, or is held back.
    pub(super) parked: Vec<u32>,
    /// When it is woken next, if it is; another waking is out of date.
    pub(super) wakes_at_ns: Option<u64>,
    /// It begins at this time, if all that it waits for have ended.
    pub(super) begins_ns: u64,
    pub(super) waits_for: Vec<u32>,
    /// Whether its writes go past a volatile buffer.
    pub(super) has_sync_writes: bool,
    pub(super) has_arrivals: bool,
    pub(super) seeks_depth: bool,
    pub(super) has_begun: bool,
    pub(super) has_ended: bool,
}

impl Host {
    pub(super) fn wake_at(&mut self, at_ns: u64, number: u32) {
        let job = &mut self.jobs[number as usize];
        if job.wakes_at_ns.is_none_or(|pending_ns| at_ns < pending_ns) {
            job.wakes_at_ns = Some(at_ns);
            self.agenda.wake(at_ns, number);
        }
    }

    pub(super) fn begin_if_due<W: Way>(
        &mut self,
        number: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let job = &self.jobs[number as usize];
        if !job.waits_for.is_empty() {
            return Ok(());
        }
        let begins_ns = job.begins_ns;
        if begins_ns > self.now_ns {
            self.wake_at(begins_ns, number);
            return Ok(());
        }
        self.wake::<W>(number, drive, client)
    }

    /// Lets the job's idle slots issue as long as anything is due.
    pub(super) fn wake<W: Way>(
        &mut self,
        number: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let job = &mut self.jobs[number as usize];
        if !job.has_begun {
            job.has_begun = true;
            job.begins_ns = self.now_ns;
            client.started(number, self.now_ns);
            if let Some(pacing) = &mut job.pacing {
                pacing.start(self.now_ns);
            }
        }
        while let Some(slot) = self.jobs[number as usize].parked.pop() {
            if !self.issue::<W>(slot, drive, client)? {
                break;
            }
        }
        Ok(())
    }

    /// Issues the next request of the slot's job, if there is one and it is due; else the slot is parked.
    pub(super) fn issue<W: Way>(
        &mut self,
        slot: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<bool, ReadOnly> {
        let number = self.slots[slot as usize].job;
        if client.is_over(number, self.now_ns) {
            return self.end_if_complete::<W>(number, drive, client);
        }
        let job = &self.jobs[number as usize];
        let mut issued_ns = self.now_ns;
        let turn = if job.seeks_depth && !client.may_issue(number, job.outstanding, self.now_ns) {
            Turn::AfterCompletion
        } else if job.has_arrivals {
            let arrival_ns = self.next_arrival_ns(number, drive, client);
            issued_ns = issued_ns.min(arrival_ns);
            if arrival_ns > self.now_ns { Turn::At(arrival_ns) } else { Turn::Now }
        } else if job.pacing.is_some() {
            self.turn_of(number, drive, client)
        } else {
            Turn::Now
        };
        let request = match turn {
            Turn::Now => {
                let Some(request) = self.next_request(number, drive, client) else {
                    return self.end_if_complete::<W>(number, drive, client);
                };
                self.jobs[number as usize].upcoming.next += 1;
                request
            }
            Turn::FlushFirst => Request::new(Operation::Flush, 0, 0),
            Turn::At(_) | Turn::AfterCompletion => {
                self.jobs[number as usize].parked.push(slot);
                if let Turn::At(at_ns) = turn {
                    self.wake_at(at_ns, number);
                }
                return Ok(false);
            }
        };
        let job = &mut self.jobs[number as usize];
        job.outstanding += 1;
        if let Some(pacing) = &mut job.pacing {
            pacing.issued(&request);
        }
        self.outstanding += 1;
        self.slots[slot as usize] = Slot { request, issued_ns, job: number, units_left: 0 };
        if self.tells_parts::<W>() {
            self.accounts[slot as usize] = Account::since(issued_ns);
            self.accounts[slot as usize].spend(Part::Queueing, self.now_ns);
        }
        self.submit::<W>(slot, drive, client)?;
        Ok(true)
    }

    /// Now, too, where the job has no more requests and nothing holds it back from its end.
    fn turn_of(&mut self, number: u32, drive: &dyn TimedDrive, client: &mut dyn Client) -> Turn {
        let next = self.next_request(number, drive, client);
        match (&mut self.jobs[number as usize].pacing, next) {
            (Some(pacing), Some(request)) => pacing.turn(&request, self.now_ns),
            (Some(pacing), None) => pacing.turn_to_end(self.now_ns),
            _ => Turn::Now,
        }
    }

    /// When the job's next request arrives; now, if there is none.
    fn next_arrival_ns(&mut self, number: u32, drive: &dyn TimedDrive, client: &mut dyn Client) -> u64 {
        self.next_request(number, drive, client);
        let job = &self.jobs[number as usize];
        let arrival_ns = job.upcoming.arrivals_ns.get(job.upcoming.next);
        arrival_ns.map_or(self.now_ns, |arrival_ns| job.begins_ns + arrival_ns)
    }

    /// The slot has nothing more to do; the last one of a job ends it, and those that waited for it begin.
    fn end_if_complete<W: Way>(
        &mut self,
        number: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<bool, ReadOnly> {
        let job = &mut self.jobs[number as usize];
        if job.outstanding > 0 || std::mem::replace(&mut job.has_ended, true) {
            return Ok(false);
        }
        // What came after its last request, such as padding, is its own.
        client.executed(number, drive.ledger());
        client.ended(number, self.now_ns);
        for other in 0..self.jobs.len() {
            let waits_for = &mut self.jobs[other].waits_for;
            let waited = waits_for.len();
            waits_for.retain(|&waited_for| waited_for != number);
            if waits_for.is_empty() && waited > 0 {
                self.begin_if_due::<W>(other as u32, drive, client)?;
            }
        }
        Ok(false)
    }

    /// Of the requests that a job has drawn and not yet issued, keeps the first so many at most. Returns how many are kept,
    /// and how many there were.
    pub fn keep_upcoming(&mut self, job: u32, count_max: u64) -> (u64, u64) {
        let Some(job) = self.jobs.get_mut(job as usize) else { return (0, 0) };
        let upcoming = &mut job.upcoming;
        let count = (upcoming.requests.len() - upcoming.next) as u64;
        let kept = count.min(count_max);
        upcoming.requests.truncate(upcoming.next + kept as usize);
        (kept, count)
    }

    /// Requests that a job has drawn and not yet issued.
    pub fn upcoming(&self, job: u32) -> u64 {
        self.jobs.get(job as usize).map_or(0, |job| (job.upcoming.requests.len() - job.upcoming.next) as u64)
    }

    /// The job's next request, which is not yet taken.
    #[inline]
    fn next_request(&mut self, job: u32, drive: &dyn TimedDrive, client: &mut dyn Client) -> Option<Request> {
        let has_arrivals = self.jobs[job as usize].has_arrivals;
        let upcoming = &mut self.jobs[job as usize].upcoming;
        if upcoming.next == upcoming.requests.len() {
            upcoming.requests.clear();
            upcoming.next = 0;
            if has_arrivals {
                upcoming.arrivals_ns.clear();
                client.draw_arrivals(job, &mut upcoming.requests, &mut upcoming.arrivals_ns, DRAWN_AT_ONCE);
            } else {
                client.draw(job, &mut upcoming.requests, DRAWN_AT_ONCE);
            }
            upcoming.requests.iter().for_each(|request| drive.prefetch(request));
            upcoming.requests.iter().take(PREFETCHED_AT_ONCE).for_each(|request| drive.prefetch_old(request));
        }
        if upcoming.next.is_multiple_of(PREFETCHED_AT_ONCE) {
            let later = upcoming.requests.iter().skip(upcoming.next + PREFETCHED_AT_ONCE);
            later.take(PREFETCHED_AT_ONCE).for_each(|request| drive.prefetch_old(request));
        }
        upcoming.requests.get(upcoming.next).copied()
    }
}
