//! Scheduling of jobs: they begin, draw their requests, submit them to the front when they are due, and end.

use super::Client;
use super::job::{Job, State};
use super::pacing::{Plan, Turn};
use super::zone_turn::ZoneTurn;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::request::{Operation, Request};
use crate::timing::breakdown::Parts;
use crate::timing::front::{Completion, Intake, Requester, Submission};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests drawn at a time. Their map entries are prefetched together, and then the old copies that these point to,
/// some at a time: the processor overlaps many cache misses.
const DRAWN_AT_ONCE: usize = 64;
const PREFETCHED_AT_ONCE: usize = 16;

/// The jobs of a stage, and when each is woken.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    jobs: Vec<Job>,
    zones: ZoneTurn,
    wakings: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Schedule {
    pub fn add(&mut self, first: u32, plans: Vec<Plan>, now_ns: u64) {
        let end = first as usize + plans.len();
        if self.jobs.len() < end {
            self.jobs.resize_with(end, Job::default);
        }
        for (job, plan) in self.jobs[first as usize..].iter_mut().zip(plans) {
            *job = Job::new(plan, now_ns);
        }
    }

    pub fn clear(&mut self) {
        self.jobs.clear();
    }

    pub fn job(&self, number: u32) -> Option<&Job> {
        self.jobs.get(number as usize)
    }

    pub fn job_mut(&mut self, number: u32) -> Option<&mut Job> {
        self.jobs.get_mut(number as usize)
    }

    /// When the next job is woken; the end of time if there is none.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        self.wakings.peek().map_or(u64::MAX, |&Reverse((at_ns, _))| at_ns)
    }

    fn wake_at(&mut self, at_ns: u64, number: u32) {
        let job = &mut self.jobs[number as usize];
        if job.wakes_at_ns.is_none_or(|pending_ns| at_ns < pending_ns) {
            job.wakes_at_ns = Some(at_ns);
            self.wakings.push(Reverse((at_ns, number)));
        }
    }
}

/// The running jobs, which submit requests to the front and are informed of their completion.
pub(super) struct Issuing<'a> {
    pub schedule: &'a mut Schedule,
    pub client: &'a mut dyn Client,
}

impl<F: Intake> Requester<F> for Issuing<'_> {
    #[inline]
    fn executed(&mut self, number: u32, now_ns: u64, ledger: &Ledger) {
        self.client.executed(number, now_ns, ledger);
    }

    #[inline]
    fn completed(
        &mut self,
        completion: Completion,
        parts: &Parts,
        front: &mut F,
        drives: &mut F::Drives<'_>,
    ) -> Result<(), ReadOnly> {
        let Completion { tag: number, operation, completed_ns, .. } = completion;
        self.client.completed(completion, parts);
        let job = self.job(number);
        job.outstanding -= 1;
        if job.is_plain {
            return self.issue_plain(number, front, drives).map(|_| ());
        }
        let trim_ends = job.trims.completed(operation);
        let shares_zones = job.trims.shares_zones;
        if shares_zones {
            self.schedule.zones.completed();
            if trim_ends {
                self.schedule.zones.release(number);
            }
        }
        let job = self.job(number);
        if let Some(pacing) = &mut job.pacing
            && let Some(goes_on_ns) = pacing.completed(operation, completed_ns, job.outstanding)
        {
            self.schedule.wake_at(goes_on_ns, number);
        }
        self.issue(number, front, drives)?;
        // Continues what a flush or a trim held back, or what a larger depth allows.
        let frees_others = operation == Operation::Flush || trim_ends || self.job(number).seeks_depth;
        if frees_others {
            self.wake(number, front, drives)?;
        }
        if shares_zones { self.wake_sharers(trim_ends, front, drives) } else { Ok(()) }
    }
}

impl Issuing<'_> {
    #[inline(always)]
    fn job(&mut self, number: u32) -> &mut Job {
        &mut self.schedule.jobs[number as usize]
    }

    pub fn begin_if_due<F: Intake>(
        &mut self,
        number: u32,
        front: &mut F,
        drives: &mut F::Drives<'_>,
    ) -> Result<(), ReadOnly> {
        let job = self.job(number);
        if !job.waits_for.is_empty() {
            return Ok(());
        }
        let begins_ns = job.begins_ns;
        if begins_ns > front.now_ns() {
            self.schedule.wake_at(begins_ns, number);
            return Ok(());
        }
        self.wake(number, front, drives)
    }

    /// The next wake-up is due; an outdated one only advances the time.
    pub fn wake_next<F: Intake>(&mut self, front: &mut F, drives: &mut F::Drives<'_>) -> Result<(), ReadOnly> {
        let next = self.schedule.wakings.pop();
        let Reverse((at_ns, number)) = next.expect("its time is known");
        front.come_to(at_ns);
        if self.job(number).wakes_at_ns != Some(at_ns) {
            return Ok(());
        }
        self.job(number).wakes_at_ns = None;
        self.wake(number, front, drives)
    }

    /// Lets the job issue requests while any is due.
    fn wake<F: Intake>(&mut self, number: u32, front: &mut F, drives: &mut F::Drives<'_>) -> Result<(), ReadOnly> {
        let now_ns = front.now_ns();
        let job = self.job(number);
        if job.state == State::Waits {
            job.state = State::Runs;
            job.begins_ns = now_ns;
            if let Some(pacing) = &mut job.pacing {
                pacing.start(now_ns);
            }
            self.client.started(number, now_ns);
        }
        while self.job(number).parked > 0 {
            self.job(number).parked -= 1;
            if !self.issue(number, front, drives)? {
                break;
            }
        }
        Ok(())
    }

    /// Issues the next request of a job, if there is one and it is due; otherwise parks one place of its depth.
    #[inline]
    fn issue<F: Intake>(&mut self, number: u32, front: &mut F, drives: &mut F::Drives<'_>) -> Result<bool, ReadOnly> {
        let now_ns = front.now_ns();
        let shares_zones = self.job(number).trims.shares_zones;
        // A chosen reset is carried out, since the other jobs rely on it.
        let resets = shares_zones && self.schedule.zones.is_held_by(number);
        if self.client.is_over(number, now_ns) && !resets {
            return self.end_if_complete(number, front, drives);
        }
        if shares_zones && self.schedule.zones.is_held_by_another_than(number) {
            self.job(number).parked += 1;
            return Ok(false);
        }
        let mut issued_ns = now_ns;
        let request = match self.turn_of(number, &mut issued_ns, front, drives) {
            Turn::Now => {
                let Some(&request) = self.next_request(number, front, drives) else {
                    // A job that is ended early may have lost its reset.
                    if resets && !self.job(number).trims.is_in_progress() {
                        self.schedule.zones.release(number);
                        self.wake_sharers(true, front, drives)?;
                    }
                    return self.end_if_complete(number, front, drives);
                };
                let Schedule { jobs, zones, .. } = &mut *self.schedule;
                let job = &mut jobs[number as usize];
                let is_trim = request.operation == Operation::Trim;
                if shares_zones && is_trim {
                    zones.hold(number);
                }
                if !job.trims.admits(is_trim, if shares_zones { zones.outstanding() } else { job.outstanding }) {
                    job.parked += 1;
                    return Ok(false);
                }
                job.upcoming.next += 1;
                request
            }
            Turn::FlushFirst => Request::new(Operation::Flush, 0, 0),
            turn @ (Turn::At(_) | Turn::AfterCompletion) => {
                self.job(number).parked += 1;
                if let Turn::At(at_ns) = turn {
                    self.schedule.wake_at(at_ns, number);
                }
                return Ok(false);
            }
        };
        if shares_zones {
            self.schedule.zones.submitted();
        }
        let job = self.job(number);
        job.outstanding += 1;
        if let Some(pacing) = &mut job.pacing {
            pacing.issued(&request);
        }
        self.submit(number, request, issued_ns, front, drives)?;
        Ok(true)
    }

    fn submit<F: Intake>(
        &mut self,
        number: u32,
        request: Request,
        issued_ns: u64,
        front: &mut F,
        drives: &mut F::Drives<'_>,
    ) -> Result<(), ReadOnly> {
        let &mut Job { has_sync_writes, host_ns, .. } = self.job(number);
        let request = Request { is_through: has_sync_writes || request.is_through, ..request };
        front.submit(Submission { request, issued_ns, tag: number, host_ns }, drives, self)
    }

    /// The same for a plain job, whose next request is always due.
    #[inline(always)]
    fn issue_plain<F: Intake>(
        &mut self,
        number: u32,
        front: &mut F,
        drives: &mut F::Drives<'_>,
    ) -> Result<bool, ReadOnly> {
        let now_ns = front.now_ns();
        if self.client.is_over(number, now_ns) {
            return self.end_if_complete(number, front, drives);
        }
        let Some(&request) = self.next_request(number, front, drives) else {
            return self.end_if_complete(number, front, drives);
        };
        let job = self.job(number);
        job.upcoming.next += 1;
        job.outstanding += 1;
        let submission = Submission { request, issued_ns: now_ns, tag: number, host_ns: 0 };
        front.submit(submission, drives, self)?;
        Ok(true)
    }

    /// Lets jobs go on that share zones: the one whose reset waited for the others' requests, or the others after it.
    fn wake_sharers<F: Intake>(
        &mut self,
        is_released: bool,
        front: &mut F,
        drives: &mut F::Drives<'_>,
    ) -> Result<(), ReadOnly> {
        if let Some(holder) = self.schedule.zones.holder_to_go_on() {
            return self.wake(holder, front, drives);
        }
        if !is_released {
            return Ok(());
        }
        for number in 0..self.schedule.jobs.len() as u32 {
            let job = self.job(number);
            if job.trims.shares_zones && job.state == State::Runs && job.parked > 0 {
                self.wake(number, front, drives)?;
            }
        }
        Ok(())
    }

    /// Whether a job may issue; `issued_ns` is set to the arrival time of its next request.
    #[inline]
    fn turn_of<F: Intake>(&mut self, number: u32, issued_ns: &mut u64, front: &F, drives: &F::Drives<'_>) -> Turn {
        let now_ns = *issued_ns;
        let job = &self.schedule.jobs[number as usize];
        if job.seeks_depth && !self.client.may_issue(number, job.outstanding, now_ns) {
            return Turn::AfterCompletion;
        }
        if job.has_arrivals {
            let arrival_ns = self.next_arrival_ns(number, front, drives);
            *issued_ns = now_ns.min(arrival_ns);
            return if arrival_ns > now_ns { Turn::At(arrival_ns) } else { Turn::Now };
        }
        if job.pacing.is_some() { self.turn_by_pacing(number, front, drives) } else { Turn::Now }
    }

    /// Now, also if the job has no further requests and nothing delays its end.
    fn turn_by_pacing<F: Intake>(&mut self, number: u32, front: &F, drives: &F::Drives<'_>) -> Turn {
        let now_ns = front.now_ns();
        if let Some(pacing) = &mut self.job(number).pacing
            && let Some(direction) = pacing.direction(now_ns)
        {
            // A drawn request will be issued: the direction may be another one when the job is woken.
            match pacing.turn(direction, now_ns) {
                Turn::Now => self.draw_one(number, direction, front, drives),
                turn => return turn,
            }
        }
        let next = self.next_request(number, front, drives).copied();
        match (&mut self.job(number).pacing, next) {
            (Some(pacing), Some(request)) => pacing.turn(request.operation, now_ns),
            (Some(pacing), None) => pacing.turn_to_end(now_ns),
            _ => Turn::Now,
        }
    }

    /// Draws the next request of a job whose pacing chooses the direction.
    fn draw_one<F: Intake>(&mut self, number: u32, direction: Operation, front: &F, drives: &F::Drives<'_>) {
        let upcoming = &mut self.schedule.jobs[number as usize].upcoming;
        if upcoming.next == upcoming.requests.len() {
            upcoming.requests.clear();
            upcoming.next = 0;
            self.client.draw_one(number, direction, &mut upcoming.requests);
            upcoming.requests.iter().for_each(|request| front.prefetch(request, drives));
        }
    }

    /// When the job's next request arrives; now, if there is none.
    fn next_arrival_ns<F: Intake>(&mut self, number: u32, front: &F, drives: &F::Drives<'_>) -> u64 {
        self.next_request(number, front, drives);
        let job = self.job(number);
        let arrival_ns = job.upcoming.arrivals_ns.get(job.upcoming.next);
        arrival_ns.map_or(front.now_ns(), |arrival_ns| job.begins_ns + arrival_ns)
    }

    /// One place of the job's depth is finished; the last one ends the job, and jobs that waited for it begin.
    fn end_if_complete<F: Intake>(
        &mut self,
        number: u32,
        front: &mut F,
        drives: &mut F::Drives<'_>,
    ) -> Result<bool, ReadOnly> {
        let job = self.job(number);
        if job.outstanding == 0 && job.state == State::Runs && std::mem::take(&mut job.flushes_at_end) {
            job.outstanding += 1;
            self.submit(number, Request::new(Operation::Flush, 0, 0), front.now_ns(), front, drives)?;
            return Ok(false);
        }
        let job = self.job(number);
        if job.outstanding > 0 || std::mem::replace(&mut job.state, State::Ended) == State::Ended {
            return Ok(false);
        }
        // What follows its last request, such as padding, belongs to the job.
        self.client.executed(number, front.now_ns(), front.ledger(drives));
        self.client.ended(number, front.now_ns());
        for other in 0..self.schedule.jobs.len() as u32 {
            let waits_for = &mut self.job(other).waits_for;
            let waited = waits_for.len();
            waits_for.retain(|&waited_for| waited_for != number);
            if waits_for.is_empty() && waited > 0 {
                self.begin_if_due(other, front, drives)?;
            }
        }
        Ok(false)
    }

    /// The job's next request, which is not consumed. By reference, so that it is copied whole: a load of the whole right
    /// after stores of its parts would stall the processor.
    #[inline(always)]
    fn next_request<F: Intake>(&mut self, number: u32, front: &F, drives: &F::Drives<'_>) -> Option<&Request> {
        let upcoming = &self.schedule.jobs[number as usize].upcoming;
        if upcoming.next.is_multiple_of(PREFETCHED_AT_ONCE) || upcoming.next == upcoming.requests.len() {
            self.prepare_requests(number, front, drives);
        }
        let upcoming = &self.schedule.jobs[number as usize].upcoming;
        upcoming.requests.get(upcoming.next)
    }

    /// Draws requests if there is none left, and prefetches what the next ones will access.
    #[inline(never)]
    fn prepare_requests<F: Intake>(&mut self, number: u32, front: &F, drives: &F::Drives<'_>) {
        let Job { upcoming, has_arrivals, .. } = &mut self.schedule.jobs[number as usize];
        if upcoming.next == upcoming.requests.len() {
            upcoming.requests.clear();
            upcoming.next = 0;
            if *has_arrivals {
                upcoming.arrivals_ns.clear();
                let arrivals_ns = &mut upcoming.arrivals_ns;
                self.client.draw_arrivals(number, &mut upcoming.requests, arrivals_ns, DRAWN_AT_ONCE);
            } else {
                self.client.draw(number, &mut upcoming.requests, DRAWN_AT_ONCE);
            }
            upcoming.requests.iter().for_each(|request| front.prefetch(request, drives));
            upcoming.requests.iter().take(PREFETCHED_AT_ONCE).for_each(|request| front.prefetch_old(request, drives));
        }
        if upcoming.next.is_multiple_of(PREFETCHED_AT_ONCE) {
            let later = upcoming.requests.iter().skip(upcoming.next + PREFETCHED_AT_ONCE);
            later.take(PREFETCHED_AT_ONCE).for_each(|request| front.prefetch_old(request, drives));
        }
    }
}
