//! Does the engine agree with its twin? The twin does everything the slow and obvious way (`model`, `map_cache`).
//! Random operations go to both, and every counter is compared after each.

mod every_policy;
mod map_cache;
mod model;
mod open_blocks;
mod policies;
mod reclaim_groups;
mod slc_cache;

use every_policy::choices;
use model::Twin;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use slc_cache::{data_units, slc_units};
use ssdlab_engine::policies::{victim, wear};
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::build;
use ssdlab_engine::specification::drive::*;
use ssdlab_engine::specification::drive::{Eviction, MapCache, MapForm, WhenFull};

const UNIT: u64 = 4096;

/// Two dies, eight blocks, four pages of two units: everything rare happens within a hundred operations.
fn tiny(
    victim: &str,
    placement: &str,
    erase_unit: EraseUnitKind,
    spare_area: SpareArea,
    stripe: u32,
    reserve: u32,
) -> Drive {
    let (erase_units, units) = shape(erase_unit);
    let data_units = if stripe == 0 { units } else { units - units.div_ceil(stripe) };
    let streams = if placement == "single" { 1 } else { 2 };
    let textbook = Drive::textbook();
    Drive {
        name: "tiny".into(),
        nand: Nand {
            cell: Cell::Slc,
            dies_per_channel: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_bytes: 8192,
            read_us: 25.0.into(),
            program_us: 200.0.into(),
            erase_us: 1500.0,
            channel_mb_s: 100.0,
            endurance_cycles: 100,
            ..textbook.nand
        },
        ftl: Ftl {
            user_bytes: u64::from((erase_units - reserve - streams) * data_units) * UNIT,
            erase_unit,
            victim: PolicyChoice::named(victim),
            placement: PolicyChoice::named(placement),
            reserve_erase_units: reserve,
            spare_area,
            die_choice: PolicyChoice::named(match erase_unit {
                EraseUnitKind::Block => "one-block",
                EraseUnitKind::Superblock => "round-robin",
            }),
            ..textbook.ftl
        },
        parity: Parity { units_per_stripe: stripe },
        ..textbook
    }
}

/// Erase units, and mapping units in each.
fn shape(erase_unit: EraseUnitKind) -> (u32, u32) {
    match erase_unit {
        EraseUnitKind::Block => (16, 8),
        EraseUnitKind::Superblock => (8, 16),
    }
}

fn random_request(generator: &mut impl Rng, user_bytes: u64) -> Request {
    let mut below = |bound: u64| generator.next_u64() % bound;
    let operation = match below(10) {
        0 => Operation::Read,
        1 => Operation::Trim,
        _ => Operation::Write,
    };
    let (grain, most) = if below(4) == 0 { (512, 40) } else { (UNIT, 3) };
    let offset_bytes = below(user_bytes / grain) * grain;
    let length = (1 + below(most)) * grain;
    Request::new(operation, offset_bytes, length.min(user_bytes - offset_bytes) as u32)
}

fn tiny_with_map_cache(victim: &str, placement: &str, form: MapForm, entries_per_map_page: u32, slots: u64) -> Drive {
    let mut drive = tiny(victim, placement, EraseUnitKind::Block, SpareArea::Dynamic, 0, 1);
    drive.map_cache = MapCache {
        bytes: slots * u64::from(entries_per_map_page) * 4,
        entries_per_map_page,
        form,
        eviction: Eviction::Lru,
        ..Default::default()
    };
    // Map pages take room: at most one unit more for every two.
    drive.ftl.user_bytes = drive.ftl.user_bytes * 2 / 3 / UNIT * UNIT;
    drive
}

/// Gives random requests to both; every counter must agree after each.
fn agree(drive: &Drive, seed: u64, requests: usize, twin_takes: fn(&mut Twin, &Request)) -> TestCaseResult {
    let (erase_units, units) = shape(drive.ftl.erase_unit);
    let mut engine = build(drive, seed).expect("a tiny drive");
    let mut twin = Twin::new(drive, erase_units as usize, units as usize, seed);
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    for step in 0..requests {
        let request = random_request(&mut generator, drive.ftl.user_bytes);
        engine.execute(&[request]).expect("a drive that does not wear out takes all writes");
        twin_takes(&mut twin, &request);
        prop_assert_eq!(engine.ledger(), &twin.ledger, "after step {} {:?}", step, request);
        prop_assert_eq!(engine.capacity().live_units, twin.mapped() as u64);
        prop_assert_eq!(engine.free_erase_units() as usize, twin.free.len());
        prop_assert_eq!(engine.check_accounts(), Ok(()));
        prop_assert_eq!(engine.check_map(), Ok(()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn every_counter_agrees_after_every_operation(
        seed in any::<u64>(),
        victim in prop_oneof![Just("fifo"), Just("greedy")],
        placement in prop_oneof![Just("single"), Just("host-gc-split")],
        erase_unit in prop_oneof![Just(EraseUnitKind::Block), Just(EraseUnitKind::Superblock)],
        spare_area in prop_oneof![Just(SpareArea::Dynamic), Just(SpareArea::Static)],
        stripe in prop_oneof![Just(0u32), 2u32..9],
        reserve in 1u32..3,
    ) {
        let drive = tiny(victim, placement, erase_unit, spare_area, stripe, reserve);
        agree(&drive, seed, 1500, Twin::request)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_drive_that_fetches_map_pages_agrees_after_every_operation(
        seed in any::<u64>(),
        victim in prop_oneof![Just("fifo"), Just("greedy")],
        placement in prop_oneof![Just("single"), Just("host-gc-split")],
        form in prop_oneof![Just(MapForm::Page), Just(MapForm::Extent)],
        entries_per_map_page in 2u32..7,
        slots in 1u64..9,
    ) {
        let drive = tiny_with_map_cache(victim, placement, form, entries_per_map_page, slots);
        agree(&drive, seed, 1500, Twin::request_by_map_pages)?;
    }
}

/// A trim dropped a map page and then made room for another: garbage collection moved units that the first had named
/// and that were to be trimmed, so that it counted as behind, and was fetched and written back for a read of nothing.
#[test]
fn a_map_page_that_is_dropped_while_its_units_move_is_not_behind() {
    let drive = tiny_with_map_cache("greedy", "single", MapForm::Page, 3, 6);
    agree(&drive, 7_535_966_062_756_546_854, 400, Twin::request_by_map_pages).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn a_drive_with_an_open_block_on_each_die_agrees_too(
        seed in any::<u64>(),
        victim in choices(victim::descriptions()),
        wear_leveling in choices(wear::descriptions()),
        placement in prop_oneof![Just("single"), Just("host-gc-split")],
        spare_area in prop_oneof![Just(SpareArea::Dynamic), Just(SpareArea::Static)],
        stripe in prop_oneof![Just(0u32), 2u32..9],
        reserve in 1u32..3,
        dies in 2u32..5,
        pages_per_program in prop_oneof![Just(1u32), Just(2)],
        spare in 0u32..4,
    ) {
        let mut drive = tiny("greedy", placement, EraseUnitKind::Block, spare_area, stripe, reserve);
        drive.ftl.victim = victim;
        drive.ftl.wear_leveling = wear_leveling;
        drive.ftl.die_choice = dies_in_turn();
        drive.nand.dies_per_channel = dies;
        drive.nand.pages_per_program = pages_per_program;
        let streams = if placement == "single" { 1 } else { 2 };
        let for_data = dies * drive.nand.blocks_per_plane - reserve - streams * dies - spare;
        drive.ftl.user_bytes = u64::from(for_data) * data_units(8, stripe as usize) as u64 * UNIT;
        every_policy::agree(&drive, seed, 1500, |drawn| drawn % every_policy::IDENTIFIERS)?;
    }
}

/// A tiny drive with an SLC cache of so many erase units, static and dynamic.
fn tiny_with_cache(
    mut drive: Drive,
    cell: Cell,
    own: u32,
    dynamic: u32,
    free_share: f64,
    when_full: WhenFull,
) -> Drive {
    let (erase_units, units) = shape(drive.ftl.erase_unit);
    drive.nand.cell = cell;
    let stripe = drive.parity.units_per_stripe as usize;
    let slc_bytes = data_units(slc_units(&drive, units as usize), stripe) as u64 * UNIT;
    drive.slc_cache.static_bytes = u64::from(own) * slc_bytes;
    drive.slc_cache.dynamic_bytes_max = u64::from(dynamic) * slc_bytes;
    drive.slc_cache.dynamic_free_share = free_share;
    drive.slc_cache.when_full = when_full;
    // The host's two, the one of garbage collection, and a dynamic one.
    let open = 3 + u32::from(dynamic > 0);
    let for_data = erase_units - own - drive.ftl.reserve_erase_units - open;
    drive.ftl.user_bytes = u64::from(for_data) * data_units(units as usize, stripe) as u64 * UNIT;
    drive
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn a_drive_with_an_slc_cache_agrees_too(
        seed in any::<u64>(),
        victim in prop_oneof![Just("fifo"), Just("greedy")],
        erase_unit in prop_oneof![3 => Just(EraseUnitKind::Block), 1 => Just(EraseUnitKind::Superblock)],
        spare_area in prop_oneof![3 => Just(SpareArea::Dynamic), 1 => Just(SpareArea::Static)],
        stripe in prop_oneof![Just(0u32), 2u32..9],
        reserve in 1u32..3,
        cell in prop_oneof![Just(Cell::Mlc), Just(Cell::Tlc), Just(Cell::Qlc)],
        (own, dynamic) in prop_oneof![(Just(0u32), 1u32..5), (1u32..3, Just(0u32)), (1u32..3, 1u32..5)],
        free_share in prop_oneof![Just(0.0), Just(0.5)],
        when_full in prop_oneof![Just(WhenFull::Direct), Just(WhenFull::Fold)],
    ) {
        let drive = tiny(victim, "host-gc-split", erase_unit, spare_area, stripe, reserve);
        let own = if erase_unit == EraseUnitKind::Superblock { own.min(1) } else { own };
        let drive = tiny_with_cache(drive, cell, own, dynamic, free_share, when_full);
        agree(&drive, seed, 1200, Twin::request)?;
    }
}

/// Requests given one at a time and in one batch must come to the same: prefetching may not change what is done.
#[test]
fn batches_change_nothing() {
    let drive = tiny("greedy", "host-gc-split", EraseUnitKind::Block, SpareArea::Dynamic, 0, 1);
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(5);
    let requests: Vec<Request> = (0..5000).map(|_| random_request(&mut generator, drive.ftl.user_bytes)).collect();
    let mut one_by_one = build(&drive, 1).unwrap();
    let mut at_once = build(&drive, 1).unwrap();
    requests.iter().for_each(|request| one_by_one.execute(std::slice::from_ref(request)).unwrap());
    at_once.execute(&requests).unwrap();
    assert_eq!(one_by_one.ledger(), at_once.ledger());
    assert_eq!(one_by_one.wear(), at_once.wear());
}

/// Flash that is held out is not there for garbage collection: the drive works as one with so much less flash.
#[test]
fn a_drive_with_flash_held_out_is_a_smaller_drive() {
    for (erase_unit, erase_units) in [(EraseUnitKind::Block, 6u64), (EraseUnitKind::Superblock, 3)] {
        let small = tiny("greedy", "host-gc-split", erase_unit, SpareArea::Dynamic, 0, 1);
        let mut large = small.clone();
        large.nand.blocks_per_plane += 3;
        // Not a whole number of erase units: rounded up.
        large.ftl.reserved_bytes = erase_units * u64::from(shape(erase_unit).1) * UNIT - 1;
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(9);
        let requests: Vec<Request> = (0..5000).map(|_| random_request(&mut generator, small.ftl.user_bytes)).collect();
        let run = |drive: &Drive| {
            let mut engine = build(drive, 1).unwrap();
            engine.execute(&requests).unwrap();
            engine.check_accounts().unwrap();
            (*engine.ledger(), engine.capacity(), engine.wear())
        };
        assert_eq!(run(&large), run(&small));
    }
    let mut all = tiny("greedy", "single", EraseUnitKind::Block, SpareArea::Dynamic, 0, 1);
    all.ftl.reserved_bytes = 16 * 8 * UNIT;
    let refused = build(&all, 1).err().expect("no flash is left");
    assert_eq!(refused.key, "ftl.reserved_bytes");
}
