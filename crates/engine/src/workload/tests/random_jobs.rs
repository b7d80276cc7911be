//! Properties of the stream of any job, tested on random jobs.

use super::{job, requests};
use crate::request::{Operation, Request};
use crate::specification::Job;
use crate::specification::job::{
    AbsoluteZone, BlockSize, Direction, Distribution, FileRange, FileService, Files, FioLaw, PerDirection, Runs,
    Sequencer, Zone,
};
use crate::workload::Stream;
use proptest::prelude::*;

fn any_center() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(0.0f64..=1.0)
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    let absolute = |access_percent, span_bytes| {
        let zone = |access_percent| AbsoluteZone { access_percent, span_bytes };
        let zones = vec![zone(access_percent), zone(100.0 - access_percent)];
        Distribution::ZonedAbsolute { zones: PerDirection { read: zones.clone(), write: zones.clone(), trim: zones } }
    };
    prop_oneof![
        Just(Distribution::Random),
        (0.01f64..4.0, any_center(), 1u32..70).prop_map(|(theta, center, ranks_per_block)| Distribution::Zipf {
            theta,
            center,
            ranks_per_block
        }),
        (0.01f64..0.99, any_center()).prop_map(|(h, center)| Distribution::Pareto { h, center }),
        (0.0f64..=100.0, any_center())
            .prop_map(|(deviation_percent, center)| Distribution::Normal { deviation_percent, center }),
        (0.0f64..=100.0, 0.1f64..99.9, any::<bool>())
            .prop_map(|(access, span, scattered)| Distribution::Zoned { zones: any_zones(access, span), scattered }),
        (0.0f64..=100.0, 0.1f64..99.9).prop_map(|(access, span)| Distribution::ZonedByDirection {
            zones: PerDirection {
                read: any_zones(access, span),
                write: any_zones(100.0 - access, span),
                trim: any_zones(access, 100.0 - span),
            },
        }),
        (0.0f64..=100.0, 1u64..20).prop_map(move |(access, span)| absolute(access, span)),
    ]
}

fn any_zones(access_percent: f64, span_percent: f64) -> Vec<Zone> {
    let rest = Zone { access_percent: 100.0 - access_percent, span_percent: 100.0 - span_percent };
    vec![Zone { access_percent, span_percent }, rest]
}

fn any_law() -> impl Strategy<Value = FioLaw> {
    prop_oneof![
        (0.01f64..0.99).prop_map(|theta| FioLaw::Zipf { theta }),
        (1.01f64..4.0).prop_map(|theta| FioLaw::Zipf { theta }),
        (0.01f64..0.99).prop_map(|h| FioLaw::Pareto { h }),
        (0.0f64..100.0).prop_map(|deviation_percent| FioLaw::Normal { deviation_percent }),
    ]
}

fn any_runs() -> impl Strategy<Value = Option<Runs>> {
    let then = prop_oneof![Just(Sequencer::Sequential), Just(Sequencer::Identical)];
    prop::option::of((1u32..10, then).prop_map(|(ios, then)| Runs { ios, then }))
}

fn any_service() -> impl Strategy<Value = FileService> {
    prop_oneof![
        (1u32..4).prop_map(|ios| FileService::RoundRobin { ios }),
        Just(FileService::Sequential),
        (1u32..4).prop_map(|ios| FileService::Random { ios }),
        Just(FileService::Weighted { weights: vec![] }),
    ]
}

/// Some files with gaps in between, each with space for the longest request.
fn files(bytes_max: u64, start_bytes: u64, extra: &[u64], service: FileService) -> Files {
    let mut offset_bytes = start_bytes;
    let range = |extra_bytes: &u64| {
        let range = FileRange { offset_bytes, size_bytes: bytes_max + extra_bytes };
        offset_bytes += range.size_bytes + extra_bytes % 7;
        range
    };
    let ranges: Vec<FileRange> = extra.iter().map(range).collect();
    let service = match service {
        FileService::Weighted { .. } => FileService::Weighted { weights: vec![1.5; ranges.len()] },
        other => other,
    };
    Files { ranges, service }
}

prop_compose! {
    fn any_sizes()(list in prop::collection::vec((1u32..200, 1u32..100), 1..5), sectors: bool) -> Vec<BlockSize> {
        let total: u32 = list.iter().map(|&(_, weight)| weight).sum();
        let unit = if sectors { 512 } else { 1 };
        let percent = |weight| f64::from(weight) * 100.0 / f64::from(total);
        list.iter().map(|&(bytes, weight)| BlockSize { bytes: bytes * unit, percent: percent(weight) }).collect()
    }
}

prop_compose! {
    fn any_job()(
        direction in prop::sample::select(vec![
            Direction::Read, Direction::Write, Direction::Trim, Direction::ReadWrite, Direction::TrimWrite,
        ]),
        (sequential, random_map) in any::<(bool, bool)>(),
        read_percent in 0.0f64..=100.0,
        (offset_bytes, extra_bytes) in (0u64..1 << 50, 0u64..500_000),
        io_bytes in 0u64..3_000_000,
        number_ios in prop::option::of(0u64..2000),
        loops in 1u32..4,
        (read, write, trim) in (any_sizes(), any_sizes(), any_sizes()),
        align_bytes in (1u64..9000, 1u64..9000, 1u64..9000),
        distribution in any_distribution(),
        seed: u64,
        skip_bytes in prop::option::of(-20_000i64..20_000),
        runs in any_runs(),
        random_percent in prop::option::of((0.0f64..=100.0, 0.0f64..=100.0)),
        file_extras in prop::option::of(prop::collection::vec(0u64..100_000, 1..5)),
        file_service in any_service(),
    ) -> Job {
        let bytes_max = read.iter().chain(&write).chain(&trim).map(|size| u64::from(size.bytes)).max().unwrap();
        let files = file_extras.map(|extras| files(bytes_max, offset_bytes, &extras, file_service));
        let size_bytes = match files.iter().find_map(|files| files.ranges.last()) {
            Some(last) => last.offset_bytes + last.size_bytes - offset_bytes,
            None => bytes_max + extra_bytes,
        };
        let random_percent = random_percent.map(|(read, write)| PerDirection { read, write, trim: write });
        let (align_read, align_write, align_trim) = align_bytes;
        Job {
            direction, sequential, random_map, read_percent, offset_bytes, size_bytes, io_bytes, number_ios, loops,
            block_sizes: PerDirection { read, write, trim },
            block_align_bytes: PerDirection { read: align_read, write: align_write, trim: align_trim },
            distribution, seed, skip_bytes, runs, random_percent, files, ..job()
        }
    }
}

/// Computes the amount by counting, request by request: where a loop ends, and how many requests there are.
fn assert_amount(job: &Job, all: &[Request]) {
    let counted = all.iter().filter(|r| job.direction != Direction::TrimWrite || r.operation == Operation::Trim);
    let (mut loops, mut bytes, mut ios) = (0, 0, 0);
    for request in counted {
        assert!(loops < job.loops, "a request after the end");
        bytes += u64::from(request.length_bytes);
        ios += 1;
        if bytes >= job.io_bytes || Some(ios) == job.number_ios {
            loops += 1;
            (bytes, ios) = (0, 0);
        }
    }
    let nothing = job.io_bytes == 0 || job.number_ios == Some(0);
    assert!(nothing && all.is_empty() || loops == job.loops && ios == 0, "{loops} loops and {ios} requests");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_request_leaves_its_range_or_its_grid_and_the_amount_is_exact(job in any_job()) {
        let all = requests(&Job { number_ios: job.number_ios.or(Some(3000)), ..job.clone() });
        let job = Job { number_ios: job.number_ios.or(Some(3000)), ..job };
        let end_bytes = job.offset_bytes + job.size_bytes;
        for request in &all {
            prop_assert!(request.length_bytes > 0);
            prop_assert!(request.offset_bytes >= job.offset_bytes);
            prop_assert!(request.offset_bytes + u64::from(request.length_bytes) <= end_bytes);
            let ranges = job.files.iter().flat_map(|files| &files.ranges);
            let within = |range: &FileRange| {
                (range.offset_bytes..range.offset_bytes + range.size_bytes).contains(&request.offset_bytes)
                    && request.offset_bytes + u64::from(request.length_bytes) <= range.offset_bytes + range.size_bytes
            };
            prop_assert!(job.files.is_none() || ranges.clone().any(within), "{request:?} leaves its file");
            if job.sequential {
                continue;
            }
            let plain = job.files.is_none() && job.runs.is_none() && job.random_percent.is_none();
            if job.random_map || !plain {
                // Cut at visited blocks, or at a position where another request ended.
                continue;
            }
            let (list, align_bytes) = match request.operation {
                _ if job.direction == Direction::TrimWrite => (&job.block_sizes.trim, job.block_align_bytes.trim),
                Operation::Read => (&job.block_sizes.read, job.block_align_bytes.read),
                Operation::Write => (&job.block_sizes.write, job.block_align_bytes.write),
                Operation::Trim => (&job.block_sizes.trim, job.block_align_bytes.trim),
                Operation::Flush => panic!("a stream flushes nothing"),
            };
            prop_assert!((request.offset_bytes - job.offset_bytes).is_multiple_of(align_bytes));
            prop_assert!(list.iter().any(|size| size.bytes == request.length_bytes));
        }
        assert_amount(&job, &all);
    }

    #[test]
    fn the_requests_do_not_depend_on_how_they_are_fetched(job in any_job(), batches in prop::collection::vec(1usize..300, 1..20)) {
        let job = Job { number_ios: job.number_ios.or(Some(1000)), ..job };
        let mut out = Vec::new();
        let mut stream = Stream::new(&job).unwrap();
        for &count_max in batches.iter().cycle() {
            let before = out.len();
            let count = stream.fill(&mut out, count_max);
            prop_assert_eq!(count, out.len() - before);
            prop_assert!(count <= count_max);
            if count == 0 {
                break;
            }
        }
        prop_assert_eq!(out, requests(&job));
    }

    #[test]
    fn a_pass_over_files_in_sequence_or_by_a_map_covers_each_once(
        extras in prop::collection::vec(0u64..40, 1..5),
        service in any_service().prop_filter("ends", |service| !matches!(service, FileService::Weighted { .. })),
        (sequential, several_sizes) in any::<(bool, bool)>(),
        seed: u64,
    ) {
        let list = if several_sizes { vec![(512, 60.0), (2048, 40.0)] } else { vec![(512, 100.0)] };
        let extras: Vec<u64> = extras.iter().map(|blocks| blocks * 512 / 7 * 7).collect();
        let mut files = files(2048, 0, &extras, service);
        files.ranges.iter_mut().for_each(|range| range.size_bytes = range.size_bytes / 512 * 512);
        let io_bytes = files.ranges.iter().map(|range| range.size_bytes).sum();
        let size_bytes = files.ranges.last().map(|last| last.offset_bytes + last.size_bytes).unwrap();
        let job = Job {
            sequential, random_map: true, offset_bytes: 0, size_bytes, io_bytes, loops: 2, seed,
            block_sizes: super::same(super::sizes(&list)), block_align_bytes: super::same(512),
            files: Some(files.clone()), ..job()
        };
        let all = requests(&job);
        let mut covered = std::collections::BTreeMap::new();
        for request in &all {
            for byte in (request.offset_bytes..request.offset_bytes + u64::from(request.length_bytes)).step_by(512) {
                *covered.entry(byte).or_insert(0) += 1;
            }
        }
        let blocks = files.ranges.iter().map(|range| range.size_bytes / 512).sum::<u64>() as usize;
        prop_assert_eq!(covered.len(), blocks);
        prop_assert!(covered.values().all(|&times| times == 2));
    }

    #[test]
    fn what_is_like_fio_stays_in_its_range(
        law in any_law(), center in any_center(), blocks in 2u64..5000, seed: u32,
    ) {
        let size_bytes = blocks * 4096;
        let distribution = Distribution::LikeFio { law, center, seed };
        let all = requests(&Job { size_bytes, io_bytes: 4096 * 500, distribution, ..job() });
        prop_assert!(all.iter().all(|request| (request.offset_bytes - job().offset_bytes) / 4096 < blocks));
    }
}
