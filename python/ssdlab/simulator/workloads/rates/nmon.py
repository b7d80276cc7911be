"""Reads recordings of nmon, `nmon -f`, of Linux and AIX.

A line is a table's name, a moment (T0001) and a value for each disk; the line with the table's title names the disks.
DISKREAD and DISKWRITE are KB/s, DISKXFER transfers per second, DISKRXFER the reads among them (AIX); a ZZZZ line gives
a moment its time. Tables that go on have a number behind their name: DISKREAD1.
"""

import re

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.rates.log import Flow, Interval, Log
from ssdlab.simulator.workloads.rates.times import lengths, time_of

HEAD = re.compile(r"^(?:AAA,progname|DISKREAD\d*,Disk )", re.MULTILINE)
_TABLE = re.compile(r"(DISKREAD|DISKWRITE|DISKXFER|DISKRXFER)\d*")
_MOMENT = re.compile(r"T\d+")
_KIB = 1024
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_UNSIZED = "nmon counts reads and writes together: both are taken to be of the mean size of all requests"


def read_text(text: str, file: str) -> Log:
    """The log in a recording. Raises InputError if a table is missing, or with the line that cannot be read."""
    disks: dict[str, list[str]] = {}
    values: dict[tuple[str, str, str], float] = {}
    times: dict[str, float | None] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.split(",")
        if cells[0] == "ZZZZ" and len(cells) > 2:
            times[cells[1]] = _time(cells[2:])
        match = _TABLE.fullmatch(cells[0])
        if match is None or len(cells) < 3:
            continue
        if _MOMENT.fullmatch(cells[1]) is None:
            disks[cells[0]] = cells[2:]
            continue
        for disk, cell in zip(disks.get(cells[0], ()), cells[2:], strict=False):
            try:
                values[match[1], cells[1], disk] = float(cell or 0)
            except ValueError:
                raise InputError(
                    f"{file}, line {number}: {cells[0]} of {disk} is {cell!r}; allowed: a number"
                ) from None
    moments = list(dict.fromkeys(moment for _, moment, _ in values))
    tables = {table for table, _, _ in values}
    if not {"DISKREAD", "DISKWRITE", "DISKXFER"} <= tables:
        raise InputError(f"{file}: a recording of nmon without DISKREAD, DISKWRITE and DISKXFER; record with nmon -f")
    lasted, has_times = lengths([times.get(moment) for moment in moments])

    def interval(moment: str, disk: str, seconds: float) -> Interval:
        def value(table: str) -> float:
            return values.get((table, moment, disk), 0.0)

        read, written, requests = value("DISKREAD") * _KIB, value("DISKWRITE") * _KIB, value("DISKXFER")
        reads = value("DISKRXFER") if "DISKRXFER" in tables else requests * read / max(read + written, 1.0)
        return Interval(seconds, Flow(reads, read), Flow(max(0.0, requests - reads), written))

    devices = {
        disk: [interval(moment, disk, each) for moment, each in zip(moments, lasted, strict=True)]
        for disk in dict.fromkeys(disk for _, _, disk in values)
    }
    notes = [] if "DISKRXFER" in tables else [_UNSIZED]
    if not has_times:
        notes.append("the recording has no times: its moments are taken to be 1 s apart")
    return Log("nmon", devices, notes)


def _time(cells: list[str]) -> float | None:
    """The time of a ZZZZ line: 12:00:01,28-NOV-2026; without the date a time of the day."""
    day = cells[1].strip().upper().split("-") if len(cells) > 1 else []
    if len(day) == 3 and day[1] in _MONTHS:
        return time_of(f"{day[2]}-{_MONTHS.index(day[1]) + 1:02}-{day[0]} {cells[0].strip()}")
    return time_of(cells[0])
