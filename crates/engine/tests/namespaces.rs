//! Drives of several namespaces: each counts what its own addresses have caused, and all of them behave as one drive.
//!
//! The twin keeps no map of the drive: it follows every program from place to place and recounts each namespace by
//! looking at all of its addresses.

use proptest::prelude::*;
use ssdlab_engine::error::SpecificationError;
use ssdlab_engine::ftl::{Ftl, NamespaceCounts};
use ssdlab_engine::ledger::{Cause, NamespaceLedger};
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{InitialState, Outcome, Run, start, start_from};
use ssdlab_engine::specification::drive::{Drive, EraseUnitKind, Namespace, PolicyChoice, SlcCache, WhenFull};
use ssdlab_engine::specification::job::{BlockSize, Direction, Identifiers, PerDirection};
use ssdlab_engine::specification::{Job, Specification, Until};
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::timing::drive::Idle;
use ssdlab_engine::timing::recorder::Recorder;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const UNIT: u64 = 4096;

/// 768 units for the host, of which the namespaces leave some; sizes are in units.
fn drive(sizes: &[u64]) -> Drive {
    let mut drive = Drive::textbook();
    drive.ftl.placement = PolicyChoice::named("host-gc-split");
    drive.ftl.wear_leveling = serde_json::from_value(serde_json::json!({ "name": "static", "threshold": 2 })).unwrap();
    drive.parity.units_per_stripe = 8;
    drive.nand.blocks_per_plane = 80;
    drive.namespaces = namespaces(sizes);
    drive
}

fn namespaces(sizes: &[u64]) -> Vec<Namespace> {
    let named = sizes.iter().enumerate();
    named.map(|(index, units)| Namespace::new(format!("tenant-{index}"), units * UNIT)).collect()
}

/// What each namespace must have counted.
struct Twin {
    ends: Vec<u64>,
    /// What each place that was programmed holds.
    places: BTreeMap<u32, u64>,
    mapped: BTreeSet<u64>,
    counted: Vec<NamespaceLedger>,
}

impl Twin {
    fn new(sizes: &[u64]) -> Self {
        let ends = (1..=sizes.len()).map(|count| sizes[..count].iter().sum()).collect();
        let counted = vec![NamespaceLedger::default(); sizes.len()];
        Self { ends, places: BTreeMap::new(), mapped: BTreeSet::new(), counted }
    }

    fn of(&mut self, unit: u64) -> &mut NamespaceLedger {
        let index = self.ends.iter().position(|&end| unit < end).unwrap();
        &mut self.counted[index]
    }

    /// Byte by byte as far as it goes by bytes, unit by unit as far as it goes by units.
    fn request(&mut self, request: &Request, decisions: &[Decision]) {
        let (start, end) = (request.offset_bytes, request.offset_bytes + u64::from(request.length_bytes));
        let parts: Vec<(u64, u64)> = (start / UNIT..end.div_ceil(UNIT))
            .map(|unit| (unit, end.min((unit + 1) * UNIT) - start.max(unit * UNIT)))
            .collect();
        let mut written = VecDeque::new();
        for &(unit, bytes) in &parts {
            match request.operation {
                Operation::Read => self.of(unit).host_read_bytes += bytes,
                Operation::Write => {
                    self.of(unit).host_written_bytes += bytes;
                    self.of(unit).read_modify_write_units += u64::from(bytes < UNIT);
                    self.mapped.insert(unit);
                    written.push_back(unit);
                }
                Operation::Trim => {
                    self.of(unit).host_trimmed_bytes += bytes;
                    if bytes == UNIT && self.mapped.remove(&unit) {
                        self.of(unit).trimmed_units += 1;
                    }
                }
                Operation::Flush => {}
            }
        }
        self.follow(decisions, &mut written);
        assert!(written.is_empty(), "every unit of a write is programmed");
    }

    fn follow(&mut self, decisions: &[Decision], written: &mut VecDeque<u64>) {
        for &decision in decisions {
            match decision {
                Decision::Read(from, cause) => {
                    let unit = self.places[&from.0];
                    match cause {
                        Cause::Host => self.of(unit).read_units.host += 1,
                        Cause::ReadModifyWrite => self.of(unit).read_units.read_modify_write += 1,
                        _ => unreachable!("a unit that is moved is a copy"),
                    }
                }
                Decision::Program(to, Cause::Host) => {
                    let unit = written.pop_front().unwrap();
                    self.of(unit).programmed_units.host += 1;
                    self.places.insert(to.0, unit);
                }
                Decision::Program(..) | Decision::ReadFromMemory(..) | Decision::Erase(_) | Decision::Open(..) => {}
                Decision::Copy(from, to, cause) => {
                    let unit = self.places[&from.0];
                    let programs = &mut self.of(unit).programmed_units;
                    match cause {
                        Cause::WearLeveling => programs.wear_leveling += 1,
                        Cause::SlcFold => programs.slc_fold += 1,
                        _ => programs.gc += 1,
                    }
                    self.places.insert(to.0, unit);
                }
            }
        }
    }

    fn counts(&self) -> Vec<NamespaceCounts> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .zip(&self.counted)
            .map(|((start, &end), &ledger)| NamespaceCounts {
                live_units: self.mapped.range(start..end).count() as u64,
                ledger,
            })
            .collect()
    }
}

/// Random requests, of parts of units and across boundaries too, and idle time.
struct Mix<'a> {
    drive: &'a Drive,
    sizes: &'a [u64],
    seed: u64,
}

impl Mix<'_> {
    fn run(self) -> NamespaceLedger {
        let Self { drive, sizes, seed } = self;
        let mut ftl = Ftl::new(drive, Recorder::default(), seed).unwrap();
        let mut twin = Twin::new(sizes);
        let mut random = Random::new(seed);
        let allocated = sizes.iter().sum::<u64>();
        for step in 0..6000u64 {
            let units = 1 + random.below(6).min(allocated - 1);
            // Hot data at the beginning of each namespace.
            let first = random.below(allocated - units + 1);
            let first = if random.below(3) > 0 { first / 32 * 32 } else { first };
            let (skipped, cut) = if random.below(8) == 0 { (512, 1024) } else { (0, 0) };
            let length_bytes = (units * UNIT - skipped - cut) as u32;
            let operation = match random.below(24) {
                0 => Operation::Trim,
                1..3 => Operation::Read,
                _ => Operation::Write,
            };
            let request = Request::new(operation, first * UNIT + skipped, length_bytes);
            ftl.execute_one(&request).unwrap();
            twin.request(&request, &std::mem::take(&mut ftl.clock_mut().decisions));
            if random.below(16) == 0 {
                while ftl.run_background(step * 1_000_000_000, 0).unwrap() == Idle::Decided {
                    twin.follow(&std::mem::take(&mut ftl.clock_mut().decisions), &mut VecDeque::new());
                }
            }
            assert_eq!(ftl.namespaces(), twin.counts(), "after step {step}");
            ftl.check_accounts().unwrap_or_else(|broken| panic!("after step {step}: {broken}"));
        }
        ftl.check_map().unwrap();
        NamespaceLedger::of_all(ftl.ledger())
    }
}

fn mixed(drive: &Drive, sizes: &[u64], seed: u64) -> NamespaceLedger {
    Mix { drive, sizes, seed }.run()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn each_namespace_counts_what_its_addresses_caused(
        seed in any::<u64>(),
        sizes in prop::collection::vec(1u64..250, 1..4),
        placement in prop_oneof![Just("single"), Just("host-gc-split"), Just("class-spare")],
    ) {
        let mut drive = drive(&sizes);
        drive.ftl.placement = PolicyChoice::named(placement);
        mixed(&drive, &sizes, seed);
    }
}

#[test]
fn every_cause_of_a_move_is_counted() {
    let sizes = [300, 100, 360];
    let counted = mixed(&drive(&sizes), &sizes, 5).programmed_units;
    assert!(counted.gc > 1000 && counted.wear_leveling > 100, "{counted:?}");

    let mut cached = drive(&sizes);
    cached.ftl.wear_leveling = PolicyChoice::named("none");
    cached.parity.units_per_stripe = 0;
    cached.nand.pages_per_block = 48;
    cached.nand.blocks_per_plane = 30;
    cached.slc_cache = SlcCache {
        static_bytes: 4 * 16 * UNIT,
        when_full: WhenFull::Fold,
        read_us: 25.0,
        program_us: 200.0,
        erase_us: 3000.0,
        ..SlcCache::default()
    };
    cached.ftl.erase_unit = EraseUnitKind::Superblock;
    let counted = mixed(&cached, &sizes, 5).programmed_units;
    assert!(counted.slc_fold > 1000, "{counted:?}");
}

fn job(name: &str, stage: u32, offset: u64, units: u64, passes: u64) -> Job {
    let size = || vec![BlockSize { bytes: UNIT as u32, percent: 100.0 }];
    Job {
        name: name.into(),
        stage,
        direction: Direction::Write,
        offset_bytes: offset * UNIT,
        size_bytes: units * UNIT,
        io_bytes: passes * units * UNIT,
        block_sizes: PerDirection { read: size(), write: size(), trim: size() },
        iodepth: 4,
        seed: 5 + offset,
        ..Job::default()
    }
}

fn specification(drive: &Drive, jobs: Vec<Job>, timed: bool) -> Specification {
    Specification {
        drive: drive.clone(),
        jobs,
        seed: 1,
        timed,
        until: Until::Job,
        series_points_max: 100,
        interval_ns: None,
    }
}

fn finished(mut run: Box<dyn Run>) -> (Outcome, Vec<u8>) {
    while !run.advance(1 << 20).unwrap().is_finished {}
    let mut state = Vec::new();
    run.save_state(&mut state).unwrap();
    (run.finish(), state)
}

fn outcome(drive: &Drive, jobs: Vec<Job>, timed: bool) -> Outcome {
    finished(start(&specification(drive, jobs, timed)).unwrap_or_else(|error| panic!("{error}"))).0
}

/// Two tenants that write side by side, one of them three times as much, after both were filled.
fn jobs(sizes: [u64; 2]) -> Vec<Job> {
    let [first, second] = sizes;
    vec![
        Job { sequential: true, ..job("fill", 0, 0, first + second, 1) },
        job("first", 1, 0, first, 12),
        job("second", 1, first, second, 4),
    ]
}

#[test]
fn namespaces_change_nothing_but_the_counting() {
    let sizes = [300, 400];
    let plain = Drive { namespaces: Vec::new(), ..drive(&sizes) };
    for timed in [false, true] {
        let shared = outcome(&drive(&sizes), jobs(sizes), timed);
        let counted = shared.namespaces.clone().unwrap();
        assert_eq!(Outcome { namespaces: None, ..shared.clone() }, outcome(&plain, jobs(sizes), timed));
        let [first, second] = counted[..] else { panic!("two namespaces") };
        let fill = [300 * UNIT, 400 * UNIT];
        assert_eq!(first.ledger.host_written_bytes, fill[0] + first.last_stage.host_written_bytes);
        assert_eq!(first.last_stage.host_written_bytes, 12 * 300 * UNIT);
        assert_eq!(second.last_stage.host_written_bytes, 4 * 400 * UNIT);
        assert_eq!((first.live_units, second.live_units), (300, 400));
        assert!(first.last_stage.programmed_units.gc > 0 && second.last_stage.programmed_units.gc > 0);
        let moved = first.ledger.programmed_units.gc + second.ledger.programmed_units.gc;
        assert_eq!(moved, shared.ledger.programmed_units.gc);
    }
}

/// The spare area is shared: a tenant whose neighbour writes nothing has the neighbour's place too.
#[test]
fn a_tenant_next_to_an_empty_namespace_has_a_drive_to_itself() {
    let sizes = [300, 400];
    let mut alone = Drive { namespaces: Vec::new(), ..drive(&sizes) };
    alone.ftl.user_bytes = 300 * UNIT;
    let jobs = || vec![job("fill", 0, 0, 300, 1), job("first", 1, 0, 300, 20)];
    let shared = outcome(&drive(&sizes), jobs(), false);
    assert_eq!(shared.ledger, outcome(&alone, jobs(), false).ledger);
    let [first, second] = shared.namespaces.unwrap()[..] else { panic!("two namespaces") };
    assert_eq!(first.ledger, NamespaceLedger::of_all(&shared.ledger));
    assert_eq!((second.ledger, second.live_units), (NamespaceLedger::default(), 0));
}

/// Each namespace's identifiers stand for the drive's that its list names.
#[test]
fn a_list_of_handles_is_another_numbering() {
    let sizes = [300, 400];
    let mut unlisted = drive(&sizes);
    unlisted.nand.blocks_per_plane = 96;
    unlisted.ftl.placement =
        serde_json::from_value(serde_json::json!({ "name": "host-streams", "identifiers": 4 })).unwrap();
    let mut listed = unlisted.clone();
    listed.namespaces[0].placement_handles = vec![3];
    listed.namespaces[1].placement_handles = vec![2, 0];
    let jobs = |first: Identifiers, second: Identifiers, fills: [u32; 2]| {
        let fill = |name: &str, offset, units| Job { sequential: true, ..job(name, 0, offset, units, 1) };
        vec![
            Job { stream_id: Some(fills[0]), ..fill("fill-first", 0, 300) },
            Job { stream_id: Some(fills[1]), ..fill("fill-second", 300, 400) },
            Job { identifiers: Some(first), ..job("first", 1, 0, 300, 12) },
            Job { identifiers: Some(second), ..job("second", 1, 300, 400, 4) },
        ]
    };
    let turns = |among: &[u8]| Identifiers::RoundRobin { among: among.to_vec() };
    for timed in [false, true] {
        let by_list = outcome(&listed, jobs(turns(&[]), turns(&[0, 1]), [0, 0]), timed);
        let by_drive = outcome(&unlisted, jobs(turns(&[3]), turns(&[2, 0]), [3, 2]), timed);
        assert_eq!(by_list, by_drive);
        let mixed = outcome(&unlisted, jobs(turns(&[0]), turns(&[0]), [0, 0]), timed);
        assert_ne!(by_list.ledger, mixed.ledger, "the handles make a difference");
    }
    // One run over both namespaces: each part has the first handle of its namespace.
    let across = Job { sequential: true, ..job("across", 0, 0, 700, 1) };
    let parts = [(0, 300, 3), (300, 400, 2)].map(|(offset, units, handle)| Job {
        sequential: true,
        stream_id: Some(handle),
        ..job("part", 0, offset, units, 1)
    });
    let [first, second] = parts;
    let second = Job { stage: 1, name: "second".into(), ..second };
    assert_eq!(outcome(&listed, vec![across], false).ledger, outcome(&unlisted, vec![first, second], false).ledger);

    let far = Job { identifiers: Some(turns(&[1])), ..job("far", 0, 0, 300, 1) };
    let refused = start(&specification(&listed, vec![far], false)).err().unwrap();
    assert_eq!(refused.key, "jobs.far.identifiers");
    assert!(refused.allowed.contains("placement_handles"), "{refused}");
}

#[test]
fn counts_go_on_from_a_saved_state() {
    let sizes = [300, 400];
    let drive = drive(&sizes);
    let whole = outcome(&drive, jobs(sizes), false).namespaces.unwrap();
    let mut parts = jobs(sizes);
    let rest = parts.split_off(1);
    let (_, state) = finished(start(&specification(&drive, parts, false)).unwrap());
    let initial = InitialState { input: &mut &state[..], times: 1 };
    let (later, _) = finished(start_from(&specification(&drive, rest.clone(), false), Some(initial)).unwrap());
    assert_eq!(later.namespaces.unwrap(), whole);

    let other = Drive { namespaces: namespaces(&[299, 401]), ..drive };
    let initial = InitialState { input: &mut &state[..], times: 1 };
    let refused = start_from(&specification(&other, rest, false), Some(initial)).err().unwrap();
    assert_eq!(refused.key, "state");
}

#[test]
fn a_job_beyond_the_namespaces_is_refused() {
    let refused = |drive: &Drive, job: Job| -> SpecificationError {
        start(&specification(drive, vec![job], false)).err().unwrap()
    };
    let drive = drive(&[300, 400]);
    assert_eq!(refused(&drive, job("far", 0, 600, 101, 1)).key, "jobs.far.size_bytes");
    let too_large = Drive { namespaces: namespaces(&[300, 469]), ..drive };
    assert_eq!(refused(&too_large, job("any", 0, 0, 10, 1)).key, "namespace.2.size_bytes");
}
