"""Reads the calls of a program from what `strace -f -ttt` or `strace -f -tt` wrote, with or without `-y`.

Calls that change files are kept: writes with their offset and size, syncs, opening, truncating, renaming, removing.
What strace does not show is missing: writes through mapped memory and io_uring. The form of the lines is described in
strace(1), sections "Description", "Tracing" (-f, `unfinished`, `resumed`) and "Output format" (-y, -t).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ssdlab.errors import InputError

RECORDED = (
    "write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync,syncfs,open,openat,creat,close,lseek,dup,dup2,dup3,"
    "ftruncate,truncate,fallocate,unlink,unlinkat,rename,renameat,renameat2,copy_file_range,sendfile,io_submit"
)
"""The calls to record, as the value of `strace -e trace=`."""
HIDDEN = "of whose writes strace shows nothing (a block trace does, as of biosnoop)"
HOW_TO = f"strace -f -y -ttt -e trace={RECORDED} -o FILE"

Kind = Literal["write", "sync", "datasync", "create", "empty", "cut", "allocate", "remove", "rename", "close"]

_LINE = re.compile(
    r"(?:\[pid +(?P<bracketed>\d+)\] |(?P<process>\d+) +)?"
    r"(?:(?P<epoch>\d{9,12}\.\d+)|(?P<hours>\d\d):(?P<minutes>\d\d):(?P<seconds>\d\d(?:\.\d+)?)"
    r"|[ ]*(?P<passed>\d{1,6}\.\d{6})(?= ))?[ ]*"
    r"(?P<rest>(?:<\.\.\. (?P<resumed>\w+) resumed>|(?P<call>\w+)\(|---|\+\+\+).*)"
)
_UNFINISHED = " <unfinished ...>"
_RESULT = re.compile(r"\)\s+= (?P<value>-?\d+)(?:<(?P<path>.*)>)?(?: E[A-Z0-9]+ \(.*\))?(?: <[\d.]+>)?\s*$")
_DESCRIPTOR = re.compile(r"(?P<fd>-?\d+)(?:<(?P<path>(?:[^>\\]|\\.)*)>(?P<deleted>\(deleted\))?)?")
_OFFSET = re.compile(r", (-?\d+)$")
_OFFSET_AND_FLAGS = re.compile(r", (-?\d+), (?:RWF_\w+(?:\|RWF_\w+)*|0)$")
# A path, or the offsets of copy_file_range: before the call, and after it.
_COPIED_FROM = re.compile(r"-?\d+(?:<(?:[^>\\]|\\.)*>)?, (?:NULL|\[\d+\](?: => \[\d+\])?), ")
_COPIED_TO = re.compile(r"-?\d+(?:<(?:[^>\\]|\\.)*>)?, \[(\d+)\]")
_SUBMITTED = re.compile(
    r"aio_lio_opcode=IOCB_CMD_PWRITE, (?:aio_\w+=[^,]*, )*?aio_fildes=(?P<rest>\d+(?:<(?:[^>\\]|\\.)*>)?), "
    r"[^}]*?aio_nbytes=(?P<bytes>\d+), aio_offset=(?P<offset>\d+)"
)
# Lines between the calls: of strace itself, the stacks of -k, the prompt with the command, Ctrl-C.
_BETWEEN = re.compile(r"strace: | > |[$#] |\^C")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NUMBER = re.compile(r", (-?\d+)")
_NO_FILES = ("/dev/", "/proc/", "/sys/")
_SECONDS_A_DAY = 86_400
# Enough lines to see whether a file is a recording of calls.
_LINES_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Call:
    """A call that changes a file. Kinds: `create` opens a file that did not exist, `empty` one whose old content is
    dropped, `cut` sets its size to `offset_bytes`, `rename` gives it the name `to`."""

    seconds: float
    """Since the first call."""
    process: int
    kind: Kind
    file: str
    offset_bytes: int = 0
    length_bytes: int = 0
    to: str = ""
    direct: bool = False
    """A write past the page cache (O_DIRECT)."""


_SUMMARY = re.compile(r"% time +seconds ")


@dataclass(frozen=True)
class Calls:
    """The calls of a recording in the order of time."""

    name: str
    calls: tuple[Call, ...]
    seconds: float
    asked_bytes: int
    """All bytes that writes returned, to files, pipes and sockets; the system counts the same as `wchar`."""
    asked_calls: int
    processes: int
    unnamed_bytes: int = 0
    """Bytes of `asked_bytes` to descriptors whose file the recording does not tell."""
    hidden_calls: int = 0
    """Calls of io_uring, of whose writes strace shows nothing."""

    @property
    def file_bytes(self) -> int:
        """The bytes written to files."""
        return sum(call.length_bytes for call in self.calls if call.kind == "write")

    @property
    def syncs(self) -> int:
        return sum(call.kind in ("sync", "datasync") for call in self.calls)


@dataclass
class _Open:
    """An open file: shared by descriptors that were duplicated."""

    file: str | None
    """None for what is no file: a pipe, a socket, a device."""
    position_bytes: int = 0
    appends: bool = False
    syncs: bool = False
    direct: bool = False


@dataclass
class _Reader:
    name: str
    found: list[Call] = field(default_factory=list)
    open: dict[tuple[int, int], _Open] = field(default_factory=dict)
    by_number: dict[int, _Open] = field(default_factory=dict)
    """The last one opened with a descriptor: threads and children use what another process opened."""
    sizes: dict[str, int] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    unfinished: dict[tuple[int, str], tuple[float, str]] = field(default_factory=dict)
    processes: set[int] = field(default_factory=set)
    asked_bytes: int = 0
    asked_calls: int = 0
    failed: int = 0
    """Writes that returned an error."""
    unnamed_bytes: int = 0
    hidden_calls: int = 0
    first: float | None = None
    last: float = 0.0
    days: int = 0

    def seconds_of(self, match: "re.Match[str]", number: int) -> float:
        if match["passed"]:
            # Of -r: since the call before.
            return self.last + float(match["passed"])
        if match["epoch"]:
            return float(match["epoch"])
        if not match["hours"]:
            raise InputError(f"{self.name}, line {number}: has no time; allowed is a recording with times: {HOW_TO}")
        seconds = int(match["hours"]) * 3600 + int(match["minutes"]) * 60 + float(match["seconds"])
        seconds += self.days * _SECONDS_A_DAY
        if seconds < self.last - _SECONDS_A_DAY / 2:
            # Times of the day begin again at midnight.
            self.days += 1
            seconds += _SECONDS_A_DAY
        return seconds

    def line(self, text: str, number: int) -> None:
        match = _LINE.match(text)
        if match is None:
            raise InputError(
                f"{self.name}, line {number}: {text[:60]!r} is no line of strace; allowed is what this writes: {HOW_TO}"
            )
        process = int(match["bracketed"] or match["process"] or 0)
        is_call = bool(match["call"] or match["resumed"])
        if not is_call and not (match["epoch"] or match["hours"] or match["passed"]):
            return
        # Signals and exits count for the time, too.
        seconds = self.seconds_of(match, number)
        self.last = max(self.last, seconds)
        self.first = seconds if self.first is None else self.first
        if not is_call:
            return
        self.processes.add(process)
        rest = match["rest"]
        if match["resumed"]:
            begun = self.unfinished.pop((process, match["resumed"]), None)
            if begun is None:
                return
            rest = begun[1] + rest.partition(" resumed>")[2]
        elif rest.endswith(_UNFINISHED):
            self.unfinished[process, match["call"]] = (seconds, rest.removesuffix(_UNFINISHED))
            return
        result = _RESULT.search(rest)
        call = match["call"] or match["resumed"]
        do = _CALLS.get(call)
        self.hidden_calls += call == "io_uring_enter"
        if result is None or int(result["value"]) < 0:
            self.failed += result is not None and do is _Reader.write
            return
        if do is not None:
            arguments = rest[len(call) + 1 : result.start()]
            do(self, seconds - self.first, process, call, arguments, int(result["value"]), result["path"])

    def add(self, seconds: float, process: int, kind: Kind, file: str, **more: int | str | bool) -> None:
        self.found.append(Call(seconds, process, kind, file, **more))  # type: ignore[arg-type]

    def opened(self, process: int, arguments: str) -> tuple[_Open | None, int]:
        """The open file of the first argument, None if it is not known, and the descriptor."""
        match = _DESCRIPTOR.match(arguments)
        if match is None:
            return None, -1
        number, path = int(match["fd"]), match["path"]
        held = self.open.get((process, number)) or self.by_number.get(number)
        if path is None:
            return held, number
        file = _file_of(path)
        if held is None or held.file != file:
            held = self.open[process, number] = _Open(file)
        return held, number

    # The calls. All have the same parameters, so that a table can name them.

    def write(self, seconds: float, process: int, call: str, arguments: str, value: int, _path: str | None) -> None:
        last = _OFFSET_AND_FLAGS if call == "pwritev2" else _OFFSET
        offset = last.search(arguments) if call.startswith("pwrite") else None
        is_synced = "RWF_DSYNC" in arguments or "RWF_SYNC" in arguments
        self.wrote(seconds, process, arguments, value, int(offset[1]) if offset else -1, is_synced=is_synced)

    def copy(self, seconds: float, process: int, call: str, arguments: str, value: int, _path: str | None) -> None:
        """copy_file_range and sendfile write to a file what they read from another."""
        target = _COPIED_FROM.sub("", arguments, count=1) if call == "copy_file_range" else arguments
        offset = _COPIED_TO.match(target) if call == "copy_file_range" else None
        self.wrote(seconds, process, target, value, int(offset[1]) if offset else -1)

    def submit(self, seconds: float, process: int, _call: str, arguments: str, value: int, _path: str | None) -> None:
        """The writes that io_submit begins; those that it took are the first `value`."""
        for each in list(_SUBMITTED.finditer(arguments))[:value]:
            self.wrote(seconds, process, each["rest"], int(each["bytes"]), int(each["offset"]))

    def wrote(
        self, seconds: float, process: int, arguments: str, value: int, at: int, *, is_synced: bool = False
    ) -> None:
        """Bytes to the descriptor with which the arguments begin, at an offset, or at its position if that is -1."""
        self.asked_bytes += value
        self.asked_calls += 1
        held, number = self.opened(process, arguments)
        if held is None and number > 2:
            self.unnamed_bytes += value
        if held is None or held.file is None or value == 0:
            return
        if at < 0:
            at = self.sizes.get(held.file, 0) if held.appends else held.position_bytes
            held.position_bytes = at + value
        self.sizes[held.file] = max(self.sizes.get(held.file, 0), at + value)
        self.known.add(held.file)
        self.add(seconds, process, "write", held.file, offset_bytes=at, length_bytes=value, direct=held.direct)
        if held.syncs or is_synced:
            self.add(seconds, process, "datasync", held.file)

    def sync(self, seconds: float, process: int, call: str, arguments: str, _value: int, _path: str | None) -> None:
        if call in ("sync", "syncfs"):
            self.add(seconds, process, "sync", "")
            return
        held, _ = self.opened(process, arguments)
        if held is not None and held.file is not None:
            self.add(seconds, process, "sync" if call == "fsync" else "datasync", held.file)

    def open_(self, seconds: float, process: int, call: str, arguments: str, value: int, path: str | None) -> None:
        quoted = _QUOTED.search(arguments)
        name = path if path is not None else quoted[1] if quoted else ""
        flags = "O_CREAT|O_TRUNC" if call == "creat" else arguments[quoted.end() :] if quoted else arguments
        file = _file_of(name) if path is not None else _file_of(name, opened=True)
        held = _Open(file, 0, "O_APPEND" in flags, "SYNC" in flags, "O_DIRECT" in flags and "O_DIRECTORY" not in flags)
        self.open[process, value] = self.by_number[value] = held
        if file is None:
            return
        if file not in self.known and "O_CREAT" in flags:
            self.add(seconds, process, "create", file)
            self.sizes[file] = 0
            self.known.add(file)
        elif "O_TRUNC" in flags:
            self.add(seconds, process, "empty", file)
            self.sizes[file] = 0

    def close(self, seconds: float, process: int, _call: str, arguments: str, _value: int, _path: str | None) -> None:
        held, number = self.opened(process, arguments)
        self.open.pop((process, number), None)
        if held is not None and held.file is not None:
            self.add(seconds, process, "close", held.file)

    def seek(self, _seconds: float, process: int, _call: str, arguments: str, value: int, _path: str | None) -> None:
        held, _ = self.opened(process, arguments)
        if held is not None:
            held.position_bytes = value

    def duplicate(self, _s: float, process: int, _call: str, arguments: str, value: int, _path: str | None) -> None:
        held, _ = self.opened(process, arguments)
        if held is not None:
            self.open[process, value] = self.by_number[value] = held

    def cut(self, seconds: float, process: int, call: str, arguments: str, _value: int, _path: str | None) -> None:
        size = _NUMBER.findall(arguments)
        if call == "truncate":
            quoted = _QUOTED.search(arguments)
            file = _file_of(quoted[1], opened=True) if quoted else None
        else:
            held, _ = self.opened(process, arguments)
            file = held.file if held else None
        if file is not None and size:
            self.sizes[file] = int(size[-1])
            self.add(seconds, process, "cut", file, offset_bytes=int(size[-1]))

    def allocate(self, seconds: float, process: int, _call: str, arguments: str, _v: int, _path: str | None) -> None:
        held, _ = self.opened(process, arguments)
        numbers = [int(each) for each in _NUMBER.findall(arguments)]
        # Other modes punch holes or write zeroes.
        if held is not None and held.file is not None and len(numbers) == 3 and numbers[0] == 0:
            _, at, length = numbers
            self.sizes[held.file] = max(self.sizes.get(held.file, 0), at + length)
            self.known.add(held.file)
            self.add(seconds, process, "allocate", held.file, offset_bytes=at, length_bytes=length)

    def remove(self, seconds: float, process: int, _call: str, arguments: str, _v: int, _path: str | None) -> None:
        quoted = _QUOTED.search(arguments)
        file = _file_of(quoted[1], opened=True) if quoted else None
        if file is not None and "AT_REMOVEDIR" not in arguments:
            self.sizes.pop(file, None)
            self.known.discard(file)
            self.add(seconds, process, "remove", file)

    def rename(self, seconds: float, process: int, _call: str, arguments: str, _v: int, _path: str | None) -> None:
        names = [_file_of(each, opened=True) for each in _QUOTED.findall(arguments)]
        if len(names) != 2 or names[0] is None or names[1] is None:
            return
        old, new = names[0], names[1]
        self.sizes[new] = self.sizes.pop(old, 0)
        self.known.discard(old)
        self.known.add(new)
        for held in self.open.values():
            held.file = new if held.file == old else held.file
        self.add(seconds, process, "rename", old, to=new)


_CALLS = {
    **dict.fromkeys(("write", "pwrite64", "writev", "pwritev", "pwritev2"), _Reader.write),
    **dict.fromkeys(("fsync", "fdatasync", "sync", "syncfs"), _Reader.sync),
    **dict.fromkeys(("open", "openat", "creat"), _Reader.open_),
    **dict.fromkeys(("dup", "dup2", "dup3"), _Reader.duplicate),
    **dict.fromkeys(("truncate", "ftruncate"), _Reader.cut),
    **dict.fromkeys(("unlink", "unlinkat"), _Reader.remove),
    **dict.fromkeys(("rename", "renameat", "renameat2"), _Reader.rename),
    "close": _Reader.close,
    "lseek": _Reader.seek,
    "fallocate": _Reader.allocate,
    "copy_file_range": _Reader.copy,
    "sendfile": _Reader.copy,
    "io_submit": _Reader.submit,
}


def _file_of(name: str, *, opened: bool = False) -> str | None:
    """The name of a file; None for devices, pipes and sockets. strace -y names the last two `pipe:[123]`."""
    name = name.removesuffix(" (deleted)")
    if name.startswith(_NO_FILES) or (not opened and not name.startswith("/")):
        return None
    return name


def are_calls(path: Path) -> bool:
    """Whether a file looks like a recording of strace: most of its first lines do, or it is a summary of `strace -c`,
    which cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = [line for _, line in zip(range(_LINES_LOOKED_AT), _whole(file), strict=False) if line.strip()]
    except OSError:
        return False
    if head and _SUMMARY.match(head[0]):
        return True
    return bool(head) and 2 * sum(_LINE.match(line) is not None for line in head) > len(head)


def read(path: Path, name: str | None = None) -> Calls:
    """Reads a recording. Raises InputError, which names the line, or that no write has a size."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return parsed(file, name or str(path))
    except OSError as error:
        raise InputError(f"{name or path}: {error.strerror}; allowed is a recording: {HOW_TO}") from None


def parsed(lines: Iterable[str], name: str) -> Calls:
    """The calls in these lines; `name` names them in errors."""
    reader = _Reader(name)
    for number, line in enumerate(_whole(lines), start=1):
        if line:
            reader.line(line, number)
    if not reader.asked_calls:
        found = "only writes that failed" if reader.failed else "no write with a size"
        if reader.hidden_calls:
            found += f", but calls of io_uring, {HIDDEN}"
        raise InputError(f"{name}: contains {found}; allowed is a recording of the calls that write: {HOW_TO}")
    seconds = reader.last - (reader.first or 0.0)
    return Calls(
        name,
        tuple(reader.found),
        seconds,
        reader.asked_bytes,
        reader.asked_calls,
        len(reader.processes),
        reader.unnamed_bytes,
        reader.hidden_calls,
    )


def _whole(lines: Iterable[str]) -> Iterator[str]:
    """The lines, empty where they are no calls."""
    for line in lines:
        stripped = line.rstrip("\n")
        yield "" if _BETWEEN.match(stripped) else stripped
