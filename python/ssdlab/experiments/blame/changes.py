"""Changes the calls of a recording as another setting, or another program, would have made them.

None of them knows the contents: what a changed program would have written otherwise too (fewer frames of a log after
batching, for instance) stays as recorded, so that a change is worth at least what its run says, never more.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ssdlab.experiments.blame.calls import Call

BATCH = 10
WAL_FACTOR = 10
_SYNCS = ("sync", "datasync")
_WAL = "-wal"


def without_syncs(calls: Sequence[Call]) -> list[Call]:
    """Nothing is synced: data reaches the drive when it is old."""
    return [call for call in calls if call.kind not in _SYNCS]


def batched(calls: Sequence[Call], batch: int = BATCH) -> list[Call] | None:
    """Of a file's syncs only every `batch`-th stays, as if so many commits were one.

    A file with few syncs keeps them: they are not those of commits. None if no file has many.
    """
    counts = Counter(call.file for call in calls if call.kind in _SYNCS)
    many = {file for file, count in counts.items() if count >= 2 * batch}
    if not many:
        return None
    seen: dict[str, int] = defaultdict(int)
    kept = []
    for call in calls:
        if call.kind in _SYNCS and call.file in many:
            seen[call.file] += 1
            if seen[call.file] % batch:
                continue
        kept.append(call)
    return kept


def with_synchronous_normal(calls: Sequence[Call]) -> list[Call] | None:
    """SQLite's `synchronous=NORMAL` in WAL mode: the log is synced only before a checkpoint (sqlite.org/pragma.html).

    None without a log that is synced.
    """
    bases = _logged(calls)
    checkpoint_next: dict[str, bool] = {}
    kept: list[Call] = []
    dropped = 0
    for call in reversed(calls):
        base = call.file.removesuffix(_WAL)
        if base in bases:
            is_log = call.file.endswith(_WAL)
            if call.kind in _SYNCS and is_log and not checkpoint_next.get(base, True):
                dropped += 1
                continue
            if call.kind == "write":
                checkpoint_next[base] = not is_log
        kept.append(call)
    return kept[::-1] if dropped else None


def with_larger_wal(calls: Sequence[Call], factor: int = WAL_FACTOR) -> list[Call] | None:
    """SQLite's `wal_autocheckpoint` times `factor`: that many passes through the log before one checkpoint.

    The log grows instead of being written from its start, and the database is written once with the last content of
    each page. None if the recording has no two passes of a log.
    """
    bases = _logged(calls)
    passes: dict[str, int] = defaultdict(int)
    bytes_before: dict[str, int] = defaultdict(int)
    ends: dict[str, int] = defaultdict(int)
    waiting: dict[str, list[Call]] = defaultdict(list)
    changed: list[Call] = []
    merged = False
    for call in calls:
        base = call.file.removesuffix(_WAL)
        if base not in bases:
            changed.append(call)
        elif call.file.endswith(_WAL):
            if call.kind == "write" and call.offset_bytes == 0 and ends[base]:
                passes[base] += 1
                if passes[base] % factor:
                    bytes_before[base] += ends[base]
                    merged = True
                else:
                    bytes_before[base] = 0
                    changed += _checkpoint(waiting.pop(base, []), call.seconds)
                ends[base] = 0
            if call.kind == "write":
                ends[base] = max(ends[base], call.offset_bytes + call.length_bytes)
                call = replace(call, offset_bytes=call.offset_bytes + bytes_before[base])
            changed.append(call)
        elif call.kind in ("write", *_SYNCS):
            waiting[base].append(call)
        else:
            changed.append(call)
    last = calls[-1].seconds if calls else 0.0
    for calls_waiting in waiting.values():
        changed += _checkpoint(calls_waiting, last)
    return changed if merged else None


def longer_logs(there: Mapping[str, int], factor: int = WAL_FACTOR) -> dict[str, int]:
    """The sizes of files that were there, by name, with logs as long as `with_larger_wal` leaves them."""
    return {name: size * factor if name.endswith(_WAL) else size for name, size in there.items()}


def without_replaced(calls: Sequence[Call]) -> list[Call] | None:
    """Without the contents of files that were replaced as a whole later: emptied, or renamed over.

    What is left is as if each such file had been written once. None if no file was replaced.
    """
    versions: dict[str, int] = {}
    of_call: list[int | None] = []
    replaced: set[int] = set()
    written: set[int] = set()
    count = 0

    def version(name: str) -> int:
        nonlocal count
        if name not in versions:
            count += 1
            versions[name] = count
        return versions[name]

    for call in calls:
        if call.kind == "empty":
            old = versions.pop(call.file, None)
            if old in written:
                replaced.add(old)
        elif call.kind == "rename":
            old = versions.pop(call.to, None)
            if old in written:
                replaced.add(old)
            versions[call.to] = version(call.file)
            versions.pop(call.file, None)
        elif call.kind == "create":
            versions.pop(call.file, None)
        if not call.file:
            of_call.append(None)
            continue
        its = version(call.to if call.kind == "rename" else call.file)
        of_call.append(its)
        if call.kind == "write":
            written.add(its)
        if call.kind == "remove":
            versions.pop(call.file, None)
    if not replaced:
        return None
    return [call for call, its in zip(calls, of_call, strict=True) if its not in replaced]


def _logged(calls: Sequence[Call]) -> set[str]:
    """The databases whose log (`NAME-wal`) is written."""
    return {call.file.removesuffix(_WAL) for call in calls if call.kind == "write" and call.file.endswith(_WAL)}


def _checkpoint(waiting: Sequence[Call], now: float) -> list[Call]:
    """The delayed calls of a checkpoint at once: each page with its last content, and one sync."""
    last = {call.offset_bytes: call for call in waiting if call.kind == "write"}
    syncs = [call for call in waiting if call.kind in _SYNCS][-1:]
    return [replace(call, seconds=now) for call in (*(last[at] for at in sorted(last)), *syncs)]
