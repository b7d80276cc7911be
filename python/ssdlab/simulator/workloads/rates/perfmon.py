"""Reads the counters of Windows' disks as CSV: `typeperf`, `relog -f csv` and Performance Monitor's own logs.

The first column is the time, the others are counters by path: `\\\\HOST\\PhysicalDisk(0 C:)\\Disk Writes/sec`. A rate
is the mean since the line before; a blank is none. LogicalDisk is read where PhysicalDisk is not
there. Names of counters are those of an English Windows.
"""

import csv
import re
from collections.abc import Sequence

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.rates.log import Flow, Interval, Log
from ssdlab.simulator.workloads.rates.times import lengths, time_of

HEAD = re.compile(r"\s*\"\(PDH-CSV 4\.0\)[^\n]*(?:Physical|Logical)Disk\(", re.I)
_COUNTER = re.compile(r"(?:\\\\[^\\]*)?\\(Physical|Logical)Disk\(([^)]*)\)\\Disk (Read|Write)s?( Bytes)?/sec", re.I)
_WANTED = "Disk Reads/sec, Disk Writes/sec, Disk Read Bytes/sec and Disk Write Bytes/sec of PhysicalDisk"


def read_csv(text: str, file: str) -> Log:
    """The log in the CSV. Raises InputError if the counters of requests or of bytes are missing."""
    rows = [row for row in csv.reader(text.splitlines()) if len(row) > 1]
    counters = [_COUNTER.fullmatch(path.strip()) for path in rows[0]]
    kind = "Physical" if any(each and each[1].title() == "Physical" for each in counters) else "Logical"
    columns = {
        (each[2], each[3].title(), bool(each[4])): at
        for at, each in enumerate(counters)
        if each and each[1].title() == kind and each[2] != "_Total"
    }
    names = list(dict.fromkeys(name for name, _, _ in columns))
    if not names or any((name, "Write", is_bytes) not in columns for name in names for is_bytes in (False, True)):
        raise InputError(f"{file}: a log of Performance Monitor without the counters of a disk; record {_WANTED}")
    # The first line has no rates yet.
    samples = [row for row in rows[1:] if len(row) == len(rows[0]) and any(map(str.strip, row[1:]))]
    seconds, _ = lengths([time_of(row[0].partition(".")[0]) for row in samples])
    devices = {
        # `0 C:` is disk 0 with its partitions.
        name.split()[0] if kind == "Physical" else name: [
            Interval(each, _flow(row, columns, name, "Read"), _flow(row, columns, name, "Write"))
            for row, each in zip(samples, seconds, strict=True)
        ]
        for name in names
    }
    return Log("Performance Monitor", devices)


def _flow(row: Sequence[str], columns: dict[tuple[str, str, bool], int], name: str, way: str) -> Flow:
    requests, size = (columns.get((name, way, is_bytes)) for is_bytes in (False, True))
    return Flow(*(_number(row[at]) if at is not None else 0.0 for at in (requests, size)))


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return 0.0
