//! Is what is read what was written? Random requests go to the drive and to a model that is a map of units, on drives
//! so small that garbage collection never stops; every read is compared, and in the end all of it.

use crate::tiny::{Model, Reduction, SlcCache, Tiny, UNIT, contents, range};
use ssdlab_blockdev::device::{Device, Durability, Extent, punch};
use ssdlab_blockdev::drive::{Options, SimulatedDevice};
use ssdlab_engine::random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs so many random requests. The error says what was wrong first.
fn compare(tiny: &Tiny, device: &SimulatedDevice, seed: u64, requests: u64) -> Result<(), String> {
    let size_bytes = device.capabilities().size_bytes;
    let mut random = Random::new(seed);
    let mut model = Model::default();
    let failed = |what: &str, error: &dyn std::fmt::Display| format!("seed {seed}: {what}: {error}");
    let compared = |model: &Model, offset_bytes: u64, length_bytes: u64, request: u64| {
        let mut read = vec![0xee; length_bytes as usize];
        device.read(offset_bytes, &mut read).map_err(|error| failed("read", &error))?;
        if read == model.read(offset_bytes, length_bytes) {
            return Ok(());
        }
        Err(format!("seed {seed}: request {request}: {length_bytes} bytes at {offset_bytes} are not what was written"))
    };
    for request in 0..requests {
        let (offset_bytes, length_bytes) = range(&mut random, size_bytes);
        match random.below(16) {
            0..8 => {
                let data = tiny.contents(&mut random, length_bytes);
                let durability = if random.below(8) == 0 { Durability::Durable } else { Durability::Cached };
                device.write(offset_bytes, &data, durability).map_err(|error| failed("write", &error))?;
                model.write(offset_bytes, &data);
            }
            8 => {
                device.zero(offset_bytes, length_bytes, Durability::Cached).map_err(|error| failed("zero", &error))?;
                model.write(offset_bytes, &vec![0; length_bytes as usize]);
            }
            9 => {
                device.trim(offset_bytes, length_bytes).map_err(|error| failed("trim", &error))?;
                model.trim(offset_bytes, length_bytes);
            }
            10 => {
                punch(device, offset_bytes, length_bytes).map_err(|error| failed("punch", &error))?;
                model.write(offset_bytes, &vec![0; length_bytes as usize]);
            }
            11 if random.below(8) == 0 => device.flush().map_err(|error| failed("flush", &error))?,
            _ => {
                compared(&model, offset_bytes, length_bytes, request)?;
                compare_extents(device, &model, offset_bytes, length_bytes)
                    .map_err(|wrong| failed("extents", &wrong))?;
            }
        }
    }
    compared(&model, 0, size_bytes, requests)?;
    let mut core = device.core();
    core.ftl().check_accounts().map_err(|broken| failed("accounts", &broken))?;
    core.ftl().check_map().map_err(|broken| failed("map", &broken))
}

/// Extents follow each other through the range, each unlike the one before, and a hole reads zeroes.
fn compare_extents(
    device: &SimulatedDevice,
    model: &Model,
    offset_bytes: u64,
    length_bytes: u64,
) -> Result<(), String> {
    let extents = device.extents(offset_bytes, length_bytes, usize::MAX).map_err(|error| error.to_string())?;
    let mut at = offset_bytes;
    for extent in &extents {
        if extent.is_hole && model.read(at, extent.length_bytes).iter().any(|&byte| byte != 0) {
            return Err(format!("{extent:?} at {at} is no hole"));
        }
        at += extent.length_bytes;
    }
    let alternate = extents.windows(2).all(|pair| pair[0].is_hole != pair[1].is_hole);
    let first = device.extents(offset_bytes, length_bytes, 1).map_err(|error| error.to_string())?;
    if at != offset_bytes + length_bytes || !alternate || first[..] != extents[..1] {
        return Err(format!("{extents:?} for {length_bytes} bytes at {offset_bytes}; the first alone: {first:?}"));
    }
    Ok(())
}

#[test]
fn what_was_never_written_or_was_trimmed_is_a_hole() {
    let device = SimulatedDevice::new(&Tiny::default().drive(), &Options::default()).unwrap();
    let size_bytes = device.capabilities().size_bytes;
    let hole = |length_bytes| Extent { length_bytes, is_hole: true };
    let data = |length_bytes| Extent { length_bytes, is_hole: false };
    assert_eq!(device.extents(0, size_bytes, 9).unwrap(), [hole(size_bytes)]);
    device.write(UNIT + 100, &[0; 3 * UNIT as usize], Durability::Cached).unwrap();
    device.trim(2 * UNIT, UNIT + 1).unwrap();
    let expected = [hole(UNIT - 7), data(UNIT), hole(UNIT), data(2 * UNIT), hole(5)];
    assert_eq!(device.extents(7, 5 * UNIT - 2, 9).unwrap(), expected);
    assert_eq!(device.extents(7, 5 * UNIT - 2, 3).unwrap(), expected[..3]);
    assert!(device.extents(size_bytes, 1, 1).is_err());
}

fn drives() -> Vec<Tiny> {
    let plain = Tiny::default();
    vec![
        plain,
        Tiny { user_units: 384, buffer_units: 0, ..plain },
        Tiny { placement: "single", victim: "fifo", ..plain },
        Tiny { units_per_stripe: 8, user_units: 280, ..plain },
        Tiny { erase_unit: "block", user_units: 512, ..plain },
        Tiny { placement: "frequency-frontiers", user_units: 128, ..plain },
        Tiny::with_slc_cache(SlcCache::Direct),
        Tiny { units_per_stripe: 8, ..Tiny::with_slc_cache(SlcCache::Fold) },
        Tiny { pages_per_program: 4, ..Tiny::with_slc_cache(SlcCache::Direct) },
        Tiny { pages_per_program: 2, units_per_stripe: 8, ..Tiny::with_slc_cache(SlcCache::Fold) },
        Tiny { map_cache: Some("page"), ..plain },
        Tiny { map_cache: Some("extent"), buffer_units: 0, ..plain },
        Tiny::reducing(Reduction::Compresses),
        Tiny { buffer_units: 0, ..Tiny::reducing(Reduction::Deduplicates) },
        Tiny::reducing(Reduction::Both),
        Tiny { units_per_stripe: 8, user_units: 220, ..Tiny::reducing(Reduction::Both) },
        Tiny { placement: "single", victim: "fifo", ..Tiny::reducing(Reduction::Compresses) },
        Tiny { erase_unit: "block", user_units: 440, ..Tiny::reducing(Reduction::Both) },
        Tiny::striped(),
        Tiny { devices: 3, chunk_units: 1, user_units: 480, buffer_units: 0, ..Tiny::striped() },
        Tiny { devices: 2, user_units: 500, ..Tiny::reducing(Reduction::Both) },
    ]
}

#[test]
fn what_is_read_is_what_was_written() {
    for (index, tiny) in drives().into_iter().enumerate() {
        for power_loss_protection in [true, false] {
            let options = Options { power_loss_protection: Some(power_loss_protection), ..Options::default() };
            let device = SimulatedDevice::new(&tiny.drive(), &options).map_err(|error| format!("{error:?}")).unwrap();
            compare(&tiny, &device, index as u64, 5_000).unwrap_or_else(|wrong| panic!("{tiny:?} {wrong}"));
            let mut core = device.core();
            let ledger = *core.ftl().ledger();
            assert!(ledger.erased_erase_units > 100, "{tiny:?}: garbage collection ran");
            // Only requests of more than half an erase unit, on drives as small as these, leave no better way. In SLC
            // mode they often are larger than a whole one.
            let early_programs = core.events().early_programs;
            let is_rare = early_programs * 10 < ledger.erased_erase_units;
            assert!(is_rare || !matches!(tiny.slc_cache, SlcCache::None), "{tiny:?}: {early_programs}");
        }
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "a unit may be overwritten before it is missed; assertions find it at once")]
fn an_engine_that_forgets_one_move_is_found_out() {
    for moves in [2, 7, 100, 1000] {
        for tiny in [Tiny::default(), Tiny::reducing(Reduction::Both), Tiny::striped()] {
            let device = SimulatedDevice::new(&tiny.drive(), &Options::default()).ok().unwrap();
            device.core().forget_a_move(moves);
            // The engine's own identities may break first; that is found out as well.
            let found = catch_unwind(AssertUnwindSafe(|| compare(&tiny, &device, 3, 20_000)));
            assert!(!matches!(found, Ok(Ok(()))), "{tiny:?}: the canary sang after {moves} moves and nobody heard");
        }
    }
}

#[test]
fn several_threads_write_beside_each_other() {
    let device = SimulatedDevice::new(&Tiny::default().drive(), &Options::default()).ok().unwrap();
    let quarter = device.capabilities().size_bytes / 4;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let device = &device;
            scope.spawn(move || {
                let mut random = Random::new(thread);
                let mut model = Model::default();
                for _ in 0..4000 {
                    let (offset_bytes, length_bytes) = range(&mut random, quarter);
                    let data = contents(&mut random, length_bytes);
                    device.write(thread * quarter + offset_bytes, &data, Durability::Cached).unwrap();
                    model.write(offset_bytes, &data);
                    let mut read = vec![0; length_bytes as usize];
                    device.read(thread * quarter + offset_bytes, &mut read).unwrap();
                    assert_eq!(read, data);
                }
                let mut all = vec![0; quarter as usize];
                device.read(thread * quarter, &mut all).unwrap();
                assert_eq!(all, model.read(0, quarter));
            });
        }
    });
}

#[test]
fn what_lies_past_the_end_is_refused() {
    let device = SimulatedDevice::new(&Tiny::default().drive(), &Options::default()).ok().unwrap();
    let size_bytes = device.capabilities().size_bytes;
    assert!(device.read(size_bytes - 1, &mut [0; 2]).is_err());
    assert!(device.write(u64::MAX, &[0; 2], Durability::Cached).is_err());
    assert!(device.trim(0, size_bytes + 1).is_err());
    device.write(size_bytes - 1, &[7], Durability::Cached).unwrap();
    device.read(size_bytes, &mut []).unwrap();
}
