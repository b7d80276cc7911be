//! Does every policy on the lists keep its contract? Each combination serves a workload of everything on a small drive,
//! with the map checked against its opposite as it goes.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ssdlab_engine::policies::{descriptions, placement, victim, wear};
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{SimulatedDrive, build};
use ssdlab_engine::specification::drive::*;

fn drive(victim: &str, placement: &str, wear_leveling: &str) -> Drive {
    let choice = |name: &str| PolicyChoice { name: name.into(), parameters: Default::default() };
    Drive {
        name: "small".into(),
        nand: Nand {
            cell: Cell::Tlc,
            channels: 2,
            dies_per_channel: 1,
            planes_per_die: 2,
            blocks_per_plane: 16,
            pages_per_block: 4,
            page_bytes: 16384,
            read_us: 60.0,
            program_us: 700.0,
            erase_us: 5000.0,
            channel_mb_s: 800.0,
            endurance_cycles: 60,
        },
        ftl: Ftl {
            user_bytes: 700 * 4096,
            mapping_unit_bytes: 4096,
            erase_unit: EraseUnitKind::Block,
            victim: choice(victim),
            placement: choice(placement),
            wear_leveling: choice(wear_leveling),
            reserve_erase_units: 2,
            spare_area: SpareArea::Dynamic,
        },
        parity: Parity { units_per_stripe: 0 },
        faults: Faults { factory_bad_blocks: 0.0, wear_out: false, endurance_spread: 0.0 },
        write_buffer: WriteBuffer { bytes: 0 },
        controller: Controller { command_us: 5.0 },
    }
}

fn write_unit(unit: u64) -> Request {
    Request { offset_bytes: unit * 4096, length_bytes: 4096, operation: Operation::Write }
}

/// Skewed writes of one to three units, some trims.
fn request(generator: &mut impl Rng, user_units: u64) -> Request {
    let mut below = |bound: u64| generator.next_u64() % bound;
    let range = if below(5) < 4 { user_units / 5 } else { user_units };
    let operation = if below(20) == 0 { Operation::Trim } else { Operation::Write };
    let unit = below(range - 3);
    Request { offset_bytes: unit * 4096, length_bytes: (1 + below(3)) as u32 * 4096, operation }
}

fn serve(drive: &mut dyn SimulatedDrive, requests: u32, seed: u64) {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let user_units = drive.capacity().user_units;
    for step in 0..requests {
        drive.execute(&[request(&mut generator, user_units)]).unwrap();
        if step % 64 == 0 {
            drive.check_map().unwrap();
            drive.check_accounts().unwrap();
        }
    }
}

#[test]
fn every_combination_keeps_the_accounts() {
    for victim in victim::descriptions() {
        for placement in placement::descriptions() {
            for wear in wear::descriptions() {
                let name = format!("{} / {} / {}", victim.name, placement.name, wear.name);
                let mut drive = build(&drive(victim.name, placement.name, wear.name), 7).expect(&name);
                serve(&mut *drive, 12_000, 3);
                assert!(drive.ledger().programmed_units.gc > 0, "{name} never cleaned");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_drive() {
    for victim in victim::descriptions() {
        let run = || {
            let mut drive = build(&drive(victim.name, "host-gc-split", "none"), 11).unwrap();
            serve(&mut *drive, 3000, 3);
            (*drive.ledger(), drive.wear())
        };
        assert_eq!(run(), run(), "{}", victim.name);
    }
}

#[test]
fn names_are_unique_and_described() {
    let all = descriptions();
    for description in &all {
        assert!(!description.summary.is_empty() && !description.source.is_empty(), "{}", description.name);
        let same = all.iter().filter(|other| (other.kind, other.name) == (description.kind, description.name)).count();
        assert_eq!(same, 1, "{} is on its list twice", description.name);
    }
}

#[test]
fn wear_levelling_narrows_the_spread_and_is_counted() {
    let wear_of = |name: &str, threshold: Option<u32>| {
        let mut drive = drive("greedy", "host-gc-split", name);
        if let Some(threshold) = threshold {
            drive.ftl.wear_leveling.parameters.insert("threshold".into(), threshold.into());
        }
        let mut built = build(&drive, 1).unwrap();
        // All of the drive is filled once, and a fifth of it written on and on.
        (0..700).for_each(|unit| built.execute(&[write_unit(unit)]).unwrap());
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..200_000).for_each(|_| built.execute(&[write_unit(generator.next_u64() % 140)]).unwrap());
        built.check_map().unwrap();
        (built.wear().erase_count, built.ledger().programmed_units.wear_leveling)
    };
    let (none, none_moved) = wear_of("none", None);
    let (dynamic, _) = wear_of("dynamic", None);
    let (leveled, moved) = wear_of("static", Some(20));
    assert_eq!(none_moved, 0);
    assert!(dynamic.stddev <= none.stddev, "{dynamic:?} against {none:?}");
    assert!(moved > 0 && leveled.max - leveled.min <= 20 + 3, "{leveled:?}");
    assert!(none.min == 0 && none.max > 100, "cold data keeps its erase units: {none:?}");
}

#[test]
fn a_worn_drive_turns_read_only_and_keeps_its_accounts() {
    for erase_unit in [EraseUnitKind::Block, EraseUnitKind::Superblock] {
        for reserve in 1..3 {
            let mut worn = drive("greedy", "host-gc-split", "dynamic");
            worn.faults = Faults { factory_bad_blocks: 0.05, wear_out: true, endurance_spread: 0.2 };
            worn.ftl.erase_unit = erase_unit;
            worn.ftl.reserve_erase_units = reserve;
            worn.ftl.user_bytes = 400 * 4096;
            let mut drive = build(&worn, 3).unwrap();
            let mut generator = Xoshiro256PlusPlus::seed_from_u64(3);
            let refused = (0..1_000_000).find_map(|_| drive.execute(&[request(&mut generator, 400)]).err());
            let reason = refused.expect("60 cycles are soon used up").reason.to_string();
            assert!(reason.contains("out of spare blocks"), "{reason}");
            drive.check_map().unwrap();
            drive.check_accounts().unwrap();
            assert!(drive.wear().bad_blocks_grown > 0);
            let again = drive.execute(&[Request { offset_bytes: 0, length_bytes: 8192, operation: Operation::Read }]);
            assert!(again.is_ok(), "what it holds can still be read");
        }
    }
}

#[test]
fn a_drive_without_spare_area_is_refused_with_what_would_fit() {
    let mut full = drive("greedy", "single", "none");
    full.ftl.user_bytes = 64 * 16 * 4096;
    let error = build(&full, 1).err().expect("no spare erase unit is left");
    assert_eq!(error.key, "ftl.user_bytes");
    let at_most: u64 = error.allowed.split(' ').find_map(|word| word.parse().ok()).expect("a number of bytes");
    full.ftl.user_bytes = at_most;
    serve(&mut *build(&full, 1).unwrap(), 5000, 1);
    full.ftl.user_bytes = at_most + 4096;
    assert!(build(&full, 1).is_err(), "the message names the largest capacity");
}
