"""Executes a script on a volume: each command becomes a stage of the engine's jobs, and the files change accordingly.

Copies read and write in parallel. Removing a file trims it only on a volume mounted with `discard`. Of the metadata,
only the tables and journal written by mkfs reach the drive, once; updates of inodes and journal commits do not.
"""

import fnmatch
import hashlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import cast

from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.filesystem.requests import (
    DISCARD_BYTES,
    READAHEAD_BYTES,
    WRITEBACK_BYTES,
    WRITEBACK_DEPTH,
    at_random,
    in_sequence,
)
from ssdlab.simulator.workloads.filesystem.script import Command, seconds_ns
from ssdlab.simulator.workloads.filesystem.sysbench import Fileio
from ssdlab.simulator.workloads.filesystem.volume import BLOCK_BYTES, Extent, NoSpace, Volume, joined

BY_TIME = (
    "sysbench runs end by time, which requires a clock: in an untimed run each issues as many bytes as its files "
    "hold; --events=N sets the number of requests instead"
)


class Session:
    """The volume, its files, and the jobs made so far."""

    def __init__(self, user_bytes: int, seed: int, scale: Fraction) -> None:
        self.jobs: list[plain.Job] = []
        self.options: list[dict[str, str]] = []
        """The options that the result repeats, one entry for each job."""
        self.untimed_notes: list[str] = []
        """Notes on a run without a clock."""
        self._user_bytes = user_bytes
        self._seed = seed
        self._scale = scale
        self._volume: Volume | None = None
        self._files: dict[str, list[Extent]] = {}
        self._sizes: dict[str, int] = {}
        self._discards = False
        self._delay_ns = 0
        self._runs = 0

    def do(self, command: Command) -> None:
        """Executes one command. Raises InputError, which names its line."""
        if self._volume is None and command.name not in ("mkfs", "sleep"):
            # A script without mkfs uses the whole drive.
            self._mkfs(Command(command.where, "mkfs", text="mkfs"))
        try:
            self._doers()[command.name](command)
        except (NoSpace, ValueError) as error:
            raise InputError(f"{command.where}: {command.text}: {error}") from None

    def _doers(self) -> dict[str, Callable[[Command], None]]:
        return {
            "mkfs": self._mkfs, "mount": self._mount, "write": self._write, "append": self._append,
            "overwrite": self._overwrite, "read": self._read, "cp": self._copy, "rm": self._remove,
            "fstrim": self._fstrim, "resize": self._resize, "sleep": self._sleep, "sysbench": self._sysbench,
        }  # fmt: skip

    def _mkfs(self, command: Command) -> None:
        size_bytes = self._bytes(command, self._user_bytes)
        if size_bytes > self._user_bytes:
            raise ValueError(f"the drive has {self._user_bytes:,} bytes, not {size_bytes:,}")
        self._volume = Volume(size_bytes, self._scale)
        self._files.clear()
        self._sizes.clear()
        if self.jobs and not command.options.get("nodiscard"):
            self._trim(command, [Extent(0, self._volume.size_bytes)])
        self._write_out(command, self._volume.metadata)

    def _mount(self, command: Command) -> None:
        self._discards = bool(command.options.get("discard"))

    def _write(self, command: Command) -> None:
        count = command.options.get("count", 1)
        names = [command.files[0] if count == 1 else f"{command.files[0]}.{number}" for number in range(count)]
        size_bytes = self._bytes(command)
        self._write_out(command, [extent for name in names for extent in self._create(name, size_bytes)])

    def _append(self, command: Command) -> None:
        size_bytes = self._bytes(command)
        grown = []
        for name in self._named(command.files):
            grown.extend(self._grow(name, size_bytes))
        self._write_out(command, grown)

    def _overwrite(self, command: Command) -> None:
        flushes: plain.JobPart = {"flush_every_writes": command.options["fsync"]} if "fsync" in command.options else {}
        self._access(command, "write", WRITEBACK_BYTES, WRITEBACK_DEPTH, flushes)

    def _read(self, command: Command) -> None:
        self._access(command, "read", READAHEAD_BYTES, 1, {})

    def _access(
        self, command: Command, direction: plain.Direction, block: int, depth: int, more: plain.JobPart
    ) -> None:
        """Reads or rewrites files in place: all of their bytes or the given amount, sequentially or at random."""
        extents = [extent for name in self._named(command.files) for extent in self._files[name]]
        is_random = command.options.get("random", False)
        amount: plain.JobPart = {} if command.size is None else {"io_bytes": self._bytes(command)}
        make = at_random if is_random else in_sequence
        block_bytes = command.options.get("bs", BLOCK_BYTES if is_random else block)
        depth = command.options.get("depth", depth)
        job = make(command.name, direction, extents, block_bytes=block_bytes, iodepth=depth, more=more | amount)
        self._stage(command, job)

    def _copy(self, command: Command) -> None:
        *sources, target = command.files
        names = self._named(sources)
        if len(names) > 1 and not target.endswith("/"):
            raise ValueError(f"{len(names)} files can only be copied to a folder, whose name ends with /")
        read, written = [], []
        for name in names:
            copy = f"{target}{name.rsplit('/', 1)[-1]}" if target.endswith("/") else target
            if copy == name:
                raise ValueError(f"{name} is copied onto itself")
            read.extend(self._files[name])
            written.extend(self._create(copy, self._sizes[name]))
        reader = in_sequence("cp", "read", read, block_bytes=READAHEAD_BYTES, iodepth=2)
        writer = in_sequence("cp", "write", written, block_bytes=WRITEBACK_BYTES, iodepth=WRITEBACK_DEPTH)
        self._stage(command, reader, writer)

    def _remove(self, command: Command) -> None:
        freed = [extent for name in self._named(command.files) for extent in self._forget(name)]
        if self._discards and freed:
            self._trim(command, sorted(freed))

    def _fstrim(self, command: Command) -> None:
        self._trim(command, self._held.free_extents())

    def _resize(self, command: Command) -> None:
        """Shrinks the file system: data behind the new end moves before it, as resize2fs does."""
        volume = self._held
        end_bytes = self._bytes(command) // BLOCK_BYTES * BLOCK_BYTES
        if end_bytes > volume.size_bytes:
            raise ValueError(f"the file system has {volume.size_bytes:,} bytes; it can only shrink")
        before, after = [], []
        stuck = [extent for extent in volume.free_extents() if extent.end_bytes > end_bytes]
        volume.shrink(end_bytes)
        for name, extents in self._files.items():
            beyond = [part for extent in extents for part in _behind(extent, end_bytes)]
            if not beyond:
                continue
            kept = [part for extent in extents for part in _before(extent, end_bytes)]
            moved = volume.allocate(sum(extent.length_bytes for extent in beyond))
            self._files[name] = joined([*kept, *moved])
            before.extend(beyond)
            after.extend(moved)
        assert all(extent.end_bytes > end_bytes for extent in stuck)
        if before:
            reader = in_sequence("resize", "read", before, block_bytes=READAHEAD_BYTES, iodepth=1)
            writer = in_sequence("resize", "write", after, block_bytes=WRITEBACK_BYTES, iodepth=WRITEBACK_DEPTH)
            self._stage(command, reader, writer)

    def _sleep(self, command: Command) -> None:
        self._delay_ns += seconds_ns(command)

    def _sysbench(self, command: Command) -> None:
        fileio = command.fileio
        assert fileio is not None
        names = [f"test_file.{number}" for number in range(fileio.file_num)]
        file_bytes = max(BLOCK_BYTES, int(fileio.file_bytes * self._scale) // BLOCK_BYTES * BLOCK_BYTES)
        if fileio.command == "cleanup":
            freed = [extent for name in names if name in self._files for extent in self._forget(name)]
            if self._discards and freed:
                self._trim(command, sorted(freed))
        elif fileio.command == "prepare":
            extents = []
            for name in names:
                if name not in self._files:
                    extents.extend(self._create(name, file_bytes))
                elif self._sizes[name] < file_bytes:
                    # As sysbench does, which writes only what is missing, and nothing if the file is large enough.
                    extents.extend(self._grow(name, file_bytes - self._sizes[name]))
            if extents:
                self._write_out(command, extents)
        else:
            missing = [name for name in names if name not in self._files]
            if missing:
                raise ValueError(
                    f"{missing[0]} does not exist; sysbench fileio prepare creates it, with the same options"
                )
            if small := [name for name in names if self._sizes[name] < file_bytes]:
                raise ValueError(
                    f"{small[0]} is smaller than the {fileio.file_bytes:,} bytes of each file by --file-total-size and "
                    "--file-num; sysbench fileio prepare extends it, with the same options"
                )
            # As sysbench does, which leaves the rest of larger files alone.
            self._run(command, fileio, [part for name in names for part in _first(self._files[name], file_bytes)])

    def _run(self, command: Command, fileio: Fileio, extents: Sequence[Extent]) -> None:
        mode, cached = fileio.file_test_mode, "direct" not in fileio.file_extra_flags
        self._runs += 1
        directions: dict[str, plain.Direction] = {"rd": "read", "rw": "read-write"}
        direction = directions.get(mode[3:], "write")
        read_share = fileio.file_rw_ratio / (1 + fileio.file_rw_ratio) if mode == "rndrw" else 0.0
        make = at_random if fileio.is_random else in_sequence
        gathers = cached and direction == "write" and not fileio.file_fsync_all
        more: plain.JobPart = {}
        if direction == "read-write":
            more["read_percent"] = 100 * read_share
        if fileio.writes and (every := 1 if fileio.file_fsync_all else fileio.file_fsync_freq):
            more["flush_every_writes"] = max(1, round(every * (1 - read_share)))
        if {"sync", "dsync"} & set(fileio.file_extra_flags) and fileio.writes:
            more["sync_writes"] = True
        if fileio.time_seconds:
            more["runtime_ns"] = int(Fraction(fileio.time_seconds) * 10**9)
        if fileio.events:
            number_ios = max(1, round(fileio.requests * self._scale))
            more["number_ios"] = number_ios
            more["io_bytes"] = number_ios * fileio.file_block_size
        else:
            more["time_based"] = True
            self.untimed_notes.append(BY_TIME)
        depth = max(fileio.threads, WRITEBACK_DEPTH) if gathers else fileio.threads
        name = f"sysbench {mode}"
        job = make(name, direction, extents, block_bytes=fileio.file_block_size, iodepth=depth, more=more)
        self._stage(command, job)

    def _create(self, name: str, size_bytes: int) -> list[Extent]:
        if name in self._files:
            raise ValueError(f"{name} already exists; rm it first, or overwrite it")
        self._files[name] = self._held.allocate(size_bytes)
        self._sizes[name] = size_bytes
        return self._files[name]

    def _grow(self, name: str, more_bytes: int) -> list[Extent]:
        """Extends a file, behind its last block if that space is free. Returns the new extents."""
        goal = self._files[name][-1].end_bytes if self._files[name] else None
        extents = self._held.allocate(more_bytes, goal)
        self._files[name] = joined([*self._files[name], *extents])
        self._sizes[name] += more_bytes
        return extents

    def _forget(self, name: str) -> list[Extent]:
        del self._sizes[name]
        extents = self._files.pop(name)
        self._held.free(extents)
        return extents

    def _named(self, patterns: Sequence[str]) -> list[str]:
        """The files that match the patterns, each once. Raises ValueError if a pattern matches none."""
        found: dict[str, None] = {}
        for pattern in patterns:
            names = [name for name in self._files if fnmatch.fnmatchcase(name, pattern)]
            if not names:
                raise ValueError(f"no file matches {pattern}")
            found.update(dict.fromkeys(names))
        return list(found)

    def _write_out(self, command: Command, extents: Sequence[Extent]) -> None:
        block_bytes = command.options.get("bs", WRITEBACK_BYTES)
        depth = command.options.get("depth", WRITEBACK_DEPTH)
        name = command.name if command.fileio is None else f"sysbench {command.fileio.command}"
        self._stage(command, in_sequence(name, "write", extents, block_bytes=block_bytes, iodepth=depth))

    def _trim(self, command: Command, extents: Sequence[Extent]) -> None:
        name = f"{command.name} discards" if command.name != "fstrim" else "fstrim"
        self._stage(command, in_sequence(name, "trim", extents, block_bytes=DISCARD_BYTES, iodepth=1))

    def _stage(self, command: Command, *jobs: plain.JobPart) -> None:
        stage = self.jobs[-1]["stage"] + 1 if self.jobs else 0
        delay: plain.JobPart = {"start_delay_ns": self._delay_ns} if self._delay_ns else {}
        self._delay_ns = 0
        for job in jobs:
            digest = hashlib.blake2b(f"{self._seed}:{len(self.jobs)}".encode(), digest_size=8).digest()
            last: plain.JobPart = {"stage": stage, "seed": int.from_bytes(digest, "little")}
            # With these two parts the job is complete.
            self.jobs.append(cast("plain.Job", job | delay | last))
            self.options.append({"command": command.text})

    def _bytes(self, command: Command, default: int | None = None) -> int:
        if command.size is None:
            assert default is not None
            return default
        return command.size.on(self._user_bytes, self._scale)

    @property
    def _held(self) -> Volume:
        assert self._volume is not None, "the first command must create a file system"
        return self._volume


def _first(extents: Sequence[Extent], length_bytes: int) -> list[Extent]:
    """The first part of a file."""
    found = []
    for extent in extents:
        if length_bytes <= 0:
            break
        found.append(Extent(extent.offset_bytes, min(extent.length_bytes, length_bytes)))
        length_bytes -= extent.length_bytes
    return found


def _before(extent: Extent, at: int) -> list[Extent]:
    length_bytes = min(extent.end_bytes, at) - extent.offset_bytes
    return [Extent(extent.offset_bytes, length_bytes)] if length_bytes > 0 else []


def _behind(extent: Extent, at: int) -> list[Extent]:
    start = max(extent.offset_bytes, at)
    return [Extent(start, extent.end_bytes - start)] if start < extent.end_bytes else []
