//! Do our streams ask for what fio asks for? fio itself is the judge (3.33 was used): its requests for a job, as it
//! logs them, compared with ours for the same job. Distributions by a chi-squared test of two samples, what is to be
//! the same request by request. Without fio on the machine nothing is compared.

use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::specification::Job;
use ssdlab_engine::specification::job::{
    AbsoluteZone, BlockSize, Direction, Distribution, FioLaw, PerDirection, Runs, Sequencer, Zone,
};
use ssdlab_engine::workload::Stream;
use ssdlab_engine::workload::scatter::Scatter;
use std::path::PathBuf;
use std::process::Command;

const BLOCK: u64 = 4096;
/// fio's hash of the file's name, times the number of the thread: its seed of skewed offsets.
const SEED_OF_DEV: u32 = 0x44f6_263e;

/// A folder of its own with a file `dev` of so many blocks. Removed when dropped.
struct Device {
    folder: PathBuf,
}

impl Device {
    fn new(name: &str, blocks: u64) -> Device {
        let folder = std::env::temp_dir().join(format!("ssdlab-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        let file = std::fs::File::create(folder.join("dev")).expect("a file for fio");
        file.set_len(blocks * BLOCK).expect("a sparse file");
        Device { folder }
    }

    /// The requests that fio makes for these options; `None` without fio.
    fn fio(&self, options: &str) -> Option<Vec<Request>> {
        let job = format!("[job]\nioengine=psync\nfilename=dev\nwrite_iolog=log\n{}\n", options.replace(' ', "\n"));
        std::fs::write(self.folder.join("job.fio"), job).expect("a job file");
        _ = std::fs::remove_file(self.folder.join("log"));
        let Ok(done) = Command::new("fio").arg("job.fio").current_dir(&self.folder).output() else {
            eprintln!("fio is not installed: nothing compared");
            return None;
        };
        assert!(done.status.success(), "{options}: {}", String::from_utf8_lossy(&done.stderr));
        let log = std::fs::read_to_string(self.folder.join("log")).expect("fio's log");
        Some(log.lines().filter_map(request_of).collect())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// `dev read 4096 4096`, of version 2, or with a time before it, of version 3.
fn request_of(line: &str) -> Option<Request> {
    let words: Vec<&str> = line.split(' ').collect();
    let [.., operation, offset, length] = words[..] else { return None };
    let operation = match operation {
        "read" => Operation::Read,
        "write" => Operation::Write,
        "trim" => Operation::Trim,
        _ => return None,
    };
    Some(Request::new(operation, offset.parse().ok()?, length.parse().ok()?))
}

fn same<T: Clone>(value: T) -> PerDirection<T> {
    PerDirection { read: value.clone(), write: value.clone(), trim: value }
}

/// Random reads of 4 KiB over so many blocks, so many of them.
fn job(blocks: u64, ios: u64, distribution: Distribution) -> Job {
    Job {
        name: "job".into(),
        clone: 0,
        stage: 0,
        direction: Direction::Read,
        sequential: false,
        read_percent: 100.0,
        offset_bytes: 0,
        size_bytes: blocks * BLOCK,
        io_bytes: u64::MAX,
        number_ios: Some(ios),
        loops: 1,
        block_sizes: same(vec![BlockSize { bytes: BLOCK as u32, percent: 100.0 }]),
        block_align_bytes: same(BLOCK),
        distribution,
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

fn ours(job: &Job) -> Vec<Request> {
    let mut out = Vec::new();
    let mut stream = Stream::new(job).expect("a job of the test");
    while stream.fill(&mut out, 1000) > 0 {}
    out
}

fn hits(requests: &[Request], blocks: u64) -> Vec<u64> {
    let mut hits = vec![0; blocks as usize];
    requests.iter().for_each(|request| hits[(request.offset_bytes / BLOCK) as usize] += 1);
    hits
}

/// How many standard deviations the chi-squared statistic of two samples of one size lies above its mean, by Wilson and
/// Hilferty's approximation. Neighbouring cells are joined until they hold 20 counts together.
fn deviations(one: &[u64], other: &[u64]) -> f64 {
    assert_eq!(one.iter().sum::<u64>(), other.iter().sum::<u64>());
    let (mut statistic, mut cells, mut a, mut b) = (0.0, 0.0, 0.0, 0.0);
    for (&left, &right) in one.iter().zip(other) {
        (a, b) = (a + left as f64, b + right as f64);
        if a + b >= 20.0 {
            statistic += (a - b) * (a - b) / (a + b);
            cells += 1.0;
            (a, b) = (0.0, 0.0);
        }
    }
    assert!(cells > 5.0, "too few counts to judge by");
    let freedom: f64 = cells - 1.0;
    ((statistic / freedom).cbrt() - (1.0 - 2.0 / (9.0 * freedom))) / (2.0 / (9.0 * freedom)).sqrt()
}

/// A right pair fails once in three million; all seeds are fixed.
const DEVIATIONS_MAX: f64 = 5.0;

const BLOCKS: u64 = 1000;
const IOS: u64 = 40_000;

fn zones(list: &[(f64, f64)]) -> Vec<Zone> {
    list.iter().map(|&(access_percent, span_percent)| Zone { access_percent, span_percent }).collect()
}

#[test]
fn offsets_of_uniform_and_zoned_jobs_cannot_be_told_from_fios() {
    let absolute = |access_percent, blocks: u64| AbsoluteZone { access_percent, span_bytes: blocks * BLOCK };
    let cases = [
        ("random", Distribution::Random),
        (
            "zoned:50/5:30/15:20/80",
            Distribution::Zoned { zones: zones(&[(50.0, 5.0), (30.0, 15.0), (20.0, 80.0)]), scattered: false },
        ),
        ("zoned:10/90:90/10", Distribution::Zoned { zones: zones(&[(10.0, 90.0), (90.0, 10.0)]), scattered: false }),
        (
            "zoned_abs:60/400k:30/800k:10/2m",
            Distribution::ZonedAbsolute {
                zones: same(vec![absolute(60.0, 100), absolute(30.0, 200), absolute(10.0, 512)]),
            },
        ),
    ];
    let device = Device::new("even", BLOCKS);
    let mut counted = Vec::new();
    for (name, distribution) in cases {
        let options = format!("rw=randread norandommap io_size={} random_distribution={name}", IOS * BLOCK);
        let Some(fio) = device.fio(&options) else { return };
        assert_eq!(fio.len() as u64, IOS);
        counted.push((hits(&fio, BLOCKS), hits(&ours(&job(BLOCKS, IOS, distribution)), BLOCKS)));
        let (fio, ours) = counted.last().expect("just pushed");
        let found = deviations(fio, ours);
        assert!(found < DEVIATIONS_MAX, "{name}: {found} deviations");
    }
    // The test has an eye for differences.
    assert!(deviations(&counted[0].0, &counted[1].1) > 100.0);
    assert!(deviations(&counted[1].0, &counted[2].1) > 100.0);
}

/// fio's scatter of ranks undone, for a power of two and the hottest block at the start.
fn ranks_of_fio(requests: &[Request], blocks: u64) -> Vec<u64> {
    let rank_of: Vec<usize> = {
        let mut ranks = vec![0; blocks as usize];
        (0..blocks).for_each(|rank| {
            ranks[(rank.wrapping_mul(0x61c8_8646_80b5_83eb) % blocks) as usize] = rank as usize;
        });
        ranks
    };
    let mut counts = vec![0; blocks as usize];
    requests.iter().for_each(|request| counts[rank_of[(request.offset_bytes / BLOCK) as usize]] += 1);
    counts
}

/// Our scatter undone. It is drawn first of all, from the job's seed.
fn ranks_of_ours(job: &Job, blocks: u64, hottest: u64, center: Option<f64>) -> Vec<u64> {
    let scatter = Scatter::new(blocks, Random::new(job.seed).bits(), hottest, center);
    let hits = hits(&ours(job), blocks);
    (0..blocks).map(|rank| hits[scatter.block(rank) as usize]).collect()
}

#[test]
fn ranks_of_pareto_and_normal_jobs_cannot_be_told_from_fios() {
    let blocks = 1024;
    let center = Some(0.0);
    let cases = [
        ("pareto:0.2:0", Distribution::Pareto { h: 0.2, center }, 0, center),
        ("pareto:0.4:0", Distribution::Pareto { h: 0.4, center }, 0, center),
        ("normal:0", Distribution::Normal { deviation_percent: 0.0, center: None }, 512, None),
        ("normal:20", Distribution::Normal { deviation_percent: 20.0, center: None }, 512, None),
        ("normal:99", Distribution::Normal { deviation_percent: 99.0, center: None }, 512, None),
    ];
    let device = Device::new("ranks", blocks);
    for (name, distribution, hottest, center) in cases {
        let options = format!("rw=randread io_size={} random_distribution={name}", IOS * BLOCK);
        let Some(fio) = device.fio(&options) else { return };
        let ours = ranks_of_ours(&job(blocks, IOS, distribution), blocks, hottest, center);
        let found = deviations(&ranks_of_fio(&fio, blocks), &ours);
        assert!(found < DEVIATIONS_MAX, "{name}: {found} deviations");
    }
}

#[test]
fn zipf_is_fios_but_for_its_approximation() {
    // fio's method gives the third rank 19 % too much at theta 1.2, which any test sees; in all, one draw in fifty is
    // another than the law's. Ours is the law's (`zipf.rs`), fio's own is `like-fio`.
    let blocks = 1024;
    let device = Device::new("zipf", blocks);
    for theta in [0.6, 1.2] {
        let options = format!("rw=randread io_size={} random_distribution=zipf:{theta}:0", IOS * BLOCK);
        let Some(fio) = device.fio(&options) else { return };
        let center = Some(0.0);
        let zipf = Distribution::Zipf { theta, center, ranks_per_block: 1 };
        let (fio, ours) = (ranks_of_fio(&fio, blocks), ranks_of_ours(&job(blocks, IOS, zipf), blocks, 0, center));
        let below = |counts: &[u64], ranks: usize| counts[..ranks].iter().sum::<u64>() as f64 / IOS as f64;
        for ranks in [1, 2, 4, 16, 64, 256] {
            let apart = (below(&fio, ranks) - below(&ours, ranks)).abs();
            assert!(apart < 0.025, "zipf:{theta}: {apart} apart in the first {ranks} ranks");
        }
    }
}

#[test]
fn what_is_like_fio_is_fio_request_by_request() {
    let cases = [
        ("zipf:1.2", FioLaw::Zipf { theta: 1.2 }, None, 1000),
        ("zipf:0.6", FioLaw::Zipf { theta: 0.6 }, None, 1 << 15),
        ("zipf:1.1:0.7", FioLaw::Zipf { theta: 1.1 }, Some(0.7), 77_777),
        ("zipf:2.5", FioLaw::Zipf { theta: 2.5 }, None, 12_345),
        ("pareto:0.2", FioLaw::Pareto { h: 0.2 }, None, 10_007),
        ("pareto:0.9:0.5", FioLaw::Pareto { h: 0.9 }, Some(0.5), 4096),
        ("normal:10", FioLaw::Normal { deviation_percent: 10.0 }, None, 1000),
        ("normal:0:0.8", FioLaw::Normal { deviation_percent: 0.0 }, Some(0.8), 5000),
        ("normal:80:0.2", FioLaw::Normal { deviation_percent: 80.0 }, Some(0.2), 1 << 14),
    ];
    for (name, law, center, blocks) in cases {
        let device = Device::new("like", blocks);
        let options = format!("rw=randread io_size={} random_distribution={name}", IOS * BLOCK);
        let Some(fio) = device.fio(&options) else { return };
        let like_fio = Distribution::LikeFio { law, center, seed: SEED_OF_DEV };
        let ours = ours(&job(blocks, IOS, like_fio));
        let first = fio.iter().zip(&ours).position(|(fio, ours)| fio != ours);
        assert!(first.is_none() && fio.len() == ours.len(), "{name}: request {first:?} differs");
    }
}

#[test]
fn lengths_of_ranges_cannot_be_told_from_fios() {
    let sizes = |list: &[(u32, f64)]| -> Vec<BlockSize> {
        list.iter().map(|&(kib, percent)| BlockSize { bytes: kib * 1024, percent }).collect()
    };
    let cases = [
        ("bsrange=4k-16k", sizes(&[(4, 25.0), (8, 25.0), (12, 25.0), (16, 25.0)])),
        ("bsrange=4k-10k", sizes(&[(4, 40.0), (8, 40.0), (10, 20.0)])),
        ("bssplit=4k/60:6k/20:16k/20", sizes(&[(4, 80.0), (16, 20.0)])),
    ];
    let device = Device::new("lengths", BLOCKS);
    for (name, list) in cases {
        let Some(fio) = device.fio(&format!("rw=randread norandommap number_ios=20000 io_size=1g ba=4k {name}")) else {
            return;
        };
        let mut mixed = job(BLOCKS, 20_000, Distribution::Random);
        mixed.block_sizes = same(list);
        let by_kib = |requests: &[Request]| {
            let mut counts = vec![0; 17];
            requests.iter().for_each(|request| counts[(request.length_bytes / 1024) as usize] += 1);
            counts
        };
        let (fio, ours) = (by_kib(&fio), by_kib(&ours(&mixed)));
        for (kib, (&fio, &ours)) in fio.iter().zip(&ours).enumerate() {
            assert_eq!(fio == 0, ours == 0, "{name}: {kib} KiB");
            let deviation = (f64::from(fio) - f64::from(ours)).abs() / f64::from(fio + ours).sqrt().max(1.0);
            assert!(deviation < DEVIATIONS_MAX, "{name}: {fio} and {ours} of {kib} KiB");
        }
    }
}

#[test]
fn the_share_of_requests_that_follow_on_is_fios() {
    let device = Device::new("follow", 1 << 16);
    let follows = |requests: &[Request]| {
        let pairs = requests.windows(2);
        pairs.filter(|pair| pair[0].offset_bytes + u64::from(pair[0].length_bytes) == pair[1].offset_bytes).count()
    };
    let mut plain = job(1 << 16, 20_000, Distribution::Random);
    let Some(fio) = device.fio("rw=randread norandommap number_ios=20000 percentage_random=30") else { return };
    plain.random_percent = Some(same(30.0));
    let apart = follows(&fio).abs_diff(follows(&ours(&plain)));
    // Three and a half standard deviations of the difference of two binomial counts.
    assert!(apart < 330, "{apart} apart");

    let Some(fio) = device.fio("rw=randread:8 norandommap number_ios=20000") else { return };
    plain.random_percent = None;
    plain.runs = Some(Runs { ios: 8, then: Sequencer::Sequential });
    let apart = follows(&fio).abs_diff(follows(&ours(&plain)));
    assert!(apart < 10, "{apart} apart");
    for requests in [&fio, &ours(&plain)] {
        assert!(requests.chunks(8).filter(|run| follows(run) == 7).count() > 2490);
    }
}

#[test]
fn a_map_with_several_lengths_visits_every_block_once_in_about_as_many_requests() {
    let blocks = 1 << 14;
    let device = Device::new("map", blocks);
    let Some(fio) = device.fio("rw=randread bssplit=4k/50:16k/50") else { return };
    let mut mapped = job(blocks, u64::MAX, Distribution::Random);
    mapped.block_sizes = same([4096, 16384].map(|bytes| BlockSize { bytes, percent: 50.0 }).to_vec());
    mapped.random_map = true;
    mapped.io_bytes = mapped.size_bytes;
    let ours = ours(&mapped);
    for requests in [&fio, &ours] {
        let mut visits = vec![0; blocks as usize];
        for request in requests {
            let first = request.offset_bytes / BLOCK;
            (first..first + u64::from(request.length_bytes) / BLOCK).for_each(|block| visits[block as usize] += 1);
        }
        assert!(visits.iter().all(|&times| times == 1));
    }
    let (fio, ours) = (fio.len() as f64, ours.len() as f64);
    assert!((fio / ours - 1.0).abs() < 0.02, "{fio} requests of fio, {ours} of ours");
}
