//! Every format from its own fixture: each record, each volume name; that it is recognised, and that no other format
//! takes it for its own.

use crate::fixtures::{FIXTURES, bytes, read_all};
use ssdlab_traces::Operation::{self, Flush, Read, Trim, Write};
use ssdlab_traces::{Format, Record};

type Row = (u64, &'static str, Operation, u64, u32);

/// (arrival in ns, volume, operation, offset, length), worked out by hand from the fixture's text and its units.
fn expected(format: Format) -> Vec<Row> {
    match format {
        Format::Msr => vec![
            (0, "hm_1", Read, 383_496_192, 32_768),
            (100, "hm_0", Write, 4096, 512),
            (1_000_000_000, "src1_1", Write, 0, 65_536),
            // Stamped before the first record: clamped.
            (0, "hm_1", Read, 383_528_960, 4096),
        ],
        Format::Systor17 => vec![
            (0, "0", Read, 1_254_686_720, 16_384),
            (500_000_000, "4", Write, 0, 8192),
            (1_000_000_000, "0", Write, 8192, 4096),
        ],
        Format::Tencent => vec![
            (0, "1063", Read, 6_610_407_424, 65_536),
            (0, "1071", Write, 3_208_032_256, 4096),
            (1_000_000_000, "1063", Write, 0, 512),
        ],
        Format::Alibaba => vec![
            (0, "419", Write, 8_792_731_648, 16_384),
            (580_000, "725", Read, 59_110_326_272, 360_448),
            (954_000, "419", Write, 8_792_748_032, 4096),
        ],
        Format::Fiu => vec![
            (0, "6,0", Write, 462_983_966_720, 4096),
            (3045, "6,0", Read, 462_983_970_816, 8192),
            (1_000_000_000, "6,1", Write, 0, 4096),
            (1_000_000_001, "6,0", Read, 144_994_910_208, 4096),
        ],
        Format::Spc => vec![
            (0, "0", Write, 10_721_927_168, 8192),
            (2_335_000, "0", Read, 10_721_198_080, 8192),
            (500_000_000, "2", Write, 8192, 512),
        ],
        Format::Blktrace => vec![
            (0, "8,0", Flush, 0, 0),
            (500, "8,0", Read, 4096, 4096),
            (1500, "8,0", Trim, 8192, 2_147_483_648),
            (2500, "8,16", Write, 12_288, 512),
            (3500, "8,0", Flush, 0, 0),
            (3500, "8,0", Write, 16_384, 8192),
        ],
        Format::Blkparse => vec![
            (0, "8,0", Flush, 0, 0),
            (154_389, "8,0", Read, 0, 16_384),
            (1_458_173, "8,0", Trim, 0, 2_147_483_648),
            (1_013_098_880, "8,16", Write, 2_147_418_112, 65_536),
            (1_547_345_114, "8,0", Flush, 0, 0),
            (1_547_345_114, "8,0", Write, 1_073_741_824, 4096),
            (1_547_400_000, "8,0", Write, 1_073_745_920, 4096),
        ],
        Format::FioIologV2 => vec![
            (0, "/dev/sda", Write, 0, 4096),
            (20_000_000, "/dev/sdb", Read, 8192, 16_384),
            (20_000_000, "/dev/sda", Trim, 4096, 1_048_576),
            (1_500_000_000, "/dev/sda", Flush, 0, 0),
        ],
        Format::FioIologV3 => vec![
            (0, "/dev/sda", Read, 0, 4096),
            (26_000, "/dev/sda", Write, 8192, 65_536),
            (31_000, "/dev/sda", Flush, 0, 0),
            (1_000_000_000, "/dev/sdb", Trim, 12_288, 4096),
        ],
        Format::Mqsim => vec![
            (0, "4", Write, 135_536_145_408, 8192),
            (315_000, "3", Read, 101_156_131_840, 4096),
            (431_000, "4", Write, 135_536_153_600, 16_384),
        ],
        Format::Disksim => vec![
            (0, "30", Read, 0, 2560),
            (4_638_150, "20", Write, 295_198_720, 3072),
            (11_123_644, "30", Read, 2560, 12_288),
        ],
        Format::Vscsi => vec![
            (0, "vscsi", Write, 65_536, 4096),
            (10_000, "vscsi", Read, 0, 65_536),
            (20_000, "vscsi", Flush, 0, 0),
            (1_000_000_000, "vscsi", Write, 4_398_046_511_104, 8192),
        ],
        tracer => of_tracer(tracer),
    }
}

/// The same for the formats of tracers of an operating system.
fn of_tracer(format: Format) -> Vec<Row> {
    match format {
        Format::BlockEvents => vec![
            (0, "259,0", Read, 13_661_319_168, 32_768),
            (1_442_000, "259,0", Write, 16_206_741_504, 4096),
            (1_965_000, "8,16", Trim, 1_944_862_720, 65_536),
            (2_282_000, "259,0", Flush, 0, 0),
        ],
        Format::NvmeCommands => vec![
            (0, "nvme0n1", Write, 255_209_205_760, 4096),
            // With force unit access.
            (1_000_000, "nvme0n1", Write, 4096, 512),
            // The kernel printed no disk.
            (3_000_000, "nvme1n2", Read, 0, 131_072),
            (4_000_000, "nvme1n2", Flush, 0, 0),
        ],
        Format::Lttng => vec![
            (0, "259,0", Read, 13_661_319_168, 32_768),
            // Past midnight.
            (1_000_000_000, "8,16", Write, 16_206_741_504, 4096),
        ],
        Format::Ufs => vec![
            (0, "1d84000.ufshc", Read, 13_661_319_168, 32_768),
            (1_442_000, "1d84000.ufshc", Write, 16_206_741_504, 4096),
            (2_000_000, "1d84000.ufshc", Flush, 0, 0),
        ],
        Format::Biosnoop => vec![
            // The time of a line is that of the completion.
            (0, "nvme0n1", Read, 13_661_319_168, 32_768),
            (2_415_000, "nvme0n1", Write, 15_845_421_056, 16_384),
            (2_750_000, "sda", Trim, 30_490_624, 65_536),
        ],
        Format::Iosnoop => {
            vec![(0, "202,1", Read, 13_661_319_168, 32_768), (1_442_000, "202,1", Write, 16_206_741_504, 4096)]
        }
        Format::Diskmon => vec![(0, "0", Read, 13_661_319_168, 32_768), (1_442_000, "1", Write, 16_206_741_504, 4096)],
        Format::Xperf => vec![(0, "0", Read, 13_661_319_168, 32_768), (1_442_000, "0", Write, 16_206_741_504, 4096)],
        _ => Vec::new(),
    }
}

fn rows<'a>(records: &[Record], volumes: &'a [String]) -> Vec<(u64, &'a str, Operation, u64, u32)> {
    let volume = |record: &Record| volumes[record.volume as usize].as_str();
    records
        .iter()
        .map(|record| (record.arrival_ns, volume(record), record.operation, record.offset_bytes, record.length_bytes))
        .collect()
}

#[test]
fn every_format_has_a_fixture() {
    let covered: Vec<Format> = FIXTURES.iter().map(|(format, _)| *format).collect();
    // What the columns of a text are, only its user knows: see `events.rs`.
    let recognised: Vec<Format> = Format::ALL.iter().copied().filter(|format| *format != Format::Columns).collect();
    assert_eq!(covered, recognised);
}

#[test]
fn each_fixture_reads_as_worked_out_by_hand() {
    for (format, name) in FIXTURES {
        let (records, reader) = read_all(bytes(name), Some(format), 0).unwrap();
        assert_eq!(rows(&records, reader.volumes()), expected(format), "{format}");
        assert_eq!(reader.skipped(), 0, "{format}");
        let through = match format {
            Format::Blkparse => 2,
            Format::Blktrace | Format::BlockEvents | Format::NvmeCommands => 1,
            _ => 0,
        };
        assert_eq!(reader.through(), through, "{format}");
        let without_direction = u64::from(format == Format::Systor17);
        assert_eq!(reader.without_direction(), without_direction, "{format}");
    }
}

#[test]
fn each_fixture_is_recognised() {
    for (format, name) in FIXTURES {
        let (_, reader) = read_all(bytes(name), None, 0).unwrap();
        assert_eq!(reader.format(), format);
    }
}

#[test]
fn no_format_reads_another_ones_fixture() {
    for (format, name) in FIXTURES {
        for &other in Format::ALL {
            // DiskSim allows whole milliseconds and hexadecimal flags, so it can read what MQSim writes; only the
            // recognition keeps the two apart.
            let may_read = other == format || (format, other) == (Format::Mqsim, Format::Disksim);
            assert_eq!(read_all(bytes(name), Some(other), 0).is_ok(), may_read, "{name} as {other}");
        }
    }
}

#[test]
fn both_byte_orders_of_blktrace_say_the_same() {
    let (little, _) = read_all(bytes("blktrace.bin"), None, 0).unwrap();
    let (big, reader) = read_all(bytes("blktrace_big_endian.bin"), None, 0).unwrap();
    assert_eq!(reader.format(), Format::Blktrace);
    assert_eq!(little, big);
}

#[test]
fn compressed_traces_are_read_as_they_are() {
    let (plain, _) = read_all(bytes("msr.csv"), None, 0).unwrap();
    for name in ["msr.csv.gz", "msr.csv.bz2", "msr.csv.zst"] {
        let compressed = bytes(name);
        let (records, _) = read_all(compressed.clone(), None, 0).unwrap();
        assert_eq!(records, plain, "{name}");
        // Two members, as `cat` and the parallel compressors make them.
        let (records, _) = read_all([compressed.clone(), compressed.clone()].concat(), None, 0).unwrap();
        assert_eq!(records, [plain.clone(), plain.clone()].concat(), "{name} twice");
        let cut = read_all(&compressed[..compressed.len() - 9], None, 0);
        assert!(cut.is_err(), "{name} cut short must not pass for whole");
    }
}

#[test]
fn names_and_aliases_lead_back_to_their_format() {
    for &format in Format::ALL {
        assert_eq!(format.name().parse::<Format>().unwrap(), format);
        for alias in format.aliases() {
            assert_eq!(alias.parse::<Format>().unwrap(), format);
        }
        assert!(!format.description().is_empty());
    }
    let message = "mrs".parse::<Format>().unwrap_err().to_string();
    assert!(message.contains("`mrs`") && message.contains("msr, systor17"), "{message}");
}

#[test]
fn line_ends_and_marks_of_other_systems() {
    for (format, name) in FIXTURES {
        let text = bytes(name);
        if matches!(format, Format::Blktrace | Format::Vscsi) {
            continue;
        }
        let (plain, _) = read_all(text.clone(), None, 0).unwrap();
        let mut windows = b"\xef\xbb\xbf".to_vec();
        for &byte in &text {
            if byte == b'\n' {
                windows.push(b'\r');
            }
            windows.push(byte);
        }
        assert_eq!(read_all(windows, None, 0).unwrap().0, plain, "{format} with a mark and carriage returns");
        let unended = text.trim_ascii_end().to_vec();
        assert_eq!(read_all(unended, None, 0).unwrap().0, plain, "{format} without the last line end");
    }
}
