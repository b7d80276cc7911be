//! Is what was flushed there after the process was killed? A child writes to a drive in a file and says what it has
//! flushed; it is killed at a random moment, a hundred times, and the drive opened again and read.

use crate::tiny::{Model, Reduction, SlcCache, Tiny, UNIT, range};
use ssdlab_blockdev::device::{Device, Durability};
use ssdlab_blockdev::drive::{Contents, Options, SimulatedDevice};
use ssdlab_engine::random::Random;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const FILE: &str = "SSDLAB_KILLED_FILE";
const SEED: &str = "SSDLAB_KILLED_SEED";
const KILLS: u64 = 100;
const REQUESTS_MAX: u64 = 200_000;

/// Drives with power-loss protection and without: plain ones, such with an SLC cache, such with a part of their map,
/// such that reduce data, stripes.
const DRIVES: u64 = 14;

/// The one whose turn it is.
fn tiny_of(seed: u64) -> Tiny {
    match seed % DRIVES {
        2 => Tiny::with_slc_cache(SlcCache::Direct),
        3 => Tiny::with_slc_cache(SlcCache::Fold),
        4 => Tiny { map_cache: Some("page"), ..Tiny::default() },
        5 => Tiny { map_cache: Some("extent"), ..Tiny::default() },
        6 | 7 => Tiny { user_units: 320, ..Tiny::reducing(Reduction::Both) },
        8 => Tiny { user_units: 320, ..Tiny::reducing(Reduction::Deduplicates) },
        9 => Tiny { user_units: 320, ..Tiny::reducing(Reduction::Compresses) },
        // Protected: padding at every flush would use up the spare area of so small a drive.
        10 => Tiny { pages_per_program: 2, ..Tiny::with_slc_cache(SlcCache::Fold) },
        12 | 13 => Tiny::striped(),
        _ => Tiny::default(),
    }
}

fn open(path: &Path, seed: u64) -> SimulatedDevice {
    let options = Options {
        contents: Contents::File(path.to_owned()),
        power_loss_protection: Some(seed.is_multiple_of(2)),
        journal_trims: 50,
        ..Options::default()
    };
    SimulatedDevice::new(&tiny_of(seed).drive(), &options).map_err(|error| format!("{error:?}")).unwrap()
}

enum Step {
    Write { offset_bytes: u64, data: Vec<u8> },
    Trim { offset_bytes: u64, length_bytes: u64 },
    Flush,
}

/// The same steps for the child, which takes them, and the parent, which knows them.
fn steps(seed: u64) -> impl Iterator<Item = Step> {
    let mut random = Random::new(seed);
    let tiny = tiny_of(seed);
    (0..REQUESTS_MAX).map(move |_| {
        let (offset_bytes, length_bytes) = range(&mut random, 320 * UNIT);
        match random.below(20) {
            0..3 => Step::Flush,
            3 => Step::Trim { offset_bytes, length_bytes },
            _ => Step::Write { offset_bytes, data: tiny.contents(&mut random, length_bytes) },
        }
    })
}

fn take(device: &SimulatedDevice, step: &Step) {
    match step {
        Step::Write { offset_bytes, data } => device.write(*offset_bytes, data, Durability::Cached).unwrap(),
        Step::Trim { offset_bytes, length_bytes } => device.trim(*offset_bytes, *length_bytes).unwrap(),
        Step::Flush => device.flush().unwrap(),
    }
}

/// Not a test but the child of the one below: it says a byte for each flush that was done.
#[test]
fn child() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    let device = open(&PathBuf::from(path), seed);
    for step in steps(seed) {
        take(&device, &step);
        if matches!(step, Step::Flush) {
            // The test harness captures what macros print, not what is written to the stream.
            std::io::stderr().write_all(b"f").unwrap();
        }
    }
}

#[test]
fn what_was_flushed_outlives_a_hundred_kills() {
    let path = |which: u64| std::env::temp_dir().join(format!("ssdlab-killed-{}-{which}", std::process::id()));
    let paths: Vec<PathBuf> = (0..DRIVES).map(path).collect();
    let mut models: Vec<Model> = (0..DRIVES).map(|_| Model::default()).collect();
    let mut random = Random::new(1);
    let mut flushes_in_all = 0;
    for seed in 0..KILLS {
        let which = (seed % DRIVES) as usize;
        let (path, model) = (&paths[which], &mut models[which]);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["killed::child", "--exact", "--nocapture", "--test-threads=1"])
            .env(FILE, path)
            .env(SEED, seed.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_micros(5_000 + random.below(25_000)));
        child.kill().unwrap();
        let mut said = Vec::new();
        child.stderr.take().unwrap().read_to_end(&mut said).unwrap();
        child.wait().unwrap();
        let flushes = said.len();
        assert!(
            said.iter().all(|&byte| byte == b'f'),
            "kill {seed}: the child failed: {}",
            String::from_utf8_lossy(&said)
        );
        flushes_in_all += flushes;
        check(path, seed, flushes, model);
    }
    paths.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    assert!(flushes_in_all > 1000, "{flushes_in_all} flushes were worth killing for");
}

/// Everything up to the last flush is there; a unit written since is as it was then, or as any write since made it.
fn check(path: &Path, seed: u64, flushes: usize, model: &mut Model) {
    let device = open(path, seed);
    let mut found = vec![0; (320 * UNIT) as usize];
    device.read(0, &mut found).unwrap();
    let mut left: Vec<u64> = Vec::new();
    let mut later = None;
    let mut flushed = 0;
    let wrong_units = |model: &Model, units: &[u64]| -> Vec<u64> {
        let is_wrong = |&unit: &u64| model.read(unit * UNIT, UNIT) != found[(unit * UNIT) as usize..][..UNIT as usize];
        units.iter().copied().filter(is_wrong).collect()
    };
    for step in steps(seed) {
        // Units that are not as they were at the last flush must be as some later write made them.
        if flushed == flushes && later.is_none() {
            left = wrong_units(model, &(0..320).collect::<Vec<_>>());
            later = Some(());
        }
        if later.is_some() && left.is_empty() {
            break;
        }
        match &step {
            Step::Write { offset_bytes, data } => model.write(*offset_bytes, data),
            Step::Trim { offset_bytes, length_bytes } => model.trim(*offset_bytes, *length_bytes),
            Step::Flush => flushed += 1,
        }
        if later.is_some() && !matches!(step, Step::Flush) {
            left = wrong_units(model, &left);
        }
    }
    assert_eq!(left, [0u64; 0], "kill {seed}: units that are neither old nor new");
    *model = Model::default();
    model.write(0, &found);
    let mut core = device.core();
    core.ftl().check_accounts().unwrap();
    core.ftl().check_map().unwrap();
}
