"""Logs of rates, written by hand in the forms that sysstat, the kernel and PostgreSQL print: what each of them says.

The layouts are those of iostat(1) and sar(1) of sysstat 10 to 12, of the kernel's Documentation/admin-guide/iostats.rst
and of PostgreSQL's documentation of pg_stat_io.
"""

import bz2
import gzip
import json
import lzma
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard

from ssdlab.errors import InputError
from ssdlab.experiments.advice.described import of_log
from ssdlab.experiments.advice.workload import Reading, daily_writes
from ssdlab.simulator.workloads.rates import drawing
from ssdlab.simulator.workloads.rates.log import Log, mean
from ssdlab.simulator.workloads.rates.reading import is_log, read
from ssdlab.simulator.workloads.rates.times import time_of
from ssdlab.simulator.workloads.traces.recording import opened

_10 = "Device: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await svctm %util"
_11 = (
    "Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz rareq-sz "
    "wareq-sz  svctm  %util"
)
_12 = (
    "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz "
    "d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util"
)
_CPU = (
    "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           0.60    0.00    0.35    0.02    0.00   99.03\n"
)
_HEAD = "Linux 3.10.0-862.el7.x86_64 (db1) \t03/14/2019 \t_x86_64_\t(4 CPU)\n\n"
_BOOT_10 = "sda 9.00 9.00 9.00 9.00 99.00 99.00 22.00 0.00 0.93 1.47 0.87 0.35 0.06"
_ROW_10 = "sda 0.00 0.35 10.00 30.00 40.00 240.00 14.00 0.10 0.93 1.47 0.87 0.35 1.06"
_ROW_11 = "sda 10.00 30.00 40.00 240.00 0.00 0.35 0.00 1.00 1.47 0.87 0.10 4.00 8.00 0.35 1.06"
_ROW_12 = (
    "sda 10.00 40.00 0.00 0.00 1.47 4.00 30.00 240.00 0.35 1.00 0.87 8.00 "
    "2.00   2048.00     0.00   0.00    0.10  1024.00    3.00    0.20   0.10   1.06"
)

_IDLE_12 = "sr0" + 22 * " 0.00"


def _reports(head: str, *rows: str, times: tuple[str, ...] = ()) -> str:
    parts = []
    for index, row in enumerate(rows):
        parts.append((f"{times[index]}\n" if times else "") + f"{_CPU}\n{head}\n{row}\n\n")
    return _HEAD + "".join(parts)


def _disk(**values: float) -> str:
    return json.dumps({"disk_device": "sda"} | {key.replace("_", "/"): value for key, value in values.items()})


def _json(*disks: str, stamps: tuple[str, ...]) -> str:
    entries = [f'{{"timestamp": "{stamp}", "disk": [{disk}]}}' for stamp, disk in zip(stamps, disks, strict=True)]
    return '{"sysstat": {"hosts": [{"nodename": "db1", "statistics": [' + ",\n".join(entries) + "]}]}}"


_D1 = (
    " 8 0 sda 100 5 800 90 300 60 4800 700 0 500 790 10 0 4000 1 7 2\n"
    " 8 1 sda1 90 5 700 80 300 60 4800 700 0 480 780 0 0 0 0\n"
)
_D2 = (
    " 8 0 sda 120 5 960 95 360 90 5760 900 0 560 990 14 0 12192 1 13 3\n"
    " 8 1 sda1 110 5 860 85 360 90 5760 900 0 540 980 0 0 0 0\n"
)
_ZPOOL = (
    "              capacity     operations     bandwidth \n"
    "pool        alloc   free   read  write   read  write\n"
    "----------  -----  -----  -----  -----  -----  -----\n"
)
_COLLECTL = (
    "# DISK STATISTICS (/sec)\n"
    "#          <---------reads---------------><---------writes--------------><--------averages--------> Pct\n"
    "#Name       KBytes Merged  IOs Size  Wait  KBytes Merged  IOs Size  Wait  RWSize  QLen  Wait SvcTim Util\n"
)
_NMON = (
    "AAA,progname,nmon\nAAA,interval,10\nCPU_ALL,CPU Total db1,User%,Sys%\n"
    "DISKBUSY,Disk %Busy db1,sda,sda1\nDISKREAD,Disk Read KB/s db1,sda,sda1\nDISKWRITE,Disk Write KB/s db1,sda,sda1\n"
    "DISKXFER,Disk transfers per second db1,sda,sda1\n"
)
_NMON_AIX = "DISKRXFER,Transfers from disk (reads) per second db1,sda,sda1\n"
_D1_OLD = "   8       0 sda 100 5 800 90 300 60 4800 700 0 500 790\n"
_D2_OLD = "   8       0 sda 120 5 960 95 360 90 5760 900 0 560 990\n"
_VMSTAT = (
    "disk- ------------reads------------ ------------writes----------- -----IO------\n"
    "       total merged sectors      ms  total merged sectors      ms    cur    sec\n"
)
_PG16 = (
    "    backend_type    |    object     | context | reads | writes | extends | op_bytes | hits | fsyncs\n"
    "--------------------+---------------+---------+-------+--------+---------+----------+------+--------\n"
)
_PG18 = "backend_type,object,context,reads,read_bytes,writes,write_bytes,extends,extend_bytes,fsyncs\n"

# Name: text, seconds, reads per second, their KiB, writes per second, their KiB, discards per second.
SAYS = {
    "sysstat 10": (_reports(_10, _BOOT_10, _ROW_10), 1, 10, 4, 30, 8, 0),
    "sysstat 10 with two reports after the first": (_reports(_10, _BOOT_10, _ROW_10, _ROW_10), 2, 10, 4, 30, 8, 0),
    "sysstat 10 -m has few digits, so that a rate can be 0": (
        _reports(
            _10.replace("kB/s", "MB/s"),
            _BOOT_10,
            "sda 0.00 0.00 0.00 0.50 0.00 0.00 8.00 0.00 0.9 1.4 0.8 0.3 0.1",
        ),
        1,
        0,
        0,
        0.5,
        4,
        0,
    ),
    "sysstat 9 counts sectors": (
        _reports(
            _10.replace("rkB/s", "rsec/s").replace("wkB/s", "wsec/s"),
            _BOOT_10,
            _ROW_10.replace(" 40.00", " 80.00").replace("240.00", "480.00"),
        ),
        1,
        10,
        4,
        30,
        8,
        0,
    ),
    "sysstat 11.7": (_reports(_11, _ROW_11.replace("10.00 ", "99.00 "), _ROW_11), 1, 10, 4, 30, 8, 0),
    "sysstat 12": (_reports(_12, _ROW_12, _ROW_12), 1, 10, 4, 30, 8, 2),
    "sysstat 12 -m: sizes have more digits than rates": (
        _reports(
            _12.replace("kB/s", "MB/s"),
            _ROW_12,
            _ROW_12.replace("  240.00", "    0.23").replace("   40.00", "    0.04"),
        ),
        1,
        10,
        4,
        30,
        8,
        2,
    ),
    "a decimal comma": (_reports(_12, _ROW_12, _ROW_12.replace(".", ",")), 1, 10, 4, 30, 8, 2),
    "only one report": (_reports(_12, _ROW_12), 1, 10, 4, 30, 8, 2),
    "-d, without the processors": (_HEAD + f"{_12}\n{_ROW_12}\n\n{_12}\n{_ROW_12}\n", 1, 10, 4, 30, 8, 2),
    "-t, twelve hours": (
        _reports(_12, _ROW_12, _ROW_12, times=("03/14/2019 11:59:58 AM", "03/14/2019 12:00:03 PM")),
        5,
        10,
        4,
        30,
        8,
        2,
    ),
    "-t, ISO": (
        _reports(_12, _ROW_12, _ROW_12, times=("2023-01-01T10:00:00+0100", "2023-01-01T10:01:00+0100")),
        60,
        10,
        4,
        30,
        8,
        2,
    ),
    "-t, a day first": (
        _reports(_12, _ROW_12, _ROW_12, times=("14/03/19 10:00:00", "14/03/19 10:00:02")),
        2,
        10,
        4,
        30,
        8,
        2,
    ),
    "-z leaves out a device without requests: those seconds are idle": (
        _reports(_12, _ROW_12, _ROW_12, _IDLE_12),
        2,
        5,
        4,
        15,
        8,
        1,
    ),
    "-h, with units and the device last": (
        _HEAD
        + " tps kB_read/s kB_wrtn/s kB_read kB_wrtn Device\n 9.00 9.0k 9.0k 1.0G 1.0G sda\n\n"
        + " tps kB_read/s kB_wrtn/s kB_read kB_wrtn Device\n 40.00 64.0k 0.25M 1.0G 1.0G sda\n",
        1,
        8,
        8,
        32,
        8,
        0,
    ),
    "-xh, with a table for each kind": (
        _HEAD
        + "".join(
            "     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device\n"
            f"   {reads}     0.00   0.0%    0.10     4.0k sda\n\n"
            "     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device\n"
            f"   {writes}     0.00   0.0%    0.10     8.0k sda\n\n"
            "     f/s f_await  aqu-sz  %util Device\n    3.00    0.20    0.10   1.1% sda\n\n"
            for reads, writes in (("99.00     99.0k", "99.00     99.0k"), ("10.00     40.0k", "30.00    240.0k"))
        ),
        1,
        10,
        4,
        30,
        8,
        0,
    ),
    "FreeBSD's -x": (
        "".join(
            "                        extended device statistics\n"
            "device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b\n"
            f"nvd0    {row}     0     0     0     0    0   1\n"
            for row in ("99      99    999.0    999.0", "10      30     40.0    240.0")
        ),
        1,
        10,
        4,
        30,
        8,
        0,
    ),
    "illumos' -xn": (
        "".join(
            "                    extended device statistics\n"
            "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n"
            f"   {row}  0.0  0.0    0.0    0.1   0   1 c0t0d0\n"
            for row in ("99.0   99.0  999.0  999.0", "10.0   30.0   40.0  240.0")
        ),
        1,
        10,
        4,
        30,
        8,
        0,
    ),
    "copied with the prompt, and stopped": (
        f"root@db1:~# iostat -x 1\n{_reports(_12, _ROW_12, _ROW_12)}^C\n",
        1,
        10,
        4,
        30,
        8,
        2,
    ),
    "quoted": ("".join(f"> {line}\n" for line in _reports(_12, _ROW_12, _ROW_12).splitlines()), 1, 10, 4, 30, 8, 2),
    "sar -d -h, with the device last": (
        _HEAD
        + "10:00:01 AM       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util DEV\n"
        + "10:00:02 AM     40.00     64.0k    256.0k      0.0k      8.0k      0.01      0.26      1.1% sda\n"
        + "10:00:03 AM     40.00     64.0k    256.0k      0.0k      8.0k      0.01      0.26      1.1% sda\n",
        2,
        8,
        8,
        32,
        8,
        0,
    ),
    "without -x: one number for reads and writes": (
        _HEAD
        + "Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n"
        + "sda              99.00         9.00         9.00         0.00          1          1          0\n\n"
        + "Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n"
        + "sda              40.00        64.00       256.00         0.00         64        256          0\n",
        1,
        8,
        8,
        32,
        8,
        0,
    ),
    "JSON of sysstat 12": (
        _json(
            _disk(r_s=9.0, w_s=9.0),
            '{"disk_device": "sda", "r/s": 10.0, "w/s": 30.0, "d/s": 2.0, "rkB/s": 40.0, "wkB/s": 240.0, '
            '"dkB/s": 2048.0, '
            '"rareq-sz": 4.0, "wareq-sz": 8.0, "dareq-sz": 1024.0, "aqu-sz": 0.1, "util": 1.0}',
            stamps=("05/05/2025 10:00:00 AM", "05/05/2025 10:00:10 AM"),
        ),
        10,
        10,
        4,
        30,
        8,
        2,
    ),
    "JSON of sysstat 11": (
        _json(
            _disk(r_s=9.0, w_s=9.0),
            '{"disk_device": "sda", "rrqm": 0.0, "wrqm": 0.1, "r/s": 10.0, "w/s": 30.0, "rkB/s": 40.0, "wkB/s": 240.0, '
            '"avgrq-sz": 14.0, "avgqu-sz": 0.1, "await": 1.0, "util": 1.0}',
            stamps=("2025-05-05T10:00:00+0200", "2025-05-05T10:00:01+0200"),
        ),
        1,
        10,
        4,
        30,
        8,
        0,
    ),
    "JSON that was cut off": (
        _json(
            _disk(r_s=9.0, w_s=9.0),
            '{"disk_device": "sda", "r/s": 10.0, "w/s": 30.0, "rareq-sz": 4.0, "wareq-sz": 8.0}',
            '{"disk_device": "sda", "r/s": 10.0, "w/s": 30.0, "rareq-sz": 4.0, "wareq-sz": 8.0}',
            stamps=("05/05/2025 10:00:00 AM", "05/05/2025 10:00:01 AM", "05/05/2025 10:00:02 AM"),
        )[:-40],
        1,
        10,
        4,
        30,
        8,
        0,
    ),
    "sar -dp of sysstat 12, with midnight and averages": (
        "Linux 5.4.0-42-generic (db1) \t11/26/2025 \t_x86_64_\t(8 CPU)\n\n"
        "11:40:01 PM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util\n"
        "11:50:01 PM       sda     40.00     64.00    256.00      0.00      8.00      0.01      0.26      1.06\n"
        "11:50:01 PM       sr0      0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00\n"
        "12:00:01 AM       sda     40.00     64.00    256.00      0.00      8.00      0.01      0.26      1.06\n\n"
        "12:00:01 AM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util\n"
        "12:10:01 AM       sda     40.00     64.00    256.00      0.00      8.00      0.01      0.26      1.06\n\n"
        "Average:          sda     99.00     99.00     99.00      0.00      8.00      0.01      0.26      1.06\n",
        1800,
        8,
        8,
        32,
        8,
        0,
    ),
    "sar -d of sysstat 10: sectors, 24 hours, a restart": (
        "Linux 2.6.32-754.el6.x86_64 (db1) \t11/26/2015 \t_x86_64_\t(8 CPU)\n\n"
        "10:00:01          DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util\n"
        "10:00:02       dev8-0     40.00    128.00    512.00     16.00      0.01      0.26      0.26      1.06\n\n"
        "10:00:02     LINUX RESTART\n\n"
        "10:00:03          DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util\n"
        "10:00:04       dev8-0     40.00    128.00    512.00     16.00      0.01      0.26      0.26      1.06\n",
        4,
        8,
        8,
        32,
        8,
        0,
    ),
    "sadf -d": (
        "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n"
        "db1;600;2025-11-26 00:10:01 UTC;sda;40.00;64.00;256.00;0.00;8.00;0.01;0.26;1.06\n"
        "db1;600;2025-11-26 00:20:01 UTC;sda;40.00;64.00;256.00;0.00;8.00;0.01;0.26;1.06\n",
        1200,
        8,
        8,
        32,
        8,
        0,
    ),
    "diskstats with dates between": (
        f"Thu Nov 26 16:18:03 UTC 2026\n{_D1}Thu Nov 26 16:18:13 UTC 2026\n{_D2}",
        10,
        2,
        4,
        6,
        8,
        0.4,
    ),
    "diskstats with seconds between": (f"1764173883.25\n{_D1}1764173893.25\n{_D2}", 10, 2, 4, 6, 8, 0.4),
    "diskstats with a rule around the time": (
        f"=== 2026-11-26T16:18:03+00:00 ===\n{_D1}=== 2026-11-26T16:18:13+00:00 ===\n{_D2}",
        10,
        2,
        4,
        6,
        8,
        0.4,
    ),
    "diskstats with the time in front of each line": (
        "".join(f"1764173883 {line}\n" for line in _D1.splitlines())
        + "".join(f"1764173893 {line}\n" for line in _D2.splitlines()),
        10,
        2,
        4,
        6,
        8,
        0.4,
    ),
    "diskstats without times, of a kernel before 4.18": (_D1_OLD + _D2_OLD, 1, 20, 4, 60, 8, 0),
    "vmstat -d 1, whose head comes once": (
        f"{_VMSTAT}sda 100 5 800 90 300 60 4800 700 0 1\nloop0 9 0 9 0 9 0 9 0 0 0\n"
        "sda 120 5 960 95 360 90 5760 900 0 1\nloop0 9 0 9 0 9 0 9 0 0 0\n",
        1,
        20,
        4,
        60,
        8,
        0,
    ),
    "vmstat -d -t 10, whose head comes again": (
        f"{_VMSTAT.replace('sec', 'sec                 UTC')}sda 100 5 800 90 300 60 4800 700 0 1 2026-11-26 16:18:03\n"
        f"{_VMSTAT}sda 120 5 960 95 360 90 5760 900 0 1 2026-11-26 16:18:13\n",
        10,
        2,
        4,
        6,
        8,
        0,
    ),
    "zpool iostat 1, whose first report is that since the import": (
        f"{_ZPOOL}tank        1.20G   494G     99     99  9.9M   9.9M\n"
        "tank        1.20G   494G     10     20    40K   160K\ntank        1.20G   494G     30     20   120K   160K\n",
        2,
        20,
        4,
        20,
        8,
        0,
    ),
    "zpool iostat -v -T d 5 with one busy drive": (
        f"Thu Nov 26 16:18:03 UTC 2026\n{_ZPOOL}"
        "tank        1.20G   494G     99     99  9.9M   9.9M\n  sda           -      -     99     99  9.9M   9.9M\n"
        "----------  -----  -----  -----  -----  -----  -----\n"
        f"Thu Nov 26 16:18:08 UTC 2026\n{_ZPOOL}"
        "tank        1.20G   494G      0      0      0      0\n  sda           -      -     10     20    40K   160K\n"
        "----------  -----  -----  -----  -----  -----  -----\n",
        5,
        10,
        4,
        20,
        8,
        0,
    ),
    "collectl -sD": (
        f"waiting for 1 second sample...\n\n{_COLLECTL}"
        "sda             40      0   10    4     0     240      1   30    8     0       7     1     0      0    1\n"
        "sda            120      0   30    4     0     240      1   30    8     0       7     1     0      0    1\n",
        2,
        20,
        4,
        30,
        8,
        0,
    ),
    "collectl -sD -oT, before it knew waits": (
        "#                   <---------reads---------><---------writes---------><--------averages--------> Pct\n"
        "#Time     Name       KBytes Merged  IOs Size  KBytes Merged  IOs Size  RWSize  QLen  Wait SvcTim Util\n"
        "14:52:49.732 sda         40      0   10    4     240      1   30    8       7     1     0      0    1\n"
        "14:52:59.732 sda         40      0   10    4     240      1   30    8       7     1     0      0    1\n",
        20,
        10,
        4,
        30,
        8,
        0,
    ),
    "collectl -scd, all disks in a row": (
        "#<----CPU[HYPER]-----><----------Disks----------->\n#cpu sys inter  ctxsw KBRead  Reads KBWrit Writes \n"
        "   1   0   632   1189     40     10    8K   1000 \n   1   0   632   1189     40     10    8K   1000 \n",
        2,
        10,
        4,
        1000,
        8,
        0,
    ),
    "nmon, which counts reads and writes together": (
        f"{_NMON}ZZZZ,T0001,16:18:03,26-NOV-2026\nDISKREAD,T0001,80.0,80.0\nDISKWRITE,T0001,240.0,240.0\n"
        "DISKXFER,T0001,40.0,40.0\nZZZZ,T0002,16:18:13,26-NOV-2026\nDISKREAD,T0002,80.0,80.0\n"
        "DISKWRITE,T0002,240.0,240.0\nDISKXFER,T0002,40.0,40.0\n",
        20,
        10,
        8,
        30,
        8,
        0,
    ),
    "nmon of AIX": (
        f"{_NMON}{_NMON_AIX}ZZZZ,T0001,16:18:03,26-NOV-2026\nDISKREAD,T0001,80.0,80.0\nDISKWRITE,T0001,240.0,240.0\n"
        "DISKXFER,T0001,40.0,40.0\nDISKRXFER,T0001,20.0,20.0\n",
        1,
        20,
        4,
        20,
        12,
        0,
    ),
    "pg_stat_io of PostgreSQL 16 under \\watch": (
        f"            Thu Nov 26 16:18:03 2026 (every 10s)\n\n{_PG16}"
        " client backend     | relation      | normal  |   100 |     50 |      10 |     8192 |  900 |      0\n"
        " checkpointer | relation | normal | | 500 | | 8192 | | 20\n(2 rows)\n\n"
        f"            Thu Nov 26 16:18:13 2026 (every 10s)\n\n{_PG16}"
        " client backend     | relation      | normal  |   200 |     60 |      20 |     8192 |  950 |      0\n"
        " checkpointer | relation | normal | | 680 | | 8192 | | 30\n(2 rows)\n",
        10,
        10,
        8,
        20,
        8,
        0,
    ),
    "pg_stat_io of PostgreSQL 18 counts bytes": (
        f"2026-11-26 16:18:03\n{_PG18}client backend,relation,normal,100,1638400,50,409600,10,81920,\n"
        f"2026-11-26 16:18:04\n{_PG18}client backend,relation,normal,110,1802240,70,573440,20,163840,\n",
        1,
        10,
        16,
        30,
        8,
        0,
    ),
}


def log_of(text: str, folder: Path) -> Log:
    path = folder / "log.txt"
    path.write_text(text)
    assert is_log(str(path))
    return read(str(path), "log.txt")


@pytest.mark.parametrize("name", SAYS)
def test_what_a_log_says(name: str, tmp_path: Path) -> None:
    text, seconds, reads, read_kib, writes, write_kib, discards = SAYS[name]
    log = log_of(text, tmp_path)
    whole = mean(log.devices[log.device(None, "log.txt")])
    assert whole.seconds == pytest.approx(seconds)
    assert (whole.reads.requests_per_s, whole.writes.requests_per_s) == pytest.approx((reads, writes), rel=0.01)
    assert drawing.size_of(whole.reads) / 1024 == pytest.approx(read_kib, rel=0.01)
    assert drawing.size_of(whole.writes) / 1024 == pytest.approx(write_kib, rel=0.01)
    if "sar" not in name and "-x" not in name:
        assert whole.discards.requests_per_s == pytest.approx(discards)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            _reports(_12, f"{_ROW_12}\n{_ROW_12.replace('sda ', 'sdb ')}"),
            "of 2 devices; choose one with --device NAME; its devices: sda .245.8 kB/s written., sdb",
        ),
        (
            _reports(_12, _ROW_12.replace("10.00", " 0.00").replace("30.00", " 0.00").replace("2.00 ", "0.00 ")),
            "without a single request",
        ),
        (_D1, "one reading of /proc/diskstats, whose counters are totals since the start; rates need two or more"),
        (
            _reports("Device tps kB/s rqm/s await areq-sz aqu-sz %util", "sda 40.00 320.00 0.00 0.10 8.00 0.00 0.10"),
            r"reads and writes are one number \(iostat -s\); allowed are logs of iostat -x without -s",
        ),
        (_reports(_12, _ROW_12, f"{_ROW_12} 7.00"), "line 13: 24 values under 23 columns"),
        (_reports(_12, _ROW_12, _ROW_12.replace("240.00", "24x.00")), "line 13: wkB/s is '24x.00'; allowed: a number"),
        (f"{_ZPOOL}tank  1.2G  494G  10  20x  40K  160K\n", "line 4: '20x' is no number of operations or bytes"),
        (f"{_NMON}DISKREAD,T0001,80.0,80.0\n", "a recording of nmon without DISKREAD, DISKWRITE and DISKXFER"),
        (f"{_NMON}DISKREAD,T0001,8o,80.0\n", "line 8: DISKREAD of sda is '8o'; allowed: a number"),
        (f"{_COLLECTL}", "a log of collectl without a row of a disk; collectl -sD"),
        (
            f"1764173883\n{_D1}1764173884\n   8       0 sda 100 5 800\n",
            "line 5: 6 fields; a line of /proc/diskstats has 14",
        ),
    ],
)
def test_what_a_log_does_not_say(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        log = log_of(text, tmp_path)
        log.device(None, "log.txt")


_LINUX = "Linux 6.1.0 (db1)  03/12/2024  _x86_64_  (8 CPU)\n\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{_LINUX}10:11:12 AM   UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"
            "10:11:13 AM     0       412      0.00     12.00      0.00       0  jbd2/sda1-8\n",
            "pidstat, which has statistics of processes and no requests; record requests with `blktrace",
        ),
        (
            "You did not select any stats, using -cdngy by default.\n"
            "----total-usage---- -dsk/total- -net/total-\nusr sys idl wai stl| read  writ| recv  send\n",
            "dstat, which has statistics of the whole machine and no requests",
        ),
        ("\n Performance counter stats for 'dd':\n\n  1.2 msec task-clock\n", "perf stat, which has statistics of"),
        (f"{_LINUX}12:00:01 AM     CPU     %user     %nice\n12:10:01 AM     all      1.23      0.00\n", "of CPUs and"),
        (f"{_LINUX}10:11:12 AM  CPU    %usr   %nice\n10:11:13 AM  all    1.01    0.00\n", "of CPUs and"),
        (f"{_LINUX}avg-cpu:  %user   %nice\n           1.23    0.00\n", "of CPUs and"),
        (f"{_LINUX}12:00:01 AM  tps  rtps  wtps\n12:10:01 AM  2.0  1.0  1.0\n", "output of sar -b, which has"),
        ("top - 10:11:12 up 10 days,  2 users,  load average: 0.1, 0.2, 0.3\n", "output of top, which"),
        (
            '{\n  "fio version" : "fio-3.33",\n  "jobs": []\n}\n',
            "output of fio --output-format=json, which has statistics",
        ),
        ("PERFILE2\0\0\1\2", "a recording of perf in binary; print its requests with `perf script -i FILE`"),
    ],
)
def test_statistics_are_no_trace(text: str, said: str, tmp_path: Path) -> None:
    """They were answered with the list of formats."""
    path = tmp_path / "some.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"some\.txt: is .*{re.escape(said)}"), opened([str(path)], None, 0):
        pass


def test_a_device_is_chosen_by_name(tmp_path: Path) -> None:
    log = log_of(f"1764173883\n{_D1}1764173884\n{_D2}", tmp_path)
    # sda1 is a part of sda: its requests are among those of sda, and nobody has to choose.
    assert (log.device(None, "log.txt"), log.device("sda1", "log.txt")) == ("sda", "sda1")
    with pytest.raises(InputError, match=r"--device sdc: log.txt has no such device; did you mean 'sda'"):
        log.device("sdc", "log.txt")


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("03/14/2019 02:03:04 PM", 1552572184.0),
        ("2019-03-14T14:03:04", 1552572184.0),
        ("2019-03-14T15:03:04+01:00", 1552572184.0),
        ("Thu Mar 14 14:03:04 UTC 2019", 1552572184.0),
        ("Thu Mar 14 02:03:04 PM CET 2019", 1552572184.0),
        ("1552572184.5", 1552572184.5),
        ("1552572184000", 1552572184.0),
        ("--- 2019-03-14 14:03:04 ---", 1552572184.0),
        ("Time: 02:03:04 PM", 50584.0),
        ("sda 1 2 3", None),
        ("avg-cpu:  %user", None),
        ("12", None),
    ],
)
def test_times(line: str, seconds: float | None) -> None:
    assert time_of(line) == seconds


def test_requests_have_the_rates_and_bytes_of_the_log(tmp_path: Path) -> None:
    text = _reports(_12, _ROW_12, *[_ROW_12.replace("4.00 ", "22.50 ").replace(" 8.00 ", " 192.00 ")] * 60)
    path = tmp_path / "log.txt"
    path.write_text(text)
    with opened([str(path)], None, 0, span_bytes=10**9) as recording:
        (volume,) = recording.survey.volumes
        assert (volume.reads, volume.writes, volume.trims) == (600, 1800, 120)
        assert volume.written_bytes == pytest.approx(1800 * 192 * 1024, rel=0.001)
        assert 59e9 < recording.survey.arrival_ns_max < 60e9
        assert volume.end_bytes_max <= 10**9
        requests = [line.split(",") for line in Path(recording.paths[0]).read_text().splitlines()]
        places = {kind: [(int(at), int(size)) for _, op, at, size in requests if op == kind] for kind in "RW"}
        follows = {
            kind: sum(at == before + size for (before, size), (at, _) in pairwise(found)) / len(found)
            for kind, found in places.items()
        }
        # Writes of 192 KiB follow each other; reads of 22.5 KiB are anywhere.
        assert follows["W"] > 0.9 and follows["R"] < 0.01
    said = " ".join(recording.drawn_from)
    assert "writes in order, since their mean size is 128 KiB or more" in said and "reads at random" in said
    assert "guessed" in said and "flushes, 3 a second, are left out" in said


def test_the_mean_load_as_a_job(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(gzip.compress(_reports(_12, _ROW_12, _ROW_12).encode()))
    described = of_log(str(path), None)
    assert described.text is not None
    for line in ("rw=randrw", "rwmixread=25", "bs=4096,8192", "size=100%", "norandommap"):
        assert f"{line}\n" in described.text
    daily, notes = daily_writes(None, described)
    assert daily == 240 * 1024 * 86_400 and "21.2 GB a day" in notes[0]
    said = " ".join(described.remarks(10**9))
    assert re.search("Guessed, because a log of rates has no addresses: reads and writes at random", said)
    assert "Discards are left out" in said


def test_device_is_for_logs_only(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("1,R,0,4096\n")
    with (
        pytest.raises(InputError, match=r"--device sda: for a log of rates .*--volume"),
        opened([str(path)], None, 0, "time,op,offset,bytes", device="sda"),
    ):
        pass
    assert Reading(device="sda").device == "sda"


def _perfmon(*, disks: str = "PhysicalDisk", lines: int = 4) -> str:
    paths = [
        f"\\\\H\\{disks}({disk})\\Disk {what}/sec"
        for disk in ("0 C: D:", "1 E:", "_Total")
        for what in ("Reads", "Writes", "Read Bytes", "Write Bytes")
    ]
    values = ["10.5", "500", "43008", "4096000", "0", "0", "0", "0", "10.5", "500", "43008", "4096000"]
    rows = [["(PDH-CSV 4.0) (W. Europe Standard Time)(-60)", *paths]]
    rows += [[f"01/09/2024 10:00:{5 * at:02}.123", *(values if at else [" "] * len(values))] for at in range(lines)]
    return "".join(",".join(f'"{cell}"' for cell in row) + "\r\n" for row in rows)


@pytest.mark.parametrize("disks", ["PhysicalDisk", "LogicalDisk"])
def test_performance_monitor(tmp_path: Path, disks: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(_perfmon(disks=disks))
    log = read(str(path), "log.csv")
    name = log.device(None, "log.csv")
    assert name == ("0" if disks == "PhysicalDisk" else "0 C: D:")
    *_, last = log.devices[name]
    assert len(log.devices[name]) == 3 and last.seconds == 5.0
    assert (last.writes.requests_per_s, last.writes.bytes_per_s, last.reads.requests_per_s) == (500.0, 4096000.0, 10.5)
    path.write_text(_perfmon().replace("Disk Write Bytes", "Avg. Disk Bytes"))
    with pytest.raises(InputError, match="record Disk Reads/sec"):
        read(str(path), "log.csv")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_a_log_that_powershell_wrote(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "log.txt"
    path.write_text(_reports(_12, _ROW_12, _ROW_12), encoding=encoding)
    assert is_log(str(path)) and read(str(path), "log.txt").device(None, "log.txt")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_a_compressed_log(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    """A regression: of compressions only gzip was known, though traces and reports are read in all."""
    path = tmp_path / "log.txt"
    path.write_bytes(compress(_reports(_12, _ROW_12, _ROW_12).encode()))
    assert is_log(str(path)) and read(str(path), "log.txt").device(None, "log.txt") == "sda"
    path.write_bytes(path.read_bytes()[:-20])
    assert not is_log(str(path)) or compress is zstandard.compress
    # A log that was appended to has several frames.
    parts = _reports(_12, _ROW_12), _reports(_12, _ROW_12, _ROW_12)
    path.write_text("".join(parts))
    plain = read(str(path), "log.txt")
    path.write_bytes(b"".join(compress(part.encode()) for part in parts))
    assert read(str(path), "log.txt") == plain


_FALLING = ((9000, 4_294_967_000), (10_000, 8000), (10_500, 12_000))


def test_an_interval_in_which_counters_fell_is_left_out(tmp_path: Path) -> None:
    """A regression: after a restart, or a counter that wrapped, requests had no bytes ("100 writes a second of 0 B"),
    and the interval thinned out the mean of the others."""
    lines = [f"   8       0 sda 100 0 800 0 {writes} 0 {sectors} 0 0 0 0\n" for writes, sectors in _FALLING]
    text = "".join(f"Thu Nov 26 16:18:{10 * at:02} UTC 2026\n{line}" for at, line in enumerate(lines))
    (tmp_path / "log").write_text(text)
    log = read(str(tmp_path / "log"), "log")
    assert "left out: 1 of sda" in " ".join(log.notes)
    (interval,) = log.devices["sda"]
    assert (interval.seconds, interval.writes.requests_per_s, interval.writes.bytes_per_s) == (10, 50, 50 * 4096)
    (tmp_path / "log").write_text("".join(text.splitlines(True)[:4]))
    with pytest.raises(InputError, match="counters of sda fell between the readings"):
        read(str(tmp_path / "log"), "log")
