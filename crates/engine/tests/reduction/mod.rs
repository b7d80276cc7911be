//! Does a drive that reduces data count correctly? Incompressible data comes to exactly what it comes to without data
//! reduction; figures by hand and by the closed form; and a slow twin that does everything the obvious way.

mod by_hand;
mod timed;
mod twin;

use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Content, Operation, Request};
use ssdlab_engine::simulation::build;
use ssdlab_engine::specification::drive::DataReduction;
use ssdlab_engine::specification::drive::*;

pub(crate) const UNIT: u64 = 4096;

pub(crate) const ON: DataReduction =
    DataReduction { compression: true, deduplication: false, packing_bytes: 512, index_bytes_per_unit: 0 };

/// One die; so many blocks of so many pages of one unit each, and so many of them for the host.
pub fn drive(blocks: u32, pages: u32, user_units: u64, data_reduction: DataReduction) -> Drive {
    let textbook = Drive::textbook();
    Drive {
        name: "reducing".into(),
        nand: Nand {
            cell: Cell::Mlc,
            blocks_per_plane: blocks,
            pages_per_block: pages,
            read_us: 50.0.into(),
            program_us: 900.0.into(),
            erase_us: 3000.0,
            channel_mb_s: 40.0,
            endurance_cycles: 5000,
            ..textbook.nand
        },
        ftl: Ftl { user_bytes: user_units * UNIT, reserve_erase_units: 2, ..textbook.ftl },
        data_reduction,
        ..textbook
    }
}

/// Writes mostly, some in part of a unit, some reads and trims.
pub fn random_request(random: &mut Random, user_bytes: u64, contents: &[Content]) -> Request {
    let operation = match random.below(10) {
        0 => Operation::Read,
        1 => Operation::Trim,
        _ => Operation::Write,
    };
    let (grain, most) = if random.below(4) == 0 { (512, 40) } else { (UNIT, 3) };
    let offset_bytes = random.below(user_bytes / grain) * grain;
    let length = ((1 + random.below(most)) * grain).min(user_bytes - offset_bytes) as u32;
    let content = contents[random.below(contents.len() as u64) as usize];
    Request { content, ..Request::new(operation, offset_bytes, length) }
}

/// Data that cannot be compressed fills its places as mapping units did, so every choice of every policy is the same.
#[test]
fn incompressible_data_comes_to_exactly_what_it_comes_to_without() {
    for (victim, placement, wear_leveling, stripe, spare_area) in [
        ("greedy", "single", "none", 0, SpareArea::Dynamic),
        ("fifo", "host-gc-split", "dynamic", 8, SpareArea::Static),
        ("cost-benefit", "frequency-frontiers", "static", 0, SpareArea::Dynamic),
        ("d-choices", "class-spare", "none", 5, SpareArea::Static),
    ] {
        let mut plain = drive(96, 16, 1000, DataReduction::default());
        plain.ftl.victim = PolicyChoice::named(victim);
        plain.ftl.placement = PolicyChoice::named(placement);
        plain.ftl.wear_leveling = PolicyChoice::named(wear_leveling);
        plain.ftl.spare_area = spare_area;
        plain.parity.units_per_stripe = stripe;
        let reducing = Drive { data_reduction: DataReduction { deduplication: true, ..ON }, ..plain.clone() };
        let (mut without, mut with) = (build(&plain, 3).unwrap(), build(&reducing, 3).unwrap());
        let mut random = Random::new(9);
        for _ in 0..20_000 {
            let request = random_request(&mut random, plain.ftl.user_bytes, &[Content::default()]);
            without.execute(&[request]).unwrap();
            with.execute(&[request]).unwrap();
        }
        let (coarse, fine) = (without.ledger(), with.ledger());
        assert!(coarse.programmed_units.gc > 1000, "{victim}: so little garbage collection would prove little");
        assert_eq!(coarse.programmed_units.host * 8, fine.programmed_units.host, "{victim}");
        assert_eq!(coarse.programmed_units.gc * 8, fine.programmed_units.gc, "{victim}");
        assert_eq!(coarse.programmed_units.wear_leveling * 8, fine.programmed_units.wear_leveling, "{victim}");
        assert_eq!(coarse.programmed_units.total() * 8, fine.programmed_units.total(), "{victim}");
        assert_eq!(coarse.read_units.host * 8, fine.read_units.host, "{victim}");
        assert_eq!(coarse.read_units.gc * 8, fine.read_units.gc, "{victim}");
        assert_eq!(coarse.read_units.read_modify_write * 8, fine.read_units.read_modify_write, "{victim}");
        assert_eq!(coarse.erased_erase_units, fine.erased_erase_units, "{victim}");
        assert_eq!(without.wear(), with.wear(), "{victim}");
        assert_eq!(without.effective_over_provisioning(), with.effective_over_provisioning(), "{victim}");
        with.check_accounts().unwrap();
        with.check_map().unwrap();
    }
}
