//! Opening a drive: new, or from a file; and its return after a loss of power.

use super::OpenError;
use super::arriving::Arriving;
use super::contents::{Contents, Options, Pace};
use super::core::{Core, FIRST_PHASE, first_error};
use super::fronts::{Devices, ServedFront};
use super::host_events::HostEvents;
use super::phases::Phases;
use super::recording::Event;
use super::served::Served;
use super::stored::{Counters, Stored};
use super::zoned;
use crate::device::DeviceError;
use crate::nand::{FlashFaults, Journal, Medium, Nand, Recovery, Shape};
use serde::{Deserialize, Serialize};
use ssdlab_engine::error::SpecificationError;
use ssdlab_engine::ftl::NamespaceCounts;
use ssdlab_engine::ftl::recovery::{Found, FoundContents, FoundEraseUnit, Lasting};
use ssdlab_engine::ftl::zoned::KeptZones;
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::random::Random;
use ssdlab_engine::simulation::{SimulatedDrive, Stripe, TimedSimulatedDrive, build_timed, seed_of};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::{devices_of, reclaim_groups_of};
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::timing::front::Front;
use ssdlab_engine::units::EraseUnit;

/// A drive's counters for the next process.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Saved {
    ledger: Ledger,
    simulated_ns: u64,
    power_cycles: u64,
    host_units: u64,
    unique: [u8; 16],
    #[serde(skip_serializing_if = "is_default")]
    zones: KeptZones,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    namespaces: Vec<NamespaceCounts>,
}

fn is_default(zones: &KeptZones) -> bool {
    *zones == KeptZones::default()
}

/// The state of a device when power returns.
struct Back {
    found: Found,
    recovery: Recovery,
    lasting: Lasting,
}

impl Core {
    /// Opens a drive, new or from the file in `options`.
    pub fn new(drive: &Drive, options: &Options) -> Result<Self, OpenError> {
        let drive = &with_protection(drive, options);
        let (devices, is_old) = open_devices(drive, options)?;
        let is_in_file = options.contents != Contents::Memory;
        let must_be_there = is_in_file && devices.devices()[0].nand.has_power_loss_protection();
        let mut core = Self {
            front: ServedFront::above(&devices)?,
            devices,
            served: Served::default(),
            phases: Phases::new(FIRST_PHASE),
            seed: options.seed,
            next_tag: 0,
            is_real_pace: options.pace == Pace::Real,
            submitted: None,
            answers_late: must_be_there || drive.zones.is_on() || options.faults != FlashFaults::default(),
            recovery: None,
            host_events: HostEvents::default(),
            seen: None,
            zones: None,
            recorder: None,
        };
        core.take_up_zones();
        if is_old {
            core.take_up_file();
        }
        Ok(core)
    }

    /// Continues from the contents of the file, whether the previous process ended in order or was killed.
    fn take_up_file(&mut self) {
        let backs = self.each_mut().map(Stored::take_up_file).collect();
        // A killed process may have saved the time of one device and not of another.
        let now_ns = self.each_mut().map(|device| device.counters.simulated_ns).max().unwrap_or(0);
        self.come_back(backs, now_ns);
        self.reset();
    }

    /// A loss of power, and its return: the map, the write buffer and all operations in progress are lost, unless the
    /// drive has power-loss protection, which saves the buffer. Flushed data remains.
    pub fn cut_power(&mut self) {
        self.note_asked(Event::PowerCut);
        if self.has_power_loss_protection() {
            // The drive has reported these writes to the host as complete.
            self.bring_in_answered();
        }
        self.served.forget_awaited();
        let mut random = Random::new(self.seed ^ self.power_cycles().wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let backs = self.each_mut().map(|device| device.lose_power(&mut random)).collect();
        self.come_back(backs, self.now_ns());
    }

    /// The devices recover in parallel; the drive is ready when the last of them is.
    fn come_back(&mut self, backs: Vec<Back>, now_ns: u64) {
        let seed = self.seed;
        let mut whole = Recovery::default();
        for (index, (device, back)) in self.each_mut().zip(backs).enumerate() {
            let Back { found, recovery, lasting } = back;
            let duration_ns = device.recovery_ns(&recovery);
            whole = whole.in_parallel_with(Recovery { duration_ns, ..recovery });
            device.come_back(&found, lasting, seed_of(index, seed));
        }
        let front = ServedFront::above(&self.devices).expect("the same drive was built before");
        self.front = front.since(now_ns + whole.duration_ns);
        for (index, device) in self.devices.devices_mut().iter_mut().enumerate() {
            self.front.carry_out(index, device);
        }
        self.take_up_zones();
        self.recovery = Some(whole);
        self.host_events.tell(&mut self.devices);
        self.watch_anew();
    }

    /// An orderly end: all data in flash, the map in a checkpoint, the file on disk.
    pub fn close(&mut self) -> Result<(), DeviceError> {
        self.checkpoint()?;
        first_error(self.each_mut().map(|device| device.nand.medium().sync())).map_err(DeviceError::Store)
    }
}

/// The devices, new or from a file, and whether they are from a file.
fn open_devices(drive: &Drive, options: &Options) -> Result<(Devices, bool), OpenError> {
    let FlashFaults { program_failures, erase_failures, .. } = options.faults;
    zoned::check(drive, has_protection(drive, options), program_failures > 0.0 || erase_failures > 0.0)?;
    let reclaim_groups = reclaim_groups_of(&drive.ftl.placement);
    if reclaim_groups > 1 {
        let allowed = "1 for a drive that is mounted or served: only runs of jobs know reclaim groups";
        return Err(SpecificationError::new("ftl.placement.reclaim_groups", reclaim_groups, allowed).into());
    }
    let layers = Stripe::build_timed(drive, options.seed)?;
    let chunks = layers.chunks();
    let mut parts = Vec::new();
    for (device, mut ftl) in devices_of(drive)?.into_iter().zip(layers.into_devices()) {
        if device.data_reduction.is_on() {
            ftl.note_packing();
        }
        let shape = shape_of(&device, &*ftl)?;
        let journal = Journal::new(&shape, options.journal_trims.max(1));
        parts.push((device, ftl, shape, journal));
    }
    let cuts: Vec<(Shape, usize)> =
        parts.iter().map(|(_, _, shape, journal)| (*shape, journal.system_bytes())).collect();
    let (mediums, is_old) = match &options.contents {
        Contents::Memory => {
            let in_memory = cuts.iter().map(|&(shape, system_bytes)| Medium::in_memory(shape, system_bytes));
            (in_memory.collect::<Result<_, _>>()?, false)
        }
        Contents::File(path) => {
            let description = serde_json::to_string(drive).map_err(std::io::Error::other)?;
            Medium::in_file(path, &cuts, &description)?
        }
    };
    let power_loss_protection = has_protection(drive, options);
    let units_per_page = drive.nand.page_bytes / drive.ftl.mapping_unit_bytes;
    let of_part = |(index, ((device, ftl, _, journal), medium))| {
        let seed = seed_of(index, options.seed);
        let nand = Nand::new(medium, journal, units_per_page, power_loss_protection, options.faults, seed);
        Box::new(Stored::new(device, ftl, nand))
    };
    let devices = parts.into_iter().zip(mediums).enumerate().map(of_part).collect();
    Ok((Stripe::new(devices, chunks), is_old))
}

fn shape_of(drive: &Drive, ftl: &dyn TimedSimulatedDrive) -> Result<Shape, SpecificationError> {
    let capacity = ftl.capacity();
    let front = Front::of(drive, ftl)?;
    let groups = front.flash().groups();
    Ok(Shape {
        unit_bytes: drive.ftl.mapping_unit_bytes,
        logical_units: ftl.logical_units(),
        erase_units: SimulatedDrive::erase_units(ftl),
        units_per_erase_unit: capacity.units_per_erase_unit,
        units_in_slc_mode: ftl.units_in_slc_mode(),
        group_units: groups.units(),
        group_units_in_slc_mode: groups.units_in_slc_mode(),
        units_per_stripe: drive.parity.units_per_stripe,
        dies: drive.nand.channels * drive.nand.dies_per_channel,
        slots_per_unit: ftl.slots_per_unit(),
    })
}

impl Stored {
    fn new(drive: Drive, ftl: Box<dyn TimedSimulatedDrive>, nand: Nand) -> Self {
        Self {
            capacity: ftl.capacity(),
            nand: nand.packed(&drive.data_reduction),
            drive,
            ftl,
            arriving: Arriving::default(),
            read_only_reason: None,
            stranded: None,
            decisions: Vec::new(),
            decided: Vec::new(),
            packed: Vec::new(),
            forgets_after: None,
            counters: Counters::default(),
        }
    }

    fn take_up_file(&mut self) -> Back {
        let saved: Saved = serde_json::from_slice(self.nand.saved()).unwrap_or_default();
        let torn_units = if self.nand.has_power_loss_protection() { 0 } else { self.nand.tear_what_was_buffered() };
        let (found, recovery) = self.nand.recover(&[], torn_units);
        let lasting = Lasting {
            ledger: saved.ledger,
            array: None,
            erased_in_slc_mode: 0,
            host_units: saved.host_units,
            slots_left_in_begun_units: 0,
            zones: saved.zones,
            namespaces: saved.namespaces,
        };
        self.counters =
            Counters { simulated_ns: saved.simulated_ns, power_cycles: saved.power_cycles, unique: saved.unique };
        Back { found, recovery, lasting }
    }

    fn lose_power(&mut self, random: &mut Random) -> Back {
        self.arriving.lose();
        let (torn_units, undone) = self.nand.lose_power(random);
        let lasting = self.ftl.take_lasting();
        let (found, recovery) = self.nand.recover(&undone, torn_units);
        Back { found, recovery, lasting }
    }

    /// The time to read the checkpoint and to scan, over all dies in parallel.
    fn recovery_ns(&self, recovery: &Recovery) -> u64 {
        let nand = &self.drive.nand;
        let dies = f64::from(nand.channels * nand.dies_per_channel);
        let pages_ns = recovery.scanned_pages as f64 * nand.read_us_mean() * 1000.0 / dies;
        let map_bytes = if recovery.checkpoint_units > 0 { 4.0 * self.capacity.user_units as f64 } else { 0.0 };
        let map_ns = map_bytes / (nand.channel_mb_s * f64::from(nand.channels)) * 1000.0;
        (pages_ns + map_ns).round() as u64
    }

    /// Builds a new translation layer from the result of the scan.
    fn come_back(&mut self, found: &Found, lasting: Lasting, seed: u64) {
        self.ftl = build(&self.drive, seed).expect("the same drive was built before");
        for erase_unit in self.ftl.restore(found, lasting) {
            self.nand.fill_up(erase_unit.0);
        }
        self.decided = modes_of(found);
        self.read_only_reason = self.ftl.read_only().map(|reason| reason.to_string());
        self.stranded = None;
        self.counters.power_cycles += 1;
    }

    pub(super) fn save_counters(&mut self) {
        let Counters { simulated_ns, power_cycles, unique } = self.counters;
        let ledger = *SimulatedDrive::ledger(&*self.ftl);
        let (host_units, zones) = (self.ftl.host_units(), self.ftl.kept_zones());
        let namespaces = self.ftl.namespaces().to_vec();
        let saved = Saved { ledger, simulated_ns, power_cycles, host_units, unique, zones, namespaces };
        self.nand.save(&serde_json::to_vec(&saved).expect("counters are plain numbers"));
    }
}

/// The drive as opened: the options may override its power-loss protection.
fn with_protection(drive: &Drive, options: &Options) -> Drive {
    let mut drive = drive.clone();
    drive.write_buffer.power_loss_protection =
        options.power_loss_protection.unwrap_or(drive.write_buffer.power_loss_protection);
    drive
}

/// Whether the memory of a drive, as opened, survives a loss of power.
fn has_protection(drive: &Drive, options: &Options) -> bool {
    let buffer = &drive.write_buffer;
    buffer.power_loss_protection && (buffer.bytes > 0 || options.power_loss_protection.is_some())
}

fn build(drive: &Drive, seed: u64) -> Result<Box<dyn TimedSimulatedDrive>, SpecificationError> {
    let mut ftl = build_timed(drive, seed)?;
    if drive.data_reduction.is_on() {
        ftl.note_packing();
    }
    Ok(ftl)
}

/// For a new clock: which erase units are written in SLC mode.
fn modes_of(found: &Found) -> Vec<Decision> {
    let is_slc = |unit: &FoundEraseUnit| matches!(unit.contents, FoundContents::Written { is_slc: true, .. });
    let in_slc_mode = (0..).map(EraseUnit).zip(&found.erase_units).filter(|(_, unit)| is_slc(unit));
    in_slc_mode.map(|(erase_unit, _)| Decision::Open(erase_unit, true)).collect()
}
