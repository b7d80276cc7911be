"""CacheLib's kvcache traces: which objects reach the flash, given their sizes and the memory above it.

Two published layouts, distinguished by the header: `key,op,size,op_count,key_size[,ttl]` (2022) and
`op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase` (2024); `size` is that of the value in bytes
(github.com/facebook/CacheLib, cachelib/cachebench/workload/KVReplayGenerator.h).
"""

import csv
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ssdlab.errors import InputError

BUCKET_BYTES = 4096
_COLUMNS = ("key", "op", "size", "op_count", "key_size")
_GETS = ("GET", "GET_LEASE")
_SETS = ("SET", "SET_LEASE")
_DELETE = "DELETE"
_COUNT_MAX = 2**40


@dataclass(frozen=True)
class Line:
    """The operation of one line."""

    key: str
    op: str
    object_bytes: int
    """The size of key and value."""
    count: int


@dataclass
class Written:
    """What a trace writes to a flash cache below a given memory."""

    sets: int = 0
    small_objects: int = 0
    """The small objects written to the flash, each with its bucket."""
    large_bytes: int = 0
    others: int = 0
    """Lines with an operation other than get, set or delete: skipped, as in CacheBench."""

    @property
    def small_share(self) -> float | None:
        """The share of small objects, 0 to 1, in the bytes written to the flash; None if nothing is written."""
        small_bytes = self.small_objects * BUCKET_BYTES
        whole = small_bytes + self.large_bytes
        return small_bytes / whole if whole else None


def written(path: Path, ram_bytes: int, small_bytes_max: int) -> Written:
    """Simulates a trace with a memory of `ram_bytes` that evicts the least recently used object.

    A new object is written when the memory evicts it, so that popular objects do not reach the flash. A get moves the
    object to the front, or loads it from the flash, unchanged. Without memory each set is written. Raises InputError,
    which names the line that cannot be read.
    """
    found = Written()
    memory: OrderedDict[str, tuple[int, bool]] = OrderedDict()
    """By key: the size, and whether the object is not yet on the flash."""
    on_flash: set[str] = set()
    used = 0

    def drop(key: str) -> None:
        nonlocal used
        size, _ = memory.pop(key, (0, False))
        used -= size

    def put(key: str, size: int, *, is_new: bool) -> None:
        nonlocal used
        drop(key)
        memory[key] = size, is_new
        used += size
        while used > ram_bytes:
            oldest, (bytes_, is_dirty) = memory.popitem(last=False)
            used -= bytes_
            if is_dirty:
                on_flash.add(oldest)
                if bytes_ <= small_bytes_max:
                    found.small_objects += 1
                else:
                    found.large_bytes += bytes_

    for line in _lines(path):
        if line.op in _SETS:
            found.sets += line.count
            for _ in range(line.count if line.object_bytes > ram_bytes else 1):
                put(line.key, line.object_bytes, is_new=True)
        elif line.op in _GETS:
            if line.key in memory:
                memory.move_to_end(line.key)
            elif line.key in on_flash:
                put(line.key, line.object_bytes, is_new=False)
        elif line.op == _DELETE:
            drop(line.key)
            on_flash.discard(line.key)
        else:
            found.others += 1
    return found


def _lines(path: Path) -> Iterator[Line]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            header = next(rows, [])
            if missing := [name for name in _COLUMNS if name not in header]:
                raise InputError(
                    f"{path}: column {missing[0]} is missing; allowed is a header with {', '.join(_COLUMNS)}, as in "
                    "CacheLib's kvcache traces"
                )
            places = [header.index(name) for name in _COLUMNS]
            for row in rows:
                if row:
                    yield _line(row, places, f"{path}, line {rows.line_num}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _line(row: list[str], places: list[int], where: str) -> Line:
    if len(row) <= max(places):
        raise InputError(f"{where}: has {len(row)} columns; allowed are at least {max(places) + 1}")
    key, op, *numbers = (row[place] for place in places)
    values = []
    for name, text in zip(_COLUMNS[2:], numbers, strict=True):
        least = 1 if name == "op_count" else 0
        if not text.isascii() or not text.isdecimal() or not least <= int(text) <= _COUNT_MAX:
            raise InputError(f"{where}: {name}={text}: allowed is a whole number from {least}")
        values.append(int(text))
    size, count, key_size = values
    return Line(key, op, size + key_size, count)
