//! The outstanding requests of a front, each in a slot.

use super::account::Account;
use super::submission::{Completion, Submission};
use crate::request::{Operation, Request};
use crate::timing::breakdown::Parts;

#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub submission: Submission,
    /// Units, and map pages, that the request waits for.
    pub units_left: u32,
    /// Whether its write is done, and the flush behind it is in progress.
    has_written: bool,
}

#[derive(Debug, Default)]
pub struct Slots {
    slots: Vec<Slot>,
    /// By slot.
    accounts: Vec<Account>,
    spare: Vec<u32>,
    /// Unfinished units of outstanding requests.
    pub units_outstanding: u64,
}

impl Slots {
    /// The slot to be used next.
    pub fn next(&self) -> u32 {
        self.spare.last().copied().unwrap_or(self.slots.len() as u32)
    }

    #[inline]
    pub fn take(&mut self, submission: Submission) -> u32 {
        let slot = Slot { submission, units_left: 0, has_written: false };
        match self.spare.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                self.accounts.push(Account::since(0));
                self.slots.len() as u32 - 1
            }
        }
    }

    #[inline]
    pub fn outstanding(&self) -> u32 {
        (self.slots.len() - self.spare.len()) as u32
    }

    #[inline]
    pub fn request(&self, slot: u32) -> Request {
        self.slots[slot as usize].submission.request
    }

    #[inline]
    pub fn submission(&self, slot: u32) -> Submission {
        self.slots[slot as usize].submission
    }

    /// Whether a flush is in progress: a request of its own, or behind a write.
    #[inline]
    pub fn is_flush(&self, slot: u32) -> bool {
        let Slot { submission, has_written, .. } = &self.slots[slot as usize];
        *has_written || submission.request.operation == Operation::Flush
    }

    /// Whether the flush behind its write is in progress.
    #[inline]
    pub fn has_written(&self, slot: u32) -> bool {
        self.slots[slot as usize].has_written
    }

    /// The request is executed. Whether it is a write that a flush must follow, which begins now.
    #[inline]
    pub fn begin_flush(&mut self, slot: u32) -> bool {
        let Slot { submission, has_written, .. } = &mut self.slots[slot as usize];
        let begins = submission.request.is_through && submission.request.operation == Operation::Write && !*has_written;
        *has_written |= begins;
        begins
    }

    #[inline]
    pub fn account(&mut self, slot: u32) -> &mut Account {
        &mut self.accounts[slot as usize]
    }

    /// The request waits for this many more units.
    #[inline]
    pub fn wait_for(&mut self, slot: u32, units: u32) {
        self.slots[slot as usize].units_left += units;
        self.units_outstanding += u64::from(units);
    }

    /// Returns whether these are the last units that the slot waited for.
    #[inline]
    pub fn units_arrived(&mut self, slot: u32, units: u32) -> bool {
        self.units_outstanding -= u64::from(units);
        let left = &mut self.slots[slot as usize].units_left;
        *left -= units;
        *left == 0
    }

    /// The request has completed, and its slot is free.
    #[inline]
    pub fn complete(&mut self, slot: u32, completed_ns: u64) -> Completion {
        let Submission { request, issued_ns, tag, .. } = self.submission(slot);
        let Request { operation, is_through, length_bytes, offset_bytes, .. } = request;
        self.spare.push(slot);
        Completion { tag, operation, is_through, length_bytes, offset_bytes, issued_ns, completed_ns }
    }

    pub fn is_accounted_for(completion: &Completion, parts: &Parts) -> bool {
        completion.operation == Operation::Flush
            || parts.iter().sum::<u64>() == completion.completed_ns - completion.issued_ns
    }
}
