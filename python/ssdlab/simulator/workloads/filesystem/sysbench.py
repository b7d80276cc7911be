"""The options of sysbench 1.0's `fileio` with their defaults, parsed as sysbench parses them.

The requests of a run: `rndwr` and `seqwr` write through the page cache, so that up to `--file-fsync-freq` requests wait
until the fsync sends them all (checked against sysbench 1.0.20 in tests/simulator/workloads/filesystem). Reads go to
the drive with one outstanding request for each thread. The positions of random requests are uniform over all files.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.errors import InputError, near

MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
COMMANDS = ("prepare", "run", "cleanup")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Fileio:
    """Options of `sysbench fileio` with its defaults. Sizes are in bytes; `time_seconds` is 0 for no limit."""

    command: str = "run"
    file_num: int = 128
    file_block_size: int = 16384
    file_total_size: int = 2 << 30
    file_test_mode: str = ""
    file_io_mode: str = "sync"
    file_extra_flags: tuple[str, ...] = ()
    file_fsync_freq: int = 100
    file_fsync_all: bool = False
    file_fsync_end: bool = True
    file_rw_ratio: float = 1.5
    threads: int = 1
    time_seconds: float = 10.0
    events: int = 0

    @property
    def file_bytes(self) -> int:
        """The size of each file. sysbench discards the remainder of the division."""
        return self.file_total_size // self.file_num

    @property
    def writes(self) -> bool:
        """Whether a run writes."""
        return self.file_test_mode not in ("seqrd", "rndrd")

    @property
    def is_random(self) -> bool:
        """Whether the requests of a run have random offsets."""
        return self.file_test_mode.startswith("rnd")

    @property
    def requests(self) -> int:
        """The reads and writes among `events`. An fsync of a file also counts as an event, but not with `fsync-all`."""
        if not self.writes or self.file_fsync_all or not self.file_fsync_freq:
            return self.events
        rounds, rest = divmod(self.events, self.file_fsync_freq + self.file_num)
        return rounds * self.file_fsync_freq + min(rest, self.file_fsync_freq)

    def fsyncs(self, requests: int, writes: int) -> tuple[int, int]:
        """The fsync() calls of a run with this number of requests and writes: (those that count as events, all)."""
        if not self.writes:
            return 0, 0
        if self.file_fsync_all:
            return 0, writes
        periodic = requests // self.file_fsync_freq * self.file_num if self.file_fsync_freq else 0
        return periodic, periodic + self.file_num * self.threads * self.file_fsync_end


def parse_arguments(words: Sequence[str], where: str) -> Fileio:
    """Parses the arguments of `sysbench`. Raises InputError, which names `where`, the option and what is allowed."""
    options = Fileio()
    commands = []
    named = [word for word in words if not word.startswith("-")]
    if not named or named[0] != "fileio":
        raise InputError(f"{where}: sysbench {' '.join(words)}: allowed is sysbench fileio, with its options")
    for word in words:
        if not word.startswith("-"):
            commands.append(word)
            continue
        key, _, text = word.removeprefix("--").partition("=")
        if key not in _READERS:
            known = [f"--{name}" for name in _READERS]
            hint = near(f"--{key}", known)
            raise InputError(f"{where}: {word} is not a known option{hint}; known are {', '.join(known)}")
        try:
            options = replace(options, **{_READERS[key][0]: _READERS[key][1](text)})
        except ValueError as error:
            raise InputError(f"{where}: {word}: allowed is {error}") from None
    if len(commands) != 2 or commands[1] not in COMMANDS:
        raise InputError(f"{where}: sysbench fileio ends with one of {', '.join(COMMANDS)}")
    options = replace(options, command=commands[1])
    if options.command == "run" and not options.file_test_mode:
        raise InputError(f"{where}: sysbench fileio run needs --file-test-mode, one of {', '.join(MODES)}")
    if options.command == "run" and not options.time_seconds and not options.events:
        raise InputError(f"{where}: --time=0 and --events=0 would never end; give one of them")
    if options.file_bytes < options.file_block_size:
        raise InputError(
            f"{where}: {options.file_num} files of {options.file_total_size:,} bytes in all are smaller than a block "
            f"of {options.file_block_size:,}"
        )
    return options


def prepared(command_line: str) -> str:
    """The script for `sysbench fileio ... run`: it prepares the files on the whole drive, then runs the command."""
    words = shlex.split(command_line)
    fileio = parse_arguments(words[1:], f"`{command_line}`")
    if fileio.command != "run":
        raise InputError(f"`{command_line}`: allowed is run at the end; the files are prepared automatically")
    return f"{shlex.join([*words[:-1], 'prepare'])}\n{shlex.join(words)}\n"


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", text)
    if not match or not int(match[1]):
        raise ValueError("a size above 0 such as 16384, 16K or 140G (2^10, 2^30)")
    return int(match[1]) * _UNITS[match[2]]


def _block(text: str) -> int:
    size = _size(text)
    if size % 512 or size >= 1 << 32:
        raise ValueError("a multiple of 512 bytes below 4G")
    return size


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise ValueError("a whole number")
    return int(text)


def _files(text: str) -> int:
    if not 1 <= _count(text) <= 100_000:
        raise ValueError("a whole number from 1 to 100,000")
    return _count(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise ValueError("a number of seconds")
    return float(text)


def _ratio(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,9})?", text):
        raise ValueError("a number, reads for each write")
    return float(text)


def _switch(text: str) -> bool:
    if text not in ("", "on", "off"):
        raise ValueError("on or off")
    return text != "off"


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return text

    return read


def _flags(text: str) -> tuple[str, ...]:
    flags = tuple(filter(None, text.split(",")))
    if not set(flags) <= {"sync", "dsync", "direct"}:
        raise ValueError("sync, dsync and direct, with commas between")
    return flags


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "file-num": ("file_num", _files),
    "file-block-size": ("file_block_size", _block),
    "file-total-size": ("file_total_size", _size),
    "file-test-mode": ("file_test_mode", _one_of(*MODES)),
    "file-io-mode": ("file_io_mode", _one_of("sync")),
    "file-extra-flags": ("file_extra_flags", _flags),
    "file-fsync-freq": ("file_fsync_freq", _count),
    "file-fsync-all": ("file_fsync_all", _switch),
    "file-fsync-end": ("file_fsync_end", _switch),
    "file-rw-ratio": ("file_rw_ratio", _ratio),
    "threads": ("threads", _files),
    "time": ("time_seconds", _seconds),
    "events": ("events", _count),
}
