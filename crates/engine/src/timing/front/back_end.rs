//! What the front has below it: the translation layer's decisions on their way to the flash, and the flash.
//!
//! Without map pages and read-ahead all decisions go to the flash at once; otherwise `reading` holds some back.

use super::buffer::BUFFERED_FIRST;
use super::journal::Journal;
use super::reading::Reading;
use super::write_admission::Moment;
use crate::error::ReadOnly;
use crate::request::{Operation, Request};
use crate::timing::decision::Decision;
use crate::timing::drive::{Idle, TimedDrive};
use crate::timing::flash::Flash;
use std::ops::Range;

pub(super) struct BackEnd {
    pub flash: Flash,
    decisions: Vec<Decision>,
    /// Only for a drive that fetches map pages or reads ahead.
    pub reading: Option<Box<Reading>>,
    /// Only for a volatile buffer.
    journal: Option<Journal>,
    tells_backlog: bool,
}

impl BackEnd {
    pub fn new(flash: Flash, has_journal: bool, tells_backlog: bool) -> Self {
        let journal = has_journal.then(Journal::default);
        Self { flash, decisions: Vec::new(), reading: None, journal, tells_backlog }
    }

    /// Whether a decision goes straight to flash of the simplest kind.
    pub fn is_plain(&self) -> bool {
        self.reading.is_none() && !self.tells_backlog && self.flash.is_plain()
    }

    /// What admission to the buffer depends on.
    #[inline]
    pub fn moment(&self, now_ns: u64) -> Moment {
        Moment { now_ns, freed_units: self.flash.freed_units(), has_backlog: self.flash.has_own_backlog() }
    }

    /// Informs a drive that asks for it of the backlog of its own operations.
    #[inline]
    pub fn tell_backlog(&self, drive: &mut dyn TimedDrive) {
        if self.tells_backlog {
            drive.note_backlog(self.flash.has_own_backlog());
        }
    }

    /// Lets the drive decide on a request, with the information it needs.
    #[inline(always)]
    pub fn decide(
        &mut self,
        now_ns: u64,
        tag: u32,
        request: &Request,
        drive: &mut dyn TimedDrive,
    ) -> Result<(), ReadOnly> {
        self.flash.groups().check_count()?;
        if self.flash.is_asked_for_load() {
            self.flash.tell_load(now_ns, drive.load_by_die());
        }
        if request.operation != Operation::Read
            && let Some(journal) = &mut self.journal
        {
            journal.note_change();
        }
        // The unit is a power of two; a partial write reads first.
        let in_part = (request.offset_bytes | u64::from(request.length_bytes)) & (self.flash.mapping_unit_bytes() - 1);
        let may_read = request.operation == Operation::Read || in_part > 0 || self.reading.is_some();
        if may_read {
            self.with_memory(drive, |drive| drive.decide(tag, request))?;
        } else {
            drive.decide(tag, request)?;
        }
        drive.take_decisions(&mut self.decisions);
        Ok(())
    }

    /// Lends the drive the record of the controller's memory while it decides on reads.
    #[inline]
    fn with_memory<T>(&mut self, drive: &mut dyn TimedDrive, decide: impl FnOnce(&mut dyn TimedDrive) -> T) -> T {
        if self.flash.in_memory().is_empty() {
            return decide(drive);
        }
        drive.exchange_memory(self.flash.in_memory());
        let decided = decide(drive);
        drive.exchange_memory(self.flash.in_memory());
        decided
    }

    /// Passes the drive's decisions to the flash, on behalf of `slot`. Returns how many units, and map pages, the slot
    /// waits for.
    #[inline]
    pub fn carry_out_for(&mut self, now_ns: u64, slot: u32) -> u32 {
        match &mut self.reading {
            Some(reading) => reading.carry_out(now_ns, &mut self.decisions, slot, &mut self.flash).0,
            None => self.flash.carry_out(now_ns, &self.decisions, slot),
        }
    }

    /// Performs what the drive has decided on by itself, for which no request waits.
    fn carry_out_own(&mut self, now_ns: u64, drive: &mut dyn TimedDrive) {
        drive.take_decisions(&mut self.decisions);
        self.flash.carry_out(now_ns, &self.decisions, BUFFERED_FIRST);
    }

    /// Pads program groups, so that their waiting data is programmed.
    pub fn pad(&mut self, now_ns: u64, groups: &[Range<u32>], drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        drive.pad(groups)?;
        self.carry_out_own(now_ns, drive);
        Ok(())
    }

    /// Lets the drive perform one batch of background work, if it has any.
    pub fn run_background(
        &mut self,
        now_ns: u64,
        idle_since_ns: u64,
        drive: &mut dyn TimedDrive,
    ) -> Result<Idle, ReadOnly> {
        let idle = drive.run_background(now_ns, idle_since_ns)?;
        if idle == Idle::Decided {
            self.carry_out_own(now_ns, drive);
        }
        Ok(idle)
    }

    /// The data of a flush is in flash: programs the map's changes, if they are in memory that is lost with the power.
    /// Returns whether the flush waits for that.
    pub fn write_journal(&mut self, now_ns: u64, slot: u32, drive: &mut dyn TimedDrive) -> bool {
        let writes = self.journal.as_mut().is_some_and(Journal::begin_unit);
        if writes {
            drive.note_journal(self.flash.program_journal(now_ns, slot));
        }
        writes
    }

    /// The unit of the journal that a flush waited for is in flash.
    pub fn journal_came(&mut self) {
        self.journal.as_mut().expect("it wrote a unit").end_unit();
    }

    pub fn reading(&mut self) -> &mut Reading {
        self.reading.as_mut().expect("only drives with map pages or streams come here")
    }

    /// The firmware has a map page: reads what waited for it, up to the next map page. Returns the slot on whose behalf
    /// it was read, and whether it was the last.
    pub fn map_page_arrived(&mut self, now_ns: u64, chain: u32) -> (u32, bool) {
        self.reading.as_mut().expect("it reads map pages").map_page_arrived(now_ns, chain, &mut self.flash)
    }

    /// Fetches segments of a stream while its window has space.
    pub fn read_ahead(&mut self, now_ns: u64, stream: usize, drive: &mut dyn TimedDrive) {
        while let Some((segment, offset_bytes, length_bytes)) = self.reading().streams().next_segment(stream) {
            self.with_memory(drive, |drive| drive.read_ahead(offset_bytes, length_bytes));
            drive.take_decisions(&mut self.decisions);
            let reading = self.reading.as_mut().expect("it reads ahead");
            reading.fetch(now_ns, segment, &mut self.decisions, &mut self.flash);
        }
    }
}
