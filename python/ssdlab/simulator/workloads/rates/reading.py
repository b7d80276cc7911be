"""Recognises a log of rates by its beginning, and reads it; refuses statistics that are no rates of a drive."""

import re
from collections.abc import Callable
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.foundation import compressed
from ssdlab.foundation.decoding import text_of
from ssdlab.simulator.workloads.rates import collectl, counters, nmon, perfmon, sysstat, zpool
from ssdlab.simulator.workloads.rates.log import Log

_HEAD_CHARACTERS = 65_536
_JSON = re.compile(r'\s*\{\s*"sysstat"\s*:')
_SYSSTAT = re.compile(
    r"^\s*(?:#.*;|\d\S*(?: [AP]M)?\s+)?(?:[Dd]evice:?|DEV)[\s;].*\b(?:r/s|tps|kB_read/s)"
    r"|^\s*(?:\d\S*(?: [AP]M)?\s+)?(?:tps|r/s)\s.*\s(?:[Dd]evice|DEV)\s*$",
    re.MULTILINE,
)
# What stands around a log that was copied: the signs of a quotation, the prompt with the command, the end by Ctrl-C.
_QUOTED = re.compile(r"(?:> ?[^\n]*(?:\n|$))+")
_AROUND = re.compile(
    r"^(?:\^C\S*|\S*(?:\s~\S*)?[$#]\s+(?:sudo\s+)?(?:iostat|sar|sadf|vmstat|zpool|collectl|cat|watch|while|for)\b.*)$",
    re.M,
)
_PG_STAT_IO = re.compile(r"^.*\breads\b.*[|,].*\bwrites\b.*$", re.MULTILINE)

# Statistics of other things than a drive's requests: their heads, and what they count.
_STATISTICS = (
    (re.compile(r"^.*\bPID\b.*\bkB_rd/s\s+kB_wr/s\b", re.M), "pidstat", "processes"),
    (re.compile(r"^\s*Performance counter stats for\b", re.M), "perf stat", "counted events"),
    (re.compile(r"^You did not select any stats, using -", re.M), "dstat", "the whole machine"),
    (re.compile(r"^.*\btps\s+rtps\s+wtps\b", re.M), "sar -b", "the whole machine"),
    (re.compile(r"^(?:.*\s)?CPU\s+%usr|^(?:.*\s)?(?:CPU|avg-cpu:)\s+%user", re.M), "sar, mpstat or iostat -c", "CPUs"),
    (re.compile(r"^top - .*load average:", re.M), "top", "processes"),
    (re.compile(r'^\s*\{\s*"fio version"\s*:'), "fio --output-format=json", "a job"),
)
_INSTEAD = (
    "record requests with `blktrace -d /dev/sda -o - | blkparse -i -`, or log the rates of the drive with `iostat -x 1`"
)
_PERF_DATA = b"PERFILE2"


_BY_HEAD = ((nmon.HEAD, nmon.read_text), (zpool.HEAD, zpool.read_text), (collectl.HEAD, collectl.read_text))


def _plain(text: str) -> str:
    """The text without what stands around a log, with the same lines."""
    if _QUOTED.fullmatch(text):
        text = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    return _AROUND.sub("", text)


def _reader(head: str) -> Callable[[str, str], Log] | None:
    if perfmon.HEAD.match(head):
        return perfmon.read_csv
    for sign, read_text in _BY_HEAD:
        if sign.search(head):
            return read_text
    if _JSON.match(head):
        return sysstat.read_json
    if _SYSSTAT.search(head):
        return sysstat.read_text
    if counters.VMSTAT_HEAD.search(head):
        return counters.read_vmstat
    if "backend_type" in head and _PG_STAT_IO.search(head):
        return counters.read_pg_stat_io
    lines = [line for line in head.splitlines()[:200] if line.strip()]
    if any(counters.DISKSTATS_LINE.match(line) for line in lines[:3]):
        return counters.read_diskstats
    for sign, program, of in _STATISTICS:
        if sign.search(head):
            return _refusing(f"is output of {program}, which has statistics of {of} and no requests; {_INSTEAD}")
    return None


def _refusing(reason: str) -> Callable[[str, str], Log]:
    """A reader of what is no log of a drive."""

    def refuse(text: str, name: str) -> Log:
        raise InputError(f"{name}: {reason}")

    return refuse


def is_log(path: str) -> bool:
    """Whether the file begins as a log of rates. False for one that cannot be read."""
    return _head_reader(path) is not None


def read(path: str, name: str) -> Log:
    """The log in the file, named `name` in messages. Raises InputError."""
    found = _head_reader(path)
    assert found is not None, "asked by is_log before"
    try:
        with Path(path).open("rb") as file:
            text = text_of(compressed.unpacked(file).read()) or ""
    except compressed.BROKEN as error:
        raise InputError(f"{name}: cannot be read: {error}") from None
    return found(_plain(text), name)


def _head_reader(path: str) -> Callable[[str, str], Log] | None:
    try:
        with Path(path).open("rb") as file:
            head = compressed.unpacked(file).read(_HEAD_CHARACTERS)
    except compressed.BROKEN:
        return None
    if head.startswith(_PERF_DATA):
        return _refusing(
            "is a recording of perf in binary; print its requests with `perf script -i FILE`, recorded with"
            " `perf record -e block:block_rq_issue -a`"
        )
    text = text_of(head)
    return None if text is None else _reader(_plain(text))
