"""Reads many files of reports in several processes, in order, and yields their rows in parts, stored as Parquet.

A part holds the rows of up to 500 files. Its name depends on the files and their modification times, so that an
interrupted survey finds its finished parts and reads only the rest. Only a few parts are in memory at a time.
"""

import hashlib
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ssdlab.errors import InputError, RunFailed
from ssdlab.field.health.contents import Content
from ssdlab.field.health.drive import Row, row_of
from ssdlab.hardware import safety
from ssdlab.hardware.safety import health as safety_health
from ssdlab.hardware.smart import formats, reading
from ssdlab.hardware.smart.source import Report

FILES_PER_PART = 500
_BYTES_PER_PART = 32 << 20
"""Limit for data from archives, which is sent to the workers through pipes."""
_ALONE_BELOW = 100
"""Fewer files than this are read faster than a process starts."""

Tell = Callable[[int], None]
"""Called with the number of files read so far."""


@dataclass(frozen=True)
class Unread:
    """A file, or a report in it, that could not be read, and the reason."""

    source: str
    reason: str


@dataclass(frozen=True)
class Part:
    """The rows of a group of files."""

    name: str
    files: int
    rows: list[Row]
    unread: list[Unread]


def rows_of(content: Content) -> Iterator[Row | Unread]:
    """The rows of one file. Errors become `Unread` entries, so that they do not stop the survey."""
    try:
        for number, report in enumerate(formats.recognised(content.read(), content.name)):
            source = content.name if number == 0 else f"{content.name}#{number + 1}"
            try:
                yield row_of(reading.parse(report, source), source)
            except InputError as error:
                yield Unread(source, _without(source, error))
    except InputError as error:
        yield Unread(content.name, _without(content.name, error))
    except Exception as error:
        # An unexpected error in one report must not stop the survey of the others.
        yield Unread(content.name, f"could not be read, a bug in ssdlab: {type(error).__name__}: {error}")


def parts(
    contents: Iterator[Content], workers: int, is_there: Callable[[str], bool], tell: Tell | None = None
) -> Iterator[Part]:
    """Reads the files and yields their parts in order. Parts for which `is_there` returns true are skipped.

    With more than one worker, files are read in worker processes, which have ended when this generator ends.
    """
    batches = _batches(contents)
    first = next(batches, None)
    if first is None:
        return
    if workers <= 1 or len(first[1]) < min(_ALONE_BELOW, FILES_PER_PART):
        yield from _here(first, batches, is_there, tell)
        return
    yield from _in_workers(first, batches, workers, is_there, tell)


def default_workers() -> int:
    """The number of processors that this process is allowed to use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_Batch = tuple[str, list[Content]]


def _batches(contents: Iterator[Content]) -> Iterator[_Batch]:
    number = 0
    while True:
        batch: list[Content] = []
        size = 0
        for content in islice(contents, FILES_PER_PART):
            batch.append(content)
            size += len(content.data or b"")
            if size > _BYTES_PER_PART:
                break
        if not batch:
            return
        digest = hashlib.blake2b(digest_size=8)
        for content in batch:
            digest.update(f"{content.name}\0{content.stamp}\0".encode(errors="surrogateescape"))
        yield f"part-{number:06}-{digest.hexdigest()}", batch
        number += 1


def _here(
    first: _Batch, others: Iterator[_Batch], is_there: Callable[[str], bool], tell: Tell | None
) -> Iterator[Part]:
    done = 0
    batch: _Batch | None = first
    while batch is not None:
        name, contents = batch
        if not is_there(name):
            yield _read(name, contents)
        done += len(contents)
        if tell:
            tell(done)
        batch = next(others, None)


def _in_workers(
    first: _Batch, others: Iterator[_Batch], workers: int, is_there: Callable[[str], bool], tell: Tell | None
) -> Iterator[Part]:
    done = 0
    waiting: deque[tuple[int, Future[Part] | None]] = deque()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_interrupts_to_the_first)
    try:
        batch: _Batch | None = first
        while batch is not None or waiting:
            while batch is not None and len(waiting) < 2 * workers:
                name, contents = batch
                future = None if is_there(name) else pool.submit(_read, name, contents)
                waiting.append((len(contents), future))
                batch = next(others, None)
            count, future = waiting.popleft()
            if future is not None:
                yield future.result()
            done += count
            if tell:
                tell(done)
    except BrokenProcessPool:
        raise RunFailed("a worker process that reads reports was killed; the machine may be out of memory") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_to_the_first() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _read(name: str, contents: list[Content]) -> Part:
    rows: list[Row] = []
    unread: list[Unread] = []
    for content in contents:
        for found in rows_of(content):
            if isinstance(found, Unread):
                unread.append(found)
            else:
                rows.append(found)
    return Part(name, len(contents), rows, unread)


def _without(source: str, error: InputError) -> str:
    return str(error).removeprefix(f"{source}: ")


def device_rows(names: list[str]) -> Iterator[Row | Unread]:
    """Rows of devices (`/dev/nvme0n1`), read through smartctl and nvme-cli."""
    for name in names:
        try:
            found = safety_health.read(safety.locate(Path(name)))
        except InputError as error:
            yield Unread(name, _without(name, error))
            continue
        if isinstance(found, Report):
            yield row_of(found.reading, name)
        else:
            yield Unread(name, found.reason)
