//! What is wrong is said with its place, skipped when allowed, and never a panic.

use crate::fixtures::{FIXTURES, bytes, drain, read_all};
use proptest::prelude::*;
use ssdlab_traces::{Format, ReadOptions, Reader, TraceError};

const MSR_BAD: &str = "128166372003061629,hm,1,Read,0,4096,413\n\
                       128166372003061629,hm,1,Raed,0,4096,413\n\
                       128166372003061629,hm,1,Write,zero,4096,413\n\
                       128166372003061729,hm,1,Write,0,4096,413\n";

#[test]
fn the_place_the_expectation_and_the_text_are_named() {
    let error = read_all(MSR_BAD, None, 0).err().unwrap();
    assert_eq!(
        error.to_string(),
        "line 2 of the msr trace: expected Read or Write (column 4 of 7), found `128166372003061629,hm,1,Raed,0,4096,413`"
    );
    let error = read_all(MSR_BAD, None, 1).err().unwrap();
    assert!(matches!(error, TraceError::Malformed { number: 3, skipped: 1, .. }), "{error}");
    assert!(error.to_string().ends_with("(1 malformed skipped before)"), "{error}");
}

#[test]
fn malformed_lines_are_skipped_and_counted() {
    let (records, reader) = read_all(MSR_BAD, None, 2).unwrap();
    assert_eq!((records.len(), reader.skipped(), reader.pieces()), (2, 2, 4));
    assert_eq!(records[1].arrival_ns, 10_000);
}

#[test]
fn records_before_the_error_are_handed_out_first() {
    let mut reader = Reader::open(MSR_BAD.as_bytes(), None, ReadOptions::default()).unwrap();
    let mut records = Vec::new();
    assert_eq!(reader.next_batch(&mut records, 100).unwrap(), 1);
    assert!(matches!(reader.next_batch(&mut records, 100), Err(TraceError::Malformed { number: 2, .. })));
    assert_eq!(reader.next_batch(&mut records, 100).unwrap(), 0);
    assert_eq!(records.len(), 1);
}

#[test]
fn a_flush_and_its_request_may_fall_into_two_batches() {
    let mut reader = Reader::open(std::io::Cursor::new(bytes("blktrace.bin")), None, ReadOptions::default()).unwrap();
    let mut records = Vec::new();
    while reader.next_batch(&mut records, 1).unwrap() == 1 {}
    assert_eq!(records, read_all(bytes("blktrace.bin"), None, 0).unwrap().0);
}

#[test]
fn a_trace_without_directions_is_refused() {
    let text =
        "Timestamp,Response,IOType,LUN,Offset,Size\n1455591601.0,0.1,,0,4096,512\n1455591602.0,0.1,,0,4096,512\n";
    let error = read_all(text, None, 100).err().unwrap();
    assert!(matches!(error, TraceError::NoDirections { requests: 2, .. }), "{error}");
    let endless = std::io::Read::chain(text.as_bytes(), Endless(b"1455591602.0,0.1,,0,4096,512\n"));
    let mut reader = Reader::open(endless, None, ReadOptions::default()).unwrap();
    assert!(matches!(drain(&mut reader), Err(TraceError::NoDirections { .. })));
}

/// The same line for ever.
struct Endless(&'static [u8]);

impl std::io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let whole = buffer.len() / self.0.len();
        buffer.chunks_exact_mut(self.0.len()).for_each(|line| line.copy_from_slice(self.0));
        assert!(whole > 0, "the reader asks for more than a line at a time");
        Ok(whole * self.0.len())
    }
}

#[test]
fn what_is_no_trace_is_refused() {
    let refusal = |text: &[u8]| read_all(text, None, 0).err().unwrap();
    assert!(matches!(refusal(b""), TraceError::Empty));
    assert!(matches!(read_all("", Some(Format::Msr), 0), Err(TraceError::Empty)));
    let error = refusal(b"dear diary,\nno requests today\n");
    assert!(error.to_string().contains("`dear diary,`") && error.to_string().contains("blkparse"), "{error}");
    let mut archive = vec![0; 512];
    archive[..4].copy_from_slice(b"name");
    archive[257..262].copy_from_slice(b"ustar");
    assert!(matches!(refusal(&archive), TraceError::Archive { what: "a tar archive", .. }));
    let packed = refusal(b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4F").to_string();
    assert_eq!(
        packed,
        "the trace is compressed with xz: unpack it first, for example `xz -dc FILE` into standard input"
    );
    let error = read_all("fio version 3 iolog\n27 /dev/sda add\n", None, 0).err().unwrap();
    assert!(matches!(error, TraceError::NoRequests { pieces: 2, .. }), "{error}");
    let error = read_all("8,0 0 0 0.0 1 A R 0 + 8 <- (8,1) 0\n", None, 0).err().unwrap();
    assert!(error.to_string().contains("queue (Q), issue (D) or completion (C) events"), "{error}");
}

/// A regression: fio's own logs, and vmstat's tables without their usual first line, were answered with the list of formats.
#[test]
fn statistics_without_requests_are_named() {
    let refusal = |text: &str| read_all(text, None, 0).err().unwrap().to_string();
    let histogram = format!("4, 0, 4096{}\n", ", 0".repeat(1216));
    for log in [
        "3, 3742452, 0, 4096, 0\n3, 111947, 1, 4096, 0\n",
        "500, 56284, 0, 0, 0\n500, 2494, 1, 0, 0\n",
        "0, 208510, 0, 4096, 0x4004\n0, 79458, 2, 4096, 0x0000\n",
        "1, 123456, 0, 4096\n2, 140000, 1, 4096\n",
        // Averages have an offset of 0 whatever the job asks for.
        "500, 56284, 0, 0, 0, 0\n",
        &histogram.repeat(64),
    ] {
        let error = refusal(log);
        assert!(error.contains("bandwidth of fio, which has no offsets; give the file that fio writes"), "{error}");
    }
    for log in ["0, 155992, 0, 4096, 0, 0\n", "0, 155992, 0, 4096, 0\n1, 70795, 1, 4096, 774144\n"] {
        let error = refusal(log);
        assert!(
            error.contains("log_offset=1") && error.contains("--columns time_ms,-,write=1,bytes,offset"),
            "{error}"
        );
        let columns = "time_ms,-,write=1,bytes,offset".parse().unwrap();
        let mut reader = Reader::open_columns(log.as_bytes(), columns, ReadOptions::default()).unwrap();
        assert_eq!(drain(&mut reader).unwrap().len(), log.lines().count());
    }
    for other in ["1, 2048, 3, 4096\n", "1, 2048, 0\n", "1,2048,0,4096\n", "1, 2048, 0, 4096\n1, W, 0, 4096\n"] {
        let error = refusal(other);
        assert!(error.contains("not recognised"), "{other}: {error}");
    }
    for table in [
        "--procs-- -----------------------memory---------------------- ---swap--\n   r    b         swpd         free\n",
        " r  b   swpd   free   buff  cache   si   so    bi    bo\n 3  1      0 16620812  83140 7666820    0    0  3246  7446\n",
        "     24684092 K total memory\n       855572 K used memory\n",
        "sda1          reads      read sectors      writes  requested writes\n                100       800         50        400\n",
    ] {
        let error = refusal(table);
        assert!(error.contains("output of vmstat") && error.contains("iostat -x 1"), "{error}");
    }
}

#[test]
fn extents_beyond_the_address_space_are_malformed() {
    for line in ["0,R,18446744073709551615,4096,1", "0,R,0,4294967296,1", "0,R,0,1,18446744073709552"] {
        let text = format!("7,R,0,4096,1\n{line}\n");
        let error = read_all(text.clone(), None, 0).err().unwrap();
        assert!(matches!(error, TraceError::Malformed { number: 2, .. }), "{error}");
        let (_, reader) = read_all(text, None, 1).unwrap();
        assert_eq!(reader.volumes(), ["7"], "a refused line leaves no volume behind");
    }
}

#[test]
fn damaged_blktrace_is_taken_up_at_the_next_record() {
    let whole = bytes("blktrace.bin");
    let (records, _) = read_all(whole.clone(), None, 0).unwrap();
    // The sixth record, the discard of 2 GiB, begins after the names and times of the first ones.
    const DISCARD_AT: usize = 52 + 56 + 48 * 3;
    let mut damaged = whole.clone();
    damaged[DISCARD_AT] ^= 0xff;
    let error = read_all(damaged.clone(), None, 0).err().unwrap();
    assert!(error.to_string().starts_with("record 6 of the blktrace trace: expected a record of version 7"), "{error}");
    let (kept, reader) = read_all(damaged, None, 1).unwrap();
    assert_eq!(reader.skipped(), 1);
    let without_discard: Vec<_> =
        records.iter().enumerate().filter(|(at, _)| *at != 2).map(|(_, kept)| *kept).collect();
    assert_eq!(kept, without_discard);

    let mut gap = whole[..DISCARD_AT].to_vec();
    gap.extend(std::iter::repeat_n(0xaa, 1_000_000));
    gap.extend(&whole[DISCARD_AT..]);
    let (kept, reader) = read_all(gap, None, 1).unwrap();
    assert_eq!((kept, reader.skipped()), (records, 1), "one gap is one malformed record, however long");

    let cut = read_all(&whole[..whole.len() - 1], None, 0).err().unwrap();
    assert!(cut.to_string().contains("the rest of the last record"), "{cut}");
}

#[test]
fn another_version_of_blktrace_is_named() {
    let mut other = bytes("blktrace.bin");
    other[0] = 0x08;
    let error = read_all(other, None, 0).err().unwrap();
    assert!(error.to_string().contains("version 7"), "{error}");
}

#[test]
fn a_line_too_long_is_one_malformed_line() {
    let text = format!("7,R,0,4096,1\n{}\n7,R,0,4096,2\n", "9".repeat(3_000_000));
    let error = read_all(text.clone(), None, 0).err().unwrap();
    assert!(matches!(error, TraceError::Malformed { number: 2, .. }), "{error}");
    let (records, reader) = read_all(text, None, 1).unwrap();
    assert_eq!((records.len(), reader.skipped(), reader.pieces()), (2, 1, 3));
}

/// Reads whatever it is given as every format and checks what must hold for any input.
fn must_survive(bytes: &[u8], skip_bad_max: u64) {
    for format in Format::ALL.iter().copied().map(Some).chain([None]) {
        let Ok(mut reader) = Reader::open(std::io::Cursor::new(bytes.to_vec()), format, ReadOptions { skip_bad_max })
        else {
            continue;
        };
        let mut records = Vec::new();
        while let Ok(1..) = reader.next_batch(&mut records, 64) {}
        assert!(reader.skipped() <= skip_bad_max);
        assert!(records.len() as u64 <= 2 * reader.pieces());
        for record in &records {
            assert!((record.volume as usize) < reader.volumes().len());
            assert!(record.offset_bytes.checked_add(u64::from(record.length_bytes)).is_some());
        }
        assert!(records.first().is_none_or(|record| record.arrival_ns == 0));
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), skip in 0..20_u64) {
        must_survive(&bytes, skip);
    }

    #[test]
    fn random_text_never_panics(text in "([0-9RWQ.,+/ -]{0,12}[ ,\n]){0,40}", skip in 0..20_u64) {
        must_survive(text.as_bytes(), skip);
    }

    /// Bytes of a real trace overwritten, deleted and doubled.
    #[test]
    fn mutated_fixtures_never_panic(
        fixture in prop::sample::select(&FIXTURES[..]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..6),
        skip in 0..20_u64,
    ) {
        let mut mutated = bytes(fixture.1);
        for (place, byte, kind) in edits {
            let at = place.index(mutated.len());
            match kind {
                0 => mutated[at] = byte,
                1 => { mutated.remove(at); }
                2 => mutated.insert(at, byte),
                _ => mutated.extend_from_within(at..),
            }
            if mutated.is_empty() {
                break;
            }
        }
        must_survive(&mutated, skip);
    }

    /// The same for compressed ones, where the decompressor meets the damage.
    #[test]
    fn damaged_compression_never_panics(
        name in prop::sample::select(&["msr.csv.gz", "msr.csv.bz2", "msr.csv.zst"][..]),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut damaged = bytes(name);
        let at = place.index(damaged.len());
        damaged[at] = byte;
        must_survive(&damaged, 3);
    }
}
