"""From the calls of a program to the requests that reach the drive: the page cache and the journal of ext4.

What is modelled, with ext4's defaults (data=ordered, delayed allocation; Documentation/filesystems/ext4 and jbd2 in the
kernel's sources):

- A write changes pages of 4 KiB in memory. They reach the drive when their file is synced, when they are 30 s old
  (vm.dirty_expire_centisecs, looked at every 5 s), or at the end. Pages that are written again before cost nothing.
- A sync writes the file's pages, and commits the journal if something of the file changed that must survive: its size
  or its blocks; for fsync its times too. A commit writes a descriptor, each block of metadata that changed since the
  last commit, and after a flush the commit block, which is flushed too. Without a commit there is the flush alone.
- A commit follows at the latest `commit_seconds` after a change. Changed metadata is written to its own place later, as
  old pages are.
- An allocation changes the block bitmap, the group descriptors and the file's inode; a new or removed name its folder,
  a new inode the inode bitmap; removing and cutting a file the superblock too (the list of orphans).
- A file that replaces another (rename, or emptied and written) is written without delay (auto_da_alloc).

Not modelled: extent trees deeper than the inode, the blocks of large folders, quotas, other programs' changes in the
same commit. `ssdlab.simulator.workloads.filesystem.volume` decides where files lie.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from ssdlab.errors import InputError
from ssdlab.experiments.blame.calls import Call
from ssdlab.foundation.quantities import format_bytes
from ssdlab.simulator.workloads.filesystem.volume import BLOCK_BYTES, GROUP_BYTES, Extent, NoSpace, Volume

PAGE_BYTES = 4096
COMMIT_SECONDS = 5.0
"""The mount option commit=, ext4's default."""
_EXPIRE_SECONDS = 30.0
_WAKE_SECONDS = 5.0
_INODES_PER_BLOCK = BLOCK_BYTES // 256
_REQUEST_BYTES_MAX = 512 << 10

Operation = Literal["write", "trim", "flush"]
Level = Literal["file", "journal", "metadata"]

# The blocks of metadata that do not depend on a file: they are numbered from the beginning of the volume.
_SUPERBLOCK, _GROUP_DESCRIPTORS, _INODE_BITMAP, _BLOCK_BITMAPS = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the drive; a flush has no place."""

    seconds: float
    operation: Operation
    offset_bytes: int = 0
    length_bytes: int = 0


@dataclass(frozen=True)
class Options:
    """What a mount option changes."""

    commit_seconds: float = COMMIT_SECONDS
    discard: bool = False
    """Whether the space of removed files is trimmed (mount option `discard`)."""
    metadata: bool = True
    """Whether journal and metadata are written; without them, the file system alone is seen."""


@dataclass
class Written:
    """What reached the drive."""

    requests: list[Request] = field(default_factory=list)
    bytes_by_level: dict[Level, int] = field(default_factory=lambda: {"file": 0, "journal": 0, "metadata": 0})
    dirtied_bytes: int = 0
    """Bytes of pages that became dirty: what the system counts as `write_bytes` of a process."""
    cancelled_bytes: int = 0
    """Bytes of dirty pages whose file was removed or cut before they were written."""
    commits: int = 0
    flushes: int = 0
    footprint_bytes: int = 0
    """The places that were written at least once."""

    @property
    def device_bytes(self) -> int:
        return sum(self.bytes_by_level.values())


@dataclass
class _File:
    number: int
    blocks: dict[int, int] = field(default_factory=dict)
    """The block of the volume that each page lies on, by the page's number."""
    dirty: set[int] = field(default_factory=set)
    dirty_since: float = 0.0
    size_bytes: int = 0
    changed_in: int = -1
    """The transaction that has a change which fdatasync needs, and below, which fsync needs."""
    touched_in: int = -1
    was_emptied: bool = False


def requests_of(
    calls: Sequence[Call],
    volume_bytes: int,
    *,
    seconds: float,
    options: Options | None = None,
    scale: Fraction = Fraction(1),
    there: Mapping[str, int] | None = None,
) -> Written:
    """The requests of these calls on a volume of this size; `scale` is that of the drive. `seconds` is the time of the
    last request at the latest: what is dirty at the end is written then. `there` are the sizes in bytes, by name, of
    files that were there before the calls, as far as they are known.

    Raises InputError if the files do not fit.
    """
    try:
        volume = Volume(volume_bytes, scale)
    except ValueError as error:
        raise InputError(f"the file system: {error}; take a larger drive") from None
    system = _System(volume, options or Options())
    if there:
        system.put(calls, there)
    return system.run(calls, seconds)


class _System:
    def __init__(self, volume: Volume, options: Options) -> None:
        self._volume = volume
        self._options = options
        self._files: dict[str, _File] = {}
        self._free_numbers: list[int] = []
        self._transaction: dict[int, None] = {}
        self._number = 0
        self._begun = 0.0
        self._checkpoint: dict[int, float] = {}
        self._journal_at = 0
        self._journal_blocks = [
            block for extent in volume.journal for block in range(extent.offset_bytes, extent.end_bytes, BLOCK_BYTES)
        ]
        self._tables = volume.metadata[0].length_bytes // BLOCK_BYTES
        self._woken = 0.0
        self._places: set[int] = set()
        self.written = Written()

    def put(self, calls: Sequence[Call], there: Mapping[str, int]) -> None:
        """Gives files their sizes, and blocks where the calls write to: a whole file may not fit a small volume."""
        made: set[str] = set()
        for call in calls:
            if call.kind in ("create", "empty"):
                made.add(call.file)
            made.add(call.to)
            size_bytes = there.get(call.file)
            if size_bytes is None or call.file in made:
                continue
            file = self._file(call.file)
            file.size_bytes = size_bytes
            if call.kind == "write":
                blocks_end = -(-size_bytes // PAGE_BYTES)
                self._allocate_pages(file, [page for page in _pages(call) if page < blocks_end], 0.0)
            file.changed_in = file.touched_in = -1
        # All that was committed long before.
        self._transaction.clear()

    def run(self, calls: Sequence[Call], seconds: float) -> Written:
        try:
            for call in calls:
                self._pass_time(call.seconds)
                self._do(call)
            self._pass_time(seconds)
            self._end(seconds)
        except NoSpace as error:
            raise InputError(
                f"the files: {error}; the volume has {format_bytes(self._volume.size_bytes)}; take a larger drive"
            ) from None
        self.written.footprint_bytes = len(self._places) * BLOCK_BYTES
        return self.written

    def _end(self, now: float) -> None:
        """Writes everything, as the sync of the whole file system does."""
        for file in self._files.values():
            self._write_back(file, now)
        self._commit(now)
        self._write_metadata(now, older_than=None)

    def _do(self, call: Call) -> None:
        now = call.seconds
        if call.kind in ("sync", "datasync"):
            self._sync(call)
        elif call.kind == "create":
            self._forget(call.file, now)
            self._make(call.file, now)
        elif call.kind == "remove":
            self._forget(call.file, now)
        elif call.kind == "rename":
            self._rename(call, now)
        elif call.kind == "close":
            closed = self._files.get(call.file)
            if closed is not None and closed.was_emptied:
                closed.was_emptied = False
                self._write_back(closed, now)
        else:
            file = self._file(call.file)
            if call.kind == "write":
                self._write(file, call)
            elif call.kind == "allocate":
                self._allocate_pages(file, _pages(call), now)
            elif call.kind in ("cut", "empty"):
                self._cut(file, call.offset_bytes, now)
                file.was_emptied = call.kind == "empty"

    # Names.

    def _file(self, name: str) -> _File:
        """The file; one that the recording did not create is there already, with unknown contents."""
        if name not in self._files:
            # ext4 gives a new file the lowest free inode of its folder's group.
            number = heapq.heappop(self._free_numbers) if self._free_numbers else len(self._files)
            self._files[name] = _File(number)
        return self._files[name]

    def _make(self, name: str, now: float) -> None:
        file = self._file(name)
        self._change(now, *self._of_name(file), _INODE_BITMAP, _GROUP_DESCRIPTORS)
        file.changed_in = file.touched_in = self._number

    def _forget(self, name: str, now: float) -> None:
        file = self._files.pop(name, None)
        if file is None:
            return
        heapq.heappush(self._free_numbers, file.number)
        self._change(now, *self._of_name(file), _INODE_BITMAP, _GROUP_DESCRIPTORS, _SUPERBLOCK)
        self._free(file, 0, now)

    def _rename(self, call: Call, now: float) -> None:
        file = self._file(call.file)
        if call.to in self._files:
            self._write_back(file, now)
            self._forget(call.to, now)
        del self._files[call.file]
        self._files[call.to] = file
        self._change(now, *self._of_name(file))
        file.changed_in = file.touched_in = self._number

    # Contents.

    def _write(self, file: _File, call: Call) -> None:
        now = call.seconds
        pages = _pages(call)
        new = [page for page in pages if page not in file.dirty]
        if new:
            if not file.dirty:
                file.dirty_since = now
            file.dirty.update(new)
            self.written.dirtied_bytes += PAGE_BYTES * len(new)
        self._change(now, self._inode(file))
        file.touched_in = self._number
        end = call.offset_bytes + call.length_bytes
        if end > file.size_bytes:
            file.size_bytes = end
            # The size of a file whose last page has no block yet changes when that is allocated.
            if all(page in file.blocks for page in pages):
                file.changed_in = self._number
        if call.direct:
            self._write_back(file, now)

    def _cut(self, file: _File, size_bytes: int, now: float) -> None:
        self._change(now, self._inode(file), _SUPERBLOCK)
        file.size_bytes = size_bytes
        self._free(file, -(-size_bytes // PAGE_BYTES), now)
        file.changed_in = file.touched_in = self._number

    def _free(self, file: _File, first_page: int, now: float) -> None:
        dropped = [page for page in file.dirty if page >= first_page]
        file.dirty.difference_update(dropped)
        self.written.cancelled_bytes += PAGE_BYTES * len(dropped)
        freed = [file.blocks.pop(page) for page in sorted(file.blocks) if page >= first_page]
        if not freed:
            return
        extents = _extents(freed)
        self._volume.free(extents)
        self._change(now, *self._of_extents(extents))
        if self._options.discard:
            for extent in extents:
                self.written.requests.append(Request(now, "trim", extent.offset_bytes, extent.length_bytes))

    def _allocate_pages(self, file: _File, pages: Sequence[int], now: float) -> None:
        new = [page for page in pages if page not in file.blocks]
        if not new:
            return
        before = file.blocks.get(new[0] - 1)
        goal = None if before is None else before + BLOCK_BYTES
        extents = self._volume.allocate(len(new) * BLOCK_BYTES, goal)
        blocks = (block for extent in extents for block in range(extent.offset_bytes, extent.end_bytes, BLOCK_BYTES))
        file.blocks.update(zip(new, blocks, strict=True))
        self._change(now, self._inode(file), *self._of_extents(extents))
        file.changed_in = file.touched_in = self._number

    def _write_back(self, file: _File, now: float) -> None:
        """Writes the dirty pages of a file."""
        if not file.dirty:
            return
        pages = sorted(file.dirty)
        file.dirty.clear()
        self._allocate_pages(file, pages, now)
        self._request(now, "file", [file.blocks[page] for page in pages])

    # Journal.

    def _sync(self, call: Call) -> None:
        now = call.seconds
        if not call.file:
            self._end(now)
            return
        synced = self._files.get(call.file)
        if synced is None:
            # A folder, whose sync commits whatever has changed (ext4_force_commit).
            self._commit(now)
            return
        self._write_back(synced, now)
        if (synced.changed_in if call.kind == "datasync" else synced.touched_in) == self._number:
            self._commit(now)
        else:
            self._flush(now)

    def _change(self, now: float, *blocks: int) -> None:
        """Metadata that the running transaction changes."""
        if not self._transaction:
            self._begun = now
        self._transaction.update(dict.fromkeys(blocks))

    def _commit(self, now: float) -> None:
        blocks = list(self._transaction)
        if not blocks:
            return
        self._transaction.clear()
        self._number += 1
        self.written.commits += 1
        if not self._options.metadata:
            self._flush(now)
            return
        self._log(now, 1 + len(blocks))
        self._flush(now)
        self._log(now, 1)
        self._flush(now)
        for block in blocks:
            self._checkpoint.setdefault(block, now)

    def _log(self, now: float, count: int) -> None:
        at = [self._journal_blocks[(self._journal_at + i) % len(self._journal_blocks)] for i in range(count)]
        self._journal_at += count
        self._request(now, "journal", at)

    def _flush(self, now: float) -> None:
        self.written.flushes += 1
        self.written.requests.append(Request(now, "flush"))

    def _write_metadata(self, now: float, older_than: float | None) -> None:
        old = [block for block, since in self._checkpoint.items() if older_than is None or since < older_than]
        for block in old:
            del self._checkpoint[block]
        if self._options.metadata:
            self._request(now, "metadata", sorted(block % self._tables * BLOCK_BYTES for block in old))

    # Time.

    def _pass_time(self, now: float) -> None:
        """What happens on its own until `now`: commits, and the writing of what is old."""
        while True:
            due = [self._woken + _WAKE_SECONDS]
            if self._transaction:
                due.append(self._begun + self._options.commit_seconds)
            at = min(due)
            if at > now:
                return
            if self._transaction and self._begun + self._options.commit_seconds <= at:
                self._commit(at)
                continue
            self._woken = at
            for file in self._files.values():
                if file.dirty and file.dirty_since < at - _EXPIRE_SECONDS:
                    self._write_back(file, at)
            self._write_metadata(at, older_than=at - _EXPIRE_SECONDS)

    # Places.

    def _inode(self, file: _File) -> int:
        return _BLOCK_BITMAPS + self._groups + file.number // _INODES_PER_BLOCK

    def _of_name(self, file: _File) -> tuple[int, int]:
        """The inode of a file and the block of its folder that has its name; the folder's inode is a neighbour."""
        return self._inode(file), self._tables - 1

    def _of_extents(self, extents: Sequence[Extent]) -> list[int]:
        groups = {
            group
            for extent in extents
            for group in range(extent.offset_bytes // GROUP_BYTES, (extent.end_bytes - 1) // GROUP_BYTES + 1)
        }
        return [_GROUP_DESCRIPTORS, *(_BLOCK_BITMAPS + group for group in sorted(groups))]

    @property
    def _groups(self) -> int:
        return -(-self._volume.size_bytes // GROUP_BYTES)

    def _request(self, now: float, level: Level, blocks: Sequence[int]) -> None:
        for extent in _extents(blocks):
            for at in range(extent.offset_bytes, extent.end_bytes, _REQUEST_BYTES_MAX):
                length = min(_REQUEST_BYTES_MAX, extent.end_bytes - at)
                self.written.requests.append(Request(now, "write", at, length))
        self.written.bytes_by_level[level] += len(blocks) * BLOCK_BYTES
        self._places.update(blocks)


def _pages(call: Call) -> range:
    return range(call.offset_bytes // PAGE_BYTES, (call.offset_bytes + call.length_bytes - 1) // PAGE_BYTES + 1)


def _extents(blocks: Sequence[int]) -> list[Extent]:
    """Blocks, by their offsets, as contiguous extents in this order."""
    found: list[list[int]] = []
    for block in blocks:
        if found and found[-1][1] == block:
            found[-1][1] = block + BLOCK_BYTES
        else:
            found.append([block, block + BLOCK_BYTES])
    return [Extent(start, end - start) for start, end in found]
