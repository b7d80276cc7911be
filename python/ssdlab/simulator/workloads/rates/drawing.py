"""Makes requests, or a job, of a log of rates, and says what of them the log says and what is guessed.

A log has no addresses. Requests of a large mean size are drawn in order, because requests are merged into large ones
only where they touch; smaller ones are drawn evenly over all addresses, which is the hardest for a drive.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_bytes, format_bytes_binary
from ssdlab.simulator.workloads.rates.log import Flow, Interval, Log, mean

COLUMNS = "time_ns,op,offset,bytes"
"""The columns of the trace that `write_trace` writes."""
SPAN_BYTES = 10**12
"""The addresses of requests, if no drive is known."""
IN_ORDER_BYTES_MIN = 128 * 1024
"""Requests of this mean size are drawn in order. Linux merges up to max_sectors_kb, by default 1280 KiB; programs that
access places at random ask for 4 to 64 KiB."""
_REQUESTS_MAX = 10_000_000
_UNIT_BYTES, _SECTOR_BYTES = 4096, 512
_DAY_S = 86_400
_SEED = 1
_SHORT_S = 60


def sentences_of_trace(log: Log, device: str, span_bytes: int) -> list[str]:
    """What the log says and does not say, one sentence each, for requests drawn over `span_bytes`."""
    whole = mean(log.devices[device])
    sentences = [
        *_sentences(log, device, format_bytes(span_bytes)),
        "guessed: the requests of an interval arrive at random times in it and have its mean size; bursts shorter than "
        "an interval, and other sizes, are not known",
    ]
    if whole.discards.requests_per_s:
        sentences.append("guessed: discards are of random places; which data they free is not known")
    if whole.flushes_per_s:
        sentences.append(
            f"flushes, {whole.flushes_per_s:,.4g} a second, are left out: their places among the writes are unknown"
        )
    return sentences


def sentences_of_job(log: Log, device: str) -> list[str]:
    """What the log says and does not say, one sentence each, for the job of its mean load."""
    whole = mean(log.devices[device])
    sentences = [
        *_sentences(log, device, "the whole drive"),
        "guessed: all requests have the mean size; the job asks as fast as the drive answers, so that latencies are "
        "those of a drive at its limit (ssdlab replay keeps the rates)",
    ]
    if whole.discards.requests_per_s:
        sentences.append("discards are left out: which data they free is not known; with them the drive writes less")
    return sentences


def _sentences(log: Log, device: str, span: str) -> list[str]:
    intervals = log.devices[device]
    whole = mean(intervals)
    kinds = [
        f"{flow.requests_per_s:,.4g} {name} a second of {format_bytes_binary(round(size_of(flow)))}"
        for name, flow in (("reads", whole.reads), ("writes", whole.writes), ("discards", whole.discards))
        if flow.requests_per_s
    ]
    busiest = max(each.writes.bytes_per_s for each in intervals)
    sentences = [
        f"the log of {log.program} says of {device}: {', '.join(kinds)}, over {whole.seconds:,.0f} s in "
        f"{len(intervals):,} interval{'s' * (len(intervals) != 1)}; at most {format_bytes(round(busiest))}/s were "
        "written in one",
        *log.notes,
        f"guessed, because a log of rates has no addresses: {_guess(whole)}, over {span}, each address as often as any "
        "other; a load that overwrites a part of it more often than the rest has a lower write amplification",
    ]
    if whole.seconds < _SHORT_S:
        sentences.append(
            f"{whole.seconds:,.0f} s is a short time; an hour of a usual day, or iostat -x 60 for a day, says more"
        )
    return sentences


def write_trace(log: Log, device: str, path: Path, span_bytes: int, name: str) -> None:
    """Writes requests over `span_bytes` as a text with `COLUMNS`. The same log gives the same requests.

    Raises InputError if there are too many.
    """
    intervals = log.devices[device]
    count = sum(each.seconds * sum(flow.requests_per_s for flow in _flows(each)) for each in intervals)
    if count > _REQUESTS_MAX:
        raise InputError(
            f"{name}: {count:,.0f} requests to {device}; allowed: up to {_REQUESTS_MAX:,}; keep the busiest part of "
            "the log, or ask ssdlab advise space, which takes its mean"
        )
    if count < 1:
        raise InputError(f"{name}: less than one request to {device} in the whole log")
    with path.open("w", encoding="ascii") as file:
        file.writelines(_requests(intervals, span_bytes))


def job_text(log: Log, device: str) -> str:
    """The mean load of the log as a fio job over the whole drive, as fast as the drive allows. Raises InputError."""
    whole = mean(log.devices[device])
    if not whole.writes.bytes_per_s:
        raise InputError(f"the log has no writes to {device}; only writes wear a drive")
    reads, writes = whole.reads, whole.writes
    share = round(100 * reads.requests_per_s / (reads.requests_per_s + writes.requests_per_s))
    sizes = [_whole(size_of(flow)) for flow in (reads, writes)]
    way = "" if is_in_order(writes) else "rand"
    lines = [f"[{log.program.strip('/').replace('/', '-')}]", "ioengine=libaio", "direct=1", "size=100%", "iodepth=32"]
    if reads.requests_per_s and share:
        lines += [f"rw={way}rw", f"rwmixread={share}", f"bs={sizes[0]},{sizes[1]}"]
    else:
        lines += [f"rw={way}write", f"bs={sizes[1]}"]
    return "\n".join([*lines, *([] if is_in_order(writes) else ["norandommap", "randrepeat=0"])]) + "\n"


def writes_per_day(log: Log, device: str) -> float:
    """Host bytes per day at the mean rate of the log."""
    return mean(log.devices[device]).writes.bytes_per_s * _DAY_S


def size_of(flow: Flow) -> float:
    """The mean size of the requests in bytes, or 0."""
    return flow.bytes_per_s / flow.requests_per_s if flow.requests_per_s else 0.0


def is_in_order(flow: Flow) -> bool:
    """Whether the requests are drawn in order rather than at random."""
    return size_of(flow) >= IN_ORDER_BYTES_MIN


def _guess(whole: Interval) -> str:
    in_order = [name for name, flow in (("reads", whole.reads), ("writes", whole.writes)) if is_in_order(flow)]
    at_random = [
        name
        for name, flow in (("reads", whole.reads), ("writes", whole.writes))
        if flow.requests_per_s and not is_in_order(flow)
    ]
    parts = [f"{' and '.join(at_random)} at random"] if at_random else []
    size = format_bytes_binary(IN_ORDER_BYTES_MIN)
    parts += [f"{' and '.join(in_order)} in order, since their mean size is {size} or more"] if in_order else []
    return ", ".join(parts) or "nothing else"


def _flows(interval: Interval) -> tuple[Flow, Flow, Flow]:
    return interval.reads, interval.writes, interval.discards


def _requests(intervals: Sequence[Interval], span_bytes: int) -> Iterator[str]:
    drawn = random.Random(_SEED)
    start_s = 0.0
    owed = [0.0, 0.0, 0.0]
    owed_bytes = [0.0, 0.0, 0.0]
    next_bytes = [0, span_bytes // 2 // _UNIT_BYTES * _UNIT_BYTES, 0]
    for interval in intervals:
        found: list[tuple[int, str]] = []
        for kind, flow in enumerate(_flows(interval)):
            owed[kind] += flow.requests_per_s * interval.seconds
            count = int(owed[kind])
            owed[kind] -= count
            for share in sorted(drawn.random() for _ in range(count)):
                # What rounding takes from one request the next one gets, so that the bytes are those of the log.
                owed_bytes[kind] += size_of(flow)
                size = _whole(owed_bytes[kind])
                owed_bytes[kind] -= size
                if is_in_order(flow):
                    place = next_bytes[kind] if next_bytes[kind] + size <= span_bytes else 0
                    next_bytes[kind] = place + size
                else:
                    place = drawn.randrange(max(1, (span_bytes - size) // _UNIT_BYTES + 1)) * _UNIT_BYTES
                arrival_ns = int((start_s + share * interval.seconds) * 1e9)
                found.append((arrival_ns, f"{'RWD'[kind]},{place},{size}\n"))
        found.sort()
        yield from (f"{arrival_ns},{rest}" for arrival_ns, rest in found)
        start_s += interval.seconds


def _whole(size_bytes: float) -> int:
    """The size as a number of mapping units of 4 KiB, or of sectors if it is smaller; at least one."""
    unit = _UNIT_BYTES if size_bytes >= _UNIT_BYTES else _SECTOR_BYTES
    return max(unit, round(size_bytes / unit) * unit)
