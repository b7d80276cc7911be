"""Reads counters that were written down several times: /proc/diskstats of Linux, also as `vmstat -d` prints it, and
pg_stat_io of PostgreSQL.

The fields of /proc/diskstats are those of the kernel's Documentation/admin-guide/iostats.rst; a sector there has 512
bytes. In pg_stat_io, an operation has `op_bytes` bytes in PostgreSQL 16 and 17, and bytes are counted from 18 on.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.rates.log import Flow, Interval, Log
from ssdlab.simulator.workloads.rates.times import lengths, time_of

_SECTOR_BYTES = 512
_PAGE_BYTES = 8192
DISKSTATS_LINE = re.compile(r"^(?P<before>.*?)\b(?P<numbers>\d+\s+\d+\s+(?P<name>[A-Za-z]\S*)(?:\s+\d+){11,})\s*$")
VMSTAT_HEAD = re.compile(r"^disk[- ]+-+reads", re.MULTILINE)
_IGNORED = re.compile(r"(loop|ram|zram|sr|fd)\d+")
_PG = "pg_stat_io"

# Reads, bytes read, writes, bytes written, discards, bytes discarded, flushes.
Counts = tuple[float, float, float, float, float, float, float]
_ZERO: Counts = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
Reading = tuple[float | None, dict[str, Counts]]


def read_diskstats(text: str, file: str) -> Log:
    """The log in repeated readings of /proc/diskstats, with times between them, in front of each line, or without."""
    readings: list[Reading] = []
    time: float | None = None
    is_new = True
    for number, line in enumerate(text.splitlines(), start=1):
        match = DISKSTATS_LINE.match(line)
        if match is None:
            moment = time_of(line)
            if moment is not None:
                time, is_new = moment, True
            elif line.strip() and line.split()[0].isdigit():
                raise InputError(
                    f"{file}, line {number}: {len(line.split())} fields; a line of /proc/diskstats has 14 or more"
                )
            continue
        before = match["before"].strip(" ,;:|\t")
        name, numbers = match["name"], [int(word) for word in match["numbers"].split()[3:]]
        if before and (moment := time_of(before)) is not None and moment != time:
            time, is_new = moment, True
        if is_new or not readings or name in readings[-1][1]:
            readings.append((time, {}))
            is_new = False
        if not _IGNORED.fullmatch(name):
            readings[-1][1][name] = _counts_of_disk(numbers)
    return _log("/proc/diskstats", readings, file)


def read_vmstat(text: str, file: str) -> Log:
    """The log in the reports of `vmstat -d SECONDS`, which repeats its head now and then, or with `-n` never.

    Each row has totals: reads, merged, sectors, ms; writes, merged, sectors, ms; requests in flight, seconds (vmstat.c
    of procps). A disk that comes again begins the next reading. With `-t` the time ends the row.
    """
    readings: list[Reading] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or VMSTAT_HEAD.match(line) or words[:2] == ["total", "merged"]:
            continue
        numbers = words[1:11]
        if len(numbers) < 10 or not all(word.isdigit() for word in numbers):
            raise InputError(
                f"{file}, line {number}: {line.strip()!r}; allowed is a disk with ten numbers behind its name"
            )
        moment = time_of(" ".join(words[11:]))
        if not readings or words[0] in readings[-1][1]:
            readings.append((moment, {}))
        if not _IGNORED.fullmatch(words[0]):
            readings[-1][1][words[0]] = _counts_of_disk([int(word) for word in numbers])
    return _log("vmstat -d", readings, file)


def _counts_of_disk(numbers: Sequence[int]) -> Counts:
    discards, discarded = (numbers[11], numbers[13]) if len(numbers) >= 15 else (0, 0)
    flushes = numbers[15] if len(numbers) >= 17 else 0
    reads, read, writes, written = numbers[0], numbers[2], numbers[4], numbers[6]
    return (
        reads,
        read * _SECTOR_BYTES,
        writes,
        written * _SECTOR_BYTES,
        discards,
        discarded * _SECTOR_BYTES,
        flushes,
    )


def read_pg_stat_io(text: str, file: str) -> Log:
    """The log in repeated tables of pg_stat_io, as psql prints them (`\\watch`), or as CSV."""
    readings: list[Reading] = []
    columns: list[str] = []
    time: float | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        separator = "|" if "|" in line else ","
        cells = [cell.strip() for cell in line.split(separator)]
        if "reads" in cells and "writes" in cells:
            columns = cells
            readings.append((time, {_PG: _ZERO}))
            continue
        if len(cells) == 1 or set(line.strip()) <= set("-+"):
            moment = time_of(line)
            time = time if moment is None else moment
            continue
        if not columns:
            continue
        if len(cells) != len(columns):
            raise InputError(f"{file}, line {number}: {len(cells)} cells under {len(columns)} columns")
        row = dict(zip(columns, cells, strict=True))
        before = readings[-1][1][_PG]
        added = _counts_of_postgres(row, f"{file}, line {number}")
        readings[-1][1][_PG] = tuple(a + b for a, b in zip(before, added, strict=True))  # type: ignore[assignment]
    log = _log(_PG, readings, file)
    note = (
        "the log counts what PostgreSQL asks of the kernel: reads that the page cache answers are in it, writes go "
        "through the page cache, where some are merged; journals of the file system are not in it"
    )
    return Log(log.program, log.devices, [*log.notes, note])


def _counts_of_postgres(row: Mapping[str, str], where: str) -> Counts:
    def number(name: str) -> float:
        cell = row.get(name, "")
        if not cell or cell == "\\N":
            return 0.0
        try:
            return float(cell)
        except ValueError:
            raise InputError(f"{where}: {name} is {cell!r}; allowed: a number or nothing") from None

    reads, writes, extends = number("reads"), number("writes"), number("extends")
    each = number("op_bytes") or _PAGE_BYTES
    counted = "read_bytes" in row
    read = number("read_bytes") if counted else reads * each
    written = number("write_bytes") + number("extend_bytes") if counted else (writes + extends) * each
    return (reads, read, writes + extends, written, 0.0, 0.0, number("fsyncs"))


def _log(program: str, readings: Sequence[Reading], file: str) -> Log:
    if len(readings) < 2:
        raise InputError(
            f"{file}: one reading of {program}, whose counters are totals since the start; rates need two or more, "
            "with the time of each"
        )
    lasted, has_times = lengths([time for time, _ in readings])
    notes = [] if has_times else ["the log has no times: its readings are taken to be 1 s apart"]
    devices: dict[str, list[Interval]] = {}
    fallen: Counter[str] = Counter()
    for (_, before), (_, after), seconds in zip(readings[:-1], readings[1:], lasted[1:], strict=True):
        for name, counts in after.items():
            old = before.get(name, counts)
            intervals = devices.setdefault(name, [])
            # Set to zero by a restart or by pg_stat_reset_shared, or wrapped at 32 bits.
            if any(new < was for new, was in zip(counts, old, strict=True)):
                fallen[name] += 1
                continue
            rates = [(new - was) / seconds for new, was in zip(counts, old, strict=True)]
            reads, writes, discards = (Flow(*rates[index : index + 2]) for index in (0, 2, 4))
            intervals.append(Interval(seconds, reads, writes, discards, rates[6]))
    if fallen:
        counted = ", ".join(f"{times:,} of {name}" for name, times in fallen.items())
        notes.append(f"intervals in which counters fell, as after a restart, are left out: {counted}")
    known = {name: intervals for name, intervals in devices.items() if intervals}
    if not known and fallen:
        raise InputError(
            f"{file}: the counters of {', '.join(fallen)} fell between the readings, as after a restart; rates need "
            "two readings between which they rise"
        )
    return Log(program, known, notes)
