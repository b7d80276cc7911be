//! Requests read per second on one thread, from generated text of each format in memory, and how fast they are
//! profiled. Prints one JSON object a format; the hash of all records shows that two runs read the same. `cargo test
//! --benches` runs a small one.

#[path = "../tests/reading/writers.rs"]
mod writers;

use std::io::Read;
use std::time::{Duration, Instant};

use ssdlab_traces::{Format, Profile, ReadOptions, Reader, Record};
use writers::{Request, header, write_line};

const LINES: u64 = 500_000;
const LINES_OF_TESTS: u64 = 5_000;
/// What a format is to reach from uncompressed text.
const WANTED_PER_SECOND: f64 = 4e6;
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

fn text(format: Format, lines: u64) -> Option<Vec<u8>> {
    let mut text = String::from(header(format));
    let mut state: u64 = 1;
    for number in 0..lines {
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
    let measures = std::env::args().any(|argument| argument == "--bench");
    let (lines, wall_max) = if measures { (LINES, 2.0) } else { (LINES_OF_TESTS, 0.01) };
    for &format in Format::ALL {
        let Some(text) = text(format, lines) else { continue };
        let bytes_per_request = text.len() as f64 / lines as f64;
        let mut reader =
            Reader::open(Repeated { text, at: 0 }, Some(format), ReadOptions::default()).expect("generated text opens");
        let (requests, hash, wall) = read_for(&mut reader, lines, Duration::from_secs_f64(wall_max));
        let per_second = requests as f64 / wall.as_secs_f64();
        println!(
            "{{\"benchmark\": \"trace reader\", \"format\": \"{}\", \"requests_per_wall_second\": {per_second:.0}, \
             \"bytes_per_request\": {bytes_per_request:.1}, \"wanted\": {WANTED_PER_SECOND}, \"hash\": \"{hash:016x}\"}}",
            format.name()
        );
    }
    profile_speed(lines);
}

/// Reads until the time is up; the hash is that of the first pass over the text.
fn read_for(reader: &mut Reader, lines: u64, wall_max: Duration) -> (u64, u64, Duration) {
    let mut records: Vec<Record> = Vec::with_capacity(BATCH);
    let (mut requests, mut hash) = (0_u64, 0_u64);
    let start = Instant::now();
    while start.elapsed() < wall_max || requests < lines {
        records.clear();
        requests += reader.next_batch(&mut records, BATCH).expect("generated text is well formed") as u64;
        let counted_before = requests - records.len() as u64;
        for record in records.iter().take(lines.saturating_sub(counted_before) as usize) {
            let extent = record.offset_bytes ^ u64::from(record.length_bytes) << 40 ^ record.arrival_ns << 1;
            let who = u64::from(record.volume) << 2 | record.operation.index() as u64;
            hash = (hash ^ extent ^ who).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    (requests, hash, start.elapsed())
}

fn profile_speed(lines: u64) {
    let text = text(Format::Msr, lines).expect("a text format");
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
        "{{\"benchmark\": \"trace profile\", \"requests_per_wall_second\": {:.0}, \"unique_units\": {}, \
         \"report_seconds\": {:.4}}}",
        records.len() as f64 / added.as_secs_f64(),
        report.units.unique,
        start.elapsed().saturating_sub(added).as_secs_f64()
    );
}
