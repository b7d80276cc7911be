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
fn a_write_that_is_through_says_so() {
    let (read, reader) =
        operations("259,0 1 1 0.004 697 Q WFS 8 + 8 [raft]\n259,0 1 2 0.005 697 Q FWFS 16 + 8 [raft]\n");
    assert_eq!(read, [(0, Write, 4096), (1_000_000, Flush, 0), (1_000_000, Write, 8192)]);
    assert_eq!(reader.through(), 2);
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
    assert!(error.to_string().contains("no zone append, which says where it writes only when it completes"), "{error}");
}

/// A regression: an append was refused in completions too, which have the place that the drive chose.
#[test]
fn a_zone_append_writes_where_its_completion_says() {
    let (read, _) = operations(
        "259,0 0 1 0.000 0 C ZAS 524288 + 8 [0]\n259,0 0 2 0.001 0 C ZAS 524296 + 8 [0]\n\
         259,0 0 3 0.002 0 C R 524288 + 8 [0]\n",
    );
    assert_eq!(read, [(0, Write, 268_435_456), (1_000_000, Write, 268_439_552), (2_000_000, Read, 268_435_456)]);
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

/// A regression: a recording of completions of writes alone, or one whose operations are numbers, could not be read.
#[test]
fn an_operation_without_a_column_or_by_its_value() {
    let expected = [(0, Write, 13_661_319_168, 32_768), (1_427_553, Write, 15_845_421_056, 16_384)];
    let completions =
        "  0.000487624, 697, fio, C, 26682264, 64, 32768\n  0.001915177, 697, fio, C, 30948088, 32, 16384\n";
    assert_eq!(with_columns("time,-,-,-,sector,sectors,-,op=write", completions), expected);
    assert_eq!(with_columns("time,sector,op=read,bytes=4096", "0 8\n1 16\n")[1], (1_000_000_000, Read, 8192, 4096));
    assert_eq!(with_columns("sector,sectors=8,op=W", "8\n16\n")[1], (0, Write, 8192, 4096));
    let numbers = "0.1 2048 4096 0x2A\n0.2 4096 4096 0x28\n";
    let by_number = [(0, Write, 1 << 20, 4096), (100_000_000, Read, 1 << 21, 4096)];
    assert_eq!(with_columns("time,sector,bytes,write=0x2a", numbers), by_number);
    assert_eq!(with_columns("time,sector,bytes,read=0x28", numbers), by_number);
}

/// A regression: a device with a comma in it made commas the separators of a text with blanks between its columns.
#[test]
fn the_separators_are_those_that_read_more_lines() {
    let blanks = "259,0 0.5 WS 2048+8\n259,0 0.6 R 4096 + 16\n259,0 0.7 R 4096+16\n";
    let columns: Columns = "volume,time,op,sector,sectors".parse().unwrap();
    let options = ReadOptions { skip_bad_max: 1 };
    let mut reader = Reader::open_columns(std::io::Cursor::new(blanks.as_bytes().to_vec()), columns, options).unwrap();
    let records = drain(&mut reader).unwrap();
    assert_eq!((records[0].offset_bytes, records[0].length_bytes, records[1].length_bytes), (1 << 20, 4096, 8192));
    // `2048 + 8` has the + as a column of its own, as before.
    assert_eq!((records.len(), reader.skipped(), reader.volumes()), (2, 1, &["259,0".to_owned()][..]));
}

/// A regression: a prompt, what a tracer says when it is stopped, or the files that blkparse names ended the reading.
#[test]
fn text_around_a_trace_is_passed_over() {
    let biosnoop = "root@db1:~# biosnoop -d nvme0n1\nTracing block I/O... Hit Ctrl-C to end.\n\
        TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)\n\
        0.000000    fio            4242   nvme0n1   R 104        4096      0.09\nPossibly lost 23 samples\n\
        lost 3 events on CPU #1\n0.000100    fio            4242   nvme0n1   W 112        4096      0.09\n^C\n";
    let (read, reader) = operations(biosnoop);
    assert_eq!(read.iter().map(|each| each.2).collect::<Vec<_>>(), [53_248, 57_344]);
    assert_eq!((reader.format(), reader.skipped()), (Format::Biosnoop, 0));
    let blkparse = "Input file nvme0n1.blktrace.0 added\nInput file nvme0n1.blktrace.1 added\n\
                    259,0 3 1 0.0 1234 Q W 2048 + 8 [fio]\n";
    assert_eq!(operations(blkparse).0, [(0, Write, 1 << 20)]);
    let bpftrace = "Attaching 1 probe...\n1000 259:0 WS 2048 8\n^C\n";
    assert_eq!(with_columns("time_us,volume,op,sector,sectors", bpftrace), [(0, Write, 1 << 20, 4096)]);
    assert!(read_all("259,0 3 1 0.0 1234 Q W 2048 + 8 [fio]\nnot one\n", None, 0).is_err());
}

/// Rows of bcc's options: a time of -1 in no queue, a pattern that touches the bytes before it, requests that began before.
#[test]
fn biosnoop_with_its_options() {
    let (read, _) = operations(
        "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  P QUE(ms) LAT(ms)\n\
         0.000000    ?              0                 R -1         0       ?   0.00    0.30\n\
         0.001000    kworker/u16:1  4145    nvme0n1   W 8          1048576S   -1.000    0.500\n\
         0.001000    postgres: wal  992     nvme0n1   R 2056       4096   R    0.250    0.250\n\
         0.001100    ?              0       <unknown> R 0          4096   ?    0.00    0.25\n",
    );
    assert_eq!(read, [(0, Write, 4096), (0, Read, 1_052_672)]);
}

#[test]
fn columns_that_cannot_be_those_of_a_trace() {
    for (columns, said) in [
        ("time,sector,sectors", "op is missing"),
        ("time,op,sector,sectors,op=write", "`op=write` says again"),
        ("time,write=1,read=0,sector,sectors", "`read=0` says again"),
        ("time,op=C,sector,sectors", "there is no op `C`"),
        ("time,op,sector,bytes=4k", "`4k` is no whole number"),
        ("time,op,sector,sectors,size=8", "no column `size` with a value"),
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
        (
            "timestamp_us,operation,offset_bytes,size_bytes\n0,write,0,4096\n",
            "--columns time_us,op,offset,bytes (check",
        ),
        (
            "  UID   PID D    BLOCK   SIZE       COMM PATHNAME\n  501  1234 W   204800   4096  mysqld /d\n",
            "--columns -,-,op,sector,bytes,-,- (",
        ),
        ("version,len,cmd,sn,lbn,ts\n1,4096,42,1,2048,100000\n", "--columns -,bytes,op,-,sector,time ("),
        ("# version, timestamp, op, size, lbn\n1,5,42,512,429\n", "--columns -,time,op,bytes,sector ("),
        ("time,lba,size\n1,8,4096\n", "--columns time,sector,bytes,op=write"),
        ("0.0 fio/4092 block:block_rq_issue(dev: 271581184, sector: 2056, rwbs: \"WS\")\n", "perf script"),
        ("0\t10:00:01 AM\t0.0004\t0\tWrite\t2048\t8\n", "not the time of day"),
        ("[global]\nrw=randwrite\n", "ssdlab run FILE"),
        ("procs ---memory---\n r b swpd free\n", "vmstat -d 1"),
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

/// A regression: times out of order fell on one moment without a word.
#[test]
fn times_out_of_order_are_counted() {
    let times = ["0.005", "0.004", "0.006", "0.001"];
    let lines: String = times.iter().map(|time| format!("259,0 1 1 {time} 697 Q W 8 + 8 [raft]\n")).collect();
    let (_, reader) = operations(&lines);
    assert_eq!(reader.earlier(), ssdlab_traces::Earlier { requests: 2, ns_max: 5_000_000 });
}
