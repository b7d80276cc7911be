//! Larger recordings, from the folder that `SSDLAB_TRACE_SAMPLES` names: counts that are known from elsewhere, and one
//! recording read in both of its formats. Skipped without that folder.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::fixtures::drain;
use ssdlab_traces::{Format, Operation, Profile, ProfileReport, ReadOptions, Reader, Record};

fn sample(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("SSDLAB_TRACE_SAMPLES").map(|folder| PathBuf::from(folder).join(name));
    let path = path.filter(|path| path.exists());
    if path.is_none() {
        eprintln!("skipped: SSDLAB_TRACE_SAMPLES names no folder with {name}");
    }
    path
}

fn open_file(path: &Path) -> Reader {
    Reader::open(File::open(path).unwrap(), None, ReadOptions::default()).unwrap()
}

fn profile(records: &[Record]) -> ProfileReport {
    let mut profile = Profile::new();
    profile.add(records);
    profile.report()
}

fn counts(report: &ProfileReport) -> [(u64, u64); 4] {
    Operation::ALL.map(|operation| (report.operation(operation).requests, report.operation(operation).bytes))
}

#[test]
fn mqsim_tpcc() {
    let Some(path) = sample("mqsim-tpcc-small.trace") else { return };
    let mut reader = open_file(&path);
    assert_eq!(reader.format(), Format::Mqsim);
    let report = profile(&drain(&mut reader).unwrap());
    assert_eq!(report.requests(), 6999);
    assert_eq!(report.operation(Operation::Write).requests, 2618);
    // The sample's description says 0.136 s.
    assert_eq!(report.duration_ns / 1_000_000, 136);
}

#[test]
fn mqsim_web_search() {
    let Some(path) = sample("mqsim-wsrch-small.trace") else { return };
    let mut reader = open_file(&path);
    let report = profile(&drain(&mut reader).unwrap());
    assert_eq!(report.requests(), 24_783);
    let read_share = report.operation(Operation::Read).requests as f64 / report.requests() as f64;
    assert!((read_share - 0.9998).abs() < 0.000_05, "{read_share}");
    assert_eq!(report.duration_ns / 1_000_000_000, 60);
}

#[test]
fn one_recording_in_both_formats() {
    let (Some(binary), Some(text)) = (sample("blktrace-sample.bin"), sample("blkparse-sample.txt.gz")) else { return };
    let (mut binary, mut text) = (open_file(&binary), open_file(&text));
    assert_eq!((binary.format(), text.format()), (Format::Blktrace, Format::Blkparse));
    let (from_binary, from_text) = (drain(&mut binary).unwrap(), drain(&mut text).unwrap());
    assert_eq!(binary.pieces(), 9348, "as many events as blkparse's summary counts");
    assert_eq!(from_binary, from_text, "every record, to the nanosecond");
    assert_eq!((binary.volumes(), text.volumes()), (&["7,0".to_owned()][..], &["7,0".to_owned()][..]));

    let report = profile(&from_binary);
    let [read, write, trim, flush] = counts(&report);
    // blkparse's own total: 273 reads queued (1968KiB) and 1678 writes (6330MiB, which are 1000 KiB each), in which it
    // counts the 21 discards and the 15 flushes without an extent. Eight writes have a flush before them.
    assert_eq!(read, (273, 1968 * 1024));
    assert_eq!(write.0 + trim.0 + 15, 1678);
    assert_eq!((write.1 + trim.1) / 1024 / 1000, 6330);
    assert_eq!((trim.0, flush), (21, (23, 0)));
}
