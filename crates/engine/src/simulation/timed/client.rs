//! The jobs of a run as the host's client: what it draws from them, and what they count.

use super::{Jobs, RunningJob};
use crate::ledger::Ledger;
use crate::request::{Operation, Request};
use crate::specification::job::EndsOthers;
use crate::timing::breakdown::Parts;
use crate::timing::front::Completion;
use crate::timing::host::Client;

impl Client for Jobs {
    fn draw(&mut self, job: u32, out: &mut Vec<Request>, count_max: usize) {
        self.draw_by(job, count_max, |source, count_max| source.fill(out, count_max));
    }

    fn draw_one(&mut self, job: u32, direction: Operation, out: &mut Vec<Request>) {
        self.draw_by(job, 1, |source, _| source.fill_one(direction, out));
    }

    fn draw_arrivals(&mut self, job: u32, out: &mut Vec<Request>, arrivals_ns: &mut Vec<u64>, count_max: usize) {
        self.draw_by(job, count_max, |source, count_max| source.fill_arrivals(out, arrivals_ns, count_max));
    }

    fn is_over(&self, number: u32, now_ns: u64) -> bool {
        let job = &self.jobs[number as usize];
        let is_settled = self.is_settled && self.repeats_stage == Some(job.stage);
        is_settled || number < self.over_before || job.is_over(now_ns)
    }

    fn may_issue(&mut self, number: u32, outstanding: u32, now_ns: u64) -> bool {
        let (may_issue, counts_anew) = self.jobs[number as usize].may_issue(outstanding, now_ns);
        if counts_anew {
            self.settle_account();
            self.jobs[number as usize].count_anew(now_ns);
        }
        may_issue
    }

    #[inline]
    fn executed(&mut self, job: u32, now_ns: u64, ledger: &Ledger) {
        if let Some(intervals) = &mut self.intervals {
            intervals.note(now_ns, ledger);
        }
        if job != self.account.job {
            self.settle_account();
            self.account.job = job;
        }
        self.account.end = *ledger;
    }

    fn completed(&mut self, completion: Completion, parts: &Parts) {
        self.time_series.add(&completion);
        if self.repeats_stage == Some(self.jobs[completion.tag as usize].stage) {
            self.round.add(&completion);
        }
        if self.jobs[completion.tag as usize].ramp_ends(completion.completed_ns) {
            self.settle_account();
            self.jobs[completion.tag as usize].end_ramp();
        }
        self.jobs[completion.tag as usize].completed(&completion, parts);
    }

    fn started(&mut self, job: u32, now_ns: u64) {
        self.jobs[job as usize].start(now_ns);
    }

    fn ended(&mut self, job: u32, now_ns: u64) {
        let ended = &self.jobs[job as usize];
        let ends_others = ended.ends_others();
        if ends_others > EndsOthers::None {
            let stage = ended.stage;
            let is_to_end = |other: &RunningJob| ends_others == EndsOthers::All || other.stage <= stage;
            // A job that was ended by another may end fewer itself.
            self.over_before = self.over_before.max(self.jobs.partition_point(is_to_end) as u32);
        }
        self.jobs[job as usize].end(now_ns);
    }
}
