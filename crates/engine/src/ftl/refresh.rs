//! Selects erase units whose data has been worn by reads or time, to be moved in idle time before it is lost.
//!
//! The translation layer knows the time only when the drive is idle, so data counts as written at the end of the last
//! idle time: its age is never underestimated.

use crate::error::SpecificationError;
use crate::nand::Geometry;
use crate::specification::drive::BackgroundOperations;
use crate::units::EraseUnit;

const DAY_NS: f64 = 86_400e9;

pub struct Refresh {
    now_ns: u64,
    /// 0: data does not age.
    retention_ns: u64,
    /// By erase unit: when it was closed; empty if data does not age.
    written_ns: Vec<u64>,
    /// No closed erase unit is due earlier.
    next_due_ns: u64,
    looked_at: u32,
    /// 0: no read disturb.
    reads_max: u32,
    units_per_page: u32,
    pages_per_erase_unit: u32,
    blocks_per_erase_unit: u32,
    /// Page reads since the last erase, by erase unit and block; empty without read disturb.
    reads: Vec<u32>,
    last_page: u32,
    /// Erase units with a block that has been read too often.
    disturbed: Vec<EraseUnit>,
}

impl Refresh {
    pub fn new(said: &BackgroundOperations, geometry: &Geometry, erase_units: u32) -> Result<Self, SpecificationError> {
        if !(said.retention_days >= 0.0 && said.retention_days <= 100_000.0) {
            let allowed = "0 (never), or up to 100000 days";
            return Err(SpecificationError::new("background.retention_days", said.retention_days, allowed));
        }
        let retention_ns = (said.retention_days * DAY_NS).round() as u64;
        let blocks_per_erase_unit = geometry.blocks_per_erase_unit();
        let blocks = erase_units as usize * blocks_per_erase_unit as usize;
        Ok(Self {
            now_ns: 0,
            retention_ns,
            written_ns: vec![0; if retention_ns > 0 { erase_units as usize } else { 0 }],
            next_due_ns: if retention_ns > 0 { retention_ns } else { u64::MAX },
            looked_at: 0,
            reads_max: said.read_disturb_reads,
            units_per_page: geometry.units_per_page,
            pages_per_erase_unit: geometry.units_per_erase_unit() / geometry.units_per_page,
            blocks_per_erase_unit,
            reads: vec![0; if said.read_disturb_reads > 0 { blocks } else { 0 }],
            last_page: u32::MAX,
            disturbed: Vec::new(),
        })
    }

    pub fn is_on(&self) -> bool {
        self.retention_ns > 0 || self.reads_max > 0
    }

    pub fn set_time(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    /// When the first data will be due, if nothing is written until then.
    pub fn next_due_ns(&self) -> u64 {
        self.next_due_ns
    }

    pub fn closed(&mut self, erase_unit: EraseUnit) {
        if let Some(written_ns) = self.written_ns.get_mut(erase_unit.index()) {
            *written_ns = self.now_ns;
        }
    }

    pub fn erased(&mut self, erase_unit: EraseUnit) {
        if self.reads_max > 0 {
            let first = erase_unit.index() * self.blocks_per_erase_unit as usize;
            self.reads[first..first + self.blocks_per_erase_unit as usize].fill(0);
            self.disturbed.retain(|&disturbed| disturbed != erase_unit);
        }
    }

    /// The host reads a unit. Consecutive units of one page are one read of the flash, or none if the controller still
    /// holds the page in its memory.
    pub fn read(&mut self, ppn: u32, takes_flash: bool) {
        let page = ppn / self.units_per_page;
        if self.reads_max == 0 || std::mem::replace(&mut self.last_page, page) == page || !takes_flash {
            return;
        }
        let erase_unit = self.erase_unit_of(page);
        let block = self.block_of(page);
        let reads = &mut self.reads[block];
        *reads = reads.saturating_add(1);
        if *reads == self.reads_max && !self.disturbed.contains(&erase_unit) {
            self.disturbed.push(erase_unit);
        }
    }

    fn erase_unit_of(&self, page: u32) -> EraseUnit {
        EraseUnit(page / self.pages_per_erase_unit)
    }

    /// The pages of a superblock are distributed over its blocks in turn.
    fn block_of(&self, page: u32) -> usize {
        let block = page % self.pages_per_erase_unit % self.blocks_per_erase_unit;
        (self.erase_unit_of(page).0 * self.blocks_per_erase_unit + block) as usize
    }

    /// Ends the run of consecutive units: the next request reads its page again.
    pub fn end_request(&mut self) {
        self.last_page = u32::MAX;
    }

    /// An erase unit to refresh now. One that is still being written waits until it is closed.
    pub fn due(&mut self, is_closed: impl Fn(EraseUnit) -> bool) -> Option<EraseUnit> {
        if let Some(slot) = self.disturbed.iter().position(|&disturbed| is_closed(disturbed)) {
            return Some(self.disturbed.remove(slot));
        }
        if self.now_ns < self.next_due_ns {
            return None;
        }
        let erase_units = self.written_ns.len() as u32;
        let mut earliest_ns = u64::MAX;
        for _ in 0..erase_units {
            let erase_unit = EraseUnit(self.looked_at);
            self.looked_at = (self.looked_at + 1) % erase_units;
            let due_ns = self.written_ns[erase_unit.index()].saturating_add(self.retention_ns);
            if is_closed(erase_unit) {
                if due_ns <= self.now_ns {
                    return Some(erase_unit);
                }
                earliest_ns = earliest_ns.min(due_ns);
            }
        }
        // Erase units closed later are younger than now.
        self.next_due_ns = earliest_ns.min(self.now_ns.saturating_add(self.retention_ns));
        None
    }
}
