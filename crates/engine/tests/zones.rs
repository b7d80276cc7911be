//! Drives with zones: no write is accepted but at a write pointer, and nothing is ever moved.
//!
//! The twin keeps every unit of every zone by itself and finds all else by looking at all of them.

use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::error::ZoneStatus;
use ssdlab_engine::ftl::zoned::ZoneState;
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
const AREA_UNITS: u32 = 6;

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
        ..Zones::default()
    };
    drive
}

/// The same with a random write area of 6 units that is flushed in steps of 3 or 2.
fn drive_with_areas(open_max: u32, active_max: u32, granularity_units: u32) -> Drive {
    let mut drive = drive(open_max, active_max);
    drive.zones.random_write_area_bytes = u64::from(AREA_UNITS) * UNIT;
    drive.zones.flush_granularity_bytes = u64::from(granularity_units) * UNIT;
    drive
}

type ZonedDrive = Ftl<Zoned, Untimed>;

fn zoned(drive: &Drive) -> ZonedDrive {
    Ftl::with_layer(drive, Untimed, 1).unwrap()
}

/// A zone as the specification's prose has it.
#[derive(Clone)]
struct TwinZone {
    state: ZoneState,
    written: Vec<bool>,
    opened_at: u64,
    /// With random write areas: the write pointer, and how many units were programmed.
    committed: usize,
    programmed: usize,
}

struct Twin {
    zones: Vec<TwinZone>,
    open_max: usize,
    active_max: usize,
    now: u64,
    /// Steps of a flush; 0: no random write areas.
    granularity: usize,
    overwritten: u64,
    gaps: u64,
    programs: u64,
    flushes: u64,
}

#[derive(Clone, Copy, Debug)]
enum Command {
    Write {
        first: u32,
        units: u32,
    },
    Append {
        zone: u32,
        units: u32,
    },
    Open(u32),
    Close(u32),
    Finish(u32),
    Reset(u32),
    /// Flush explicitly up to this unit of the zone.
    Commit {
        zone: u32,
        end: u32,
    },
}

impl Twin {
    fn new(open_max: u32, active_max: u32, granularity: usize) -> Self {
        let empty = TwinZone {
            state: ZoneState::Empty,
            written: vec![false; CAPACITY_UNITS as usize],
            opened_at: 0,
            committed: 0,
            programmed: 0,
        };
        Self {
            zones: vec![empty; ZONES as usize],
            open_max: open_max as usize,
            active_max: active_max as usize,
            now: 0,
            granularity,
            overwritten: 0,
            gaps: 0,
            programs: 0,
            flushes: 0,
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
        if self.granularity > 0 {
            return self.zones[zone].committed;
        }
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
        let (pointer, area) = (self.pointer(zone), AREA_UNITS as usize);
        let is_in_order = at == pointer;
        let is_in_area = self.granularity > 0 && at >= pointer && at + units <= pointer + 2 * area;
        if (!is_in_order || self.granularity > 0) && !is_in_area {
            return Err(ZoneStatus::ZoneInvalidWrite);
        }
        if !Self::is_open(self.zones[zone].state) {
            self.enter(zone, ZoneState::ImplicitlyOpen)?;
        }
        let again = self.zones[zone].written[at..at + units].iter().filter(|&&is_written| is_written).count();
        self.overwritten += again as u64;
        self.zones[zone].written[at..at + units].fill(true);
        if self.granularity > 0 {
            // Step by step, until the write ends inside the area or the zone is at its end.
            let end = at + units;
            while (end == CAPACITY_UNITS as usize || end > self.pointer(zone) + area)
                && self.pointer(zone) < CAPACITY_UNITS as usize
            {
                self.commit(zone, self.pointer(zone) + self.granularity);
            }
        } else if at + units == CAPACITY_UNITS as usize {
            self.zones[zone].state = ZoneState::Full;
        }
        Ok(())
    }

    /// Programs what lies before the new pointer, gap or not.
    fn commit(&mut self, zone: usize, end: usize) {
        for unit in self.zones[zone].committed..end {
            if self.zones[zone].written[unit] {
                self.programs += 1;
                self.zones[zone].programmed += 1;
            } else {
                self.gaps += 1;
            }
        }
        self.zones[zone].committed = end;
        if end == CAPACITY_UNITS as usize {
            self.zones[zone].state = ZoneState::Full;
        }
    }

    fn commit_by_command(&mut self, zone: usize, end: usize) -> Result<(), ZoneStatus> {
        let pointer = self.pointer(zone);
        if self.granularity == 0 || [ZoneState::Empty, ZoneState::Full].contains(&self.zones[zone].state) {
            return Err(ZoneStatus::InvalidFieldInCommand);
        }
        if end <= pointer || end > pointer + AREA_UNITS as usize || end > CAPACITY_UNITS as usize {
            return Err(ZoneStatus::ZoneBoundaryError);
        }
        if !(end - pointer).is_multiple_of(self.granularity) {
            return Err(ZoneStatus::InvalidFieldInCommand);
        }
        if !Self::is_open(self.zones[zone].state) {
            self.enter(zone, ZoneState::ImplicitlyOpen)?;
        }
        self.flushes += 1;
        self.commit(zone, end);
        Ok(())
    }

    fn carry_out(&mut self, command: Command) -> Result<(), ZoneStatus> {
        self.now += 1;
        match command {
            Command::Write { first, units } => {
                self.write((first / ZONE_UNITS) as usize, (first % ZONE_UNITS) as usize, units as usize)
            }
            Command::Append { .. } if self.granularity > 0 => Err(ZoneStatus::InvalidZoneOperationRequest),
            Command::Append { zone, units } => self.write(zone as usize, self.pointer(zone as usize), units as usize),
            Command::Commit { zone, end } => self.commit_by_command(zone as usize, end as usize),
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
                let pointer = self.pointer(zone as usize);
                let is_active = ![ZoneState::Empty, ZoneState::Full].contains(&self.zones[zone as usize].state);
                if self.granularity > 0 && is_active {
                    // What lies in the area is programmed.
                    let last = self.zones[zone as usize].written.iter().rposition(|&is_written| is_written);
                    self.commit(zone as usize, last.map_or(0, |last| last + 1).max(pointer));
                }
                self.zones[zone as usize].state = ZoneState::Full;
                Ok(())
            }
            Command::Reset(zone) => {
                self.zones[zone as usize].state = ZoneState::Empty;
                self.zones[zone as usize].written.fill(false);
                self.zones[zone as usize].committed = 0;
                self.zones[zone as usize].programmed = 0;
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
        Command::Commit { zone, end } => drive.commit_zone(zone, end).map_err(status_of),
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

/// Mostly writes, most of them near the pointer, and flushes.
fn draw_with_areas(random: &mut Random, drive: &ZonedDrive) -> Command {
    let zone = random.below(u64::from(ZONES)) as u32;
    let pointer = drive.zone_table().zone(zone).written;
    let ahead = random.below(u64::from(2 * AREA_UNITS + 1)) as u32;
    match random.below(100) {
        0..45 => {
            let first = (zone * ZONE_UNITS + pointer + ahead).min(ZONES * ZONE_UNITS - 1);
            Command::Write { first, units: 1 + random.below(4) as u32 }
        }
        45..65 => Command::Commit { zone, end: pointer + ahead },
        _ => draw(random, drive),
    }
}

/// Random commands on a drive and its twin. Returns how many were refused.
fn against_twin(commands: u64, open_max: u32, active_max: u32, seed: u64, look_every: u64) -> u64 {
    let mut random = Random::new(seed);
    let mut drive = zoned(&drive(open_max, active_max));
    let mut twin = Twin::new(open_max, active_max, 0);
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

/// The same with random write areas. Also returns how many units were overwritten in them.
fn with_areas_against_twin(
    commands: u64,
    (open_max, active_max): (u32, u32),
    granularity_units: u32,
    seed: u64,
    look_every: u64,
) -> (u64, u64) {
    let mut random = Random::new(seed);
    let mut drive = zoned(&drive_with_areas(open_max, active_max, granularity_units));
    let mut twin = Twin::new(open_max, active_max, granularity_units as usize);
    let (mut refused, mut host_bytes) = (0, 0);
    for number in 0..commands {
        let command = draw_with_areas(&mut random, &drive);
        let (said, expected) = (carry_out(&mut drive, command), twin.carry_out(command));
        assert_eq!(said, expected, "command {number}: {command:?}");
        refused += u64::from(said.is_err());
        if let (Ok(()), Command::Write { units, .. }) = (said, command) {
            host_bytes += u64::from(units) * UNIT;
        }
        for (index, zone) in twin.zones.iter().enumerate() {
            let ours = drive.zone_table().zone(index as u32);
            assert_eq!(ours.state, zone.state, "command {number}: {command:?}, zone {index}");
            assert_eq!(ours.written as usize, twin.pointer(index), "command {number}: {command:?}, zone {index}");
        }
        let programs = drive.ledger().programmed_units.host;
        assert_eq!(programs, twin.programs, "command {number}: {command:?}");
        if number % look_every == 0 {
            drive.check_accounts().unwrap();
            drive.check_map().unwrap();
            assert_eq!(drive.ledger().host_written_bytes, host_bytes);
            let counts = drive.zone_table().counts().random_write_areas.unwrap();
            let all = (counts.overwritten_units, counts.gap_units, counts.explicit_flushes);
            assert_eq!(all, (twin.overwritten, twin.gaps, twin.flushes), "command {number}");
            let held: usize = twin.zones.iter().map(|zone| zone.programmed).sum();
            assert_eq!(drive.capacity().live_units, held as u64);
        }
    }
    (refused, twin.overwritten)
}

#[test]
fn random_write_areas_are_as_their_twin() {
    for (limits, granularity, seed) in [((3, 5), 1, 1), ((1, 1), 2, 2), ((4, 4), 3, 3), ((12, 12), 6, 4)] {
        let (refused, overwritten) = with_areas_against_twin(20_000, limits, granularity, seed, 97);
        assert!((100..19_000).contains(&refused) && overwritten > 1000, "{refused} refused, {overwritten} overwritten");
    }
}

/// The same for long: as below.
#[test]
#[ignore = "ten million commands"]
fn random_write_areas_are_as_their_twin_for_long() {
    let (refused, overwritten) = with_areas_against_twin(10_000_000, (3, 5), 2, 8, 100_003);
    println!("{refused} of 10,000,000 commands were refused, {overwritten} units overwritten");
}

/// The same for long: `cargo test --release -p ssdlab-engine zones -- --ignored`.
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
    drive.zones =
        Zones { zone_bytes: 512 * UNIT, capacity_bytes: 480 * UNIT, open_max: 4, active_max: 6, ..Zones::default() };
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
    overwrite_percent: 0.0,
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

/// Of 100 writes 60 write again what is still in the area: the flash programs the other 40, and parity.
#[test]
fn what_is_overwritten_in_a_random_write_area_is_not_programmed() {
    let mut drive = timed_drive();
    drive.zones.random_write_area_bytes = 48 * UNIT;
    drive.zones.flush_granularity_bytes = 4 * UNIT;
    for timed in [false, true] {
        let zoned = Some(ZonedJob { overwrite_percent: 60.0, ..RULES });
        let outcome = outcome(&drive, vec![Job { zoned, sequential: true, ..job(&drive, Direction::Write, 1) }], timed);
        assert_eq!(outcome.failure, None);
        let (programs, zones) = (outcome.ledger.programmed_units, outcome.zones.unwrap());
        let counts = zones.random_write_areas.unwrap();
        assert_eq!((zones.refused, counts.gap_units, counts.explicit_flushes), (0, 0, 0));
        let units = outcome.ledger.host_written_bytes / UNIT;
        assert_eq!((programs.gc, programs.padding), (0, 0));
        // What is neither programmed nor overwritten is still in the area of an active zone.
        let in_areas = units - programs.host - counts.overwritten_units;
        assert!(in_areas <= 48 * u64::from(zones.implicitly_open + zones.closed), "{in_areas}");
        let share = counts.overwritten_units as f64 / units as f64;
        assert!((share - 0.6).abs() < 0.02, "timed {timed}: {share}");
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
