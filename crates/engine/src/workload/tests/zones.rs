//! Jobs over zones, and lengths that depend on whether a request is random. Sequences named after fio were logged by
//! fio 3.33's `write_iolog` for the same options.

use super::*;
use crate::specification::job::{Runs, Sequencer, StridedZones};

const KIB: u64 = 1024;

fn zoned(transfer: u64, range: u64, skip: u64, size: u64) -> Job {
    Job {
        offset_bytes: 20 * KIB,
        size_bytes: size * KIB,
        io_bytes: u64::MAX,
        number_ios: Some(200),
        sequential: true,
        zones: Some(StridedZones { transfer_bytes: transfer * KIB, range_bytes: range * KIB, skip_bytes: skip * KIB }),
        ..job()
    }
}

fn offsets(job: &Job) -> Vec<u64> {
    requests(job).iter().map(|request| (request.offset_bytes - job.offset_bytes) / KIB).collect()
}

#[test]
fn a_sequence_takes_its_share_of_each_zone() {
    // fio for bs=4k, zonesize=16k, zonerange=64k, zoneskip=192k.
    assert_eq!(offsets(&zoned(16, 64, 192, 800))[..12], [0, 4, 8, 12, 256, 260, 264, 268, 512, 516, 520, 524]);
    // fio for zonesize=64k, zonerange=16k: each zone is traversed four times.
    let often = offsets(&zoned(64, 16, 192, 800));
    assert!(often[..16].iter().copied().eq([0, 4, 8, 12].repeat(4)) && often[16..20] == [208, 212, 216, 220]);
    // fio for bs=12k, zonesize=16k: a zone accepts a request that exceeds its share.
    let long = Job { block_sizes: same(sizes(&[(12 << 10, 100.0)])), ..zoned(16, 32, 68, 800) };
    assert_eq!(offsets(&long)[..6], [0, 12, 100, 112, 200, 212]);
}

#[test]
fn after_the_last_zone_comes_the_first() {
    assert_eq!(offsets(&zoned(8, 8, 92, 208))[..8], [0, 4, 100, 104, 200, 204, 0, 4]);
    // The third zone has space for one request, which is issued twice.
    assert_eq!(offsets(&zoned(8, 8, 92, 204))[..8], [0, 4, 100, 104, 200, 200, 0, 4]);
    assert_eq!(offsets(&zoned(8, 8, 92, 203))[..6], [0, 4, 100, 104, 0, 4]);
    // One zone that is larger than the part is the part.
    assert_eq!(offsets(&zoned(8, 1000, 0, 100))[..5], [0, 4, 0, 4, 0]);
}

#[test]
fn random_requests_visit_each_block_of_a_zone_once() {
    let random = Job { sequential: false, random_map: true, ..zoned(64, 64, 36, 200) };
    for (visit, of_zone) in offsets(&random)[..192].chunks(16).enumerate() {
        let start = visit as u64 % 2 * 100;
        let mut sorted = of_zone.to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq((0..16).map(|block| start + 4 * block)), "{of_zone:?}");
    }
    let free = Job { random_map: false, number_ios: Some(2000), ..random };
    assert!(requests(&free).iter().all(|request| (request.offset_bytes - free.offset_bytes) % (100 * KIB) < 64 * KIB));
}

#[test]
fn following_requests_have_lengths_of_their_own() {
    let lengths = Some(same(sizes(&[(8192, 100.0)])));
    let runs = Some(Runs { ios: 4, then: Sequencer::Sequential });
    let mixed = Job { following_block_sizes: lengths, runs, io_bytes: u64::MAX, number_ios: Some(400), ..job() };
    let ends: Vec<_> = requests(&mixed).iter().map(|r| (r.offset_bytes, u64::from(r.length_bytes))).collect();
    for run in ends.chunks(4).filter(|run| run[0].0 + 4096 + 3 * 8192 <= (1 << 20) + 4096 * 1000) {
        assert_eq!(run.iter().map(|extent| extent.1).collect::<Vec<_>>(), [4096, 8192, 8192, 8192]);
        assert!(run.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0));
    }
}

#[test]
fn lengths_beyond_a_block_take_several_of_the_map() {
    let lengths = same(sizes(&[(16384, 100.0)]));
    let wide = Job { random_map: true, following_block_sizes: Some(lengths.clone()), block_sizes: lengths, ..job() };
    let mut covered = vec![0; 1000];
    for request in requests(&wide) {
        let first = (request.offset_bytes - wide.offset_bytes) / 4096;
        assert!(request.length_bytes % 4096 == 0 && request.length_bytes <= 16384);
        (first..first + u64::from(request.length_bytes) / 4096).for_each(|block| covered[block as usize] += 1);
    }
    assert!(covered.iter().all(|&times| times == 1));
}

#[test]
fn what_zones_cannot_be_is_named() {
    let cases = [
        (Job { runs: Some(Runs { ios: 2, then: Sequencer::Sequential }), ..zoned(8, 8, 0, 100) }, "zones.range_bytes"),
        (zoned(8, 2, 0, 100), "zones.range_bytes"),
        (zoned(0, 8, 0, 100), "zones.transfer_bytes"),
        (
            Job {
                sequential: false,
                distribution: Distribution::Zipf { theta: 1.2, center: None, ranks_per_block: 1 },
                ..zoned(8, 8, 0, 9)
            },
            "zones.range_bytes",
        ),
    ];
    for (job, key) in cases {
        assert_eq!(Stream::new(&job).expect_err(key).key, key);
    }
}
