//! Every policy on the engine's lists against its twin, with every other that it works together with: counters after
//! each operation, and now and then each place of each erase unit. A new policy is drawn without being named here.

use super::model::{Slot, State, Twin};
use super::policies::Policies;
use super::{UNIT, random_request, tiny};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::ftl::picture::{CellsBy, Standing};
use ssdlab_engine::policies::{Description, placement, victim, wear};
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{SimulatedDrive, build};
use ssdlab_engine::specification::drive::*;

pub const IDENTIFIERS: u8 = 3;
const BETWEEN_LOOKS: usize = 16;

/// The policies of a list as they are, and with parameters under which more happens on a tiny drive.
pub fn choices(list: Vec<Description>) -> impl Strategy<Value = PolicyChoice> {
    let eager: [(&str, &str, Value); 9] = [
        ("d-choices", "d", json!(2)),
        ("windowed-greedy", "window", json!(1.0)),
        ("host-streams", "identifiers", json!(IDENTIFIERS)),
        ("frequency-frontiers", "frontiers", json!(2)),
        ("frequency-frontiers", "error_share", json!(0.3)),
        ("class-spare", "borders", json!([0.2, 0.6])),
        ("class-spare", "classes", json!(3)),
        ("class-spare", "error_share", json!(0.3)),
        ("static", "threshold", json!(2)),
    ];
    let named: Vec<PolicyChoice> = list.iter().map(|description| PolicyChoice::named(description.name)).collect();
    let with_parameters = eager.into_iter().filter(|(name, ..)| list.iter().any(|listed| listed.name == *name));
    let with_parameters = with_parameters.map(|(name, key, value)| PolicyChoice {
        name: name.into(),
        parameters: [(key.to_owned(), value)].into_iter().collect(),
    });
    select(named.iter().cloned().chain(with_parameters).collect::<Vec<_>>())
}

/// A tiny drive with room for the open erase units of its placement.
fn drive_with(
    victim: PolicyChoice,
    mut placement: PolicyChoice,
    wear_leveling: PolicyChoice,
    (erase_unit, spare_area, stripe, reserve): (EraseUnitKind, SpareArea, u32, u32),
) -> Drive {
    if placement.name == "host-streams" {
        placement.parameters.insert("identifiers".into(), json!(IDENTIFIERS));
    }
    let mut drive = tiny("greedy", "single", erase_unit, spare_area, stripe, reserve);
    drive.nand.blocks_per_plane = 12;
    drive.ftl.victim = victim;
    drive.ftl.placement = placement;
    drive.ftl.wear_leveling = wear_leveling;
    let (erase_units, units) = shape_of(&drive);
    let streams = Policies::new(&drive, erase_units, 0).streams() as u32;
    let data_units = super::data_units(units, stripe as usize) as u64;
    drive.ftl.user_bytes = (erase_units as u64 - u64::from(reserve + streams)) * data_units * UNIT;
    drive
}

fn shape_of(drive: &Drive) -> (usize, usize) {
    let nand = &drive.nand;
    let blocks = (nand.channels * nand.dies_per_channel * nand.planes_per_die) as usize;
    let (blocks_per_plane, units) = (nand.blocks_per_plane as usize, (nand.pages_per_block * nand.page_bytes) as usize);
    let units = units / UNIT as usize;
    match drive.ftl.erase_unit {
        EraseUnitKind::Block => (blocks * blocks_per_plane, units),
        EraseUnitKind::Superblock => {
            let groups = Policies::new(drive, blocks_per_plane, 0).reclaim_groups();
            (blocks_per_plane * groups, blocks * units / groups)
        }
    }
}

/// Half of the writes to a fifth of the drive, so that data differ in how long they live.
fn request(generator: &mut impl Rng, user_bytes: u64, identifier: &impl Fn(u8) -> u8) -> Request {
    let part = if generator.next_u64().is_multiple_of(2) { user_bytes / UNIT / 5 * UNIT } else { user_bytes };
    let mut request = random_request(generator, part);
    if request.operation == Operation::Write {
        request.content.identifier = identifier((generator.next_u64() % 252) as u8);
    }
    request
}

/// `identifier` is that of a write for a drawn number from 0 to 251.
pub fn agree(drive: &Drive, seed: u64, requests: usize, identifier: impl Fn(u8) -> u8) -> TestCaseResult {
    let (erase_units, units) = shape_of(drive);
    let mut engine = build(drive, seed).expect("a tiny drive");
    let mut twin = Twin::new(drive, erase_units, units, seed);
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    for step in 0..requests {
        let request = request(&mut generator, drive.ftl.user_bytes, &identifier);
        if let Err(refused) = engine.execute(&[request]) {
            // Full erase units may be drawn so many times in a row that the engine takes it for the end.
            let draws = ["random", "d-choices"].contains(&drive.ftl.victim.name.as_str());
            prop_assert!(draws && refused.reason == ReadOnly::NothingToReclaim, "{}", refused.reason);
            return Ok(());
        }
        twin.request(&request);
        prop_assert_eq!(engine.ledger(), &twin.ledger, "after step {} {:?}", step, request);
        prop_assert_eq!(engine.free_erase_units() as usize, twin.free.len());
        prop_assert_eq!(engine.check_accounts(), Ok(()));
        if step % BETWEEN_LOOKS == 0 {
            prop_assert_eq!(engine.check_map(), Ok(()));
            each_slot_agrees(&*engine, &twin)?;
            prop_assert!(twin.agrees_on_groups(&*engine), "step {}: {:?}", step, engine.group_counts());
        }
    }
    prop_assert!(engine.ledger().erased_erase_units > 0, "it never erased");
    Ok(())
}

fn each_slot_agrees(engine: &dyn SimulatedDrive, twin: &Twin) -> TestCaseResult {
    let mut streams = Vec::new();
    engine.cells(CellsBy::Stream, &mut streams);
    for (erase_unit, &stream) in streams.iter().enumerate() {
        let found = engine.close_up(erase_unit as u32).expect("an erase unit");
        let state = match twin.state[erase_unit] {
            State::Free => Standing::Free,
            State::Open => Standing::Open,
            State::Closed => Standing::Closed,
        };
        prop_assert_eq!(found.state, state, "erase unit {}", erase_unit);
        prop_assert_eq!(found.erase_count, twin.erase_counts[erase_unit]);
        prop_assert_eq!(found.slc_mode_erase_count.unwrap_or(0), twin.slc_erase_counts[erase_unit]);
        let units: String = (0..twin.units()).map(|slot| letter(twin, erase_unit, slot)).collect();
        prop_assert_eq!(&found.units, &units, "erase unit {}", erase_unit);
        if state != Standing::Free {
            prop_assert_eq!(usize::from(stream), twin.stream[erase_unit], "erase unit {}", erase_unit);
        }
    }
    Ok(())
}

fn letter(twin: &Twin, erase_unit: usize, slot: usize) -> char {
    match twin.slots[erase_unit][slot] {
        Slot::Empty => '.',
        Slot::Parity => 'p',
        Slot::Data(_) if twin.is_live(erase_unit, slot) => 'v',
        Slot::Data(_) => 's',
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_policy_agrees_after_every_operation(
        seed in any::<u64>(),
        victim in choices(victim::descriptions()),
        placement in choices(placement::descriptions()),
        wear_leveling in choices(wear::descriptions()),
        erase_unit in prop_oneof![3 => Just(EraseUnitKind::Block), 1 => Just(EraseUnitKind::Superblock)],
        spare_area in prop_oneof![3 => Just(SpareArea::Dynamic), 1 => Just(SpareArea::Static)],
        stripe in prop_oneof![Just(0u32), 3u32..9],
        reserve in 1u32..3,
    ) {
        let drive = drive_with(victim, placement, wear_leveling, (erase_unit, spare_area, stripe, reserve));
        agree(&drive, seed, 1000, |drawn| drawn % IDENTIFIERS)?;
    }
}
