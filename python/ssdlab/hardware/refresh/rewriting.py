"""Rewrites the pieces of a target's plan block by block: each block is written with the data just read, to the same
place.

After a loss of power each sector has its old or its new content, which are equal. A sector torn during the write is not
expected: an SSD writes elsewhere and updates the mapping afterwards, and a sector is its smallest mapping unit.
"""

import fcntl
import mmap
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ssdlab.errors import RunFailed
from ssdlab.hardware.refresh.targets import Target

BLOCK_BYTES = 4 << 20
_GRANULE_BYTES = 128 << 10
"""Step size for detecting zeroes."""
SLICE_SECONDS = 1.0
"""Longest time for which other programs are blocked at once."""
_PAUSE_SECONDS = 0.25
_NAP_SECONDS = 0.2
_LOOK_SECONDS = 5.0


@dataclass
class Done:
    """The progress of rewriting."""

    next_offset: int
    rewritten_bytes: int = 0
    zero_bytes: int = 0
    """Bytes that read as zeroes and were not rewritten."""
    stopped: str | None = None
    """The reason for stopping before the end, or None."""


def rewrite(
    target: Target,
    *,
    start: int = 0,
    rate_bytes_s: float | None = None,
    verify: bool = False,
    tell: Callable[[Done], None] = lambda done: None,
) -> Done:
    """Rewrites from the offset `start`. `tell` is called between slices, when the reported data has been flushed.

    Raises RunFailed if the device cannot be read or written, or, with `verify`, if the data reads back differently.
    """
    done = Done(next_offset=start)
    blocks = _blocks(target, start)
    began = looked = time.monotonic()
    block = next(blocks, None)
    # Not closed explicitly: after a failure the traceback can hold views of them.
    buffer, second = mmap.mmap(-1, BLOCK_BYTES), mmap.mmap(-1, BLOCK_BYTES)
    while block is not None and done.stopped is None:
        with target.quiet():
            slice_end = time.monotonic() + SLICE_SECONDS
            while block is not None and time.monotonic() < slice_end:
                if not _rewrite_block(target, *block, buffer, done, second if verify else None):
                    done.stopped = "another program opens the file"
                    break
                done.next_offset = sum(block)
                block = next(blocks, None)
                if _behind(done, rate_bytes_s, began) < 0:
                    break
            _flush(target)
        tell(done)
        if time.monotonic() - looked > _LOOK_SECONDS:
            target.look_again()
            looked = time.monotonic()
        if block is None or done.stopped:
            break
        pause = max(_PAUSE_SECONDS if target.needs_quiet else 0.0, -_behind(done, rate_bytes_s, began))
        if not _sleep(pause, target):
            done.stopped = "another program opens the file"
    return done


def _blocks(target: Target, start: int) -> Iterator[tuple[int, int]]:
    for offset, length in target.plan.pieces:
        position, end = max(offset, start), offset + length
        while position < end:
            size = min(BLOCK_BYTES, end - position)
            yield position, size
            position += size


def _behind(done: Done, rate_bytes_s: float | None, began: float) -> float:
    """Seconds behind the allowed rate; negative if ahead."""
    return 0.0 if rate_bytes_s is None else time.monotonic() - began - done.rewritten_bytes / rate_bytes_s


def _sleep(seconds: float, target: Target) -> bool:
    """Sleeps in short steps, so that a process waiting for the file is noticed. Returns False if there is one."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if not target.may_write():
            return False
        time.sleep(min(_NAP_SECONDS, left))
    return True


def _rewrite_block(
    target: Target, offset: int, length: int, buffer: mmap.mmap, done: Done, second: mmap.mmap | None
) -> bool:
    """Rewrites one block. Returns False if writing is no longer allowed."""
    # A file can end within a sector; that part is written through the page cache.
    tail = length % target.alignment_bytes
    if length > tail and not _rewrite_part(target, offset, length - tail, buffer, done, second):
        return False
    if not tail:
        return True
    _set_direct(target.descriptor, False)
    try:
        may_go_on = _rewrite_part(target, offset + length - tail, tail, buffer, done, second)
        _flush(target)
    finally:
        _set_direct(target.descriptor, True)
    return may_go_on


def _rewrite_part(
    target: Target, offset: int, length: int, buffer: mmap.mmap, done: Done, second: mmap.mmap | None
) -> bool:
    _read(target.descriptor, buffer, offset, length)
    runs = _runs(buffer, length) if target.skips_zeroes else [(0, length)]
    done.zero_bytes += length - sum(size for _, size in runs)
    for at, size in runs:
        if not target.may_write():
            return False
        _write(target.descriptor, buffer, at, offset + at, size)
        done.rewritten_bytes += size
        if second is not None:
            _compare(target.descriptor, buffer, second, at, offset + at, size)
    return True


def _runs(buffer: mmap.mmap, size: int) -> list[tuple[int, int]]:
    """Runs (offset, length) of a block that are not all zeroes."""
    zeroes = bytes(_GRANULE_BYTES)
    found: list[tuple[int, int]] = []
    for at in range(0, size, _GRANULE_BYTES):
        count = min(_GRANULE_BYTES, size - at)
        if buffer[at : at + count] == zeroes[:count]:
            continue
        if found and sum(found[-1]) == at:
            found[-1] = (found[-1][0], found[-1][1] + count)
        else:
            found.append((at, count))
    return found


def _read(descriptor: int, buffer: mmap.mmap, offset: int, size: int) -> None:
    with memoryview(buffer) as view:
        done = 0
        while done < size:
            try:
                got = os.preadv(descriptor, [view[done:size]], offset + done)
            except OSError as error:
                raise RunFailed(
                    f"byte {offset + done} cannot be read: {error.strerror}; nothing was written there"
                ) from None
            if not got:
                raise RunFailed(f"no data at byte {offset + done}; the file or device has become shorter")
            done += got


def _write(descriptor: int, buffer: mmap.mmap, at: int, offset: int, size: int) -> None:
    with memoryview(buffer) as view:
        done = 0
        while done < size:
            try:
                done += os.pwritev(descriptor, [view[at + done : at + size]], offset + done)
            except OSError as error:
                raise RunFailed(
                    f"byte {offset + done} cannot be written: {error.strerror}; the old content should be intact"
                ) from None


def _compare(descriptor: int, buffer: mmap.mmap, second: mmap.mmap, at: int, offset: int, size: int) -> None:
    _read(descriptor, second, offset, size)
    if second[:size] != buffer[at : at + size]:
        raise RunFailed(
            f"the data written at byte {offset} reads back differently: the drive or this machine's memory is faulty; "
            "restore that part from a backup"
        )


def _flush(target: Target) -> None:
    try:
        os.fdatasync(target.descriptor)
    except OSError as error:
        raise RunFailed(f"the written data could not be flushed to the drive: {error.strerror}") from None


def _set_direct(descriptor: int, direct: bool) -> None:
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    wanted = flags | os.O_DIRECT if direct else flags & ~os.O_DIRECT
    if wanted != flags:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, wanted)
