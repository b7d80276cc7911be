"""Reads `zpool iostat`, with and without `-v`, `-T d` or `-T u`, `-y`, `-p` and `-H`, of OpenZFS and illumos.

A row has a pool or, indented, a part of it: name, allocated, free, operations read and written, bandwidth read and
written; `-l` and `-q` append columns. Numbers are shortened with K, M, G, T of 1024 (zpool-iostat(8)).
"""

import re
from collections.abc import Sequence

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.rates.log import Flow, Interval, Log
from ssdlab.simulator.workloads.rates.times import lengths, time_of

HEAD = re.compile(r"^\s*pool\s+alloc\s+free\s+read\s+write\s+read\s+write\b", re.MULTILINE)
_NUMBER = re.compile(r"(\d+(?:[.,]\d+)?)([BKMGTP]?)")
_FACTORS = {"": 1, "B": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4, "P": 1024**5}
_COLUMNS = 7


def read_text(text: str, file: str) -> Log:
    """The log in a text of zpool iostat. Raises InputError with the line that cannot be read."""
    reports: list[tuple[float | None, dict[str, Interval]]] = []
    time: float | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        moment = time_of(line)
        if moment is not None:
            time = moment
            continue
        if len(words) < _COLUMNS or words[0] == "pool" or words[0].startswith("-"):
            continue
        name, figures = words[0], words[3:_COLUMNS]
        if not reports or reports[-1][0] != time or name in reports[-1][1]:
            reports.append((time, {}))
        reads, writes, read, written = (_number(figure, f"{file}, line {number}") for figure in figures)
        reports[-1][1][name] = Interval(1.0, Flow(reads, read), Flow(writes, written))
    if not reports:
        raise InputError(f"{file}: a log of zpool iostat without a row of a pool")
    return _log(reports)


def _number(text: str, where: str) -> float:
    if text == "-":
        return 0.0
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise InputError(f"{where}: {text!r} is no number of operations or bytes; allowed: 12, 3.4K, 5M")
    return float(match[1].replace(",", ".")) * _FACTORS[match[2]]


def _log(reports: Sequence[tuple[float | None, dict[str, Interval]]]) -> Log:
    seconds, has_times = lengths([time for time, _ in reports])
    notes = [] if has_times else ["the log has no times: its reports are taken to be 1 s apart (-T d prints them)"]
    chosen = list(zip(reports, seconds, strict=True))
    if len(reports) > 1:
        chosen = chosen[1:]
        notes.append("the first report is left out: it is the mean since the pool was imported (-y omits it)")
    else:
        notes.append(
            "the only report is the mean since the pool was imported; zpool iostat -v 1 shows the load by second"
        )
    notes.append("requests of a pool are those of its drives together; zpool iostat -v has each drive, for --device")
    devices = {}
    for name in dict.fromkeys(name for (_, rows), _ in chosen for name in rows):
        rows = [(rows.get(name, Interval(1.0)), each) for (_, rows), each in chosen]
        devices[name] = [Interval(each, row.reads, row.writes) for row, each in rows]
    return Log("zpool iostat", devices, notes)
