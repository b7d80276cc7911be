//! Drawn specifications. `PROPTEST_CASES` says how many, `PROPTEST_RNG_SEED` which, or that they begin with the seed of
//! one that failed; `SSDLAB_FUZZ_SECONDS` ends them early.

use super::drawing::{Choices, Drawn};
use super::running::{Fate, check};
use ssdlab_engine::simulation::start;
use ssdlab_engine::specification::Specification;
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

const CASES: u64 = 300;
/// The one at work, in the first line, for a look at one that hangs. Cut to length for each, the file would take a third
/// of the time.
const AT_WORK: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/drawn.txt");
const REFUSALS_MAX: usize = 20;
/// More than any specification needs.
const CHOICE_BYTES: usize = 2048;

#[test]
fn every_drawn_specification_is_survived() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("PROPTEST_RNG_SEED").unwrap_or(1);
    let first = if first >> 32 == 0 { first << 32 } else { first };
    let cases = number("PROPTEST_CASES").unwrap_or(CASES);
    let until = number("SSDLAB_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut at_work = std::fs::File::create(AT_WORK).expect("a folder for files of tests");
    let (mut drawn_count, mut ended_count) = (0, 0);
    let mut failed = Vec::new();
    for seed in first..first + cases {
        if until.is_some_and(|until| Instant::now() > until) {
            break;
        }
        drawn_count += 1;
        let mut drawn = Drawn::new(&mut Choices::new(&random_bytes(seed)));
        at_work.rewind().expect("a file");
        at_work.write_all(format!("seed {seed}: {}\n", drawn.specification).as_bytes()).expect("room for a line");
        match catch_unwind(AssertUnwindSafe(|| check_drawn(&mut drawn))) {
            Ok(fate) => ended_count += u32::from(fate == Fate::Ended),
            Err(_) => {
                eprintln!("seed {seed} failed");
                failed.push(format!("seed {seed}: {}", drawn.specification));
            }
        }
    }
    println!("{drawn_count} drawn, {ended_count} of them with an outcome, {} failed", failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(ended_count * 2 > drawn_count, "most of {drawn_count} specifications are nonsense");
}

/// Without the keys for which it is refused, one after another.
fn check_drawn(drawn: &mut Drawn) -> Fate {
    for _ in 0..REFUSALS_MAX {
        let Ok(specification) = serde_json::from_value::<Specification>(drawn.specification.clone()) else {
            drawn.take_back_drive();
            continue;
        };
        let Err(refused) = start(&specification) else { return check(&specification) };
        if !drawn.take_back(&refused.key) {
            drawn.take_back_drive();
        }
    }
    Fate::Refused
}

/// `SplitMix64`.
fn random_bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    });
    words.flat_map(u64::to_le_bytes).take(CHOICE_BYTES).collect()
}
