//! The formats: one file each, one line each in the list below.
//!
//! A format is a [`Decode`]: it cuts the window into pieces (lines by default) and turns a piece into an [`Event`].
//! The list gives it its variant of [`Format`], its name, its other names and its description; nothing else names it.

use std::fmt;
use std::str::FromStr;

use crate::error::{PieceKind, TraceError};
use crate::input::WINDOW_BYTES;
use crate::reader::{Progress, pull};
use crate::recognition::{Likeness, readable_lines};
use crate::record::{Operation, Record};
use crate::volumes::Volumes;

mod fio_actions;
mod rwbs;
mod stage;

pub use columns::Columns;
pub(crate) use columns::of_head as columns_of_head;

/// What one piece of a trace says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request; `arrival_ns` is in the trace's own time, which the reader turns into time since the first record.
    Request(Record),
    /// A request that the device's cache is flushed for first: it becomes two records.
    FlushThenRequest(Record),
    /// A request that does not say whether it reads or writes.
    WithoutDirection,
    /// A header, a blank line, an event that is not the arrival of a request.
    NotARequest,
}

/// The next piece in the window.
pub enum Cut {
    /// `taken_bytes` of the window are done with afterwards, of which the first `piece_bytes` are the piece.
    Piece { piece_bytes: usize, taken_bytes: usize },
    /// The window ends before the piece does.
    More,
    /// A line fills the whole window and goes on.
    LineTooLong,
    /// There is no piece here; go on `taken_bytes` further. `continued`: still part of the last bad piece.
    Bad { taken_bytes: usize, expected: &'static str, continued: bool },
}

/// One format. A decoder holds what a format remembers from piece to piece, which for most is nothing.
///
/// The caller passes each piece once and in order; it may pass any bytes at all, and the decoder must not panic.
pub trait Decode: Default {
    const KIND: PieceKind = PieceKind::Line;
    /// What may be the matter with a trace of this format that holds no requests.
    const NO_REQUESTS_HINT: &'static str = "is it whole, and of this format?";

    /// Called once before all others, with the beginning of the trace.
    fn prepare(&mut self, _head: &[u8]) {}

    /// What the reader of the trace should know, as the end of a sentence on the trace.
    fn note(&self) -> Option<&'static str> {
        None
    }

    /// Finds the next piece. With `at_end` nothing follows the window.
    #[inline]
    fn cut(&mut self, window: &[u8], at_end: bool) -> Cut {
        cut_line(window, at_end)
    }

    /// Reads one piece. An error says what was expected; the piece has then no effect.
    fn decode(&mut self, piece: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str>;

    /// How much a trace that begins with `head` looks like this format; with `is_whole` the head is all there is.
    fn likeness(head: &[u8], is_whole: bool) -> Likeness {
        readable_lines::<Self>(head, is_whole)
    }
}

macro_rules! formats {
    ($($variant:ident: $name:literal $aliases:tt $module:ident::$decoder:ident, $description:literal;)*) => {
        $(mod $module;)*

        /// A trace format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Format { $(#[doc = $description] $variant,)* }

        impl Format {
            /// All formats.
            pub const ALL: &[Format] = &[$(Format::$variant),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Format::$variant => $name,)* }
            }

            /// Other names that [`Format::from_str`] takes.
            pub fn aliases(self) -> &'static [&'static str] {
                match self { $(Format::$variant => &$aliases,)* }
            }

            /// What it is, in one sentence.
            pub fn description(self) -> &'static str {
                match self { $(Format::$variant => $description,)* }
            }

            pub(crate) fn likeness(self, head: &[u8], is_whole: bool) -> Likeness {
                match self { $(Format::$variant => $module::$decoder::likeness(head, is_whole),)* }
            }
        }

        /// The choice of a format, made once: inside [`Decoder::pull`] the code is that of one format.
        pub(crate) enum Decoder { $($variant($module::$decoder),)* }

        impl Decoder {
            pub fn new(format: Format) -> Self {
                match format { $(Format::$variant => Decoder::$variant($module::$decoder::default()),)* }
            }

            pub fn prepare(&mut self, head: &[u8]) {
                match self { $(Decoder::$variant(decoder) => decoder.prepare(head),)* }
            }

            pub fn note(&self) -> Option<&'static str> {
                match self { $(Decoder::$variant(decoder) => decoder.note(),)* }
            }

            pub fn pull(
                &mut self,
                progress: &mut Progress,
                out: &mut Vec<Record>,
                count_max: usize,
            ) -> Result<usize, TraceError> {
                match self { $(Decoder::$variant(decoder) => pull(decoder, progress, out, count_max),)* }
            }
        }
    };
}

formats! {
    Msr: "msr" ["msr-cambridge"] msr::Msr,
        "MSR Cambridge: timestamp,host,disk,type,offset,size,response in 100 ns and bytes";
    Systor17: "systor17" ["systor"] systor17::Systor17,
        "SYSTOR '17: Timestamp,Response,IOType,LUN,Offset,Size in seconds and bytes";
    Tencent: "tencent" ["tencent-cbs", "cbs"] tencent::Tencent,
        "Tencent CBS: timestamp,offset,size,type,volume in seconds and 512 B sectors, 0 = read";
    Alibaba: "alibaba" ["alibaba-block"] alibaba::Alibaba,
        "Alibaba block: device,opcode,offset,length,timestamp in bytes and microseconds";
    Fiu: "fiu" ["iodedup"] fiu::Fiu,
        "FIU: timestamp pid process lba size R/W major minor md5 in ns and 512 B sectors";
    Spc: "spc" ["umass"] spc::Spc,
        "SPC, UMass: asu,lba,size,opcode,timestamp; lba in 512 B sectors, size in bytes, time in seconds";
    Blktrace: "blktrace" [] blktrace::Blktrace,
        "blktrace binary: queue, issue or completion events in 48-byte records, in ns and 512 B sectors";
    Blkparse: "blkparse" [] blkparse::Blkparse,
        "blkparse text in its default layout: queue, issue or completion events, in seconds and 512 B sectors";
    FioIologV2: "fio-iolog-v2" ["iolog-v2"] fio_iolog_v2::FioIologV2,
        "fio iolog version 2: file action offset length in bytes; wait in milliseconds";
    FioIologV3: "fio-iolog-v3" ["iolog-v3"] fio_iolog_v3::FioIologV3,
        "fio iolog version 3: timestamp file action offset length in microseconds and bytes";
    Mqsim: "mqsim" ["ssdsim"] mqsim::Mqsim,
        "MQSim and SSDsim ASCII: time device lba size op in ns and 512 B sectors, 0 = write";
    Disksim: "disksim" [] disksim::Disksim,
        "DiskSim ASCII: time device block size flags in milliseconds and 512 B blocks, flag 1 = read";
    Vscsi: "vscsi" ["vscsi-v1"] vscsi::Vscsi,
        "VMware vSCSI version 1: 32-byte records, in microseconds, 512 B blocks and bytes";
    BlockEvents: "block-events" ["trace-cmd", "perf-script", "ftrace"] block_events::BlockEvents,
        "trace-cmd report, perf script, ftrace: queue, issue or completion events, in seconds and 512 B sectors";
    NvmeCommands: "nvme-commands" ["nvme_setup_cmd"] nvme_commands::NvmeCommands,
        "NVMe commands as perf script, trace-cmd and ftrace print `nvme_setup_cmd`, in seconds and blocks taken as 512 B";
    Lttng: "lttng" ["babeltrace"] lttng::Lttng,
        "block events of `LTTng` as babeltrace prints them, in ns and 512 B sectors";
    Ufs: "ufs" ["ufshcd"] ufs::Ufs,
        "UFS commands as ftrace prints them, in seconds, 4096 B blocks and bytes";
    Biosnoop: "biosnoop" ["bcc"] biosnoop::Biosnoop,
        "biosnoop of bcc: time, process, disk, type, sector, bytes, latency in seconds and 512 B sectors";
    Iosnoop: "iosnoop" ["perf-tools"] iosnoop::Iosnoop,
        "iosnoop of perf-tools, with `-s`: start, process, type, device, block, bytes, latency in seconds and 512 B sectors";
    Diskmon: "diskmon" [] diskmon::Diskmon,
        "`DiskMon`: number, time, duration, disk, Read or Write, sector, length in seconds and 512 B sectors";
    Xperf: "xperf" ["xperf-dumper"] xperf::Xperf,
        "xperf -a dumper: its events of disk requests, in microseconds and bytes";
    Columns: "columns" [] columns::Columns,
        "text with columns of your own, which --columns names";
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = TraceError;

    fn from_str(name: &str) -> Result<Self, TraceError> {
        let is_called = |format: &Format| format.name() == name || format.aliases().contains(&name);
        Format::ALL.iter().copied().find(is_called).ok_or_else(|| TraceError::UnknownFormat { name: name.to_owned() })
    }
}

pub(crate) const SECTOR_BYTES: u64 = 512;

#[inline]
fn request(
    time_ns: u64,
    operation: Operation,
    offset_bytes: u64,
    length_bytes: u64,
    volume: impl FnOnce() -> Result<u32, &'static str>,
) -> Result<Event, &'static str> {
    checked(time_ns, operation, offset_bytes, length_bytes, volume).map(Event::Request)
}

/// A request, its extent checked once for all formats. The volume is asked for last: a request that is refused must not
/// leave its name in the table.
#[inline]
fn checked(
    time_ns: u64,
    operation: Operation,
    offset_bytes: u64,
    length_bytes: u64,
    volume: impl FnOnce() -> Result<u32, &'static str>,
) -> Result<Record, &'static str> {
    let length_bytes = u32::try_from(length_bytes).map_err(|_| "a length below 4 GiB")?;
    offset_bytes.checked_add(u64::from(length_bytes)).ok_or("an extent that ends below 2^64 bytes")?;
    let volume = volume()?;
    Ok(Record { arrival_ns: time_ns, volume, operation, is_through: false, offset_bytes, length_bytes })
}

#[inline]
fn sectors_to_bytes(sectors: u64) -> Result<u64, &'static str> {
    sectors.checked_mul(SECTOR_BYTES).ok_or("a place below 2^64 bytes")
}

/// The line without its end and the white space before that. A line as long as the window is bad.
#[inline]
fn cut_line(window: &[u8], at_end: bool) -> Cut {
    let (line, taken_bytes) = match memchr::memchr(b'\n', window) {
        Some(at) => (&window[..at], at + 1),
        None if window.len() == WINDOW_BYTES => {
            return Cut::LineTooLong;
        }
        None if !at_end || window.is_empty() => return Cut::More,
        None => (window, window.len()),
    };
    Cut::Piece { piece_bytes: line.trim_ascii_end().len(), taken_bytes }
}

/// Whether a line that could not be read is nothing to read: blank, a remark, or a table's header, by its first column's
/// name.
#[cold]
fn is_blank_or_header(line: &[u8], first_column: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.is_empty()
        || line[0] == b'#'
        || line.get(..first_column.len()).is_some_and(|start| start.eq_ignore_ascii_case(first_column))
}
