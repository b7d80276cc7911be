//! Whatever bytes come in, a reader gives records or an error: every fixture and the kept corpus (`fuzz/`), as they are
//! and changed at random. Deterministic; `SSDLAB_FUZZ_RUNS` says how many changed inputs a format.

mod checks;

use checks::{check, chosen, read};
use ssdlab_traces::Format;
use std::path::{Path, PathBuf};

const RUNS: usize = 8000;
const INPUT_BYTES_MAX: usize = 2048;

/// Pieces that mean something in one format or another.
const WORDS: [&[u8]; 16] = [
    b"-1",
    b"0",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775807",
    b"1e309",
    b"NaN",
    b",",
    b"\n",
    b" ",
    b"W",
    b"Read",
    b"\xff\xff\xff\xff",
    b"\x07\x04\x61\x65",
    b"\0\0\0\0\0\0\0\0",
    b"fio version 3 iolog\n",
];

struct Chance(u64);

impl Chance {
    /// Marsaglia's xorshift, which is all that this takes.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The inputs that fuzzing found worth keeping: one a line, in hexadecimal.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(folder("../../fuzz/corpus").join(format!("{name}.hex"))).unwrap();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    text.lines().map(|line| line.as_bytes().chunks(2).map(byte).collect()).collect()
}

/// The fixtures' beginnings, as inputs of a format and of one that is to be recognised.
fn fixtures() -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder("tests/fixtures")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).map(|bytes| [b"?", &bytes[..]].concat()).collect()
}

fn changed(seeds: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = seeds[chance.below(seeds.len())].clone();
    for _ in 0..=chance.below(4) {
        let at = chance.below(bytes.len() + 1);
        match chance.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
            1 if at < bytes.len() => bytes[at] = chance.next() as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + chance.below(16)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let word = WORDS[chance.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            5 => {
                let end = (at + chance.below(64)).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            _ => {
                let other = &seeds[chance.below(seeds.len())];
                let from = chance.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
    bytes.truncate(INPUT_BYTES_MAX);
    bytes
}

/// The inputs that fuzzing kept of each format, and of none, which are to be recognised.
fn kept_by_format() -> impl Iterator<Item = (Option<Format>, Vec<Vec<u8>>)> {
    let own = Format::ALL.iter().map(|&format| (Some(format), corpus(format.name())));
    own.chain([(None, corpus("recognised"))])
}

#[test]
fn what_fuzzing_kept_is_read_as_it_should() {
    for (format, inputs) in kept_by_format() {
        assert!(inputs.len() > 50, "{format:?}: {} inputs", inputs.len());
        inputs.iter().for_each(|input| check(input, format));
    }
    let (mut whole, mut compressed) = (0, corpus("compressed-traces"));
    compressed.extend(fixtures());
    for input in compressed.iter().filter(|input| !input.is_empty()) {
        let (format, skip_bad_max) = chosen(input[0]);
        whole += usize::from(read(&input[1..], format, skip_bad_max, 64, usize::MAX).is_whole());
    }
    assert!(whole > 20, "{whole} of the compressed inputs are whole");
}

#[test]
fn no_input_breaks_a_reader() {
    let runs = std::env::var("SSDLAB_FUZZ_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(RUNS);
    let fixtures = fixtures();
    for (number, (format, kept)) in kept_by_format().enumerate() {
        let seeds = [kept, fixtures.clone()].concat();
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ (number as u64 + 1));
        for run in 0..runs {
            let mut input = changed(&seeds, &mut chance);
            if let Some(choice) = input.first_mut() {
                // Bad pieces may be skipped, or not.
                *choice = [b'A', b'a'][run % 2];
            }
            check(&input, format);
        }
    }
}
