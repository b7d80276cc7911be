//! Requests read per second on one thread, from generated text of each format in memory. The hash of all records shows
//! that two runs read the same. Run with `cargo run --release -p ssdlab-traces --example records_per_second [SECONDS]`.

#[path = "../tests/reading/writers.rs"]
mod writers;

use std::io::Read;
use std::time::{Duration, Instant};

use ssdlab_traces::{Format, Profile, ReadOptions, Reader, Record};
use writers::{Request, header, write_line};

const LINES: u64 = 500_000;
const BATCH: usize = 4096;

/// A text that starts again where it ends.
struct Repeated {
    text: Vec<u8>,
    at: usize,
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.text.len() {
            self.at = 0;
        }
        let bytes = buffer.len().min(self.text.len() - self.at);
        buffer[..bytes].copy_from_slice(&self.text[self.at..self.at + bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}

fn text(format: Format) -> Option<Vec<u8>> {
    let mut text = String::from(header(format));
    let mut state: u64 = 1;
    for number in 0..LINES {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let request = Request {
            time_s: number / 5000,
            volume: (state >> 60) as u32 % 4,
            is_write: state >> 59 & 1 == 1,
            sector: (state >> 20) % (1 << 28) * 8,
            sectors: 8 << ((state >> 50) % 6),
        };
        write_line(format, &request, &mut text)?;
    }
    Some(text.into_bytes())
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).map_or(2.0, |argument| argument.parse().expect("seconds, a number"));
    let wall_max = Duration::from_secs_f64(seconds);
    println!("{:14} {:>10} {:>10} {:>8}  hash of one pass", "format", "M/s", "MB/s", "B/line");
    for &format in Format::ALL {
        let Some(text) = text(format) else { continue };
        let bytes_per_request = text.len() as f64 / LINES as f64;
        let mut reader =
            Reader::open(Repeated { text, at: 0 }, Some(format), ReadOptions::default()).expect("generated text opens");
        let (requests, hash, wall) = read_for(&mut reader, wall_max);
        let per_second = requests as f64 / wall.as_secs_f64();
        println!(
            "{:14} {:10.2} {:10.0} {:8.1}  {hash:016x}",
            format.name(),
            per_second / 1e6,
            per_second * bytes_per_request / 1e6,
            bytes_per_request
        );
    }
    profile_speed();
}

/// Reads until the time is up; the hash is that of the first pass over the text.
fn read_for(reader: &mut Reader, wall_max: Duration) -> (u64, u64, Duration) {
    let mut records: Vec<Record> = Vec::with_capacity(BATCH);
    let (mut requests, mut hash) = (0_u64, 0_u64);
    let start = Instant::now();
    while start.elapsed() < wall_max || requests < LINES {
        records.clear();
        requests += reader.next_batch(&mut records, BATCH).expect("generated text is well formed") as u64;
        let counted_before = requests - records.len() as u64;
        for record in records.iter().take(LINES.saturating_sub(counted_before) as usize) {
            let extent = record.offset_bytes ^ u64::from(record.length_bytes) << 40 ^ record.arrival_ns << 1;
            let who = u64::from(record.volume) << 2 | record.operation.index() as u64;
            hash = (hash ^ extent ^ who).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    (requests, hash, start.elapsed())
}

fn profile_speed() {
    let text = text(Format::Msr).expect("a text format");
    let mut reader =
        Reader::open(std::io::Cursor::new(text), None, ReadOptions::default()).expect("generated text opens");
    let mut records = Vec::new();
    while reader.next_batch(&mut records, BATCH).expect("generated text is well formed") > 0 {}
    let mut profile = Profile::new();
    let start = Instant::now();
    profile.add(&records);
    let added = start.elapsed();
    let report = profile.report();
    println!(
        "profile: {:.2} M requests/s, {} unique units, hottest tenth takes {:.3} of the writes, report {:.0} ms",
        records.len() as f64 / added.as_secs_f64() / 1e6,
        report.units.unique,
        report.updates.writes_share(0.1).unwrap_or_default(),
        (start.elapsed() - added).as_secs_f64() * 1e3
    );
}
