"""Recognises a log of rates by its beginning, and reads it."""

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from ssdlab.errors import InputError
from ssdlab.foundation.decoding import text_of
from ssdlab.simulator.workloads.rates import counters, perfmon, sysstat
from ssdlab.simulator.workloads.rates.log import Log

_HEAD_CHARACTERS = 65_536
_OPENERS: dict[bytes, Callable[[str], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": zstandard.open,
}
"""How a compressed file is opened, by its first bytes."""
_UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
_JSON = re.compile(r'\s*\{\s*"sysstat"\s*:')
_SYSSTAT = re.compile(
    r"^\s*(?:#.*;|\d\S*(?: [AP]M)?\s+)?(?:[Dd]evice:?|DEV)[\s;].*\b(?:r/s|tps|kB_read/s)"
    r"|^\s*(?:\d\S*(?: [AP]M)?\s+)?(?:tps|r/s)\s.*\s(?:[Dd]evice|DEV)\s*$",
    re.MULTILINE,
)
# What stands around a log that was copied: the signs of a quotation, the prompt with the command, the end by Ctrl-C.
_QUOTED = re.compile(r"(?:> ?[^\n]*(?:\n|$))+")
_AROUND = re.compile(
    r"^(?:\^C\S*|\S*(?:\s~\S*)?[$#]\s+(?:sudo\s+)?(?:iostat|sar|sadf|vmstat|cat|watch|while|for)\b.*)$", re.M
)
_PG_STAT_IO = re.compile(r"^.*\breads\b.*[|,].*\bwrites\b.*$", re.MULTILINE)


def _plain(text: str) -> str:
    """The text without what stands around a log, with the same lines."""
    if _QUOTED.fullmatch(text):
        text = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    return _AROUND.sub("", text)


def _reader(head: str) -> Callable[[str, str], Log] | None:
    if perfmon.HEAD.match(head):
        return perfmon.read_csv
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
    return None


def is_log(path: str) -> bool:
    """Whether the file begins as a log of rates. False for one that cannot be read."""
    return _head_reader(path) is not None


def read(path: str, name: str) -> Log:
    """The log in the file, named `name` in messages. Raises InputError."""
    found = _head_reader(path)
    assert found is not None, "asked by is_log before"
    try:
        with _opened(path) as file:
            text = text_of(file.read()) or ""
    except _UNREADABLE as error:
        raise InputError(f"{name}: cannot be read: {error}") from None
    return found(_plain(text), name)


def _opened(path: str) -> Any:
    with Path(path).open("rb") as file:
        mark = file.read(6)
    opener = next((opener for begin, opener in _OPENERS.items() if mark.startswith(begin)), None)
    return opener(path) if opener else Path(path).open("rb")


def _head_reader(path: str) -> Callable[[str, str], Log] | None:
    try:
        with _opened(path) as file:
            head = file.read(_HEAD_CHARACTERS)
    except _UNREADABLE:
        return None
    text = text_of(head)
    return None if text is None else _reader(_plain(text))
