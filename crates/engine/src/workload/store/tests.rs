//! The requests of both trees compared with invariants, a tree with keys, and closed forms.

use super::space::Piece;
use super::*;
use crate::random::Random;
use std::collections::BTreeSet;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

fn lsm(data_bytes: u64) -> Store {
    Store {
        tree: Tree::LsmTree {
            write_buffer_bytes: 256 * KIB,
            level0_files: 4,
            level1_bytes: MIB,
            multiplier: 10.0,
            file_bytes: 256 * KIB,
            has_log: true,
        },
        data_bytes,
        request_bytes: 128 * KIB as u32,
        trims: true,
        identifiers: vec![0, 1, 2, 3, 4],
        begins_after_bytes: 0,
    }
}

fn b_plus(data_bytes: u64) -> Store {
    Store {
        tree: Tree::BPlusTree {
            page_bytes: 8192,
            record_bytes: 200,
            checkpoint_bytes: 4 * MIB,
            completion_target: 0.9,
            has_page_images: true,
            recycles_log: false,
            zipf_theta: None,
            rebuilds_every_checkpoints: 2,
            rebuilt_bytes: MIB,
        },
        ..lsm(data_bytes)
    }
}

fn job(size_bytes: u64, io_bytes: u64) -> Job {
    Job { offset_bytes: 64 * KIB, size_bytes, io_bytes, seed: 7, ..Job::default() }
}

/// Every request of a job, fetched in batches of changing size.
fn all(stream: &mut StoreStream) -> Vec<Request> {
    let mut out = Vec::new();
    let mut random = Random::new(1);
    while stream.fill(&mut out, 1 + random.below(300) as usize).expect("there is room") > 0 {}
    out
}

fn used(stream: &StoreStream) -> Vec<Piece> {
    match &stream.kind {
        Kind::Lsm(tree) => tree.pieces(),
        Kind::BPlus(tree) => tree.pieces(),
        Kind::Cache(_) => panic!("it begins empty"),
    }
}

/// Replays the requests on a drive with one flag per block (live or not); from the tree it takes only the loaded files.
#[test]
fn files_are_written_where_nothing_lives_and_deleted_once() {
    for store in [lsm(20 * MIB), b_plus(20 * MIB)] {
        let is_in_place = matches!(store.tree, Tree::BPlusTree { .. });
        let whole = job(32 * MIB, 400 * MIB);
        let mut stream = StoreStream::new(&whole, &store).unwrap();
        let mut is_live = vec![false; (33 * MIB / BLOCK_BYTES) as usize];
        let blocks = |offset: u64, length: u64| {
            assert!(offset.is_multiple_of(BLOCK_BYTES) && length.is_multiple_of(BLOCK_BYTES));
            assert!(offset >= whole.offset_bytes && offset + length <= whole.offset_bytes + whole.size_bytes);
            (offset / BLOCK_BYTES) as usize..((offset + length) / BLOCK_BYTES) as usize
        };
        let mark = |is_live: &mut [bool], pieces: &[Piece]| {
            for piece in pieces {
                is_live[blocks(piece.offset_bytes, piece.length_bytes)].fill(true);
            }
        };
        mark(&mut is_live, &used(&stream));
        for request in all(&mut stream) {
            let range = &mut is_live[blocks(request.offset_bytes, u64::from(request.length_bytes))];
            match request.operation {
                Operation::Trim => {
                    assert!(range.iter().all(|&live| live), "only what is written is trimmed: {request:?}");
                    range.fill(false);
                }
                Operation::Write => {
                    let is_page = is_in_place && request.length_bytes == 8192 && range.iter().all(|&live| live);
                    assert!(is_page || !range.iter().any(|&live| live), "nothing live is overwritten: {request:?}");
                    range.fill(true);
                }
                other => panic!("{other:?}"),
            }
        }
        // Planned in the last interval and not yet issued.
        let rest: Vec<Planned> = stream.planned.drain(..).collect();
        for Planned { request, .. } in rest {
            let is_written = request.operation == Operation::Write;
            is_live[blocks(request.offset_bytes, u64::from(request.length_bytes))].fill(is_written);
        }
        let mut expected = vec![false; is_live.len()];
        mark(&mut expected, &used(&stream));
        assert_eq!(is_live, expected, "what is live is what the files have");
    }
}

#[test]
fn what_is_counted_is_what_is_asked_for() {
    for store in [lsm(20 * MIB), b_plus(20 * MIB)] {
        let mut stream = StoreStream::new(&job(32 * MIB, 100 * MIB), &store).unwrap();
        let requests = all(&mut stream);
        let sum = |operation| {
            let those = requests.iter().filter(|request| request.operation == operation);
            those.map(|request| u64::from(request.length_bytes)).sum::<u64>()
        };
        let counts = stream.counts().clone();
        let levels: u64 = counts.level_bytes.iter().sum();
        assert_eq!(counts.log_bytes + levels + counts.rebuilt_bytes, sum(Operation::Write));
        assert_eq!(counts.deleted_bytes, sum(Operation::Trim));
        assert!((100 * MIB..101 * MIB).contains(&sum(Operation::Write)), "io_bytes are of writes alone");
    }
}

#[test]
fn without_trims_the_writes_are_the_same() {
    for store in [lsm(20 * MIB), b_plus(20 * MIB)] {
        let whole = job(32 * MIB, 60 * MIB);
        let mut with = StoreStream::new(&whole, &store).unwrap();
        let mut without = StoreStream::new(&whole, &Store { trims: false, ..store }).unwrap();
        let writes = |request: &Request| request.operation == Operation::Write;
        let mut expected = all(&mut with);
        assert!(!expected.iter().all(writes));
        expected.retain(writes);
        assert_eq!(all(&mut without), expected);
        assert_eq!(with.counts(), without.counts());
    }
}

#[test]
fn a_job_that_begins_later_goes_on_where_the_first_ended() {
    for store in [lsm(20 * MIB), b_plus(20 * MIB)] {
        let mut whole = StoreStream::new(&job(32 * MIB, 90 * MIB), &store).unwrap();
        let mut first = StoreStream::new(&job(32 * MIB, 50 * MIB), &store).unwrap();
        let later = Store { begins_after_bytes: 50 * MIB, ..store };
        let mut second = StoreStream::new(&job(32 * MIB, 39 * MIB), &later).unwrap();
        let mut parts = all(&mut first);
        parts.extend(all(&mut second));
        let expected = all(&mut whole);
        assert_eq!(parts[..], expected[..parts.len()]);
        assert!(parts.len() * 20 > expected.len() * 19);
        // It also continues after a restart.
        first.restart();
        let more = all(&mut first);
        let at = parts.len() - all(&mut StoreStream::new(&job(32 * MIB, 39 * MIB), &later).unwrap()).len();
        let both = more.len().min(expected.len() - at);
        assert_eq!(more[..both], expected[at..at + both]);
    }
}

#[test]
fn the_log_the_levels_and_the_pages_have_their_identifiers() {
    let mut stream = StoreStream::new(&job(40 * MIB, 100 * MIB), &lsm(20 * MIB)).unwrap();
    let mut by_identifier = [0; 8];
    for request in all(&mut stream).iter().filter(|request| request.operation == Operation::Write) {
        by_identifier[usize::from(request.content.identifier)] += u64::from(request.length_bytes);
    }
    let counts = stream.counts();
    assert_eq!(by_identifier[0], counts.log_bytes);
    assert_eq!(by_identifier[1..=counts.level_bytes.len()], counts.level_bytes[..]);
    let none = Store { identifiers: Vec::new(), ..lsm(20 * MIB) };
    let mut stream = StoreStream::new(&job(40 * MIB, 100 * MIB), &none).unwrap();
    assert!(all(&mut stream).iter().all(|request| request.content.identifier == 0));
}

#[test]
fn levels_keep_to_their_targets_and_their_order() {
    let mut stream = StoreStream::new(&job(160 * MIB, 2000 * MIB), &lsm(100 * MIB)).unwrap();
    all(&mut stream);
    let Kind::Lsm(tree) = &stream.kind else { panic!() };
    tree.check_order();
    let bytes = tree.level_bytes();
    assert_eq!(tree.targets().len(), 2, "1 MiB, 10 MiB, and the data");
    for (level, &target) in tree.targets().iter().enumerate() {
        assert!(bytes[level + 1] <= target * 1.000_001, "level {}: {} of {target}", level + 1, bytes[level + 1]);
    }
    assert!(bytes[2] > 0.9 * tree.targets()[1], "the levels are full: {bytes:?}");
    assert!((bytes[3] / (100 * MIB) as f64 - 1.0).abs() < 1e-6, "the last level has every key once: {bytes:?}");
}

/// An LSM tree with keys: `BTreeSet`s for files, the same choices, everything found by a full scan.
struct WithKeys {
    keys: u64,
    levels: Vec<Vec<BTreeSet<u64>>>,
    targets: Vec<f64>,
    written: Vec<u64>,
    file_keys: usize,
}

impl WithKeys {
    fn compact(&mut self, level: usize) {
        let upper: Vec<_> = if level == 0 {
            self.levels[0].drain(..).collect()
        } else {
            let next = &self.levels[level + 1];
            let ratio = |file: &BTreeSet<u64>| {
                let dragged = next.iter().filter(|other| meet(file, other)).map(BTreeSet::len).sum::<usize>();
                dragged as f64 / file.len() as f64
            };
            let files = self.levels[level].iter().map(ratio).enumerate();
            let chosen = files.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap().0;
            vec![self.levels[level].remove(chosen)]
        };
        let (lower, kept): (Vec<_>, Vec<_>) =
            self.levels[level + 1].drain(..).partition(|other| upper.iter().any(|file| meet(file, other)));
        self.levels[level + 1] = kept;
        if lower.is_empty() && upper.len() == 1 {
            self.levels[level + 1].extend(upper);
        } else {
            let all: BTreeSet<u64> = upper.into_iter().chain(lower).flatten().collect();
            self.written[level + 1] += all.len() as u64;
            let files = all.len().div_ceil(self.file_keys).max(1);
            let each = all.len().div_ceil(files);
            let keys: Vec<u64> = all.into_iter().collect();
            let cut = keys.chunks(each).map(|chunk| chunk.iter().copied().collect());
            self.levels[level + 1].extend(cut);
        }
        self.levels[level + 1].sort_by_key(|file: &BTreeSet<u64>| *file.first().unwrap());
    }
}

fn meet(one: &BTreeSet<u64>, other: &BTreeSet<u64>) -> bool {
    let ends = |file: &BTreeSet<u64>| (*file.first().unwrap(), *file.last().unwrap());
    ends(one).0 <= ends(other).1 && ends(other).0 <= ends(one).1
}

#[test]
fn as_a_tree_with_keys() {
    let data_bytes = 60 * MIB;
    let mut stream = StoreStream::new(&job(120 * MIB, 1500 * MIB), &lsm(data_bytes)).unwrap();
    all(&mut stream);
    let Kind::Lsm(tree) = &stream.kind else { panic!() };

    // Small keys: more keys per file, and less variance of its density.
    const KEY_BYTES: u64 = 128;
    const FILE_KEYS: u64 = 256 * KIB / KEY_BYTES;
    let keys = data_bytes / KEY_BYTES;
    let mut twin = WithKeys {
        keys,
        levels: vec![Vec::new(); 4],
        targets: tree.targets().iter().map(|target| target / KEY_BYTES as f64).collect(),
        written: vec![0; 4],
        file_keys: FILE_KEYS as usize,
    };
    twin.levels[3] = (0..keys / FILE_KEYS).map(|file| (file * FILE_KEYS..(file + 1) * FILE_KEYS).collect()).collect();
    let mut random = Random::new(3);
    let flushes = stream.counts().level_bytes[0] / (256 * KIB);
    for _ in 0..flushes {
        loop {
            let score = |level: usize| match level {
                0 => twin.levels[0].len() as f64 / 4.0,
                _ => twin.levels[level].iter().map(BTreeSet::len).sum::<usize>() as f64 / twin.targets[level - 1],
            };
            let due = (0..3).filter(|&level| if level == 0 { score(0) >= 1.0 } else { score(level) > 1.0 });
            let Some(level) = due.max_by(|&one, &other| score(one).total_cmp(&score(other))) else { break };
            twin.compact(level);
        }
        let mut memtable = BTreeSet::new();
        for _ in 0..FILE_KEYS {
            memtable.insert(random.below(twin.keys));
        }
        twin.written[0] += FILE_KEYS;
        twin.levels[0].push(memtable);
    }
    let user = stream.counts().user_bytes as f64;
    let of_twin: Vec<f64> = twin.written.iter().map(|&keys| keys as f64 / twin.written[0] as f64).collect();
    let found: Vec<f64> = stream.counts().level_bytes.iter().map(|&bytes| bytes as f64 / user).collect();
    let sum = |levels: &[f64]| levels.iter().sum::<f64>();
    assert!((sum(&found) / sum(&of_twin) - 1.0).abs() < 0.02);
    for (amplification, expected) in found.iter().zip(&of_twin) {
        assert!((amplification / expected - 1.0).abs() < 0.08, "{found:?} {of_twin:?}");
    }
}

/// A byte that goes from level i to i + 1, which is `step` times as large, has `step` bytes rewritten there if all files
/// of level i are equally dense. The file with the least overlap for its size is the densest, filled up since its keys
/// were last merged away: where density grows evenly from none, twice the mean, so that half the step is rewritten
/// (T/2 to T a level). It may drag a file along at its ends, and level 1 holds more than its target for a while.
#[test]
fn a_level_costs_about_half_the_step_to_the_step() {
    for data_mib in [100u64, 300] {
        let store = lsm(data_mib * MIB);
        let mut stream = StoreStream::new(&job(2 * data_mib * MIB, 40 * data_mib * MIB), &store).unwrap();
        all(&mut stream);
        let Kind::Lsm(tree) = &stream.kind else { panic!() };
        let step = (data_mib as f64).powf(1.0 / tree.targets().len() as f64);
        let counts = stream.counts();
        let user = counts.user_bytes as f64;
        // Four memtables are merged with what level 1 kept, which holds four at the most.
        let first = counts.level_bytes[1] as f64 / user;
        assert!((1.0..=2.05).contains(&first), "level 1: {first}");
        for level in 2..counts.level_bytes.len() {
            let amplification = counts.level_bytes[level] as f64 / user;
            assert!((0.9 * step / 2.0..=step).contains(&amplification), "level {level}: {amplification}, step {step}");
        }
    }
}

/// n updates of P pages touch P (1 - (1 - 1/P)^n) of them.
#[test]
fn a_checkpoint_logs_and_writes_the_pages_that_were_touched() {
    let mut store = b_plus(64 * MIB);
    let Tree::BPlusTree { rebuilds_every_checkpoints, checkpoint_bytes, .. } = &mut store.tree else { panic!() };
    (*rebuilds_every_checkpoints, *checkpoint_bytes) = (0, 40 * MIB);
    let checkpoint_bytes = *checkpoint_bytes as f64;
    let mut stream = StoreStream::new(&job(200 * MIB, 4000 * MIB), &store).unwrap();
    all(&mut stream);
    let pages = (64 * MIB / 8192) as f64;
    let touched = |updates: f64| pages * (1.0 - (updates * (-1.0 / pages).ln_1p()).exp());
    // The number of updates after which the log has grown by so much.
    let (mut low, mut high) = (0.0, checkpoint_bytes / 200.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle * 200.0 + touched(middle) * 8192.0 < checkpoint_bytes { low = middle } else { high = middle }
    }
    let counts = stream.counts();
    let images = (counts.log_bytes - counts.user_bytes) as f64 / 8192.0;
    let checkpoints = counts.log_bytes as f64 / checkpoint_bytes;
    let expected = touched(low);
    assert!((images / checkpoints / expected - 1.0).abs() < 0.005, "{} {expected}", images / checkpoints);
    let written = counts.level_bytes[0] as f64 / 8192.0;
    assert!((written / images - 1.0).abs() < 0.03, "each is written once: {written} of {images}");
    let Kind::BPlus(tree) = &stream.kind else { panic!() };
    assert!((tree.dirty_pages() as f64 / expected - 1.0).abs() < 0.02);
}

#[test]
fn a_recycled_log_stays_where_it_is() {
    let mut store = b_plus(20 * MIB);
    let Tree::BPlusTree { recycles_log, rebuilds_every_checkpoints, .. } = &mut store.tree else { panic!() };
    (*recycles_log, *rebuilds_every_checkpoints) = (true, 0);
    let mut stream = StoreStream::new(&job(40 * MIB, 100 * MIB), &store).unwrap();
    let requests = all(&mut stream);
    assert!(requests.iter().all(|request| request.operation == Operation::Write), "nothing is deleted");
    let end = requests.iter().map(|request| request.offset_bytes + u64::from(request.length_bytes)).max().unwrap();
    assert_eq!(end, 64 * KIB + 20 * MIB + 8 * MIB, "twice what a checkpoint waits for");
}

#[test]
fn what_does_not_fit_is_named() {
    let full = StoreStream::new(&job(21 * MIB, 400 * MIB), &lsm(20 * MIB)).unwrap();
    let mut full = full;
    let error = loop {
        match full.fill(&mut Vec::new(), 100) {
            Ok(0) => panic!("it fits"),
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with("the volume is full: the database needs"), "{error}");
    let later = Store { begins_after_bytes: 400 * MIB, ..lsm(20 * MIB) };
    assert_eq!(StoreStream::new(&job(21 * MIB, MIB), &later).unwrap_err().key, "store.data_bytes");
    let none = Store { data_bytes: 50 * MIB, ..lsm(20 * MIB) };
    assert_eq!(StoreStream::new(&job(21 * MIB, MIB), &none).unwrap_err().key, "store.data_bytes");
    let odd = Store { request_bytes: 1000, ..lsm(20 * MIB) };
    assert_eq!(StoreStream::new(&job(40 * MIB, MIB), &odd).unwrap_err().key, "store.request_bytes");
}
