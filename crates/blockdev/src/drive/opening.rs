//! How a drive begins: new, or from what a file holds; and how it comes back after a loss of power.

use super::OpenError;
use super::clock::DriveClock;
use super::contents::{Contents, Options, Pace};
use super::core::{Core, FIRST_PHASE};
use super::phases::Phases;
use crate::device::DeviceError;
use crate::nand::{Journal, Medium, Nand, Recovery, Shape};
use serde::{Deserialize, Serialize};
use ssdlab_engine::error::SpecificationError;
use ssdlab_engine::ftl::numbers::{EraseUnit, Lpn};
use ssdlab_engine::ftl::recovery::{Found, FoundContents, FoundEraseUnit, Lasting};
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::random::Random;
use ssdlab_engine::simulation::{SimulatedDrive, TimedSimulatedDrive, build_timed};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::recorder::Decision;

/// What a drive keeps of its counters for the next process.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Saved {
    ledger: Ledger,
    simulated_ns: u64,
    power_cycles: u64,
    host_units: u64,
}

impl Core {
    pub fn new(drive: &Drive, options: &Options) -> Result<Self, OpenError> {
        let ftl = build(drive, options.seed)?;
        let capacity = ftl.capacity();
        let unit_bytes = drive.ftl.mapping_unit_bytes;
        let flash = flash_of(drive).below(&*ftl);
        let shape = Shape {
            unit_bytes,
            logical_units: ftl.logical_units(),
            erase_units: SimulatedDrive::erase_units(&*ftl),
            units_per_erase_unit: capacity.units_per_erase_unit,
            units_in_slc_mode: ftl.units_in_slc_mode(),
            group_units: flash.groups().units(),
            group_units_in_slc_mode: flash.groups().units_in_slc_mode(),
            units_per_stripe: drive.parity.units_per_stripe,
            dies: drive.nand.channels * drive.nand.dies_per_channel,
            places_per_unit: ftl.places_per_unit(),
        };
        let journal = Journal::new(&shape, options.journal_trims.max(1));
        let (medium, is_old) = match &options.contents {
            Contents::Memory => (Medium::in_memory(shape, journal.system_bytes())?, false),
            Contents::File(path) => {
                let description = serde_json::to_string(drive).map_err(std::io::Error::other)?;
                Medium::in_file(path, shape, journal.system_bytes(), &description)?
            }
        };
        let buffer = &drive.write_buffer;
        let power_loss_protection =
            options.power_loss_protection.unwrap_or(buffer.bytes > 0 && buffer.power_loss_protection);
        let units_per_page = drive.nand.page_bytes / unit_bytes;
        let mut core = Self {
            nand: Nand::new(medium, journal, units_per_page, power_loss_protection, options.faults, options.seed)
                .packed(&drive.data_reduction),
            clock: clock_of(drive, flash, 0, options.pace == Pace::Real),
            drive: drive.clone(),
            seed: options.seed,
            ftl,
            capacity,
            phases: Phases::new(FIRST_PHASE),
            read_only_reason: None,
            stranded: None,
            decisions: Vec::new(),
            packed: Vec::new(),
            is_real_pace: options.pace == Pace::Real,
            submitted: None,
            forgets_after: None,
            power_cycles: 0,
            recovery: None,
            seen: None,
        };
        if is_old {
            core.take_up_file();
        }
        Ok(core)
    }

    /// Goes on with what another process left in the file, whether it ended in order or was killed.
    fn take_up_file(&mut self) {
        let saved: Saved = serde_json::from_slice(self.nand.saved()).unwrap_or_default();
        let torn_units = if self.nand.has_power_loss_protection() { 0 } else { self.nand.tear_what_was_buffered() };
        let (found, recovery) = self.nand.recover(&[], torn_units);
        self.come_back(
            &found,
            recovery,
            Lasting {
                ledger: saved.ledger,
                array: None,
                erased_in_slc_mode: 0,
                host_units: saved.host_units,
                places_left_in_begun_units: 0,
            },
            saved.simulated_ns,
        );
        self.power_cycles = saved.power_cycles + 1;
        self.reset();
    }

    /// The power goes, and comes back: the map, the write buffer and all that was under way are gone, unless the drive
    /// has power-loss protection, which saves the buffer. What was flushed is there again.
    pub fn cut_power(&mut self) {
        let mut random = Random::new(self.seed ^ self.power_cycles.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (torn_units, undone) = self.nand.lose_power(&mut random);
        let lasting = self.ftl.take_lasting();
        let (found, recovery) = self.nand.recover(&undone, torn_units);
        self.come_back(&found, recovery, lasting, self.clock.now_ns());
        self.power_cycles += 1;
    }

    fn come_back(&mut self, found: &Found, mut recovery: Recovery, lasting: Lasting, now_ns: u64) {
        let nand = &self.drive.nand;
        let dies = f64::from(nand.channels * nand.dies_per_channel);
        let pages_ns = recovery.scanned_pages as f64 * nand.read_us * 1000.0 / dies;
        let map_bytes = if recovery.checkpoint_units > 0 { 4.0 * self.capacity.user_units as f64 } else { 0.0 };
        let map_ns = map_bytes / (nand.channel_mb_s * f64::from(nand.channels)) * 1000.0;
        recovery.duration_ns = (pages_ns + map_ns).round() as u64;
        self.ftl = build(&self.drive, self.seed).expect("the same drive was built before");
        for erase_unit in self.ftl.restore(found, lasting) {
            self.nand.fill_up(erase_unit.0);
        }
        let latencies = self.clock.take_latencies();
        self.clock = clock_of(
            &self.drive,
            flash_of(&self.drive).below(&*self.ftl),
            now_ns + recovery.duration_ns,
            self.is_real_pace,
        );
        self.clock.put_latencies(latencies);
        self.clock.carry_out(&modes_of(found));
        self.read_only_reason = self.ftl.read_only().map(|reason| reason.to_string());
        self.recovery = Some(recovery);
        self.stranded = None;
        self.watch_anew();
    }

    /// Notes where everything is, and the counters, in the system blocks.
    pub fn checkpoint(&mut self) -> Result<(), DeviceError> {
        if !self.nand.has_power_loss_protection() {
            self.program_all()?;
        }
        let ftl = &self.ftl;
        self.nand.checkpoint((0..ftl.logical_units()).map(|lpn| ftl.place_of(Lpn(lpn)).map_or(u32::MAX, |ppn| ppn.0)));
        self.save_counters();
        Ok(())
    }

    pub(super) fn save_counters(&mut self) {
        let saved = Saved {
            ledger: *self.ledger(),
            simulated_ns: self.clock.now_ns(),
            power_cycles: self.power_cycles,
            host_units: self.ftl.host_units(),
        };
        self.nand.save(&serde_json::to_vec(&saved).expect("counters are plain numbers"));
    }

    /// An orderly end: all of it in flash, the map noted, the file on its disk.
    pub fn close(&mut self) -> Result<(), DeviceError> {
        self.checkpoint()?;
        self.nand.medium().sync().map_err(DeviceError::Store)
    }
}

fn build(drive: &Drive, seed: u64) -> Result<Box<dyn TimedSimulatedDrive>, SpecificationError> {
    let mut ftl = build_timed(drive, seed)?;
    if drive.data_reduction.is_on() {
        ftl.note_packing();
    }
    Ok(ftl)
}

/// For a new clock: which erase units hold something in SLC mode.
fn modes_of(found: &Found) -> Vec<Decision> {
    let is_slc = |unit: &FoundEraseUnit| matches!(unit.contents, FoundContents::Written { is_slc: true, .. });
    let in_slc_mode = (0..).map(EraseUnit).zip(&found.erase_units).filter(|(_, unit)| is_slc(unit));
    in_slc_mode.map(|(erase_unit, _)| Decision::Open(erase_unit, true)).collect()
}

fn flash_of(drive: &Drive) -> Flash {
    Flash::new(&drive.nand, drive.ftl.mapping_unit_bytes, drive.ftl.erase_unit)
        .with_power_loss_protection(drive.write_buffer.power_loss_protection)
        .with_slc_cache(&drive.nand, &drive.slc_cache)
}

fn clock_of(drive: &Drive, flash: Flash, now_ns: u64, is_real_pace: bool) -> DriveClock {
    let command_ns = (drive.controller.command_us * 1000.0).round() as u64;
    let buffer_units = drive.write_buffer.bytes / u64::from(drive.ftl.mapping_unit_bytes);
    DriveClock::new(flash, command_ns, buffer_units, now_ns, is_real_pace)
}
