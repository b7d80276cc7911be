//! A log that fio itself writes, read with the counts of the job that wrote it. Skipped where there is no fio.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use ssdlab_traces::{Format, Operation, Profile, ReadOptions, Reader};

use crate::fixtures::drain;

#[test]
fn a_log_of_fio_holds_its_job() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (data, log) = (directory.join("fio-data"), directory.join("fio-iolog"));
    // The log is appended to where it exists.
    let _ = std::fs::remove_file(&log);
    let fio = Command::new("fio")
        .args(["--name=job", "--rw=randrw", "--rwmixread=50", "--bs=4k", "--size=1m", "--fsync=16", "--ioengine=psync"])
        .arg(format!("--filename={}", data.display()))
        .arg(format!("--write_iolog={}", log.display()))
        .output();
    let Ok(output) = fio else {
        eprintln!("skipped: no fio");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut reader = Reader::open(File::open(&log).unwrap(), None, ReadOptions::default()).unwrap();
    assert_eq!(reader.format(), Format::FioIologV3);
    let mut profile = Profile::new();
    profile.add(&drain(&mut reader).unwrap());
    let report = profile.report();
    let (read, write) = (report.operation(Operation::Read), report.operation(Operation::Write));
    assert_eq!(read.requests + write.requests, 256);
    assert_eq!(read.bytes + write.bytes, 1 << 20);
    // fio's random map visits each block once.
    assert_eq!(report.units.unique, 256);
    assert_eq!(report.span_bytes, 1 << 20);
    assert_eq!(reader.volumes(), [data.display().to_string()]);
}
