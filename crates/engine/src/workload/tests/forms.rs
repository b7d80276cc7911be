//! Forms of fio's job language beyond plain jobs: runs, shares of random requests, files, gaps. Sequences named after
//! fio were logged by fio 3.33's `write_iolog` for the same options.

use super::*;
use crate::specification::job::{FileRange, FileService, Files, Runs, Sequencer};

/// Blocks of 4 KiB, counted from the job's start.
fn blocks(job: &Job) -> Vec<u64> {
    requests(job).iter().map(|request| (request.offset_bytes - job.offset_bytes) / 4096).collect()
}

fn with_runs(ios: u32, then: Sequencer) -> Job {
    Job { runs: Some(Runs { ios, then }), io_bytes: 4096 * 800, ..job() }
}

#[test]
fn a_run_begins_at_a_random_place_and_goes_on_in_sequence() {
    for run in blocks(&with_runs(8, Sequencer::Sequential)).chunks(8) {
        let fits = run[0] + 8 <= 1000;
        assert!(!fits || run.iter().copied().eq(run[0]..run[0] + 8), "{run:?}");
    }
}

#[test]
fn a_run_may_stay_where_it_is() {
    let all = blocks(&with_runs(4, Sequencer::Identical));
    let places: Vec<u64> = all.chunks(4).map(|run| run[0]).collect();
    assert!(all.chunks(4).zip(&places).all(|(run, place)| run.iter().all(|block| block == place)));
    assert!(places.windows(2).filter(|pair| pair[0] == pair[1]).count() < 5);
}

#[test]
fn directions_of_a_mixed_run_keep_their_own_places() {
    // fio 3.33 for rw=randrw:4: the count of the run is common, the position to continue from belongs to the direction.
    let all = requests(&Job { direction: Direction::ReadWrite, ..with_runs(4, Sequencer::Sequential) });
    let mut last = [None; 2];
    for (index, request) in all.iter().enumerate() {
        let job_class = usize::from(request.operation == Operation::Write);
        let follows = last[job_class].unwrap_or(1 << 20);
        if index % 4 != 0 && follows + 4096 <= (1 << 20) + 4096 * 1000 {
            assert_eq!(request.offset_bytes, follows);
        }
        last[job_class] = Some(request.offset_bytes + 4096);
    }
}

#[test]
fn the_share_of_random_requests_is_the_direction_s() {
    let percent = PerDirection { read: 0.0, write: 70.0, trim: 100.0 };
    let mixed = Job {
        direction: Direction::ReadWrite,
        random_percent: Some(percent),
        size_bytes: 1 << 40,
        io_bytes: 4096 * 100_000,
        ..job()
    };
    let (mut last, mut follows, mut counts) = ([1 << 20; 2], [0u64; 2], [0u64; 2]);
    for request in requests(&mixed) {
        let job_class = usize::from(request.operation == Operation::Write);
        counts[job_class] += 1;
        follows[job_class] += u64::from(request.offset_bytes == last[job_class]);
        last[job_class] = request.offset_bytes + 4096;
    }
    assert_eq!(follows[0], counts[0]);
    assert_shares(&[follows[1], counts[1] - follows[1]], &[30.0, 70.0]);
}

fn two_files(service: FileService) -> Job {
    let range = |offset_bytes: u64| FileRange { offset_bytes: (1 << 20) + offset_bytes, size_bytes: 4096 * 4 };
    let files = Files { ranges: vec![range(0), range(4096 * 10), range(4096 * 20)], service };
    Job { sequential: true, size_bytes: 4096 * 24, io_bytes: 4096 * 12, files: Some(files), ..job() }
}

#[test]
fn files_take_turns_as_in_fio() {
    let in_turn = blocks(&two_files(FileService::RoundRobin { ios: 1 }));
    assert_eq!(in_turn, [0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 13, 23]);
    let by_three = blocks(&two_files(FileService::RoundRobin { ios: 3 }));
    assert_eq!(by_three, [0, 1, 2, 10, 11, 12, 20, 21, 22, 3, 13, 23]);
    let one_by_one = blocks(&two_files(FileService::Sequential));
    assert_eq!(one_by_one, [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]);
}

#[test]
fn a_random_file_is_left_out_when_it_is_done() {
    let mut sorted = blocks(&two_files(FileService::Random { ios: 2 }));
    assert!(!sorted.is_sorted());
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]);
}

#[test]
fn weights_say_how_often_a_file_is_taken() {
    let weights = vec![5.0, 0.0, 1.0];
    let job = Job { io_bytes: 4096 * 60_000, ..two_files(FileService::Weighted { weights }) };
    let mut hits = [0; 3];
    blocks(&job).iter().for_each(|block| hits[(block / 10) as usize] += 1);
    assert_shares(&hits, &[5.0, 0.0, 1.0]);
}

#[test]
fn a_run_goes_on_in_each_file_by_itself() {
    // fio 3.33 for rw=randread:4, nrfiles=3: one new position for four requests, which rotate over the files.
    let runs = Some(Runs { ios: 4, then: Sequencer::Sequential });
    let all = blocks(&Job { sequential: false, runs, ..two_files(FileService::RoundRobin { ios: 1 }) });
    assert_eq!(all.iter().map(|block| block / 10).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    assert_eq!(all[1..3], [10, 20]);
    assert!(all[0] == 3 || all[3] == all[0] + 1);
}

#[test]
fn holes_and_steps_back_are_fio_s() {
    // rw=read:12k and rw=read:-8k over 64 KiB.
    let strided = |skip_bytes| {
        blocks(&Job { sequential: true, size_bytes: 65536, io_bytes: 65536, skip_bytes: Some(skip_bytes), ..job() })
    };
    assert_eq!(strided(12288), [0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12]);
    assert_eq!(strided(-8192), [0, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
}

#[test]
fn wrong_forms_are_named() {
    let files = |ranges: Vec<FileRange>, service| Job { files: Some(Files { ranges, service }), ..job() };
    let range = |offset_bytes, size_bytes| FileRange { offset_bytes, size_bytes };
    let inside = range(1 << 20, 8192);
    let cases = [
        (files(vec![], FileService::Sequential), "files.ranges"),
        (files(vec![range(0, 8192)], FileService::Sequential), "files.ranges"),
        (files(vec![range(1 << 20, 1 << 40)], FileService::Sequential), "files.ranges"),
        (files(vec![range(1 << 20, 512)], FileService::Sequential), "size_bytes"),
        (files(vec![inside], FileService::RoundRobin { ios: 0 }), "files.service.ios"),
        (files(vec![inside], FileService::Weighted { weights: vec![1.0, 2.0] }), "files.service.weights"),
        (files(vec![inside], FileService::Weighted { weights: vec![0.0] }), "files.service.weights"),
        (with_runs(0, Sequencer::Identical), "runs.ios"),
        (Job { random_percent: Some(same(101.0)), ..job() }, "random_percent"),
        (Job { sequential: true, skip_bytes: Some(i64::MIN), ..job() }, "skip_bytes"),
        (
            Job { distribution: Distribution::Zipf { theta: 1.2, center: Some(1.5), ranks_per_block: 1 }, ..job() },
            "distribution.center",
        ),
    ];
    for (job, key) in cases {
        assert_eq!(Stream::new(&job).unwrap_err().key, key);
    }
}
