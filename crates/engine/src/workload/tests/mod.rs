//! Whole streams: totals, shares and restarts, on hand-made jobs.

mod forms;
mod random_jobs;
mod zones;

use super::statistics::assert_shares;
use super::*;
use crate::specification::job::{BlockSize, Distribution, PerDirection, Zone};

fn same<T: Clone>(value: T) -> PerDirection<T> {
    PerDirection { read: value.clone(), write: value.clone(), trim: value }
}

fn sizes(list: &[(u32, f64)]) -> Vec<BlockSize> {
    list.iter().map(|&(bytes, percent)| BlockSize { bytes, percent }).collect()
}

/// Uniform random 4 KiB writes, one pass over 1000 blocks.
fn job() -> Job {
    Job {
        name: "job".into(),
        clone: 0,
        stage: 0,
        direction: Direction::Write,
        sequential: false,
        read_percent: 50.0,
        offset_bytes: 1 << 20,
        size_bytes: 4096 * 1000,
        io_bytes: 4096 * 1000,
        number_ios: None,
        loops: 1,
        block_sizes: same(sizes(&[(4096, 100.0)])),
        block_align_bytes: same(4096),
        distribution: Distribution::Random,
        random_map: false,
        skip_bytes: None,
        runs: None,
        random_percent: None,
        files: None,
        seed: 1,
        iodepth: 1,
        ..Job::default()
    }
}

fn jesd219() -> Job {
    let list = [4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 67.0, 10.0, 7.0, 3.0, 3.0];
    let bytes = [512, 1024, 1536, 2048, 2560, 3072, 3584, 4096, 8192, 16384, 32768, 65536];
    let list: Vec<(u32, f64)> = bytes.into_iter().zip(list).collect();
    let zone = |access_percent, span_percent| Zone { access_percent, span_percent };
    Job {
        direction: Direction::ReadWrite,
        read_percent: 40.0,
        block_sizes: same(sizes(&list)),
        distribution: Distribution::Zoned {
            zones: vec![zone(50.0, 5.0), zone(30.0, 15.0), zone(20.0, 80.0)],
            scattered: false,
        },
        size_bytes: 1 << 30,
        io_bytes: 1 << 40,
        number_ios: Some(200_000),
        ..job()
    }
}

fn requests(job: &Job) -> Vec<Request> {
    let mut out = Vec::new();
    let mut stream = Stream::new(job).unwrap();
    while stream.fill(&mut out, 100) > 0 {}
    assert_eq!(stream.progress(), 1.0);
    out
}

fn bytes(requests: &[Request]) -> u64 {
    requests.iter().map(|request| u64::from(request.length_bytes)).sum()
}

#[test]
fn a_sequential_fill_writes_every_byte_once_in_order() {
    // 128 KiB does not divide the part: the last request is cut.
    let size_bytes = 10 * 131_072 + 4096;
    let fill = Job {
        sequential: true,
        size_bytes,
        io_bytes: size_bytes,
        block_sizes: same(sizes(&[(131_072, 100.0)])),
        ..job()
    };
    let all = requests(&fill);
    assert_eq!((all.len(), bytes(&all)), (11, size_bytes));
    let mut next_bytes = fill.offset_bytes;
    for request in all {
        assert_eq!(request.offset_bytes, next_bytes);
        next_bytes += u64::from(request.length_bytes);
    }
    assert_eq!(next_bytes, fill.offset_bytes + size_bytes);
}

#[test]
fn a_sequential_loop_starts_again_at_the_start() {
    let half = Job { sequential: true, io_bytes: 4096 * 3, loops: 2, ..job() };
    let offsets: Vec<u64> = requests(&half).iter().map(|request| (request.offset_bytes - (1 << 20)) / 4096).collect();
    assert_eq!(offsets, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn the_amount_ends_by_bytes_or_by_requests_whichever_is_first() {
    let by = |io_bytes, number_ios, loops| {
        let all = requests(&Job { io_bytes, number_ios, loops, ..job() });
        (all.len() as u64, bytes(&all))
    };
    assert_eq!(by(4096 * 7, None, 1), (7, 4096 * 7));
    assert_eq!(by(4096 * 7 - 1, None, 1), (7, 4096 * 7));
    assert_eq!(by(4096 * 7 + 1, None, 1), (8, 4096 * 8));
    assert_eq!(by(4096 * 7, Some(3), 1), (3, 4096 * 3));
    assert_eq!(by(4096 * 7, Some(9), 5), (35, 4096 * 35));
    assert_eq!(by(4096 * 7, Some(3), 4), (12, 4096 * 12));
    assert_eq!(by(0, None, 3), (0, 0));
    assert_eq!(by(4096, Some(0), 3), (0, 0));
}

#[test]
fn progress_grows_to_one() {
    let mut stream = Stream::new(&Job { io_bytes: 4096 * 10, loops: 2, ..job() }).unwrap();
    let mut out = Vec::new();
    let mut seen = vec![stream.progress()];
    while stream.fill(&mut out, 5) > 0 {
        seen.push(stream.progress());
    }
    assert_eq!(seen, [0.0, 0.25, 0.5, 0.75, 1.0]);
}

#[test]
fn a_random_map_visits_every_block_once_a_pass() {
    // Two and a half passes, in two loops: the second loop starts a pass of its own.
    let map = Job { random_map: true, io_bytes: 4096 * 2500, loops: 2, ..job() };
    for (direction, name) in [(Direction::Write, "write"), (Direction::ReadWrite, "mixed")] {
        let all = requests(&Job { direction, ..map.clone() });
        assert_eq!(all.len(), 5000);
        for looped in all.chunks(2500) {
            for pass in looped.chunks(1000).filter(|pass| pass.len() == 1000) {
                let mut blocks: Vec<u64> = pass.iter().map(|request| request.offset_bytes).collect();
                blocks.sort_unstable();
                blocks.dedup();
                assert_eq!(blocks.len(), 1000, "{name}");
            }
        }
    }
}

#[test]
fn a_random_map_has_no_effect_on_two_grids_or_odd_places() {
    let plain = job();
    let several = same(sizes(&[(4096, 50.0), (8192, 50.0)]));
    let grids = PerDirection { read: 8192, ..same(4096) };
    let two_grids = Job { direction: Direction::ReadWrite, block_align_bytes: grids, ..plain.clone() };
    let odd_places = Job { block_sizes: several, block_align_bytes: same(512), ..plain };
    for job in [two_grids, odd_places] {
        assert_eq!(requests(&job), requests(&Job { random_map: true, ..job.clone() }));
    }
}

#[test]
fn trim_write_trims_each_block_and_then_writes_it() {
    for sequential in [false, true] {
        let pairs = Job { direction: Direction::TrimWrite, sequential, number_ios: Some(101), ..job() };
        let all = requests(&pairs);
        assert_eq!(all.len(), 202);
        for pair in all.chunks(2) {
            assert_eq!(pair[0].operation, Operation::Trim);
            assert_eq!(pair[1], Request { operation: Operation::Write, ..pair[0] });
        }
        // An odd batch parts a pair; the write comes first in the next.
        let mut stream = Stream::new(&pairs).unwrap();
        let mut batches = Vec::new();
        for count_max in [1, 1, 3, 4, 1, 0, 5].into_iter().chain(std::iter::repeat(7)) {
            let before = batches.len();
            let count = stream.fill(&mut batches, count_max);
            assert_eq!(count, batches.len() - before);
            if count == 0 && count_max > 0 {
                break;
            }
        }
        assert_eq!(batches, all);
    }
}

#[test]
fn a_restart_goes_on_with_other_random_numbers_and_asks_as_much_again() {
    for random_map in [false, true] {
        let mut stream = Stream::new(&Job { random_map, ..job() }).unwrap();
        let mut first = Vec::new();
        while stream.fill(&mut first, 64) > 0 {}
        stream.restart();
        assert_eq!(stream.progress(), 0.0);
        let mut second = Vec::new();
        while stream.fill(&mut second, 64) > 0 {}
        assert_eq!(first.len(), second.len());
        assert_ne!(first, second);
    }
}

#[test]
fn a_skewed_job_keeps_its_hot_blocks_when_it_starts_over() {
    let mut stream = Stream::new(&Job {
        distribution: Distribution::Zipf { theta: 1.5, center: None, ranks_per_block: 1 },
        ..job()
    })
    .unwrap();
    let mut hottest = || {
        let mut out = Vec::new();
        while stream.fill(&mut out, 64) > 0 {}
        stream.restart();
        let mut hits = std::collections::BTreeMap::new();
        out.iter().for_each(|request| *hits.entry(request.offset_bytes).or_insert(0) += 1);
        hits.into_iter().max_by_key(|&(_, count)| count).unwrap().0
    };
    assert_eq!(hottest(), hottest());
}

#[test]
fn jesd219_has_its_shares_of_kinds_sizes_and_zones() {
    let job = jesd219();
    let all = requests(&job);
    assert_eq!(all.len(), 200_000);
    let count = |wanted: &dyn Fn(&Request) -> bool| all.iter().filter(|request| wanted(request)).count() as u64;
    assert_shares(
        &[count(&|r| r.operation == Operation::Read), count(&|r| r.operation == Operation::Write)],
        &[40.0, 60.0],
    );
    for operation in [Operation::Read, Operation::Write] {
        let list = &job.block_sizes.read;
        let hits: Vec<u64> =
            list.iter().map(|s| count(&|r| r.operation == operation && r.length_bytes == s.bytes)).collect();
        assert_shares(&hits, &list.iter().map(|size| size.percent).collect::<Vec<_>>());
    }
    // 2^18 blocks; 5 % end at block 13107.2 and 20 % at 52428.8.
    let block = |request: &Request| (request.offset_bytes - job.offset_bytes) / 4096;
    let zones = [
        count(&|r| block(r) < 13_107),
        count(&|r| (13_107..52_428).contains(&block(r))),
        count(&|r| block(r) >= 52_428),
    ];
    assert_shares(&zones, &[50.0, 30.0, 20.0]);
}

#[test]
fn reads_and_writes_keep_their_own_sizes_and_grids() {
    let mixed = Job {
        direction: Direction::ReadWrite,
        read_percent: 25.0,
        block_sizes: PerDirection { read: sizes(&[(8192, 100.0)]), ..same(sizes(&[(512, 100.0)])) },
        block_align_bytes: PerDirection { read: 16384, ..same(512) },
        number_ios: Some(20_000),
        io_bytes: u64::MAX,
        ..job()
    };
    let (reads, writes): (Vec<Request>, Vec<Request>) =
        requests(&mixed).into_iter().partition(|request| request.operation == Operation::Read);
    assert_shares(&[reads.len() as u64, writes.len() as u64], &[25.0, 75.0]);
    assert!(
        reads.iter().all(|r| r.length_bytes == 8192 && (r.offset_bytes - mixed.offset_bytes).is_multiple_of(16384))
    );
    assert!(writes.iter().all(|r| r.length_bytes == 512 && (r.offset_bytes - mixed.offset_bytes).is_multiple_of(512)));
    assert!(writes.iter().any(|r| !r.offset_bytes.is_multiple_of(4096)));
}

#[test]
fn a_mix_of_all_or_nothing_is_exact() {
    let mixed = |read_percent| requests(&Job { direction: Direction::ReadWrite, read_percent, ..job() });
    assert!(mixed(0.0).iter().all(|request| request.operation == Operation::Write));
    assert!(mixed(100.0).iter().all(|request| request.operation == Operation::Read));
}

#[test]
fn a_warm_buffer_does_not_grow() {
    for job in [job(), jesd219(), Job { direction: Direction::TrimWrite, ..job() }] {
        for batch in [255, 256] {
            let mut stream = Stream::new(&job).unwrap();
            let mut out = Vec::with_capacity(batch);
            let capacity = out.capacity();
            while stream.fill(&mut out, batch) > 0 {
                assert_eq!(out.capacity(), capacity);
                out.clear();
            }
        }
    }
}

#[test]
fn wrong_values_are_named() {
    let zipf = |theta| Job { distribution: Distribution::Zipf { theta, center: None, ranks_per_block: 1 }, ..job() };
    let zones = |access_percent, span_percent| Job {
        distribution: Distribution::Zoned { zones: vec![Zone { access_percent, span_percent }], scattered: false },
        ..job()
    };
    let cases = [
        (Job { block_sizes: same(vec![]), ..job() }, "block_sizes.write"),
        (Job { block_sizes: same(sizes(&[(0, 100.0)])), ..job() }, "block_sizes.write.bytes"),
        (Job { block_sizes: same(sizes(&[(512, 60.0)])), ..job() }, "block_sizes.write.percent"),
        (Job { block_sizes: same(sizes(&[(512, f64::NAN)])), ..job() }, "block_sizes.write.percent"),
        (Job { block_align_bytes: same(0), ..job() }, "block_align_bytes.write"),
        (Job { size_bytes: 4095, ..job() }, "size_bytes"),
        (Job { size_bytes: 0, ..job() }, "size_bytes"),
        (Job { offset_bytes: u64::MAX, ..job() }, "size_bytes"),
        (Job { loops: 0, ..job() }, "loops"),
        (Job { direction: Direction::ReadWrite, read_percent: 101.0, ..job() }, "read_percent"),
        (zipf(0.0), "distribution.theta"),
        (zipf(f64::NAN), "distribution.theta"),
        (Job { distribution: Distribution::Pareto { h: 1.0, center: None }, ..job() }, "distribution.h"),
        (
            Job { distribution: Distribution::Normal { deviation_percent: -1.0, center: None }, ..job() },
            "distribution.deviation_percent",
        ),
        (zones(90.0, 100.0), "distribution.zones.access_percent"),
        (zones(100.0, 101.0), "distribution.zones.span_percent"),
        (
            Job { distribution: Distribution::Zoned { zones: vec![], scattered: false }, ..job() },
            "distribution.zones.access_percent",
        ),
    ];
    for (job, key) in cases {
        let error = Stream::new(&job).unwrap_err();
        assert_eq!(error.key, key);
        assert!(error.to_string().contains(&error.value) && !error.allowed.is_empty(), "{error}");
    }
}

#[test]
fn the_requests_are_the_same_on_every_machine() {
    // The fingerprint changes only if the meaning of a seed changes; earlier results can then not be reproduced.
    let distributions = [
        Distribution::Random,
        Distribution::Zipf { theta: 0.99, center: None, ranks_per_block: 1 },
        Distribution::Zipf { theta: 1.0, center: None, ranks_per_block: 1 },
        Distribution::Pareto { h: 0.2, center: None },
        Distribution::Normal { deviation_percent: 20.0, center: None },
        jesd219().distribution,
    ];
    let mut fingerprint = 0xcbf2_9ce4_8422_2325_u64;
    for distribution in distributions {
        for random_map in [false, true] {
            let size_bytes = 1 << 43;
            let job = Job { distribution: distribution.clone(), random_map, size_bytes, ..job() };
            for request in requests(&Job { io_bytes: 1 << 26, ..job }) {
                fingerprint = (fingerprint ^ request.offset_bytes).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    assert_eq!(fingerprint, 0x0eaa_5ad9_7cc2_3325, "{fingerprint:#x}");
}

#[test]
fn requests_carry_what_the_job_says_of_its_data() {
    let job = Job { compress_percent: 46.0, dedupe_percent: 30.0, direction: Direction::TrimWrite, ..job() };
    let content = Content { compress_percent: 46, dedupe_percent: 30, ..Content::default() };
    assert!(requests(&job).iter().all(|request| request.content == content));
    let refused = Stream::new(&Job { compress_percent: 101.0, ..job }).unwrap_err();
    assert_eq!((refused.key.as_str(), refused.value.as_str()), ("compress_percent", "101"));
}
