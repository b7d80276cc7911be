"""The options of databases and caches: `name=value`, with defaults from RocksDB, PostgreSQL and LMCache.

Sources: RocksDB's `include/rocksdb/options.h` and `advanced_options.h` and its wiki (Leveled-Compaction); PostgreSQL's
manual, "Write Ahead Log" and "WAL Configuration" (version 17); LMCache's documentation, "Configuring LMCache"
(docs.lmcache.ai).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import parse_bytes_with_unit, parse_share

Value = bool | int | float | str | Fraction | None


@dataclass(frozen=True)
class Amount:
    """An amount in bytes, or a number, which the scale reduces, or as a share of the drive, which can exceed 1."""

    size_bytes: int = 0
    share: Fraction | None = None

    def on(self, drive_bytes: int, scale: Fraction) -> int:
        """The amount in bytes on this drive."""
        return int(self.share * drive_bytes if self.share is not None else self.size_bytes * scale)


@dataclass(frozen=True)
class Option:
    """One option."""

    read: Callable[[str], Value | Amount]
    """Parses the value. Raises InputError, which says what is allowed."""
    default: str
    what: str
    """The description for the documentation, with the corresponding setting of the program."""


def _size(text: str) -> int:
    size = parse_bytes_with_unit(text)
    if not size:
        raise InputError("allowed is a size above 0, such as 64MiB")
    return size


def _block(text: str) -> int:
    size = parse_bytes_with_unit(text)
    if not size or size % 4096 or size >= 1 << 30:
        raise InputError("allowed is a multiple of 4KiB, above 0 and below 1GiB")
    return size


def _data(text: str) -> Amount:
    if not text.endswith("%"):
        return Amount(_size(text))
    share = Fraction(parse_share(text)).limit_denominator(10**6)
    if not 0 < share <= 1:
        raise InputError("allowed is a size such as 300GiB, or a share of the drive above 0% and up to 100%")
    return Amount(share=share)


def _amount(text: str) -> Amount:
    if not text.endswith("x"):
        return Amount(_size(text))
    try:
        writes = Fraction(Decimal(text.removesuffix("x")))
    except InvalidOperation:
        writes = Fraction(-1)
    if not 0 <= writes <= 1000:
        raise InputError("allowed is a size such as 2TB, or 0x to 1000x for the size of the drive so many times")
    return Amount(share=writes)


def _switch(text: str) -> bool:
    return _one_of("on", "off")(text) == "on"


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise InputError(f"allowed is {', '.join(words[:-1])} or {words[-1]}")
        return text

    return read


def _number(low: float, high: float, *, whole: bool = False) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = Decimal(text)
        except InvalidOperation:
            value = Decimal("NaN")
        if not value.is_finite() or not low <= value <= high or (whole and value % 1):
            raise InputError(f"allowed is a {'whole ' if whole else ''}number from {low:g} to {high:g}")
        return int(value) if whole else float(value)

    return read


def _share(text: str) -> float:
    share = parse_share(text)
    if not 0 <= share <= 1:
        raise InputError("allowed is a share from 0% to 100%")
    return share


def _path(text: str) -> str | None:
    return None if text == "off" else text


def _sessions(text: str) -> Amount:
    allowed = "allowed is a whole number from 1, or a share above 0% and up to 100000% of those that fit the cache"
    try:
        value = Decimal(text.removesuffix("%"))
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 < value <= 10**9:
        raise InputError(allowed)
    if text.endswith("%"):
        if value > 100_000:
            raise InputError(allowed)
        return Amount(share=Fraction(value) / 100)
    if value % 1:
        raise InputError(allowed)
    return Amount(int(value))


def _theta(text: str) -> float | None:
    return None if text == "off" else _number(0.01, 10)(text)


_COMMON = {
    "data": Option(_data, "60%", "live data: a size, or a share of the drive"),
    "settle": Option(_amount, "2x", "what is written before the part that is measured, in drive writes or bytes"),
    "writes": Option(_amount, "4x", "what is written in that part; `--until steady` repeats it"),
    "request": Option(_block, "128KiB", "the largest request with which files are written"),
    "trim": Option(_switch, "on", "whether the space of deleted files is trimmed (mount option `discard`)"),
}
OPTIONS: Mapping[str, Mapping[str, Option]] = {
    "lsm-tree": _COMMON
    | {
        "handles": Option(
            _one_of("none", "kind", "level"),
            "none",
            "placement handles: none; one for the log and one for all tables; one for the log and one for each level",
        ),
        "write-buffer": Option(_size, "64MiB", "the memtable (`write_buffer_size`)"),
        "level0-files": Option(
            _number(1, 1000, whole=True), "4", "files that start a compaction (`level0_file_num_compaction_trigger`)"
        ),
        "level1": Option(_size, "256MiB", "what level 1 may hold (`max_bytes_for_level_base`)"),
        "multiplier": Option(
            _number(2, 1000), "10", "the most by which a level exceeds the last (`max_bytes_for_level_multiplier`)"
        ),
        "file": Option(_size, "64MiB", "the largest file of a compaction (`target_file_size_base`)"),
        "log": Option(_switch, "on", "the write-ahead log, a file a memtable (off: `disableWAL`)"),
    },
    "b-plus-tree": _COMMON
    | {
        "handles": Option(_one_of("none", "kind"), "none", "placement handles: none; one for the log, one for pages"),
        "page": Option(_block, "8KiB", "size of a page (`block_size`)"),
        "record": Option(
            _number(1, 4096, whole=True), "200", "bytes of the log for an update, without the page; an assumption"
        ),
        "max-wal": Option(
            _size,
            "1GiB",
            "a checkpoint begins at 1 / (1 + `completion-target`) of it (`max_wal_size`; `checkpoint_timeout` plays no "
            "part)",
        ),
        "completion-target": Option(
            _number(0.01, 1), "0.9", "share of the interval in which pages are written (`checkpoint_completion_target`)"
        ),
        "page-images": Option(
            _switch, "on", "whether the first update of a page after a checkpoint logs all of it (`full_page_writes`)"
        ),
        "recycle": Option(
            _switch, "on", "whether files of the log are written again in place (`wal_recycle`), or deleted"
        ),
        "zipf": Option(_theta, "off", "exponent of Zipf's law for the pages; off: uniform"),
        "rebuild": Option(
            _number(0, 1_000_000, whole=True),
            "0",
            "checkpoints after which the next table or index gets a new file (`REINDEX`, `VACUUM FULL`); 0: never",
        ),
        "table": Option(_size, "1GiB", "size of a table or index (a segment of PostgreSQL)"),
    },
    "flash-cache": {
        "data": Option(_data, "100%", "the cache: a size, or a share of the drive"),
        "small": Option(_share, "4%", "share of the cache for small objects, in buckets of 4 KiB"),
        "small-writes": Option(_share, "66.7%", "share of small objects in the bytes written, without a trace"),
        "trace": Option(_path, "off", "a kvcache trace of CacheLib, a CSV file, instead of `small-writes`"),
        "ram": Option(
            parse_bytes_with_unit, "0B", "memory above the flash, for a trace: the least recently used leave it"
        ),
        "threshold": Option(_size, "2048B", "the largest small object of a trace, key and value"),
        "settle": _COMMON["settle"],
        "writes": _COMMON["writes"],
        "handles": Option(
            _one_of("none", "kind"), "none", "placement handles: none; one for small, one for large objects"
        ),
    },
    "kv-cache": {
        "data": Option(_data, "80%", "the cache: a size, or a share of the drive (`max_local_disk_size`)"),
        "chunk": Option(_block, "3MiB", "a chunk: its tokens (`chunk_size`) times the bytes of a token"),
        "layers": Option(
            _number(1, 1000, whole=True),
            "1",
            "pieces of a chunk, each in a region of its layer (`use_layerwise`); 1: a chunk is written whole",
        ),
        "sessions": Option(
            _sessions, "200%", "open sessions: a number, or a share of those whose full context fits the cache"
        ),
        "turn": Option(_number(1, 100_000, whole=True), "2", "chunks that a turn adds, in the mean; an assumption"),
        "context": Option(
            _number(1, 1_000_000, whole=True), "32", "chunks at which a session ends and a new one takes its place"
        ),
        "zipf": Option(
            _theta, "0.9", "exponent of Zipf's law for the session that goes on; off: uniform; an assumption"
        ),
        "settle": _COMMON["settle"],
        "writes": _COMMON["writes"],
        "request": Option(_block, "128KiB", "the largest request with which chunks are read and written"),
        "trim": Option(_switch, "on", "whether evicted chunks are trimmed"),
        "handles": Option(
            _one_of("none", "kind"),
            "none",
            "placement handles: none; one for what is written in a session's first turn, one for its later turns",
        ),
    },
}
"""The options by kind of database or cache."""
