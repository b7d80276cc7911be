//! What holds for the stream of any job, over random ones.

use super::{job, requests};
use crate::request::{Operation, Request};
use crate::specification::Job;
use crate::specification::job::{BlockSize, Direction, Distribution, PerDirection, Zone};
use crate::workload::Stream;
use proptest::prelude::*;

fn any_distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Random),
        (0.01f64..4.0).prop_map(|theta| Distribution::Zipf { theta }),
        (0.01f64..0.99).prop_map(|h| Distribution::Pareto { h }),
        (0.0f64..=100.0).prop_map(|deviation_percent| Distribution::Normal { deviation_percent }),
        (0.0f64..=100.0, 0.1f64..99.9).prop_map(|(access_percent, span_percent)| Distribution::Zoned {
            zones: vec![
                Zone { access_percent, span_percent },
                Zone { access_percent: 100.0 - access_percent, span_percent: 100.0 - span_percent },
            ],
        }),
    ]
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
    ) -> Job {
        let size_bytes = read.iter().chain(&write).chain(&trim).map(|size| u64::from(size.bytes)).max().unwrap() + extra_bytes;
        let (align_read, align_write, align_trim) = align_bytes;
        Job {
            direction, sequential, random_map, read_percent, offset_bytes, size_bytes, io_bytes, number_ios, loops,
            block_sizes: PerDirection { read, write, trim },
            block_align_bytes: PerDirection { read: align_read, write: align_write, trim: align_trim },
            distribution, seed, ..job()
        }
    }
}

/// The amount by plain counting, request by request: where a loop ends, and how many requests there are.
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
            if job.sequential {
                continue;
            }
            let (list, align_bytes) = match request.operation {
                _ if job.direction == Direction::TrimWrite => (&job.block_sizes.trim, job.block_align_bytes.trim),
                Operation::Read => (&job.block_sizes.read, job.block_align_bytes.read),
                Operation::Write => (&job.block_sizes.write, job.block_align_bytes.write),
                Operation::Trim => (&job.block_sizes.trim, job.block_align_bytes.trim),
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
}
