//! Drives with zones: no write is accepted but at a write pointer, and nothing is ever moved.
//!
//! The twin keeps every unit of every zone by itself and finds all else by looking at all of them.

use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::ftl::zoned::{ZoneSlots, ZoneState, ZoneStatus};
use ssdlab_engine::ftl::{Ftl, Zoned};
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{Outcome, start};
use ssdlab_engine::specification::drive::{Drive, EraseUnitKind, Zones};
use ssdlab_engine::specification::job::{BlockSize, Direction, PerDirection, ZonedJob};
use ssdlab_engine::specification::{Job, Specification, Until};
use ssdlab_engine::timing::Untimed;

const UNIT: u64 = 4096;
/// Units of a zone and what it holds: two erase units of 16 pages with 3 + 1 parity, and a part of a third.
const ZONE_UNITS: u32 = 40;
const CAPACITY_UNITS: u32 = 30;
const ZONES: u32 = 12;

fn drive(open_max: u32, active_max: u32) -> Drive {
    let mut drive = Drive::textbook();
    drive.nand.blocks_per_plane = 3 * ZONES + 1;
    drive.ftl.user_bytes = u64::from(ZONES * ZONE_UNITS) * UNIT;
    drive.parity.units_per_stripe = 4;
    drive.zones = Zones {
        zone_bytes: u64::from(ZONE_UNITS) * UNIT,
        capacity_bytes: u64::from(CAPACITY_UNITS) * UNIT,
        open_max,
        active_max,
    };
    drive
}

type ZonedDrive = Ftl<ZoneSlots, Zoned, Untimed>;

fn zoned(drive: &Drive) -> ZonedDrive {
    Ftl::with_layer(drive, ZoneSlots::of(drive.zones.active_max as u8), Untimed, 1).unwrap()
}

/// A zone as the specification's prose has it.
#[derive(Clone)]
struct TwinZone {
    state: ZoneState,
    written: Vec<bool>,
    opened_at: u64,
}

struct Twin {
    zones: Vec<TwinZone>,
    open_max: usize,
    active_max: usize,
    now: u64,
}

#[derive(Clone, Copy, Debug)]
enum Command {
    Write { first: u32, units: u32 },
    Append { zone: u32, units: u32 },
    Open(u32),
    Close(u32),
    Finish(u32),
    Reset(u32),
}

impl Twin {
    fn new(open_max: u32, active_max: u32) -> Self {
        let empty = TwinZone { state: ZoneState::Empty, written: vec![false; CAPACITY_UNITS as usize], opened_at: 0 };
        Self {
            zones: vec![empty; ZONES as usize],
            open_max: open_max as usize,
            active_max: active_max as usize,
            now: 0,
        }
    }

    fn is_open(state: ZoneState) -> bool {
        state == ZoneState::ImplicitlyOpen || state == ZoneState::ExplicitlyOpen
    }

    fn open_zones(&self) -> usize {
        self.zones.iter().filter(|zone| Self::is_open(zone.state)).count()
    }

    fn active_zones(&self) -> usize {
        self.open_zones() + self.zones.iter().filter(|zone| zone.state == ZoneState::Closed).count()
    }

    fn pointer(&self, zone: usize) -> usize {
        self.zones[zone].written.iter().position(|is_written| !is_written).unwrap_or(CAPACITY_UNITS as usize)
    }

    fn enter(&mut self, zone: usize, state: ZoneState) -> Result<(), ZoneStatus> {
        if self.zones[zone].state == ZoneState::Empty && self.active_zones() >= self.active_max {
            return Err(ZoneStatus::TooManyActiveZones);
        }
        if self.open_zones() >= self.open_max {
            let implicit = self.zones.iter().enumerate().filter(|(_, zone)| zone.state == ZoneState::ImplicitlyOpen);
            let oldest = implicit.min_by_key(|(_, zone)| zone.opened_at).map(|(index, _)| index);
            self.zones[oldest.ok_or(ZoneStatus::TooManyOpenZones)?].state = ZoneState::Closed;
        }
        self.zones[zone].state = state;
        self.zones[zone].opened_at = self.now;
        Ok(())
    }

    fn write(&mut self, zone: usize, at: usize, units: usize) -> Result<(), ZoneStatus> {
        if self.zones[zone].state == ZoneState::Full {
            return Err(ZoneStatus::ZoneIsFull);
        }
        if at + units > CAPACITY_UNITS as usize {
            return Err(ZoneStatus::ZoneBoundaryError);
        }
        if at != self.pointer(zone) {
            return Err(ZoneStatus::ZoneInvalidWrite);
        }
        if !Self::is_open(self.zones[zone].state) {
            self.enter(zone, ZoneState::ImplicitlyOpen)?;
        }
        self.zones[zone].written[at..at + units].fill(true);
        if at + units == CAPACITY_UNITS as usize {
            self.zones[zone].state = ZoneState::Full;
        }
        Ok(())
    }

    fn carry_out(&mut self, command: Command) -> Result<(), ZoneStatus> {
        self.now += 1;
        match command {
            Command::Write { first, units } => {
                self.write((first / ZONE_UNITS) as usize, (first % ZONE_UNITS) as usize, units as usize)
            }
            Command::Append { zone, units } => self.write(zone as usize, self.pointer(zone as usize), units as usize),
            Command::Open(zone) => match self.zones[zone as usize].state {
                ZoneState::Full => Err(ZoneStatus::InvalidZoneStateTransition),
                ZoneState::Empty | ZoneState::Closed => self.enter(zone as usize, ZoneState::ExplicitlyOpen),
                ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen => {
                    self.zones[zone as usize].state = ZoneState::ExplicitlyOpen;
                    Ok(())
                }
            },
            Command::Close(zone) => {
                let state = &mut self.zones[zone as usize].state;
                if *state == ZoneState::Empty || *state == ZoneState::Full {
                    return Err(ZoneStatus::InvalidZoneStateTransition);
                }
                *state = ZoneState::Closed;
                Ok(())
            }
            Command::Finish(zone) => {
                self.zones[zone as usize].state = ZoneState::Full;
                Ok(())
            }
            Command::Reset(zone) => {
                self.zones[zone as usize].state = ZoneState::Empty;
                self.zones[zone as usize].written.fill(false);
                Ok(())
            }
        }
    }
}

fn status_of(refusal: ReadOnly) -> ZoneStatus {
    match refusal {
        ReadOnly::ZoneCommandRefused { status, .. } => status,
        other => panic!("{other}"),
    }
}

fn carry_out(drive: &mut ZonedDrive, command: Command) -> Result<(), ZoneStatus> {
    match command {
        Command::Write { first, units } => {
            let request = Request::new(Operation::Write, u64::from(first) * UNIT, units * UNIT as u32);
            drive.execute_one(&request).map_err(status_of)
        }
        Command::Append { zone, units } => drive.append_to_zone(zone, units).map(drop).map_err(status_of),
        Command::Open(zone) => drive.open_zone(zone),
        Command::Close(zone) => drive.close_zone(zone),
        Command::Finish(zone) => drive.finish_zone(zone).map_err(status_of),
        Command::Reset(zone) => {
            let request = Request::new(Operation::Trim, u64::from(zone * ZONE_UNITS) * UNIT, ZONE_UNITS * UNIT as u32);
            drive.execute_one(&request).map_err(status_of)
        }
    }
}

/// Mostly writes, most of them where the pointer is.
fn draw(random: &mut Random, drive: &ZonedDrive) -> Command {
    let mut below = |most: u64| random.below(most) as u32;
    let zone = below(u64::from(ZONES));
    let units = 1 + below(9);
    match below(100) {
        0..60 => Command::Write { first: zone * ZONE_UNITS + drive.zone_table().zone(zone).written, units },
        60..70 => Command::Write { first: zone * ZONE_UNITS + below(u64::from(ZONE_UNITS)), units },
        70..82 => Command::Append { zone, units },
        82..86 => Command::Open(zone),
        86..90 => Command::Close(zone),
        90..93 => Command::Finish(zone),
        _ => Command::Reset(zone),
    }
}

/// Random commands on a drive and its twin. Returns how many were refused.
fn against_twin(commands: u64, open_max: u32, active_max: u32, seed: u64, look_every: u64) -> u64 {
    let mut random = Random::new(seed);
    let mut drive = zoned(&drive(open_max, active_max));
    let mut twin = Twin::new(open_max, active_max);
    let mut refused = 0;
    let (mut host_units, mut erases) = (0, 0);
    for number in 0..commands {
        let command = draw(&mut random, &drive);
        let (said, expected) = (carry_out(&mut drive, command), twin.carry_out(command));
        assert_eq!(said, expected, "command {number}: {command:?}");
        refused += u64::from(said.is_err());
        if let (Ok(()), Command::Write { units, .. } | Command::Append { units, .. }) = (said, command) {
            host_units += u64::from(units);
        }
        for (index, zone) in twin.zones.iter().enumerate() {
            let ours = drive.zone_table().zone(index as u32);
            assert_eq!(ours.state, zone.state, "command {number}: {command:?}, zone {index}");
            assert_eq!(ours.written as usize, twin.pointer(index), "command {number}: {command:?}, zone {index}");
        }
        if number % look_every == 0 {
            drive.check_accounts().unwrap();
            drive.check_map().unwrap();
            let ledger = drive.ledger();
            assert_eq!(ledger.programmed_units.host, host_units);
            assert_eq!((ledger.programmed_units.gc, ledger.programmed_units.wear_leveling), (0, 0));
            assert!(ledger.erased_erase_units >= erases);
            erases = ledger.erased_erase_units;
        }
    }
    refused
}

#[test]
fn zones_are_as_their_twin() {
    for (open_max, active_max, seed) in [(3, 5, 1), (1, 1, 2), (4, 4, 3), (12, 12, 4), (1, 12, 5)] {
        let refused = against_twin(20_000, open_max, active_max, seed, 97);
        assert!((100..19_000).contains(&refused), "{refused} of 20,000 commands were refused");
    }
}

/// The same for long: `cargo test --release -p ssdlab-engine --test zones -- --ignored`.
#[test]
#[ignore = "ten million commands"]
fn zones_are_as_their_twin_for_long() {
    let refused = against_twin(10_000_000, 3, 5, 7, 100_003);
    println!("{refused} of 10,000,000 commands were refused");
}

#[test]
fn a_write_that_is_not_at_the_pointer_changes_nothing() {
    let mut drive = zoned(&drive(2, 2));
    let write = |first: u64, units: u64| Request::new(Operation::Write, first * UNIT, (units * UNIT) as u32);
    drive.execute_one(&write(0, 3)).unwrap();
    let before = *drive.ledger();
    let refused = [
        (write(0, 1), "Zone Invalid Write"),
        (write(4, 1), "Zone Invalid Write"),
        (write(3, 28), "Zone Boundary Error"),
        (Request::new(Operation::Write, 3 * UNIT, 512), "Invalid Field in Command"),
        (Request::new(Operation::Trim, 0, UNIT as u32), "Invalid Field in Command"),
    ];
    for (request, status) in refused {
        let said = drive.execute_one(&request).unwrap_err().to_string();
        assert_eq!(said, format!("the drive refuses a command at byte {}: {status}", request.offset_bytes));
    }
    drive.execute_one(&write(40, 30)).unwrap();
    assert!(drive.execute_one(&write(69, 1)).unwrap_err().to_string().ends_with("Zone Is Full"));
    drive.execute_one(&write(80, 1)).unwrap();
    assert!(drive.execute_one(&write(120, 1)).unwrap_err().to_string().ends_with("Too Many Active Zones"));
    assert_eq!(drive.ledger().host_written_bytes, before.host_written_bytes + 31 * UNIT);
    assert_eq!(drive.zone_table().counts().refused, 5);
}

/// 4 dies of 64 pages a block: a superblock holds 256 units, of which 16 are parity; a zone is two of them.
fn timed_drive() -> Drive {
    let mut drive = Drive::textbook();
    drive.nand.dies_per_channel = 4;
    drive.nand.pages_per_block = 64;
    drive.nand.blocks_per_plane = 2 * 20 + 2;
    drive.nand.pages_per_program = 2;
    drive.ftl.erase_unit = EraseUnitKind::Superblock;
    drive.parity.units_per_stripe = 16;
    drive.write_buffer.bytes = 256 * 1024;
    drive.zones = Zones { zone_bytes: 512 * UNIT, capacity_bytes: 480 * UNIT, open_max: 4, active_max: 6 };
    drive.ftl.user_bytes = 20 * drive.zones.zone_bytes;
    drive
}

const RULES: ZonedJob = ZonedJob {
    zone_bytes: 0,
    capacity_bytes: 0,
    open_max: 0,
    job_open_max: 0,
    reset_threshold: 0.0,
    reset_frequency: 0.0,
    read_beyond_pointer: false,
};

fn job(drive: &Drive, direction: Direction, blocks: u32) -> Job {
    let size = || vec![BlockSize { bytes: blocks * UNIT as u32, percent: 100.0 }];
    Job {
        direction,
        size_bytes: drive.ftl.user_bytes,
        io_bytes: 8 * drive.ftl.user_bytes,
        block_sizes: PerDirection { read: size(), write: size(), trim: size() },
        iodepth: 16,
        zoned: Some(RULES),
        seed: 5,
        ..Job::default()
    }
}

fn outcome(drive: &Drive, jobs: Vec<Job>, timed: bool) -> Outcome {
    let specification = Specification {
        drive: drive.clone(),
        jobs,
        seed: 1,
        timed,
        until: Until::Job,
        series_points_max: 100,
        interval_ns: None,
    };
    let mut run = start(&specification).unwrap_or_else(|error| panic!("{error}"));
    while !run.advance(1 << 20).unwrap().is_finished {}
    run.finish()
}

#[test]
fn a_zoned_drive_writes_what_the_host_writes_and_parity() {
    let drive = timed_drive();
    for timed in [false, true] {
        for sequential in [false, true] {
            let outcome = outcome(&drive, vec![Job { sequential, ..job(&drive, Direction::Write, 4) }], timed);
            assert_eq!(outcome.failure, None);
            let programs = outcome.ledger.programmed_units;
            let zones = outcome.zones.unwrap();
            assert!(zones.resets > 20, "{zones:?}");
            assert_eq!(zones.refused, 0);
            assert_eq!((programs.gc, programs.padding, programs.wear_leveling), (0, 0, 0));
            // Of every 16 units 15 are the host's; the last stripe of what is open may lack its parity.
            let open = u64::from(zones.implicitly_open + zones.closed);
            assert!(programs.parity <= programs.host / 15 && programs.host / 15 - programs.parity <= open + 1);
            assert_eq!(outcome.ledger.host_written_bytes, programs.host * UNIT);
        }
    }
}

#[test]
fn jobs_keep_to_their_limits_of_open_zones() {
    let drive = timed_drive();
    for timed in [false, true] {
        let half = |clone: u32| Job {
            clone,
            name: format!("half-{clone}"),
            offset_bytes: u64::from(clone) * drive.ftl.user_bytes / 2,
            size_bytes: drive.ftl.user_bytes / 2,
            seed: 9 + u64::from(clone),
            zoned: Some(ZonedJob { job_open_max: 2, ..RULES }),
            ..job(&drive, Direction::ReadWrite, 3)
        };
        let outcome = outcome(&drive, vec![half(0), half(1)], timed);
        assert_eq!(outcome.failure, None, "timed: {timed}");
        let zones = outcome.zones.unwrap();
        assert_eq!((zones.refused, zones.explicitly_open), (0, 0));
        assert!(zones.implicitly_open + zones.closed <= 4, "{zones:?}");
        assert!(outcome.jobs.iter().all(|job| job.read.ios > 100 && job.write.ios > 100));
    }
}

#[test]
fn zones_that_are_reset_before_they_are_full_cost_no_more_than_a_program_group() {
    let drive = timed_drive();
    for timed in [false, true] {
        let zoned = Some(ZonedJob { reset_threshold: 0.2, reset_frequency: 0.1, ..RULES });
        let outcome = outcome(&drive, vec![Job { zoned, ..job(&drive, Direction::Write, 1) }], timed);
        assert_eq!(outcome.failure, None);
        let (programs, zones) = (outcome.ledger.programmed_units, outcome.zones.unwrap());
        assert!(zones.resets > 1000 && programs.padding <= zones.resets && programs.padding > 0, "{zones:?}");
    }
}

#[test]
fn trims_reset_zones_and_reads_stay_below_the_pointers() {
    let drive = timed_drive();
    let zone_bytes = drive.zones.zone_bytes as u32;
    let trims = PerDirection {
        trim: vec![BlockSize { bytes: zone_bytes, percent: 100.0 }],
        ..job(&drive, Direction::Trim, 1).block_sizes
    };
    for timed in [false, true] {
        let fill = Job { sequential: true, io_bytes: drive.ftl.user_bytes / 4, ..job(&drive, Direction::Write, 4) };
        let read = Job { stage: 1, io_bytes: drive.ftl.user_bytes / 4, ..job(&drive, Direction::Read, 4) };
        let trim = Job { stage: 2, block_sizes: trims.clone(), ..job(&drive, Direction::Trim, 1) };
        let outcome = outcome(&drive, vec![fill, read, trim], timed);
        assert_eq!(outcome.failure, None);
        assert_eq!(outcome.ledger.host_read_bytes, drive.ftl.user_bytes / 4);
        // Every read finds data. With a clock some of it is still in the buffer, which takes no flash.
        let read_bytes = outcome.ledger.read_units.host * UNIT;
        assert!(if timed { read_bytes > 0 } else { read_bytes == outcome.ledger.host_read_bytes });
        let zones = outcome.zones.unwrap();
        assert_eq!((zones.empty, zones.resets), (20, u64::from(20_u32 / 4 + 1)), "timed: {timed}");
    }
}

#[test]
fn what_cannot_be_is_named() {
    let zoned = timed_drive();
    let refused = |drive: &Drive, job: Job, timed| {
        let specification = Specification {
            drive: drive.clone(),
            jobs: vec![job],
            seed: 1,
            timed,
            until: Until::Job,
            series_points_max: 100,
            interval_ns: None,
        };
        start(&specification).err().map(|error| error.key).unwrap_or_default()
    };
    let plain = job(&zoned, Direction::Write, 1);
    assert_eq!(refused(&zoned, Job { zoned: None, ..plain.clone() }, false), "jobs.job.zoned");
    assert_eq!(
        refused(&Drive::textbook(), Job { size_bytes: 4 * UNIT, ..plain.clone() }, false),
        "jobs.job.zoned.zone_bytes"
    );
    let other = Some(ZonedJob { zone_bytes: UNIT, ..RULES });
    assert_eq!(refused(&zoned, Job { zoned: other, ..plain.clone() }, false), "jobs.job.zoned.zone_bytes");
    assert_eq!(refused(&zoned, job(&zoned, Direction::Trim, 1), false), "jobs.job.block_sizes.trim");
    assert_eq!(refused(&zoned, job(&zoned, Direction::Write, 7), false), "jobs.job.block_sizes.write");
    let mut collecting = zoned.clone();
    collecting.map_cache.bytes = 1 << 20;
    assert_eq!(refused(&collecting, plain.clone(), false), "map_cache.bytes");
    let mut many = zoned.clone();
    many.ftl.user_bytes += many.zones.zone_bytes;
    assert_eq!(refused(&many, plain, false), "ftl.user_bytes");
}
