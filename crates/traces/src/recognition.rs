//! Recognises a trace's format by its first bytes.

use crate::error::{PieceKind, TraceError, shown};
use crate::formats::{Decode, Event, Format, SECTOR_BYTES, columns_of_head};
use crate::volumes::Volumes;

/// Bytes of a trace that are examined.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;
/// Lines of these that are examined.
const LINES_MAX: usize = 64;

/// How certain a format is that a trace is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Likeness(u32);

impl Likeness {
    pub const NONE: Likeness = Likeness(0);
    /// A magic number or a first line that no other format has.
    pub const CERTAIN: Likeness = Likeness(u32::MAX);

    pub(crate) fn lines(count: usize) -> Self {
        Likeness(count as u32)
    }
}

/// What a file is that must be unpacked, and a command that does; `None` for any other.
fn archive(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const ARCHIVES: [(usize, &[u8], &str, &str); 5] = [
        (257, b"ustar", "a tar archive", "tar -xOf FILE"),
        (0, b"\xfd7zXZ\0", "compressed with xz", "xz -dc FILE"),
        (0, b"\x04\x22\x4d\x18", "compressed with lz4", "lz4 -dc FILE"),
        (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x -so FILE"),
        (0, b"PK\x03\x04", "a zip archive", "unzip -p FILE"),
    ];
    let found = ARCHIVES.iter().find(|(at, magic, _, _)| head.get(*at..).is_some_and(|bytes| bytes.starts_with(magic)));
    found.map(|&(_, _, what, command)| (what, command))
}

/// The format whose likeness is the greatest; the first in the list among equals.
pub(crate) fn recognised(head: &[u8], is_whole: bool) -> Result<Format, TraceError> {
    if head.is_empty() {
        return Err(TraceError::Empty);
    }
    let mut best = (Likeness::NONE, None);
    for &format in Format::ALL {
        let likeness = format.likeness(head, is_whole);
        if likeness > best.0 {
            best = (likeness, Some(format));
        }
    }
    match best.1 {
        Some(format) => Ok(format),
        None if let Some((what, hint)) = without_addresses(head) => {
            Err(TraceError::Unreadable { what, hint: hint.to_owned() })
        }
        None if let Some((what, command)) = archive(head) => Err(TraceError::Archive { what, command }),
        None => {
            let first_line = first_line(head);
            // A head may be a remark: `# time, lbn, size`.
            let mut heads = lines(head, true).take(1).chain([first_line]);
            if let Some(columns) = heads.find_map(columns_of_head) {
                let op = if columns.ends_with("op=write") { "; op=read if its requests are reads" } else { "" };
                return Err(TraceError::Unreadable {
                    what: "a table in no known format",
                    hint: format!(
                        "by its head its columns may be --columns {columns} (check their units: sector and sectors are of \
                         512 bytes, offset and bytes of one, time is seconds{op})"
                    ),
                });
            }
            Err(TraceError::Unrecognised { found: shown(PieceKind::Line, first_line) })
        }
    }
}

/// Known texts that lack what a replay needs: what they are, and what to do about it.
fn without_addresses(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let first = first_line(head).to_ascii_lowercase();
    let has = |word: &[u8]| memchr::memmem::find(&first, word).is_some();
    // bpftrace says first how many probes it attached.
    if lines(head, true).take(3).any(|line| line.starts_with(b"TIME(ms)") && line.ends_with(b"LAT(ms)")) {
        return Some((
            "the table of bpftrace's biosnoop.bt, which has neither sectors nor bytes",
            "record with biosnoop of bcc or of libbpf-tools (biosnoop-bpfcc, /usr/share/bcc/tools/biosnoop), which has",
        ));
    }
    if has(b"io type") && has(b"disk srv") {
        return Some((
            "xperf's diskio table, which has no offsets",
            "print the same recording with `xperf -i TRACE.etl -o trace.csv -a dumper`, which has",
        ));
    }
    if has(b"obj_id") || (has(b"time") && has(b"obj")) {
        return Some((
            "a table of a cache's objects, as libCacheSim reads it, which has neither offsets nor operations",
            "replay the trace that it was made from; if its objects are blocks and a column says what is read and what \
             is written, name the columns, such as --columns time,sector,bytes,op",
        ));
    }
    if has(b"block_rq_") && has(b"(dev: ") {
        return Some((
            "perf trace's text, whose times count from its start",
            "record with `perf record -e block:block_rq_issue -a` and print with `perf script`",
        ));
    }
    if has(b"time of day") && has(b"operation") {
        return Some((
            "Process Monitor's table, whose offsets are those of files",
            "record the disk with `xperf -on DISK_IO+DISK_IO_INIT` or DiskMon",
        ));
    }
    if first.starts_with(b"[") && first.ends_with(b"]") {
        return Some((
            "a file with sections, such as a job file of fio, and no recording",
            "`ssdlab run FILE --drive NAME` runs a job file",
        ));
    }
    // vmstat prints its first head line as `procs` or `--procs--`, once only with -n; -s prints sums, -p a partition's.
    let is_vmstat = [&b"procs"[..], b"swpd", b"k total memory", b"requested writes"].iter().any(|&word| has(word));
    if is_vmstat || has(b"-dsk/") || first.starts_with(b"total disk read") {
        return Some((
            "output of vmstat, dstat or iotop, which has sums and no requests",
            "log with `iostat -x 1`, `sar -d 1` or `vmstat -d 1`",
        ));
    }
    fio_log(head)
}

/// What a log that fio writes beside its results is, and what to do about it; `None` for anything else.
fn fio_log(head: &[u8]) -> Option<(&'static str, &'static str)> {
    // A histogram's lines are long, and the last one of the head may be cut.
    const LOOKED_AT_MAX: usize = 8;
    let entries = || lines(head, true).filter(|line| !is_around(line)).take(LOOKED_AT_MAX).map(FioLogLine::read);
    if entries().next().is_none() || entries().any(|entry| entry.is_none()) {
        return None;
    }
    if entries().flatten().any(|entry| entry.has_offset) {
        return Some((
            "numbers as in a log of latency, IOPS or bandwidth of fio with log_offset=1",
            "if it is one, and of every request (no log_avg_msec), read it with --columns time_ms,-,write=1,bytes,offset",
        ));
    }
    Some((
        "numbers as in a log of latency, IOPS or bandwidth of fio, which has no offsets",
        "give the file that fio writes with --write_iolog=FILE, or run its job file with `ssdlab run`; if it is another \
         table, name its columns, such as --columns time,op,sector,sectors",
    ))
}

/// A line of fio's logs: time, value, direction, block size, and of the offset and the priority those that were asked for
/// (HOWTO of fio, "Log File Formats"); or, in a histogram's, time, direction, block size and a count for each of its bins.
struct FioLogLine {
    has_offset: bool,
}

impl FioLogLine {
    /// Bins of a histogram are hundreds, merged ones tens.
    const BINS_MIN: usize = 16;

    fn read(line: &[u8]) -> Option<Self> {
        let number = |field: &str| match field.strip_prefix("0x") {
            // A priority, whose value does not matter here.
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(|_| 0),
            None => field.parse().ok(),
        };
        // Only numbers, as fio separates them.
        let numbers: Vec<u64> = std::str::from_utf8(line).ok()?.split(", ").map(number).collect::<Option<_>>()?;
        let is_direction = |at: usize| numbers.get(at).is_some_and(|&number| number <= 2);
        if numbers.len() >= 3 + Self::BINS_MIN {
            return is_direction(1).then_some(FioLogLine { has_offset: false });
        }
        // A decimal priority without an offset is a small number; an average has no block size.
        let has_offset = numbers.get(3).is_some_and(|&bytes| bytes > 0)
            && numbers.get(4).is_some_and(|&offset| numbers.len() > 5 || offset >= SECTOR_BYTES);
        ((4..=7).contains(&numbers.len()) && is_direction(2)).then_some(FioLogLine { has_offset })
    }
}

/// The first line that is not text around a trace; the first one if there is no other.
fn first_line(head: &[u8]) -> &[u8] {
    lines(head, true).find(|line| !is_around(line)).or_else(|| lines(head, true).next()).unwrap_or(head)
}

/// Whether a line that is no request is text around a trace: a remark, a prompt of a shell and the command behind it, or
/// what a tracer says of itself on the terminal. The words are those of bcc, bpftrace, perf-tools and blkparse.
#[cold]
pub(crate) fn is_around(line: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 12] = [
        b"#",
        b"$ ",
        b"^C",
        b"Tracing ",
        b"Attaching ",
        b"Attached ",
        b"Ending tracing",
        b"Hit Ctrl-C",
        b"Lost ",
        b"lost ",
        b"Possibly lost ",
        b"Input file ",
    ];
    let line = line.trim_ascii_start();
    let is_prompt = |line: &[u8]| {
        let first = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        first.contains(&b'@') && [&b"$ "[..], b"# "].iter().any(|sign| memchr::memmem::find(line, sign).is_some())
    };
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)) || is_prompt(line)
}

/// The non-empty lines of the first bytes; a last line without its end only if nothing follows it.
pub(crate) fn lines(head: &[u8], is_whole: bool) -> impl Iterator<Item = &[u8]> {
    let complete = if is_whole { head.len() } else { memchr::memrchr(b'\n', head).map_or(0, |at| at + 1) };
    head[..complete]
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .filter(|line| !line.is_empty())
        .take(LINES_MAX)
}

/// The likeness of a text format: how many of the first lines it can read, if they are at least half.
pub(crate) fn readable_lines<D: Decode>(head: &[u8], is_whole: bool) -> Likeness {
    let mut decoder = D::default();
    decoder.prepare(head);
    let mut volumes = Volumes::default();
    let (mut readable, mut malformed) = (0, 0);
    for line in lines(head, is_whole) {
        match decoder.decode(line, &mut volumes) {
            Ok(Event::NotARequest) => {}
            Ok(_) => readable += 1,
            Err(_) => malformed += usize::from(!is_around(line)),
        }
    }
    if readable >= malformed { Likeness::lines(readable) } else { Likeness::NONE }
}
