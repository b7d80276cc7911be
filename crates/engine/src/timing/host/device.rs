//! A host's side that is one of several devices: its requests are handed to it, and nobody draws any.
//!
//! Its slots are those of the host in front, each a job of its own that has begun and ended: so nothing is issued when a
//! part is complete, and what a part tells its client under a job's number tells the slot.

use super::account::Account;
use super::issuing::Job;
use super::way::AnyWay;
use super::{Client, Host, Slot, TimedDrive};
use crate::error::ReadOnly;
use crate::request::{Operation, Request};

/// Whose turn it is among events of one time: the order in which a host with one drive has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Agenda,
    /// A job of the host in front is woken.
    Waking,
    Flash,
}

impl Host {
    /// Has the slots that the host in front has.
    pub(super) fn take_slots_of(&mut self, front: &Host) {
        let nothing = Request::new(Operation::Read, 0, 0);
        for number in self.slots.len()..front.slots.len() {
            self.slots.push(Slot { request: nothing, issued_ns: 0, job: number as u32, units_left: 0 });
            self.accounts.push(Account::since(0));
            let has_sync_writes = front.jobs[front.slots[number].job as usize].has_sync_writes;
            self.jobs.push(Job { has_begun: true, has_ended: true, has_sync_writes, ..Job::default() });
        }
    }

    /// Begins with a part of the request that the slot of the host in front holds.
    pub(super) fn take_part(
        &mut self,
        slot: u32,
        part: Request,
        front: &Host,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let index = slot as usize;
        debug_assert!(self.now_ns <= front.now_ns);
        self.now_ns = front.now_ns;
        self.outstanding += 1;
        self.jobs[index].outstanding += 1;
        self.slots[index] = Slot { request: part, issued_ns: front.slots[index].issued_ns, job: slot, units_left: 0 };
        self.accounts[index] = front.accounts[index];
        self.submit::<AnyWay>(slot, drive, client)
    }

    /// When its next event happens, and of what rank it is.
    #[inline]
    pub(super) fn next_of_device(&self) -> (u64, Rank) {
        let agenda_ns = self.agenda.next_ns();
        match self.flash.next_event_ns() {
            Some(flash_ns) if flash_ns < agenda_ns => (flash_ns, Rank::Flash),
            _ => (agenda_ns, Rank::Agenda),
        }
    }

    /// Carries out its events of the flash before `until_ns`, at most so many, up to the first that the host hears of.
    /// Returns how many it was.
    pub(super) fn run_flash(
        &mut self,
        until_ns: u64,
        events_max: u64,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<u64, ReadOnly> {
        let events = self.flash.run(until_ns.min(self.agenda.next_ns()), events_max);
        self.now_ns = self.now_ns.max(self.flash.now_ns());
        if !self.flash.finished().is_empty() {
            self.note_finished::<AnyWay>(drive, client)?;
        }
        Ok(events)
    }

    /// Programs half-filled groups where nothing of what is asked of it comes about otherwise. Returns whether there were any.
    #[inline]
    pub(super) fn pad_if_stuck(&mut self, now_ns: u64, drive: &mut dyn TimedDrive) -> Result<bool, ReadOnly> {
        if self.outstanding == 0 || !self.all_waits_for_more_writes::<AnyWay>() {
            return Ok(false);
        }
        self.now_ns = now_ns;
        let groups = self.flash.groups().waited_for();
        self.pad(&groups, drive)?;
        Ok(true)
    }
}
