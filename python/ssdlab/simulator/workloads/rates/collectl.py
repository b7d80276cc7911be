"""Reads what collectl prints of disks: `collectl -sD`, a row for each disk, and `-sd`, a row for all of them together.

Columns are known by name. Those of reads and of writes have the same names in the form with a row for each disk, reads
first. A K, M or G behind a number is a thousand of them or more, as collectl shortens what does not fit.
"""

import re
from collections.abc import Sequence

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.rates.log import Flow, Interval, Log
from ssdlab.simulator.workloads.rates.times import lengths, time_of

HEAD = re.compile(r"^\s*#.*\b(?:KBytes\s+Merged\s+IOs|KBRead\b.*\bReads)\b", re.MULTILINE)
_RECORD = re.compile(r"^#+ RECORD\s.*\((\d+\.\d+)\)")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([KMG]?)")
_FACTORS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3}
_ALL = "all disks"
_KIB = 1024

Report = tuple[float | None, dict[str, tuple[Flow, Flow]]]


def read_text(text: str, file: str) -> Log:
    """The log in a text of collectl. Raises InputError with the line that cannot be read."""
    reports: list[Report] = []
    columns: list[str] = []
    time: float | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _RECORD.match(line):
            time = float(match[1])
        words = line.replace("#", " ").split()
        if line.lstrip().startswith("#"):
            is_head = HEAD.match(line) is not None
            columns = words if is_head else [] if words and not line.lstrip().startswith("# ") else columns
            continue
        if not columns or len(words) != len(columns):
            continue
        row = dict(zip(columns, words, strict=True))
        if "Time" in row:
            time = time_of(row["Time"].partition(".")[0])
        device = row.get("Name", _ALL)
        if not reports or reports[-1][0] != time or device in reports[-1][1]:
            reports.append((time, {}))
        reports[-1][1][device] = _flows(columns, words, f"{file}, line {number}")
    if not reports:
        raise InputError(f"{file}: a log of collectl without a row of a disk; collectl -sD")
    return _log(reports)


def _flows(columns: Sequence[str], words: Sequence[str], where: str) -> tuple[Flow, Flow]:
    """Reads and writes of a row."""

    def number(at: int) -> float:
        match = _NUMBER.fullmatch(words[at])
        if match is None:
            raise InputError(f"{where}: {columns[at]} is {words[at]!r}; allowed: a number")
        return float(match[1]) * _FACTORS[match[2]]

    if "KBRead" in columns:
        places = [[columns.index(name) for name in names] for names in (("Reads", "KBRead"), ("Writes", "KBWrit"))]
    else:
        requests, kib = ([at for at, name in enumerate(columns) if name == wanted] for wanted in ("IOs", "KBytes"))
        places = [list(each) for each in zip(requests[:2], kib[:2], strict=True)]
    reads, writes = (Flow(number(requests), number(kib) * _KIB) for requests, kib in places)
    return reads, writes


def _log(reports: Sequence[Report]) -> Log:
    seconds, has_times = lengths([time for time, _ in reports])
    none = (Flow(), Flow())
    devices = {
        name: [Interval(each, *rows.get(name, none)) for (_, rows), each in zip(reports, seconds, strict=True)]
        for name in dict.fromkeys(name for _, rows in reports for name in rows)
    }
    notes = [] if has_times else ["the log has no times: its rows are taken to be 1 s apart (collectl -oT prints them)"]
    return Log("collectl", devices, notes)
