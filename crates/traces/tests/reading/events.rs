//! Which event stands for a request, writes that are through, operations on zones, and columns of the user's own.

use crate::fixtures::{drain, read_all};
use ssdlab_traces::Operation::{self, Flush, Read, Trim, Write};
use ssdlab_traces::{Columns, Format, ReadOptions, Reader};

const DISCARD_AND_WRITE: &str = "\
259,0    0        1     0.000000000   697  A  WS 24 + 8 <- (259,1) 0
259,0    0        2     0.000100000   697  D  WS 24 + 8 [a]
259,0    0        3     0.000900000   697  C  WS 24 + 8 [0]
259,0    0        4     0.001000000   697  D  R 0 + 8 [a]
259,0    0        5     0.001800000   697  C  R 0 + 8 [0]
";

fn operations(text: &str) -> (Vec<(u64, Operation, u64)>, Reader) {
    let (records, reader) = read_all(text, None, 0).unwrap();
    (records.iter().map(|record| (record.arrival_ns, record.operation, record.offset_bytes)).collect(), reader)
}

/// A regression: recordings without queue events, as most recipes make them, had no requests.
#[test]
fn the_earliest_event_of_a_recording_stands_for_a_request() {
    let (issued, reader) = operations(DISCARD_AND_WRITE);
    assert_eq!(issued, [(0, Write, 12_288), (900_000, Read, 0)]);
    assert!(reader.note().unwrap().contains("issue events"));
    let completed: String =
        DISCARD_AND_WRITE.lines().filter(|line| !line.contains(" D ")).map(|line| format!("{line}\n")).collect();
    let (completed, reader) = operations(&completed);
    assert_eq!(completed, [(0, Write, 12_288), (900_000, Read, 0)]);
    assert!(reader.note().unwrap().contains("completion events only"));
    let (_, reader) = operations(&DISCARD_AND_WRITE.replace(" D ", " Q "));
    assert_eq!(reader.note(), None);
}

/// A regression: a write with FUA was read as a plain one, which a drive's cache answers at once.
#[test]
fn a_write_that_is_through_is_followed_by_a_flush() {
    let (read, reader) =
        operations("259,0 1 1 0.004 697 Q WFS 8 + 8 [raft]\n259,0 1 2 0.005 697 Q FWFS 16 + 8 [raft]\n");
    assert_eq!(read, [(0, Write, 4096), (0, Flush, 0), (1_000_000, Flush, 0), (1_000_000, Write, 8192)]);
    assert_eq!(reader.through(), 1);
}

#[test]
fn a_zone_that_is_reset_is_trimmed_and_other_operations_on_zones_move_nothing() {
    let (read, _) = operations(
        "259,0 0 1 0.0 697 Q WS 24 + 8 [a]\n259,0 0 2 0.001 697 Q ZRS 524288 + 524288 [a]\n\
         259,0 0 3 0.002 697 Q ZFS 524288 + 524288 [a]\n",
    );
    assert_eq!(read, [(0, Write, 12_288), (1_000_000, Trim, 268_435_456)]);
    let error =
        read_all("259,0 0 1 0.0 697 Q WS 24 + 8 [a]\n259,0 0 1 0.0 697 Q ZAS 24 + 8 [a]\n", None, 0).err().unwrap();
    assert!(error.to_string().contains("no zone append, which does not say where it writes"), "{error}");
}

fn with_columns(columns: &str, text: &str) -> Vec<(u64, Operation, u64, u32)> {
    let columns: Columns = columns.parse().unwrap();
    let mut reader =
        Reader::open_columns(std::io::Cursor::new(text.as_bytes().to_vec()), columns, ReadOptions::default()).unwrap();
    assert_eq!(reader.format(), Format::Columns);
    let records = drain(&mut reader).unwrap();
    records.iter().map(|each| (each.arrival_ns, each.operation, each.offset_bytes, each.length_bytes)).collect()
}

#[test]
fn columns_of_the_users_own() {
    let blkparse = "0.000487624 R 26682264 32768\n0.001915177 WS 30948088 16384\n";
    let expected = [(0, Read, 13_661_319_168, 32_768), (1_427_553, Write, 15_845_421_056, 16_384)];
    assert_eq!(with_columns("time,op,sector,bytes", blkparse), expected);
    let csv = "t, name, op, sector, sectors\n  0.000487624, fio, read, 26682264, 64\n 0.001915177, fio, Write, 30948088, 32\n";
    assert_eq!(with_columns("time,-,op,sector,sectors", csv), expected);
    let micro = "7;4096;512;F\n9;4096;512;D\n";
    assert_eq!(with_columns("time_us,offset,bytes,op", micro), [(0, Flush, 0, 0), (2000, Trim, 4096, 512)]);
}

#[test]
fn columns_that_cannot_be_those_of_a_trace() {
    for (columns, said) in [
        ("time,sector,sectors", "op is missing"),
        ("time,op,sectors", "one of sector, offset"),
        ("time,op,sector,block", "no column `block`"),
        ("time,time_ms,op,sector,bytes", "`time_ms` says again"),
    ] {
        let error = columns.parse::<Columns>().unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("time,op,sector,sectors"), "{error}");
    }
    let error = read_all("1 R 8 8\n", Some(Format::Columns), 0).err().unwrap().to_string();
    assert!(error.contains("--columns"), "{error}");
}

#[test]
fn what_lacks_addresses_says_how_to_get_them() {
    for (text, said) in [
        (
            "IO Type,      Start,        End,    IO Time,  Disk Srv,  IO Size\n   Read,    487,    577,    90,    88, 0x8000\n",
            "-a dumper",
        ),
        ("time,obj_id,obj_size,op\n1,42,4096,get\n", "libCacheSim"),
    ] {
        let error = read_all(text, None, 0).err().unwrap().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// A regression: copies of public traces with a blank behind each comma, or with a remark at the top, were not read.
#[test]
fn blanks_behind_commas_and_remarks_are_no_errors() {
    let plain = "128166372003061629,hm,1,Read,383496192,32768,413\n128166372003061630,hm,0,Write,4096,512,1200\n";
    let spc = "0,20941264,8192,W,0.551706\n0,20939840,8192,r,0.554041\n";
    for (text, format) in [(plain, Format::Msr), (spc, Format::Spc)] {
        let (records, reader) = read_all(text, None, 0).unwrap();
        let spread = format!("# a remark\n\n{}", text.replace(',', ", "));
        let (same, other) = read_all(spread, None, 0).unwrap();
        assert_eq!((&same, reader.format(), other.format()), (&records, format, format));
        assert_eq!(reader.volumes(), other.volumes());
    }
    let header = "Timestamp, Hostname, DiskNumber, Type, Offset, Size, ResponseTime\n";
    assert_eq!(read_all(format!("{header}{plain}"), None, 0).unwrap().0.len(), 2);
    assert_eq!(read_all(format!("ASU, LBA, Size, Opcode, Timestamp\n{spc}"), None, 0).unwrap().0.len(), 2);
}

#[test]
fn a_table_without_sectors_is_refused_with_the_program_that_has_them() {
    let text = "Attaching 4 probes...\nTIME(ms)     DISK         COMM             PID      LAT(ms)\n\
                611          nvme0n1      bash             4179          10\n";
    let error = read_all(text, None, 0).err().unwrap().to_string();
    assert!(error.contains("biosnoop.bt") && error.contains("biosnoop of bcc"), "{error}");
}
