//! Where the test files lie, and how they are opened.

use std::path::Path;

use ssdlab_traces::{Format, ReadOptions, Reader, Record, TraceError};

/// Every format with a file of a few requests written for these tests.
pub const FIXTURES: [(Format, &str); 21] = [
    (Format::Msr, "msr.csv"),
    (Format::Systor17, "systor17.csv"),
    (Format::Tencent, "tencent.csv"),
    (Format::Alibaba, "alibaba.csv"),
    (Format::Fiu, "fiu.txt"),
    (Format::Spc, "spc.csv"),
    (Format::Blktrace, "blktrace.bin"),
    (Format::Blkparse, "blkparse.txt"),
    (Format::FioIologV2, "fio_iolog_v2.log"),
    (Format::FioIologV3, "fio_iolog_v3.log"),
    (Format::Mqsim, "mqsim.trace"),
    (Format::Disksim, "disksim.trace"),
    (Format::Vscsi, "vscsi.bin"),
    (Format::BlockEvents, "block_events.txt"),
    (Format::NvmeCommands, "nvme_commands.txt"),
    (Format::Lttng, "lttng.txt"),
    (Format::Ufs, "ufs.txt"),
    (Format::Biosnoop, "biosnoop.txt"),
    (Format::Iosnoop, "iosnoop.txt"),
    (Format::Diskmon, "diskmon.log"),
    (Format::Xperf, "xperf.csv"),
];

pub fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(path).unwrap_or_else(|error| panic!("fixture {name}: {error}"))
}

/// All records of a trace in memory, read in batches of a size that divides nothing evenly.
pub fn read_all(
    bytes: impl Into<Vec<u8>>,
    format: Option<Format>,
    skip_bad_max: u64,
) -> Result<(Vec<Record>, Reader), TraceError> {
    let mut reader = Reader::open(std::io::Cursor::new(bytes.into()), format, ReadOptions { skip_bad_max })?;
    let records = drain(&mut reader)?;
    Ok((records, reader))
}

pub fn drain(reader: &mut Reader) -> Result<Vec<Record>, TraceError> {
    const BATCH: usize = 7;
    let mut records = Vec::new();
    loop {
        let length_before = records.len();
        let count = reader.next_batch(&mut records, BATCH)?;
        assert_eq!(records.len() - length_before, count);
        assert!(count <= BATCH);
        if count == 0 {
            return Ok(records);
        }
    }
}
