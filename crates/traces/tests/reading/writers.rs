//! Writes requests in each text format: what the round trip reads back, and what the speed is measured on.

use std::fmt::Write;

use ssdlab_traces::Format;

/// A request that every format can say: whole seconds and sectors, volumes that are numbers.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub time_s: u64,
    pub volume: u32,
    pub is_write: bool,
    pub sector: u64,
    pub sectors: u32,
}

/// The first line of a format that has one.
pub fn header(format: Format) -> &'static str {
    match format {
        Format::Systor17 => "Timestamp,Response,IOType,LUN,Offset,Size\n",
        Format::FioIologV2 => "fio version 2 iolog\n",
        Format::FioIologV3 => "fio version 3 iolog\n",
        _ => "",
    }
}

/// Appends the request's line; `None` for a binary format, and for one that cannot say every request.
pub fn write_line(format: Format, request: &Request, text: &mut String) -> Option<()> {
    let Request { time_s, volume, is_write, sector, sectors } = *request;
    let (offset, length) = (sector * 512, u64::from(sectors) * 512);
    let letter = if is_write { 'W' } else { 'R' };
    let word = if is_write { "write" } else { "read" };
    match format {
        Format::Msr => {
            let word = if is_write { "Write" } else { "Read" };
            let ticks = 128_166_372_003_061_629 + time_s * 10_000_000;
            writeln!(text, "{ticks},prxy,{volume},{word},{offset},{length},{}", 413 + sector % 7919)
        }
        Format::Systor17 => {
            writeln!(text, "{}.013118000,0.000806000,{letter},{volume},{offset},{length}", 1_456_135_200 + time_s)
        }
        Format::Tencent => {
            let direction = u8::from(is_write);
            writeln!(text, "{},{sector},{sectors},{direction},{volume}", 1_538_323_200 + time_s)
        }
        Format::Alibaba => {
            writeln!(text, "{volume},{letter},{offset},{length},{}", 1_577_808_000_000_046 + time_s * 1_000_000)
        }
        Format::Fiu => {
            let time_ns = 89_966_001_955 + time_s * 1_000_000_000;
            let digest = u128::from(sector).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            writeln!(text, "{time_ns} 4892 syslogd {sector} {sectors} {letter} 6 {volume} {digest:032x}")
        }
        Format::Spc => writeln!(text, "{volume},{sector},{length},{letter},{time_s}.551706"),
        Format::Blkparse => writeln!(
            text,
            "  8,{volume:<3} 1 {:8} {time_s:5}.000154389 27622  Q  {letter}S {sector} + {sectors} [fio]",
            sector % 99_991
        ),
        Format::BlockEvents => {
            writeln!(text, " fio-7 [001] {time_s}.000154: block_rq_issue: 8,{volume} {letter}S {length} () {sector} + {sectors} [fio]")
        }
        Format::NvmeCommands => writeln!(
            text,
            " fio-7 [001] .... {time_s}.000154: nvme_setup_cmd: nvme0: disk=nvme0n{volume}, qid=1, cmdid=9, nsid=1, \
             flags=0x0, meta=0x0, cmd=(nvme_cmd_{} slba={sector}, len={}, ctrl=0x0, dsmgmt=0, reftag=0)",
            if is_write { "write" } else { "read" },
            sectors - 1
        ),
        Format::Lttng => writeln!(
            text,
            "[{time_s}.000154389] (+0.1) host block_rq_issue: {{ cpu_id = 0 }}, {{ dev = {}, sector = {sector}, nr_sector = \
             {sectors}, bytes = {length}, rwbs = \"{letter}\", tid = 1 }}",
            (8 << 20) + volume
        ),
        Format::Biosnoop => {
            writeln!(text, "{time_s}.500154 C2 Compiler 400 sd{volume} {letter} {sector} {length} 0.15")
        }
        Format::Iosnoop => {
            writeln!(text, "{time_s}.500154 C2 Compiler 400 {letter} 8,{volume} {sector} {length} 0.15")
        }
        Format::Diskmon => {
            let word = if is_write { "Write" } else { "Read" };
            writeln!(text, "7\t{time_s}.000154\t0.00006104\t{volume}\t{word}\t{sector}\t{sectors}")
        }
        Format::Xperf => {
            let word = if is_write { "DiskWrite" } else { "DiskRead" };
            let ended_us = 577 + time_s * 1_000_000;
            writeln!(text, "{word}, {ended_us}, System ( 4), 200, 0xff, 0x{offset:x}, 0x{length:08x}, 90, {volume}, 0x0, 88")
        }
        Format::FioIologV2 => {
            writeln!(text, "/dev/sd{volume} wait {} 0\n/dev/sd{volume} {word} {offset} {length}", time_s * 1000)
        }
        Format::FioIologV3 => {
            writeln!(text, "{} /dev/sd{volume} {word} {offset} {length}", 170 + time_s * 1_000_000)
        }
        Format::Mqsim => {
            let direction = u8::from(!is_write);
            writeln!(text, "{} {volume} {sector} {sectors} {direction}", 938_513_000 + time_s * 1_000_000_000)
        }
        Format::Disksim => {
            let flags = u8::from(!is_write);
            writeln!(text, "{}.191135 {volume} {sector} {sectors} {flags}", 13 + time_s * 1000)
        }
        Format::Blktrace | Format::Vscsi | Format::Ufs | Format::Columns => return None,
    }
    .ok()
}
