//! The host in time: slots of a queue, each of which issues its next request as soon as its last one is complete, or
//! when its job's pacing lets it.
//!
//! A request passes the controller's limit of commands; what is written crosses the link, and takes its place in the
//! buffer or goes to flash; what is read comes from flash and crosses the link.
//!
//! With a write buffer a write is complete when the buffer has taken it, and waits while the buffer is full. Without one
//! it is complete when it is in flash; and since such a drive cannot wait for more when all of the host's requests are
//! waiting for it, a half-filled program group is then filled up with padding. So is one that a flush or a write past a
//! volatile buffer waits for.

mod account;
mod agenda;
mod buffer;
mod contract;
mod device;
mod gate;
mod issuing;
mod link;
mod pacing;
mod path;
mod reading;
mod striped;
mod way;

use super::breakdown::Part;
use super::flash::{Finished, Flash};
use super::recorder::Decision;
use super::service::Service;
use crate::error::ReadOnly;
use crate::request::{Operation, Request};
use crate::specification::host_link::Rate;
use account::Account;
use agenda::{Agenda, Event, Step};
use buffer::{BUFFERED_FIRST, Buffer};
pub use contract::{Client, Completion, Idle, TimedDrive};
use gate::Gate;
use issuing::Job;
use link::Link;
pub use pacing::{Pacing, Plan};
use reading::OWN;
pub use reading::Reading;
use std::ops::Range;
pub use striped::{Devices, StripedHost};
use way::{AnyWay, Way};

#[derive(Clone, Copy, Debug)]
struct Slot {
    request: Request,
    issued_ns: u64,
    job: u32,
    units_left: u32,
}

/// What stands between host and flash.
#[derive(Clone, Debug, Default)]
pub struct FrontEnd {
    /// What a request costs that waits for no flash: a buffered write, a trim, a read of what was never written.
    pub command_ns: u64,
    /// 0: no limit.
    pub commands_per_second_max: u64,
    /// Nothing: it takes no time.
    pub link: Option<Rate>,
    /// 0: no buffer.
    pub buffer_units: u64,
    /// Whether what is buffered is lost with the power.
    pub is_volatile: bool,
}

pub struct Host {
    flash: Flash,
    jobs: Vec<Job>,
    slots: Vec<Slot>,
    /// Of each slot.
    accounts: Vec<Account>,
    /// Units of requests in flight that are still to be finished.
    units_outstanding: u64,
    outstanding: u32,
    command_ns: u64,
    gate: Gate,
    link: Option<Link>,
    agenda: Agenda,
    buffer: Buffer,
    decisions: Vec<Decision>,
    finished: Vec<Finished>,
    now_ns: u64,
    /// When the last request was complete.
    idle_since_ns: u64,
    /// Whether it is told where the time of requests went.
    tells_parts: bool,
    /// Only for a drive that fetches map pages or reads ahead.
    reading: Option<Box<Reading>>,
}

impl Host {
    /// One without link and limit. A buffer of 0 units is none.
    pub fn new(flash: Flash, command_ns: u64, buffer_units: u32) -> Self {
        Self::with_front_end(
            flash,
            &FrontEnd { command_ns, buffer_units: u64::from(buffer_units), ..FrontEnd::default() },
        )
    }

    pub fn with_front_end(flash: Flash, front_end: &FrontEnd) -> Self {
        Self {
            flash,
            jobs: Vec::new(),
            slots: Vec::new(),
            accounts: Vec::new(),
            units_outstanding: 0,
            outstanding: 0,
            command_ns: front_end.command_ns,
            gate: Gate::limited_to(front_end.commands_per_second_max),
            link: front_end.link.as_ref().map(Link::new),
            agenda: Agenda::new(),
            buffer: Buffer::new(front_end.buffer_units, front_end.is_volatile),
            decisions: Vec::new(),
            finished: Vec::new(),
            now_ns: 0,
            idle_since_ns: 0,
            tells_parts: true,
            reading: None,
        }
    }

    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    pub fn flash(&self) -> &Flash {
        &self.flash
    }

    /// Units that the host has written and that wait in the buffer, or, without one, for their program group to fill.
    pub fn units_in_memory(&self) -> u64 {
        if self.buffer.exists() { self.buffer.units() } else { self.flash.groups().units_waiting() }
    }

    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Lets `depth` slots of a job issue their first requests.
    pub fn start(
        &mut self,
        job: u32,
        depth: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        self.start_all(job, vec![Plan { depth, ..Plan::default() }], drive, client)
    }

    /// Starts the jobs of a stage, of which `first` is the client's number for the first.
    pub fn start_all(
        &mut self,
        first: u32,
        plans: Vec<Plan>,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let end = first as usize + plans.len();
        if self.jobs.len() < end {
            self.jobs.resize_with(end, Job::default);
        }
        for (index, plan) in plans.into_iter().enumerate() {
            let number = first + index as u32;
            let Plan { depth, start_delay_ns, waits_for, has_sync_writes, has_arrivals, seeks_depth, pacing } = plan;
            let begins_ns = self.now_ns + start_delay_ns;
            let first_slot = self.slots.len() as u32;
            let nothing = Request::new(Operation::Read, 0, 0);
            let idle = Slot { request: nothing, issued_ns: 0, job: number, units_left: 0 };
            self.slots.resize(self.slots.len() + depth.max(1) as usize, idle);
            self.accounts.resize(self.slots.len(), Account::since(0));
            // Slots are taken from the end.
            let parked = (first_slot..first_slot + depth.max(1)).rev().collect();
            self.jobs[number as usize] = Job {
                parked,
                pacing,
                begins_ns,
                waits_for,
                has_sync_writes,
                has_arrivals,
                seeks_depth,
                ..Job::default()
            };
        }
        for number in first..end as u32 {
            self.begin_if_due::<AnyWay>(number, drive, client)?;
        }
        Ok(())
    }

    /// Forgets the slots of a stage whose requests are all complete.
    pub fn end_stage(&mut self) {
        assert_eq!(self.outstanding, 0, "a stage ends when nothing is outstanding");
        self.slots.clear();
        self.accounts.clear();
        self.jobs.clear();
    }

    fn advance_as<W: Way>(
        &mut self,
        events: u64,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<bool, ReadOnly> {
        let mut left = events;
        while left > 0 {
            if self.outstanding == 0 {
                if self.agenda.next_ns() == u64::MAX {
                    return Ok(false);
                }
            } else if self.all_waits_for_more_writes::<W>() {
                let groups = self.flash.groups().waited_for();
                self.pad(&groups, drive)?;
            }
            left -= self.flash.run(self.agenda.next_ns(), left);
            self.now_ns = self.now_ns.max(self.flash.now_ns());
            if !self.flash.finished().is_empty() {
                self.note_finished::<W>(drive, client)?;
            } else if left > 0 {
                left -= 1;
                if self.outstanding > 0 || !self.keep_house(drive)? {
                    self.take_event::<W>(drive, client)?;
                }
            }
        }
        Ok(self.outstanding > 0 || self.agenda.next_ns() < u64::MAX)
    }

    fn take_event<W: Way>(&mut self, drive: &mut dyn TimedDrive, client: &mut dyn Client) -> Result<(), ReadOnly> {
        let next = self.agenda.take();
        let (at_ns, event) = next.expect("what is outstanding has an event, or waits in an open group");
        self.now_ns = at_ns;
        match event {
            Event::Answered(slot) => self.answer::<W>(slot, drive, client),
            Event::Step(Step::MapPage, chain) => self.map_page_came(chain, drive, client),
            Event::Step(Step::Admitted, slot) => self.admit::<W>(slot, drive, client),
            Event::Step(Step::Arrived, slot) => self.arrive::<W>(slot, drive, client),
            Event::Step(Step::Sent, slot) => self.complete::<W>(slot, drive, client),
            Event::Step(Step::Delivered, stream) => self.piece_delivered(stream as usize, drive, client),
            Event::Wake(job) if self.jobs[job as usize].wakes_at_ns == Some(at_ns) => {
                self.jobs[job as usize].wakes_at_ns = None;
                self.wake::<W>(job, drive, client)
            }
            Event::Wake(_) => Ok(()),
        }
    }

    /// Nothing is outstanding: lets the drive do a piece of what can wait, if the flash comes to rest before the next
    /// request is due.
    fn keep_house(&mut self, drive: &mut dyn TimedDrive) -> Result<bool, ReadOnly> {
        let rests_at_ns = self.flash.rests_at_ns().max(self.now_ns);
        if self.flash.next_event_ns().is_some() || rests_at_ns >= self.agenda.next_ns() {
            return Ok(false);
        }
        self.now_ns = rests_at_ns;
        match drive.housekeep(self.now_ns, self.idle_since_ns)? {
            Idle::Decided => {
                drive.take_decisions(&mut self.decisions);
                self.flash.carry_out(self.now_ns, &self.decisions, BUFFERED_FIRST);
                Ok(true)
            }
            Idle::NothingBefore(then_ns) if then_ns > self.now_ns && then_ns < self.agenda.next_ns() => {
                self.now_ns = then_ns;
                Ok(true)
            }
            Idle::NothingBefore(_) => Ok(false),
        }
    }

    /// Fills program groups up, so that what waits in them is programmed.
    fn pad(&mut self, groups: &[Range<u32>], drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        drive.pad(groups)?;
        drive.take_decisions(&mut self.decisions);
        self.flash.carry_out(self.now_ns, &self.decisions, BUFFERED_FIRST);
        Ok(())
    }

    /// Whether nothing of what the host waits for can come about unless it writes more.
    fn all_waits_for_more_writes<W: Way>(&self) -> bool {
        let in_open_groups = self.flash.groups().units_waiting();
        if W::IS_DIRECT {
            return in_open_groups > 0 && self.units_outstanding == in_open_groups && !self.agenda.is_serving();
        }
        let buffer_is_stuck = !self.buffer.waiting.is_empty() && self.buffer.units() == in_open_groups;
        let slots_are_stuck = self.units_outstanding > 0 && self.units_outstanding == in_open_groups;
        // A unit that a flush or a write past the buffer waits for may have come to its group late, after a map page.
        let is_awaited = in_open_groups > 0 && self.buffer.is_awaited();
        let flush_is_stuck = is_awaited && self.buffer.units() == in_open_groups;
        !self.agenda.is_serving() && (buffer_is_stuck || flush_is_stuck || (!self.buffer.exists() && slots_are_stuck))
    }

    fn note_finished<W: Way>(&mut self, drive: &mut dyn TimedDrive, client: &mut dyn Client) -> Result<(), ReadOnly> {
        // Found out before an answer lets more be carried out.
        let service = self.tells_parts::<W>().then(|| self.flash.service());
        let mut finished = std::mem::take(&mut self.finished);
        std::mem::swap(&mut finished, self.flash.finished());
        for part in finished.drain(..) {
            let (slot, units) = match part {
                Finished::Written { slot: tag } if !W::IS_DIRECT && tag >= BUFFERED_FIRST => {
                    self.buffer.finish(tag);
                    continue;
                }
                Finished::Read { slot, units } if !W::IS_DIRECT && slot >= OWN => {
                    self.own_read_came(slot, units, drive, client)?;
                    continue;
                }
                Finished::Read { slot, units } => (slot, units),
                Finished::Written { slot } => {
                    if !W::IS_DIRECT && self.buffer.exists() {
                        self.buffer.finish_through();
                    }
                    (slot, 1)
                }
            };
            if self.units_of_slot_came(slot, units) {
                if let Some(service) = &service {
                    self.accounts[slot as usize].spend_on_flash(service);
                }
                self.answer::<W>(slot, drive, client)?;
            }
        }
        self.finished = finished;
        // Without a buffer a flush waits for nothing.
        if W::IS_DIRECT { Ok(()) } else { self.take_waiting_into_buffer::<W>(service.as_ref(), drive, client) }
    }

    /// Returns whether they are the last that the slot waited for.
    #[inline]
    fn units_of_slot_came(&mut self, slot: u32, units: u32) -> bool {
        self.units_outstanding -= u64::from(units);
        self.slots[slot as usize].units_left -= units;
        self.slots[slot as usize].units_left == 0
    }

    /// The request has been carried out but for what the controller takes for any command.
    #[inline]
    fn answer_after_command(&mut self, slot: u32) {
        let at_ns = self.now_ns + self.command_ns;
        self.accounts[slot as usize].spend(Part::Controller, at_ns);
        self.agenda.answer(at_ns, slot);
    }

    /// Answers the flushes that waited for what is now in flash, and gives the room to those that found none. It is a
    /// program that made room, whose service is given, or a map page.
    fn take_waiting_into_buffer<W: Way>(
        &mut self,
        service: Option<&Service>,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        while let Some(flushed) = self.buffer.next_flushed() {
            self.answer_after_command(flushed);
        }
        while let Some(&slot) = self.buffer.waiting.front()
            && self.buffer.has_room(self.units_of(&self.slots[slot as usize].request))
        {
            self.buffer.waiting.pop_front();
            let account = &mut self.accounts[slot as usize];
            match service {
                Some(service) => account.spend_on_room(service),
                None => account.spend(Part::Map, self.now_ns),
            }
            self.bring_to_buffer::<W>(slot, drive, client)?;
        }
        Ok(())
    }

    fn complete<W: Way>(
        &mut self,
        slot: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let Slot { request, issued_ns, job: number, .. } = self.slots[slot as usize];
        let Request { operation, length_bytes, offset_bytes, .. } = request;
        let completed_ns = self.now_ns;
        self.outstanding -= 1;
        self.idle_since_ns = completed_ns;
        let parts = self.accounts[slot as usize].parts();
        debug_assert!(
            !self.tells_parts || operation == Operation::Flush || parts.iter().sum::<u64>() == completed_ns - issued_ns
        );
        let completion = Completion { job: number, operation, length_bytes, offset_bytes, issued_ns, completed_ns };
        client.completed(completion, parts);
        let job = &mut self.jobs[number as usize];
        job.outstanding -= 1;
        if let Some(pacing) = &mut job.pacing
            && let Some(goes_on_ns) = pacing.completed(operation, self.now_ns, job.outstanding)
        {
            self.wake_at(goes_on_ns, number);
        }
        self.issue::<W>(slot, drive, client)?;
        // What a flush held back goes on, and what a depth did that has grown.
        let frees_others = operation == Operation::Flush || self.jobs[number as usize].seeks_depth;
        if frees_others { self.wake::<W>(number, drive, client) } else { Ok(()) }
    }
}
