"""Calls as a program may have made them of which only counters are known. Not for recordings, which have the calls."""

from ssdlab.experiments.blame.calls import Call
from ssdlab.experiments.blame.watching import Watched
from ssdlab.foundation.quantities import format_bytes

# Few enough for a run of seconds; their bytes are scaled to what was counted.
_CALLS_MAX = 5_000
_FILE_BYTES = 64 << 20
_PAGE_BYTES = 4096


def calls_of(watched: Watched) -> tuple[list[Call], float, str]:
    """Calls with the counted number, mean size and, as far as it can be told, syncs; and how many times they stand for.

    A page that is written again after it was synced becomes dirty again, so that what became dirty beyond what was
    asked is about one page a sync. Files that became longer by less than half of what was asked are written in place,
    if that leaves as many pages dirty as were counted.
    """
    io, files = watched.io, watched.files
    size = max(1, io.asked_bytes // io.calls)
    count = min(io.calls, _CALLS_MAX)
    syncs = min(io.calls, max(0, io.written_bytes - io.asked_bytes) // _PAGE_BYTES)
    rebuilt: list[Call] = [Call(0.0, 0, "create", "file")]
    file_bytes = _FILE_BYTES
    within = min(file_bytes, files.bytes_last) if files is not None else 0
    grew = files is None or files.grown_bytes >= io.asked_bytes / 2
    # In place, a page that is written again before a sync would not become dirty again, as the counted ones did.
    is_in_place = not grew and within >= max(size, io.asked_bytes / (syncs + 1))
    if is_in_place:
        file_bytes = within
        rebuilt += [
            Call(0.0, 0, "allocate", "file", 0, file_bytes),
            Call(0.0, 0, "cut", "file", file_bytes),
        ]
    synced = 0
    for index in range(count):
        now = watched.seconds * index / count
        at = index * size % file_bytes if not is_in_place else index * size % max(1, file_bytes - size + 1)
        rebuilt.append(Call(now, 0, "write", "file", at, size))
        if (index + 1) * syncs // io.calls > synced:
            synced += 1
            rebuilt.append(Call(now, 0, "datasync", "file"))
    if is_in_place:
        where = f"within {format_bytes(file_bytes)}, because its open files became longer by less than half of that"
    elif files is not None and grew:
        where = "one behind another, as its open files became longer"
    elif files is not None:
        where = f"one behind another, although its open files stayed {format_bytes(files.bytes_last)} long"
    else:
        where = "one behind another, because none of its files was seen open"
    said = (
        f"from the counters alone: {io.calls:,} writes of {size:,} bytes, {where}, and {syncs:,} syncs (a page for "
        "each that became dirty beyond what was asked)"
    )
    if io.cancelled_bytes:
        said += f", less the {format_bytes(io.cancelled_bytes)} that were dropped before they were written"
    return rebuilt, io.calls / count * (1 - io.cancelled_bytes / io.written_bytes), said
